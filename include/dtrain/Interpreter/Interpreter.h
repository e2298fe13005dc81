//===- Interpreter.h - The sequential meaning of a program ------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs a function on one device, as if there were no mesh: types are global,
/// placements are ignored, a reshard or a communication is the identity and a
/// pinned repeat is a repeat. This is what a placed program must compute too.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_INTERPRETER_INTERPRETER_H
#define DTRAIN_INTERPRETER_INTERPRETER_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "dtrain/Interpreter/Tensor.h"

namespace dtrain {

/// Sees every op as it is executed, in order: the values of its operands and of
/// its results. A failure ends the run.
using Observer = llvm::function_ref<llvm::LogicalResult(
    mlir::Operation *op, llvm::ArrayRef<const Tensor *> operands,
    llvm::ArrayRef<Tensor> results)>;

/// Runs `func` on `arguments`, tensors of its argument shapes. Every failure
/// has been reported at the op where it happened: an op without a kernel, an
/// index outside its table, arguments of other shapes.
mlir::FailureOr<llvm::SmallVector<Tensor>>
interpret(mlir::func::FuncOp func, llvm::ArrayRef<Tensor> arguments,
          Observer observer = nullptr);

/// Whether what `func` repeats, directly or not, can be run: functions of one
/// block that do not repeat themselves. Reports what is wrong.
llvm::LogicalResult verifyInterpretable(mlir::func::FuncOp func);

} // namespace dtrain

#endif // DTRAIN_INTERPRETER_INTERPRETER_H
