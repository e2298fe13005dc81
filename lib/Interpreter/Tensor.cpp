//===- Tensor.cpp - Small dense arrays ------------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Interpreter/Tensor.h"
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace dtrain;

Tensor::Tensor(llvm::ArrayRef<int64_t> shape, double fill)
    : shape(shape), data(std::accumulate(shape.begin(), shape.end(), int64_t(1),
                                         std::multiplies<int64_t>()),
                         fill) {}

Tensor Tensor::getRow(int64_t index) const {
  Tensor row(getShape().drop_front());
  std::copy_n(data.begin() + index * row.size(), row.size(), row.data.begin());
  return row;
}

void Tensor::setRow(int64_t index, const Tensor &row) {
  std::copy(row.data.begin(), row.data.end(),
            data.begin() + index * row.size());
}

IndexSets dtrain::allIndices(llvm::ArrayRef<int64_t> shape) {
  IndexSets sets;
  for (int64_t extent : shape) {
    llvm::SmallVector<int64_t> all(extent);
    std::iota(all.begin(), all.end(), 0);
    sets.push_back(std::move(all));
  }
  return sets;
}

/// Pairs of positions of equal indices in two ascending lists.
static llvm::SmallVector<std::pair<int64_t, int64_t>>
sharedPositions(llvm::ArrayRef<int64_t> to, llvm::ArrayRef<int64_t> from) {
  llvm::SmallVector<std::pair<int64_t, int64_t>> pairs;
  for (size_t i = 0, j = 0; i < to.size() && j < from.size();) {
    if (to[i] == from[j])
      pairs.push_back({i++, j++});
    else if (to[i] < from[j])
      ++i;
    else
      ++j;
  }
  return pairs;
}

int64_t dtrain::forEachShared(const IndexSets &to, const IndexSets &from,
                              llvm::function_ref<void(int64_t, int64_t)> body) {
  llvm::SmallVector<std::pair<int64_t, int64_t>> flat = {{0, 0}};
  for (unsigned d = 0; d < to.size(); ++d) {
    llvm::SmallVector<std::pair<int64_t, int64_t>> next;
    for (auto [i, j] : flat)
      for (auto [di, dj] : sharedPositions(to[d], from[d]))
        next.push_back({i * static_cast<int64_t>(to[d].size()) + di,
                        j * static_cast<int64_t>(from[d].size()) + dj});
    flat = std::move(next);
  }
  for (auto [i, j] : flat)
    body(i, j);
  return static_cast<int64_t>(flat.size());
}

double dtrain::relativeDifference(const Tensor &found, const Tensor &expected) {
  const double infinite = std::numeric_limits<double>::infinity();
  if (found.getShape() != expected.getShape())
    return infinite;
  double scale = 1, difference = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    double delta = std::abs(found[i] - expected[i]);
    if (std::isnan(delta))
      return infinite;
    difference = std::max(difference, delta);
    scale = std::max(scale, std::abs(expected[i]));
  }
  return difference / scale;
}
