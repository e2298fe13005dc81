//===- Memory.h - Peak of live memory over an order -------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// How much memory one device needs: what is allocated and released, in the
/// order in which it happens, and the most that is live at once, by category.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_MEMORY_MEMORY_H
#define DTRAIN_MODEL_MEMORY_MEMORY_H

#include "dtrain/Support/Quantity.h"
#include "llvm/ADT/ArrayRef.h"
#include <array>
#include <vector>

namespace dtrain {

enum class MemoryCategory : uint8_t {
  Parameters,
  Gradients,
  Optimizer, // master weights and moments
  Activations,
  Workspace,
};
constexpr unsigned kMemoryCategories = 5;
llvm::StringRef stringifyMemoryCategory(MemoryCategory category);

/// Live bytes by category at one moment; they sum to `total()`.
struct MemoryUse {
  std::array<Bytes, kMemoryCategories> byCategory;
  Bytes &operator[](MemoryCategory c) {
    return byCategory[static_cast<unsigned>(c)];
  }
  Bytes operator[](MemoryCategory c) const {
    return byCategory[static_cast<unsigned>(c)];
  }
  Bytes total() const;
};

/// Allocations and releases of one device, in order.
class MemoryPlan {
public:
  using Allocation = size_t;
  /// Fails on a size that is negative or not finite.
  llvm::Expected<Allocation> allocate(MemoryCategory category, Bytes size);
  /// Fails on what was never allocated, or is released already.
  llvm::Error release(Allocation allocation);
  const MemoryUse &live() const { return now; }
  /// The first moment at which the most was live.
  const MemoryUse &peak() const { return most; }

private:
  struct Block {
    MemoryCategory category;
    Bytes size;
    bool live;
  };
  std::vector<Block> blocks;
  MemoryUse now, most;
};

/// A buffer that lives from position `begin` of an order until before `end`.
struct LiveRange {
  MemoryCategory category = MemoryCategory::Activations;
  Bytes size;
  int64_t begin = 0, end = 0;
};

/// The peak of buffers given by their live ranges, in any order. Fails on a bad
/// size or a range that ends before it begins.
llvm::Expected<MemoryUse> peakOf(llvm::ArrayRef<LiveRange> ranges);

} // namespace dtrain

#endif // DTRAIN_MODEL_MEMORY_MEMORY_H
