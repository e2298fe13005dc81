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
/// Sizes are those of the tensor's local block when the axis is replicated,
/// written B below, whatever the kind: the full result of an all_gather, the
/// full operand of a reduce_scatter. An all_to_all thus holds B/n per rank.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_COLLECTIVE_COLLECTIVE_H
#define DTRAIN_MODEL_COLLECTIVE_COLLECTIVE_H

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

/// How the groups of one mesh axis lie on the nodes, seen from the group that
/// the network serves worst.
struct GroupLayout {
  /// Ranks of one group.
  int64_t ranks = 1;
  /// Most ranks of one group in one node.
  int64_t ranksPerNode = 1;
  /// Groups of the axis that share one node's network.
  int64_t groupsPerNode = 1;

  bool crossesNodes() const { return ranks > ranksPerNode; }
  int64_t nodes() const { return (ranks + ranksPerNode - 1) / ranksPerNode; }
  bool operator==(const GroupLayout &o) const {
    return ranks == o.ranks && ranksPerNode == o.ranksPerNode &&
           groupsPerNode == o.groupsPerNode;
  }
};

/// The layout of axis `axis` of a mesh whose axis sizes are given fastest
/// first, with consecutive ranks filling nodes of `devicesPerNode`. Errors: a
/// size below one, an axis out of range, more than 2^31 devices.
llvm::Expected<GroupLayout> layoutOfAxis(llvm::ArrayRef<int64_t> fastestFirst,
                                         unsigned axis, int64_t devicesPerNode);

/// The layout of the transfers from coordinate `from` to `to` of that axis, all
/// at the same time: two ranks each; `groupsPerNode` is how many devices of one
/// node send to another node.
llvm::Expected<GroupLayout>
layoutOfTransfer(llvm::ArrayRef<int64_t> fastestFirst, unsigned axis,
                 int64_t from, int64_t to, int64_t devicesPerNode);

/// Bytes that the busiest device sends: docs/design.md
llvm::Expected<Bytes> sentPerDevice(CollectiveKind kind, Bytes tensor,
                                    int64_t ranks);

/// Time of one collective over one group, all groups of the axis doing the same
/// at once; zero for a group of one. Errors: a negative size, an ill-formed
/// layout, a figure the machine lacks.
llvm::Expected<Time> collectiveTime(const Machine &machine, CollectiveKind kind,
                                    Bytes tensor, const GroupLayout &layout);

} // namespace dtrain

#endif // DTRAIN_MODEL_COLLECTIVE_COLLECTIVE_H
