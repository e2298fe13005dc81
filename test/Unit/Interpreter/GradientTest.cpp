//===- GradientTest.cpp - Gradients are slopes of the loss ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "dtrain/Interpreter/Equivalence.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace dtrain;

namespace {
class GradientTest
    : public ::testing::TestWithParam<std::tuple<const char *, const char *>> {
protected:
  mlir::MLIRContext context;
};
} // namespace

TEST_P(GradientTest, AgreeWithFiniteDifferences) {
  auto [model, passes] = GetParam();
  auto module = readProgram(context, model);
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(runPasses(*module, passes)));
  unsigned parameters = 0;
  for (unsigned i = 0; i < mainOf(*module).getNumArguments(); ++i)
    parameters += roleOf(mainOf(*module), i) == Role::parameter;
  auto found = checkGradients(mainOf(*module), 7);
  ASSERT_TRUE(succeeded(found));
  EXPECT_EQ(found->parameters, parameters);
  EXPECT_GT(parameters, 8u);
  EXPECT_LT(found->maxDifference, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Steps, GradientTest,
    ::testing::Combine(
        ::testing::Values("gpt-tiny", "llama-tiny"),
        ::testing::Values(
            "dtrain-differentiate,dtrain-apply-optimizer",
            "dtrain-differentiate{micro-batches=2},"
            "dtrain-apply-optimizer{optimizer=sgd}",
            "dtrain-set-precision{precision=bf16},"
            "dtrain-differentiate{micro-batches=2},"
            "dtrain-recompute{mode=full},dtrain-apply-optimizer")));

/// A step with one parameter whose update is given a wrong gradient.
TEST(GradientCheck, FindsAWrongGradient) {
  mlir::MLIRContext context;
  context.loadDialect<DTrainDialect, mlir::func::FuncDialect>();
  std::string text = R"mlir(
    func.func @main(%w: tensor<3xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "w"},
                    %v: tensor<3xf32> {dtrain.role = #dtrain.role<moment>})
        -> (tensor<3xf32> {dtrain.updates = 0 : i64}, tensor<3xf32> {dtrain.updates = 1 : i64}, tensor<f32>) {
      %sq = dtrain.elementwise<mul> %w, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
      %loss = dtrain.reduce<sum> %sq rule("a -> ()") : (tensor<3xf32>) -> tensor<f32>
      %g = dtrain.elementwise<scale> %w constant FACTOR : (tensor<3xf32>) -> tensor<3xf32>
      %w2, %v2 = dtrain.update<sgd> %w, %v, %g learning_rate 0.1
          : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
      return %w2, %v2, %loss : tensor<3xf32>, tensor<3xf32>, tensor<f32>
    })mlir";
  std::string message;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &d) { message = d.str(); });
  auto check = [&](const char *factor) {
    std::string program = text;
    program.replace(program.find("FACTOR"), 6, factor);
    auto module = mlir::parseSourceString<mlir::ModuleOp>(program, &context);
    return succeeded(checkGradients(mainOf(*module), 1));
  };
  EXPECT_TRUE(check("2.0")) << message;
  EXPECT_FALSE(check("2.001"));
  EXPECT_THAT(message, ::testing::HasSubstr("argument #0 (w): the gradient"));
}
