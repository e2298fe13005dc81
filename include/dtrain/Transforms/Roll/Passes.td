//===- Passes.td - Phase import: from repetition to layers -*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_ROLL_PASSES_TD
#define DTRAIN_TRANSFORMS_ROLL_PASSES_TD

include "mlir/Pass/PassBase.td"

def RollLayers : Pass<"dtrain-roll-layers", "::mlir::ModuleOp"> {
  let summary = "Make repeated layers one function and a repeat";
  let description = [{
    Finds stretches of ops that repeat, each iteration taking what the one
    before computed, and replaces them by `dtrain.repeat` of a private function
    @layer. A parameter per iteration becomes one stacked parameter, named with
    `*` for the number of the layer. Parameters that all iterations share stay
    what they are; one that some share, or that has two places in a layer, stays
    one argument of which the stacked operand is put together, so that the tie
    stays. A remark tells what was rolled.
  }];
  let options = [
    Option<"minTrips", "min-trips", "unsigned", "2", "Leave fewer iterations than these as they are">,
  ];
}

def SinkInvariants : Pass<"dtrain-sink-invariants", "::mlir::ModuleOp"> {
  let summary = "Compute in a layer what its shared operands are, if constants make them";
  let description = [{
    A mask or a table of positions that all layers share is computed inside the
    layer, from constants, so that `dtrain-fuse` sees what it is. Where a repeat
    is the only caller of its body.
  }];
}

def HoistInvariants : Pass<"dtrain-hoist-invariants", "::mlir::ModuleOp"> {
  let summary = "Compute once what a layer computes from constants alone";
  let description = [{
    The inverse of `dtrain-sink-invariants`, for what no fusion has used up.
  }];
}

#endif // DTRAIN_TRANSFORMS_ROLL_PASSES_TD
