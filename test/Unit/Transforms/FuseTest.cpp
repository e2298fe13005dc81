//===- FuseTest.cpp - Fused programs compute what unfused ones do ---------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "dtrain/Interpreter/Inputs.h"
#include "dtrain/Interpreter/Interpreter.h"
#include "dtrain/Transforms/Passes.h"
#include <gtest/gtest.h>

using namespace dtrain;
using namespace dtrain::test;

/// Exporters write the constants of functions as 32-bit floats.
static constexpr double kTolerance = 1e-6;

static bool fuse(mlir::ModuleOp module) {
  std::vector<std::unique_ptr<mlir::Pass>> passes;
  passes.push_back(createFuse());
  return run(module, std::move(passes));
}

/// Runs every function of both modules on the same random arguments.
static void expectEqual(mlir::ModuleOp fused, mlir::ModuleOp original) {
  for (auto func : original.getOps<mlir::func::FuncOp>()) {
    std::mt19937_64 random(7);
    auto arguments = randomArguments(func, random);
    auto twin = fused.lookupSymbol<mlir::func::FuncOp>(func.getName());
    ASSERT_TRUE(twin);
    auto expected = interpret(func, arguments),
         found = interpret(twin, arguments);
    ASSERT_TRUE(mlir::succeeded(expected) && mlir::succeeded(found))
        << func.getName().str();
    ASSERT_EQ(found->size(), expected->size());
    for (auto [i, tensor] : llvm::enumerate(*expected))
      EXPECT_LT(relativeDifference((*found)[i], tensor), kTolerance)
          << func.getName().str() << ", result " << i;
  }
}

class FuseProgramsTest : public testing::TestWithParam<const char *> {};

// What the lit tests show to be fused, or kept, is the same function.
TEST_P(FuseProgramsTest, ComputesTheSame) {
  auto context = makeContext();
  std::vector<std::string> programs = readPrograms(GetParam());
  ASSERT_FALSE(programs.empty());
  for (const std::string &text : programs) {
    Module original = parse(context.get(), text);
    ASSERT_TRUE(original) << text;
    Module fused(original->clone());
    ASSERT_TRUE(fuse(*fused));
    expectEqual(*fused, *original);
  }
}
INSTANTIATE_TEST_SUITE_P(
    Lit, FuseProgramsTest,
    testing::Values("Fuse/fuse-activation.mlir", "Fuse/fuse-attention.mlir",
                    "Fuse/fuse-attention-kept.mlir", "Fuse/fuse-bias.mlir",
                    "Fuse/fuse-clean-up.mlir", "Fuse/fuse-normalization.mlir",
                    "Fuse/fuse-rotary.mlir"));

TEST(FuseTest, GPTBecomesItsLayersOps) {
  auto context = makeContext();
  Module original =
      importNetwork(context.get(), smallNetwork(NetworkFamily::GPT, 2));
  ASSERT_TRUE(original);
  Module fused(original->clone());
  ASSERT_TRUE(fuse(*fused));
  EXPECT_EQ(count<AttentionOp>(*fused), 2u);
  EXPECT_EQ(count<SoftmaxOp>(*fused), 0u);
  EXPECT_EQ(count<DotOp>(*fused), 2u * 4 + 1);
  // Two residuals a layer, two embeddings; a GELU a layer; the mean loss.
  EXPECT_EQ(count<ElementwiseOp>(*fused), 2u * 2 + 1 + 2 + 1);
  expectEqual(*fused, *original);
}

TEST(FuseTest, LlamaBecomesItsLayersOps) {
  auto context = makeContext();
  Module original =
      importNetwork(context.get(), smallNetwork(NetworkFamily::Llama, 2));
  ASSERT_TRUE(original);
  Module fused(original->clone());
  ASSERT_TRUE(fuse(*fused));
  EXPECT_EQ(count<AttentionOp>(*fused), 2u);
  EXPECT_EQ(count<RotaryOp>(*fused), 2u * 2);
  EXPECT_EQ(count<NormalizeOp>(*fused), 2u * 2 + 1);
  // Two residuals and a SwiGLU a layer; the mean loss.
  EXPECT_EQ(count<ElementwiseOp>(*fused), 2u * 3 + 1);
  expectEqual(*fused, *original);
}

// Nothing is left to do the second time.
TEST(FuseTest, IsIdempotent) {
  auto context = makeContext();
  for (NetworkFamily family : {NetworkFamily::GPT, NetworkFamily::Llama}) {
    Module once = importNetwork(context.get(), smallNetwork(family, 2));
    ASSERT_TRUE(once && fuse(*once));
    Module twice(once->clone());
    ASSERT_TRUE(fuse(*twice));
    std::string first, second;
    llvm::raw_string_ostream(first) << *once;
    llvm::raw_string_ostream(second) << *twice;
    EXPECT_EQ(second, first);
  }
}
