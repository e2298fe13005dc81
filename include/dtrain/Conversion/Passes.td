//===- Passes.td - Conversions between dialects --------------*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_CONVERSION_PASSES_TD
#define DTRAIN_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertDTrainToSchedule : Pass<"convert-dtrain-to-schedule", "::mlir::ModuleOp"> {
  let summary = "From a program with its communications to a scheduling problem";
  let description = [{
    The module is one of phase communicate; the result is one `schedule.plan`.
    Every compute op becomes a task with the work that its rule gives, every
    communication a task beside it; free transitions and views
    disappear. A repeat becomes a call of its layer's body; where nothing reads
    what the last trip carries on, as the gradient of a model's input, another
    call does that trip without the ops that only compute it.

    Ops of the micro-batch belong to the stage that holds their results, to the
    chunk that the number of sends before them gives, and to forward or backward
    by their origin (recomputation is backward). What follows the micro-batches
    is each stage's tail. Memory comes from the live ranges of values.
  }];
  let options = [
    Option<"optimizer", "optimizer", "std::string", "", "The optimizer, for the report">,
    Option<"recompute", "recompute", "std::string", "", "What backward computes again, for the report">,
    Option<"name", "name", "std::string", "\"step\"", "Name of the model">,
    Option<"order", "order", "std::string", "\"1f1b\"",
           "Order of the micro-batches: gpipe, 1f1b or interleaved">,
    Option<"axis", "axis", "std::string", "\"pp\"", "The pipeline axis">,
  ];
  let dependentDialects = ["::dtrain::schedule::ScheduleDialect"];
}

#endif // DTRAIN_CONVERSION_PASSES_TD
