//===- Collective.h - Time and bytes of a communication ---------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a collective costs on a machine of nodes: inside one node by a
/// two-protocol model, across nodes by the share of the node's network that the
/// group gets (docs/calibration.md, Collectives).
///
/// Sizes are those of the tensor's local block when the axes are replicated,
/// written B below, whatever the kind: the full result of an all_gather, the
/// full operand of a reduce_scatter. An all_to_all thus holds B/n per rank.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_COLLECTIVE_COLLECTIVE_H
#define DTRAIN_MODEL_COLLECTIVE_COLLECTIVE_H

#include "dtrain/Model/AxisState.h"
#include "dtrain/Model/Machine.h"

namespace dtrain {

enum class CollectiveKind : uint8_t {
  AllReduce,
  AllGather,
  ReduceScatter,
  AllToAll,
  Broadcast,
  Reduce,
  Gather,
  Scatter,
  Send,
};
llvm::StringRef stringifyCollectiveKind(CollectiveKind kind);

/// How the groups of a communication lie on the nodes, seen from the group that
/// the network serves worst.
struct GroupLayout {
  /// Ranks of one group.
  int64_t ranks = 1;
  /// Most ranks of one group in one node.
  int64_t ranksPerNode = 1;
  /// Groups that share one node's network; of transfers, those that leave the
  /// node.
  int64_t groupsPerNode = 1;

  bool crossesNodes() const { return ranks > ranksPerNode; }
  int64_t nodes() const { return (ranks + ranksPerNode - 1) / ranksPerNode; }
  /// Of what a rank sends, the part that leaves its node: of a ring through
  /// several nodes, one rank of each sends to the next node.
  double crossingShare() const {
    return crossesNodes() ? static_cast<double>(nodes()) / ranks : 0;
  }
  bool operator==(const GroupLayout &o) const {
    return ranks == o.ranks && ranksPerNode == o.ranksPerNode &&
           groupsPerNode == o.groupsPerNode;
  }
};

/// Which devices of a mesh communicate with one another: those that differ only
/// in their coordinates on a set of axes.
struct CommGroups {
  /// Positions in the mesh, fastest axis first; in any order, none twice.
  llvm::SmallVector<unsigned, 2> axes;
  /// The coordinates that take part, all if none are listed. Along several axes
  /// they count the set's devices, the fastest axis fastest.
  Coords between;
  /// Whether `between` lists the source and the target of a transfer.
  bool oneWay = false;
};

/// The layout of groups on a mesh whose axis sizes are given fastest first,
/// with consecutive ranks filling nodes of `devicesPerNode`. Exact, and fast
/// for axes that divide nodes or are multiples of them, however large. Errors:
/// a size below one, an axis or coordinate out of range or given twice, more
/// than 2^31 devices, a large mesh whose axes fit the nodes nowhere.
llvm::Expected<GroupLayout> layoutOf(llvm::ArrayRef<int64_t> fastestFirst,
                                     const CommGroups &groups,
                                     int64_t devicesPerNode);

/// Bytes that the busiest device sends: docs/reference/costs.md
llvm::Expected<Bytes> sentPerDevice(CollectiveKind kind, Bytes tensor,
                                    int64_t ranks);

/// Time of one collective over one group, all groups doing the same at once;
/// zero for a group of one. Errors: a negative size, an ill-formed layout, a
/// figure the machine lacks.
llvm::Expected<Time> collectiveTime(const Machine &machine, CollectiveKind kind,
                                    Bytes tensor, const GroupLayout &layout);

} // namespace dtrain

#endif // DTRAIN_MODEL_COLLECTIVE_COLLECTIVE_H
