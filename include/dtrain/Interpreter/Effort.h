//===- Effort.h - What interpreting a program takes -------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The interpreter is for small programs. What a run takes is known before it:
/// a check that would take all memory is refused instead.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_INTERPRETER_EFFORT_H
#define DTRAIN_INTERPRETER_EFFORT_H

#include "dtrain/IR/DTrain/DTrain.h"

namespace dtrain {

/// Elements of operands and results, and multiply-adds, of one run of an op on
/// whole tensors. A double: what overflows is too much in any case.
double effortOf(RuleOpInterface op);

/// The same of a function on one device: of its arguments, its ops, and the
/// bodies of its repeats for every trip.
double effortOf(mlir::func::FuncOp func);

/// The same on every device of `mesh`: of the local tensors, with each device
/// taken to do what a device that all of an op falls to would, where it is not
/// split.
double effortOnMesh(mlir::func::FuncOp func, MeshAttr mesh);

/// Success if `effort` is at most `limit`; else one error at `loc` with both,
/// and how to raise the limit.
mlir::LogicalResult checkEffort(mlir::Location loc, double effort,
                                uint64_t limit);

} // namespace dtrain

#endif // DTRAIN_INTERPRETER_EFFORT_H
