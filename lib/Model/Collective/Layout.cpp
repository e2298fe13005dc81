//===- Layout.cpp - How groups of devices lie on the nodes ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Nodes hold P consecutive ranks. From the first axis on whose stride is a
/// multiple of P, coordinates only tell apart nodes that look the same, so the
/// ranks below that stride show everything. Of these, the slowest axis repeats
/// the picture after lcm(stride, P) ranks: one node, where strides divide P.
///
//===----------------------------------------------------------------------===//

#include "../Checks.h"
#include "dtrain/Model/Collective/Collective.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <numeric>

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

namespace {
/// What one node has of one group.
struct Part {
  int64_t ranks = 0;
  bool sends = false;
};

class LayoutSearch {
public:
  static Expected<LayoutSearch> get(llvm::ArrayRef<int64_t> fastestFirst,
                                    const CommGroups &groups,
                                    int64_t devicesPerNode);
  GroupLayout run();

private:
  LayoutSearch(const CommGroups &groups) : groups(groups) {}
  Error setMesh(llvm::ArrayRef<int64_t> fastestFirst, int64_t devicesPerNode);
  Error checkGroups();
  Error setSpan();
  bool inSet(unsigned axis) const {
    return llvm::is_contained(groups.axes, axis);
  }
  void visit(const llvm::DenseSet<int64_t> *members, bool anySender,
             int64_t sender);
  void count(const llvm::DenseMap<int64_t, Part> &node);

  const CommGroups &groups;
  llvm::ArrayRef<int64_t> sizes;
  llvm::SmallVector<int64_t, 6> strides;
  int64_t total = 1, perNode = 1;
  /// The first axis whose stride is a multiple of the node.
  unsigned aligned = 0;
  /// Coordinates along the set's axes below `aligned`, and along all.
  int64_t lowCoordinates = 1, coordinates = 1;
  /// Ranks to look at.
  int64_t span = 1;
  /// Ranks of a group.
  int64_t ranks = 1;

  GroupLayout crossing, inside;
};
} // namespace

Error LayoutSearch::setMesh(llvm::ArrayRef<int64_t> fastestFirst,
                            int64_t devicesPerNode) {
  constexpr int64_t kMostDevices = int64_t(1) << 31;
  if (Error e = requireCount("devices per node", devicesPerNode))
    return e;
  sizes = fastestFirst;
  for (int64_t size : sizes) {
    if (Error e = requireCount("mesh axis size", size))
      return e;
    if (size > kMostDevices / total)
      return makeError("expected at most " + llvm::Twine(kMostDevices) +
                       " devices in a mesh, found more");
    strides.push_back(total);
    total *= size;
  }
  perNode = std::min(devicesPerNode, total);
  while (aligned < sizes.size() && strides[aligned] % perNode != 0)
    ++aligned;
  return Error::success();
}

Error LayoutSearch::checkGroups() {
  for (auto [i, axis] : llvm::enumerate(groups.axes)) {
    if (axis >= sizes.size())
      return makeError("expected an axis below " + llvm::Twine(sizes.size()) +
                       ", found " + llvm::Twine(axis));
    if (llvm::is_contained(llvm::ArrayRef(groups.axes).take_front(i), axis))
      return makeError("expected different axes, found " + llvm::Twine(axis) +
                       " twice");
    coordinates *= sizes[axis];
    if (axis < aligned)
      lowCoordinates *= sizes[axis];
  }
  llvm::SmallDenseSet<int64_t> seen;
  for (int64_t c : groups.between)
    if (c < 0 || c >= coordinates || !seen.insert(c).second)
      return makeError("expected different coordinates below " +
                       llvm::Twine(coordinates) + ", found " + llvm::Twine(c));
  if (groups.oneWay && groups.between.size() != 2)
    return makeError("expected a source and a target of a transfer, found " +
                     llvm::Twine(groups.between.size()) + " coordinates");
  ranks = groups.between.empty() ? coordinates
                                 : static_cast<int64_t>(groups.between.size());
  return Error::success();
}

Error LayoutSearch::setSpan() {
  if (aligned == 0 || total <= perNode)
    return Error::success();
  span = aligned < sizes.size() ? strides[aligned] : total;
  // Who takes part may depend on the coordinate of the slowest axis.
  if (groups.between.empty() || !inSet(aligned - 1))
    span = std::min(span, std::lcm(strides[aligned - 1], perNode));
  constexpr int64_t kMostRanks = int64_t(1) << 24;
  if (span > kMostRanks)
    return makeError("expected mesh axes that divide nodes of " +
                     llvm::Twine(perNode) + " devices, or that they divide; " +
                     llvm::Twine(span) + " devices lie differently");
  return Error::success();
}

Expected<LayoutSearch> LayoutSearch::get(llvm::ArrayRef<int64_t> fastestFirst,
                                         const CommGroups &groups,
                                         int64_t devicesPerNode) {
  LayoutSearch search(groups);
  if (Error e = search.setMesh(fastestFirst, devicesPerNode))
    return e;
  if (Error e = search.checkGroups())
    return e;
  if (Error e = search.setSpan())
    return e;
  return search;
}

/// Adds one node to what is the worst so far.
void LayoutSearch::count(const llvm::DenseMap<int64_t, Part> &node) {
  int64_t numCrossing = 0;
  for (const auto &[group, part] : node) {
    if (part.ranks == ranks)
      continue;
    crossing.ranksPerNode = std::max(crossing.ranksPerNode, part.ranks);
    numCrossing += part.sends;
  }
  crossing.groupsPerNode = std::max(crossing.groupsPerNode, numCrossing);
  inside.groupsPerNode =
      std::max(inside.groupsPerNode, static_cast<int64_t>(node.size()));
}

/// Looks at the devices whose coordinate along the low axes of the set is one
/// of `members` (all if null). Those with coordinate `sender` send, or all.
void LayoutSearch::visit(const llvm::DenseSet<int64_t> *members, bool anySender,
                         int64_t sender) {
  llvm::DenseMap<int64_t, Part> node;
  for (int64_t rank = 0; rank < span; ++rank) {
    if (rank % perNode == 0) {
      count(node);
      node.clear();
    }
    int64_t coordinate = 0, weight = 1, group = 0;
    for (unsigned axis = 0; axis < aligned; ++axis) {
      int64_t digit = rank / strides[axis] % sizes[axis];
      if (inSet(axis)) {
        coordinate += digit * weight;
        weight *= sizes[axis];
      } else {
        group += digit * strides[axis];
      }
    }
    if (members && !members->contains(coordinate))
      continue;
    Part &part = node[group];
    ++part.ranks;
    part.sends |= anySender || coordinate == sender;
  }
  count(node);
}

GroupLayout LayoutSearch::run() {
  crossing = {ranks, 0, 0};
  inside = {ranks, ranks, 1};
  if (total <= perNode) {
    inside.groupsPerNode = total / coordinates;
    return inside;
  }
  if (groups.between.empty()) {
    visit(nullptr, /*anySender=*/true, 0);
  } else {
    // Coordinates that differ on the aligned axes are on different nodes.
    llvm::MapVector<int64_t, llvm::DenseSet<int64_t>> members;
    for (int64_t c : groups.between)
      members[c / lowCoordinates].insert(c % lowCoordinates);
    int64_t source = groups.between.front();
    for (auto &[high, low] : members) {
      bool isSource = high == source / lowCoordinates;
      visit(&low, !groups.oneWay, isSource ? source % lowCoordinates : -1);
    }
  }
  return crossing.ranksPerNode > 0 ? crossing : inside;
}

Expected<GroupLayout> dtrain::layoutOf(llvm::ArrayRef<int64_t> fastestFirst,
                                       const CommGroups &groups,
                                       int64_t devicesPerNode) {
  Expected<LayoutSearch> search =
      LayoutSearch::get(fastestFirst, groups, devicesPerNode);
  if (!search)
    return search.takeError();
  return search->run();
}
