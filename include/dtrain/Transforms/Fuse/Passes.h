//===- Passes.h - Phase import: from primitives to ops ----------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_FUSE_PASSES_H
#define DTRAIN_TRANSFORMS_FUSE_PASSES_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtrain {

#define GEN_PASS_DECL
#include "dtrain/Transforms/Fuse/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtrain/Transforms/Fuse/Passes.h.inc"

} // namespace dtrain

#endif // DTRAIN_TRANSFORMS_FUSE_PASSES_H
