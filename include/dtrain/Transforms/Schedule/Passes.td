//===- Passes.td - Passes over the schedule dialect ----------*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_SCHEDULE_PASSES_TD
#define DTRAIN_TRANSFORMS_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

class Schedule_Pass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::dtrain::schedule::ScheduleDialect", "::dtrain::target::TargetDialect"];
}

def ScheduleVerify : Schedule_Pass<"schedule-verify"> {
  let summary = "The module is a scheduling problem, or its solution";
  let description = [{
    As a problem: one plan and nothing else. As a solution: every task has a cost
    and a start; starts respect dependences and lanes; the plan has its interval
    and every class a footprint and a breakdown, which sums to the interval.
  }];
  let options = [
    Option<"solution", "solution", "bool", "false", "Verify the solution too">,
  ];
}

def ScheduleAssignDurations : Schedule_Pass<"schedule-assign-durations"> {
  let summary = "Price every task on a machine under a software stack";
  let description = [{
    Compute tasks by the roofline and memory-bound models of `lib/Model`,
    communications by the layout of their axis on the machine's nodes. Of a
    communication the stack decides how much its dependents wait for; of memory,
    what scores, logits and dropout masks take. Tasks that are alike are priced
    once.
  }];
  let options = [
    Option<"target", "target", "std::string", "", "The machine: a name or a .mlir file">,
    Option<"stack", "stack", "std::string", "\"megatron-core\"", "The software stack: a name or a .mlir file">,
    Option<"overlapDataParallel", "overlap-dp", "std::string", "\"stack\"",
           "Whether gradient synchronisation overlaps backward: stack, yes or no">,
    Option<"reuse", "reuse", "bool", "true", "Price tasks that are alike once; the answer is the same without">,
    ListOption<"targetPath", "target-path", "std::string", "Folders searched before the shipped descriptions">,
  ];
  let statistics = [
    Statistic<"numTasks", "tasks", "Tasks of the plan">,
    Statistic<"numCosts", "costs", "Costs computed for them">,
  ];
}

def ScheduleSolve : Schedule_Pass<"schedule-solve"> {
  let summary = "Start every task, and say where time and memory go";
  let description = [{
    Bodies and segments are lanes in order; micro-batches pass the stages in the
    plan's order. The step ends when all classes have synchronised their gradients
    and updated their parameters, which all begin together: the norm of all
    gradients is needed first.
  }];
}

def ScheduleAnnotate : Schedule_Pass<"schedule-annotate"> {
  let summary = "Say of every task and segment what share of the step it takes";
  let description = [{
    Sets the attribute `schedule.share`: the time of the task, of all its trips and
    micro-batches, over that of the step.
  }];
}

#endif // DTRAIN_TRANSFORMS_SCHEDULE_PASSES_TD
