//===- LanesTest.cpp - Tasks on in-order lanes ----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Simulate/Lanes.h"
#include "../A100.h"
#include <gtest/gtest.h>

using namespace dtrain;
using namespace dtrain::test;

namespace {
Time s(double seconds) { return Time::fromBase(seconds); }
} // namespace

/// A layer body of tensor parallelism: two blocks of compute, each followed by
/// an all_reduce that the next block needs.
TEST(LanesTest, DependentCommunicationIsExposed) {
  LaneProblem p;
  LaneId compute = p.addLane("compute", LaneKind::Compute);
  LaneId link = p.addLane("tp", LaneKind::Communication);
  TaskId a = p.addTask(compute, s(5));
  TaskId reduceA = p.addTask(link, s(2), a);
  TaskId b = p.addTask(compute, s(7), reduceA);
  TaskId reduceB = p.addTask(link, s(3), b);
  LaneSolution solution = llvm::cantFail(solve(p));
  EXPECT_EQ(solution.starts, (std::vector<Time>{s(0), s(5), s(7), s(14)}));
  EXPECT_EQ(solution.starts[reduceB], s(14));
  EXPECT_EQ(solution.makespan, s(17));
  EXPECT_FALSE(bool(solution.verify(p)));
  LaneUse use = llvm::cantFail(useOf(p, solution, compute));
  EXPECT_EQ(use.busy, s(12));
  EXPECT_EQ(use.exposedCommunication, s(5));
  EXPECT_EQ(use.idle, s(0));
  use = llvm::cantFail(useOf(p, solution, link));
  EXPECT_EQ(use.busy, s(5));
  EXPECT_EQ(use.idle, s(12));
}

/// The backward of a layer: the all_reduce of the data gradient runs beside the
/// weight gradient, which does not need it.
TEST(LanesTest, IndependentComputeHidesCommunication) {
  for (double weightGradient : {1., 4., 6.}) {
    LaneProblem p;
    LaneId compute = p.addLane("compute", LaneKind::Compute);
    LaneId link = p.addLane("tp", LaneKind::Communication);
    TaskId data = p.addTask(compute, s(4));
    TaskId reduce = p.addTask(link, s(4), data);
    p.addTask(compute, s(weightGradient), data);
    p.addTask(compute, s(2), reduce);
    LaneSolution solution = llvm::cantFail(solve(p));
    LaneUse use = llvm::cantFail(useOf(p, solution, compute));
    EXPECT_EQ(use.exposedCommunication, s(std::max(0., 4 - weightGradient)));
    EXPECT_EQ(solution.makespan, s(4 + std::max(4., weightGradient) + 2));
    EXPECT_EQ(use.busy + use.exposedCommunication + use.idle,
              solution.makespan);
  }
}

TEST(LanesTest, IdleIsNotCommunication) {
  LaneProblem p;
  LaneId compute = p.addLane("compute", LaneKind::Compute);
  LaneId host = p.addLane("host", LaneKind::Host);
  LaneId link = p.addLane("dp", LaneKind::Communication);
  TaskId launch = p.addTask(host, s(3));
  TaskId kernel = p.addTask(compute, s(1), launch);
  p.addTask(link, s(2), kernel);
  LaneUse use = llvm::cantFail(useOf(p, llvm::cantFail(solve(p)), compute));
  EXPECT_EQ(use.busy, s(1));
  EXPECT_EQ(use.idle, s(3));
  // The tail counts: the step ends when the link does.
  EXPECT_EQ(use.exposedCommunication, s(2));
}

TEST(LanesTest, LanesKeepTheirOrder) {
  LaneProblem p;
  LaneId compute = p.addLane("compute", LaneKind::Compute);
  LaneId link = p.addLane("link", LaneKind::Communication);
  TaskId slow = p.addTask(link, s(10));
  TaskId first = p.addTask(compute, s(1), slow);
  TaskId second = p.addTask(compute, s(1));
  LaneSolution solution = llvm::cantFail(solve(p));
  EXPECT_EQ(solution.starts[first], s(10));
  EXPECT_EQ(solution.starts[second], s(11));
}

TEST(LanesTest, MayWaitForTasksAddedLater) {
  LaneProblem p;
  LaneId compute = p.addLane("compute", LaneKind::Compute);
  LaneId link = p.addLane("link", LaneKind::Communication);
  TaskId kernel = p.addTask(compute, s(1));
  TaskId gather = p.addTask(link, s(4));
  p.addDependence(gather, kernel);
  EXPECT_EQ(llvm::cantFail(solve(p)).starts[kernel], s(4));
}

TEST(LanesTest, EmptyProblem) {
  LaneProblem p;
  LaneSolution solution = llvm::cantFail(solve(p));
  EXPECT_EQ(solution.makespan, Time());
  EXPECT_FALSE(bool(solution.verify(p)));
}

TEST(LanesTest, ChecksTheProblem) {
  LaneProblem noLane;
  noLane.addTask(0, s(1));
  EXPECT_EQ(messageOf(solve(noLane)),
            "expected task 0 to be on one of 0 lanes, found lane 0");

  LaneProblem negative;
  negative.addTask(negative.addLane("compute", LaneKind::Compute), s(-1));
  EXPECT_EQ(messageOf(solve(negative)),
            "expected a finite, non-negative duration of task 0, found " +
                s(-1).str());

  LaneProblem unknown;
  unknown.addTask(unknown.addLane("compute", LaneKind::Compute), s(1), {7});
  EXPECT_EQ(messageOf(solve(unknown)),
            "expected task 0 to wait for one of 1 tasks, found task 7");

  // A cycle that only the order of a lane closes.
  LaneProblem cycle;
  LaneId compute = cycle.addLane("compute", LaneKind::Compute);
  TaskId first = cycle.addTask(compute, s(1));
  TaskId second = cycle.addTask(compute, s(1));
  cycle.addDependence(second, first);
  EXPECT_EQ(llvm::toString(cycle.check()),
            "expected tasks that can run in some order, found task 0 on lane "
            "'compute' on or behind a cycle");
}

TEST(LanesTest, VerifiesTheSolution) {
  LaneProblem p;
  LaneId compute = p.addLane("compute", LaneKind::Compute);
  LaneId link = p.addLane("link", LaneKind::Communication);
  TaskId a = p.addTask(compute, s(2));
  p.addTask(compute, s(2));
  p.addTask(link, s(1), a);
  LaneSolution good = llvm::cantFail(solve(p));
  auto complaint = [&](unsigned task, double start) {
    LaneSolution bad = good;
    bad.starts[task] = s(start);
    return llvm::toString(bad.verify(p));
  };
  EXPECT_PRED2(contains, complaint(0, -1),
               "expected task 0 to start at zero or later");
  EXPECT_PRED2(contains, complaint(1, 1),
               "before task 0 of the same lane ends");
  EXPECT_PRED2(contains, complaint(2, 1), "before task 0 that it waits for");
  LaneSolution shorter = good;
  shorter.makespan = s(3);
  EXPECT_PRED2(contains, llvm::toString(shorter.verify(p)),
               "expected a makespan of");
  EXPECT_PRED2(contains, messageOf(useOf(p, shorter, compute)),
               "expected a makespan of");
  shorter.starts.pop_back();
  EXPECT_EQ(llvm::toString(shorter.verify(p)), "expected 3 starts, found 2");
}
