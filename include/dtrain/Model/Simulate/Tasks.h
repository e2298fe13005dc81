//===- Tasks.h - Tasks on resources -----------------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A problem of tasks that occupy resources (a compute stream, the links of an
/// axis, a storage server, …) and wait for one another; its solution is when
/// each starts. What may run at the same time follows from resources and
/// dependences alone. The problem is data that `check()` tests, the solution
/// data that `verify()` tests against the problem.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_SIMULATE_TASKS_H
#define DTRAIN_MODEL_SIMULATE_TASKS_H

#include "dtrain/Support/Quantity.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <string>
#include <vector>

namespace dtrain {

using ResourceId = unsigned;
using TaskId = unsigned;

/// Something that runs at most `capacity` tasks at a time.
struct Resource {
  std::string name;
  int64_t capacity = 1;
};

/// What a software stack makes of a communication that runs beside other tasks.
/// A task that waits for one of duration d, and whose resource was busy for o
/// since it began, has still to wait for
///   e = max(least * d, visible * d - hides * o),
///   e + interference * (d - e),
/// less what that resource has idled since.
struct Hiding {
  /// What waiting tasks see of it: less than 1 in a stack that feeds it to its
  /// consumer piece by piece.
  Ratio visible = Ratio::fromBase(1);
  /// Exposed however much runs beside it.
  Ratio least;
  /// Of the time of tasks beside it, what hides it: less than 1 where they
  /// hinder one another.
  Ratio hides = Ratio::fromBase(1);
  /// What the tasks beside it lose, per time that is hidden.
  Ratio interference;

  /// What is left to wait for.
  Time left(Time duration, Time busy, Time idle) const;
};

/// Tasks in the order in which each resource starts them. A task may wait for
/// tasks added before it.
class TaskProblem {
public:
  struct Task {
    /// Occupied for the duration; the task starts when all have room.
    llvm::SmallVector<ResourceId, 1> uses;
    /// Occupied until the task ends, but not waited for: what parts of the task
    /// use at times that are not told apart.
    llvm::SmallVector<ResourceId, 2> touches;
    Time duration;
    llvm::SmallVector<TaskId, 2> after;
    /// Of a communication.
    std::optional<Hiding> hiding;
    /// Whether the makespan waits for it.
    bool isAwaited = true;
  };

  /// The first resource is the one that the makespan is seen from.
  ResourceId addResource(llvm::StringRef name, int64_t capacity = 1);
  TaskId addTask(ResourceId resource, Time duration,
                 llvm::ArrayRef<TaskId> after = {});
  TaskId addTask(Task task);

  llvm::ArrayRef<Resource> resources() const { return theResources; }
  llvm::ArrayRef<Task> tasks() const { return theTasks; }

  /// Resources exist and have a capacity, dependences are on earlier tasks,
  /// durations are finite and not negative, shares between 0 and 1.
  llvm::Error check() const;

private:
  llvm::SmallVector<Resource, 4> theResources;
  std::vector<Task> theTasks;
};

struct TaskSolution {
  /// Per task.
  std::vector<Time> starts;
  /// Per task: when who first waits for it may go on; the end of what nothing
  /// waits for.
  std::vector<Time> ready;
  Time makespan;

  /// Tests the solution by the conditions that it has to meet: no more tasks at
  /// once than a resource has room for, in the order given; no start before
  /// what a task waits for is ready; no communication ready before the shares
  /// of its stack allow; nothing put off.
  llvm::Error verify(const TaskProblem &problem) const;
};

/// Starts every task as early as possible; O(tasks * communications under way +
/// dependences). Fails where `problem.check()` does.
llvm::Expected<TaskSolution> solve(const TaskProblem &problem);

} // namespace dtrain

#endif // DTRAIN_MODEL_SIMULATE_TASKS_H
