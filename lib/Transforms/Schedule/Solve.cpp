//===- Solve.cpp - Start every task ---------------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Problems.h"
#include "dtrain/IR/Target/Target.h"
#include "dtrain/Transforms/Schedule/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::schedule;
using llvm::Expected;

namespace dtrain {
#define GEN_PASS_DEF_SCHEDULESOLVE
#include "dtrain/Transforms/Schedule/Passes.h.inc"
} // namespace dtrain

namespace {

class Solver {
public:
  explicit Solver(PlanOp plan) : plan(plan), context(plan.getContext()) {}
  LogicalResult solve();

private:
  /// Starts the tasks of a scope, and says where its time goes.
  FailureOr<Span> solveScope(Block &scope);
  LogicalResult solveScopes();
  void setBreakdown(RankClassOp rankClass, const StageUse &use, Time step);
  void setFootprint(RankClassOp rankClass, ArrayRef<StageEvent> events);
  /// Gradient synchronisation of a class, then its update.
  static Time syncOf(SegmentOp tail) {
    return tail ? tail.getSpan()->getValue().exposed : Time();
  }
  static Time updateOf(SegmentOp tail) {
    if (!tail)
      return Time();
    const Span &span = tail.getSpan()->getValue();
    return span.compute + span.host;
  }

  PlanOp plan;
  MLIRContext *context;
};
} // namespace

FailureOr<Span> Solver::solveScope(Block &scope) {
  ScopeProblem problem = scopeProblem(scope);
  Expected<LaneSolution> solution = dtrain::solve(problem.lanes);
  if (!solution)
    return scope.getParentOp()->emitError()
           << llvm::toString(solution.takeError());
  ArrayRef<LaneProblem::Task> tasks = problem.lanes.tasks();
  Time end;
  for (TaskId id : problem.visible)
    end = std::max(end, solution->starts[id] + tasks[id].duration);
  for (auto [op, id] : llvm::zip_equal(scope.getOperations(), problem.tasks)) {
    Interval at{solution->starts[id], tasks[id].duration, Time()};
    if (auto call = dyn_cast<CallOp>(op)) {
      call.setAtAttr(AtAttr::get(context, at));
      continue;
    }
    auto task = cast<TaskOp>(op);
    at.duration = task.getCost()->getValue().device;
    if (task.getComm())
      at.exposed = task.getCost()->getValue().exposed;
    task.setAtAttr(AtAttr::get(context, at));
  }
  Span span = problem.sums;
  // Sums in another order may differ by rounding.
  span.exposed = std::max(end - span.compute, Time());
  return span;
}

LogicalResult Solver::solveScopes() {
  for (auto body : plan.getContents().getOps<BodyOp>()) {
    FailureOr<Span> span = solveScope(body.getContents().front());
    if (failed(span))
      return failure();
    body.setSpanAttr(SpanAttr::get(context, *span));
  }
  for (auto rankClass : plan.getContents().getOps<RankClassOp>())
    for (auto segment : rankClass.getContents().getOps<SegmentOp>()) {
      FailureOr<Span> span = solveScope(segment.getContents().front());
      if (failed(span))
        return failure();
      segment.setSpanAttr(SpanAttr::get(context, *span));
    }
  return success();
}

void Solver::setBreakdown(RankClassOp rankClass, const StageUse &use,
                          Time step) {
  double count = plan.getMicroBatches();
  Breakdown breakdown;
  for (SegmentOp segment : segmentsOf(rankClass)) {
    const Span &span = segment.getSpan()->getValue();
    breakdown.compute += span.compute * count;
    breakdown.exposedCommunication += span.exposed * count;
    breakdown.host += (span.duration() - span.device()) * count;
  }
  SegmentOp tail = tailOf(rankClass);
  breakdown.exposedCommunication += use.transfer + syncOf(tail);
  breakdown.optimizer = updateOf(tail);
  breakdown.bubble = std::max(step - breakdown.total(), Time());
  rankClass.setBreakdownAttr(BreakdownAttr::get(context, breakdown));
}

void Solver::setFootprint(RankClassOp rankClass, ArrayRef<StageEvent> events) {
  SmallVector<Space> spaces =
      llvm::map_to_vector(segmentsOf(rankClass),
                          [](SegmentOp s) { return s.getSpace().getValue(); });
  const State &state = rankClass.getState().getValue();
  Footprint peak;
  Bytes saved;
  auto consider = [&](Bytes workspace) {
    if (peak.activations + peak.workspace < saved + workspace) {
      peak.activations = saved;
      peak.workspace = workspace;
    }
  };
  for (const StageEvent &event : events) {
    const Space &space = spaces[2 * event.chunk + event.backward];
    const Space &kept = spaces[2 * event.chunk];
    if (!event.backward)
      saved += kept.saved + kept.stackSaved;
    consider(space.workspace + space.stackWorkspace);
    if (event.backward)
      saved -= kept.saved + kept.stackSaved;
  }
  if (SegmentOp tail = tailOf(rankClass)) {
    saved = Bytes();
    consider(tail.getSpace().getValue().workspace);
  }
  peak.workspace += state.inputs;
  peak.parameters = state.parameters;
  peak.gradients = state.gradients;
  peak.optimizer = state.optimizer;
  rankClass.setFootprintAttr(FootprintAttr::get(context, peak));
}

LogicalResult Solver::solve() {
  for (Operation &op : plan.getContents().getOps())
    if (WalkResult result = op.walk([](TaskOp task) {
          return task.getCost() ? WalkResult::advance()
                                : WalkResult::interrupt();
        });
        result.wasInterrupted())
      return plan.emitError("expected a cost of every task: run "
                            "schedule-assign-durations first");
  if (failed(solveScopes()))
    return failure();
  PipelineProblem pipeline = pipelineProblem(plan);
  Expected<PipelineSolution> solution = dtrain::solve(pipeline);
  if (!solution)
    return plan.emitError() << llvm::toString(solution.takeError());
  // All classes update together, once every class has its gradients.
  Time synchronised, update;
  for (auto rankClass : plan.getContents().getOps<RankClassOp>()) {
    Time end;
    int64_t stage = rankClass.getStage();
    for (int64_t chunk = 0; chunk < pipeline.shape.chunks; ++chunk)
      for (int64_t i = 0; i < pipeline.shape.microBatches; ++i)
        end = std::max(end, solution->ends[solution->index(
                                chunk * pipeline.shape.stages + stage,
                                {i, chunk, /*backward=*/true})]);
    SegmentOp tail = tailOf(rankClass);
    synchronised = std::max(synchronised, end + syncOf(tail));
    update = std::max(update, updateOf(tail));
  }
  Time step = synchronised + update;
  for (auto rankClass : plan.getContents().getOps<RankClassOp>()) {
    setBreakdown(rankClass, solution->use[rankClass.getStage()], step);
    setFootprint(rankClass, solution->sequenceOf(rankClass.getStage()));
  }
  plan.setAtAttr(AtAttr::get(context, Interval{Time(), step, Time()}));
  return success();
}

namespace {
struct ScheduleSolve : public dtrain::impl::ScheduleSolveBase<ScheduleSolve> {
  using ScheduleSolveBase::ScheduleSolveBase;

  void runOnOperation() override {
    FailureOr<PlanOp> plan = findPlan(getOperation());
    if (failed(plan) || failed(Solver(*plan).solve()))
      return signalPassFailure();
    setPhase(getOperation(), Phase::solve);
  }
};
} // namespace
