//===- Verify.cpp - Whether a solution is one of its step -----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Checks.h"
#include "Scope.h"
#include "dtrain/Model/Memory/Memory.h"
#include "llvm/ADT/STLExtras.h"

using namespace dtrain;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

/// Times are sums of many: what two orders of summation may differ by.
template <typename Q> static bool isAbout(Q a, Q b) {
  constexpr double kRelativeRounding = 1e-9;
  double scale = std::max(std::abs(a.base()), std::abs(b.base()));
  return std::abs((a - b).base()) <= kRelativeRounding * scale;
}

template <typename Q>
static Error expectAbout(const Twine &what, Q expected, Q found) {
  if (isAbout(expected, found))
    return Error::success();
  return makeError("expected " + what + " of " + expected.str() + ", found " +
                   found.str());
}

namespace {
class Verifier {
public:
  Verifier(const EvaluatedStep &step, const StepPrices &prices,
           const StepSolution &solution)
      : step(step), problem(*step.problem), prices(prices), solution(solution) {
  }
  Error run();

private:
  Error verifyScope(const Twine &name, llvm::ArrayRef<StepOp> ops,
                    const ScopeSolution &scope, bool runsOnce);
  Error verifyFootprint(unsigned c);

  const EvaluatedStep &step;
  const StepProblem &problem;
  const StepPrices &prices;
  const StepSolution &solution;
};
} // namespace

Error Verifier::verifyScope(const Twine &name, llvm::ArrayRef<StepOp> ops,
                            const ScopeSolution &scope, bool runsOnce) {
  StepContext context{step, prices, solution.bodies};
  ScopeKind kind;
  kind.runsOnce = runsOnce;
  // What events leave of a communication is taken from the solution, and
  // tested with the step's time.
  unsigned next = 0;
  kind.exposedBeside = [&](const StepComm &, const StepTask &task) {
    while (ops[next].task() != &task)
      ++next;
    Time duration = scope.ops[next].duration;
    return duration == Time() ? Ratio() : scope.ops[next].ready / duration;
  };
  ScopeProblem scopes = scopeProblem(context, ops, kind);
  TaskSolution tasks;
  for (auto [task, interval] :
       llvm::zip_equal(scopes.tasks.tasks(), scope.ops)) {
    tasks.starts.push_back(interval.start);
    tasks.ready.push_back(interval.start +
                          (task.hiding ? interval.ready : task.duration));
  }
  tasks.makespan = scope.span.device();
  if (Error e = tasks.verify(scopes.tasks))
    return makeError("'" + name + "': " + llvm::toString(std::move(e)));
  if (Error e = expectAbout("compute of '" + name + "'", scopes.sums.compute,
                            scope.span.compute))
    return e;
  return expectAbout("host time of '" + name + "'", scopes.sums.host,
                     scope.span.host);
}

/// What a device holds at its peak, by allocating and releasing.
Error Verifier::verifyFootprint(unsigned c) {
  const DeviceClass &deviceClass = problem.classes[c];
  MemoryPlan plan;
  unsigned numKinds = step.shape.numKinds();
  std::vector<const EvaluatedSpace *> spaces(step.shape.chunks * numKinds);
  Bytes most;
  for (auto [s, segment] : llvm::enumerate(deviceClass.segments))
    if (segment.kind >= 0)
      spaces[segment.chunk * numKinds + segment.kind] = &step.spaces[c][s];
    else
      most = std::max(most, step.spaces[c][s].workspace);
  std::map<std::pair<int64_t, int64_t>, std::vector<MemoryPlan::Allocation>>
      kept;
  const PipelineGraph &graph = *solution.pipeline.graph;
  for (const StageEvent &event : graph.sequenceOf(deviceClass.stage)) {
    const EvaluatedSpace &space = *spaces[event.chunk * numKinds + event.kind];
    auto &mine = kept[{event.chunk, event.microBatch}];
    Bytes saved = space.saved + prices.perLogit * space.logits +
                  prices.perScore * space.scores +
                  prices.perDropped * space.dropped;
    Expected<MemoryPlan::Allocation> allocation =
        plan.allocate(MemoryCategory::Activations, saved);
    if (!allocation)
      return allocation.takeError();
    mine.push_back(*allocation);
    Bytes workspace = space.workspace + prices.workspace +
                      prices.perWeight * space.weights +
                      prices.perScore * space.layerScores;
    Expected<MemoryPlan::Allocation> needed =
        plan.allocate(MemoryCategory::Workspace, workspace);
    if (!needed)
      return needed.takeError();
    if (Error e = plan.release(*needed))
      return e;
    if (event.kind + 1 == numKinds)
      for (MemoryPlan::Allocation a : mine)
        if (Error e = plan.release(a))
          return e;
  }
  const EvaluatedState &state = step.states[c];
  Bytes total = std::max(most, plan.peak().total()) + state.parameters +
                state.gradients + state.optimizer + state.inputs;
  return expectAbout("a footprint of class '" + deviceClass.name + "'", total,
                     solution.peak(c).total());
}

Error Verifier::run() {
  for (auto [body, scope] : llvm::zip_equal(problem.bodies, solution.bodies)) {
    // Of trips that overlap only the first is told.
    if (scope.span.fill == Time())
      if (Error e = verifyScope(body.name, body.ops, scope, false))
        return e;
  }
  for (auto [c, deviceClass] : llvm::enumerate(problem.classes)) {
    for (auto [segment, scope] :
         llvm::zip_equal(deviceClass.segments, solution.segments[c]))
      if (Error e = verifyScope(deviceClass.name + "', '" + segment.name,
                                segment.ops, scope, segment.kind < 0))
        return e;
    if (Error e = expectAbout("a breakdown of class '" + deviceClass.name +
                                  "' that sums to the step,",
                              solution.step, solution.breakdown(c).total()))
      return e;
    if (Error e = verifyFootprint(c))
      return e;
  }
  if (Error e = solution.pipeline.verify(solution.pipelineProblem))
    return e;
  Time events = solution.before + solution.pipeline.makespan;
  if (solution.step < events && !isAbout(solution.step, events))
    return makeError("expected a step of at least " + events.str() +
                     ", which its events take, found " + solution.step.str());
  return Error::success();
}

Error dtrain::verify(const EvaluatedStep &step, const StepPrices &prices,
                     const StepSolution &solution) {
  if (solution.pipeline.graph)
    return Verifier(step, prices, solution).run();
  // Events, and the step's time, follow from the spans that are to be tested.
  StepSolution withEvents = solution;
  Expected<Time> time = solveEvents(step, prices, withEvents);
  if (!time)
    return time.takeError();
  if (Error e = Verifier(step, prices, withEvents).run())
    return e;
  return expectAbout("a step", *time, solution.step);
}
