//===- Scope.cpp - The tasks of a body or a segment -----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scope.h"
#include "llvm/ADT/STLExtras.h"

using namespace dtrain;
using llvm::Expected;

namespace {
/// Builds the problem of one scope. The first resource is the compute stream;
/// communications share the links of the tier that they run over, those inside
/// nodes or the network between them; declared resources are themselves.
class ScopeBuilder {
public:
  ScopeBuilder(const StepContext &context, const ScopeKind &kind)
      : context(context), kind(kind) {
    problem.tasks.addResource("compute");
  }
  void add(llvm::ArrayRef<StepOp> ops);
  /// Adds one trip of a body with tasks that run ahead. Before the first trip,
  /// what it would have found done is done. Returns the task of each op.
  std::vector<TaskId> addTrip(llvm::ArrayRef<StepOp> ops, bool isFirst);
  ScopeProblem problem;

private:
  ResourceId resourceOf(llvm::StringRef name);
  /// Where a communication runs: what crosses nodes is on the network.
  llvm::StringRef tierOf(const StepTask &task) const {
    return context.prices.costs[task.payload].network == Bytes() ? "link"
                                                                 : "network";
  }
  TaskProblem::Task taskOf(const StepTask &task);
  void addComm(const StepComm &comm, const StepTask &task,
               TaskProblem::Task &result);
  TaskProblem::Task callOf(const StepCall &call);
  void touch(llvm::ArrayRef<StepOp> ops, TaskProblem::Task &call);

  const StepContext &context;
  const ScopeKind &kind;
  bool hasHost = false;
  /// Of each op of a trip that runs ahead, those that are not yet needed.
  std::vector<llvm::SmallVector<TaskId, 2>> ahead;
};
} // namespace

ResourceId ScopeBuilder::resourceOf(llvm::StringRef name) {
  for (auto [i, resource] : llvm::enumerate(problem.tasks.resources()))
    if (resource.name == name)
      return i;
  for (const StepResource &resource : context.problem().resources)
    if (resource.name == name)
      return problem.tasks.addResource(name, resource.capacity);
  return problem.tasks.addResource(name);
}

void ScopeBuilder::addComm(const StepComm &comm, const StepTask &task,
                           TaskProblem::Task &result) {
  result.uses.push_back(resourceOf(tierOf(task)));
  result.hiding = context.prices.hiding(comm.purpose, task.origin);
  // Between classes nothing of the scope waits: the pipeline does.
  result.isAwaited = !isStageTransfer(context.problem(), comm);
  if (task.during < 0)
    return;
  // The events hid the rest: here it occupies its links for what they left.
  Ratio exposed =
      kind.exposedBeside ? kind.exposedBeside(comm, task) : Ratio::fromBase(1);
  result.duration *= exposed.base();
  result.hiding = Hiding();
  result.hiding->least = Ratio::fromBase(1);
  result.hiding->hides = Ratio();
}

TaskProblem::Task ScopeBuilder::taskOf(const StepTask &task) {
  const PayloadCost &cost = context.prices.costs[task.payload];
  TaskProblem::Task result;
  result.duration = cost.device;
  const Payload &payload = context.problem().payloads[task.payload];
  Time host = cost.host;
  if (const auto *comm = std::get_if<StepComm>(&payload)) {
    addComm(*comm, task, result);
  } else if (const auto *transfer = std::get_if<StepTransfer>(&payload)) {
    result.uses.push_back(resourceOf(transfer->resource));
    result.hiding = Hiding();
  } else {
    result.uses.push_back(0);
    problem.sums.compute += cost.device;
    if (task.origin == TaskOrigin::Recompute)
      problem.sums.recompute += cost.device;
  }
  // A stack states what all that runs once costs the host.
  if (kind.runsOnce)
    host = std::holds_alternative<StepWork>(payload) && !hasHost
               ? context.prices.optimizerHost
               : Time();
  hasHost |= std::holds_alternative<StepWork>(payload);
  problem.sums.host += host;
  return result;
}

void ScopeBuilder::touch(llvm::ArrayRef<StepOp> ops, TaskProblem::Task &call) {
  for (const StepOp &op : ops) {
    const Payload &payload = context.problem().payloads[op.task()->payload];
    if (std::holds_alternative<StepComm>(payload))
      call.touches.push_back(resourceOf(tierOf(*op.task())));
    if (const auto *transfer = std::get_if<StepTransfer>(&payload))
      call.touches.push_back(resourceOf(transfer->resource));
  }
  llvm::sort(call.touches);
  call.touches.erase(llvm::unique(call.touches), call.touches.end());
}

TaskProblem::Task ScopeBuilder::callOf(const StepCall &call) {
  double times = static_cast<double>(call.times);
  const Span &span = context.bodies[call.body].span;
  problem.sums.compute += span.compute * times;
  problem.sums.recompute += span.recompute * times;
  problem.sums.host += span.host * times;
  TaskProblem::Task result;
  result.uses.push_back(0);
  result.duration = span.device() * times + span.fill;
  touch(context.problem().bodies[call.body].ops, result);
  return result;
}

void ScopeBuilder::add(llvm::ArrayRef<StepOp> ops) {
  for (const StepOp &op : ops) {
    TaskProblem::Task task =
        op.task() ? taskOf(*op.task()) : callOf(*op.call());
    task.after.assign(op.after.begin(), op.after.end());
    problem.tasks.addTask(std::move(task));
  }
}

std::vector<TaskId> ScopeBuilder::addTrip(llvm::ArrayRef<StepOp> ops,
                                          bool isFirst) {
  if (isFirst) {
    ahead.resize(ops.size());
    for (auto [i, op] : llvm::enumerate(ops))
      for (int64_t trip = 0; trip < op.task()->ahead; ++trip)
        ahead[i].push_back(problem.tasks.addTask(taskOf(*op.task())));
  }
  std::vector<TaskId> now;
  for (const StepOp &op : ops) {
    TaskProblem::Task task = taskOf(*op.task());
    // Who needs it is in a later trip.
    task.isAwaited &= op.task()->ahead == 0;
    for (unsigned before : op.after)
      task.after.push_back(ops[before].task()->ahead ? ahead[before].front()
                                                     : now[before]);
    now.push_back(problem.tasks.addTask(std::move(task)));
  }
  for (auto [tasks, done] : llvm::zip_equal(ahead, now))
    if (!tasks.empty()) {
      tasks.push_back(done);
      tasks.erase(tasks.begin());
    }
  return now;
}

bool dtrain::isStageTransfer(const StepProblem &problem, const StepComm &comm) {
  return comm.kind == CollectiveKind::Send && comm.axes.size() == 1 &&
         comm.axes.front() == problem.classAxis;
}

ScopeProblem dtrain::scopeProblem(const StepContext &context,
                                  llvm::ArrayRef<StepOp> ops,
                                  const ScopeKind &kind) {
  ScopeBuilder builder(context, kind);
  builder.add(ops);
  return std::move(builder.problem);
}

/// The intervals of the tasks `ids`.
static std::vector<Interval> intervalsOf(const ScopeProblem &problem,
                                         const TaskSolution &solution,
                                         llvm::ArrayRef<TaskId> ids) {
  std::vector<Interval> intervals;
  intervals.reserve(ids.size());
  for (TaskId id : ids) {
    Time start = solution.starts[id];
    const TaskProblem::Task &task = problem.tasks.tasks()[id];
    intervals.push_back({start, task.duration,
                         task.hiding ? solution.ready[id] - start : Time()});
  }
  return intervals;
}

Expected<ScopeSolution> dtrain::solveScope(const StepContext &context,
                                           llvm::ArrayRef<StepOp> ops,
                                           const ScopeKind &kind) {
  ScopeProblem problem = scopeProblem(context, ops, kind);
  Expected<TaskSolution> solution = solve(problem.tasks);
  if (!solution)
    return solution.takeError();
  ScopeSolution result;
  std::vector<TaskId> ids(ops.size());
  for (TaskId id = 0; id < ids.size(); ++id)
    ids[id] = id;
  result.ops = intervalsOf(problem, *solution, ids);
  for (auto [op, interval] : llvm::zip_equal(ops, result.ops))
    if (op.task() && op.task()->during >= 0)
      interval.duration = context.prices.costs[op.task()->payload].device;
  result.span = problem.sums;
  // Sums in another order may differ by rounding.
  result.span.exposed =
      std::max(solution->makespan - result.span.compute, Time());
  return result;
}

/// A body's trips follow one another at a constant distance once what runs
/// ahead does: its period, found by adding trips until it no longer changes.
static Expected<ScopeSolution> solveTrips(const StepContext &context,
                                          llvm::ArrayRef<StepOp> ops) {
  constexpr int kMostTrips = 256;
  constexpr double kRounding = 1e-12;
  ScopeKind kind;
  ScopeBuilder builder(context, kind);
  ScopeSolution result;
  Time end, period;
  for (int trip = 0; trip < kMostTrips; ++trip) {
    std::vector<TaskId> ids = builder.addTrip(ops, trip == 0);
    Expected<TaskSolution> solution = solve(builder.problem.tasks);
    if (!solution)
      return solution.takeError();
    if (trip == 0)
      result.ops = intervalsOf(builder.problem, *solution, ids);
    Time last = period;
    period = solution->makespan - end;
    end = solution->makespan;
    if (trip < 2 || std::abs((period - last).base()) > kRounding * end.base())
      continue;
    result.span = scopeProblem(context, ops, kind).sums;
    result.span.exposed = std::max(period - result.span.compute, Time());
    result.span.fill = std::max(end - period * (trip + 1.0), Time());
    return result;
  }
  return llvm::createStringError(
      "expected the trips of a repeated layer to take equally long after " +
      llvm::Twine(kMostTrips) + " of them");
}

Expected<ScopeSolution> dtrain::solveBody(const StepContext &context,
                                          const StepBody &body) {
  bool runsAhead = llvm::any_of(
      body.ops, [](const StepOp &op) { return op.task()->ahead > 0; });
  return runsAhead ? solveTrips(context, body.ops)
                   : solveScope(context, body.ops, {});
}
