//===- Gradients.h - Reverse mode over blocks and repeats -------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The engine of dtrain-differentiate. Backward ops are built by
/// DifferentiableOpInterface, in reverse order of the forward ops. They refer
/// to forward values directly; the backward of a repeat's body moves to a
/// function of its own, and what it refers to is then saved by the forward
/// repeat, passed again or derived again.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_TRANSFORMS_TRAIN_GRADIENTS_H
#define DTRAIN_LIB_TRANSFORMS_TRAIN_GRADIENTS_H

#include "dtrain/Transforms/Utils/RepeatUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace dtrain {

/// Which values depend on a trainable parameter, and which are parameters or
/// views of them.
class Activity {
public:
  void addParameter(mlir::Value value);
  /// Follows the ops of a block, and of the bodies of its repeats, each of
  /// which has one caller.
  void propagate(mlir::Block &block);

  bool depends(mlir::Value value) const { return varied.contains(value); }
  bool isWeight(mlir::Value value) const { return weights.contains(value); }

private:
  bool add(mlir::Value value);
  void propagateRepeat(RepeatOp op);

  llvm::DenseSet<mlir::Value> varied, weights;
};

/// Gradients of the values of one block, as they gather.
class GradientMap {
public:
  void add(mlir::Value of, mlir::Value gradient);
  /// The sum of the gradients of `of`; null where none flows.
  mlir::Value sum(mlir::OpBuilder &b, mlir::Value of);

  /// The tensors that parameters' gradients are added to; a repeat replaces
  /// them as it adds to their rows.
  llvm::MapVector<mlir::Value, mlir::Value> accumulators;
  /// Adds the sum of the gradients of `of` to its accumulator. Returns false if
  /// nothing has been added to it in all.
  bool accumulate(mlir::OpBuilder &b, mlir::Value of, mlir::Value initial);

private:
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value, 2>> parts;
};

/// Builds backward ops for forward ones.
class Differentiator {
public:
  /// Gradients of parameters have the element type `gradientType` where that is
  /// f32, as the sums over micro-batches have.
  Differentiator(const Activity &activity, mlir::FloatType gradientType)
      : activity(activity), gradientType(gradientType) {}

  /// Appends at `b` the backward of the ops of `block` that came before, for
  /// the gradients in `grads`, and adds those of the block's other values to
  /// it. Diagnoses ops that have no backward.
  mlir::LogicalResult differentiate(mlir::Block &block, mlir::OpBuilder &b,
                                    GradientMap &grads) const;

  /// The type of a gradient's accumulator.
  mlir::RankedTensorType accumulatorType(mlir::Value of) const;

private:
  friend class RepeatDifferentiator;
  mlir::LogicalResult differentiateOp(mlir::Operation *op, mlir::OpBuilder &b,
                                      GradientMap &grads) const;
  mlir::LogicalResult buildOpBackward(mlir::Operation *op, mlir::OpBuilder &b,
                                      llvm::ArrayRef<mlir::Value> resultGrads,
                                      GradientMap &grads) const;
  mlir::LogicalResult
  differentiateRepeat(RepeatOp op, mlir::OpBuilder &b,
                      llvm::ArrayRef<mlir::Value> resultGrads,
                      GradientMap &grads) const;

  const Activity &activity;
  mlir::FloatType gradientType;
};

} // namespace dtrain

#endif // DTRAIN_LIB_TRANSFORMS_TRAIN_GRADIENTS_H
