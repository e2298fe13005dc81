//===- VirtualTensor.h - A tensor on a virtual mesh -------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Real arrays on a virtual mesh: one local array per device that holds any.
/// One routine executes every transition by intersecting index sets inside the
/// groups of devices that differ in one axis only
/// (docs/reference/axis-states.md). Random placements for property tests.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TEST_UNIT_MODEL_VIRTUALTENSOR_H
#define DTRAIN_TEST_UNIT_MODEL_VIRTUALTENSOR_H

#include "dtrain/Model/AxisState.h"
#include <random>

namespace dtrain::test {

using Random = std::mt19937_64;
/// Uniform in [lo, hi]; the same on every standard library.
int64_t uniform(Random &random, int64_t lo, int64_t hi);
/// The reduction of nothing.
double identityOf(ReduceOp op);
double reduce(ReduceOp op, double a, double b);

class VirtualTensor {
public:
  /// A local array, row-major over the global indices held of each dimension.
  struct Block {
    llvm::SmallVector<llvm::SmallVector<int64_t>> indices;
    std::vector<double> values;
  };

  /// Places `global` (row-major) by `state`. What Partial devices contribute is
  /// drawn from `random`, exactly representable, and not a mere mask.
  static VirtualTensor place(llvm::ArrayRef<MeshAxis> mesh,
                             llvm::ArrayRef<int64_t> shape,
                             const TensorState &state,
                             llvm::ArrayRef<double> global, Random &random);

  /// Executes one change of `axis`. A free one may read only what the device
  /// itself holds. Returns what went wrong, empty if nothing did.
  std::string move(unsigned axis, const AxisState &to, bool isFree);

  /// Compares with `global`: every device holds exactly the indices that the
  /// state says, and every combination of partials reduces to the value.
  /// Returns the first difference, empty if there is none.
  std::string compare(llvm::ArrayRef<double> global) const;

  const TensorState &state() const { return placement; }
  const std::optional<Block> &block(size_t device) const {
    return blocks[device];
  }

private:
  VirtualTensor(llvm::ArrayRef<MeshAxis> mesh, llvm::ArrayRef<int64_t> shape,
                const TensorState &state);
  llvm::SmallVector<int64_t> coordinates(size_t device) const;
  size_t stride(unsigned axis) const;
  Block emptyBlock(const TensorState &state,
                   llvm::ArrayRef<int64_t> device) const;
  /// The one coordinate whose data enters a Partial; null: each enters its own.
  static std::optional<int64_t> owner(const AxisState &from,
                                      const AxisState &to);
  std::string moveGroup(size_t first, unsigned axis, const AxisState &to,
                        const TensorState &after, bool isFree);

  llvm::SmallVector<MeshAxis> mesh;
  llvm::SmallVector<int64_t> shape;
  TensorState placement;
  std::vector<std::optional<Block>> blocks;
};

/// One to three axes of two to four coordinates.
llvm::SmallVector<MeshAxis> randomMesh(Random &random);
/// One to three dimensions with many divisors, and now and then few.
llvm::SmallVector<int64_t> randomShape(Random &random);
/// A valid placement; all partials reduce by `op`.
TensorState randomState(Random &random, llvm::ArrayRef<MeshAxis> mesh,
                        llvm::ArrayRef<int64_t> shape,
                        ReduceOp op = ReduceOp::Sum);

} // namespace dtrain::test

#endif // DTRAIN_TEST_UNIT_MODEL_VIRTUALTENSOR_H
