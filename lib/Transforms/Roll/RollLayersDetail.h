//===- RollLayersDetail.h - Iterations of a repeated layer ------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_TRANSFORMS_ROLL_ROLLLAYERSDETAIL_H
#define DTRAIN_LIB_TRANSFORMS_ROLL_ROLLLAYERSDETAIL_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "llvm/ADT/DenseMap.h"

namespace dtrain::roll {

/// Ops that are equal but for their operands have equal numbers.
class Signatures {
public:
  unsigned of(mlir::Operation *op);

private:
  llvm::DenseMap<mlir::Operation *, unsigned> known;
  llvm::DenseMap<size_t,
                 llvm::SmallVector<std::pair<mlir::Operation *, unsigned>, 1>>
      buckets;
  unsigned count = 0;
};

using Iteration = llvm::SmallVector<mlir::Operation *>;

/// Where the body of a layer takes an operand from.
struct Source {
  enum Kind : uint8_t {
    Local,  // result `result` of main op `index` of the same iteration
    Carry,  // carried slot `index`
    Row,    // row `index`, one tensor per iteration
    Shared, // shared value `index`, one tensor for all
    Side    // op `index` outside the iterations, cloned in each; its `result`
  } kind;
  unsigned index, result = 0;
};

/// An op that each iteration has its own copy of, but that does not depend on
/// the iteration before: the move of a weight, say.
struct SideOp {
  llvm::SmallVector<mlir::Operation *> ops; // per iteration
  llvm::SmallVector<Source> operands;
};

/// The anatomy of a repeated layer.
struct Layer {
  llvm::SmallVector<Iteration> iterations;
  /// Sources of the operands of each main op.
  llvm::SmallVector<llvm::SmallVector<Source>> operands;
  /// A carried slot: result `result` of op `index`, and its first value.
  struct CarrySlot {
    unsigned index, result;
    mlir::Value init;
  };
  llvm::SmallVector<CarrySlot> carries;
  llvm::SmallVector<llvm::SmallVector<mlir::Value>> rows;
  llvm::SmallVector<mlir::Value> shared;
  llvm::SmallVector<SideOp> sides; // operands before users
};

/// Works out how the iterations hang together. On failure returns the first
/// iteration that does not fit those before it (at least 1).
unsigned analyze(llvm::ArrayRef<Iteration> iterations, Signatures &signatures,
                 Layer &layer);

/// The iteration before the first one, found by following its inputs back to
/// ops like those of `second`; empty if there is none.
Iteration findPrevious(const Iteration &first, const Iteration &second,
                       Signatures &signatures);

/// Makes the layer a function and its iterations a `dtrain.repeat` of it, which
/// this returns.
RepeatOp outline(mlir::func::FuncOp func, const Layer &layer);

} // namespace dtrain::roll

#endif // DTRAIN_LIB_TRANSFORMS_ROLL_ROLLLAYERSDETAIL_H
