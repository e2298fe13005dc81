//===- Pipeline.cpp - Micro-batches through pipeline stages ---------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Simulate/Pipeline.h"
#include "../Checks.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

static Error checkDurations(llvm::StringRef what, llvm::ArrayRef<Time> times,
                            int64_t count) {
  if (static_cast<int64_t>(times.size()) != count)
    return makeError("expected " + llvm::Twine(count) + " " + what +
                     " durations, found " + llvm::Twine(times.size()));
  for (Time time : times)
    if (Error e = requireAmount((what + " duration").str(), time))
      return e;
  return Error::success();
}

Error PipelineProblem::check() const {
  for (auto [what, count] : {std::pair{"pipeline stages", shape.stages},
                             {"chunks per stage", shape.chunks},
                             {"micro-batches", shape.microBatches}})
    if (Error e = requireCount(what, count))
      return e;
  // So that counting cannot overflow; far beyond what memory holds.
  constexpr int64_t kMostEvents = int64_t(1) << 25;
  if (shape.stages > kMostEvents / shape.chunks ||
      shape.virtualStages() > kMostEvents / 2 / shape.microBatches)
    return makeError("expected at most " + llvm::Twine(kMostEvents) +
                     " pipeline events, found " + llvm::Twine(shape.stages) +
                     " stages of " + llvm::Twine(shape.chunks) +
                     " chunks with " + llvm::Twine(shape.microBatches) +
                     " micro-batches");
  int64_t count = shape.virtualStages();
  if (Error e = checkDurations("forward", forward, count))
    return e;
  if (Error e = checkDurations("backward", backward, count))
    return e;
  if (Error e = checkDurations("forward transfer", forwardTransfer, count - 1))
    return e;
  if (Error e =
          checkDurations("backward transfer", backwardTransfer, count - 1))
    return e;
  if (!order)
    return makeError("expected a pipeline order, found none");
  return order->check(shape);
}

/// The events of `stage` in the order's sequence. Fails if the order gives two
/// events one place.
static Error placeEvents(const PipelineProblem &problem, int64_t stage,
                         llvm::MutableArrayRef<StageEvent> sequence,
                         std::vector<bool> &taken) {
  const PipelineShape &shape = problem.shape;
  taken.assign(sequence.size(), false);
  for (int64_t chunk = 0; chunk < shape.chunks; ++chunk)
    for (bool backward : {false, true})
      for (int64_t i = 0; i < shape.microBatches; ++i) {
        StageEvent event{i, chunk, backward};
        int64_t place = problem.order->position(shape, stage, event);
        if (place < 0 || place >= static_cast<int64_t>(sequence.size()) ||
            taken[place])
          return makeError("order '" + problem.order->name() +
                           "' is not a total order on stage " +
                           llvm::Twine(stage));
        taken[place] = true;
        sequence[place] = event;
      }
  return Error::success();
}

namespace {
/// What an event waits for: an event of virtual stage `stage`, whose result
/// then travels for `transfer`.
struct Dependence {
  bool any = false;
  int64_t stage = 0;
  StageEvent event;
  Time transfer;
};
} // namespace

static Dependence dependenceOf(const PipelineProblem &problem, int64_t stage,
                               const StageEvent &event) {
  int64_t last = problem.shape.virtualStages() - 1;
  if (!event.backward) {
    if (stage == 0)
      return {};
    return {true, stage - 1, event, problem.forwardTransfer[stage - 1]};
  }
  if (stage == last)
    return {true, stage, {event.microBatch, event.chunk, false}, Time()};
  return {true, stage + 1, event, problem.backwardTransfer[stage]};
}

namespace {
/// Runs the stages, each until it has to wait for an event of another.
class Simulation {
public:
  explicit Simulation(const PipelineProblem &problem)
      : problem(problem), shape(problem.shape),
        perStage(shape.eventsPerStage()), next(shape.stages, 0),
        inFlight(shape.virtualStages(), 0), inFlightOfStage(shape.stages, 0),
        free(shape.stages) {}

  Expected<PipelineSolution> run();

private:
  /// Does the events of `stage` that can start, and wakes whom they feed.
  void advance(int64_t stage);
  /// Books the event and the wait before it.
  void book(int64_t stage, int64_t virtualStage, const StageEvent &event,
            const Dependence &dependence);
  void countInFlight(int64_t stage, int64_t virtualStage, bool backward);
  bool isDone(int64_t virtualStage, const StageEvent &event) const {
    return done[solution.index(virtualStage, event)];
  }

  const PipelineProblem &problem;
  const PipelineShape shape;
  int64_t perStage;
  std::vector<int64_t> next; // place in each stage's sequence
  std::vector<int64_t> inFlight, inFlightOfStage; // now
  std::vector<Time> free;                         // when each stage is
  std::vector<bool> done;
  std::vector<int64_t> runnable; // stages to look at
  PipelineSolution solution;
};
} // namespace

void Simulation::countInFlight(int64_t stage, int64_t virtualStage,
                               bool backward) {
  int64_t change = backward ? -1 : 1;
  inFlight[virtualStage] += change;
  inFlightOfStage[stage] += change;
  solution.inFlight[virtualStage] =
      std::max(solution.inFlight[virtualStage], inFlight[virtualStage]);
  solution.inFlightOfStage[stage] =
      std::max(solution.inFlightOfStage[stage], inFlightOfStage[stage]);
}

void Simulation::book(int64_t stage, int64_t virtualStage,
                      const StageEvent &event, const Dependence &dependence) {
  Time start = free[stage];
  if (dependence.any) {
    Time sent =
        solution.ends[solution.index(dependence.stage, dependence.event)];
    Time arrived = sent + dependence.transfer;
    if (arrived > start) {
      Time departs = std::max(start, sent);
      solution.use[stage].bubble += departs - start;
      solution.use[stage].transfer += arrived - departs;
      start = arrived;
    }
  }
  Time duration =
      (event.backward ? problem.backward : problem.forward)[virtualStage];
  size_t index = solution.index(virtualStage, event);
  solution.starts[index] = start;
  solution.ends[index] = free[stage] = start + duration;
  solution.use[stage].busy += duration;
  done[index] = true;
  countInFlight(stage, virtualStage, event.backward);
}

void Simulation::advance(int64_t stage) {
  for (; next[stage] < perStage; ++next[stage]) {
    const StageEvent &event = solution.sequence[stage * perStage + next[stage]];
    int64_t virtualStage = event.chunk * shape.stages + stage;
    Dependence dependence = dependenceOf(problem, virtualStage, event);
    if (dependence.any && !isDone(dependence.stage, dependence.event))
      return;
    book(stage, virtualStage, event, dependence);
    // The next virtual stage may be waiting for exactly this.
    int64_t fed = event.backward ? virtualStage - 1 : virtualStage + 1;
    if (fed >= 0 && fed < shape.virtualStages() && fed % shape.stages != stage)
      runnable.push_back(fed % shape.stages);
  }
}

Expected<PipelineSolution> Simulation::run() {
  size_t events = shape.stages * perStage;
  solution.shape = shape;
  solution.sequence.resize(events);
  solution.starts.resize(events);
  solution.ends.resize(events);
  solution.use.resize(shape.stages);
  solution.inFlight.assign(shape.virtualStages(), 0);
  solution.inFlightOfStage.assign(shape.stages, 0);
  done.assign(events, false);
  std::vector<bool> taken;
  for (int64_t stage = 0; stage < shape.stages; ++stage) {
    if (Error e = placeEvents(problem, stage,
                              llvm::MutableArrayRef(solution.sequence)
                                  .slice(stage * perStage, perStage),
                              taken))
      return e;
    runnable.push_back(shape.stages - 1 - stage);
  }
  while (!runnable.empty()) {
    int64_t stage = runnable.back();
    runnable.pop_back();
    advance(stage);
  }
  for (int64_t stage = 0; stage < shape.stages; ++stage)
    if (next[stage] != perStage)
      return makeError("order '" + problem.order->name() +
                       "' lets stages wait for one another: stage " +
                       llvm::Twine(stage) + " stops after " +
                       llvm::Twine(next[stage]) + " of " +
                       llvm::Twine(perStage) + " events");
  solution.makespan = *llvm::max_element(free);
  for (int64_t stage = 0; stage < shape.stages; ++stage)
    solution.use[stage].bubble += solution.makespan - free[stage];
  return std::move(solution);
}

Expected<PipelineSolution> dtrain::solve(const PipelineProblem &problem) {
  if (Error e = problem.check())
    return e;
  return Simulation(problem).run();
}

/// An event for messages: "backward of micro-batch 3 on virtual stage 5".
static std::string describe(int64_t virtualStage, const StageEvent &event) {
  return llvm::formatv("{0} of micro-batch {1} on virtual stage {2}",
                       event.backward ? "backward" : "forward",
                       event.microBatch, virtualStage);
}

Error PipelineSolution::verify(const PipelineProblem &problem) const {
  if (Error e = problem.check())
    return e;
  const PipelineShape &s = problem.shape;
  size_t events = s.stages * s.eventsPerStage();
  if (shape.stages != s.stages || shape.chunks != s.chunks ||
      shape.microBatches != s.microBatches || starts.size() != events ||
      ends.size() != events)
    return makeError("expected " + llvm::Twine(events) +
                     " starts and ends of the problem's shape, found " +
                     llvm::Twine(starts.size()) + " and " +
                     llvm::Twine(ends.size()));
  std::vector<StageEvent> sequence(s.eventsPerStage());
  std::vector<bool> taken;
  Time last;
  for (int64_t stage = 0; stage < s.stages; ++stage) {
    if (Error e = placeEvents(problem, stage, sequence, taken))
      return e;
    Time free;
    for (const StageEvent &event : sequence) {
      int64_t virtualStage = event.chunk * s.stages + stage;
      size_t i = index(virtualStage, event);
      if (!(starts[i] >= free))
        return makeError(describe(virtualStage, event) + " starts at " +
                         starts[i].str() +
                         ", before what must happen before it on its stage "
                         "ends, at " +
                         free.str());
      Time duration =
          (event.backward ? problem.backward : problem.forward)[virtualStage];
      if (ends[i] != starts[i] + duration)
        return makeError(describe(virtualStage, event) + " ends at " +
                         ends[i].str() + ", expected " +
                         (starts[i] + duration).str());
      Dependence d = dependenceOf(problem, virtualStage, event);
      if (d.any && starts[i] < ends[index(d.stage, d.event)] + d.transfer)
        return makeError(describe(virtualStage, event) + " starts at " +
                         starts[i].str() + ", before " +
                         describe(d.stage, d.event) + " has arrived");
      free = ends[i];
    }
    last = std::max(last, free);
  }
  if (last != makespan)
    return makeError("expected a makespan of " + last.str() + ", found " +
                     makespan.str());
  return Error::success();
}
