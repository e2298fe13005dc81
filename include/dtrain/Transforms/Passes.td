//===- Passes.td - Passes on the dtrain dialect ---------------*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_PASSES_TD
#define DTRAIN_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// Train: from the forward program to the training step
//===----------------------------------------------------------------------===//

def SetPrecision : Pass<"dtrain-set-precision", "::mlir::ModuleOp"> {
  let summary = "Choose the element type that the step computes in";
  let description = [{
    Parameters and activations of the forward program take the precision's
    element type. The log of the sum of exponentials of `attention` and
    `cross_entropy`, the losses and all that is computed from them stay f32, and
    so do integers stay integers. Runs before `dtrain-differentiate`: backward
    follows the types of forward.
  }];
  let options = [
    Option<"precision", "precision", "::dtrain::ComputeType", "::dtrain::ComputeType::bf16",
           "The type of parameters and activations",
           [{::llvm::cl::values(
               clEnumValN(::dtrain::ComputeType::bf16, "bf16", "bfloat16"),
               clEnumValN(::dtrain::ComputeType::f16, "fp16", "IEEE half"),
               clEnumValN(::dtrain::ComputeType::f32, "fp32", "IEEE single"))}]>,
  ];
}

#endif // DTRAIN_TRANSFORMS_PASSES_TD
