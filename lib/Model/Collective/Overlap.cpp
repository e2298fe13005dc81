//===- Overlap.cpp - How much of a communication stays exposed ------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Collective/Overlap.h"
#include "../Checks.h"
#include <algorithm>

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

/// What `compute` leaves of `communication`, at least `exposed` of it.
static Time leftExposed(Time communication, Time compute, Ratio hides,
                        Ratio exposed) {
  return std::max(communication * exposed, communication - compute * hides);
}

Expected<Time> dtrain::exposedTensorForward(const Stack &stack,
                                            Time communication) {
  if (Error e = requireAmount("communication time", communication))
    return e;
  if (Error e = requireShare(stack, "share of exposed forward communication",
                             stack.tensorExposedForward))
    return e;
  return communication * stack.tensorExposedForward.value;
}

Expected<Time> dtrain::exposedTensorBackward(const Stack &stack,
                                             Time communication,
                                             Time weightGradients,
                                             bool sequenceParallel) {
  if (Error e = requireAmount("communication time", communication))
    return e;
  if (Error e = requireAmount("weight gradient time", weightGradients))
    return e;
  const Sourced<Ratio> &exposed = sequenceParallel
                                      ? stack.sequenceExposedBackward
                                      : stack.tensorExposedBackward;
  if (Error e = requireShare(stack, "share of exposed backward communication",
                             exposed))
    return e;
  if (Error e = requireShare(stack, "share of weight gradients that hide",
                             stack.weightGradientHides))
    return e;
  return leftExposed(communication, weightGradients,
                     stack.weightGradientHides.value, exposed.value);
}

Expected<Time> dtrain::exposedDataParallel(const Stack &stack,
                                           Time communication, Time compute) {
  if (Error e = requireAmount("communication time", communication))
    return e;
  if (Error e = requireAmount("compute time", compute))
    return e;
  if (Error e = requireGiven(stack.name, "overlap of data parallelism",
                             stack.overlapDataParallel))
    return e;
  if (!stack.overlapDataParallel.value)
    return communication;
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
  Time exposed = leftExposed(communication, compute, stack.dataHides.value,
                             stack.dataExposed.value);
  return exposed + (communication - exposed) * stack.dataInterference.value;
}
