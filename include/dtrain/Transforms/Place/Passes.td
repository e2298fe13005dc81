//===- Passes.td - Phase place: every tensor on the mesh ---*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_PLACE_PASSES_TD
#define DTRAIN_TRANSFORMS_PLACE_PASSES_TD

include "mlir/Pass/PassBase.td"

def SeedDataParallel : Pass<"dtrain-seed-data-parallel", "::mlir::ModuleOp"> {
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
  let dependentDialects = ["::dtrain::DTrainDialect"];
}

def SeedTensorParallel : Pass<"dtrain-seed-tensor-parallel", "::mlir::ModuleOp"> {
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
  let dependentDialects = ["::dtrain::DTrainDialect"];
}

def SeedPipelineParallel : Pass<"dtrain-seed-pipeline-parallel", "::mlir::ModuleOp"> {
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
  let dependentDialects = ["::dtrain::DTrainDialect"];
}

def PropagatePlacement : Pass<"dtrain-propagate-placement", "::mlir::ModuleOp"> {
  let summary = "Give every tensor a placement, from the seeds";
  let dependentDialects = ["::dtrain::DTrainDialect"];
}

def VerifyPlace : Pass<"dtrain-verify-place", "::mlir::ModuleOp"> {
  let summary = "Every tensor has a placement on one mesh, every op a state";
  let dependentDialects = ["::dtrain::DTrainDialect"];
}

#endif // DTRAIN_TRANSFORMS_PLACE_PASSES_TD
