//===- Passes.h - Phase place: every tensor on the mesh ---------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_PLACE_PASSES_H
#define DTRAIN_TRANSFORMS_PLACE_PASSES_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtrain {

#define GEN_PASS_DECL
#include "dtrain/Transforms/Place/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtrain/Transforms/Place/Passes.h.inc"

/// Every value of the module has a placement on its mesh. Reports all that have
/// not.
mlir::LogicalResult verifyPlaced(mlir::ModuleOp module);

} // namespace dtrain

#endif // DTRAIN_TRANSFORMS_PLACE_PASSES_H
