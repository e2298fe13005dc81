//===- Pipeline.h - From a model to its solved schedule ---------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The passes of every phase in their order, for `dtrain estimate` and for
/// `dtrain-opt --dtrain-pipeline`.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TOOLS_PIPELINE_H
#define DTRAIN_TOOLS_PIPELINE_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "dtrain/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace dtrain {

struct PipelineSettings {
  /// Of the model, for the report.
  std::string name = "step";
  /// Degrees, slowest axis first: "pp=2,dp=4,tp=8"; those of 1 may be there.
  std::string mesh;
  int64_t microBatches = 1;
  /// Chunks of layers per pipeline stage.
  int64_t chunks = 1;
  std::string order = "1f1b";
  ComputeType precision = ComputeType::bf16, gradientType = ComputeType::f32;
  Optimizer optimizer = Optimizer::adamw;
  RecomputeMode recompute = RecomputeMode::none;
  std::string target, stack = "megatron-core";
  /// "stack", "yes" or "no".
  std::string overlapDataParallel = "stack";
  std::vector<std::string> targetPath;
  /// The last phase to reach.
  Phase to = Phase::solve;
};

/// Adds the passes that lead from `from` to `settings.to`: import is what the
/// importer made, before fusion and rolling. Nothing if that is reached.
void buildPipeline(mlir::OpPassManager &pm, const PipelineSettings &settings,
                   Phase from);

/// Registers `dtrain-pipeline`, the same with textual options.
void registerPipeline();

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

#endif // DTRAIN_TOOLS_PIPELINE_H
