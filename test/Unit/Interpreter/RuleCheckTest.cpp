//===- RuleCheckTest.cpp - Every op does what its rule says ---------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Interpreter/RuleCheck.h"
#include "OpSamples.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace dtrain;

namespace {
class RuleCheck : public ::testing::Test {
protected:
  RuleCheck() { context.loadDialect<DTrainDialect, mlir::func::FuncDialect>(); }
  mlir::MLIRContext context;
  std::mt19937_64 random{20240607};

  OpInstance instance(const OpSample &sample) {
    Sampler sampler(random);
    std::string text = sample.make(sampler);
    OpInstance result = parseInstance(context, text);
    EXPECT_TRUE(result.op) << text;
    return result;
  }
};
} // namespace

/// Runs a check; the message of what it found, empty if all is well.
static std::string outcome(llvm::Error error) {
  return llvm::toString(std::move(error));
}

TEST_F(RuleCheck, EveryRegisteredOpHasASample) {
  llvm::StringSet<> sampled;
  for (const OpSample &sample : opSamples())
    sampled.insert(sample.name);
  unsigned ops = 0;
  for (mlir::RegisteredOperationName name :
       context.getRegisteredOperationsByDialect("dtrain")) {
    // A custom op has a rule and no kernel.
    if (!name.hasInterface<RuleOpInterface>() ||
        name.getStringRef() == CustomOp::getOperationName())
      continue;
    ++ops;
    EXPECT_TRUE(sampled.contains(name.getStringRef()))
        << name.getStringRef().str() << " needs a sample in OpSamples.cpp";
  }
  EXPECT_EQ(sampled.size(), ops);
}

TEST_F(RuleCheck, EveryOpInRandomStates) {
  for (const OpSample &sample : opSamples())
    for (unsigned n = 0; n < 12; ++n) {
      OpInstance made = instance(sample);
      ASSERT_TRUE(made.op);
      BoundRule rule = cantFail(bindRule(made.op));
      std::string found = outcome(checkRule(made.op, rule, 8, random));
      ASSERT_EQ(found, "") << sample.name;
    }
}

TEST_F(RuleCheck, CustomOpHasNoKernel) {
  OpInstance made = parseInstance(context, R"(
    func.func @f(%x: tensor<2xf32>) {
      %y = dtrain.custom "f"(%x) rule("a -> a | flops 1 a") : (tensor<2xf32>) -> tensor<2xf32>
      return
    })");
  ASSERT_TRUE(made.op);
  EXPECT_EQ(outcome(checkRule(made.op, cantFail(bindRule(made.op)), 1, random)),
            "'dtrain.custom' has no kernel");
}

//===----------------------------------------------------------------------===//
// Negative controls: rules that are wrong on purpose
//===----------------------------------------------------------------------===//

namespace {
struct WrongRule {
  const char *what;
  const char *rule;
  std::string program;
};
} // namespace

static std::vector<WrongRule> wrongRules(std::mt19937_64 &random) {
  Sampler s(random);
  for (const char *factor :
       {"b", "s", "n", "m", "k", "v", "d", "h", "g", "r", "t", "e", "x0", "x1"})
    s.setSize(factor, 4);
  s.setSize("c", 2);
  return {
      {"softmax without `stat`", "x0 n -> x0 n",
       s.op("softmax", {"s n"}, {"s n"})},
      {"normalize without `stat`", "x0 d, d, d -> x0 d",
       s.op("normalize<layer>", {"s d", "d", "d"}, {"s d"}, "epsilon 1.0e-5")},
      {"attention without `stat`",
       "b g r s d, b g t d, b g t e -> b g r s e, b g r s | whole d e",
       s.op("attention", {"b g r s d", "b g t d", "b g t e"},
            {"b g r s e", "b g r s"}, "causal scale 0.5")},
      {"attention_grad with a free head dimension",
       "b g r s e, b g r s d, b g t d, b g t e, b g r s e, b g r s -> "
       "b g r s d, b g t d, b g t e | whole e | sum 0",
       s.op("attention_grad",
            {"b g r s e", "b g r s d", "b g t d", "b g t e", "b g r s e",
             "b g r s"},
            {"b g r s d", "b g t d", "b g t e"}, "scale 0.5")},
      {"add with one linear operand", "x0 x1, x0 x1 -> x0 x1 | sum 0",
       s.op("elementwise<add>", {"s n", "s n"}, {"s n"})},
      {"max as linear", "x0 x1, x0 x1 -> x0 x1 | sum 0+1",
       s.op("elementwise<max>", {"s n", "s n"}, {"s n"})},
      {"where linear in its condition", "x0, x0, x0 -> x0 | sum 0*1+2",
       s.op("elementwise<where>", {"n", "n", "n"}, {"n"})},
      {"a bias counted on every device", "m k, k n, n -> m n | sum 0*1",
       s.opOfRule("dot", "m k, k n, n -> m n")},
      {"a maximum that is summed", "b n -> b | sum 0",
       s.opOfRule("reduce<max>", "b n -> b")},
      {"gather linear in its indices", "i0, v d -> i0 d | sum 0",
       s.op("gather", {"# s", "v d"}, {"s d"})},
      {"gather whose rows are not partial", "i0, v d -> i0 d | sum 1 | keep 0",
       s.op("gather", {"# s", "v d"}, {"s d"})},
      {"rotary over split pairs",
       "x0 s d, s c, s c -> x0 s d | whole c | sum 0",
       s.op("rotary", {"h s d", "s c", "s c"}, {"h s d"})},
      {"a negation as a copy", "x0 x1 -> x0 x1 | sum 0 | copy 0",
       s.op("elementwise<neg>", {"s n"}, {"s n"})},
      {"`stat` without an expansion", "x0 x1 -> x0 x1 | stat x1",
       s.op("elementwise<exp>", {"s n"}, {"s n"})},
      {"an optimizer linear in the gradient",
       "x0, x0, x0, x0 -> x0, x0, x0 | sum 3",
       s.op("update<adamw>", {"n", "n", "n", "n"}, {"n", "n", "n"},
            "learning_rate 0.1")},
  };
}

TEST_F(RuleCheck, WrongRulesAreCaught) {
  for (const WrongRule &wrong : wrongRules(random)) {
    OpInstance made = parseInstance(context, wrong.program);
    ASSERT_TRUE(made.op) << wrong.program;
    auto shapes = [](mlir::TypeRange types) {
      llvm::SmallVector<llvm::SmallVector<int64_t>> list;
      for (mlir::Type t : types)
        list.emplace_back(llvm::cast<mlir::RankedTensorType>(t).getShape());
      return list;
    };
    // The right rule passes on the very same instance.
    EXPECT_EQ(
        outcome(checkRule(made.op, cantFail(bindRule(made.op)), 50, random)),
        "")
        << wrong.what;
    BoundRule rule = cantFail(BoundRule::bind(
        cantFail(Rule::parse(wrong.rule)), shapes(made.op->getOperandTypes()),
        shapes(made.op->getResultTypes())));
    unsigned caught = 0;
    for (unsigned trial = 0; trial < 50; ++trial)
      caught += !outcome(checkRule(made.op, rule, 1, random)).empty();
    // A wrong rule shows in 10 to 80 % of the trials.
    EXPECT_GE(caught, 3u) << wrong.what;
  }
}
