//===- Pipelines.cpp - The passes of each phase, in order -----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Transforms/Pipelines.h"
#include "dtrain/Transforms/Passes.h"

using namespace dtrain;

void dtrain::buildPlacePipeline(mlir::OpPassManager &pm,
                                const PlaceOptions &options) {
  SeedDataParallelOptions data;
  data.mesh = options.mesh;
  SeedTensorParallelOptions tensor;
  tensor.mesh = options.mesh;
  SeedPipelineParallelOptions pipeline;
  pipeline.mesh = options.mesh;
  pipeline.chunks = options.chunks;
  pm.addPass(createSeedDataParallel(data));
  pm.addPass(createSeedTensorParallel(tensor));
  pm.addPass(createSeedPipelineParallel(pipeline));
  pm.addPass(createPropagatePlacement());
  pm.addPass(createVerifyPlace());
}

void dtrain::buildCommunicatePipeline(mlir::OpPassManager &pm) {
  pm.addPass(createMaterializeReshards());
  pm.addPass(createLowerReshards());
  pm.addPass(createVerifyCommunicate());
}
