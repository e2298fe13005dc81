//===- Overlap.cpp - What a stack hides of a communication ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Collective/Overlap.h"
#include "../Checks.h"

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

/// A share that `stack` states, between 0 and 1.
static Error requireShare(const Stack &stack, llvm::StringRef what,
                          const Sourced<Ratio> &share) {
  if (Error e = requireGiven(stack.name, what, share))
    return e;
  double value = toDouble(share.value);
  if (value >= 0 && value <= 1)
    return Error::success();
  return makeError("'" + stack.name + "': expected a " + what +
                   " between 0 and 1, found " + share.value.str());
}

static Expected<Hiding> withinLayer(const Stack &stack, bool backward,
                                    const Sourced<Ratio> &backwardExposed) {
  const Sourced<Ratio> &exposed =
      backward ? backwardExposed : stack.tensorExposedForward;
  if (Error e =
          requireShare(stack,
                       backward ? "share of exposed backward communication"
                                : "share of exposed forward communication",
                       exposed))
    return e;
  if (Error e = requireShare(stack, "share of weight gradients that hide",
                             stack.weightGradientHides))
    return e;
  Hiding hiding;
  hiding.least = exposed.value;
  if (!backward)
    hiding.visible = exposed.value;
  hiding.hides = stack.weightGradientHides.value;
  return hiding;
}

static Expected<Hiding> ofDataParallel(const Stack &stack) {
  if (Error e = requireGiven(stack.name, "overlap of data parallelism",
                             stack.overlapDataParallel))
    return e;
  Hiding hiding;
  if (!stack.overlapDataParallel.value) {
    hiding.least = Ratio::fromBase(1);
    hiding.hides = Ratio();
    return hiding;
  }
  if (Error e = requireShare(stack, "share of compute that hides collectives",
                             stack.dataHides))
    return e;
  if (Error e =
          requireShare(stack, "share of exposed data-parallel collectives",
                       stack.dataExposed))
    return e;
  if (Error e = requireShare(stack, "share lost to interference",
                             stack.dataInterference))
    return e;
  hiding.least = stack.dataExposed.value;
  hiding.hides = stack.dataHides.value;
  hiding.interference = stack.dataInterference.value;
  return hiding;
}

Expected<Hiding> dtrain::hidingOf(const Stack &stack, Purpose purpose,
                                  bool backward) {
  switch (purpose) {
  case Purpose::Tensor:
  case Purpose::Context:
  case Purpose::Expert:
    return withinLayer(stack, backward, stack.tensorExposedBackward);
  case Purpose::Sequence:
    return withinLayer(stack, backward, stack.sequenceExposedBackward);
  case Purpose::Data:
  case Purpose::Gradient:
  case Purpose::Parameter:
    return ofDataParallel(stack);
  case Purpose::Pipeline: {
    if (Error e = requireShare(stack, "share of exposed pipeline transfers",
                               stack.pipelineExposed))
      return e;
    Hiding hiding;
    hiding.visible = hiding.least = stack.pipelineExposed.value;
    return hiding;
  }
  }
  llvm_unreachable("covered switch");
}
