//===- StrategyTest.cpp - Training steps under many strategies ------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Whole training steps, placed and communicated by the passes, against the
/// same step on one device; and the communication that they find against the
/// closed forms of each strategy.
///
//===----------------------------------------------------------------------===//

#include "../Transforms/RandomIntents.h"
#include "Programs.h"
#include "dtrain/Interpreter/Equivalence.h"
#include "dtrain/Interpreter/RuleCheck.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

using namespace dtrain;

namespace {
struct Strategy {
  int64_t pp = 1, dp = 1, tp = 1;
  int64_t chunks = 1, microBatches = 1;
  bool unrolled = false, bf16 = false, recompute = false, sgd = false;

  std::string str() const {
    std::string text =
        llvm::formatv("pp={0},dp={1},tp={2} chunks {3}, micro-batches {4}", pp,
                      dp, tp, chunks, microBatches);
    for (auto [is, name] :
         {std::pair(unrolled, "unrolled"), std::pair(bf16, "bf16"),
          std::pair(recompute, "recompute"), std::pair(sgd, "sgd")})
      if (is)
        text += std::string(", ") + name;
    return text;
  }
  std::string train() const {
    return llvm::formatv(
        "{0}dtrain-differentiate{{micro-batches={1}},{2}"
        "dtrain-apply-optimizer{{optimizer={3}},"
        "dtrain-verify-train",
        bf16 ? "dtrain-set-precision{precision=bf16}," : "", microBatches,
        recompute ? "dtrain-recompute{mode=full}," : "", sgd ? "sgd" : "adamw");
  }
  std::string place() const {
    return llvm::formatv(
        "dtrain-seed-data-parallel{{mesh=pp={0},dp={1},tp={2}},"
        "dtrain-seed-tensor-parallel,"
        "dtrain-seed-pipeline-parallel{{chunks={3}},"
        "dtrain-propagate-placement,dtrain-verify-place",
        pp, dp, tp, chunks);
  }
};

class StrategyTest : public ::testing::Test {
protected:
  mlir::MLIRContext context;

  /// Builds the step, runs it both ways; nullopt, with failures reported, if
  /// anything goes wrong.
  std::optional<Equivalence> check(const char *model, const Strategy &s,
                                   uint64_t seed = 1) {
    auto module = readProgram(context, model);
    if (!module)
      return std::nullopt;
    if (s.unrolled)
      unrollLayers(*module);
    if (failed(runPasses(*module, s.train())))
      return std::nullopt;
    mlir::OwningOpRef<mlir::ModuleOp> original = module->clone();
    if (failed(runPasses(*module, s.place())))
      return std::nullopt;
    auto placed = checkEquivalence(mainOf(*original), mainOf(*module), seed);
    if (failed(placed) ||
        failed(runPasses(*module, "dtrain-materialize-reshards,"
                                  "dtrain-lower-reshards,"
                                  "dtrain-verify-communicate")))
      return std::nullopt;
    auto found = checkEquivalence(mainOf(*original), mainOf(*module), seed);
    if (failed(found))
      return std::nullopt;
    EXPECT_EQ(found->results, mainOf(*module).getNumResults());
    return *found;
  }
};
} // namespace

/// The numbers of gpt-tiny and llama-tiny.
static const double batch = 4, seq = 6, hidden = 8, vocab = 12, layers = 4;
static const double activation = 4 * batch * seq * hidden; // bytes, f32

static TrafficItem itemOf(const Traffic &traffic, const char *axis,
                          Transition kind) {
  auto it = traffic.find({axis, kind});
  return it == traffic.end() ? TrafficItem() : it->second;
}

static std::string print(const Traffic &traffic) {
  std::string text;
  for (const auto &[key, item] : traffic)
    text += llvm::formatv("{0} {1} over {2}: {3}\n", item.count,
                          stringifyTransition(key.second), key.first,
                          item.sent.str());
  return text;
}

TEST_F(StrategyTest, EveryMeshUpToEightDevices) {
  unsigned strategies = 0;
  std::mt19937_64 random(2024);
  for (const char *model : {"gpt-tiny", "llama-tiny"})
    for (int64_t pp : {1, 2, 4})
      for (int64_t dp : {1, 2, 4})
        for (int64_t tp : {1, 2}) {
          if (pp * dp * tp == 1 || pp * dp * tp > 8)
            continue;
          ++strategies;
          Strategy s{pp, dp, tp};
          auto toss = [&] { return random() % 2 == 0; };
          s.microBatches = toss() ? 1 : 3;
          s.chunks = pp == 2 && toss() ? 2 : 1;
          s.unrolled = toss() && toss();
          s.bf16 = toss();
          s.recompute = toss() && !s.unrolled;
          s.sgd = toss();
          EXPECT_TRUE(check(model, s, strategies).has_value())
              << model << " " << s.str();
        }
  EXPECT_EQ(strategies, 26u);
}

TEST_F(StrategyTest, Unrolled) {
  for (const char *model : {"gpt-tiny", "llama-tiny"})
    for (auto [pp, dp, tp] : {std::array{2, 1, 1}, std::array{1, 2, 2},
                              std::array{2, 2, 2}, std::array{4, 1, 2}}) {
      Strategy s{pp, dp, tp};
      s.microBatches = 2;
      std::optional<Equivalence> rolled = check(model, s);
      s.unrolled = true;
      std::optional<Equivalence> unrolled = check(model, s);
      ASSERT_TRUE(rolled && unrolled) << model << " " << s.str();
    }
}

TEST_F(StrategyTest, DataParallelTraffic) {
  for (int64_t n : {2, 4}) {
    Strategy s{1, n, 1};
    s.microBatches = 2;
    std::optional<Equivalence> found = check("gpt-tiny", s);
    ASSERT_TRUE(found);
    // One all_reduce per parameter and one of the loss, whatever the number of
    // micro-batches.
    double parameters =
        vocab * hidden + 10 * hidden + 2 * hidden +
        layers * (4 * hidden + hidden * 24 + 24 + hidden * hidden + hidden +
                  hidden * 16 + 16 + 16 * hidden + hidden);
    TrafficItem item = itemOf(found->traffic, "dp", Transition::AllReduce);
    EXPECT_EQ(item.count, 16 + 1) << print(found->traffic);
    EXPECT_NEAR(item.sent.base(), 2.0 * (n - 1) / n * 4 * (parameters + 1),
                1e-6);
    EXPECT_EQ(found->traffic.size(), 1u) << print(found->traffic);
  }
  // A network whose head is not tied: nine parameters per layer, stacked, the
  // two tables and the last norm.
  std::optional<Equivalence> llama = check("llama-tiny", {1, 2, 1});
  ASSERT_TRUE(llama);
  EXPECT_EQ(itemOf(llama->traffic, "dp", Transition::AllReduce).count, 12 + 1);
  EXPECT_EQ(llama->traffic.size(), 1u) << print(llama->traffic);
}

TEST_F(StrategyTest, TensorParallelTraffic) {
  for (const char *model : {"gpt-tiny", "llama-tiny"}) {
    Strategy s{1, 1, 2};
    s.microBatches = 2;
    std::optional<Equivalence> found = check(model, s);
    ASSERT_TRUE(found);
    // Per micro-batch: 4 all_reduces of b·s·h per layer, one behind the
    // embedding, one before the head, three of b·s for the loss.
    double n = s.tp, m = s.microBatches, ring = 2 * (n - 1) / n;
    TrafficItem item = itemOf(found->traffic, "tp", Transition::AllReduce);
    EXPECT_EQ(item.count, m * (4 * layers + 2 + 3)) << model << "\n"
                                                    << print(found->traffic);
    EXPECT_NEAR(item.sent.base(),
                m * ring *
                    ((4 * layers + 2) * activation + 3 * activation / hidden),
                1e-6)
        << model;
    EXPECT_EQ(found->traffic.size(), 1u) << print(found->traffic);
  }
}

TEST_F(StrategyTest, PipelineTraffic) {
  for (int64_t chunks : {1, 2}) {
    Strategy s{2, 1, 1};
    s.chunks = chunks;
    s.microBatches = 2;
    std::optional<Equivalence> found = check("llama-tiny", s);
    ASSERT_TRUE(found);
    // p·v - 1 sends of b·s·h each way per micro-batch; each stage makes its own
    // rotary tables.
    double m = s.microBatches, boundaries = 2 * chunks - 1;
    TrafficItem item = itemOf(found->traffic, "pp", Transition::Send);
    EXPECT_EQ(item.count, m * 2 * boundaries) << print(found->traffic);
    EXPECT_NEAR(item.sent.base(), m * 2 * boundaries * activation, 1e-6);
    EXPECT_EQ(found->traffic.size(), 1u) << print(found->traffic);
  }
}

/// Without side computations there is nothing but the boundaries; the tied
/// table needs one reduction between its two stages, once per step.
TEST_F(StrategyTest, TiedEmbeddingTraffic) {
  for (int64_t p : {2, 4}) {
    Strategy s{p, 1, 1};
    s.microBatches = 2;
    std::optional<Equivalence> found = check("gpt-tiny", s);
    ASSERT_TRUE(found);
    double m = s.microBatches, boundaries = p - 1;
    TrafficItem sends = itemOf(found->traffic, "pp", Transition::Send);
    EXPECT_EQ(sends.count, 2 * m * boundaries) << print(found->traffic);
    EXPECT_NEAR(sends.sent.base(), 2 * m * boundaries * activation, 1e-6);
    // An all_reduce of two ranks sends all of the table once, whatever p is.
    // One to a part of the axis counts as a reduce in the table of transitions.
    TrafficItem table;
    for (Transition kind : {Transition::AllReduce, Transition::Reduce}) {
      TrafficItem item = itemOf(found->traffic, "pp", kind);
      table.count += item.count;
      table.sent += item.sent;
    }
    EXPECT_EQ(table.count, 1) << print(found->traffic);
    EXPECT_NEAR(table.sent.base(), 4 * vocab * hidden, 1e-6);
    EXPECT_EQ(found->traffic.size(), 2u) << print(found->traffic);
  }
}

TEST_F(StrategyTest, AxesKeepTheirClosedForms) {
  Strategy s{2, 2, 2};
  s.microBatches = 2;
  std::optional<Equivalence> found = check("llama-tiny", s);
  ASSERT_TRUE(found);
  double m = s.microBatches, local = activation / s.dp;
  TrafficItem sends = itemOf(found->traffic, "pp", Transition::Send);
  EXPECT_EQ(sends.count, m * 2) << print(found->traffic);
  EXPECT_NEAR(sends.sent.base(), m * 2 * local, 1e-6);
  TrafficItem tensor = itemOf(found->traffic, "tp", Transition::AllReduce);
  EXPECT_EQ(tensor.count, m * (4 * layers + 2 + 3));
  EXPECT_NEAR(tensor.sent.base(),
              m * ((4 * layers + 2) * local + 3 * local / hidden), 1e-6);
}

/// Forward and backward with a random state for every op on every axis, which
/// no propagation would choose: what connects them is implicit moves alone.
TEST_F(StrategyTest, RandomStatesOfEveryOp) {
  auto module = readProgram(context, "gpt-tiny");
  ASSERT_TRUE(module);
  unrollLayers(*module);
  ASSERT_TRUE(succeeded(runPasses(*module, "dtrain-differentiate")));
  std::mt19937_64 random(99);
  llvm::SmallVector<MeshAxis> meshes[] = {
      {{"a", 3}}, {{"a", 2}, {"b", 2}}, {{"a", 4}, {"b", 2}}};
  for (const auto &axes : meshes) {
    mlir::OwningOpRef<mlir::ModuleOp> placed = module->clone();
    (*placed)->setAttr(kPhaseAttr, PhaseAttr::get(&context, Phase::place));
    llvm::SmallVector<mlir::StringAttr> names;
    llvm::SmallVector<int64_t> sizes;
    for (const MeshAxis &axis : axes) {
      names.push_back(mlir::StringAttr::get(&context, axis.name));
      sizes.push_back(axis.size);
    }
    MeshAttr mesh = MeshAttr::get(&context, names, sizes);
    auto body = placed->lookupSymbol<mlir::func::FuncOp>("microbatch");
    unsigned ops = 0;
    body.walk([&](RuleOpInterface op) {
      ++ops;
      BoundRule rule = op.getBoundRule();
      OpState state = randomOpState(axes, rule, random);
      op.setStateAttr(OpStateAttr::get(mesh, rule.rule, state));
      for (mlir::OpResult result : op->getResults()) {
        TensorState given;
        for (auto [axis, s] : llvm::zip_equal(axes, state))
          given.push_back(
              gives(rule, result.getResultNumber(), s).canonical(axis.size));
        result.setType(withState(tensorType(result), mesh, given));
      }
    });
    EXPECT_GT(ops, 150u);
    mlir::Operation *end = body.front().getTerminator();
    body.setFunctionType(mlir::FunctionType::get(
        &context, body.getArgumentTypes(), end->getOperandTypes()));
    auto found = checkEquivalence(
        module->lookupSymbol<mlir::func::FuncOp>("microbatch"), body, 3);
    ASSERT_TRUE(succeeded(found));
    EXPECT_EQ(found->results, end->getNumOperands());
    EXPECT_GT(found->traffic.size(), 5u) << print(found->traffic);
  }
}

/// Random intents on several levels, spread by propagation.
TEST_F(StrategyTest, RandomIntentsOfSeveralLevels) {
  mlir::ScopedDiagnosticHandler remarks(&context, [](mlir::Diagnostic &d) {
    return mlir::success(d.getSeverity() == mlir::DiagnosticSeverity::Remark);
  });
  llvm::SmallVector<MeshAxis> meshes[] = {
      {{"a", 3}}, {{"a", 2}, {"b", 2}}, {{"a", 4}, {"b", 2}}};
  for (const char *model : {"gpt-tiny", "llama-tiny"}) {
    auto trained = readProgram(context, model);
    ASSERT_TRUE(trained);
    ASSERT_TRUE(
        succeeded(runPasses(*trained, Strategy{1, 1, 1, 1, 2}.train())));
    for (uint64_t trial = 0; trial < 9; ++trial) {
      std::mt19937_64 random(trial);
      mlir::OwningOpRef<mlir::ModuleOp> placed = trained->clone();
      test::addRandomIntents(*placed, meshes[trial % std::size(meshes)],
                             random);
      ASSERT_TRUE(succeeded(
          runPasses(*placed, "dtrain-propagate-placement,dtrain-verify-place,"
                             "dtrain-materialize-reshards,"
                             "dtrain-lower-reshards,"
                             "dtrain-verify-communicate")))
          << model << " " << trial;
      auto found = checkEquivalence(mainOf(*trained), mainOf(*placed), trial);
      ASSERT_TRUE(succeeded(found)) << model << " " << trial;
      EXPECT_EQ(found->results, mainOf(*trained).getNumResults());
      EXPECT_GT(found->traffic.size(), 3u) << print(found->traffic);
    }
  }
}

TEST_F(StrategyTest, ProgramsThatDiffer) {
  auto original = readProgram(context, "gpt-tiny"),
       placed = readProgram(context, "gpt-tiny");
  ASSERT_TRUE(original && placed);
  Strategy s{1, 2, 1};
  ASSERT_TRUE(succeeded(runPasses(*original, s.train())));
  ASSERT_TRUE(succeeded(runPasses(*placed, s.train() + "," + s.place())));
  placed->walk([](UpdateOp op) {
    op.setLearningRateAttr(
        mlir::FloatAttr::get(op.getLearningRateAttr().getType(), 1.0));
  });
  std::string message;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &d) { message = d.str(); });
  EXPECT_TRUE(failed(checkEquivalence(mainOf(*original), mainOf(*placed), 1)));
  EXPECT_NE(message.find("not equivalent: result #0 (wte) differs by"),
            std::string::npos)
      << message;
}
