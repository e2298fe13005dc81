//===- dtrain-test-opt.cpp - The pass driver with test dialects -----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel/TestModel.h"
#include "dtrain/Tools/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  dtrain::registerAllDialects(registry);
  registry.insert<testmodel::TestModelDialect>();
  dtrain::registerAllPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "dtrain test pass driver\n", registry));
}
