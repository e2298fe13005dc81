//===- PropagateLevels.cpp - Intents, level by level ----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Intents for values (`dtrain.seed`) and for ops (`state`) take effect level
/// by level, those of all axes in one order; after each level, the states of
/// its axes spread as far as they go. What repeats are pinned to is no intent
/// but a fact, and spreads before all levels.
///
//===----------------------------------------------------------------------===//

#include "Propagator.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

static int64_t levelOf(SeedOp seed) {
  return static_cast<int64_t>(seed.getLevel());
}

/// The intents of one op, which must be possible together.
LogicalResult Propagator::collectIntents(unsigned index) {
  const PlacedNode &node = graph.nodes[index];
  OpStateAttr attr = cast<RuleOpInterface>(node.op).getStateAttr();
  if (!attr)
    return success();
  auto found = attr.getIntents(graph.getMeshAttr(), node.rule.rule);
  if (!found)
    return node.op->emitOpError("state: ") << llvm::toString(found.takeError());
  SmallVector<std::optional<OpAxisState>> all(graph.getMesh().size());
  for (const OpIntent &intent : *found) {
    StringRef axis = graph.getMesh()[intent.axis].name;
    if (!takesPart(node, intent.axis))
      return node.op->emitOpError("state: the op lies in the body of a repeat "
                                  "that is pinned on axis \"")
             << axis << "\", where it has no state";
    if (!isValid(node, intent.axis, intent.state, all))
      return node.op->emitOpError("state: the op cannot be so on axis \"")
             << axis << '"';
    all[intent.axis] = intent.state;
    intents.push_back({index, intent});
  }
  return success();
}

LogicalResult Propagator::collectIntents() {
  for (unsigned i = 0; i < graph.nodes.size(); ++i)
    if (failed(collectIntents(i)))
      return failure();
  return success();
}

LogicalResult Propagator::collectSeeds() {
  WalkResult result = graph.main->getParentOfType<ModuleOp>().walk(
      [&](SeedOp seed) -> WalkResult {
        std::optional<unsigned> axis = graph.getMeshAttr().find(seed.getAxis());
        if (!axis)
          return seed.emitOpError("axis \"")
                 << seed.getAxis() << "\" is not in the mesh";
        if (graph.isInside(seed, *axis))
          return seed.emitOpError("the value lies in the body of a repeat that "
                                  "is pinned on axis \"")
                 << seed.getAxis() << "\", where it has no state";
        seeds.push_back(seed);
        return WalkResult::advance();
      });
  return failure(result.wasInterrupted());
}

/// Every level at which something happens, with the axes on which it does.
std::map<int64_t, llvm::SmallBitVector> Propagator::levels() const {
  std::map<int64_t, llvm::SmallBitVector> all;
  auto add = [&](int64_t level, unsigned axis) {
    all.try_emplace(level, graph.getMesh().size()).first->second.set(axis);
  };
  for (SeedOp seed : seeds)
    add(levelOf(seed), *graph.getMeshAttr().find(seed.getAxis()));
  for (const NodeIntent &i : intents) {
    add(i.intent.level, i.intent.axis);
    add(i.intent.visible, i.intent.axis);
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Applying
//===----------------------------------------------------------------------===//

/// Fixes an op, unless a lower level did or left no room.
void Propagator::applyIntent(const NodeIntent &i) {
  PlacedNode &node = graph.nodes[i.node];
  unsigned axis = i.intent.axis;
  StringRef name = graph.getMesh()[axis].name;
  if (node.state[axis]) {
    if (*node.state[axis] != i.intent.state)
      node.op->emitRemark()
          << "the state of level " << i.intent.level << " on axis \"" << name
          << "\" has no effect: a lower level decided the op";
    return;
  }
  if (!isValid(node, axis, i.intent.state, node.state)) {
    node.op->emitRemark() << "the state of level " << i.intent.level
                          << " on axis \"" << name
                          << "\" has no effect: lower levels left no room";
    return;
  }
  node.state[axis] = i.intent.state;
  node.hidden.set(axis);
}

/// A seed of a value that has a state on its axis.
LogicalResult Propagator::meetState(SeedOp seed, unsigned axis) {
  AxisState state = *graph.stateOf(seed.getValue(), axis);
  if (state.kind == AxisState::Split && state.dim == seed.getDim())
    return success();
  if (SeedOp other =
          applied.lookup({&graph.classOf(seed.getValue(), axis), axis})) {
    InFlightDiagnostic diag =
        seed.emitOpError("contradicts another seed of level ")
        << seed.getLevel() << " on axis \"" << seed.getAxis() << '"';
    diag.attachNote(other.getLoc()) << "the other seed";
    return diag;
  }
  seed.emitRemark() << seed.getWhy() << ": no effect: the value is "
                    << state.str() << " on axis \"" << seed.getAxis()
                    << "\" already";
  return success();
}

LogicalResult Propagator::applySeed(SeedOp seed) {
  unsigned axis = *graph.getMeshAttr().find(seed.getAxis());
  if (graph.stateOf(seed.getValue(), axis))
    return meetState(seed, axis);
  ArrayRef<int64_t> shape = tensorType(seed.getValue()).getShape();
  TensorState t = graph.tensorState(seed.getValue());
  unsigned dim = seed.getDim();
  // Minor to whatever the dimension is already split by.
  int64_t extent = localExtent(graph.getMesh(), shape, t, dim),
          n = sizeOf(axis);
  int64_t stride = (extent + n - 1) / n;
  AxisState state = AxisState::split(dim, stride);
  t[axis] = state;
  if (llvm::Error e = verifyTensorState(graph.getMesh(), shape, t)) {
    seed.emitRemark() << seed.getWhy() << ": no room on dimension " << dim
                      << ": " << llvm::toString(std::move(e));
    return success();
  }
  if (!graph.setState(seed.getValue(), axis, state))
    return seed.emitOpError("cannot split a stacked dimension");
  applied[{&graph.classOf(seed.getValue(), axis), axis}] = seed;
  return success();
}

/// On the axis that a repeat is pinned to, its operands and results are where
/// its coordinate is.
void Propagator::pinRepeats(unsigned axis) {
  for (RepeatOp repeat : graph.repeats) {
    if (!repeat.getPinnedAxis() ||
        *repeat.getPinnedAxis() != graph.getMesh()[axis].name)
      continue;
    for (Value v : repeat.getCarryResults())
      graph.setState(v, axis, pinnedState(repeat, v, false));
    for (Value v : repeat.getInoutResults())
      graph.setState(v, axis, pinnedState(repeat, v, true));
    for (Value v : repeat.getOutputs())
      graph.setState(v, axis, pinnedState(repeat, v, true));
    for (Value v : repeat.getStacked())
      if (!graph.stateOf(v, axis))
        graph.setState(v, axis, pinnedState(repeat, v, true));
  }
}

/// What the level says: of ops, then of values, which split relatively to what
/// there is.
LogicalResult Propagator::applyLevel(int64_t level) {
  for (const NodeIntent &i : intents)
    if (i.intent.level == level)
      applyIntent(i);
  for (const NodeIntent &i : intents)
    if (i.intent.visible == level && graph.nodes[i.node].hidden[i.intent.axis])
      reveal(graph.nodes[i.node], i.intent.axis);
  applied.clear();
  // Axis by axis, whatever the order in the program: of several that split one
  // dimension, the slower axis is the major digit.
  for (const MeshAxis &axis : graph.getMesh())
    for (SeedOp seed : seeds)
      if (levelOf(seed) == level && seed.getAxis() == axis.name &&
          failed(applySeed(seed)))
        return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The driver
//===----------------------------------------------------------------------===//

void Propagator::propagate(unsigned axis) {
  bool changed = true;
  while (changed) {
    changed = false;
    bool swept = true;
    while (swept) {
      swept = forward(axis);
      swept |= backward(axis);
      changed |= swept;
    }
    changed |= decideArguments(axis);
  }
}

LogicalResult Propagator::run() {
  if (failed(collectIntents()) || failed(collectSeeds()))
    return failure();
  for (unsigned axis = 0; axis < graph.getMesh().size(); ++axis)
    if (graph.isPinnedAxis(axis)) {
      pinRepeats(axis);
      propagate(axis);
    }
  for (const auto &[level, axes] : levels()) {
    if (failed(applyLevel(level)))
      return failure();
    for (unsigned axis : axes.set_bits())
      propagate(axis);
  }
  for (unsigned axis = 0; axis < graph.getMesh().size(); ++axis) {
    passPartials(axis);
    finish(axis);
  }
  for (SeedOp seed : seeds)
    seed.erase();
  return success();
}
