//===- Overlap.h - What a stack hides of a communication --------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What may run beside a communication follows from dependences and resources;
/// how much of it that hides is a software stack's (docs/calibration.md,
/// Stacks).
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_COLLECTIVE_OVERLAP_H
#define DTRAIN_MODEL_COLLECTIVE_OVERLAP_H

#include "dtrain/Model/Machine.h"
#include "dtrain/Model/Purpose.h"
#include "dtrain/Model/Simulate/Tasks.h"

namespace dtrain {

/// The figures of `stack` for communications of a purpose, in the backward pass
/// or elsewhere. Errors: a figure that is missing or no share.
///  - Within layers (tensor, sequence, context, expert): forward, who waits
///    sees a fixed share; backward, what independent compute leaves, and at
///    least a share.
///  - Gradients, parameters and data: what compute beside them leaves, at least
///    a share, and what that compute loses; all of it in a stack that does not
///    overlap them.
///  - Pipeline: a fixed share.
llvm::Expected<Hiding> hidingOf(const Stack &stack, Purpose purpose,
                                bool backward);

} // namespace dtrain

#endif // DTRAIN_MODEL_COLLECTIVE_OVERLAP_H
