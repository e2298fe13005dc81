//===- Lanes.cpp - Tasks on in-order lanes --------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Simulate/Lanes.h"
#include "../Checks.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

LaneId LaneProblem::addLane(llvm::StringRef name, LaneKind kind) {
  theLanes.push_back({name.str(), kind});
  return theLanes.size() - 1;
}

TaskId LaneProblem::addTask(LaneId lane, Time duration,
                            llvm::ArrayRef<TaskId> after) {
  theTasks.push_back({lane, duration, {after.begin(), after.end()}});
  return theTasks.size() - 1;
}

void LaneProblem::addDependence(TaskId before, TaskId task) {
  theTasks[task].after.push_back(before);
}

namespace {
/// The order in which tasks may run, by dependences and lanes together.
struct TaskOrder {
  std::vector<TaskId> order;
  /// The task before on the same lane, or the task itself.
  std::vector<TaskId> previous;
};
} // namespace

static std::vector<TaskId> previousOnLane(const LaneProblem &problem) {
  constexpr TaskId kNone = ~TaskId(0);
  std::vector<TaskId> last(problem.lanes().size(), kNone);
  std::vector<TaskId> previous(problem.tasks().size());
  for (auto [id, task] : llvm::enumerate(problem.tasks())) {
    previous[id] = last[task.lane] == kNone ? TaskId(id) : last[task.lane];
    last[task.lane] = id;
  }
  return previous;
}

/// Everything that `check` tests but cycles.
static Error checkParts(const LaneProblem &problem) {
  size_t lanes = problem.lanes().size(), tasks = problem.tasks().size();
  for (auto [id, task] : llvm::enumerate(problem.tasks())) {
    if (task.lane >= lanes)
      return makeError("expected task " + llvm::Twine(id) +
                       " to be on one of " + llvm::Twine(lanes) +
                       " lanes, found lane " + llvm::Twine(task.lane));
    if (Error e = requireAmount(("duration of task " + llvm::Twine(id)).str(),
                                task.duration))
      return e;
    for (TaskId before : task.after)
      if (before >= tasks)
        return makeError("expected task " + llvm::Twine(id) +
                         " to wait for one of " + llvm::Twine(tasks) +
                         " tasks, found task " + llvm::Twine(before));
  }
  return Error::success();
}

/// Kahn's algorithm; deterministic, as ready tasks are taken first come first
/// served.
static Expected<TaskOrder> orderTasks(const LaneProblem &problem) {
  if (Error e = checkParts(problem))
    return e;
  size_t count = problem.tasks().size();
  TaskOrder result;
  result.previous = previousOnLane(problem);
  std::vector<unsigned> waiting(count);
  std::vector<llvm::SmallVector<TaskId, 2>> followers(count);
  for (auto [id, task] : llvm::enumerate(problem.tasks())) {
    if (result.previous[id] != id) {
      followers[result.previous[id]].push_back(id);
      ++waiting[id];
    }
    for (TaskId before : task.after)
      followers[before].push_back(id);
    waiting[id] += task.after.size();
  }
  result.order.reserve(count);
  for (TaskId id = 0; id < count; ++id)
    if (waiting[id] == 0)
      result.order.push_back(id);
  for (size_t next = 0; next < result.order.size(); ++next)
    for (TaskId follower : followers[result.order[next]])
      if (--waiting[follower] == 0)
        result.order.push_back(follower);
  if (result.order.size() == count)
    return result;
  TaskId stuck = llvm::find_if(waiting, [](unsigned w) { return w != 0; }) -
                 waiting.begin();
  return makeError("expected tasks that can run in some order, found task " +
                   llvm::Twine(stuck) + " on lane '" +
                   problem.lanes()[problem.tasks()[stuck].lane].name +
                   "' on or behind a cycle");
}

Error LaneProblem::check() const { return orderTasks(*this).takeError(); }

Expected<LaneSolution> dtrain::solve(const LaneProblem &problem) {
  Expected<TaskOrder> order = orderTasks(problem);
  if (!order)
    return order.takeError();
  LaneSolution solution;
  solution.starts.resize(problem.tasks().size());
  auto endOf = [&](TaskId id) {
    return solution.starts[id] + problem.tasks()[id].duration;
  };
  for (TaskId id : order->order) {
    Time start;
    if (order->previous[id] != id)
      start = endOf(order->previous[id]);
    for (TaskId before : problem.tasks()[id].after)
      start = std::max(start, endOf(before));
    solution.starts[id] = start;
    solution.makespan = std::max(solution.makespan, endOf(id));
  }
  return solution;
}

Error LaneSolution::verify(const LaneProblem &problem) const {
  if (Error e = problem.check())
    return e;
  if (starts.size() != problem.tasks().size())
    return makeError("expected " + llvm::Twine(problem.tasks().size()) +
                     " starts, found " + llvm::Twine(starts.size()));
  auto endOf = [&](TaskId id) {
    return starts[id] + problem.tasks()[id].duration;
  };
  std::vector<TaskId> previous = previousOnLane(problem);
  Time last;
  for (TaskId id = 0; id < starts.size(); ++id) {
    if (!(starts[id] >= Time()))
      return makeError("expected task " + llvm::Twine(id) +
                       " to start at zero or later, found " + starts[id].str());
    if (previous[id] != id && starts[id] < endOf(previous[id]))
      return makeError("task " + llvm::Twine(id) + " starts at " +
                       starts[id].str() + ", before task " +
                       llvm::Twine(previous[id]) + " of the same lane ends");
    for (TaskId before : problem.tasks()[id].after)
      if (starts[id] < endOf(before))
        return makeError("task " + llvm::Twine(id) + " starts at " +
                         starts[id].str() + ", before task " +
                         llvm::Twine(before) + " that it waits for ends");
    last = std::max(last, endOf(id));
  }
  if (last != makespan)
    return makeError("expected a makespan of " + last.str() + ", found " +
                     makespan.str());
  return Error::success();
}

Expected<LaneUse> dtrain::useOf(const LaneProblem &problem,
                                const LaneSolution &solution, LaneId lane) {
  if (Error e = solution.verify(problem))
    return e;
  if (lane >= problem.lanes().size())
    return makeError("expected one of " + llvm::Twine(problem.lanes().size()) +
                     " lanes, found lane " + llvm::Twine(lane));
  // Sweep over the ends of intervals: +1 begins, -1 ends one; the lane's own
  // count and that of the communication lanes decide what an instant is. The
  // order of edges at one instant does not matter: no time passes between them.
  struct Edge {
    Time at;
    int own, communication;
  };
  std::vector<Edge> edges;
  for (auto [id, task] : llvm::enumerate(problem.tasks())) {
    bool own = task.lane == lane;
    bool communication =
        problem.lanes()[task.lane].kind == LaneKind::Communication;
    if (!own && !communication)
      continue;
    Time start = solution.starts[id];
    edges.push_back({start, own, communication});
    edges.push_back({start + task.duration, -int(own), -int(communication)});
  }
  llvm::sort(edges, [](const Edge &a, const Edge &b) { return a.at < b.at; });
  LaneUse use;
  int own = 0, communication = 0;
  Time at;
  auto advance = [&](Time to) {
    (own > 0             ? use.busy
     : communication > 0 ? use.exposedCommunication
                         : use.idle) += to - at;
    at = to;
  };
  for (const Edge &edge : edges) {
    advance(edge.at);
    own += edge.own;
    communication += edge.communication;
  }
  advance(solution.makespan);
  return use;
}
