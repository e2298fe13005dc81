//===- RollLayersTest.cpp - Rolled programs compute what unrolled do ------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "dtrain/Interpreter/Inputs.h"
#include "dtrain/Interpreter/Interpreter.h"
#include "dtrain/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include <gtest/gtest.h>
#include <map>

using namespace dtrain;
using namespace dtrain::test;

static bool fuseAndRoll(mlir::ModuleOp module, bool fuse) {
  std::vector<std::unique_ptr<mlir::Pass>> passes;
  if (fuse)
    passes.push_back(createFuse());
  passes.push_back(createRollLayers());
  return run(module, std::move(passes));
}

static mlir::func::FuncOp mainOf(mlir::ModuleOp module) {
  return module.lookupSymbol<mlir::func::FuncOp>("main");
}

static std::string nameOf(mlir::func::FuncOp func, unsigned i) {
  auto name = func.getArgAttrOfType<mlir::StringAttr>(i, kNameAttr);
  return name ? name.str() : "";
}

/// The number that stands for the `*` of `pattern` in `name`, if it fits.
static std::optional<int> indexIn(llvm::StringRef pattern,
                                  llvm::StringRef name) {
  auto [prefix, suffix] = pattern.split('*');
  int index = 0;
  if (!name.consume_front(prefix) || !name.consume_back(suffix) ||
      name.getAsInteger(10, index))
    return std::nullopt;
  return index;
}

/// The rolled function's arguments, stacked from the unrolled one's by name.
static std::vector<Tensor> stackArguments(mlir::func::FuncOp rolled,
                                          mlir::func::FuncOp original,
                                          llvm::ArrayRef<Tensor> arguments) {
  std::vector<Tensor> stacked;
  for (unsigned i = 0; i < rolled.getNumArguments(); ++i) {
    std::string name = nameOf(rolled, i);
    std::map<int, const Tensor *> rows;
    const Tensor *same = nullptr;
    for (unsigned j = 0; j < original.getNumArguments(); ++j) {
      if (nameOf(original, j) == name)
        same = &arguments[j];
      else if (auto index = indexIn(name, nameOf(original, j)))
        rows[*index] = &arguments[j];
    }
    if (same) {
      stacked.push_back(*same);
      continue;
    }
    Tensor &stack = stacked.emplace_back(
        llvm::cast<mlir::RankedTensorType>(rolled.getArgumentTypes()[i])
            .getShape());
    int64_t row = 0;
    for (auto [index, tensor] : rows)
      stack.setRow(row++, *tensor);
  }
  return stacked;
}

static void expectEqual(mlir::ModuleOp rolled, mlir::ModuleOp original) {
  std::mt19937_64 random(11);
  mlir::func::FuncOp from = mainOf(original), to = mainOf(rolled);
  auto arguments = randomArguments(from, random);
  auto expected = interpret(from, arguments);
  auto found = interpret(to, stackArguments(to, from, arguments));
  ASSERT_TRUE(mlir::succeeded(expected) && mlir::succeeded(found));
  for (auto [i, tensor] : llvm::enumerate(*expected))
    EXPECT_LT(relativeDifference((*found)[i], tensor), 1e-12);
}

// Every program of the lit test is rolled, ties and all, and computes the same.
TEST(RollLayersTest, LitProgramsComputeTheSame) {
  auto context = makeContext();
  std::vector<std::string> programs = readPrograms("Roll/roll-layers.mlir");
  ASSERT_GE(programs.size(), 5u);
  for (const std::string &text : programs) {
    Module original = parse(context.get(), text);
    ASSERT_TRUE(original) << text;
    Module rolled(original->clone());
    ASSERT_TRUE(fuseAndRoll(*rolled, /*fuse=*/false));
    EXPECT_EQ(count<RepeatOp>(*rolled), 1u) << text;
    expectEqual(*rolled, *original);
  }
}

static int64_t tripsOf(mlir::ModuleOp module) {
  int64_t trips = 0;
  module.walk([&](RepeatOp repeat) { trips += repeat.getTripCount(); });
  return trips;
}

// Fused or not, from two layers on, whatever the family.
TEST(RollLayersTest, NetworksRollCompletely) {
  auto context = makeContext();
  for (NetworkFamily family : getNetworkFamilies())
    for (int64_t layers : {2, 3, 7})
      for (bool fuse : {true, false}) {
        std::string what = toString(family).str() + " of " +
                           std::to_string(layers) +
                           (fuse ? " layers, fused" : " layers");
        Module original =
            importNetwork(context.get(), smallNetwork(family, layers));
        SCOPED_TRACE(what);
        ASSERT_TRUE(original);
        if (fuse) {
          std::vector<std::unique_ptr<mlir::Pass>> passes;
          passes.push_back(createFuse());
          ASSERT_TRUE(run(*original, std::move(passes)));
        }
        Module rolled(original->clone());
        ASSERT_TRUE(fuseAndRoll(*rolled, /*fuse=*/false)) << what;
        EXPECT_EQ(count<RepeatOp>(*rolled), 1u) << what;
        EXPECT_EQ(tripsOf(*rolled), layers) << what;
        expectEqual(*rolled, *original);
      }
}

TEST(RollLayersTest, OneLayerStays) {
  auto context = makeContext();
  Module module =
      importNetwork(context.get(), smallNetwork(NetworkFamily::GPT, 1));
  ASSERT_TRUE(module && fuseAndRoll(*module, true));
  EXPECT_EQ(count<RepeatOp>(*module), 0u);
}

// The result does not depend on addresses, and rolling again changes nothing.
TEST(RollLayersTest, IsDeterministicAndIdempotent) {
  std::string texts[3];
  for (unsigned i = 0; i < 3; ++i) {
    auto context = makeContext();
    Module module =
        importNetwork(context.get(), smallNetwork(NetworkFamily::Llama, 4));
    ASSERT_TRUE(module && fuseAndRoll(*module, true));
    if (i == 2) {
      ASSERT_TRUE(fuseAndRoll(*module, false));
    }
    llvm::raw_string_ostream(texts[i]) << *module;
  }
  EXPECT_EQ(texts[1], texts[0]);
  EXPECT_EQ(texts[2], texts[0]);
}

// A thousand layers are as good as two.
TEST(RollLayersTest, DepthIsNoObstacle) {
  auto context = makeContext();
  Module module =
      importNetwork(context.get(), smallNetwork(NetworkFamily::MLP, 1000));
  ASSERT_TRUE(module && fuseAndRoll(*module, true));
  EXPECT_EQ(tripsOf(*module), 1000);
}
