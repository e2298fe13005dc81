//===- Work.h - Hardware-independent work of an op --------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// An op's work is kept as what it is: factor sizes, and which mesh axes divide
/// which factor. Work written for one set of degrees is re-priced for another
/// without touching IR (docs/reference/costs.md).
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_WORK_H
#define DTRAIN_MODEL_WORK_H

#include "dtrain/Model/Rule.h"
#include "dtrain/Support/Quantity.h"

namespace dtrain {

/// Bit i stands for mesh axis i.
using AxisMask = uint32_t;

/// How a factor takes part in a contraction, where the rule has a `contract`
/// clause and a product of two operands: in the first operand and the result
/// (m), the second and the result (n), both operands only (k), or all three
/// (batch). A factor of `contract` that only one operand has is summed over a
/// window (k); one that only the result has is such a window's gradient (m).
enum class FactorGroup : uint8_t { None, Batch, M, N, K };

struct FactorUse {
  int64_t size = 1;
  AxisMask axes = 0;
  FactorGroup group = FactorGroup::None;
};
struct WorkTerm {
  double coef = 0;
  llvm::SmallVector<unsigned, 4> factors;
};

/// The local shape of a contraction as a (batched) matrix multiplication.
struct GemmShape {
  int64_t batch = 1, m = 1, n = 1, k = 1;
};

struct Work {
  llvm::SmallVector<FactorUse, 6> factors;
  /// FLOPs by the MFU convention; FLOPs executed; bytes.
  llvm::SmallVector<WorkTerm, 1> contract, flops;
  llvm::SmallVector<WorkTerm, 3> read, written;
  /// Axes along which every coordinate does this much work without sharing it
  /// (replicated and linear op states).
  AxisMask replicated = 0;

  /// Sum of coef * product of ceil(size / degree): what the busiest device
  /// does. `degrees` is parallel to the mesh.
  double local(llvm::ArrayRef<WorkTerm> terms,
               llvm::ArrayRef<int64_t> degrees) const;
  /// Sum of coef * product of size / degree: the mean over the devices that
  /// run the op.
  double mean(llvm::ArrayRef<WorkTerm> terms,
              llvm::ArrayRef<int64_t> degrees) const;
  /// Whole-mesh totals: the undivided terms.
  double total(llvm::ArrayRef<WorkTerm> terms) const;
  GemmShape gemm(llvm::ArrayRef<int64_t> degrees) const;
};

/// Derives the work of one op. `elementBytes` are per operand, then per result;
/// `state` is the op's state per mesh axis. Bytes are all of operands and
/// results, except where the rule's `touch` says otherwise.
Work workOf(const BoundRule &rule, llvm::ArrayRef<double> operandBytes,
            llvm::ArrayRef<double> resultBytes, const OpState &state);

} // namespace dtrain

#endif // DTRAIN_MODEL_WORK_H
