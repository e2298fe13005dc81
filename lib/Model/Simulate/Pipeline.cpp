//===- Pipeline.cpp - Micro-batches through pipeline stages ---------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Simulate/Pipeline.h"
#include "../Checks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <algorithm>

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

llvm::StringRef dtrain::stringifyFlow(Flow flow) {
  switch (flow) {
  case Flow::Ascending:
    return "ascending";
  case Flow::Descending:
    return "descending";
  case Flow::Local:
    return "local";
  }
  llvm_unreachable("covered switch");
}

EventKinds dtrain::forwardAndBackward() {
  return {{"forward", Flow::Ascending, /*returns=*/false, /*after=*/-1},
          {"backward", Flow::Descending, /*returns=*/true, /*after=*/0}};
}

int64_t PipelineShape::numOutward() const {
  return llvm::count_if(kinds, [](const EventKind &k) { return !k.returns; });
}

Error dtrain::checkKinds(llvm::ArrayRef<EventKind> kinds) {
  if (kinds.empty())
    return makeError("expected at least one kind of event, found none");
  llvm::StringSet<> names;
  bool returns = false;
  for (auto [i, kind] : llvm::enumerate(kinds)) {
    if (!names.insert(kind.name).second)
      return makeError("expected kinds of event with names of their own, found "
                       "'" +
                       kind.name + "' twice");
    if (kind.after >= static_cast<int64_t>(i) || kind.after < -1)
      return makeError("expected '" + kind.name +
                       "' to come after an earlier kind of event");
    if (returns && !kind.returns)
      return makeError("expected '" + kind.name +
                       "' before the kinds of event on the way back");
    returns = kind.returns;
  }
  return Error::success();
}

static Error checkDurations(llvm::StringRef what, llvm::ArrayRef<Time> times,
                            int64_t count) {
  if (static_cast<int64_t>(times.size()) != count)
    return makeError("expected " + llvm::Twine(count) + " " + what +
                     " durations, found " + llvm::Twine(times.size()));
  for (Time time : times)
    if (!(time.base() >= 0 && std::isfinite(time.base())))
      return requireAmount((what + " duration").str(), time);
  return Error::success();
}

static Error checkShape(const PipelineShape &shape) {
  for (auto [what, count] : {std::pair{"pipeline stages", shape.stages},
                             {"chunks per stage", shape.chunks},
                             {"micro-batches", shape.microBatches}})
    if (Error e = requireCount(what, count))
      return e;
  if (Error e = checkKinds(shape.kinds))
    return e;
  // So that counting cannot overflow; far beyond what memory holds.
  constexpr int64_t kMostEvents = int64_t(1) << 25;
  if (shape.stages > kMostEvents / shape.chunks ||
      shape.virtualStages() >
          kMostEvents / shape.numKinds() / shape.microBatches)
    return makeError("expected at most " + llvm::Twine(kMostEvents) +
                     " pipeline events, found " + llvm::Twine(shape.stages) +
                     " stages of " + llvm::Twine(shape.chunks) +
                     " chunks with " + llvm::Twine(shape.microBatches) +
                     " micro-batches");
  return Error::success();
}

static int64_t numBoundaries(const PipelineShape &shape, const EventKind &k) {
  return k.flow == Flow::Local ? 0 : shape.virtualStages() - 1;
}

void PipelineProblem::resize() {
  durations.assign(shape.numKinds(), std::vector<Time>(shape.virtualStages()));
  transfers.clear();
  for (const EventKind &kind : shape.kinds)
    transfers.emplace_back(numBoundaries(shape, kind));
}

Error PipelineProblem::check() const {
  if (Error e = checkShape(shape))
    return e;
  if (static_cast<int64_t>(durations.size()) != shape.numKinds() ||
      static_cast<int64_t>(transfers.size()) != shape.numKinds())
    return makeError(
        "expected durations and transfers of " + llvm::Twine(shape.numKinds()) +
        " kinds of event, found those of " + llvm::Twine(durations.size()) +
        " and " + llvm::Twine(transfers.size()));
  for (auto [i, kind] : llvm::enumerate(shape.kinds)) {
    if (Error e =
            checkDurations(kind.name, durations[i], shape.virtualStages()))
      return e;
    if (Error e = checkDurations(kind.name + " transfer", transfers[i],
                                 numBoundaries(shape, kind)))
      return e;
  }
  if (!order)
    return makeError("expected a pipeline order, found none");
  return order->check(shape);
}

/// The events of `stage` in the order's sequence. Fails if the order gives two
/// events one place.
static Error placeEvents(const PipelineShape &shape, const PipelineOrder &order,
                         int64_t stage,
                         llvm::MutableArrayRef<StageEvent> sequence,
                         std::vector<bool> &taken) {
  taken.assign(sequence.size(), false);
  for (int64_t chunk = 0; chunk < shape.chunks; ++chunk)
    for (unsigned kind = 0; kind < shape.numKinds(); ++kind)
      for (int64_t i = 0; i < shape.microBatches; ++i) {
        StageEvent event{i, chunk, kind};
        int64_t place = order.position(shape, stage, event);
        if (place < 0 || place >= static_cast<int64_t>(sequence.size()) ||
            taken[place])
          return makeError("order '" + order.name() +
                           "' is not a total order on stage " +
                           llvm::Twine(stage));
        taken[place] = true;
        sequence[place] = event;
      }
  return Error::success();
}

/// The virtual stage whose event of the same kind one on `virtualStage` waits
/// for; -1 for none.
static int64_t flowsFrom(const PipelineShape &shape, const EventKind &kind,
                         int64_t virtualStage) {
  if (kind.flow == Flow::Ascending)
    return virtualStage - 1;
  if (kind.flow == Flow::Descending && virtualStage + 1 < shape.virtualStages())
    return virtualStage + 1;
  return -1;
}

/// The boundary that such an event's input crosses.
static int64_t boundaryBefore(const EventKind &kind, int64_t virtualStage) {
  return kind.flow == Flow::Ascending ? virtualStage - 1 : virtualStage;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

namespace dtrain {
/// Runs the stages, each until it has to wait for an event of another.
class GraphBuilder {
public:
  GraphBuilder(PipelineGraph &graph, const PipelineOrder &order)
      : graph(graph), order(order), shape(graph.theShape),
        perStage(shape.eventsPerStage()), next(shape.stages, 0) {}
  Error run();

private:
  /// Does the events of `stage` that can start, and wakes whom they feed.
  void advance(int64_t stage);

  PipelineGraph &graph;
  const PipelineOrder &order;
  const PipelineShape &shape;
  int64_t perStage;
  std::vector<int64_t> next; // place in each stage's sequence
  std::vector<bool> done;
  std::vector<int64_t> runnable; // stages to look at
};
} // namespace dtrain

void GraphBuilder::advance(int64_t stage) {
  for (; next[stage] < perStage; ++next[stage]) {
    const StageEvent &event = graph.sequence[stage * perStage + next[stage]];
    const EventKind &kind = shape.kinds[event.kind];
    int64_t k = event.chunk * shape.stages + stage;
    PipelineGraph::Node node{};
    node.index = graph.index(k, event);
    node.flow = node.after = -1;
    if (int64_t from = flowsFrom(shape, kind, k); from >= 0)
      node.flow = graph.index(from, event);
    if (kind.after >= 0)
      node.after =
          graph.index(k, {event.microBatch, event.chunk, unsigned(kind.after)});
    if ((node.flow >= 0 && !done[node.flow]) ||
        (node.after >= 0 && !done[node.after]))
      return;
    node.virtualStage = k;
    node.stage = stage;
    node.kind = event.kind;
    graph.nodes.push_back(node);
    done[node.index] = true;
    // The next virtual stage may be waiting for exactly this.
    int64_t fed = kind.flow == Flow::Ascending    ? k + 1
                  : kind.flow == Flow::Descending ? k - 1
                                                  : -1;
    if (fed >= 0 && fed < shape.virtualStages() && fed % shape.stages != stage)
      runnable.push_back(fed % shape.stages);
  }
}

Error GraphBuilder::run() {
  size_t events = shape.stages * perStage;
  graph.sequence.resize(events);
  graph.nodes.reserve(events);
  done.assign(events, false);
  std::vector<bool> taken;
  for (int64_t stage = 0; stage < shape.stages; ++stage) {
    if (Error e = placeEvents(shape, order, stage,
                              llvm::MutableArrayRef(graph.sequence)
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
      return makeError("order '" + order.name() +
                       "' lets stages wait for one another: stage " +
                       llvm::Twine(stage) + " stops after " +
                       llvm::Twine(next[stage]) + " of " +
                       llvm::Twine(perStage) + " events");
  return Error::success();
}

Expected<std::shared_ptr<const PipelineGraph>>
PipelineGraph::get(const PipelineShape &shape, const PipelineOrder &order) {
  if (Error e = checkShape(shape))
    return e;
  if (Error e = order.check(shape))
    return e;
  auto graph = std::make_shared<PipelineGraph>();
  graph->theShape = shape;
  if (Error e = GraphBuilder(*graph, order).run())
    return e;
  return graph;
}

//===----------------------------------------------------------------------===//
// Solutions
//===----------------------------------------------------------------------===//

namespace dtrain {
/// Starts the events of a graph.
class Simulation {
public:
  Simulation(const PipelineProblem &problem,
             std::shared_ptr<const PipelineGraph> graph)
      : problem(problem), free(problem.shape.stages) {
    solution.graph = std::move(graph);
    solution.starts.resize(solution.graph->nodes.size());
    solution.ends.resize(solution.graph->nodes.size());
    solution.use.resize(problem.shape.stages);
  }
  PipelineSolution run();

private:
  /// Books an event and the wait before it.
  void book(const PipelineGraph::Node &node);

  const PipelineProblem &problem;
  std::vector<Time> free; // when each stage is
  PipelineSolution solution;
};
} // namespace dtrain

void Simulation::book(const PipelineGraph::Node &node) {
  Time start = free[node.stage];
  StageUse &use = solution.use[node.stage];
  auto waitFor = [&](Time sent, Time arrived) {
    if (arrived > start) {
      Time departs = std::max(start, sent);
      use.bubble += departs - start;
      use.transfer += arrived - departs;
      start = arrived;
    }
  };
  if (node.after >= 0)
    waitFor(solution.ends[node.after], solution.ends[node.after]);
  if (node.flow >= 0) {
    Time sent = solution.ends[node.flow];
    int64_t boundary =
        boundaryBefore(problem.shape.kinds[node.kind], node.virtualStage);
    waitFor(sent, sent + problem.transfers[node.kind][boundary]);
  }
  Time duration = problem.durations[node.kind][node.virtualStage];
  solution.starts[node.index] = start;
  solution.ends[node.index] = free[node.stage] = start + duration;
  use.busy += duration;
}

PipelineSolution Simulation::run() {
  for (const PipelineGraph::Node &node : solution.graph->nodes)
    book(node);
  solution.makespan = *llvm::max_element(free);
  for (auto [use, end] : llvm::zip_equal(solution.use, free))
    use.bubble += solution.makespan - end;
  return std::move(solution);
}

Expected<PipelineSolution>
dtrain::solve(const PipelineProblem &problem,
              std::shared_ptr<const PipelineGraph> graph) {
  if (Error e = problem.check())
    return e;
  return Simulation(problem, std::move(graph)).run();
}

Expected<PipelineSolution> dtrain::solve(const PipelineProblem &problem) {
  if (Error e = problem.check())
    return e;
  auto graph = PipelineGraph::get(problem.shape, *problem.order);
  if (!graph)
    return graph.takeError();
  return solve(problem, std::move(*graph));
}

Time PipelineSolution::lastEnd(int64_t stage, unsigned kind) const {
  const PipelineShape &shape = graph->shape();
  Time end;
  for (int64_t chunk = 0; chunk < shape.chunks; ++chunk)
    for (int64_t i = 0; i < shape.microBatches; ++i)
      end = std::max(
          end, ends[index(chunk * shape.stages + stage, {i, chunk, kind})]);
  return end;
}

/// The most events of the first kind that are not followed by theirs of the
/// last, of those that `counts` takes, as the stage's sequence goes.
template <typename F>
static int64_t mostInFlight(const PipelineGraph &graph, int64_t stage,
                            F counts) {
  unsigned last = graph.shape().numKinds() - 1;
  int64_t now = 0, most = 0;
  for (const StageEvent &event : graph.sequenceOf(stage))
    if (counts(event)) {
      now += event.kind == 0;
      most = std::max(most, now);
      now -= event.kind == last;
    }
  return most;
}

int64_t PipelineSolution::inFlight(int64_t virtualStage) const {
  int64_t stages = graph->shape().stages;
  return mostInFlight(*graph, virtualStage % stages, [&](const StageEvent &e) {
    return e.chunk == virtualStage / stages;
  });
}

int64_t PipelineSolution::inFlightOfStage(int64_t stage) const {
  return mostInFlight(*graph, stage, [](const StageEvent &) { return true; });
}

/// An event for messages: "backward of micro-batch 3 on virtual stage 5".
static std::string describe(const PipelineShape &shape, int64_t virtualStage,
                            const StageEvent &event) {
  return llvm::formatv("{0} of micro-batch {1} on virtual stage {2}",
                       shape.kinds[event.kind].name, event.microBatch,
                       virtualStage);
}

/// One event starts after what it waits for, and takes as long as it should.
static Error verifyEvent(const PipelineProblem &problem,
                         const PipelineSolution &solution, int64_t k,
                         const StageEvent &event, Time free) {
  const PipelineShape &shape = problem.shape;
  const EventKind &kind = shape.kinds[event.kind];
  size_t i = solution.index(k, event);
  Time start = solution.starts[i], end = solution.ends[i];
  auto says = [&](const llvm::Twine &what) {
    return makeError(describe(shape, k, event) + what);
  };
  if (!(start >= free))
    return says(" starts at " + start.str() +
                ", before what must happen before it on its stage ends, at " +
                free.str());
  Time duration = problem.durations[event.kind][k];
  if (end != start + duration)
    return says(" ends at " + end.str() + ", expected " +
                (start + duration).str());
  if (int64_t from = flowsFrom(shape, kind, k); from >= 0)
    if (start < solution.ends[solution.index(from, event)] +
                    problem.transfers[event.kind][boundaryBefore(kind, k)])
      return says(" starts at " + start.str() + ", before " +
                  describe(shape, from, event) + " has arrived");
  if (kind.after >= 0) {
    StageEvent before{event.microBatch, event.chunk, unsigned(kind.after)};
    if (start < solution.ends[solution.index(k, before)])
      return says(" starts at " + start.str() + ", before " +
                  describe(shape, k, before) + " has ended");
  }
  return Error::success();
}

Error PipelineSolution::verify(const PipelineProblem &problem) const {
  if (Error e = problem.check())
    return e;
  const PipelineShape &s = problem.shape;
  size_t events = s.stages * s.eventsPerStage();
  bool isOfShape = graph && graph->shape().stages == s.stages &&
                   graph->shape().chunks == s.chunks &&
                   graph->shape().microBatches == s.microBatches &&
                   graph->shape().kinds == s.kinds;
  if (!isOfShape || starts.size() != events || ends.size() != events)
    return makeError("expected " + llvm::Twine(events) +
                     " starts and ends of the problem's shape, found " +
                     llvm::Twine(starts.size()) + " and " +
                     llvm::Twine(ends.size()));
  std::vector<StageEvent> sequence(s.eventsPerStage());
  std::vector<bool> taken;
  Time last;
  for (int64_t stage = 0; stage < s.stages; ++stage) {
    if (Error e = placeEvents(s, *problem.order, stage, sequence, taken))
      return e;
    Time free;
    for (const StageEvent &event : sequence) {
      int64_t k = event.chunk * s.stages + stage;
      if (Error e = verifyEvent(problem, *this, k, event, free))
        return e;
      free = ends[index(k, event)];
    }
    last = std::max(last, free);
  }
  if (last != makespan)
    return makeError("expected a makespan of " + last.str() + ", found " +
                     makespan.str());
  return Error::success();
}
