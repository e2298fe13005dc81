//===- RuleBindTest.cpp - Runs and sizes of rules -------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "gtest/gtest.h"

using namespace dtrain;
using namespace dtrain::test;

namespace {

using Shape = llvm::SmallVector<int64_t>;
using Shapes = llvm::SmallVector<Shape>;

Rule parse(llvm::StringRef text) { return llvm::cantFail(Rule::parse(text)); }

std::string instantiated(llvm::StringRef text, const Shapes &operands,
                         bool broadcast = false, const Shapes &results = {}) {
  llvm::Expected<Rule> rule =
      parse(text).instantiate(operands, broadcast, results);
  return rule ? rule->str() : llvm::toString(rule.takeError());
}

TEST(RuleInstantiate, Runs) {
  EXPECT_EQ(
      instantiated("... d -> ... d | stat d | flops 5 ... d", {{2, 3, 4}}),
      "x0 x1 d -> x0 x1 d | stat d | flops 5 x0 x1 d");
  EXPECT_EQ(instantiated("... d -> ...", {{4}}), "d -> ()");
  EXPECT_EQ(instantiated("i..., v d -> i... d | sum 1 | touch 1: i... d",
                         {{2, 3}, {9, 4}}),
            "i0 i1, v d -> i0 i1 d | sum 1 | touch 1: i0 i1 d");
  EXPECT_EQ(instantiated("b c x..., c -> b c x... | stat b x...",
                         {{2, 3, 4, 5}, {3}}),
            "b c x0 x1, c -> b c x0 x1 | stat b x0 x1");
  EXPECT_EQ(instantiated("i..., j... -> i... j... | sum 0*1", {{2, 3}, {4}}),
            "i0 i1, j0 -> i0 i1 j0 | sum 0*1");
  // A second run in one operand follows from another operand.
  EXPECT_EQ(instantiated("i... j..., j... -> i...", {{2, 3, 4}, {4}}),
            "i0 i1 j0, j0 -> i0 i1");
  EXPECT_EQ(instantiated("-> ...", {}, false, {{2, 3}}), "-> x0 x1");
  EXPECT_EQ(instantiated("a b -> a", {{2, 3}}), "a b -> a");
}

TEST(RuleInstantiate, Broadcast) {
  const char *add = "..., ... -> ... | sum 0 + 1 | flops 1 ...";
  EXPECT_EQ(instantiated(add, {{8, 128, 64}, {64}}, true),
            "x0 x1 x2, x2 -> x0 x1 x2 | sum 0 + 1 | flops 1 x0 x1 x2");
  EXPECT_EQ(instantiated(add, {{64}, {8, 128, 64}}, true),
            "x2, x0 x1 x2 -> x0 x1 x2 | sum 0 + 1 | flops 1 x0 x1 x2");
  EXPECT_EQ(instantiated(add, {{8, 1, 64}, {128, 1}}, true),
            "x0 1 x2, x1 1 -> x0 x1 x2 | sum 0 + 1 | flops 1 x0 x1 x2");
  EXPECT_EQ(instantiated(add, {{1, 64}, {64}}, true),
            "x0 x1, x1 -> x0 x1 | sum 0 + 1 | flops 1 x0 x1");
  EXPECT_EQ(instantiated(add, {{}, {2, 3}}, true),
            "(), x0 x1 -> x0 x1 | sum 0 + 1 | flops 1 x0 x1");
  EXPECT_EQ(instantiated(add, {{}, {}}, true),
            "(), () -> () | sum 0 + 1 | flops 1");
  EXPECT_EQ(instantiated("... d, ... d -> ... d", {{2, 3, 4}, {1, 4}}, true),
            "x0 x1 d, 1 d -> x0 x1 d");
  // The factors are numbered as parsing would.
  for (auto &shapes : {Shapes{{64}, {8, 128, 64}}, Shapes{{8, 1}, {4, 1, 2}}}) {
    Rule rule = llvm::cantFail(parse(add).instantiate(shapes, true));
    EXPECT_EQ(parse(rule.str()), rule);
  }
}

TEST(RuleInstantiate, Errors) {
  EXPECT_EQ(instantiated("..., ... -> ...", {{2, 3}, {3}}),
            "expected rank 2 of operand 1, found 1");
  EXPECT_EQ(instantiated("... a b -> ...", {{2}}),
            "expected rank 2 or more of operand 0, found 1");
  EXPECT_EQ(instantiated("... -> ...", {}), "expected 1 operands, found 0");
  EXPECT_EQ(instantiated("-> ...", {}),
            "the length of run '...' does not follow from the shapes");
  EXPECT_EQ(instantiated("i... j... -> i...", {{2, 3}}),
            "the length of run 'i...' does not follow from the shapes");
  EXPECT_EQ(instantiated("... -> ...", {{2}}, false, {{2}, {2}}),
            "expected 1 results, found 2");
  EXPECT_EQ(instantiated("... -> ...", {{2}}, false, {{2, 3}}),
            "expected rank 1 of result 0, found 2");
  EXPECT_EQ(instantiated("..., a -> ...", {{2}, {2, 3}}),
            "expected rank 1 of operand 1, found 2");
}

std::string bindError(llvm::StringRef text, const Shapes &operands,
                      const llvm::StringMap<int64_t> &given = {}) {
  auto bound = BoundRule::bind(parse(text), operands, given);
  return bound ? "no error" : llvm::toString(bound.takeError());
}

std::string bindResultsError(llvm::StringRef text, const Shapes &operands,
                             const Shapes &results) {
  auto bound =
      BoundRule::bind(parse(text), operands, llvm::ArrayRef<Shape>(results));
  return bound ? "no error" : llvm::toString(bound.takeError());
}

TEST(RuleBind, Sizes) {
  BoundRule split = llvm::cantFail(
      BoundRule::bind(parse("b s (g r e) -> b g r s e"), Shapes{{2, 5, 24}},
                      llvm::StringMap<int64_t>{{"g", 2}, {"r", 3}}));
  EXPECT_EQ(split.resultShape(0), (Shape{2, 2, 3, 5, 4}));
  const RuleTerm &term = split.rule.operands[0];
  EXPECT_EQ(split.minorTo(term, *split.rule.find("e")), 1);
  EXPECT_EQ(split.minorTo(term, *split.rule.find("r")), 4);
  EXPECT_EQ(split.minorTo(term, *split.rule.find("g")), 12);
  EXPECT_EQ(split.minorTo(term, *split.rule.find("b")), 1);

  // A compound may be solved by another that comes later.
  BoundRule chained = llvm::cantFail(
      BoundRule::bind(parse("(a b), (b c), c -> a b c"), Shapes{{6}, {15}, {5}},
                      llvm::StringMap<int64_t>{}));
  EXPECT_EQ(chained.resultShape(0), (Shape{2, 3, 5}));

  // Generated factors follow from the results.
  BoundRule expand = llvm::cantFail(BoundRule::bind(
      parse("b -> b n"), Shapes{{2}}, llvm::ArrayRef<Shape>(Shapes{{2, 7}})));
  EXPECT_EQ(expand.sizes, (llvm::SmallVector<int64_t, 6>{2, 7}));
  BoundRule conv = bindEntry(*llvm::find_if(opTable(), [](auto &entry) {
    return llvm::StringRef(entry.name) == "conv 1-d";
  }));
  EXPECT_EQ(conv.resultShape(0), (Shape{4, 8, 16}));
}

TEST(RuleBind, Errors) {
  EXPECT_EQ(bindError("m k, k n -> m n", {{2, 3}, {4, 5}}),
            "factor 'k': expected size 3, found 4 in dimension 0 of operand 1");
  EXPECT_EQ(bindError("a -> a e", {{2}}),
            "the size of factor 'e' does not follow from the shapes: expected "
            "it as an attribute");
  EXPECT_EQ(bindError("(a b) -> a", {{6}}),
            "the size of factor 'a' does not follow from the shapes: expected "
            "it as an attribute");
  EXPECT_EQ(bindError("a b -> a", {{2}}),
            "expected rank 2 of operand 0, found 1");
  EXPECT_EQ(bindError("a -> a", {}), "expected 1 operands, found 0");
  EXPECT_EQ(bindError("a 1 -> a", {{2, 3}}),
            "expected extent 1 in dimension 1 of operand 0, found 3");
  EXPECT_EQ(bindError("a -> a", {{0}}),
            "expected a positive extent in dimension 0 of operand 0, found 0");
  EXPECT_EQ(bindError("a -> a", {{INT64_MIN}}),
            "expected a positive extent in dimension 0 of operand 0, found "
            "-9223372036854775808");
  EXPECT_EQ(bindError("(a b) -> a b", {{7}}, {{"a", 2}}),
            "expected a multiple of 2 in dimension 0 of operand 0, found 7");
  EXPECT_EQ(bindError("(a b), a, b -> a b", {{7}, {2}, {3}}),
            "expected extent 6 in dimension 0 of operand 0, found 7");
  EXPECT_EQ(bindError("(a b), b -> a", {{7}, {3}}, {{"a", 2}}),
            "expected extent 6 in dimension 0 of operand 0, found 7");
  EXPECT_EQ(bindError("a -> a", {{2}}, {{"z", 2}}),
            "a size is given for 'z', which is no factor of the rule");
  EXPECT_EQ(bindError("a -> a b", {{2}}, {{"b", 0}}),
            "expected a positive size of factor 'b', found 0");
  EXPECT_EQ(bindError("a -> a b", {{2}}, {{"a", 3}, {"b", 1}}),
            "factor 'a': expected size 3, found 2 in dimension 0 of operand 0");
  int64_t big = int64_t(1) << 40;
  EXPECT_EQ(bindError("a b -> (a b)", {{big, big}}),
            "an extent of result 0 overflows");
  EXPECT_EQ(bindError("a, b, (a b) -> a", {{big}, {big}, {2}}),
            "the product of the factors of dimension 0 of operand 2 overflows");
  EXPECT_EQ(bindError("... -> ...", {{2}}),
            "expected a rule without runs, found run '...'");
  EXPECT_EQ(bindResultsError("... -> ...", {{2}}, {{2}}),
            "expected a rule without runs, found run '...'");
  EXPECT_EQ(bindResultsError("a b -> a", {{2, 3}}, {{4}}),
            "factor 'a': expected size 2, found 4 in dimension 0 of result 0");
  EXPECT_EQ(bindResultsError("a b -> (a b)", {{2, 3}}, {{7}}),
            "expected extent 6 in dimension 0 of result 0, found 7");
  EXPECT_EQ(bindResultsError("a -> a", {{2}}, {{2}, {2}}),
            "expected 1 results, found 2");
  EXPECT_EQ(bindResultsError("a -> a", {{2}}, {{2, 2}}),
            "expected rank 1 of result 0, found 2");
}

} // namespace
