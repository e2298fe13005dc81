//===- Verify.cpp - Problems and solutions --------------------------------===//
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

namespace dtrain {
#define GEN_PASS_DEF_SCHEDULEVERIFY
#include "dtrain/Transforms/Schedule/Passes.h.inc"
} // namespace dtrain

FailureOr<PlanOp> dtrain::findPlan(ModuleOp module) {
  PlanOp plan;
  for (Operation &op : module.getOps()) {
    auto found = dyn_cast<PlanOp>(op);
    if (!found)
      return op.emitOpError("expected only a schedule.plan in the module");
    if (plan)
      return found.emitOpError("expected one plan in the module");
    plan = found;
  }
  if (!plan)
    return module.emitError("expected a schedule.plan, found none");
  return plan;
}

/// Times are sums of many: what two orders of summation may differ by.
static bool isAbout(Time a, Time b) {
  constexpr double kRelativeRounding = 1e-9;
  double scale = std::max(std::abs(a.base()), std::abs(b.base()));
  return std::abs((a - b).base()) <= kRelativeRounding * scale;
}

/// Every op of a scope has a start that respects dependences and lanes.
static LogicalResult verifyScope(Block &scope) {
  ScopeProblem problem = scopeProblem(scope);
  llvm::Expected<LaneSolution> solution = dtrain::solve(problem.lanes);
  if (!solution)
    return scope.getParentOp()->emitError()
           << llvm::toString(solution.takeError());
  DenseMap<Value, Time> ready;
  for (auto [op, id] : llvm::zip_equal(scope.getOperations(), problem.tasks)) {
    auto task = dyn_cast<TaskOp>(op);
    std::optional<AtAttr> at = task ? task.getAt() : cast<CallOp>(op).getAt();
    if (!at)
      return op.emitOpError("expected a start");
    const Interval &interval = at->getValue();
    Time start = interval.start;
    for (Value event : op.getOperands())
      if (start < ready.lookup(event) && !isAbout(start, ready.lookup(event)))
        return op.emitOpError("starts at ")
               << start.str() << ", before what it comes after ends, at "
               << ready.lookup(event).str();
    // Lanes run in order and nothing is put off: the earliest start is the one.
    if (!isAbout(start, solution->starts[id]))
      return op.emitOpError("expected a start at ")
             << solution->starts[id].str() << ", found " << start.str();
    bool isComm = task && task.getComm();
    ready[op.getResult(0)] =
        start + (isComm ? interval.exposed : interval.duration);
  }
  return success();
}

LogicalResult dtrain::verifySolution(PlanOp plan) {
  if (!plan.getAt())
    return plan.emitOpError("expected a solved plan: run schedule-solve first");
  auto hasCosts = [](Block &scope) -> LogicalResult {
    for (auto task : scope.getOps<TaskOp>())
      if (!task.getCost())
        return task.emitOpError("expected a cost");
    return success();
  };
  for (auto body : plan.getContents().getOps<BodyOp>()) {
    if (!body.getSpan())
      return body.emitOpError("expected a span");
    Block &scope = body.getContents().front();
    if (failed(hasCosts(scope)) || failed(verifyScope(scope)))
      return failure();
  }
  for (auto rankClass : plan.getContents().getOps<RankClassOp>()) {
    for (auto segment : rankClass.getContents().getOps<SegmentOp>()) {
      if (!segment.getSpan())
        return segment.emitOpError("expected a span");
      Block &scope = segment.getContents().front();
      if (failed(hasCosts(scope)) || failed(verifyScope(scope)))
        return failure();
    }
    if (!rankClass.getFootprint() || !rankClass.getBreakdown())
      return rankClass.emitOpError("expected a footprint and a breakdown");
    Time total = rankClass.getBreakdown()->getValue().total();
    if (!isAbout(total, plan.getAt()->getValue().duration))
      return rankClass.emitOpError("expected a breakdown that sums to ")
             << plan.getAt()->getValue().duration.str() << ", found "
             << total.str();
  }
  return success();
}

namespace {
struct ScheduleVerify
    : public dtrain::impl::ScheduleVerifyBase<ScheduleVerify> {
  using ScheduleVerifyBase::ScheduleVerifyBase;

  void runOnOperation() override {
    FailureOr<PlanOp> plan = findPlan(getOperation());
    if (failed(plan) || (solution && failed(verifySolution(*plan))))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
