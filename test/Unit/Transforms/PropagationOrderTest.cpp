//===- PropagationOrderTest.cpp - Plans do not depend on order ------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Placement gives the same communications whatever the order of independent
/// ops, of the seed passes and of intents of one level.
///
//===----------------------------------------------------------------------===//

#include "RandomIntents.h"
#include "dtrain/Tools/Pipeline.h"
#include "dtrain/Tools/Registration.h"
#include "dtrain/Transforms/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "gtest/gtest.h"
#include <map>
#include <random>

using namespace mlir;
using namespace dtrain;

namespace {

class PropagationOrderBase : public ::testing::Test {
protected:
  PropagationOrderBase() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
  }

  void run(ModuleOp module, const std::string &pipeline) {
    PassManager pm(&context);
    ASSERT_TRUE(succeeded(parsePassPipeline(pipeline, pm)));
    ASSERT_TRUE(succeeded(pm.run(module)));
  }

  /// How often each communication occurs, by op, axis and types.
  std::map<std::string, int> plan(ModuleOp module) {
    run(module, "dtrain-propagate-placement,dtrain-verify-place,dtrain-"
                "materialize-reshards,"
                "dtrain-lower-reshards,dtrain-verify-communicate");
    std::map<std::string, int> counts;
    module.walk([&](CommOpInterface comm) {
      std::string text;
      llvm::raw_string_ostream(text) << comm->getName() << ' ' << comm.getAxis()
                                     << ' ' << comm->getOperand(0).getType()
                                     << ' ' << comm->getResult(0).getType();
      ++counts[text];
    });
    return counts;
  }

  MLIRContext context;
};

using RandomPropagationOrder = PropagationOrderBase;

class PropagationOrder : public PropagationOrderBase,
                         public ::testing::WithParamInterface<const char *> {
protected:
  /// The trained step of a tiny GPT, with the intents of all axes in the order
  /// given.
  OwningOpRef<ModuleOp> seeded(ArrayRef<std::string> seeds) {
    auto module = parseSourceFile<ModuleOp>(
        DTRAIN_TEST_PROGRAMS "/gpt-tiny.mlir", &context);
    EXPECT_TRUE(module);
    std::string mesh = GetParam();
    run(*module,
        "dtrain-differentiate{micro-batches=2},dtrain-apply-optimizer");
    for (const std::string &seed : seeds)
      run(*module, "dtrain-seed-" + seed + "-parallel{mesh=" + mesh + "}");
    return module;
  }
};

/// A random order of a block's ops that keeps definitions before uses.
void shuffle(Block &block, std::mt19937_64 &random) {
  std::vector<Operation *> waiting, order;
  for (Operation &op : block.without_terminator())
    waiting.push_back(&op);
  llvm::DenseSet<Operation *> placed;
  while (!waiting.empty()) {
    std::vector<size_t> ready;
    for (size_t i = 0; i < waiting.size(); ++i)
      if (llvm::all_of(waiting[i]->getOperands(), [&](Value v) {
            return !v.getDefiningOp() || placed.contains(v.getDefiningOp());
          }))
        ready.push_back(i);
    size_t pick = ready[random() % ready.size()];
    placed.insert(waiting[pick]);
    order.push_back(waiting[pick]);
    waiting.erase(waiting.begin() + pick);
  }
  for (Operation *op : order)
    op->moveBefore(block.getTerminator());
}

TEST_P(PropagationOrder, OfOps) {
  OwningOpRef<ModuleOp> original = seeded({"data", "tensor", "pipeline"});
  OwningOpRef<ModuleOp> reference = original->clone();
  std::map<std::string, int> expected = plan(*reference);
  EXPECT_FALSE(expected.empty());
  for (uint64_t trial = 0; trial < 10; ++trial) {
    std::mt19937_64 random(trial);
    OwningOpRef<ModuleOp> shuffled = original->clone();
    for (auto func : shuffled->getOps<func::FuncOp>())
      shuffle(func.getBody().front(), random);
    EXPECT_EQ(plan(*shuffled), expected) << "trial " << trial;
  }
}

TEST_P(PropagationOrder, OfSeeds) {
  OwningOpRef<ModuleOp> one = seeded({"data", "tensor", "pipeline"});
  OwningOpRef<ModuleOp> other = seeded({"pipeline", "tensor", "data"});
  EXPECT_EQ(plan(*one), plan(*other));
}

/// Intents of several levels for ops and values: neither the order of the ops
/// nor that of the seeds among them matters.
TEST_F(RandomPropagationOrder, OfIntents) {
  ScopedDiagnosticHandler remarks(&context, [](Diagnostic &d) {
    return success(d.getSeverity() == DiagnosticSeverity::Remark);
  });
  auto trained = parseSourceFile<ModuleOp>(
      DTRAIN_TEST_PROGRAMS "/gpt-tiny.mlir", &context);
  ASSERT_TRUE(trained);
  run(*trained, "dtrain-differentiate{micro-batches=2},dtrain-apply-optimizer");
  SmallVector<MeshAxis> meshes[] = {{{"a", 2}},
                                    {{"a", 2}, {"b", 2}},
                                    {{"a", 3}, {"b", 2}},
                                    {{"a", 2}, {"b", 4}, {"c", 2}}};
  for (uint64_t trial = 0; trial < 40; ++trial) {
    std::mt19937_64 random(trial);
    OwningOpRef<ModuleOp> original = trained->clone();
    test::addRandomIntents(*original, meshes[trial % std::size(meshes)],
                           random);
    OwningOpRef<ModuleOp> reference = original->clone();
    std::map<std::string, int> expected = plan(*reference);
    EXPECT_GT(expected.size(), 5u) << "trial " << trial;
    for (unsigned order = 0; order < 3; ++order) {
      OwningOpRef<ModuleOp> shuffled = original->clone();
      for (auto func : shuffled->getOps<func::FuncOp>())
        shuffle(func.getBody().front(), random);
      EXPECT_EQ(plan(*shuffled), expected) << "trial " << trial;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Meshes, PropagationOrder,
                         ::testing::Values("dp=2", "tp=4", "pp=2", "dp=2,tp=2",
                                           "pp=4,dp=2", "pp=2,dp=2,tp=2"),
                         [](const auto &info) {
                           std::string name = info.param;
                           for (char &c : name)
                             if (!isalnum(c))
                               c = '_';
                           return name;
                         });

} // namespace

int main(int argc, char **argv) {
  registerAllPasses();
  ::testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
