//===- Solve.cpp - Start every task ---------------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Translate.h"
#include "dtrain/IR/Target/Target.h"
#include "dtrain/Transforms/Schedule/Passes.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::schedule;
using llvm::Expected;

namespace dtrain {
#define GEN_PASS_DEF_SCHEDULESOLVE
#include "dtrain/Transforms/Schedule/Passes.h.inc"
} // namespace dtrain

static LogicalResult solvePlan(PlanOp plan) {
  FailureOr<std::unique_ptr<PricedPlan>> priced = readPricedPlan(plan);
  if (failed(priced))
    return failure();
  Expected<StepSolution> solution =
      dtrain::solve((*priced)->step, (*priced)->prices);
  if (!solution)
    return plan.emitError() << llvm::toString(solution.takeError());
  setSolution(plan, *solution);
  return success();
}

namespace {
struct ScheduleSolve : public dtrain::impl::ScheduleSolveBase<ScheduleSolve> {
  using ScheduleSolveBase::ScheduleSolveBase;

  void runOnOperation() override {
    FailureOr<PlanOp> plan = findPlan(getOperation());
    if (failed(plan) || failed(solvePlan(*plan)))
      return signalPassFailure();
    setPhase(getOperation(), Phase::solve);
  }
};
} // namespace
