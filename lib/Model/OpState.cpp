//===- OpState.cpp - Axis states of ops -----------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Rule.h"
#include "llvm/ADT/STLExtras.h"

using namespace dtrain;

OpAxisState OpAxisState::split(FactorId f, int64_t stride) {
  OpAxisState state;
  state.kind = Factor;
  state.factor = f;
  state.stride = stride;
  return state;
}

OpAxisState OpAxisState::linear(unsigned group, Coords on) {
  OpAxisState state;
  state.kind = Linear;
  state.group = group;
  state.on = sortedCoords(std::move(on));
  return state;
}

OpAxisState OpAxisState::pinned(Coords on) {
  OpAxisState state;
  if (on.empty())
    return state;
  state.kind = Pinned;
  state.on = sortedCoords(std::move(on));
  return state;
}

bool OpAxisState::operator==(const OpAxisState &o) const {
  return kind == o.kind && factor == o.factor && stride == o.stride &&
         group == o.group && on == o.on;
}

/// Splitting factor `f` splits the dimension that it indexes; none where the
/// term lacks it.
static std::optional<AxisState> splitOf(const BoundRule &bound,
                                        const RuleTerm &term,
                                        const OpAxisState &state) {
  std::optional<unsigned> dim = Rule::dimOf(term, state.factor);
  if (!dim)
    return std::nullopt;
  return AxisState::split(*dim,
                          state.stride * bound.minorTo(term, state.factor));
}

AxisState dtrain::need(const BoundRule &bound, unsigned i,
                       const OpAxisState &state) {
  const Rule &rule = bound.rule;
  switch (state.kind) {
  case OpAxisState::Replicated:
    return AxisState::replicated();
  case OpAxisState::Pinned:
    return AxisState::pinned(state.on);
  case OpAxisState::Factor:
    if (auto split = splitOf(bound, rule.operands[i], state))
      return *split;
    // The term without the factor must enter the sum once, not n times.
    return rule.additiveLone(i, state.factor) ? AxisState::partial()
                                              : AxisState::replicated();
  case OpAxisState::Linear:
    return llvm::is_contained(rule.linearGroups()[state.group], i)
               ? AxisState::partial(ReduceOp::Sum, state.on)
               : AxisState::replicated();
  }
  llvm_unreachable("all kinds are covered");
}

AxisState dtrain::gives(const BoundRule &bound, unsigned j,
                        const OpAxisState &state) {
  const Rule &rule = bound.rule;
  switch (state.kind) {
  case OpAxisState::Replicated:
    return AxisState::replicated();
  case OpAxisState::Pinned:
    return AxisState::pinned(state.on);
  case OpAxisState::Factor:
    if (auto split = splitOf(bound, rule.results[j], state))
      return *split;
    return llvm::is_contained(rule.keep, j)
               ? AxisState::replicated()
               : AxisState::partial(rule.factors[state.factor].reduce);
  case OpAxisState::Linear:
    return AxisState::partial(ReduceOp::Sum, state.on);
  }
  llvm_unreachable("all kinds are covered");
}

std::optional<OpAxisState> dtrain::factorAt(const BoundRule &bound,
                                            const RuleTerm &term, unsigned dim,
                                            int64_t stride, int64_t n) {
  if (dim >= term.size() || stride <= 0 || n <= 0)
    return std::nullopt;
  llvm::ArrayRef<FactorId> factors = term[dim].factors;
  int64_t minor = 1;
  for (FactorId f : llvm::reverse(factors)) {
    int64_t size = bound.sizes[f];
    if (stride % minor == 0) {
      int64_t own = stride / minor;
      if (own <= size && size % (own * n) == 0)
        return OpAxisState::split(f, own);
    }
    minor *= size;
  }
  if (factors.size() == 1 && splitsUnevenly(bound.sizes[factors[0]], stride, n))
    return OpAxisState::split(factors[0], stride);
  return std::nullopt;
}

bool dtrain::maySplit(const BoundRule &bound, FactorId f, int64_t stride,
                      int64_t n) {
  const Rule &rule = bound.rule;
  if (rule.factors[f].kind != FactorKind::Plain || stride <= 0 || n <= 0)
    return false;
  int64_t size = bound.sizes[f];
  bool even = stride <= size && size % (stride * n) == 0;
  if (!even) {
    if (!splitsUnevenly(size, stride, n))
      return false;
    for (const auto *terms : {&rule.operands, &rule.results})
      for (const RuleTerm &term : *terms)
        if (std::optional<unsigned> d = Rule::dimOf(term, f))
          if (term[*d].factors.size() != 1)
            return false;
  }
  return llvm::none_of(rule.windows, [&](const RuleWindow &w) {
    return w.factor == f && stride * n != size;
  });
}

std::optional<OpAxisState>
dtrain::inferState(const BoundRule &bound, llvm::ArrayRef<AxisState> operands,
                   llvm::ArrayRef<AxisState> results, int64_t axisSize) {
  const Rule &rule = bound.rule;
  if (operands.size() != rule.operands.size() ||
      results.size() != rule.results.size())
    return std::nullopt;
  if (axisSize == 1)
    return OpAxisState::replicated();

  auto explains = [&](const OpAxisState &state) {
    for (unsigned i = 0; i < operands.size(); ++i)
      if (need(bound, i, state) != operands[i])
        return false;
    for (unsigned j = 0; j < results.size(); ++j)
      if (gives(bound, j, state) != results[j])
        return false;
    return true;
  };

  // Every factor indexes some operand or result, so a split op state shows in
  // the first Split state; all values of a pinned op are Pinned; the results of
  // a linear one are Partial.
  auto firstSplit = [&](llvm::ArrayRef<RuleTerm> terms,
                        llvm::ArrayRef<AxisState> states)
      -> std::pair<const RuleTerm *, const AxisState *> {
    for (auto [term, state] : llvm::zip(terms, states))
      if (state.kind == AxisState::Split)
        return {&term, &state};
    return {nullptr, nullptr};
  };
  auto [term, split] = firstSplit(rule.operands, operands);
  if (!split)
    std::tie(term, split) = firstSplit(rule.results, results);
  if (split) {
    std::optional<OpAxisState> state =
        factorAt(bound, *term, split->dim, split->stride, axisSize);
    if (state && maySplit(bound, state->factor, state->stride, axisSize) &&
        explains(*state))
      return state;
    return std::nullopt;
  }

  OpAxisState candidate;
  if (explains(candidate))
    return candidate;
  for (llvm::ArrayRef<AxisState> states : {operands, results})
    if (!states.empty() && states[0].kind == AxisState::Pinned) {
      candidate = OpAxisState::pinned(states[0].on);
      if (explains(candidate))
        return candidate;
    }
  if (results.empty() || results[0].kind != AxisState::Partial)
    return std::nullopt;
  for (unsigned g = 0, e = rule.linearGroups().size(); g < e; ++g) {
    candidate = OpAxisState::linear(g, results[0].on);
    if (explains(candidate))
      return candidate;
  }
  return std::nullopt;
}
