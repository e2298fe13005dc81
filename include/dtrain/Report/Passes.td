//===- Passes.td - Reporting on a solved plan ----------------*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_REPORT_PASSES_TD
#define DTRAIN_REPORT_PASSES_TD

include "mlir/Pass/PassBase.td"

def ScheduleReport : Pass<"schedule-report", "::mlir::ModuleOp"> {
  let summary = "Print what a solved plan takes";
  let description = [{
    To standard output, as `dtrain estimate` does; the plan says which machine and
    stack it was solved for, and what is known of the strategy.
  }];
  let options = [
    Option<"format", "format", "std::string", "\"text\"", "text, json, csv, operators or chrome-trace">,
    ListOption<"targetPath", "target-path", "std::string", "Folders searched before the shipped descriptions">,
  ];
  let dependentDialects = ["::dtrain::target::TargetDialect"];
}

#endif // DTRAIN_REPORT_PASSES_TD
