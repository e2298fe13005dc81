//===- PropagatePlacement.cpp - Placements of all values from seeds -------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// `dtrain-propagate-placement`: assigns a state per mesh axis to every op;
/// states of values follow. States only go from undecided to decided, axis by
/// axis and level by level of the intents (PropagateLevels.cpp), so the result
/// does not depend on the order of seeds or of independent ops.
///
//===----------------------------------------------------------------------===//

#include "Propagator.h"
#include "dtrain/Transforms/Place/Passes.h"
#include "dtrain/Transforms/Utils/RepeatUtils.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_PROPAGATEPLACEMENT
#include "dtrain/Transforms/Place/Passes.h.inc"
} // namespace dtrain

//===----------------------------------------------------------------------===//
// Deciding one op
//===----------------------------------------------------------------------===//

bool Propagator::isValid(const PlacedNode &node, unsigned axis,
                         const OpAxisState &state,
                         ArrayRef<std::optional<OpAxisState>> others) {
  if (state.kind == OpAxisState::Factor &&
      !maySplit(node.rule, state.factor, state.stride, sizeOf(axis)))
    return false;
  auto fits = [&](Value value, auto stateFor) {
    TensorState t(graph.getMesh().size());
    for (unsigned a = 0; a < t.size(); ++a)
      if (a == axis)
        t[a] = stateFor(state);
      else if (others[a])
        t[a] = stateFor(*others[a]);
    llvm::Error e =
        verifyTensorState(graph.getMesh(), tensorType(value).getShape(), t);
    bool ok = !e;
    llvm::consumeError(std::move(e));
    return ok;
  };
  for (unsigned i = 0; i < node.op->getNumOperands(); ++i)
    if (!fits(node.op->getOperand(i),
              [&](const OpAxisState &s) { return need(node.rule, i, s); }))
      return false;
  for (unsigned j = 0; j < node.op->getNumResults(); ++j)
    if (!fits(node.op->getResult(j),
              [&](const OpAxisState &s) { return gives(node.rule, j, s); }))
      return false;
  return true;
}

double Propagator::reshardBytes(const PlacedNode &node, unsigned axis,
                                const OpAxisState &state) {
  double bytes = 0;
  for (unsigned i = 0; i < node.op->getNumOperands(); ++i) {
    Value v = node.op->getOperand(i);
    if (!graph.stateOf(v, axis))
      continue;
    std::optional<EdgeCost> cost =
        edge(graph.getMesh(), tensorType(v).getShape(), graph.tensorState(v),
             axis, need(node.rule, i, state));
    if (cost)
      bytes +=
          cost->sentElements * elementBytes(tensorType(v).getElementType());
  }
  return bytes;
}

unsigned Propagator::rankOf(const PlacedNode &node, const OpAxisState &state) {
  if (state.kind == OpAxisState::Pinned)
    return 2;
  if (state.kind != OpAxisState::Factor)
    return 3;
  for (unsigned j = 0; j < node.rule.rule.results.size(); ++j)
    if (node.rule.rule.reducedIn(state.factor, j))
      return 1;
  return 0;
}

void Propagator::add(SmallVectorImpl<Candidate> &list, const PlacedNode &node,
                     unsigned axis, const OpAxisState &state,
                     unsigned operand) {
  for (const Candidate &c : list)
    if (c.state == state)
      return;
  if (isValid(node, axis, state, node.state))
    list.push_back(
        {state, rankOf(node, state), reshardBytes(node, axis, state), operand});
}

void Propagator::decide(PlacedNode &node, unsigned axis,
                        const OpAxisState &state) {
  node.state[axis] = state;
  reveal(node, axis);
}

void Propagator::reveal(PlacedNode &node, unsigned axis) {
  node.hidden.reset(axis);
  for (unsigned j = 0; j < node.op->getNumResults(); ++j) {
    Value result = node.op->getResult(j);
    AxisState given = gives(node.rule, j, *node.state[axis]);
    // A seed may have split the value over another axis as the op does over
    // this one: it keeps its state, and what the op gives is resharded.
    if (!graph.stateOf(result, axis) && fits(result, axis, given))
      graph.setState(result, axis, given);
  }
}

//===----------------------------------------------------------------------===//
// Sweeps
//===----------------------------------------------------------------------===//

bool Propagator::fits(Value value, unsigned axis, const AxisState &state) {
  if (state.kind != AxisState::Split)
    return true;
  TensorState t = graph.tensorState(value);
  t[axis] = state;
  return hasValidDigits(graph.getMesh(),
                        tensorType(value).getShape()[state.dim], t, state.dim);
}

bool Propagator::adopt(Value value, unsigned axis, const AxisState &state) {
  if (graph.stateOf(value, axis) ||
      (state.kind != AxisState::Split && state.kind != AxisState::Pinned))
    return false;
  return fits(value, axis, state) && graph.setState(value, axis, state);
}

/// A carried slot starts in the state of its initial value.
bool Propagator::enterRepeat(RepeatOp repeat, unsigned axis) {
  bool changed = false;
  for (auto [i, init] : llvm::enumerate(repeat.getCarry()))
    if (std::optional<AxisState> s = graph.stateOf(init, axis))
      changed |= adopt(graph.bodyOf(repeat).getArgument(i), axis, *s);
  return changed;
}

bool Propagator::forward(unsigned axis) {
  bool changed = false;
  for (RepeatOp repeat : graph.repeats)
    if (!graph.isInside(graph.bodyOf(repeat).getBody().front().getTerminator(),
                        axis))
      changed |= enterRepeat(repeat, axis);
  for (PlacedNode &node : graph.nodes) {
    if (node.state[axis] || !takesPart(node, axis))
      continue;
    if (std::optional<OpAxisState> join = joinPartials(node, axis)) {
      decide(node, axis, *join);
      changed = true;
      continue;
    }
    SmallVector<Candidate> list;
    for (unsigned i = 0; i < node.op->getNumOperands(); ++i) {
      std::optional<AxisState> s = graph.stateOf(node.op->getOperand(i), axis);
      if (s && s->kind == AxisState::Split) {
        if (auto f = factorAt(node.rule, node.rule.rule.operands[i], s->dim,
                              s->stride, sizeOf(axis)))
          add(list, node, axis, *f, i);
      } else if (s && s->kind == AxisState::Pinned) {
        add(list, node, axis, OpAxisState::pinned(s->on), i);
      }
    }
    if (list.empty())
      continue;
    decide(node, axis, llvm::min_element(list)->state);
    changed = true;
  }
  return changed;
}

bool Propagator::backward(unsigned axis) {
  bool changed = false;
  for (PlacedNode &node : llvm::reverse(graph.nodes)) {
    if (node.state[axis] || !takesPart(node, axis))
      continue;
    bool partialOperand = llvm::any_of(node.op->getOperands(), [&](Value v) {
      std::optional<AxisState> s = graph.stateOf(v, axis);
      return s && s->kind == AxisState::Partial;
    });
    if (partialOperand)
      continue;
    SmallVector<Candidate> list;
    auto consider = [&](unsigned j, const AxisState &s) {
      if (s.kind == AxisState::Pinned)
        add(list, node, axis, OpAxisState::pinned(s.on), j);
      if (s.kind != AxisState::Split)
        return;
      auto f = factorAt(node.rule, node.rule.rule.results[j], s.dim, s.stride,
                        sizeOf(axis));
      if (f && rankOf(node, *f) == 0)
        add(list, node, axis, *f, j);
    };
    for (unsigned j = 0; j < node.op->getNumResults(); ++j) {
      Value result = node.op->getResult(j);
      if (std::optional<AxisState> s = graph.stateOf(result, axis))
        consider(j, *s);
      for (OpOperand &use : result.getUses())
        if (std::optional<AxisState> s = graph.demand(use, axis))
          consider(j, *s);
    }
    // Several coordinates ask for one value that follows from constants (a
    // rotary table): every coordinate makes its own.
    bool severalPins =
        list.size() > 1 &&
        llvm::all_of(list, [](const Candidate &c) { return c.rank == 2; });
    if (list.empty())
      continue;
    bool makesOwn = severalPins && followsFromConstants(node.op->getResult(0));
    decide(node, axis,
           makesOwn ? OpAxisState::replicated()
                    : llvm::min_element(list)->state);
    changed = true;
  }
  return changed;
}

/// Arguments of functions take what all decided consumers need, if they agree;
/// pins on different coordinates agree on their union.
bool Propagator::decideArguments(unsigned axis) {
  bool changed = false;
  llvm::SetVector<Operation *> functions;
  functions.insert(graph.main);
  for (RepeatOp repeat : graph.repeats)
    functions.insert(graph.bodyOf(repeat));
  for (Operation *func : functions) {
    for (BlockArgument arg : cast<func::FuncOp>(func).getArguments()) {
      if (graph.stateOf(arg, axis))
        continue;
      if (graph.isInside(&cast<func::FuncOp>(func).getBody().front().front(),
                         axis))
        continue;
      std::optional<AxisState> agreed;
      bool ok = true;
      for (Value member : graph.classOf(arg, axis).members)
        for (OpOperand &use : member.getUses()) {
          std::optional<AxisState> s = graph.demand(use, axis);
          if (!s)
            continue;
          // In the terms of `arg`, whose leading dimensions may differ.
          int shift = static_cast<int>(tensorType(arg).getRank()) -
                      static_cast<int>(tensorType(member).getRank());
          if (s->kind == AxisState::Split) {
            if (static_cast<int>(s->dim) + shift < 0) {
              ok = false;
              continue;
            }
            s->dim += shift;
          }
          if (!agreed)
            agreed = s;
          else if (agreed->kind == AxisState::Pinned &&
                   s->kind == AxisState::Pinned) {
            Coords on = unite(agreed->on, s->on, sizeOf(axis));
            agreed =
                on.empty() ? AxisState::replicated() : AxisState::pinned(on);
          } else
            ok &= *agreed == *s;
        }
      if (ok && agreed)
        changed |= adopt(arg, axis, *agreed);
    }
  }
  return changed;
}

/// Zero-initialised sums whose yields turned out partial are partial
/// themselves; what is left is replicated.
void Propagator::finish(unsigned axis) {
  for (RepeatOp repeat : graph.repeats) {
    func::FuncOp body = graph.bodyOf(repeat);
    Operation *yield = body.getBody().front().getTerminator();
    if (graph.isInside(yield, axis))
      continue;
    for (unsigned r = 0; r < repeat.getNumResults(); ++r) {
      std::optional<unsigned> argument = repeat.getTiedOperand(r);
      if (!argument)
        break;
      Value arg = body.getArgument(*argument);
      std::optional<AxisState> s = graph.stateOf(yield->getOperand(r), axis);
      if (!graph.stateOf(arg, axis) && graph.classOf(arg, axis).zero && s &&
          s->kind == AxisState::Partial)
        graph.setState(arg, axis, *s);
    }
  }
  for (PlacedNode &node : graph.nodes)
    if (!node.state[axis])
      decide(node, axis, OpAxisState::replicated());
}

//===----------------------------------------------------------------------===//
// Writing placements into types
//===----------------------------------------------------------------------===//

static void writeTypes(PlacementGraph &graph, func::FuncOp func) {
  MeshAttr mesh = graph.getMeshAttr();
  auto place = [&](Value v) {
    v.setType(withState(tensorType(v), mesh, graph.tensorState(v)));
  };
  for (BlockArgument arg : func.getArguments())
    place(arg);
  for (Operation &op : func.getBody().front()) {
    for (Value result : op.getResults())
      place(result);
    PlacedNode *node = graph.nodeOf(&op);
    if (!node)
      continue;
    dtrain::OpState state;
    for (const std::optional<OpAxisState> &s : node->state)
      state.push_back(s.value_or(OpAxisState::replicated()));
    cast<RuleOpInterface>(op).setStateAttr(
        OpStateAttr::get(mesh, node->rule.rule, state));
  }
  updateFunctionType(func);
}

namespace {
struct PropagatePlacement
    : public dtrain::impl::PropagatePlacementBase<PropagatePlacement> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!mesh) {
      module.emitError("no mesh: expected the attribute dtrain.mesh, which the "
                       "seed passes set");
      return signalPassFailure();
    }
    FailureOr<PlacementGraph> graph = PlacementGraph::build(module, mesh);
    if (failed(graph) || failed(Propagator(*graph).run()))
      return signalPassFailure();
    llvm::SetVector<Operation *> functions;
    functions.insert(graph->main);
    for (RepeatOp repeat : graph->repeats)
      functions.insert(graph->bodyOf(repeat));
    for (Operation *func : functions)
      writeTypes(*graph, cast<func::FuncOp>(func));
  }
};
} // namespace
