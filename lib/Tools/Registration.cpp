//===- Registration.cpp - What every dtrain tool knows --------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Tools/Registration.h"
#include "dtrain/Conversion/Passes.h"
#include "dtrain/IR/DTrain/DTrain.h"
#include "dtrain/IR/Schedule/Schedule.h"
#include "dtrain/IR/Target/Target.h"
#include "dtrain/Report/Passes.h"
#include "dtrain/Tools/Pipeline.h"
#include "dtrain/Transforms/Passes.h"
#include "dtrain/Transforms/Schedule/Passes.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Transforms/Passes.h"

void dtrain::registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, DTrainDialect,
                  schedule::ScheduleDialect, target::TargetDialect>();
  mlir::func::registerInlinerExtension(registry);
}

void dtrain::registerAllPasses() {
  registerDTrainCheckPasses();
  registerDTrainCommunicatePasses();
  registerDTrainConversionPasses();
  registerDTrainFusePasses();
  registerDTrainPlacePasses();
  registerDTrainReportPasses();
  registerDTrainRollPasses();
  registerDTrainSchedulePasses();
  registerDTrainTrainPasses();
  registerPipeline();
  mlir::registerCanonicalizerPass();
  mlir::registerCSEPass();
  mlir::registerInlinerPass();
  mlir::registerSymbolDCEPass();
}
