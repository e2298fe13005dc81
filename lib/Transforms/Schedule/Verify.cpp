//===- Verify.cpp - Problems and solutions --------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Translate.h"
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

/// A plan without a start, a span or a total somewhere.
static LogicalResult expectSolved(PlanOp plan) {
  if (!plan.getAt())
    return plan.emitOpError("expected a solved plan: run schedule-solve first");
  LogicalResult result = success();
  plan.walk([&](Operation *op) {
    auto expect = [&](bool has, StringRef what) {
      if (!has && succeeded(result))
        result = op->emitOpError("expected ") << what;
    };
    if (auto task = dyn_cast<TaskOp>(op)) {
      expect(bool(task.getCost()), "a cost");
      expect(bool(task.getAt()), "a start");
    } else if (auto call = dyn_cast<CallOp>(op)) {
      expect(bool(call.getAt()), "a start");
    } else if (auto body = dyn_cast<BodyOp>(op)) {
      expect(bool(body.getSpan()), "a span");
    } else if (auto segment = dyn_cast<SegmentOp>(op)) {
      expect(bool(segment.getSpan()), "a span");
    } else if (auto rankClass = dyn_cast<RankClassOp>(op)) {
      expect(rankClass.getFootprint() && rankClass.getBreakdown(),
             "a footprint and a breakdown");
    }
  });
  return result;
}

LogicalResult dtrain::verifySolution(PlanOp plan) {
  if (failed(expectSolved(plan)))
    return failure();
  FailureOr<std::unique_ptr<PricedPlan>> priced = readPricedPlan(plan);
  if (failed(priced))
    return failure();
  if (llvm::Error error =
          verify((*priced)->step, (*priced)->prices, solutionOf(plan)))
    return plan.emitOpError() << llvm::toString(std::move(error));
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
