//===- Layout.cpp - How the groups of a mesh axis lie on the nodes --------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Checks.h"
#include "dtrain/Model/Collective/Collective.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

namespace {
/// One axis of a mesh of consecutive ranks.
struct AxisGeometry {
  int64_t size;    // of the axis
  int64_t stride;  // ranks between neighbours on it
  int64_t total;   // devices of the mesh
  int64_t perNode; // devices of one node
  int64_t block() const { return size * stride; }
  /// After so many devices the picture repeats.
  int64_t period() const { return std::min(total, std::lcm(block(), perNode)); }
};
} // namespace

static Expected<AxisGeometry> geometryOf(llvm::ArrayRef<int64_t> fastestFirst,
                                         unsigned axis,
                                         int64_t devicesPerNode) {
  if (axis >= fastestFirst.size())
    return makeError("expected an axis below " +
                     llvm::Twine(fastestFirst.size()) + ", found " +
                     llvm::Twine(axis));
  constexpr int64_t kMostDevices = int64_t(1) << 31;
  if (Error e = requireCount("devices per node", devicesPerNode))
    return e;
  AxisGeometry g{fastestFirst[axis], 1, 1,
                 std::min(devicesPerNode, kMostDevices)};
  for (auto [i, size] : llvm::enumerate(fastestFirst)) {
    if (Error e = requireCount("mesh axis size", size))
      return e;
    if (size > kMostDevices / g.total)
      return makeError("expected at most " + llvm::Twine(kMostDevices) +
                       " devices in a mesh, found more");
    if (i == axis)
      g.stride = g.total;
    g.total *= size;
  }
  return g;
}

Expected<GroupLayout> dtrain::layoutOfAxis(llvm::ArrayRef<int64_t> fastestFirst,
                                           unsigned axis,
                                           int64_t devicesPerNode) {
  Expected<AxisGeometry> g = geometryOf(fastestFirst, axis, devicesPerNode);
  if (!g)
    return g.takeError();
  int64_t used = std::min(g->perNode, g->total); // devices of one node
  if (g->size == 1)
    return GroupLayout{1, 1, used};
  if (g->total <= g->perNode || g->perNode % g->block() == 0)
    return GroupLayout{g->size, g->size, used / g->size};
  if (g->stride % g->perNode == 0)
    return GroupLayout{g->size, 1, used};

  // Groups lie unevenly on the nodes: count, per node, the groups that reach
  // beyond it and the most ranks that one of them has there.
  GroupLayout worst{g->size, 0, 0};
  llvm::DenseMap<int64_t, int64_t> crossingInNode;
  for (int64_t block = 0; block < g->period(); block += g->block()) {
    for (int64_t offset = 0; offset < g->stride; ++offset) {
      int64_t first = block + offset;
      int64_t last = first + (g->size - 1) * g->stride;
      if (first / g->perNode == last / g->perNode)
        continue;
      int64_t node = -1, inNode = 0;
      for (int64_t rank = first; rank <= last; rank += g->stride) {
        if (rank / g->perNode != node) {
          node = rank / g->perNode;
          inNode = 0;
          int64_t groups = ++crossingInNode[node];
          worst.groupsPerNode = std::max(worst.groupsPerNode, groups);
        }
        worst.ranksPerNode = std::max(worst.ranksPerNode, ++inNode);
      }
    }
  }
  if (worst.ranksPerNode == 0)
    return GroupLayout{g->size, g->size, std::max<int64_t>(1, used / g->size)};
  return worst;
}

Expected<GroupLayout>
dtrain::layoutOfTransfer(llvm::ArrayRef<int64_t> fastestFirst, unsigned axis,
                         int64_t from, int64_t to, int64_t devicesPerNode) {
  Expected<AxisGeometry> g = geometryOf(fastestFirst, axis, devicesPerNode);
  if (!g)
    return g.takeError();
  if (from < 0 || to < 0 || from >= g->size || to >= g->size || from == to)
    return makeError("expected two coordinates of an axis of size " +
                     llvm::Twine(g->size) + ", found " + llvm::Twine(from) +
                     " and " + llvm::Twine(to));
  if (g->stride % g->perNode == 0)
    return GroupLayout{2, 1, g->perNode};
  GroupLayout inside{
      2, 2, std::max<int64_t>(1, std::min(g->perNode, g->total) / g->size)};
  if (g->total <= g->perNode || g->perNode % g->block() == 0)
    return inside;
  int64_t most = 0;
  llvm::DenseMap<int64_t, int64_t> sendersInNode;
  for (int64_t block = 0; block < g->period(); block += g->block())
    for (int64_t offset = 0; offset < g->stride; ++offset) {
      int64_t node = (block + offset + from * g->stride) / g->perNode;
      int64_t target = (block + offset + to * g->stride) / g->perNode;
      if (node != target)
        most = std::max(most, ++sendersInNode[node]);
    }
  return most == 0 ? inside : GroupLayout{2, 1, most};
}
