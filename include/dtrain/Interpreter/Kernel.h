//===- Kernel.h - What each op computes -------------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// One kernel per op. A kernel sees a set of global indices for each factor of
/// the op's rule and the local blocks of the operands that belong to them, and
/// nothing else: with all indices it is the sequential op, with a device's
/// indices it is that device's share. Only kernels whose meaning depends on
/// positions (lookups, causal attention, iota) read the indices.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_INTERPRETER_KERNEL_H
#define DTRAIN_INTERPRETER_KERNEL_H

#include "dtrain/Interpreter/Tensor.h"
#include "dtrain/Model/Rule.h"
#include "mlir/IR/Operation.h"

namespace dtrain {

/// One execution of an op on one device.
struct KernelCall {
  mlir::Operation *op;
  /// The op's rule and global factor sizes.
  const BoundRule &bound;
  /// For each factor, the global indices that the device works on.
  const IndexSets &index;
  /// The local block of each operand.
  llvm::ArrayRef<const Tensor *> operands;
};

/// Runs the op's kernel; one local block per result. Errors: an op without a
/// kernel (`custom`, or one that has no rule), an operand whose block does not
/// have the shape that the indices give, an index outside the table that it
/// looks up.
llvm::Expected<llvm::SmallVector<Tensor>> runKernel(const KernelCall &call);

} // namespace dtrain

#endif // DTRAIN_INTERPRETER_KERNEL_H
