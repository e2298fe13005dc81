//===- Pipelines.h - The passes of each phase, in order ---------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_PIPELINES_H
#define DTRAIN_TRANSFORMS_PIPELINES_H

#include "mlir/Pass/PassManager.h"

namespace dtrain {

struct PlaceOptions {
  /// "pp=2,dp=4,tp=8", slowest axis first; axes of size 1 are dropped.
  std::string mesh;
  /// Chunks of layers per pipeline stage.
  int64_t chunks = 1;
};

/// Phase place: seeds of the axes that the mesh has, propagation, verification.
void buildPlacePipeline(mlir::OpPassManager &pm, const PlaceOptions &options);

/// Phase communicate: reshards, their lowering, verification.
void buildCommunicatePipeline(mlir::OpPassManager &pm);

} // namespace dtrain

#endif // DTRAIN_TRANSFORMS_PIPELINES_H
