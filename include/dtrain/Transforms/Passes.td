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

class DTrain_Pass<string name> : Pass<name, "::mlir::ModuleOp"> {
  let dependentDialects = ["::dtrain::DTrainDialect"];
}

//===----------------------------------------------------------------------===//
// Phase place
//===----------------------------------------------------------------------===//

def SeedDataParallel : DTrain_Pass<"dtrain-seed-data-parallel"> {
  let summary = "Split the batch of every input over the data-parallel axis";
  let description = [{
    Inputs and labels of @microbatch (its stacked rows) are split in their first
    dimension. Gradients then come out partial on the axis, and one all_reduce per
    parameter follows by propagation.
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "", "The mesh, slowest axis first: pp=2,dp=4,tp=8">,
    Option<"axis", "axis", "std::string", "\"dp\"", "The mesh axis">,
  ];
}

def SeedTensorParallel : DTrain_Pass<"dtrain-seed-tensor-parallel"> {
  let summary = "Split heads, hidden widths and the vocabulary over the tensor-parallel axis";
  let description = [{
    Megatron's tensor parallelism by intents on a few ops: attention by heads; the
    first contraction of each pair by its output; embedding, head and cross-entropy
    by vocabulary. Row weights, biases, gradients and optimizer states follow.
    Cross-entropy is replaced by its expansion (maximum, sum of exponentials, pick),
    which costs three all_reduces of one element per token.
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "", "The mesh, slowest axis first: pp=2,dp=4,tp=8">,
    Option<"axis", "axis", "std::string", "\"tp\"", "The mesh axis">,
  ];
}

def SeedPipelineParallel : DTrain_Pass<"dtrain-seed-pipeline-parallel"> {
  let summary = "Cut the layers into stages over the pipeline axis";
  let description = [{
    The dominant repeat becomes stages * chunks repeats of the same body, each over
    its range of layers and pinned to one stage; so does its backward. Where nothing
    repeats, forward ops are cut into stages of about equal contraction FLOPs, and
    backward ops stay with their forward ops. Everything else follows.
  }];
  let options = [
    Option<"mesh", "mesh", "std::string", "", "The mesh, slowest axis first: pp=2,dp=4,tp=8">,
    Option<"axis", "axis", "std::string", "\"pp\"", "The mesh axis">,
    Option<"chunks", "chunks", "int64_t", "1", "Chunks of layers per stage (interleaved schedules)">,
  ];
}

def PropagatePlacement : DTrain_Pass<"dtrain-propagate-placement"> {
  let summary = "Give every tensor a placement, from the seeds";
}

def VerifyPlace : DTrain_Pass<"dtrain-verify-place"> {
  let summary = "Every tensor has a placement on one mesh, every op a state";
}

//===----------------------------------------------------------------------===//
// Phase communicate
//===----------------------------------------------------------------------===//

def MaterializeReshards : DTrain_Pass<"dtrain-materialize-reshards"> {
  let summary = "Insert a reshard where an operand is not placed as its op needs";
  let description = [{
    A value is resharded once per placement. Each reshard says which op needs it
    and what made the value as it is.
  }];
}

def LowerReshards : DTrain_Pass<"dtrain-lower-reshards"> {
  let summary = "Replace each reshard by the cheapest sequence of communications";
  let statistics = [
    Statistic<"numCommunications", "communications", "Communications inserted">,
    Statistic<"numFree", "relabels", "Free transitions inserted">,
  ];
}

def VerifyCommunicate : DTrain_Pass<"dtrain-verify-communicate"> {
  let summary = "Every op's operands and results fit its rule on every axis; no reshard is left";
}

#endif // DTRAIN_TRANSFORMS_PASSES_TD
