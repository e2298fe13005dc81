//===- Tensor.h - Small dense arrays ----------------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The values of the interpreter: dense row-major arrays of doubles, whatever
/// the element type (an i1 is 0 or 1), and the copying of blocks by global
/// index sets that every distribution and communication is made of.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_INTERPRETER_TENSOR_H
#define DTRAIN_INTERPRETER_TENSOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

namespace dtrain {

/// A dense row-major array.
class Tensor {
public:
  explicit Tensor(llvm::ArrayRef<int64_t> shape = {}, double fill = 0);

  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t size() const { return static_cast<int64_t>(data.size()); }
  double &operator[](int64_t i) { return data[i]; }
  double operator[](int64_t i) const { return data[i]; }

  /// The slice `index` of the first dimension, and its replacement.
  Tensor getRow(int64_t index) const;
  void setRow(int64_t index, const Tensor &row);

private:
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<double> data;
};

/// The global indices, ascending, that a block holds of each dimension.
using IndexSets = llvm::SmallVector<llvm::SmallVector<int64_t>, 4>;

/// All indices of a tensor.
IndexSets allIndices(llvm::ArrayRef<int64_t> shape);

/// Calls `body` with the flat positions, in the block `to` and in the block
/// `from`, of every element that both hold. Returns the number of them.
int64_t forEachShared(const IndexSets &to, const IndexSets &from,
                      llvm::function_ref<void(int64_t, int64_t)> body);

/// The largest difference of two tensors of one shape, relative to the largest
/// magnitude in `expected` where that exceeds one; infinite where either has a
/// NaN or the shapes differ.
double relativeDifference(const Tensor &found, const Tensor &expected);

} // namespace dtrain

#endif // DTRAIN_INTERPRETER_TENSOR_H
