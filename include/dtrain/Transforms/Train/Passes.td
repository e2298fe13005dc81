//===- Passes.td - Phase train: from forward to the training step -*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_TRAIN_PASSES_TD
#define DTRAIN_TRANSFORMS_TRAIN_PASSES_TD

include "mlir/Pass/PassBase.td"

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

#endif // DTRAIN_TRANSFORMS_TRAIN_PASSES_TD
