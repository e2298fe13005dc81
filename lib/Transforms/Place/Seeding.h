//===- Seeding.h - What the seed passes share -------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_TRANSFORMS_PLACE_SEEDING_H
#define DTRAIN_LIB_TRANSFORMS_PLACE_SEEDING_H

#include "dtrain/IR/DTrain/DTrain.h"

namespace dtrain {

/// A mesh axis that a seed pass works on.
struct SeedAxis {
  MeshAttr mesh;
  unsigned index;
  int64_t size() const { return mesh.getSizes()[index]; }
  llvm::StringRef name() const { return mesh.getNames()[index].getValue(); }
};

/// Reads the mesh option ("pp=2,dp=4,tp=8"; axes of size 1 are dropped) into
/// the module's dtrain.mesh, or takes the one that is there. Diagnoses bad text
/// and a mesh that contradicts the module's.
mlir::FailureOr<MeshAttr> meshOf(mlir::ModuleOp module, llvm::StringRef option);

/// The axis to seed; nullopt where the mesh has none of that name (degree 1).
mlir::FailureOr<std::optional<SeedAxis>>
seedAxisOf(mlir::ModuleOp module, llvm::StringRef option, llvm::StringRef axis);

/// The function @microbatch with its one repeat in @main; diagnoses a module
/// that is not after the train phase.
mlir::FailureOr<mlir::func::FuncOp> microbatchOf(mlir::ModuleOp module);

/// Adds the state of one axis to the op's intents, at a level of propagation;
/// one that is there stays.
void addState(RuleOpInterface op, const SeedAxis &axis,
              const OpAxisState &state, int64_t level = 0);

/// The divisor of `extent` that is nearest to `degree`.
int64_t nearestDivisor(int64_t extent, int64_t degree);

/// "12 heads are not divisible by tp = 8; the nearest feasible degree is 6".
mlir::LogicalResult checkDivides(mlir::Operation *op, llvm::StringRef what,
                                 int64_t extent, const SeedAxis &axis);

} // namespace dtrain

#endif // DTRAIN_LIB_TRANSFORMS_PLACE_SEEDING_H
