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
// Import: from a graph of primitives to layers
//===----------------------------------------------------------------------===//

def Fuse : Pass<"dtrain-fuse", "::mlir::ModuleOp"> {
  let summary = "Replace primitives by the ops that they spell";
  let description = [{
    Recognises linear layers with a bias, GELU, SiLU and SwiGLU, layer and RMS
    normalisation, rotary positions, attention (with a causal mask, grouped
    queries and any layout of heads) and cross-entropy, however an exporter
    spelled them, and replaces them by the one op that computes the same.
    Composes moves and merges equal ops on the way. What is not provably the
    same function stays, and a remark says why of a softmax between two
    contractions.

    Constants that import did not read are 0 everywhere (rotary tables): that
    the two halves of such a table are the same follows.
  }];
  let options = [
    Option<"attention", "attention", "bool", "true", "Fuse attention">,
    Option<"normalization", "normalization", "bool", "true", "Fuse layer and RMS normalisation">,
    Option<"activation", "activation", "bool", "true", "Fuse GELU, SiLU and SwiGLU">,
    Option<"bias", "bias", "bool", "true", "Fuse biases into contractions">,
    Option<"rotary", "rotary", "bool", "true", "Fuse rotary positions">,
    Option<"loss", "loss", "bool", "true", "Fuse cross-entropy">,
    Option<"projection", "projection", "bool", "true",
           "Make slices of a contraction's columns in equal parts a view">,
  ];
}

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

//===----------------------------------------------------------------------===//
// Import
//===----------------------------------------------------------------------===//

def VerifyImport : Pass<"dtrain-verify-import", "::mlir::ModuleOp"> {
  let summary = "A forward program from named arguments to one scalar loss";
  let description = [{
    Verifies the module, and the contract of the import phase: `@main` has one
    block, arguments with the role of a parameter, an input or a label, and one
    result, the scalar loss; all ops are forward compute ops and repeats. Reports
    every breach; sets `dtrain.phase`.
  }];
}

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

def Differentiate : Pass<"dtrain-differentiate", "::mlir::ModuleOp"> {
  let summary = "Append backward to the forward program";
  let description = [{
    Reverse mode from the scalar that `@main` returns. The forward program and
    its backward become `@microbatch(loss, accumulators…, input rows…,
    parameters…) -> (loss, accumulators…)`, which adds its gradients and its
    share of the loss to what it is given; `@main` runs it for every micro-batch
    and returns the loss, the mean over the micro-batches, and the sums of the
    gradients, in the order of the trained parameters. Inputs and labels gain a
    leading micro-batch dimension.

    Only gradients of trainable parameters, and of what leads to them, are built.
    A parameter that does not reach the loss is left alone, with a warning.
    The backward of a repeat is a repeat in the other direction; what it needs of
    the forward body becomes a further output of the forward repeat, unless it is
    a view of such a value or follows from constants, in which case backward
    derives it again. Gradients of stacked parameters are added to rows of their
    accumulators inside; those of shared operands are carried sums. Gradients of
    activations have the type of the activation.
  }];
  let options = [
    Option<"microBatches", "micro-batches", "int64_t", "1", "Micro-batches of a step">,
    Option<"gradientType", "gradient-type", "::dtrain::ComputeType", "::dtrain::ComputeType::f32",
           "The type in which gradients of parameters are summed",
           [{::llvm::cl::values(
               clEnumValN(::dtrain::ComputeType::f32, "f32", "IEEE single"),
               clEnumValN(::dtrain::ComputeType::bf16, "bf16", "bfloat16"),
               clEnumValN(::dtrain::ComputeType::f16, "f16", "IEEE half"))}]>,
  ];
}

def ApplyOptimizer : Pass<"dtrain-apply-optimizer", "::mlir::ModuleOp"> {
  let summary = "Update the parameters with the gradients";
  let description = [{
    Completes the `@main` that `dtrain-differentiate` leaves: `(parameters,
    masters, moments, inputs, labels) -> (parameters', masters', moments',
    loss)`, where each of the first results names the argument it replaces. A
    parameter below 32 bits has a master copy in f32, which is updated and cast.
    AdamW has two moments in f32, SGD its momentum.
  }];
  let options = [
    Option<"optimizer", "optimizer", "::dtrain::Optimizer", "::dtrain::Optimizer::adamw",
           "The optimizer",
           [{::llvm::cl::values(
               clEnumValN(::dtrain::Optimizer::adamw, "adamw", "Adam with decoupled weight decay"),
               clEnumValN(::dtrain::Optimizer::sgd, "sgd", "gradient descent with momentum"))}]>,
    Option<"learningRate", "learning-rate", "double", "1e-4", "The learning rate, above 0">,
  ];
}

def Recompute : Pass<"dtrain-recompute", "::mlir::ModuleOp"> {
  let summary = "Compute activations again in backward instead of saving them";
  let description = [{
    `full`: the backward of each repeated layer first runs the whole forward layer
    again from its input (origin recompute), so that the input is all that is
    saved. The whole layer: also ops whose results backward does not need, as
    Megatron does. Passes that remove dead code undo that and must not follow.
    `none` changes nothing. Outside of repeats nothing is recomputed.
  }];
  let options = [
    Option<"mode", "mode", "::dtrain::RecomputeMode", "::dtrain::RecomputeMode::none",
           "What to recompute",
           [{::llvm::cl::values(
               clEnumValN(::dtrain::RecomputeMode::none, "none", "nothing"),
               clEnumValN(::dtrain::RecomputeMode::selective, "selective", "not available"),
               clEnumValN(::dtrain::RecomputeMode::full, "full", "whole layers"))}]>,
  ];
}

def SimplifyRepeats : Pass<"dtrain-simplify-repeats", "::mlir::ModuleOp"> {
  let summary = "Drop what repeats pass or return for nothing";
  let description = [{
    Where a repeat is the only caller of its body: outputs without uses go, with
    the ops that made them, and so do stacked and shared operands that the body
    does not read. For programs without placements.
  }];
}

def VerifyTrain : Pass<"dtrain-verify-train", "::mlir::ModuleOp"> {
  let summary = "Check the contract of the train phase";
  let description = [{
    `@main` is a step: every argument has a role; one `dtrain.repeat @microbatch`
    runs over all micro-batches of the inputs; masters and moments are replaced by
    results; the one result that replaces nothing is the loss, a scalar. Only
    compute ops and repeats occur, without placements. Every problem is reported.
    Sets `dtrain.phase` to train.
  }];
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

//===----------------------------------------------------------------------===//
// Checks by numbers, for small programs
//===----------------------------------------------------------------------===//

def CheckEquivalence : Pass<"dtrain-check-equivalence", "::mlir::ModuleOp"> {
  let summary = "Run a placed program on a virtual mesh and compare with one device";
  let description = [{
    Runs @main on random arguments twice: on every device of its mesh, and on one
    device as if nothing were placed. Fails if any result differs. Remarks give
    the number of results and the communication: per mesh axis and kind the
    number of collectives and the bytes that their busiest devices send.

    For programs that are small: time and memory follow the numbers in the
    tensors. Between *place* and *communicate*, operands that do not lie as their
    op needs are moved on the cheapest path, which counts.
  }];
  let options = [
    Option<"seed", "seed", "uint64_t", "1", "Seed of the random arguments">,
    Option<"tolerance", "tolerance", "double", "1e-9",
           "The largest relative difference that is still equal">,
  ];
}

def CheckRules : Pass<"dtrain-check-rules", "::mlir::ModuleOp"> {
  let summary = "Run every op in random states and compare with what its rule says";
  let description = [{
    The mechanical rule check: for each compute op, `trials` times, a random mesh
    of up to eight devices and a random op state; operands as the rule needs them,
    the op on every device, results as the rule gives them, compared with the op
    in one piece. Placements are ignored.
  }];
  let options = [
    Option<"trials", "trials", "unsigned", "20", "Random states per op">,
    Option<"seed", "seed", "uint64_t", "1", "Seed of states and operands">,
  ];
}

#endif // DTRAIN_TRANSFORMS_PASSES_TD
