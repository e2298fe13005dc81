//===- PlacementGraph.cpp - A program as propagation sees it --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Transforms/Place/PlacementGraph.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;

RepeatSegment dtrain::segmentOf(RepeatOp repeat, unsigned operand) {
  unsigned carry = repeat.getCarry().size();
  unsigned stacked = carry + repeat.getStacked().size();
  unsigned inout = stacked + repeat.getInout().size();
  if (operand < carry)
    return RepeatSegment::Carry;
  if (operand < stacked)
    return RepeatSegment::Stacked;
  return operand < inout ? RepeatSegment::Inout : RepeatSegment::Shared;
}

AxisState dtrain::reducedState(const AxisState &state) {
  if (state.kind != AxisState::Partial)
    return state;
  return state.on.empty() ? AxisState::replicated()
                          : AxisState::pinned(state.on);
}

AxisState dtrain::pinnedState(RepeatOp repeat, Value value, bool rows) {
  int64_t trips = repeat.getTripCount();
  if (rows && tensorType(value).getShape().front() != trips)
    return AxisState::split(0, trips);
  return AxisState::pinned({static_cast<int64_t>(*repeat.getPinnedTo())});
}

RankedTensorType RepeatTypes::get(RepeatOp repeat, Value value, Type inner,
                                  bool rows) {
  int64_t pin =
      repeat.getPinnedTo() ? static_cast<int64_t>(*repeat.getPinnedTo()) : -1;
  // The trip count decides whether a stack spans all layers.
  RankedTensorType &type =
      cache[{inner, value.getType(), pin, rows ? repeat.getTripCount() : -1}];
  if (type)
    return type;
  TensorState state = stateOf(cast<RankedTensorType>(inner), mesh);
  for (AxisState &s : state)
    if (rows && s.kind == AxisState::Split)
      ++s.dim;
  if (repeat.getPinnedAxis())
    if (std::optional<unsigned> axis = mesh.find(*repeat.getPinnedAxis()))
      state[*axis] = pinnedState(repeat, value, rows);
  return type = withState(tensorType(value), mesh, state);
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

FailureOr<PlacementGraph> PlacementGraph::build(ModuleOp module,
                                                MeshAttr mesh) {
  PlacementGraph graph;
  graph.mesh = mesh;
  graph.axes = mesh.getAxes();
  graph.main = module.lookupSymbol<func::FuncOp>("main");
  if (!graph.main || graph.main.isExternal())
    return module.emitError("expected a function @main to place");
  if (failed(graph.collect(graph.main)))
    return failure();

  graph.pinned.assign(graph.axes.size(), false);
  for (RepeatOp repeat : graph.repeats)
    if (std::optional<StringRef> axis = repeat.getPinnedAxis())
      if (std::optional<unsigned> index = mesh.find(*axis))
        graph.pinned[*index] = true;
  graph.findInside(graph.main);
  graph.mapOf.assign(graph.axes.size(), 0);
  graph.buildClasses(0, std::nullopt);
  for (unsigned axis = 0; axis < graph.axes.size(); ++axis)
    if (graph.pinned[axis]) {
      graph.mapOf[axis] = graph.classes.size();
      graph.buildClasses(graph.classes.size(), axis);
    }
  return graph;
}

LogicalResult PlacementGraph::collect(func::FuncOp func) {
  if (!llvm::hasSingleElement(func.getBody()))
    return func.emitError("expected one block");
  for (Operation &op : func.getBody().front()) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      func::FuncOp body = repeat.getBody();
      SmallVector<RepeatOp, 1> &calls = callers[body];
      bool first = calls.empty();
      calls.push_back(repeat);
      bodies[repeat] = body;
      repeats.push_back(repeat);
      if (first && failed(collect(body)))
        return failure();
    } else if (isa<RuleOpInterface>(op)) {
      nodeIndex[&op] = nodes.size();
      PlacedNode node{&op, llvm::cantFail(bindRule(&op)), {}, {}};
      node.state.resize(axes.size());
      node.hidden.resize(axes.size());
      nodes.push_back(std::move(node));
    } else if (!isa<func::ReturnOp, SeedOp>(op)) {
      return op.emitOpError("is not expected before placement");
    }
  }
  return success();
}

namespace {
/// Union-find of values with the difference of their leading dimensions.
class Unifier {
public:
  unsigned add(Value v) {
    auto [it, isNew] = ids.try_emplace(v, values.size());
    if (isNew) {
      values.push_back(v);
      parent.push_back(it->second);
      lead.push_back(0);
    }
    return it->second;
  }
  /// `outer` has `more` leading dimensions beyond `inner`.
  void unite(Value outer, Value inner, int more) {
    auto [a, leadA] = find(add(outer));
    auto [b, leadB] = find(add(inner));
    if (a == b)
      return;
    parent[a] = b;
    lead[a] = leadB + more - leadA;
  }
  std::pair<unsigned, int> find(unsigned i) const {
    int sum = 0;
    for (; parent[i] != i; i = parent[i])
      sum += lead[i];
    return {i, sum};
  }
  std::vector<Value> values;

private:
  DenseMap<Value, unsigned> ids;
  std::vector<unsigned> parent;
  std::vector<int> lead; // relative to the parent
};
} // namespace

void PlacementGraph::buildClasses(unsigned map,
                                  std::optional<unsigned> pinnedAxis) {
  Unifier unifier;
  auto addAll = [&](func::FuncOp func) {
    for (BlockArgument arg : func.getArguments())
      unifier.add(arg);
    for (Operation &op : func.getBody().front())
      for (Value result : op.getResults())
        unifier.add(result);
  };
  addAll(main);
  for (auto &[body, calls] : callers)
    addAll(cast<func::FuncOp>(body));

  for (RepeatOp repeat : repeats) {
    if (pinnedAxis && isPinnedTo(repeat, *pinnedAxis)) {
      // Opaque on this axis: only the inout tensors pass through.
      for (auto [init, result] :
           llvm::zip(repeat.getInout(), repeat.getInoutResults()))
        unifier.unite(result, init, 0);
      continue;
    }
    func::FuncOp body = bodyOf(repeat);
    Operation *yield = body.getBody().front().getTerminator();
    for (auto [i, operand] : llvm::enumerate(repeat.getOperands())) {
      RepeatSegment segment = segmentOf(repeat, i);
      if (segment == RepeatSegment::Carry)
        continue;
      unifier.unite(operand, body.getArgument(i),
                    segment == RepeatSegment::Shared ? 0 : 1);
    }
    for (auto [i, result] : llvm::enumerate(repeat.getCarryResults()))
      unifier.unite(result, body.getArgument(i), 0);
    for (auto [init, result] :
         llvm::zip(repeat.getInout(), repeat.getInoutResults()))
      unifier.unite(result, init, 0);
    unsigned first = repeat.getNumResults() - repeat.getOutputs().size();
    for (auto [i, result] : llvm::enumerate(repeat.getOutputs()))
      unifier.unite(result, yield->getOperand(first + i), 1);
  }

  aliases.emplace_back();
  classes.emplace_back();
  DenseMap<unsigned, unsigned> classOfRoot;
  DenseMap<unsigned, int> minLead;
  for (unsigned i = 0; i < unifier.values.size(); ++i) {
    auto [root, lead] = unifier.find(i);
    auto it = minLead.try_emplace(root, lead).first;
    it->second = std::min(it->second, lead);
  }
  for (unsigned i = 0; i < unifier.values.size(); ++i) {
    auto [root, lead] = unifier.find(i);
    auto [it, isNew] = classOfRoot.try_emplace(root, classes[map].size());
    if (isNew) {
      classes[map].emplace_back();
      classes[map].back().state.resize(axes.size());
    }
    aliases[map][unifier.values[i]] = {
        it->second, static_cast<unsigned>(lead - minLead[root])};
    classes[map][it->second].members.push_back(unifier.values[i]);
  }
  findZeros(map);
}

static bool isZeroConstant(Value v) {
  auto constant = v.getDefiningOp<ConstantOp>();
  return constant && constant.getValue().isZero();
}

void PlacementGraph::findZeros(unsigned map) {
  // A class is zero if what enters it from outside is: the initial values of
  // the carried slots, and definitions by ops. Start from all and drop.
  std::vector<PlacedClass> &all = classes[map];
  for (PlacedClass &c : all)
    c.zero = true;
  auto zero = [&](Value v) {
    return isZeroConstant(v) || all[aliases[map][v].cls].zero;
  };
  bool changed = true;
  while (changed) {
    changed = false;
    for (PlacedClass &c : all) {
      bool ok = c.zero;
      for (Value v : c.members) {
        if (!ok)
          break;
        if (auto arg = dyn_cast<BlockArgument>(v)) {
          auto body = cast<func::FuncOp>(arg.getOwner()->getParentOp());
          ok = body != main;
          for (RepeatOp repeat : callers.lookup(body))
            ok = ok && zero(repeat.getOperand(arg.getArgNumber()));
        } else if (!isa<RepeatOp>(v.getDefiningOp())) {
          ok = isZeroConstant(v);
        }
      }
      // A result of a pinned repeat is what its body made of it, except that
      // an inout tensor started as its operand.
      if (ok && llvm::all_of(c.members, [](Value v) {
            return v.getDefiningOp<RepeatOp>();
          }))
        ok = false;
      if (c.zero && !ok) {
        c.zero = false;
        changed = true;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

bool PlacementGraph::isPinnedTo(RepeatOp repeat, unsigned axis) const {
  return pinned[axis] && repeat.getPinnedAxis() &&
         *repeat.getPinnedAxis() == axes[axis].name;
}

bool PlacementGraph::isInside(Operation *op, unsigned axis) const {
  auto it = inside.find(op->getParentOfType<func::FuncOp>());
  return it != inside.end() && it->second.test(axis);
}

void PlacementGraph::findInside(func::FuncOp func) {
  for (RepeatOp repeat : func.getBody().front().getOps<RepeatOp>()) {
    func::FuncOp body = bodyOf(repeat);
    llvm::SmallBitVector &of =
        inside.try_emplace(body, axes.size()).first->second;
    llvm::SmallBitVector before = of;
    if (auto outer = inside.find(func); outer != inside.end())
      of |= outer->second;
    for (unsigned axis = 0; axis < axes.size(); ++axis)
      if (isPinnedTo(repeat, axis))
        of.set(axis);
    // Once per caller that adds something.
    if (of != before || before.none())
      findInside(body);
  }
}

PlacedClass &PlacementGraph::classOf(Value value, unsigned axis) {
  unsigned map = mapOf[axis];
  return classes[map][aliases[map].find(value)->second.cls];
}

std::optional<AxisState> PlacementGraph::stateOf(Value value, unsigned axis) {
  std::optional<AxisState> state = classOf(value, axis).state[axis];
  if (state && state->kind == AxisState::Split)
    state->dim += aliases[mapOf[axis]].find(value)->second.lead;
  return state;
}

bool PlacementGraph::setState(Value value, unsigned axis,
                              const AxisState &state) {
  AxisState inner = state;
  if (state.kind == AxisState::Split) {
    unsigned lead = aliases[mapOf[axis]].find(value)->second.lead;
    if (state.dim < lead)
      return false;
    inner.dim = state.dim - lead;
  }
  classOf(value, axis).state[axis] = inner;
  return true;
}

TensorState PlacementGraph::tensorState(Value value) {
  TensorState state(axes.size());
  for (unsigned axis = 0; axis < axes.size(); ++axis)
    if (std::optional<AxisState> s = stateOf(value, axis))
      state[axis] = *s;
  return state;
}

PlacedNode *PlacementGraph::nodeOf(Operation *op) {
  auto it = nodeIndex.find(op);
  return it == nodeIndex.end() ? nullptr : &nodes[it->second];
}

bool PlacementGraph::passesThrough(OpOperand &use, unsigned axis) {
  Operation *owner = use.getOwner();
  if (isa<SeedOp>(owner))
    return true;
  if (auto repeat = dyn_cast<RepeatOp>(owner))
    return !isPinnedTo(repeat, axis) &&
           segmentOf(repeat, use.getOperandNumber()) != RepeatSegment::Carry;
  auto func = cast<func::FuncOp>(owner->getParentOp());
  if (!isa<func::ReturnOp>(owner) || func == main || isInside(owner, axis))
    return false;
  RepeatOp repeat = callers.find(func)->second.front();
  return use.getOperandNumber() >=
         repeat.getNumResults() - repeat.getOutputs().size();
}

std::optional<AxisState>
PlacementGraph::repeatDemand(RepeatOp repeat, unsigned operand, unsigned axis) {
  if (isPinnedTo(repeat, axis)) {
    RepeatSegment segment = segmentOf(repeat, operand);
    return pinnedState(repeat, repeat.getOperand(operand),
                       segment == RepeatSegment::Stacked ||
                           segment == RepeatSegment::Inout);
  }
  if (operand < repeat.getCarry().size())
    return stateOf(bodyOf(repeat).getArgument(operand), axis);
  return std::nullopt;
}

std::optional<AxisState> PlacementGraph::returnDemand(OpOperand &use,
                                                      unsigned axis) {
  auto func = cast<func::FuncOp>(use.getOwner()->getParentOp());
  unsigned result = use.getOperandNumber();
  if (func == main) {
    if (auto tie = func.getResultAttrOfType<IntegerAttr>(result, kUpdatesAttr))
      return stateOf(func.getArgument(tie.getInt()), axis);
    std::optional<AxisState> state = stateOf(use.get(), axis);
    if (state && state->kind == AxisState::Partial)
      return reducedState(*state);
    return std::nullopt;
  }
  RepeatOp repeat = callers.find(func)->second.front();
  if (std::optional<unsigned> argument = repeat.getTiedOperand(result))
    return stateOf(func.getArgument(*argument), axis);
  return std::nullopt;
}

std::optional<AxisState> PlacementGraph::demand(OpOperand &use, unsigned axis) {
  Operation *owner = use.getOwner();
  if (auto repeat = dyn_cast<RepeatOp>(owner))
    return repeatDemand(repeat, use.getOperandNumber(), axis);
  if (isa<func::ReturnOp>(owner))
    return returnDemand(use, axis);
  PlacedNode *node = nodeOf(owner);
  if (!node || !node->state[axis] || node->hidden[axis])
    return std::nullopt;
  return need(node->rule, use.getOperandNumber(), *node->state[axis]);
}
