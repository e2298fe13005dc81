//===- IntConstant.h - Integer tensors known at import ----------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Values of the integer side computation of a model: shapes, axes, positions,
/// masks. A tensor whose values are affine in its indices (one value, an
/// arithmetic sequence along a dimension, …) is kept as such, of any size; any
/// other is a list of at most kMaxConstantElements.
///
/// Every operation gives nothing where the values cannot be known: too many,
/// or out of 64 bits. Shapes are the caller's to check, unless said otherwise.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_IMPORT_ONNX_INTCONSTANT_H
#define DTRAIN_LIB_IMPORT_ONNX_INTCONSTANT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace dtrain::onnx_import {

/// The product of the extents; nothing if it exceeds 64 bits or an extent is
/// negative.
std::optional<int64_t> countElements(llvm::ArrayRef<int64_t> shape);

/// The shape that broadcasting as in ONNX gives; nothing if extents disagree.
std::optional<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

class IntConstant {
public:
  using Result = std::optional<IntConstant>;
  /// Functions of two elements, as ONNX defines them: Div rounds towards zero,
  /// Mod has the divisor's sign, comparisons and logic give 0 or 1.
  enum class Binary {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Min,
    Max,
    Equal,
    Less,
    LessEqual,
    And,
    Or
  };
  enum class Reduce { Sum, Prod, Min, Max };

  /// offset + sum over dimensions of stride * index.
  static Result affine(llvm::ArrayRef<int64_t> shape, int64_t offset,
                       llvm::ArrayRef<int64_t> strides);
  static Result splat(llvm::ArrayRef<int64_t> shape, int64_t value);
  static Result list(llvm::ArrayRef<int64_t> values);
  /// From row-major values, as many as the shape has.
  static Result get(llvm::ArrayRef<int64_t> shape,
                    llvm::ArrayRef<int64_t> values);
  /// Python's range(start, limit, step); nothing if step is 0.
  static Result range(int64_t start, int64_t limit, int64_t step);

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  unsigned getRank() const { return shape.size(); }
  int64_t getNumElements() const { return *countElements(shape); }
  bool isAffine() const { return values.empty(); }
  /// Of an affine constant.
  int64_t getOffset() const { return offset; }
  llvm::ArrayRef<int64_t> getStrides() const { return strides; }
  /// The one value that all elements have, if they do.
  std::optional<int64_t> getSplat() const;
  int64_t at(llvm::ArrayRef<int64_t> index) const;
  /// Row-major values, unless too many.
  std::optional<llvm::SmallVector<int64_t>> getValues() const;

  /// With broadcasting; nothing if the shapes do not fit.
  static Result binary(Binary kind, const IntConstant &a, const IntConstant &b);
  static Result where(const IntConstant &condition, const IntConstant &a,
                      const IntConstant &b);
  Result map(llvm::function_ref<std::optional<int64_t>(int64_t)> fn) const;
  Result reshape(llvm::ArrayRef<int64_t> newShape) const;
  Result transpose(llvm::ArrayRef<int64_t> perm) const;
  /// To a shape that this one broadcasts to.
  Result expand(llvm::ArrayRef<int64_t> newShape) const;
  /// `count` elements of `dim`, from `start`, every `step`-th; in range.
  Result slice(unsigned dim, int64_t start, int64_t count, int64_t step) const;
  /// Nothing if an index is out of range (negative ones count from the end).
  Result gather(unsigned axis, const IntConstant &indices) const;
  static Result concat(llvm::ArrayRef<IntConstant> parts, unsigned axis);
  Result reduce(Reduce kind, llvm::ArrayRef<int64_t> axes, bool keepDims) const;

private:
  using Index = llvm::ArrayRef<int64_t>;
  static Result
  generate(llvm::ArrayRef<int64_t> shape,
           llvm::function_ref<std::optional<int64_t>(Index)> element);
  /// The element that position `index` of a broadcast result reads.
  int64_t atBroadcast(Index index) const;

  llvm::SmallVector<int64_t> shape;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;
  /// Row-major; empty if affine.
  llvm::SmallVector<int64_t> values;
};

} // namespace dtrain::onnx_import

#endif // DTRAIN_LIB_IMPORT_ONNX_INTCONSTANT_H
