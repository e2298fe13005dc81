//===- OpStateTest.cpp - Axis states of ops -------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "VirtualTensor.h"
#include "gtest/gtest.h"

using namespace dtrain;
using namespace dtrain::test;

namespace {

using Op = OpAxisState;
constexpr ReduceOp sum = ReduceOp::Sum;

BoundRule bindRule(llvm::StringRef text,
                   llvm::ArrayRef<llvm::SmallVector<int64_t>> operands,
                   const llvm::StringMap<int64_t> &given = {}) {
  Rule rule = llvm::cantFail(Rule::parse(text));
  rule = llvm::cantFail(rule.instantiate(operands, /*broadcast=*/true));
  return llvm::cantFail(BoundRule::bind(rule, operands, given));
}

/// "needs -> gives", as text.
std::string states(const BoundRule &bound, const Op &op) {
  std::string text;
  for (unsigned i = 0; i < bound.rule.operands.size(); ++i)
    text += need(bound, i, op).str() + " ";
  text += "->";
  for (unsigned j = 0; j < bound.rule.results.size(); ++j)
    text += " " + gives(bound, j, op).str();
  return text;
}

Op splitOf(const BoundRule &bound, llvm::StringRef name, int64_t stride) {
  return Op::split(*bound.rule.find(name), stride);
}

TEST(OpState, Dot) {
  BoundRule dot =
      bindRule("b m k, b k n -> b m n | sum 0*1", {{4, 12, 24}, {4, 24, 8}});
  EXPECT_EQ(states(dot, Op::replicated()), "R R -> R");
  EXPECT_EQ(states(dot, Op::pinned({2})), "N({2}) N({2}) -> N({2})");
  EXPECT_EQ(states(dot, splitOf(dot, "b", 2)), "S(0,2) S(0,2) -> S(0,2)");
  EXPECT_EQ(states(dot, splitOf(dot, "m", 3)), "S(1,3) R -> S(1,3)");
  EXPECT_EQ(states(dot, splitOf(dot, "n", 4)), "R S(2,4) -> S(2,4)");
  EXPECT_EQ(states(dot, splitOf(dot, "k", 6)), "S(2,6) S(1,6) -> P(sum)");
  EXPECT_EQ(states(dot, Op::linear(0)), "P(sum) R -> P(sum)");
  EXPECT_EQ(states(dot, Op::linear(1)), "R P(sum) -> P(sum)");
  EXPECT_EQ(states(dot, Op::linear(1, {3, 0})),
            "R P(sum,{0,3}) -> P(sum,{0,3})");
}

TEST(OpState, GemmBiasEntersOnce) {
  BoundRule gemm =
      bindRule("m k, k n, n -> m n | sum 0*1 + 2", {{12, 24}, {24, 8}, {8}});
  EXPECT_EQ(states(gemm, splitOf(gemm, "k", 6)),
            "S(1,6) S(0,6) P(sum) -> P(sum)");
  EXPECT_EQ(states(gemm, splitOf(gemm, "n", 2)), "R S(1,2) S(0,2) -> S(1,2)");
  EXPECT_EQ(states(gemm, splitOf(gemm, "m", 6)), "S(0,6) R R -> S(0,6)");
  EXPECT_EQ(states(gemm, Op::linear(1)), "R P(sum) P(sum) -> P(sum)");
}

TEST(OpState, Add) {
  BoundRule add = bindRule("..., ... -> ... | sum 0 + 1", {{4, 8}, {8}});
  EXPECT_EQ(states(add, Op::linear(0)), "P(sum) P(sum) -> P(sum)");
  EXPECT_EQ(states(add, splitOf(add, "x0", 1)), "S(0,1) R -> S(0,1)");
  EXPECT_EQ(states(add, splitOf(add, "x1", 4)), "S(1,4) S(0,4) -> S(1,4)");
}

TEST(OpState, NormGradientIsParallelAndReducedAtOnce) {
  BoundRule norm =
      bindRule("... d, ... d, d, ..., ... -> ... d, d, d | stat d | sum 0",
               {{4, 12, 8}, {4, 12, 8}, {8}, {4, 12}, {4, 12}});
  EXPECT_EQ(states(norm, splitOf(norm, "x1", 6)),
            "S(1,6) S(1,6) R S(1,6) S(1,6) -> S(1,6) P(sum) P(sum)");
  EXPECT_FALSE(maySplit(norm, *norm.rule.find("d"), 4, 2)) << "stat";
}

TEST(OpState, Reshape) {
  BoundRule move = bindRule("b s (g r e) -> b g r s e | sum 0", {{4, 12, 96}},
                            {{"g", 4}, {"r", 2}});
  EXPECT_EQ(states(move, splitOf(move, "g", 2)), "S(2,48) -> S(1,2)");
  EXPECT_EQ(states(move, splitOf(move, "r", 1)), "S(2,12) -> S(2,1)");
  EXPECT_EQ(states(move, splitOf(move, "e", 3)), "S(2,3) -> S(4,3)");
  EXPECT_EQ(states(move, splitOf(move, "s", 6)), "S(1,6) -> S(3,6)");
  // Expanding generates: every device makes its own part.
  BoundRule expand = bindRule("b -> b n | sum 0", {{4}}, {{"n", 8}});
  EXPECT_EQ(states(expand, splitOf(expand, "n", 4)), "R -> S(1,4)");
}

TEST(OpState, ReductionsAndKeep) {
  BoundRule max = bindRule("b n -> b | max n", {{4, 8}});
  EXPECT_EQ(states(max, splitOf(max, "n", 4)), "S(1,4) -> P(max)");
  BoundRule min = bindRule("b n -> b | min n", {{4, 8}});
  EXPECT_EQ(states(min, splitOf(min, "n", 4)), "S(1,4) -> P(min)");
  BoundRule gather = bindRule("i..., v d -> i... d | sum 1", {{4, 3}, {24, 8}});
  EXPECT_EQ(states(gather, splitOf(gather, "v", 12)), "R S(0,12) -> P(sum)");
  BoundRule step = bindRule("..., () -> ..., () | keep 1", {{12, 8}, {}});
  EXPECT_EQ(states(step, splitOf(step, "x0", 6)), "S(0,6) R -> S(0,6) R");
}

TEST(OpState, PartialOnOneCoordinateIsPinned) {
  BoundRule add = bindRule("..., ... -> ... | sum 0 + 1", {{4}, {4}});
  EXPECT_EQ(states(add, Op::linear(0, {3})), "N({3}) N({3}) -> N({3})");
  EXPECT_EQ(Op::pinned({}), Op::replicated());
}

TEST(OpState, FactorAt) {
  BoundRule move = bindRule("b s (g r e) -> b g r s e | sum 0", {{4, 12, 96}},
                            {{"g", 4}, {"r", 2}});
  const RuleTerm &term = move.rule.operands[0];
  EXPECT_EQ(factorAt(move, term, 2, 48, 2), splitOf(move, "g", 2));
  EXPECT_EQ(factorAt(move, term, 2, 24, 4), splitOf(move, "g", 1));
  EXPECT_EQ(factorAt(move, term, 2, 12, 2), splitOf(move, "r", 1));
  EXPECT_EQ(factorAt(move, term, 2, 6, 2), splitOf(move, "e", 6));
  EXPECT_EQ(factorAt(move, term, 2, 1, 12), splitOf(move, "e", 1));
  // Eight devices contiguously on (g r e): the digit spans g and r.
  EXPECT_EQ(factorAt(move, term, 2, 12, 8), std::nullopt);
  EXPECT_EQ(factorAt(move, term, 2, 5, 2), std::nullopt);
  EXPECT_EQ(factorAt(move, term, 3, 1, 2), std::nullopt);
  EXPECT_EQ(factorAt(move, term, 2, 0, 2), std::nullopt);
  // Uneven only where the factor is alone, in blocks of ceil(12 / 5).
  EXPECT_EQ(factorAt(move, term, 1, 3, 5), std::nullopt) << "an empty block";
  EXPECT_EQ(factorAt(move, term, 1, 2, 7), std::nullopt) << "an empty block";
  BoundRule odd = bindRule("a (b c) -> a b c", {{7, 14}}, {{"b", 7}});
  EXPECT_EQ(factorAt(odd, odd.rule.operands[0], 0, 4, 2), splitOf(odd, "a", 4));
  EXPECT_EQ(factorAt(odd, odd.rule.operands[0], 0, 3, 2), std::nullopt);
  EXPECT_EQ(factorAt(odd, odd.rule.operands[0], 1, 8, 2), std::nullopt);
}

TEST(OpState, MaySplit) {
  BoundRule conv = bindRule("b (g c) (x u), (g o) c k -> b (g o) x | whole u k "
                            "| window 0.2 x 1 1 | sum 0*1",
                            {{5, 12, 32}, {8, 6, 3}}, {{"u", 2}});
  auto may = [&](llvm::StringRef name, int64_t stride, int64_t n) {
    return maySplit(conv, *conv.rule.find(name), stride, n);
  };
  EXPECT_TRUE(may("x", 4, 4)) << "contiguous";
  EXPECT_FALSE(may("x", 1, 4)) << "a windowed factor with a stride";
  EXPECT_FALSE(may("k", 1, 3)) << "whole";
  EXPECT_FALSE(may("u", 1, 2)) << "whole";
  EXPECT_TRUE(may("c", 1, 2));
  EXPECT_TRUE(may("c", 3, 2));
  EXPECT_FALSE(may("c", 4, 2)) << "does not divide";
  EXPECT_FALSE(may("c", 0, 2));
  EXPECT_TRUE(may("b", 3, 2)) << "uneven and alone";
  EXPECT_FALSE(may("b", 2, 2));
  EXPECT_FALSE(may("b", 2, 4)) << "leaves a coordinate empty";
  // Alone in the operand, in a compound in the result.
  BoundRule merge = bindRule("a b -> (a b)", {{5, 4}});
  EXPECT_FALSE(maySplit(merge, *merge.rule.find("a"), 3, 2));
  EXPECT_TRUE(maySplit(merge, *merge.rule.find("b"), 2, 2));
}

/// All op states that one axis of size `n` may have.
llvm::SmallVector<Op> allStates(const BoundRule &bound, int64_t n) {
  llvm::SmallVector<Op> all{Op::replicated()};
  for (unsigned set = 1; set + 1 < (1u << n); ++set) {
    Coords on;
    for (int64_t c = 0; c < n; ++c)
      if (set >> c & 1)
        on.push_back(c);
    all.push_back(Op::pinned(on));
    if (on.size() > 1)
      for (unsigned g = 0; g < bound.rule.linearGroups().size(); ++g)
        all.push_back(Op::linear(g, on));
  }
  for (unsigned g = 0; g < bound.rule.linearGroups().size(); ++g)
    all.push_back(Op::linear(g));
  for (FactorId f = 0; f < bound.sizes.size(); ++f)
    for (int64_t stride = 1; stride <= bound.sizes[f]; ++stride)
      if (maySplit(bound, f, stride, n))
        all.push_back(Op::split(f, stride));
  return all;
}

struct Explained {
  llvm::SmallVector<AxisState> operands, results;
};

Explained explain(const BoundRule &bound, const Op &op) {
  Explained e;
  for (unsigned i = 0; i < bound.rule.operands.size(); ++i)
    e.operands.push_back(need(bound, i, op));
  for (unsigned j = 0; j < bound.rule.results.size(); ++j)
    e.results.push_back(gives(bound, j, op));
  return e;
}

TEST(InferState, UniqueForEveryRuleAndState) {
  size_t numStates = 0;
  for (const OpTableEntry &entry : opTable()) {
    BoundRule bound = bindEntry(entry);
    for (int64_t n : {2, 3, 4}) {
      std::vector<std::string> seen;
      for (const Op &op : allStates(bound, n)) {
        SCOPED_TRACE(std::string(entry.name) + ": " + states(bound, op));
        Explained e = explain(bound, op);
        EXPECT_EQ(inferState(bound, e.operands, e.results, n), op);
        seen.push_back(states(bound, op));
        ++numStates;
        // What it needs and gives are valid placements.
        MeshAxis axis{"a", n};
        auto check = [&](const RuleTerm &term, const AxisState &state) {
          llvm::Error error =
              verifyTensorState(axis, bound.shapeOf(term), TensorState{state});
          EXPECT_FALSE(bool(error)) << llvm::toString(std::move(error));
        };
        for (unsigned i = 0; i < e.operands.size(); ++i)
          check(bound.rule.operands[i], e.operands[i]);
        for (unsigned j = 0; j < e.results.size(); ++j)
          check(bound.rule.results[j], e.results[j]);
      }
      llvm::sort(seen);
      EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end())
          << entry.name << ": two op states coincide";
    }
  }
  EXPECT_GT(numStates, 2000u);
}

/// Changing one value's state leaves no explanation, or another whole one.
TEST(InferState, RefusesWhatNoStateExplains) {
  Random random(7);
  size_t refused = 0;
  for (const OpTableEntry &entry : opTable()) {
    BoundRule bound = bindEntry(entry);
    constexpr int64_t n = 4;
    auto all = allStates(bound, n);
    for (int trial = 0; trial < 50; ++trial) {
      Explained e = explain(bound, all[uniform(random, 0, all.size() - 1)]);
      size_t count = e.operands.size() + e.results.size();
      size_t at = uniform(random, 0, count - 1);
      AxisState &changed = at < e.operands.size()
                               ? e.operands[at]
                               : e.results[at - e.operands.size()];
      switch (uniform(random, 0, 4)) {
      case 0:
        changed = AxisState::replicated();
        break;
      case 1:
        changed =
            AxisState::split(uniform(random, 0, 3), uniform(random, 1, 4));
        break;
      case 2:
        changed = AxisState::partial();
        break;
      case 3:
        changed = AxisState::partial(ReduceOp::Max);
        break;
      case 4:
        changed = AxisState::pinned({1});
        break;
      }
      std::optional<Op> op = inferState(bound, e.operands, e.results, n);
      if (op) {
        Explained again = explain(bound, *op);
        EXPECT_EQ(again.operands, e.operands);
        EXPECT_EQ(again.results, e.results);
      } else {
        ++refused;
        for (const Op &candidate : all) {
          Explained other = explain(bound, candidate);
          EXPECT_FALSE(other.operands == e.operands &&
                       other.results == e.results);
        }
      }
    }
  }
  EXPECT_GT(refused, 1000u);
}

TEST(InferState, OtherRefusals) {
  BoundRule add = bindRule("..., ... -> ... | sum 0 + 1", {{4}, {4}});
  AxisState r, p = AxisState::partial(), n0 = AxisState::pinned({0});
  // Wrong numbers of states.
  EXPECT_EQ(inferState(add, {r}, {r}, 2), std::nullopt);
  EXPECT_EQ(inferState(add, {r, r}, {}, 2), std::nullopt);
  // R + P is no state: the replicated term would be counted n times.
  EXPECT_EQ(inferState(add, {r, p}, {p}, 2), std::nullopt);
  EXPECT_EQ(inferState(add, {n0, r}, {n0}, 2), std::nullopt);
  // On an axis of size 1 nothing matters.
  EXPECT_EQ(inferState(add, {r, p}, {n0}, 1), Op::replicated());
  // `stat` and `whole` factors may not be split.
  BoundRule softmax = bindRule("... n -> ... n | stat n", {{4, 8}});
  AxisState s = AxisState::split(1, 4);
  EXPECT_EQ(inferState(softmax, {s}, {s}, 2), std::nullopt);
  EXPECT_EQ(inferState(softmax, {AxisState::partial(sum, {0, 1})},
                       {AxisState::partial(sum, {0, 1})}, 3),
            std::nullopt);
}

} // namespace
