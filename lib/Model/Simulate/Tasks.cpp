//===- Tasks.cpp - Tasks on resources -------------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Simulate/Tasks.h"
#include "../Checks.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

ResourceId TaskProblem::addResource(llvm::StringRef name, int64_t capacity) {
  theResources.push_back({name.str(), capacity});
  return theResources.size() - 1;
}

TaskId TaskProblem::addTask(ResourceId resource, Time duration,
                            llvm::ArrayRef<TaskId> after) {
  Task task;
  task.uses = {resource};
  task.duration = duration;
  task.after.assign(after.begin(), after.end());
  return addTask(std::move(task));
}

TaskId TaskProblem::addTask(Task task) {
  theTasks.push_back(std::move(task));
  return theTasks.size() - 1;
}

static Error checkHiding(TaskId id, const Hiding &hiding) {
  for (auto [what, share] : {std::pair{"visible", hiding.visible},
                             {"least exposed", hiding.least},
                             {"hiding", hiding.hides},
                             {"interfering", hiding.interference}})
    if (!(share.base() >= 0 && share.base() <= 1))
      return makeError("expected a " + llvm::Twine(what) +
                       " share between 0 and 1 of task " + llvm::Twine(id) +
                       ", found " + share.str());
  return Error::success();
}

Error TaskProblem::check() const {
  for (const Resource &resource : theResources)
    if (Error e =
            requireCount("the capacity of resource '" + resource.name + "'",
                         resource.capacity))
      return e;
  for (auto [index, task] : llvm::enumerate(theTasks)) {
    TaskId id = index;
    for (ResourceId r : llvm::concat<const ResourceId>(task.uses, task.touches))
      if (r >= theResources.size())
        return makeError("expected task " + llvm::Twine(id) +
                         " to use one of " + llvm::Twine(theResources.size()) +
                         " resources, found resource " + llvm::Twine(r));
    if (!(task.duration.base() >= 0 && std::isfinite(task.duration.base())))
      return requireAmount(("duration of task " + llvm::Twine(id)).str(),
                           task.duration);
    for (TaskId before : task.after)
      if (before >= id)
        return makeError("expected task " + llvm::Twine(id) +
                         " to wait for a task added before it, found task " +
                         llvm::Twine(before));
    if (task.hiding)
      if (Error e = checkHiding(id, *task.hiding))
        return e;
  }
  return Error::success();
}

Time Hiding::left(Time duration, Time busy, Time idle) const {
  Time exposed = std::max(duration * least.base(),
                          duration * visible.base() - busy * hides.base());
  exposed += (duration - exposed) * interference.base();
  return std::max(exposed - idle, Time());
}

namespace {
/// When each of a resource's places is free, earliest first.
using Places = llvm::SmallVector<Time, 1>;

class Scheduler {
public:
  explicit Scheduler(const TaskProblem &problem)
      : problem(problem), places(problem.resources().size()) {
    for (auto [place, resource] : llvm::zip_equal(places, problem.resources()))
      place.resize(resource.capacity);
    solution.starts.reserve(problem.tasks().size());
    solution.ready.reserve(problem.tasks().size());
  }
  TaskSolution run();

private:
  /// A communication that tasks run beside: how long each resource was busy
  /// since its start.
  struct UnderWay {
    TaskId id;
    Time start;
    llvm::SmallVector<Time, 4> busy;
    bool isWaitedFor = false;
  };
  void schedule(TaskId id);
  Time readyFor(UnderWay &comm, ResourceId waiting, Time now);
  void book(TaskId id, Time start);
  UnderWay *find(TaskId id) {
    auto *it = llvm::find_if(underWay, [&](UnderWay &c) { return c.id == id; });
    return it == underWay.end() ? nullptr : it;
  }
  Time endOf(TaskId id) const {
    return solution.starts[id] + problem.tasks()[id].duration;
  }

  const TaskProblem &problem;
  llvm::SmallVector<Places, 4> places;
  llvm::SmallVector<UnderWay, 4> underWay;
  TaskSolution solution;
};
} // namespace

Time Scheduler::readyFor(UnderWay &comm, ResourceId waiting, Time now) {
  // Who waits first decides for all.
  if (comm.isWaitedFor)
    return solution.ready[comm.id];
  now = std::max(now, comm.start);
  Time busy = comm.busy[waiting], idle = (now - comm.start) - busy;
  // Sums in another order may differ by rounding.
  constexpr double kRounding = 1e-12;
  if (idle.base() <= kRounding * now.base())
    idle = Time();
  const TaskProblem::Task &task = problem.tasks()[comm.id];
  comm.isWaitedFor = true;
  return solution.ready[comm.id] =
             now + task.hiding->left(task.duration, busy, idle);
}

void Scheduler::book(TaskId id, Time start) {
  const TaskProblem::Task &task = problem.tasks()[id];
  Time end = start + task.duration;
  solution.starts.push_back(start);
  solution.ready.push_back(end);
  for (ResourceId r : task.uses) {
    Places &place = places[r];
    place.front() = end;
    llvm::sort(place);
    for (UnderWay &comm : underWay) {
      if (start >= comm.start)
        comm.busy[r] += task.duration;
      else if (end > comm.start)
        comm.busy[r] += end - comm.start;
    }
  }
  for (ResourceId r : task.touches)
    places[r].front() = std::max(places[r].front(), end);
  if (task.hiding)
    underWay.push_back(
        {id, start,
         llvm::SmallVector<Time, 4>(problem.resources().size(), Time())});
}

void Scheduler::schedule(TaskId id) {
  const TaskProblem::Task &task = problem.tasks()[id];
  Time free;
  for (ResourceId r : task.uses)
    free = std::max(free, places[r].front());
  for (TaskId before : task.after)
    if (!find(before))
      free = std::max(free, endOf(before));
  Time start = free;
  ResourceId waiting = task.uses.empty() ? 0 : task.uses.front();
  for (TaskId before : task.after)
    if (UnderWay *comm = find(before))
      start = std::max(start, readyFor(*comm, waiting, free));
  book(id, start);
}

TaskSolution Scheduler::run() {
  llvm::ArrayRef<TaskProblem::Task> tasks = problem.tasks();
  Time end;
  for (TaskId id = 0; id < tasks.size(); ++id) {
    schedule(id);
    if (tasks[id].isAwaited && !tasks[id].hiding)
      end = std::max(end, endOf(id));
  }
  // The end waits as a last task of the first resource would.
  Time now = places.empty() ? Time() : places[0].back();
  for (UnderWay &comm : underWay)
    if (tasks[comm.id].isAwaited)
      end = std::max(end, readyFor(comm, 0, now));
  solution.makespan = end;
  return std::move(solution);
}

Expected<TaskSolution> dtrain::solve(const TaskProblem &problem) {
  if (Error e = problem.check())
    return e;
  return Scheduler(problem).run();
}

//===----------------------------------------------------------------------===//
// Verification, by conditions rather than by solving again
//===----------------------------------------------------------------------===//

/// What two orders of summation may differ by.
static Time slackAt(Time time) { return time * 1e-9; }

/// How long `resource` is busy between two moments.
static Time busyBetween(const TaskProblem &problem,
                        const TaskSolution &solution, ResourceId resource,
                        Time from, Time to) {
  Time busy;
  for (auto [task, start] : llvm::zip_equal(problem.tasks(), solution.starts))
    if (llvm::is_contained(task.uses, resource))
      busy += std::max(Time(), std::min(to, start + task.duration) -
                                   std::max(from, start));
  return busy;
}

/// At most `capacity` tasks of `resource` run when one of them starts.
static Error verifyRoom(const TaskProblem &problem,
                        const TaskSolution &solution, ResourceId resource) {
  Time last;
  std::vector<Time> ends;
  for (auto [id, task] : llvm::enumerate(problem.tasks())) {
    if (!llvm::is_contained(task.uses, resource))
      continue;
    Time start = solution.starts[id];
    const Resource &r = problem.resources()[resource];
    int64_t running = llvm::count_if(
        ends, [&](Time end) { return end - slackAt(end) > start; });
    if (start + slackAt(start) < last || running >= r.capacity)
      return makeError("task " + llvm::Twine(id) + " starts at " + start.str() +
                       ", when resource '" + r.name +
                       "' has no room for it yet");
    last = start;
    ends.push_back(start + task.duration);
  }
  return Error::success();
}

/// A communication is ready no sooner than its stack's shares allow.
static Error verifyReady(const TaskProblem &problem,
                         const TaskSolution &solution, TaskId id) {
  const TaskProblem::Task &task = problem.tasks()[id];
  Time start = solution.starts[id], ready = solution.ready[id];
  if (!task.hiding) {
    if (ready == start + task.duration)
      return Error::success();
    return makeError("expected task " + llvm::Twine(id) + " to be ready at " +
                     (start + task.duration).str() + ", found " + ready.str());
  }
  // Seen from a resource that was idle, or from one that ran beside it.
  Time most = ready - start;
  Time left = task.hiding->left(task.duration, Time(), most);
  if (left <= slackAt(ready))
    return Error::success();
  Time needed = most + left;
  for (ResourceId r = 0; r < problem.resources().size(); ++r)
    if (!llvm::is_contained(task.uses, r)) {
      Time busy = busyBetween(problem, solution, r, start, ready);
      left = task.hiding->left(task.duration, busy, most - busy);
      if (left <= slackAt(ready))
        return Error::success();
      needed = std::min(needed, most + left);
    }
  return makeError("task " + llvm::Twine(id) + " is ready at " + ready.str() +
                   ", expected no sooner than " + (start + needed).str());
}

/// A task starts when the last thing that it waits for lets it.
static Error verifyStart(const TaskProblem &problem,
                         const TaskSolution &solution, TaskId id) {
  const TaskProblem::Task &task = problem.tasks()[id];
  Time start = solution.starts[id], latest;
  for (TaskId before : task.after) {
    if (start + slackAt(start) < solution.ready[before])
      return makeError("task " + llvm::Twine(id) + " starts at " + start.str() +
                       ", before task " + llvm::Twine(before) +
                       " that it waits for is ready, at " +
                       solution.ready[before].str());
    latest = std::max(latest, solution.ready[before]);
  }
  for (TaskId other = 0; other < id; ++other) {
    const TaskProblem::Task &t = problem.tasks()[other];
    bool shares = llvm::any_of(task.uses, [&](ResourceId r) {
      return llvm::is_contained(t.uses, r) || llvm::is_contained(t.touches, r);
    });
    if (shares)
      latest = std::max(latest,
                        std::min(start, solution.starts[other] + t.duration));
  }
  if (latest + slackAt(latest) < start)
    return makeError("task " + llvm::Twine(id) + " starts at " + start.str() +
                     ", though it could at " + latest.str());
  return Error::success();
}

Error TaskSolution::verify(const TaskProblem &problem) const {
  if (Error e = problem.check())
    return e;
  size_t count = problem.tasks().size();
  if (starts.size() != count || ready.size() != count)
    return makeError("expected " + llvm::Twine(count) +
                     " starts and times of readiness, found " +
                     llvm::Twine(starts.size()) + " and " +
                     llvm::Twine(ready.size()));
  Time last;
  for (TaskId id = 0; id < count; ++id) {
    if (!(starts[id] >= Time()))
      return makeError("expected task " + llvm::Twine(id) +
                       " to start at zero or later, found " + starts[id].str());
    if (Error e = verifyReady(problem, *this, id))
      return e;
    if (Error e = verifyStart(problem, *this, id))
      return e;
    if (problem.tasks()[id].isAwaited)
      last = std::max(last, ready[id]);
  }
  for (ResourceId r = 0; r < problem.resources().size(); ++r)
    if (Error e = verifyRoom(problem, *this, r))
      return e;
  if (last - slackAt(last) > makespan || makespan - slackAt(makespan) > last)
    return makeError("expected a makespan of " + last.str() + ", found " +
                     makespan.str());
  return Error::success();
}
