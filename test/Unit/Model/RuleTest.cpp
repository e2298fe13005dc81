//===- RuleTest.cpp - Grammar and queries of rules ------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Rule.h"
#include "OpTable.h"
#include "gtest/gtest.h"

using namespace dtrain;
using namespace dtrain::test;

namespace {

Rule parse(llvm::StringRef text) { return llvm::cantFail(Rule::parse(text)); }

std::string parseError(llvm::StringRef text) {
  llvm::Expected<Rule> rule = Rule::parse(text);
  return rule ? "no error" : llvm::toString(rule.takeError());
}

TEST(RuleText, OpTableRoundTrips) {
  for (const OpTableEntry &entry : opTable()) {
    SCOPED_TRACE(entry.name);
    llvm::Expected<Rule> rule = Rule::parse(entry.rule);
    if (!rule) {
      ADD_FAILURE() << llvm::toString(rule.takeError());
      continue;
    }
    EXPECT_EQ(rule->str(), entry.rule);
    llvm::Expected<Rule> again = Rule::parse(rule->str());
    ASSERT_TRUE(bool(again));
    EXPECT_EQ(*again, *rule);
    EXPECT_EQ(hash_value(*again), hash_value(*rule));

    BoundRule bound = bindEntry(entry);
    EXPECT_FALSE(bound.rule.isGeneric());
    again = Rule::parse(bound.rule.str());
    if (!again) {
      ADD_FAILURE() << llvm::toString(again.takeError());
      continue;
    }
    EXPECT_EQ(*again, bound.rule) << bound.rule.str();
  }
}

TEST(RuleText, EveryClause) {
  Rule r =
      parse("b (g c) (x u), o c 1, () -> b o x, () | whole u | stat b | "
            "max g c | window 0.2 x 1 -2 | sum 0*1+2 | keep 1 | contract 2 "
            "b o + 0.5 c | flops 1.5e+30 x x | touch 0: b g | touch 1: | "
            "copy 2 0 | index 2 u");
  llvm::SmallVector<std::string> names;
  for (const Rule::Factor &f : r.factors)
    names.push_back(f.name);
  EXPECT_EQ(names,
            (llvm::SmallVector<std::string>{"b", "g", "c", "x", "u", "o"}));
  ASSERT_EQ(r.operands.size(), 3u);
  ASSERT_EQ(r.results.size(), 2u);
  EXPECT_EQ(r.operands[0][1].factors, (llvm::SmallVector<FactorId, 2>{1, 2}));
  EXPECT_TRUE(r.operands[1][2].factors.empty());
  EXPECT_TRUE(r.operands[2].empty());
  EXPECT_TRUE(r.results[1].empty());
  EXPECT_EQ(r.factors[4].kind, FactorKind::Whole);
  EXPECT_EQ(r.factors[0].kind, FactorKind::Stat);
  EXPECT_EQ(r.factors[1].reduce, ReduceOp::Max);
  ASSERT_EQ(r.windows.size(), 1u);
  EXPECT_TRUE(r.windows[0] == (RuleWindow{0, 2, 3, 1, -2}));
  ASSERT_EQ(r.sum.size(), 2u);
  EXPECT_EQ(r.sum[0], (llvm::SmallVector<unsigned, 2>{0, 1}));
  EXPECT_EQ(r.keep, (llvm::SmallVector<unsigned, 1>{1}));
  ASSERT_EQ(r.contract->size(), 2u);
  EXPECT_EQ((*r.contract)[1].coef, 0.5);
  EXPECT_EQ((*r.flops)[0].coef, 1.5e30);
  EXPECT_EQ((*r.flops)[0].factors, (llvm::SmallVector<FactorId, 4>{3, 3}));
  ASSERT_EQ(r.touch.size(), 2u);
  EXPECT_TRUE(r.touch[1].second.empty());
  EXPECT_EQ(r.copy, (llvm::SmallVector<unsigned, 1>{2, 0}));
  ASSERT_EQ(r.index.size(), 1u);
  EXPECT_EQ(r.index[0], (std::pair<unsigned, FactorId>(2, 4)));
  EXPECT_EQ(
      r.str(),
      "b (g c) (x u), o c 1, () -> b o x, () | whole u | stat b | max g c "
      "| window 0.2 x 1 -2 | sum 0*1 + 2 | keep 1 | contract 2 b o + "
      "0.5 c | flops 1.5e+30 x x | touch 0: b g | touch 1: | copy 2 0 "
      "| index 2 u");
  EXPECT_EQ(parse(r.str()), r);
}

TEST(RuleText, Scalars) {
  EXPECT_EQ(parse("-> a").operands.size(), 0u);
  EXPECT_EQ(parse("->").results.size(), 1u);
  EXPECT_EQ(parse("->").str(), "-> ()");
  EXPECT_EQ(parse("a ->").str(), "a -> ()");
  EXPECT_EQ(parse(", a -> a").str(), "(), a -> a");
  EXPECT_EQ(parse("() -> ()").operands.size(), 1u);
  EXPECT_EQ(parse(" a  b->b  a ").str(), "a b -> b a");
}

TEST(RuleText, EveryErrorSaysWhatAndWhere) {
  const std::pair<const char *, const char *> cases[] = {
      // Syntax.
      {"", "rule '': expected '->', found end of text at offset 0"},
      {"a b", "rule 'a b': expected '->', found end of text at offset 3"},
      {"a ? -> a",
       "rule 'a ? -> a': expected a dimension, ',' or '|', found '?' at "
       "offset 2"},
      {"a -> a -> a",
       "rule 'a -> a -> a': expected a dimension, ',' or '|', found '->' at "
       "offset 7"},
      {"a -> A",
       "rule 'a -> A': expected a dimension, ',' or '|', found 'A' at offset "
       "5"},
      {"a 2 -> a", "rule 'a 2 -> a': expected '1' or a factor, found '2' at "
                   "offset 2"},
      {"(a) -> a",
       "rule '(a) -> a': expected at least two factors in a compound, found "
       "')' at offset 2"},
      {"(a b -> a",
       "rule '(a b -> a': expected a factor, found '->' at offset 5"},
      {"(a ...) -> a", "rule '(a ...) -> a': expected a factor in a compound, "
                       "found run '...' at offset 3"},
      {"a -> a | all a",
       "rule 'a -> a | all a': expected a clause (whole, stat, max, min, "
       "window, sum, keep, contract, flops, touch, copy or index), found 'all' "
       "at "
       "offset 9"},
      {"a -> a |",
       "rule 'a -> a |': expected a clause (whole, stat, max, "
       "min, window, sum, keep, contract, flops, touch, copy or index), "
       "found end of text at offset 8"},
      {"a -> a | whole",
       "rule 'a -> a | whole': expected a factor, found end of text at offset "
       "14"},
      {"a -> a | whole b", "rule 'a -> a | whole b': expected a factor of the "
                           "terms, found 'b' at offset 15"},
      {"a -> a | whole a | stat a",
       "rule 'a -> a | whole a | stat a': expected one kind for factor 'a', "
       "found a second: 'stat' at offset 24"},
      {"a -> a | sum", "rule 'a -> a | sum': expected an integer, found end "
                       "of text at offset 12"},
      {"a -> a | sum 1", "rule 'a -> a | sum 1': expected an operand index "
                         "below 1, found 1 at offset 13"},
      {"a -> a | sum 0*", "rule 'a -> a | sum 0*': expected an integer, found "
                          "end of text at offset 15"},
      {"a -> a | sum 0 | sum 0", "rule 'a -> a | sum 0 | sum 0': expected one "
                                 "clause 'sum', found another at offset 17"},
      {"a -> a | keep 1", "rule 'a -> a | keep 1': expected a result index "
                          "below 1, found 1 at offset 14"},
      {"a -> a | window 0", "rule 'a -> a | window 0': expected '.', found "
                            "end of text at offset 17"},
      {"a -> a | window 1.0 a 1 1",
       "rule 'a -> a | window 1.0 a 1 1': expected an operand index below 1, "
       "found 1 at offset 16"},
      {"a -> a | window 0.0 a 1", "rule 'a -> a | window 0.0 a 1': expected an "
                                  "integer, found end of text at offset 23"},
      {"a -> a | window 0.0 a 1 99999999999999999999",
       "rule 'a -> a | window 0.0 a 1 99999999999999999999': integer "
       "'99999999999999999999' is out of range at offset 24"},
      {"a -> a | flops", "rule 'a -> a | flops': expected a number, found end "
                         "of text at offset 14"},
      {"a -> a | flops 2e+ a", "rule 'a -> a | flops 2e+ a': expected the "
                               "digits of an exponent, found 'a' at offset "
                               "19"},
      {"a -> a | flops 1e+999", "rule 'a -> a | flops 1e+999': number "
                                "'1e+999' is out of range at offset 15"},
      {"a -> a | contract 2 b", "rule 'a -> a | contract 2 b': expected a "
                                "factor of the terms, found 'b' at offset 20"},
      {"a -> a | touch 0 a",
       "rule 'a -> a | touch 0 a': expected ':', found 'a' at offset 17"},
      {"a -> a | copy", "rule 'a -> a | copy': expected an integer, found end "
                        "of text at offset 13"},
      {"a -> a | copy 1", "rule 'a -> a | copy 1': expected an operand index "
                          "below 1, found 1 at offset 14"},
      {"a -> a | copy 0 | copy 0",
       "rule 'a -> a | copy 0 | copy 0': expected one clause 'copy', found "
       "another at offset 18"},
      {"a -> a | index 0 b", "rule 'a -> a | index 0 b': expected a factor of "
                             "the terms, found 'b' at offset 17"},
      // Meaning.
      {"a a -> a", "factor 'a' stands twice in operand 0: diagonals are not "
                   "supported"},
      {"a -> (a b) a", "factor 'a' stands twice in result 0: diagonals are "
                       "not supported"},
      {"a, b -> a b | sum 0*1*0",
       "'sum' names operand 0 twice in one product: it is not linear in it"},
      {"a, b -> a b | sum 0*1 + 0",
       "'sum' names operand 0 in two products: expected one at most"},
      {"a, a, a, a, a, a, a, a, a, a, a, a, a, a -> a | sum 0*1 + 2*3 + 4*5 + "
       "6*7 + 8*9 + 10*11 + 12*13",
       "'sum' has more than 64 linear groups"},
      {"a b -> a b | window 0.2 a 1 1",
       "'window' expects a dimension below 2 of operand 0"},
      {"a b -> a b | window 0.-1 a 1 1",
       "'window' expects a dimension below 2 of operand 0"},
      {"a b -> a b | window 0.1 a 1 1",
       "'window' expects factor 'a' in dimension 1 of operand 0"},
      {"... a -> ... a | window 0.1 a 1 1",
       "'window' needs an operand without runs, found operand 0"},
      {"i... i1 -> i... i1", "factor 'i1' has a name that run 'i...' gives to "
                             "its own factors"},
      {"... x0 -> ... x0",
       "factor 'x0' has a name that run '...' gives to its own factors"},
      {"..., x... -> ... x...",
       "factor 'x...' has a name that run '...' gives to its own factors"},
      {"a b c -> a | max b",
       "result 0 reduces factor 'b' by max and 'c' by sum: expected one "
       "reduction"},
      {"a, a, a k -> a | sum 0 + 1",
       "factor 'k' is reduced, but no operand that 'sum' names has it: the "
       "terms that it belongs to are unknown"},
      {"a -> a | touch 0: a | touch 0: a", "'touch' names operand 0 twice"},
      {"a -> a | index 0 a",
       "'index' expects a factor that operand 0 lacks, found 'a'"},
      {"a, ... -> ... | index 0 ...",
       "'index' expects a factor, found run '...'"},
  };
  for (auto [text, message] : cases)
    EXPECT_EQ(parseError(text), message);
}

TEST(RuleText, BuiltRulesAreVerified) {
  auto error = [](const Rule &rule) { return llvm::toString(rule.verify()); };
  const Rule good = parse("a b -> a");
  EXPECT_EQ(error(good), "");
  Rule r = good;
  r.operands[0][0].factors[0] = 7;
  EXPECT_EQ(error(r), "expected a factor below 2, found 7");
  r = good;
  r.sum = {{1}};
  EXPECT_EQ(error(r), "'sum' names operand 1 of 1");
  r.sum = {{}};
  EXPECT_EQ(error(r), "expected an operand in each product of 'sum'");
  r = good;
  r.windows.push_back({1, 0, 0, 1, 1});
  EXPECT_EQ(error(r), "'window' names operand 1 of 1");
  r.windows[0] = {0, 0, 7, 1, 1};
  EXPECT_EQ(error(r), "expected a factor below 2, found 7");
  r = good;
  r.keep = {1};
  EXPECT_EQ(error(r), "'keep' names result 1 of 1");
  r = good;
  r.touch.push_back({1, {}});
  EXPECT_EQ(error(r), "'touch' names operand 1 of 1");
  r.touch[0] = {0, {7}};
  EXPECT_EQ(error(r), "expected a factor below 2, found 7");
  r = good;
  r.flops = RulePoly{{1, {7}}};
  EXPECT_EQ(error(r), "expected a factor below 2, found 7");
  r = good;
  r.copy = {1};
  EXPECT_EQ(error(r), "'copy' names operand 1 of 1");
  r = good;
  r.index.push_back({1, 0});
  EXPECT_EQ(error(r), "'index' names operand 1 of 1");
  r.index[0] = {0, 7};
  EXPECT_EQ(error(r), "expected a factor below 2, found 7");
  r = parse("... a -> ... a");
  r.operands[0][0].factors.push_back(1);
  r.operands[0].pop_back();
  EXPECT_EQ(error(r), "run '...' stands in a compound");
}

TEST(Rule, AnswersQuestions) {
  auto addsUp = [](const char *text) { return parse(text).addsUp(); };
  EXPECT_TRUE(addsUp("..., ... -> ... | sum 0+1"));
  EXPECT_TRUE(addsUp("a b, b -> a b | sum 0+1"));
  EXPECT_FALSE(addsUp("..., ... -> ... | sum 0*1"));
  EXPECT_FALSE(addsUp("a, a, a -> a | sum 1+2")); // a choice
  EXPECT_FALSE(addsUp("a n, a m -> a k | whole n m k | sum 0+1"));
  EXPECT_FALSE(addsUp("a -> a | sum 0"));

  auto isElementwise = [](const char *text) {
    return parse(text).isElementwise();
  };
  EXPECT_TRUE(isElementwise("..., ... -> ..., ..."));
  EXPECT_TRUE(isElementwise("a b, b, 1 -> a b"));
  EXPECT_FALSE(isElementwise("a b -> b a"));
  EXPECT_FALSE(isElementwise("a b, a -> a b"));
  EXPECT_FALSE(isElementwise("a b -> a"));
  EXPECT_FALSE(isElementwise("... n -> ... n | stat n"));
  EXPECT_FALSE(isElementwise("-> a"));

  Rule attention =
      parse("s d, t d, t e -> s e, s | whole d e | stat t | flops 1 s");
  EXPECT_FALSE(attention.isStatistic(0));
  EXPECT_TRUE(attention.isStatistic(1));
  EXPECT_FALSE(parse("c x u -> c x | whole u").isStatistic(0)); // a pooling
  EXPECT_FALSE(parse("... n -> ... n | stat n").isStatistic(0));
}

TEST(Rule, EqualityAndHashSeeEveryPart) {
  const char *texts[] = {"a b -> a",
                         "a b -> b",
                         "a b -> a | whole b",
                         "a b -> a | stat b",
                         "a b -> a | max b",
                         "a b -> a | sum 0",
                         "a b -> a | keep 0",
                         "a b -> a | contract 2 a b",
                         "a b -> a | flops 2 a b",
                         "a b -> a | flops 2 a",
                         "a b -> a | touch 0: a",
                         "a b -> a | copy 0",
                         "a b, () -> a | index 1 b",
                         "a b -> a | window 0.1 b 1 1",
                         "a b -> a | window 0.1 b 1 2",
                         "a c -> a",
                         "a (b c) -> a",
                         "a b, a -> a"};
  for (const char *x : texts)
    for (const char *y : texts)
      EXPECT_EQ(parse(x) == parse(y), x == y) << x << " and " << y;
  EXPECT_NE(hash_value(parse(texts[0])), hash_value(parse(texts[1])));
}

TEST(Rule, LinearGroupsAreTransversals) {
  using Groups = llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 2>;
  EXPECT_EQ(parse("a -> a").linearGroups(), Groups());
  EXPECT_EQ(parse("a, b -> a b | sum 0*1").linearGroups(), (Groups{{0}, {1}}));
  EXPECT_EQ(parse("a, a -> a | sum 0 + 1").linearGroups(), (Groups{{0, 1}}));
  EXPECT_EQ(parse("m k, k n, n -> m n | sum 0*1 + 2").linearGroups(),
            (Groups{{0, 2}, {1, 2}}));
  EXPECT_EQ(parse("a, a, a, a -> a | sum 0*1 + 2*3").linearGroups(),
            (Groups{{0, 2}, {0, 3}, {1, 2}, {1, 3}}));
}

TEST(Rule, AdditiveLone) {
  Rule gemm = parse("m k, k n, n -> m n | sum 0*1 + 2");
  FactorId k = *gemm.find("k"), n = *gemm.find("n");
  EXPECT_TRUE(gemm.additiveLone(2, k));
  EXPECT_FALSE(gemm.additiveLone(0, k));
  EXPECT_FALSE(gemm.additiveLone(1, k));
  EXPECT_FALSE(gemm.additiveLone(2, n)) << "n is not reduced";
  Rule dot = parse("m k, k n, n -> m n | sum 0*1*2");
  EXPECT_FALSE(dot.additiveLone(2, *dot.find("k"))) << "one product";
  Rule scaled = parse("a, a k -> a | sum 0");
  EXPECT_FALSE(scaled.additiveLone(0, *scaled.find("k"))) << "one product";
  Rule scatter = parse("v d, i, i d -> v d | sum 0 + 2");
  EXPECT_TRUE(scatter.additiveLone(0, *scatter.find("i")));
  Rule two = parse("k, a, a -> a | sum 0 + 1*2");
  EXPECT_TRUE(two.additiveLone(1, *two.find("k")));
  EXPECT_FALSE(two.additiveLone(2, *two.find("k"))) << "one copy is enough";
}

} // namespace
