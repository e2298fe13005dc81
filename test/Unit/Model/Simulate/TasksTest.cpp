//===- TasksTest.cpp - Tasks on resources ---------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Simulate/Tasks.h"
#include "../A100.h"
#include <gtest/gtest.h>
#include <random>

using namespace dtrain;
using namespace dtrain::test;

namespace {
Time s(double seconds) { return Time::fromBase(seconds); }

/// A compute stream and a link.
struct Problem : TaskProblem {
  ResourceId compute = addResource("compute"), link = addResource("link");
  TaskId communicate(double duration, Hiding hiding,
                     llvm::ArrayRef<TaskId> after = {}) {
    Task task;
    task.uses = {link};
    task.duration = s(duration);
    task.after.assign(after.begin(), after.end());
    task.hiding = hiding;
    return addTask(std::move(task));
  }
};

Hiding shares(double visible, double least, double hides,
              double interference = 0) {
  return {Ratio::fromBase(visible), Ratio::fromBase(least),
          Ratio::fromBase(hides), Ratio::fromBase(interference)};
}

TaskSolution solved(const TaskProblem &problem) {
  TaskSolution solution = llvm::cantFail(solve(problem));
  EXPECT_EQ(llvm::toString(solution.verify(problem)), "");
  return solution;
}
} // namespace

/// A layer body of tensor parallelism: two blocks of compute, each followed by
/// an all_reduce that the next block needs.
TEST(TasksTest, DependentCommunicationIsExposed) {
  Problem p;
  TaskId a = p.addTask(p.compute, s(5));
  TaskId reduceA = p.communicate(2, {}, a);
  TaskId b = p.addTask(p.compute, s(7), reduceA);
  p.communicate(3, {}, b);
  TaskSolution solution = solved(p);
  EXPECT_EQ(solution.starts, (std::vector<Time>{s(0), s(5), s(7), s(14)}));
  EXPECT_EQ(solution.makespan, s(17));
}

/// The backward of a layer: the all_reduce of the data gradient runs beside the
/// weight gradient, which does not need it.
TEST(TasksTest, IndependentComputeHidesCommunication) {
  for (double weightGradient : {1., 4., 6.}) {
    Problem p;
    TaskId data = p.addTask(p.compute, s(4));
    TaskId reduce = p.communicate(4, {}, data);
    p.addTask(p.compute, s(weightGradient), data);
    p.addTask(p.compute, s(2), reduce);
    EXPECT_EQ(solved(p).makespan, s(4 + std::max(4., weightGradient) + 2));
  }
}

/// A stack's figures: a least exposed share, compute that hides only a part of
/// its time, and what hiding costs.
TEST(TasksTest, SharesOfAStack) {
  auto makespan = [](Hiding hiding, double beside) {
    Problem p;
    TaskId reduce = p.communicate(8, hiding);
    p.addTask(p.compute, s(beside));
    p.addTask(p.compute, s(1), reduce);
    return solved(p).makespan.base();
  };
  EXPECT_EQ(makespan(shares(1, 0, 1), 2), 8 + 1);
  EXPECT_EQ(makespan(shares(1, .5, 1), 6), 6 + 4 + 1);
  EXPECT_EQ(makespan(shares(1, 0, .5), 6), 6 + 5 + 1);
  // Blocking: nothing hides, whatever runs beside.
  EXPECT_EQ(makespan(shares(1, 1, 0), 6), 6 + 8 + 1);
  // Fed to the consumer piece by piece.
  EXPECT_EQ(makespan(shares(.25, .25, 1), 0), 2 + 1);
  EXPECT_EQ(makespan(shares(1, 0, 1, .25), 6), 6 + 2 + .25 * 6 + 1);
}

/// What nothing waits for is waited for at the end, unless nobody here does.
TEST(TasksTest, TheEndWaits) {
  Problem p;
  p.communicate(5, {});
  p.addTask(p.compute, s(2));
  EXPECT_EQ(solved(p).makespan, s(5));
  TaskProblem::Task send;
  send.uses = {p.link};
  send.duration = s(9);
  send.hiding = Hiding();
  send.isAwaited = false;
  p.addTask(send);
  EXPECT_EQ(solved(p).makespan, s(5));
}

TEST(TasksTest, ResourcesKeepTheirOrder) {
  Problem p;
  TaskId slow = p.communicate(10, {});
  TaskId first = p.addTask(p.compute, s(1), slow);
  TaskId second = p.addTask(p.compute, s(1));
  TaskSolution solution = solved(p);
  EXPECT_EQ(solution.starts[first], s(10));
  EXPECT_EQ(solution.starts[second], s(11));
}

/// A server of two: the third client waits for the first to leave.
TEST(TasksTest, Capacity) {
  TaskProblem p;
  ResourceId server = p.addResource("server", 2);
  for (double duration : {3., 5., 1., 1.})
    p.addTask(server, s(duration));
  TaskSolution solution = solved(p);
  EXPECT_EQ(solution.starts, (std::vector<Time>{s(0), s(0), s(3), s(4)}));
}

/// A call occupies the link that its body uses, without waiting for it.
TEST(TasksTest, TouchedResources) {
  Problem p;
  TaskId before = p.communicate(3, {});
  TaskProblem::Task call;
  call.uses = {p.compute};
  call.touches = {p.link};
  call.duration = s(5);
  TaskId body = p.addTask(call);
  TaskId after = p.communicate(1, {});
  TaskSolution solution = solved(p);
  EXPECT_EQ(solution.starts[before], s(0));
  EXPECT_EQ(solution.starts[body], s(0));
  EXPECT_EQ(solution.starts[after], s(5));
}

TEST(TasksTest, EmptyProblem) {
  TaskProblem p;
  EXPECT_EQ(solved(p).makespan, Time());
}

/// Random problems: solutions verify, and one that is put off does not.
TEST(TasksTest, RandomProblems) {
  std::mt19937 random(5);
  auto below = [&](unsigned n) { return random() % n; };
  for (int trial = 0; trial < 300; ++trial) {
    Problem p;
    p.addResource("other");
    for (TaskId id = 0; id < 12; ++id) {
      TaskProblem::Task task;
      task.uses = {static_cast<ResourceId>(below(3))};
      task.duration = s(1 + below(8));
      for (unsigned i = 0; i < below(3) && id; ++i)
        task.after.push_back(below(id));
      if (task.uses.front() != p.compute)
        task.hiding = shares(1, below(3) * .25, 1 - below(2) * .25);
      p.addTask(std::move(task));
    }
    TaskSolution solution = solved(p);
    TaskId late = below(12);
    solution.starts[late] += s(100);
    EXPECT_NE(llvm::toString(solution.verify(p)), "");
  }
}

TEST(TasksTest, ChecksTheProblem) {
  TaskProblem noResource;
  noResource.addTask(0, s(1));
  EXPECT_EQ(messageOf(solve(noResource)),
            "expected task 0 to use one of 0 resources, found resource 0");
  TaskProblem negative;
  negative.addTask(negative.addResource("compute"), s(-1));
  EXPECT_EQ(messageOf(solve(negative)),
            "expected a finite, non-negative duration of task 0, found " +
                s(-1).str());
  TaskProblem later;
  later.addTask(later.addResource("compute"), s(1), {7});
  EXPECT_EQ(messageOf(solve(later)),
            "expected task 0 to wait for a task added before it, found task 7");
  TaskProblem none;
  none.addResource("server", 0);
  EXPECT_EQ(messageOf(solve(none)),
            "expected the capacity of resource 'server' >= 1, found 0");
  Problem share;
  share.communicate(1, shares(2, 0, 1));
  EXPECT_PRED2(contains, messageOf(solve(share)),
               "expected a visible share between 0 and 1 of task 0");
}

TEST(TasksTest, VerifiesTheSolution) {
  Problem p;
  TaskId a = p.addTask(p.compute, s(2));
  p.addTask(p.compute, s(2));
  p.communicate(1, {}, a);
  TaskSolution good = solved(p);
  auto complaint = [&](unsigned task, double start) {
    TaskSolution bad = good;
    bad.ready[task] += s(start) - bad.starts[task];
    bad.starts[task] = s(start);
    return llvm::toString(bad.verify(p));
  };
  EXPECT_PRED2(contains, complaint(0, -1),
               "expected task 0 to start at zero or later");
  EXPECT_PRED2(contains, complaint(1, 1), "has no room for it yet");
  EXPECT_PRED2(contains, complaint(2, 1), "before task 0 that it waits for");
  EXPECT_PRED2(contains, complaint(2, 3), "though it could at");
  TaskSolution shorter = good;
  shorter.makespan = s(3);
  EXPECT_PRED2(contains, llvm::toString(shorter.verify(p)),
               "expected a makespan of");
  shorter.starts.pop_back();
  EXPECT_EQ(llvm::toString(shorter.verify(p)),
            "expected 3 starts and times of readiness, found 2 and 3");
}
