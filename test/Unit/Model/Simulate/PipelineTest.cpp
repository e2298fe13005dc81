//===- PipelineTest.cpp - Micro-batches through pipeline stages -----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Simulate/Pipeline.h"
#include "../A100.h"
#include <gtest/gtest.h>
#include <random>

using namespace dtrain;
using namespace dtrain::test;

namespace {
Time s(double seconds) { return Time::fromBase(seconds); }

PipelineProblem equalStages(const PipelineOrder &order, int64_t p, int64_t v,
                            int64_t m, double f = 1, double b = 2,
                            double transfer = 0) {
  PipelineProblem problem;
  problem.shape.stages = p;
  problem.shape.chunks = v;
  problem.shape.microBatches = m;
  problem.durations = {std::vector<Time>(p * v, s(f)),
                       std::vector<Time>(p * v, s(b))};
  problem.transfers.assign(2, std::vector<Time>(p * v - 1, s(transfer)));
  problem.order = &order;
  return problem;
}

PipelineSolution solved(const PipelineProblem &problem) {
  PipelineSolution solution = llvm::cantFail(solve(problem));
  EXPECT_EQ(llvm::toString(solution.verify(problem)), "");
  for (const StageUse &use : solution.use)
    EXPECT_NEAR((use.busy + use.transfer + use.bubble).base(),
                solution.makespan.base(), 1e-9 * solution.makespan.base());
  return solution;
}
} // namespace

/// (p-1)/(m+p-1) of the makespan is bubble, on every stage, for GPipe and 1F1B.
TEST(PipelineTest, BubbleOfEqualStages) {
  for (const PipelineOrder *order :
       {&gpipeOrder(), &oneForwardOneBackwardOrder()})
    for (int64_t p : {1, 2, 3, 8})
      for (int64_t m : {1, 2, 5, 8, 32}) {
        PipelineSolution solution = solved(equalStages(*order, p, 1, m));
        EXPECT_EQ(solution.makespan, s(3. * (m + p - 1)))
            << order->name().str() << " p=" << p << " m=" << m;
        for (const StageUse &use : solution.use) {
          EXPECT_EQ(use.busy, s(3. * m));
          EXPECT_EQ(use.bubble, s(3. * (p - 1)));
          EXPECT_EQ(use.transfer, s(0));
          EXPECT_DOUBLE_EQ(toDouble(use.bubble / solution.makespan),
                           double(p - 1) / double(m + p - 1));
        }
      }
}

/// Interleaving divides the bubble by v: chunks are v times shorter.
TEST(PipelineTest, InterleavingDividesTheBubble) {
  for (int64_t p : {2, 4, 8})
    for (int64_t v : {2, 3, 4})
      for (int64_t groups : {1, 2, 5}) {
        int64_t m = groups * p;
        PipelineSolution solution =
            solved(equalStages(interleavedOrder(), p, v, m, 1, 2));
        for (const StageUse &use : solution.use) {
          EXPECT_EQ(use.busy, s(3. * m * v));
          EXPECT_EQ(use.bubble, s(3. * (p - 1)))
              << "p=" << p << " v=" << v << " m=" << m;
        }
      }
}

/// With the slowest stage M and sum over stages S,
/// m*M + S - M where the last stage is the slowest.
TEST(PipelineTest, SlowLastStage) {
  PipelineProblem problem = equalStages(oneForwardOneBackwardOrder(), 4, 1, 16);
  problem.durations[0][3] = s(1.5);
  problem.durations[1][3] = s(3);
  PipelineSolution solution = solved(problem);
  EXPECT_EQ(solution.makespan, s(16 * 4.5 + 3 * 3));
  EXPECT_EQ(solution.use[3].busy, s(16 * 4.5));
  EXPECT_EQ(solution.use[3].bubble, s(3 * 3));
}

TEST(PipelineTest, MicroBatchesInFlight) {
  for (int64_t p : {1, 4, 8})
    for (int64_t m : {1, 3, 8, 20}) {
      PipelineSolution gpipe = solved(equalStages(gpipeOrder(), p, 1, m));
      PipelineSolution one =
          solved(equalStages(oneForwardOneBackwardOrder(), p, 1, m));
      for (int64_t stage = 0; stage < p; ++stage) {
        EXPECT_EQ(gpipe.inFlight(stage), m);
        EXPECT_EQ(one.inFlight(stage), std::min(p - stage, m));
        EXPECT_EQ(one.inFlightOfStage(stage), one.inFlight(stage));
      }
    }
  // Megatron holds 2(p - stage - 1) + (v - 1)p + 1 chunks' worth: Korthikanti's
  // 1 + (p-1)/(pv) of all layers on the first stage.
  for (int64_t v : {2, 3}) {
    PipelineSolution many = solved(equalStages(interleavedOrder(), 4, v, 16));
    for (int64_t stage = 0; stage < 4; ++stage)
      EXPECT_EQ(many.inFlightOfStage(stage),
                2 * (4 - stage - 1) + (v - 1) * 4 + 1);
    EXPECT_EQ(many.inFlightOfStage(0), 4 * v + 4 - 1);
  }
}

TEST(PipelineTest, StagesWaitForTransfers) {
  // One micro-batch: everything is in sequence.
  PipelineSolution one =
      solved(equalStages(oneForwardOneBackwardOrder(), 3, 1, 1, 1, 2, .25));
  EXPECT_EQ(one.makespan, s(3 * 3 + 4 * .25));
  EXPECT_EQ(one.use[0].transfer, s(.25)); // its last awaited gradient
  EXPECT_EQ(one.use[0].bubble, s(2 * 3 + 3 * .25));
  EXPECT_EQ(one.use[2].transfer, s(.25));
  // Two stages, 1F1B: each pair of micro-batches makes one round trip.
  double x = .5;
  PipelineSolution two =
      solved(equalStages(oneForwardOneBackwardOrder(), 2, 1, 10, 1, 2, x));
  PipelineSolution without =
      solved(equalStages(oneForwardOneBackwardOrder(), 2, 1, 10, 1, 2));
  EXPECT_GT(two.makespan, without.makespan);
  EXPECT_LE(two.makespan, without.makespan + s(10 * 2 * x));
  Time waits = two.use[1].transfer;
  EXPECT_GT(waits, s(0));
  // Transfers of zero leave no wait.
  EXPECT_EQ(without.use[1].transfer, s(0));
}

TEST(PipelineTest, EventsOfASmallSchedule) {
  // Two stages, two micro-batches, 1F1B, F = 1, B = 2.
  PipelineProblem problem = equalStages(oneForwardOneBackwardOrder(), 2, 1, 2);
  PipelineSolution solution = solved(problem);
  auto start = [&](int64_t stage, int64_t i, unsigned backward) {
    return solution.starts[solution.index(stage, {i, 0, backward})].base();
  };
  EXPECT_EQ(start(0, 0, false), 0);
  EXPECT_EQ(start(0, 1, false), 1);
  EXPECT_EQ(start(1, 0, false), 1);
  EXPECT_EQ(start(1, 0, true), 2);
  EXPECT_EQ(start(1, 1, false), 4);
  EXPECT_EQ(start(0, 0, true), 4);
  EXPECT_EQ(start(1, 1, true), 5);
  EXPECT_EQ(start(0, 1, true), 7);
}

TEST(PipelineTest, ComparatorsAreTotalOrders) {
  const std::pair<const PipelineOrder *, PipelineShape> cases[] = {
      {&gpipeOrder(), {4, 2, 6}},
      {&oneForwardOneBackwardOrder(), {4, 1, 6}},
      {&interleavedOrder(), {4, 3, 8}}};
  for (auto &[order, shape] : cases)
    for (int64_t stage = 0; stage < shape.stages; ++stage)
      for (int64_t i = 0; i < shape.microBatches; ++i)
        for (int64_t chunk = 0; chunk < shape.chunks; ++chunk) {
          StageEvent forward{i, chunk, false}, backward{i, chunk, true};
          EXPECT_TRUE(order->mustHappenBefore(shape, stage, forward, backward));
          EXPECT_FALSE(
              order->mustHappenBefore(shape, stage, backward, forward));
          EXPECT_FALSE(order->mustHappenBefore(shape, stage, forward, forward));
        }
}

/// Whatever the durations, solutions verify and are the same each time.
TEST(PipelineTest, RandomDurations) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> duration(.1, 3);
  for (const PipelineOrder *order :
       {&gpipeOrder(), &oneForwardOneBackwardOrder(), &interleavedOrder()}) {
    int64_t v = order == &interleavedOrder() ? 3 : 1;
    PipelineProblem problem = equalStages(*order, 5, v, 15);
    for (auto *list : {&problem.durations, &problem.transfers})
      for (std::vector<Time> &times : *list)
        for (Time &time : times)
          time = s(duration(random));
    PipelineSolution solution = solved(problem);
    EXPECT_EQ(solved(problem).starts, solution.starts);
    // No schedule beats its busiest stage.
    for (const StageUse &use : solution.use)
      EXPECT_GE(solution.makespan, use.busy);
  }
}

TEST(PipelineTest, LargePipelines) {
  PipelineSolution large =
      solved(equalStages(oneForwardOneBackwardOrder(), 128, 1, 4096));
  EXPECT_EQ(large.makespan, s(3. * (4096 + 127)));
  EXPECT_EQ(large.starts.size(), 2u * 128 * 4096);
}

TEST(PipelineTest, ChecksTheProblem) {
  EXPECT_EQ(messageOf(solve(equalStages(interleavedOrder(), 4, 2, 6))),
            "expected the number of micro-batches to be a multiple of the 4 "
            "stages in order 'interleaved', found 6");
  EXPECT_EQ(messageOf(solve(equalStages(interleavedOrder(), 4, 1, 8))),
            "expected at least 2 chunks per stage in order 'interleaved', "
            "found 1");
  EXPECT_EQ(
      messageOf(solve(equalStages(oneForwardOneBackwardOrder(), 4, 2, 8))),
      "expected one chunk per stage in order '1f1b', found 2; several are "
      "order 'interleaved'");
  PipelineProblem problem = equalStages(gpipeOrder(), 4, 1, 8);
  problem.shape.microBatches = 0;
  EXPECT_EQ(messageOf(solve(problem)), "expected micro-batches >= 1, found 0");
  problem.shape.microBatches = INT64_MAX;
  EXPECT_PRED2(contains, messageOf(solve(problem)),
               "pipeline events, found 4 stages of 1 chunks");
  problem = equalStages(gpipeOrder(), 4, 1, 8);
  problem.durations[1].pop_back();
  EXPECT_EQ(messageOf(solve(problem)),
            "expected 4 backward durations, found 3");
  problem = equalStages(gpipeOrder(), 4, 1, 8);
  problem.transfers[0][1] = s(-1);
  EXPECT_PRED2(contains, messageOf(solve(problem)),
               "non-negative forward transfer duration");
  problem.order = nullptr;
  problem.transfers[0][1] = s(1);
  EXPECT_EQ(messageOf(solve(problem)), "expected a pipeline order, found none");
}

namespace {
/// Backward before forward: no stage can begin.
class Reversed : public PipelineOrder {
  llvm::StringRef name() const override { return "reversed"; }
  llvm::Error check(const PipelineShape &) const override {
    return llvm::Error::success();
  }
  int64_t position(const PipelineShape &shape, int64_t,
                   const StageEvent &event) const override {
    return event.microBatch + (event.kind == 1 ? 0 : shape.microBatches);
  }
};
/// All events at one place.
class Undecided : public Reversed {
  llvm::StringRef name() const override { return "undecided"; }
  int64_t position(const PipelineShape &, int64_t,
                   const StageEvent &) const override {
    return 0;
  }
};
} // namespace

TEST(PipelineTest, RejectsOrdersThatCannotBeKept) {
  EXPECT_EQ(messageOf(solve(equalStages(Reversed(), 2, 1, 4))),
            "order 'reversed' lets stages wait for one another: stage 0 stops "
            "after 0 of 8 events");
  EXPECT_EQ(messageOf(solve(equalStages(Undecided(), 2, 1, 4))),
            "order 'undecided' is not a total order on stage 0");
}

TEST(PipelineTest, VerifiesTheSolution) {
  PipelineProblem problem =
      equalStages(oneForwardOneBackwardOrder(), 2, 1, 4, 1, 2, .5);
  PipelineSolution good = solved(problem);
  auto moved = [&](int64_t stage, StageEvent event, double by) {
    PipelineSolution bad = good;
    size_t i = bad.index(stage, event);
    bad.starts[i] += s(by);
    bad.ends[i] += s(by);
    return llvm::toString(bad.verify(problem));
  };
  EXPECT_PRED2(contains, moved(1, {0, 0, false}, -.25),
               "before forward of micro-batch 0 on virtual stage 0 has "
               "arrived");
  EXPECT_PRED2(contains, moved(0, {1, 0, false}, -.5),
               "before what must happen before it on its stage ends");
  PipelineSolution bad = good;
  bad.ends[0] += s(1);
  EXPECT_PRED2(contains, llvm::toString(bad.verify(problem)),
               "forward of micro-batch 0 on virtual stage 0 ends at");
  bad = good;
  bad.makespan += s(1);
  EXPECT_PRED2(contains, llvm::toString(bad.verify(problem)),
               "expected a makespan of");
  bad = good;
  bad.starts.pop_back();
  EXPECT_PRED2(contains, llvm::toString(bad.verify(problem)),
               "expected 16 starts and ends");
}

TEST(PipelineTest, OrdersHaveNames) {
  for (llvm::StringRef name : {"gpipe", "1f1b", "interleaved"})
    EXPECT_EQ(llvm::cantFail(findPipelineOrder(name))->name(), name);
  EXPECT_EQ(messageOf(findPipelineOrder("zb-h1")),
            "expected a pipeline order of 'gpipe', '1f1b', 'interleaved', "
            "found 'zb-h1'");
}

namespace {
/// Backward in two parts: the gradient of the input travels on, that of the
/// weights waits for nobody else.
PipelineProblem splitBackward(const PipelineOrder &order, int64_t p, int64_t v,
                              int64_t m) {
  PipelineProblem problem = equalStages(order, p, v, m);
  problem.shape.kinds = {{"forward", Flow::Ascending, false, -1},
                         {"backward_input", Flow::Descending, true, 0},
                         {"backward_weight", Flow::Local, true, 1}};
  problem.durations.assign(3, std::vector<Time>(p * v, s(1)));
  problem.transfers = {
      std::vector<Time>(p * v - 1), std::vector<Time>(p * v - 1), {}};
  return problem;
}
} // namespace

/// Three kinds of event: with both parts of backward in turn 1F1B is as long as
/// with one, but a stage may pass the input's gradient on before the weights'.
TEST(PipelineTest, ThreeKindsOfEvent) {
  for (int64_t p : {1, 2, 4})
    for (int64_t m : {1, 4, 9}) {
      PipelineSolution split =
          solved(splitBackward(oneForwardOneBackwardOrder(), p, 1, m));
      PipelineSolution whole =
          solved(equalStages(oneForwardOneBackwardOrder(), p, 1, m, 1, 2));
      EXPECT_LE(split.makespan, whole.makespan);
      for (const StageUse &use : split.use)
        EXPECT_EQ(use.busy, s(3. * m));
      if (m > 1 && p > 1)
        continue;
      // One micro-batch goes forward and back, then its last weights.
      EXPECT_EQ(split.makespan, m == 1 ? s(2. * p + 1) : whole.makespan);
    }
  PipelineSolution gpipe = solved(splitBackward(gpipeOrder(), 4, 1, 8));
  EXPECT_EQ(gpipe.inFlight(0), 8);
  EXPECT_EQ(gpipe.lastEnd(0, 2), gpipe.makespan);
  solved(splitBackward(interleavedOrder(), 4, 2, 8));
}

/// A kind before forward that waits for nobody: reading a batch.
TEST(PipelineTest, AnEventBeforeForward) {
  PipelineProblem problem = equalStages(oneForwardOneBackwardOrder(), 2, 1, 4);
  problem.shape.kinds = {{"read", Flow::Local, false, -1},
                         {"forward", Flow::Ascending, false, 0},
                         {"backward", Flow::Descending, true, 1}};
  problem.durations = {{s(.5), s(0)}, {s(1), s(1)}, {s(2), s(2)}};
  problem.transfers = {{}, {s(0)}, {s(0)}};
  PipelineSolution solution = solved(problem);
  EXPECT_EQ(solution.starts[solution.index(0, {0, 0, 1})], s(.5));
  EXPECT_EQ(solution.use[0].busy, s(4 * 3.5));
}

TEST(PipelineTest, ChecksKindsOfEvent) {
  EventKinds kinds = forwardAndBackward();
  kinds[1].name = "forward";
  EXPECT_EQ(llvm::toString(checkKinds(kinds)),
            "expected kinds of event with names of their own, found 'forward' "
            "twice");
  kinds = forwardAndBackward();
  kinds[0].after = 1;
  EXPECT_EQ(llvm::toString(checkKinds(kinds)),
            "expected 'forward' to come after an earlier kind of event");
  kinds = forwardAndBackward();
  std::swap(kinds[0].returns, kinds[1].returns);
  EXPECT_EQ(llvm::toString(checkKinds(kinds)),
            "expected 'backward' before the kinds of event on the way back");
  EXPECT_EQ(llvm::toString(checkKinds({})),
            "expected at least one kind of event, found none");
}
