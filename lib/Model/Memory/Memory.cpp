//===- Memory.cpp - Peak of live memory over an order ---------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Memory/Memory.h"
#include "../Checks.h"
#include "llvm/ADT/STLExtras.h"

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

llvm::StringRef dtrain::stringifyMemoryCategory(MemoryCategory category) {
  switch (category) {
  case MemoryCategory::Parameters:
    return "parameters";
  case MemoryCategory::Gradients:
    return "gradients";
  case MemoryCategory::Optimizer:
    return "optimizer";
  case MemoryCategory::Activations:
    return "activations";
  case MemoryCategory::Workspace:
    return "workspace";
  }
  llvm_unreachable("covered switch");
}

Bytes MemoryUse::total() const {
  Bytes sum;
  for (Bytes bytes : byCategory)
    sum += bytes;
  return sum;
}

Expected<MemoryPlan::Allocation> MemoryPlan::allocate(MemoryCategory category,
                                                      Bytes size) {
  if (Error e = requireAmount("allocation size", size))
    return e;
  blocks.push_back({category, size, true});
  now[category] += size;
  if (now.total() > most.total())
    most = now;
  return blocks.size() - 1;
}

Error MemoryPlan::release(Allocation allocation) {
  if (allocation >= blocks.size())
    return makeError("expected one of " + llvm::Twine(blocks.size()) +
                     " allocations, found allocation " +
                     llvm::Twine(allocation));
  Block &block = blocks[allocation];
  if (!block.live)
    return makeError("allocation " + llvm::Twine(allocation) + " of " +
                     block.size.str() + " of " +
                     stringifyMemoryCategory(block.category) +
                     " is released twice");
  block.live = false;
  now[block.category] -= block.size;
  return Error::success();
}

Expected<MemoryUse> dtrain::peakOf(llvm::ArrayRef<LiveRange> ranges) {
  struct Edge {
    int64_t at;
    bool begins;
    size_t range;
  };
  std::vector<Edge> edges;
  edges.reserve(2 * ranges.size());
  for (auto [i, range] : llvm::enumerate(ranges)) {
    if (range.end < range.begin)
      return makeError("expected live range " + llvm::Twine(i) +
                       " to end at or after " + llvm::Twine(range.begin) +
                       ", found " + llvm::Twine(range.end));
    if (range.begin == range.end)
      continue;
    edges.push_back({range.begin, true, i});
    edges.push_back({range.end, false, i});
  }
  // What ends at a position makes room for what begins there.
  llvm::sort(edges, [](const Edge &a, const Edge &b) {
    return std::tie(a.at, a.begins, a.range) <
           std::tie(b.at, b.begins, b.range);
  });
  MemoryPlan plan;
  std::vector<MemoryPlan::Allocation> allocations(ranges.size());
  for (const Edge &edge : edges) {
    if (!edge.begins) {
      if (Error e = plan.release(allocations[edge.range]))
        return e;
      continue;
    }
    const LiveRange &range = ranges[edge.range];
    Expected<MemoryPlan::Allocation> allocation =
        plan.allocate(range.category, range.size);
    if (!allocation)
      return allocation.takeError();
    allocations[edge.range] = *allocation;
  }
  return plan.peak();
}
