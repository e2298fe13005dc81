//===- Passes.h - Phase train: from forward to the training step -*- C++
//-*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_TRAIN_PASSES_H
#define DTRAIN_TRANSFORMS_TRAIN_PASSES_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtrain {

/// A floating type to compute or to accumulate in.
enum class ComputeType : uint8_t { bf16, f16, f32 };

/// The element type itself.
mlir::FloatType floatTypeOf(mlir::MLIRContext *context, ComputeType type);

/// Which values of a layer backward computes again instead of keeping them.
enum class RecomputeMode : uint8_t { none, selective, full };

#define GEN_PASS_DECL
#include "dtrain/Transforms/Train/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtrain/Transforms/Train/Passes.h.inc"

} // namespace dtrain

#endif // DTRAIN_TRANSFORMS_TRAIN_PASSES_H
