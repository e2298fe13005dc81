//===- OpClass.h - How the cost model classifies an op ----------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_OPCLASS_H
#define DTRAIN_MODEL_OPCLASS_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace dtrain {

/// What decides an op's time: which equation and which of a stack's facts
/// apply.
enum class OpClass : uint8_t {
  Contraction, ///< matrix multiplication of any shape
  Attention,   ///< attention forward (fused or not: the stack decides)
  AttentionBackward,
  MemoryBound, ///< bytes over bandwidth
  Loss,        ///< cross-entropy forward, priced per logit by the stack
  LossBackward,
  Accumulate, ///< gradient accumulation into a running sum
  Optimizer,  ///< parameter update, priced per parameter by the stack
  Move,       ///< reshape, transpose, slice, constant: a view, free
};
llvm::StringRef stringifyOpClass(OpClass c);

} // namespace dtrain

#endif // DTRAIN_MODEL_OPCLASS_H
