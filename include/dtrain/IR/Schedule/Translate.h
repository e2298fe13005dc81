//===- Translate.h - Between a plan and the step it is ----------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A `schedule.plan` is the text form of a StepProblem, of its prices and of
/// its solution. Ops, bodies, classes and segments keep their order.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_IR_SCHEDULE_TRANSLATE_H
#define DTRAIN_IR_SCHEDULE_TRANSLATE_H

#include "dtrain/IR/Schedule/Schedule.h"

namespace dtrain {
namespace schedule {

/// The problem of a plan. Tasks with equal payloads and costs share one. Errors
/// are those of StepProblem::check, at the plan.
mlir::FailureOr<StepProblem> toStep(PlanOp plan);

/// The first task of a payload.
TaskOp taskOf(PlanOp plan, const StepProblem &problem, unsigned payload);

/// The prices of a plan whose tasks have costs; an error at the first that has
/// none.
mlir::FailureOr<StepPrices> pricesOf(PlanOp plan, const StepProblem &problem);
/// Writes costs and figures.
void setPrices(PlanOp plan, const StepProblem &problem,
               const StepPrices &prices);

/// A plan whose tasks have costs, under its own scale, for what needs no
/// machine. `step` refers to `problem`.
struct PricedPlan {
  StepProblem problem;
  EvaluatedStep step;
  StepPrices prices;
};
/// Errors are those of `toStep` and `pricesOf`, diagnosed.
mlir::FailureOr<std::unique_ptr<PricedPlan>> readPricedPlan(PlanOp plan);

/// Writes starts, spans, footprints, breakdowns and the step's interval.
void setSolution(PlanOp plan, const StepSolution &solution);
/// The solution as the plan states it, without its pipeline's events. All
/// starts, spans and totals are there.
StepSolution solutionOf(PlanOp plan);

} // namespace schedule
} // namespace dtrain

#endif // DTRAIN_IR_SCHEDULE_TRANSLATE_H
