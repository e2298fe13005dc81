//===- Passes.td - Phase communicate: from placements to collectives -*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_COMMUNICATE_PASSES_TD
#define DTRAIN_TRANSFORMS_COMMUNICATE_PASSES_TD

include "mlir/Pass/PassBase.td"

def MaterializeReshards : Pass<"dtrain-materialize-reshards", "::mlir::ModuleOp"> {
  let summary = "Insert a reshard where an operand is not placed as its op needs";
  let description = [{
    A value is resharded once per placement. Each reshard says which op needs it
    and what made the value as it is.
  }];
  let dependentDialects = ["::dtrain::DTrainDialect"];
}

def LowerReshards : Pass<"dtrain-lower-reshards", "::mlir::ModuleOp"> {
  let summary = "Replace each reshard by the cheapest sequence of communications";
  let statistics = [
    Statistic<"numCommunications", "communications", "Communications inserted">,
    Statistic<"numFree", "relabels", "Free transitions inserted">,
  ];
  let dependentDialects = ["::dtrain::DTrainDialect"];
}

def VerifyCommunicate : Pass<"dtrain-verify-communicate", "::mlir::ModuleOp"> {
  let summary = "Every op's operands and results fit its rule on every axis; no reshard is left";
  let dependentDialects = ["::dtrain::DTrainDialect"];
}

#endif // DTRAIN_TRANSFORMS_COMMUNICATE_PASSES_TD
