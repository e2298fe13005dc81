//===- Solve.cpp - A step's times and memory ------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Step/Solve.h"
#include "Scope.h"
#include "llvm/ADT/STLExtras.h"

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

namespace {
class Solver {
public:
  Solver(const EvaluatedStep &step, const StepPrices &prices)
      : step(step), problem(*step.problem), prices(prices) {}
  Expected<StepSolution> run(std::shared_ptr<const PipelineGraph> graph);
  Expected<Time> runEvents(StepSolution &given);

private:
  Error solvePipeline(std::shared_ptr<const PipelineGraph> graph);
  StepContext context() const { return {step, prices, solution.bodies}; }
  const Span &spanOf(unsigned c, unsigned s) const {
    return solution.segments[c][s].span;
  }
  Error solveScopes();
  Error solveOnce(unsigned c);
  Time besideOf(unsigned c, int kind) const;
  Ratio exposedBeside(unsigned c, const StepSegment &segment,
                      const StepComm &comm, const StepTask &task) const;
  Time transferOf(const StepSegment &segment) const;
  void setPipeline();
  bool isBefore(const DeviceClass &c, unsigned s) const;
  bool waitsForInput(const StepSegment &segment) const;
  void setBefore();
  void setStep();
  Breakdown breakdownOf(unsigned c) const;
  Footprint footprintOf(unsigned c) const;

  const EvaluatedStep &step;
  const StepProblem &problem;
  const StepPrices &prices;
  StepSolution solution;
};
} // namespace

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

/// The compute and exposed communication of the events of a kind in which a
/// class makes what is synchronised meanwhile: those of one micro-batch, of all
/// chunks, since the gradients of a chunk are complete during its last.
Time Solver::besideOf(unsigned c, int kind) const {
  Time time;
  for (auto [s, segment] : llvm::enumerate(problem.classes[c].segments))
    if (segment.kind == kind)
      time += spanOf(c, s).device();
  return time / static_cast<double>(problem.shape.chunks);
}

/// Those of one purpose that run beside events of one kind share what these
/// hide.
Ratio Solver::exposedBeside(unsigned c, const StepSegment &segment,
                            const StepComm &comm, const StepTask &task) const {
  Time all;
  for (const StepOp &op : segment.ops) {
    const StepTask *t = op.task();
    if (!t || t->during != task.during)
      continue;
    const auto *other = std::get_if<StepComm>(&problem.payloads[t->payload]);
    if (other && other->purpose == comm.purpose)
      all += prices.costs[t->payload].device;
  }
  if (all == Time())
    return Ratio::fromBase(1);
  const Hiding &hiding = prices.hiding(comm.purpose, task.origin);
  return hiding.left(all, besideOf(c, task.during), Time()) / all;
}

Error Solver::solveOnce(unsigned c) {
  llvm::ArrayRef<StepSegment> segments = problem.classes[c].segments;
  for (unsigned s = 0; s < segments.size(); ++s) {
    const StepSegment &segment = segments[s];
    if (segment.kind >= 0)
      continue;
    ScopeKind kind;
    kind.runsOnce = true;
    kind.exposedBeside = [&](const StepComm &comm, const StepTask &task) {
      return exposedBeside(c, segment, comm, task);
    };
    Expected<ScopeSolution> solved = solveScope(context(), segment.ops, kind);
    if (!solved)
      return solved.takeError();
    solution.segments[c][s] = std::move(*solved);
  }
  return Error::success();
}

Error Solver::solveScopes() {
  solution.bodies.reserve(problem.bodies.size());
  for (const StepBody &body : problem.bodies) {
    Expected<ScopeSolution> solved = solveBody(context(), body);
    if (!solved)
      return solved.takeError();
    solution.bodies.push_back(std::move(*solved));
  }
  solution.segments.resize(problem.classes.size());
  for (auto [c, deviceClass] : llvm::enumerate(problem.classes)) {
    solution.segments[c].resize(deviceClass.segments.size());
    for (auto [s, segment] : llvm::enumerate(deviceClass.segments)) {
      if (segment.kind < 0)
        continue;
      Expected<ScopeSolution> solved = solveScope(context(), segment.ops, {});
      if (!solved)
        return solved.takeError();
      solution.segments[c][s] = std::move(*solved);
    }
    if (Error e = solveOnce(c))
      return e;
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

/// What the receiver of a segment's transfers waits for once it has ended.
Time Solver::transferOf(const StepSegment &segment) const {
  Time time;
  for (const StepOp &op : segment.ops) {
    const StepTask *task = op.task();
    if (!task)
      continue;
    const auto *comm = std::get_if<StepComm>(&problem.payloads[task->payload]);
    if (comm && isStageTransfer(problem, *comm))
      time += prices.costs[task->payload].device *
              prices.hiding(comm->purpose, task->origin).visible.base();
  }
  return time;
}

void Solver::setPipeline() {
  PipelineProblem &pipeline = solution.pipelineProblem;
  pipeline.shape = step.shape;
  pipeline.order = problem.order;
  pipeline.resize();
  int64_t last = step.shape.virtualStages() - 1;
  for (auto [c, deviceClass] : llvm::enumerate(problem.classes))
    for (auto [s, segment] : llvm::enumerate(deviceClass.segments)) {
      if (segment.kind < 0)
        continue;
      int64_t k = segment.chunk * step.shape.stages + deviceClass.stage;
      pipeline.durations[segment.kind][k] = spanOf(c, s).duration();
      Flow flow = step.shape.kinds[segment.kind].flow;
      if (flow == Flow::Ascending && k < last)
        pipeline.transfers[segment.kind][k] = transferOf(segment);
      if (flow == Flow::Descending && k > 0)
        pipeline.transfers[segment.kind][k - 1] = transferOf(segment);
    }
}

//===----------------------------------------------------------------------===//
// What runs once
//===----------------------------------------------------------------------===//

bool Solver::isBefore(const DeviceClass &c, unsigned s) const {
  return llvm::any_of(llvm::ArrayRef(c.segments).drop_front(s),
                      [](const StepSegment &o) { return o.kind >= 0; });
}

void Solver::setBefore() {
  for (auto [c, deviceClass] : llvm::enumerate(problem.classes)) {
    Time time;
    for (auto [s, segment] : llvm::enumerate(deviceClass.segments))
      if (segment.kind < 0 && isBefore(deviceClass, s))
        time += spanOf(c, s).duration() * static_cast<double>(segment.count);
    solution.before = std::max(solution.before, time);
  }
}

/// After the events the classes go on segment by segment, each once all have
/// done what they wait for in it: clipping needs the norm of all gradients, so
/// that no stage may update before the last has synchronised.
void Solver::setStep() {
  size_t most = 0;
  for (const DeviceClass &c : problem.classes)
    most = std::max(most, c.segments.size());
  std::vector<Time> ends;
  for (const DeviceClass &c : problem.classes) {
    Time end;
    for (unsigned kind = 0; kind < step.shape.numKinds(); ++kind)
      end = std::max(end, solution.lastEnd(c.stage, kind));
    ends.push_back(end);
  }
  solution.step = *llvm::max_element(ends);
  for (size_t s = 0; s < most; ++s) {
    Time synchronised, together;
    bool any = false;
    for (auto [c, deviceClass] : llvm::enumerate(problem.classes)) {
      if (s >= deviceClass.segments.size() ||
          deviceClass.segments[s].kind >= 0 || isBefore(deviceClass, s))
        continue;
      any = true;
      const Span &span = spanOf(c, s);
      double count = static_cast<double>(deviceClass.segments[s].count);
      synchronised = std::max(synchronised, ends[c] + span.exposed * count);
      together = std::max(together, (span.compute + span.host) * count);
    }
    if (!any)
      continue;
    // A class without the segment waits for the others all the same.
    synchronised = std::max(synchronised, solution.step);
    solution.step = synchronised + together;
    llvm::fill(ends, solution.step);
  }
}

/// Whether a segment waits for transfers through a declared resource.
bool Solver::waitsForInput(const StepSegment &segment) const {
  return llvm::any_of(segment.ops, [&](const StepOp &op) {
    const StepTask *task = op.task();
    return task && std::holds_alternative<StepTransfer>(
                       problem.payloads[task->payload]);
  });
}

Breakdown Solver::breakdownOf(unsigned c) const {
  const DeviceClass &deviceClass = problem.classes[c];
  Breakdown breakdown;
  auto exposedOf = [&](const StepSegment &segment) -> Time & {
    return waitsForInput(segment) ? breakdown.input
                                  : breakdown.exposedCommunication;
  };
  for (auto [s, segment] : llvm::enumerate(deviceClass.segments)) {
    if (segment.kind < 0)
      continue;
    const Span &span = spanOf(c, s);
    double count = runsOf(step, segment);
    breakdown.compute += span.compute * count;
    exposedOf(segment) += span.exposed * count;
    breakdown.host += (span.duration() - span.device()) * count;
  }
  Time exposed = solution.pipeline.use[deviceClass.stage].transfer;
  for (auto [s, segment] : llvm::enumerate(deviceClass.segments)) {
    if (segment.kind >= 0)
      continue;
    const Span &span = spanOf(c, s);
    double count = runsOf(step, segment);
    if (waitsForInput(segment))
      breakdown.input += span.exposed * count;
    else
      exposed += span.exposed * count;
    breakdown.optimizer += (span.compute + span.host) * count;
  }
  breakdown.exposedCommunication += exposed;
  breakdown.bubble = std::max(solution.step - breakdown.total(), Time());
  return breakdown;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

namespace {
/// What one segment keeps and needs with a stack's bytes per element.
struct Held {
  Bytes saved, workspace;
};
} // namespace

static Held heldOf(const EvaluatedSpace &space, const StepPrices &prices) {
  Bytes stackSaved =
      prices.perLogit * space.logits + prices.perScore * space.scores;
  stackSaved += prices.perDropped * space.dropped;
  Bytes stackWorkspace = prices.workspace + prices.perWeight * space.weights +
                         prices.perScore * space.layerScores;
  return {space.saved + stackSaved, space.workspace + stackWorkspace};
}

Footprint Solver::footprintOf(unsigned c) const {
  const DeviceClass &deviceClass = problem.classes[c];
  unsigned numKinds = step.shape.numKinds();
  std::vector<Held> held(step.shape.chunks * numKinds);
  std::vector<Bytes> ofChunk(step.shape.chunks);
  Footprint peak;
  Bytes saved;
  auto consider = [&](Bytes workspace) {
    if (peak.activations + peak.workspace < saved + workspace) {
      peak.activations = saved;
      peak.workspace = workspace;
    }
  };
  for (auto [s, segment] : llvm::enumerate(deviceClass.segments))
    if (segment.kind < 0) {
      consider(step.spaces[c][s].workspace);
    } else {
      Held &h = held[segment.chunk * numKinds + segment.kind];
      h = heldOf(step.spaces[c][s], prices);
      ofChunk[segment.chunk] += h.saved;
    }
  for (const StageEvent &event :
       solution.pipeline.graph->sequenceOf(deviceClass.stage)) {
    const Held &h = held[event.chunk * numKinds + event.kind];
    saved += h.saved;
    consider(h.workspace);
    if (event.kind + 1 == numKinds)
      saved -= ofChunk[event.chunk];
  }
  const EvaluatedState &state = step.states[c];
  peak.workspace += state.inputs;
  peak.parameters = state.parameters;
  peak.gradients = state.gradients;
  peak.optimizer = state.optimizer;
  return peak;
}

//===----------------------------------------------------------------------===//
// The step
//===----------------------------------------------------------------------===//

Error Solver::solvePipeline(std::shared_ptr<const PipelineGraph> graph) {
  setPipeline();
  Expected<PipelineSolution> pipeline =
      graph ? dtrain::solve(solution.pipelineProblem, std::move(graph))
            : dtrain::solve(solution.pipelineProblem);
  if (!pipeline)
    return pipeline.takeError();
  solution.pipeline = std::move(*pipeline);
  setBefore();
  setStep();
  return Error::success();
}

Expected<StepSolution> Solver::run(std::shared_ptr<const PipelineGraph> graph) {
  if (Error e = solveScopes())
    return e;
  if (Error e = solvePipeline(std::move(graph)))
    return e;
  for (unsigned c = 0; c < problem.classes.size(); ++c) {
    solution.breakdowns.push_back(breakdownOf(c));
    solution.footprints.push_back(footprintOf(c));
  }
  return std::move(solution);
}

Expected<Time> Solver::runEvents(StepSolution &given) {
  solution = given;
  solution.before = Time();
  if (Error e = solvePipeline(nullptr))
    return e;
  Time time = solution.step;
  solution.step = given.step;
  given = std::move(solution);
  return time;
}

Expected<StepSolution>
dtrain::solve(const EvaluatedStep &step, const StepPrices &prices,
              std::shared_ptr<const PipelineGraph> graph) {
  return Solver(step, prices).run(std::move(graph));
}

Expected<Time> dtrain::solveEvents(const EvaluatedStep &step,
                                   const StepPrices &prices,
                                   StepSolution &solution) {
  return Solver(step, prices).runEvents(solution);
}
