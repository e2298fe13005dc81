//===- Attention.h - What Compute's sources share ---------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_MODEL_COMPUTE_ATTENTION_H
#define DTRAIN_LIB_MODEL_COMPUTE_ATTENTION_H

#include "dtrain/Model/Compute/Compute.h"

namespace dtrain::detail {

/// The chip's peak for `precision`, checked, or an error that names those it
/// has.
llvm::Expected<const PeakRate *> findPeak(const Machine &machine,
                                          Precision precision);

/// FLOPs of the two products forward, whatever the mask.
llvm::Expected<Flops> fullAttentionFlops(const AttentionShape &shape);

/// Device cost of `work.attention` by the kernel that the stack runs.
llvm::Expected<OpCost> attentionCost(const OpWork &work, const Machine &machine,
                                     const Stack &stack, bool backward);

} // namespace dtrain::detail

#endif // DTRAIN_LIB_MODEL_COMPUTE_ATTENTION_H
