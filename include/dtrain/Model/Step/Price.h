//===- Price.h - What the tasks of a step cost ------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_STEP_PRICE_H
#define DTRAIN_MODEL_STEP_PRICE_H

#include "dtrain/Model/Machine.h"
#include "dtrain/Model/Simulate/Tasks.h"
#include "dtrain/Model/Step/StepProblem.h"

namespace dtrain {

/// A payload under one scale and one node size, before any machine's figures.
struct EvaluatedPayload {
  /// Of work.
  OpWork work;
  Flops contract;
  /// Mean over busiest, of FLOPs and of bytes: what an uneven split leaves to
  /// the other devices. Time is the busiest device's, energy the mean.
  Ratio meanFlops = Ratio::fromBase(1), meanBytes = Ratio::fromBase(1);
  /// Of a communication or transfer: its block; what the busiest device sends,
  /// and of that the share that leaves the node.
  Bytes tensor, sent;
  GroupLayout layout;
};

/// The work of one payload. Its sizes are known.
EvaluatedPayload evaluateWork(const StepWork &work, const Scale &scale);

/// The amounts of one class or segment under one scale.
struct EvaluatedSpace {
  Bytes saved, workspace;
  double logits = 0, scores = 0, dropped = 0, layerScores = 0, weights = 0;
};
struct EvaluatedState {
  Bytes parameters, gradients, optimizer, inputs;
};

/// A problem under one scale, before any machine's figures but the size of a
/// node. Machines and stacks are priced against it without looking at sizes
/// again.
struct EvaluatedStep {
  const StepProblem *problem = nullptr;
  Scale scale;
  PipelineShape shape;
  /// Of the step, over all devices.
  int64_t samples = 0, tokens = 0;
  int64_t devices = 1, devicesPerNode = 1;
  std::vector<EvaluatedPayload> payloads;
  /// Per class, per segment.
  std::vector<std::vector<EvaluatedSpace>> spaces;
  std::vector<EvaluatedState> states;
};
llvm::Expected<EvaluatedStep> evaluate(const StepProblem &problem, Scale scale,
                                       int64_t devicesPerNode);

/// What a payload costs on the target. Of a communication, `device` is its time
/// on the link.
struct PayloadCost : OpCost {
  /// Of what a communication sends: inside the node, and beyond it.
  Bytes link, network;
};

/// Prices of one step on one machine with one stack.
struct StepPrices {
  std::string target, stack;
  /// Parallel to the problem's payloads.
  std::vector<PayloadCost> costs;
  /// Of communications, by purpose, in the forward pass (with its repetitions)
  /// and in the backward pass.
  std::array<std::array<Hiding, 2>, 8> hidings;
  /// The optimizer's host time, once a step.
  Time optimizerHost;
  /// Bytes per element of what a stack keeps: logits, scores, dropped elements;
  /// buffers, fixed and per weight of one layer.
  Bytes perLogit, perScore, perDropped, workspace, perWeight;

  const Hiding &hiding(Purpose purpose, TaskOrigin origin) const {
    return hidings[static_cast<unsigned>(purpose)]
                  [origin == TaskOrigin::Backward];
  }
};
/// One payload, by index. Errors: those of `costOf` and `collectiveTime`.
llvm::Expected<PayloadCost> priceOf(const EvaluatedStep &step, unsigned payload,
                                    const Machine &machine, const Stack &stack);
/// All. Errors besides: a figure of the stack that is missing or out of range.
llvm::Expected<StepPrices> price(const EvaluatedStep &step,
                                 const Machine &machine, const Stack &stack);

} // namespace dtrain

#endif // DTRAIN_MODEL_STEP_PRICE_H
