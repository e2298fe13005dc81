//===- Programs.h - Small training steps to run -----------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TEST_UNIT_INTERPRETER_PROGRAMS_H
#define DTRAIN_TEST_UNIT_INTERPRETER_PROGRAMS_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtrain {

/// Reads `<name>.mlir` of the inputs of the pass tests: a language model in
/// import-phase form. Null on failure, reported.
mlir::OwningOpRef<mlir::ModuleOp> readProgram(mlir::MLIRContext &context,
                                              llvm::StringRef name);

/// Runs passes on a module, given as `dtrain-opt --pass-pipeline` takes them,
/// without the `builtin.module()` around.
mlir::LogicalResult runPasses(mlir::ModuleOp module, llvm::StringRef pipeline);

/// Replaces the repeat of an import-phase @main by copies of its body, and each
/// stacked parameter by one parameter per layer.
void unrollLayers(mlir::ModuleOp module);

mlir::func::FuncOp mainOf(mlir::ModuleOp module);

} // namespace dtrain

#endif // DTRAIN_TEST_UNIT_INTERPRETER_PROGRAMS_H
