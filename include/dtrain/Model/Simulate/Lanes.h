//===- Lanes.h - Tasks on in-order lanes ------------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A problem of tasks that run on in-order lanes (a compute stream, a
/// communication stream, …) and wait for one another; its solution is when each
/// starts. The problem is data that `check()` tests, the solution data that
/// `verify()` tests against the problem.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_SIMULATE_LANES_H
#define DTRAIN_MODEL_SIMULATE_LANES_H

#include "dtrain/Support/Quantity.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace dtrain {

enum class LaneKind : uint8_t { Compute, Communication, Storage, Host };
using LaneId = unsigned;
using TaskId = unsigned;

/// Tasks, each on one lane. A lane runs its tasks one at a time, in the order
/// in which they were added; a task also waits for those it comes `after`,
/// which may be added later than itself.
class LaneProblem {
public:
  struct Lane {
    std::string name;
    LaneKind kind;
  };
  struct Task {
    LaneId lane;
    Time duration;
    llvm::SmallVector<TaskId, 2> after;
  };

  LaneId addLane(llvm::StringRef name, LaneKind kind);
  TaskId addTask(LaneId lane, Time duration, llvm::ArrayRef<TaskId> after = {});
  /// Makes `task` wait for `before` too.
  void addDependence(TaskId before, TaskId task);

  llvm::ArrayRef<Lane> lanes() const { return theLanes; }
  llvm::ArrayRef<Task> tasks() const { return theTasks; }

  /// Lanes and dependences exist, durations are finite and not negative, and
  /// no task waits for itself, be it through the order of a lane.
  llvm::Error check() const;

private:
  std::vector<Lane> theLanes;
  std::vector<Task> theTasks;
};

struct LaneSolution {
  std::vector<Time> starts; // per task
  Time makespan;

  /// Tests the solution: no start before zero, before the lane's previous task
  /// ends, or before a task waited for ends; none ends after the makespan, and
  /// one ends at it.
  llvm::Error verify(const LaneProblem &problem) const;
};

/// Starts every task as early as possible; O(tasks + dependences). Fails where
/// `problem.check()` does.
llvm::Expected<LaneSolution> solve(const LaneProblem &problem);

/// Where one lane's time goes: busy + exposedCommunication + idle = makespan.
struct LaneUse {
  Time busy;
  /// The lane is idle while some communication lane is busy.
  Time exposedCommunication;
  /// The rest.
  Time idle;
};
llvm::Expected<LaneUse> useOf(const LaneProblem &problem,
                              const LaneSolution &solution, LaneId lane);

} // namespace dtrain

#endif // DTRAIN_MODEL_SIMULATE_LANES_H
