//===- StepTest.cpp - A step under other sizes and degrees ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../A100.h"
#include "dtrain/Model/Step/Price.h"
#include "dtrain/Model/Step/StepProblem.h"
#include <gtest/gtest.h>

using namespace dtrain;
using namespace dtrain::test;

namespace {
Sum sum(llvm::StringRef text, Dimension dim) {
  return llvm::cantFail(Sum::parse(text, dim));
}
constexpr Dimension kFlops{0, 0, 1, 0, 0, 0}, kBytes{0, 1, 0, 0, 0, 0};

/// One layer over tp whose tokens are read as one dimension.
StepProblem layer() {
  StepProblem problem;
  problem.axes = {{"dp", 2}, {"tp", 4}};
  problem.sizes = {
      {"batch", 4}, {"seq", 8}, {"tokens", 32}, {"hidden", 64, true}};
  problem.relations = {{"tokens", {"batch", "seq"}}};
  problem.guards = {{{"batch", 1, {"dp"}}}, {{"hidden", 1, {"tp"}}}};
  problem.order = &gpipeOrder();
  StepWork work;
  work.cls = OpClass::Contraction;
  work.flops = Amount<Flops>(sum("2 FLOP tokens/dp hidden/tp hidden", kFlops));
  problem.payloads.push_back(work);
  StepComm comm;
  comm.axes = {"tp"};
  comm.tensor = Amount<Bytes>(sum("2 B tokens/dp hidden", kBytes));
  problem.payloads.push_back(comm);
  DeviceClass c;
  c.segments.resize(2);
  c.segments[1].kind = 1;
  c.segments[0].kind = 0;
  problem.classes.push_back(c);
  return problem;
}

Scale scaled(const StepProblem &problem, const Rescale &changes) {
  return llvm::cantFail(rescale(problem, changes));
}
} // namespace

TEST(StepTest, AmountsRoundUpForTheBusiestAndNotForTheMean) {
  Scale scale;
  scale.sizes["n"] = 10;
  scale.degrees["tp"] = 4;
  Sum amount = sum("2 B n/tp 3 + 1 B n", kBytes);
  EXPECT_EQ(amount.local(scale), 2 * 3 * 3 + 10);
  EXPECT_EQ(amount.mean(scale), 2 * 2.5 * 3 + 10);
  EXPECT_EQ(amount.total(scale), 2 * 10 * 3 + 10);
  EXPECT_EQ(sum(amount.str(kBytes), kBytes), amount);
  EXPECT_PRED2(contains, messageOf(Sum::parse("2 B /tp", kBytes)),
               "expected the name of a size or a whole number, found ''");
}

TEST(StepTest, OtherSizesAndDegrees) {
  StepProblem problem = layer();
  ASSERT_EQ(llvm::toString(problem.check()), "");
  Rescale changes;
  changes.sizes["seq"] = 16;
  changes.degrees["tp"] = 8;
  EvaluatedStep step =
      llvm::cantFail(evaluate(problem, scaled(problem, changes), 8));
  // Tokens follow from batch and sequence.
  EXPECT_EQ(step.payloads[0].work.flops,
            Flops::fromBase(2. * (4 * 16 / 2) * (64 / 8) * 64));
  EXPECT_EQ(step.payloads[1].layout.ranks, 8);
  EXPECT_EQ(step.payloads[1].sent, step.payloads[1].tensor * (2 * 7 / 8.));
  EXPECT_EQ(step.devices, 16);
  // One coordinate has nobody to communicate with.
  changes.degrees["tp"] = 1;
  step = llvm::cantFail(evaluate(problem, scaled(problem, changes), 8));
  EXPECT_EQ(step.payloads[1].sent, Bytes());
}

TEST(StepTest, GuardsSayWhatForbidsAScale) {
  StepProblem problem = layer();
  auto message = [&](llvm::StringMap<int64_t> sizes,
                     llvm::StringMap<int64_t> degrees) {
    return messageOf(rescale(problem, {std::move(sizes), std::move(degrees)}));
  };
  EXPECT_EQ(message({{"batch", 3}}, {}),
            "size 'batch' of 3 is not divisible by dp = 2, which the plan "
            "relies on");
  EXPECT_EQ(message({}, {{"tp", 3}}),
            "size 'hidden' of 64 is not divisible by tp = 3, which the plan "
            "relies on");
  EXPECT_EQ(message({{"hidden", 128}}, {}),
            "size 'hidden' shapes parameters: another value is another model");
  EXPECT_EQ(message({{"tokens", 48}}, {}),
            "expected size 'tokens' to be the product of batch and seq, 32, "
            "found 48");
  EXPECT_EQ(message({{"depth", 2}}, {}),
            "expected a size of the step, found 'depth'");
  EXPECT_EQ(message({}, {{"ep", 2}}),
            "expected an axis that the step was placed on, found 'ep'");
  problem.classAxis = "dp";
  EXPECT_PRED2(contains, message({}, {{"dp", 4}}), "is another plan");
}

TEST(StepTest, ChecksNames) {
  StepProblem problem = layer();
  std::get<StepComm>(problem.payloads[1]).axes = {"cp"};
  EXPECT_EQ(llvm::toString(problem.check()),
            "expected an axis of the mesh, found 'cp'");
  problem = layer();
  problem.classes[0].segments.pop_back();
  EXPECT_PRED2(contains, llvm::toString(problem.check()),
               "expected a segment for each kind of event and chunk");
  problem = layer();
  StepTransfer transfer;
  transfer.resource = "storage";
  problem.payloads.push_back(transfer);
  EXPECT_EQ(llvm::toString(problem.check()),
            "expected a resource of the step, found 'storage'");
}
