//===- PropagatePartials.cpp - Where partial sums pass through ------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The two ways in which a partial sum enters an op without being reduced: with
/// others that are partial too, and alone where that costs nothing
/// (docs/reference/placement.md, Propagation).
///
//===----------------------------------------------------------------------===//

#include "Propagator.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;

Coords dtrain::unite(const Coords &a, const Coords &b, int64_t size) {
  if (a.empty() || b.empty())
    return {};
  Coords result(a);
  llvm::append_range(result, b);
  llvm::sort(result);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return static_cast<int64_t>(result.size()) == size ? Coords() : result;
}

/// A group of operands that are all partial, or zero, or on some coordinates
/// only: the op adds what they hold and reduces nothing.
std::optional<OpAxisState> Propagator::joinPartials(const PlacedNode &node,
                                                    unsigned axis) {
  auto groups = node.rule.rule.linearGroups();
  for (auto [g, group] : llvm::enumerate(groups)) {
    if (group.size() < 2)
      continue;
    unsigned partial = 0, pinned = 0;
    bool ok = true;
    Coords on;
    bool first = true, samePin = true;
    for (unsigned i : group) {
      Value v = node.op->getOperand(i);
      std::optional<AxisState> s = graph.stateOf(v, axis);
      if (!s) {
        ok &= graph.classOf(v, axis).zero;
        continue;
      }
      bool isPartial =
          s->kind == AxisState::Partial && s->reduce == ReduceOp::Sum;
      partial += isPartial;
      pinned += s->kind == AxisState::Pinned;
      ok &= isPartial || s->kind == AxisState::Pinned;
      samePin &= first || s->on == on;
      on = first ? s->on : unite(on, s->on, sizeOf(axis));
      first = false;
    }
    if (ok && (partial || (pinned > 1 && !samePin)))
      return OpAxisState::linear(g, on);
  }
  return std::nullopt;
}

/// The largest set of ops that can let partial sums through without
/// making larger what is then reduced, and without a sibling that needs them
/// reduced.
void Propagator::passPartials(unsigned axis) {
  llvm::DenseMap<Operation *, unsigned> passing; // op -> linear group
  auto isPartial = [&](Value v) {
    if (std::optional<AxisState> s = graph.stateOf(v, axis))
      return s->kind == AxisState::Partial && s->reduce == ReduceOp::Sum;
    return v.getDefiningOp() && passing.count(v.getDefiningOp());
  };
  auto isFree = [&](Value v) {
    return !graph.stateOf(v, axis) && graph.classOf(v, axis).zero;
  };
  auto elements = [](Value v) {
    return static_cast<double>(tensorType(v).getNumElements()) *
           elementBytes(tensorType(v).getElementType());
  };
  auto accepts = [&](OpOperand &use) {
    if (passing.count(use.getOwner()))
      return true;
    if (std::optional<AxisState> s = graph.demand(use, axis))
      return s->kind == AxisState::Partial;
    if (graph.passesThrough(use, axis))
      return false;
    // A carried sum that starts from zero stays partial.
    auto func = dyn_cast<func::FuncOp>(use.getOwner()->getParentOp());
    return isa<func::ReturnOp>(use.getOwner()) && func != graph.main &&
           use.getOperandNumber() < func.getNumArguments() &&
           graph.classOf(func.getArgument(use.getOperandNumber()), axis).zero;
  };
  // What goes straight into a zero-initialised sum is reduced with it, once,
  // whatever its size.
  auto feedsSum = [&](PlacedNode &node) {
    return llvm::all_of(node.op->getResults(), [&](Value r) {
      return llvm::all_of(r.getUsers(), [&](Operation *user) {
        return isa<RuleOpInterface>(user) &&
               llvm::any_of(user->getOperands(), isFree);
      });
    });
  };
  auto groupThatPasses = [&](PlacedNode &node) -> std::optional<unsigned> {
    auto groups = node.rule.rule.linearGroups();
    for (auto [g, group] : llvm::enumerate(groups)) {
      bool any = false, all = true;
      double partialSize = 0, resultSize = 0;
      for (unsigned i : group) {
        Value v = node.op->getOperand(i);
        any |= isPartial(v);
        all &= isPartial(v) || isFree(v);
        if (isPartial(v))
          partialSize += elements(v);
      }
      for (Value r : node.op->getResults())
        resultSize += elements(r);
      if (any && all && (resultSize <= partialSize || feedsSum(node)))
        return g;
    }
    return std::nullopt;
  };
  // Start from every op that has a group of candidates at all, reached from the
  // partial values; then drop violators until none is left.
  bool changed = true;
  while (changed) {
    changed = false;
    for (PlacedNode &node : graph.nodes)
      if (!node.state[axis] && takesPart(node, axis) && !passing.count(node.op))
        if (std::optional<unsigned> g = groupThatPasses(node)) {
          passing[node.op] = *g;
          changed = true;
        }
  }
  changed = true;
  while (changed) {
    changed = false;
    for (PlacedNode &node : graph.nodes) {
      if (!passing.count(node.op))
        continue;
      auto group = node.rule.rule.linearGroups()[passing[node.op]];
      bool ok = groupThatPasses(node).has_value();
      for (unsigned i : group)
        if (isPartial(node.op->getOperand(i)))
          for (OpOperand &use : node.op->getOperand(i).getUses())
            ok &= accepts(use);
      if (!ok) {
        passing.erase(node.op);
        changed = true;
      }
    }
  }
  for (PlacedNode &node : graph.nodes) {
    auto it = passing.find(node.op);
    if (it == passing.end())
      continue;
    Coords on;
    bool first = true;
    auto groups = node.rule.rule.linearGroups();
    for (unsigned i : groups[it->second])
      if (std::optional<AxisState> s =
              graph.stateOf(node.op->getOperand(i), axis)) {
        on = first ? s->on : unite(on, s->on, sizeOf(axis));
        first = false;
      }
    decide(node, axis, OpAxisState::linear(it->second, on));
  }
}
