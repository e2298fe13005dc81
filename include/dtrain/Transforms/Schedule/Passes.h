//===- Passes.h - Passes over the schedule dialect --------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_SCHEDULE_PASSES_H
#define DTRAIN_TRANSFORMS_SCHEDULE_PASSES_H

#include "dtrain/IR/Schedule/Schedule.h"
#include "mlir/Pass/Pass.h"

namespace dtrain {

#define GEN_PASS_DECL
#include "dtrain/Transforms/Schedule/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtrain/Transforms/Schedule/Passes.h.inc"

/// The plan of a module of phase schedule or solve; an error is diagnosed.
mlir::FailureOr<schedule::PlanOp> findPlan(mlir::ModuleOp module);

/// Whether a plan is solved, and rightly; what is wrong is diagnosed.
mlir::LogicalResult verifySolution(schedule::PlanOp plan);

} // namespace dtrain

#endif // DTRAIN_TRANSFORMS_SCHEDULE_PASSES_H
