//===- Compute.h - Time of one op on one device -----------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What one op costs on one device, from its work, the chip and the software
/// stack. Every coefficient is a figure of `Machine` or `Stack`; a figure that
/// is missing there is an error, never zero.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_COMPUTE_COMPUTE_H
#define DTRAIN_MODEL_COMPUTE_COMPUTE_H

#include "dtrain/Model/Machine.h"
#include "dtrain/Model/OpClass.h"
#include "dtrain/Model/Work.h"

namespace dtrain {

/// The local shape of an attention core: scores are queryLength x keyLength for
/// each of batch x heads.
struct AttentionShape {
  int64_t batch = 1;
  int64_t heads = 1, kvHeads = 1; // heads is a multiple of kvHeads
  int64_t queryLength = 1, keyLength = 1;
  int64_t headDim = 1, valueDim = 1; // of queries and keys; of values
  bool causal = false;
};

/// Where dropout acts on a residual connection, in a stack that has it.
enum class ResidualDropout : uint8_t { None, Forward, Backward };

/// The work that one device does for one op, once. What a stack's facts say
/// replaces the natural bytes: of attention, by its kernel; of Loss and
/// LossBackward, per logit; of Optimizer (mixed-precision Adam; other
/// optimizers are MemoryBound), per parameter; of Accumulate, where the
/// contraction's epilogue does it.
struct OpWork {
  OpClass cls = OpClass::MemoryBound;
  /// The matrix unit's element type (Contraction, Attention).
  Precision precision = Precision::BF16;
  /// Executed FLOPs. For a Contraction 2*batch*m*n*k, which is checked;
  /// attention derives its own from its shape.
  Flops flops;
  /// Natural bytes: of all operands and results.
  Bytes read, written;
  GemmShape gemm;
  AttentionShape attention;
  /// Loss, LossBackward: logits. Accumulate: weights, once per micro-batch.
  /// Optimizer: parameters. Contraction in a type of one byte or less: operand
  /// elements that are cast to it first. MemoryBound: elements that dropout
  /// acts on. Otherwise unused.
  double elements = 0;
  /// Kernels launched for the natural bytes.
  int64_t kernels = 1;
  /// A Contraction that is one launch over experts of different sizes.
  bool grouped = false;
  /// A MemoryBound residual addition, or its backward.
  ResidualDropout dropout = ResidualDropout::None;
};

/// What an op costs: its time on the device, and what energy is paid for.
struct OpCost {
  Time device;
  /// Executed by the matrix or vector unit, at the op's precision.
  Flops flops;
  /// Moved to and from device memory.
  Bytes traffic;
  /// What the host needs to launch it: a stage takes max(device, host).
  Time host;

  OpCost &operator+=(const OpCost &o) {
    device += o.device;
    flops += o.flops;
    traffic += o.traffic;
    host += o.host;
    return *this;
  }
};

/// Costs one op. Errors: a negative or non-finite amount, an extent below one,
/// a precision the chip has no peak for (naming those it has), a missing
/// figure.
llvm::Expected<OpCost> costOf(const OpWork &work, const Machine &machine,
                              const Stack &stack);
/// `costOf(…).device`.
llvm::Expected<Time> timeOf(const OpWork &work, const Machine &machine,
                            const Stack &stack);

/// 2*batch*m*n*k.
llvm::Expected<Flops> flopsOf(const GemmShape &shape);

/// The most FLOPs that this work counts by the MFU convention, on one device:
/// those of its product, of attention in full whatever its mask (twice of
/// backward), of other work those that it executes. Errors: an extent below
/// one.
llvm::Expected<Flops> mostCountedFlops(const OpWork &work);

/// One contraction that moves `traffic`: launch + max(flops / (E * peak),
/// traffic / (eta * bandwidth)), with E of the precision (docs/calibration.md,
/// Contractions, FP8).
llvm::Expected<Time> contractionTime(const Machine &machine,
                                     Precision precision,
                                     const GemmShape &shape, Bytes traffic);

/// kernels * launch + traffic / (eta * bandwidth) (docs/calibration.md,
/// Memory-bound ops).
llvm::Expected<Time> memoryBoundTime(const Machine &machine, int64_t kernels,
                                     Bytes traffic);

/// One fused attention kernel, forward or backward (docs/calibration.md,
/// Attention).
llvm::Expected<Time> fusedAttentionTime(const Machine &machine,
                                        const AttentionModel &kernel,
                                        Precision precision,
                                        const AttentionShape &shape,
                                        bool backward);

/// Attention as batched matrix multiplications without causal skipping, softmax
/// and, in a stack that has it, dropout (docs/calibration.md, Attention).
llvm::Expected<OpCost> unfusedAttentionCost(const Machine &machine,
                                            const Stack &stack,
                                            Precision precision,
                                            const AttentionShape &shape,
                                            bool backward);

/// The time of launching `kernels` dtrain ops from the host.
llvm::Expected<Time> hostTime(const Stack &stack, int64_t kernels);

} // namespace dtrain

#endif // DTRAIN_MODEL_COMPUTE_COMPUTE_H
