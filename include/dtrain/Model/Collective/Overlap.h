//===- Overlap.h - How much of a communication stays exposed ----*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a software stack hides of its communication behind compute
/// (docs/calibration.md, Stacks).
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_COLLECTIVE_OVERLAP_H
#define DTRAIN_MODEL_COLLECTIVE_OVERLAP_H

#include "dtrain/Model/Machine.h"

namespace dtrain {

/// Tensor-parallel communication of a forward pass: a fixed share of it.
llvm::Expected<Time> exposedTensorForward(const Stack &stack,
                                          Time communication);

/// That of a backward pass whose weight-gradient contractions, independent of
/// it, take `weightGradients`: what they cannot hide, and at least a share.
llvm::Expected<Time> exposedTensorBackward(const Stack &stack,
                                           Time communication,
                                           Time weightGradients,
                                           bool sequenceParallel);

/// Gradient or parameter collectives of data parallelism against the compute
/// that may run meanwhile, with what the compute loses to interference. All of
/// `communication` in a stack that does not overlap them.
llvm::Expected<Time> exposedDataParallel(const Stack &stack, Time communication,
                                         Time compute);

} // namespace dtrain

#endif // DTRAIN_MODEL_COLLECTIVE_OVERLAP_H
