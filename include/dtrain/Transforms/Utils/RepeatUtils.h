//===- RepeatUtils.h - Rebuilding repeats and their bodies ------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_UTILS_REPEATUTILS_H
#define DTRAIN_TRANSFORMS_UTILS_REPEATUTILS_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

namespace dtrain {

/// The segments of a repeat's operands (or of its body's arguments), as lists
/// that can be edited.
struct RepeatSegments {
  llvm::SmallVector<mlir::Value> carry, stacked, inout, shared;

  static RepeatSegments of(RepeatOp op);
  /// The body's arguments, in the segments of `op`'s operands.
  static RepeatSegments ofBody(RepeatOp op);
};

/// Builds a repeat of `body` with the range, direction, pin and origin of
/// `like`; the result types follow from the body.
RepeatOp buildRepeatLike(mlir::OpBuilder &b, RepeatOp like,
                         mlir::func::FuncOp body,
                         const RepeatSegments &operands);

/// Makes the function's type that of its block.
void updateFunctionType(mlir::func::FuncOp func);

/// Makes `values` what the function returns, and its type accordingly.
void setReturned(mlir::func::FuncOp func, mlir::ValueRange values);

/// Adds the ops that compute `value` to `ops`, operands first. False where it
/// is not computed from constants alone.
bool collectConstantOps(mlir::Value value,
                        llvm::SetVector<mlir::Operation *> &ops);
/// Whether `value` is computed from constants alone.
bool followsFromConstants(mlir::Value value);

/// Erases ops whose results have no use.
void eraseDeadOps(mlir::Block &block);

/// Whether nothing but `op` refers to its body.
bool isOnlyCaller(RepeatOp op, mlir::ModuleOp module);

/// Drops outputs of `op` without uses where it is the only caller of its body,
/// and stacked and shared operands that the body does not read. Returns the
/// repeat in its place, and whether anything changed.
std::pair<RepeatOp, bool> simplifyRepeat(RepeatOp op);

/// `simplifyRepeat` on every repeat of the module that is its body's only
/// caller, with dead ops erased, until nothing changes.
void simplifyRepeats(mlir::ModuleOp module);

} // namespace dtrain

#endif // DTRAIN_TRANSFORMS_UTILS_REPEATUTILS_H
