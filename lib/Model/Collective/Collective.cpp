//===- Collective.cpp - Time and bytes of a communication -----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Collective/Collective.h"
#include "../Checks.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

llvm::StringRef dtrain::stringifyCollectiveKind(CollectiveKind kind) {
  switch (kind) {
  case CollectiveKind::AllReduce:
    return "all_reduce";
  case CollectiveKind::AllGather:
    return "all_gather";
  case CollectiveKind::ReduceScatter:
    return "reduce_scatter";
  case CollectiveKind::AllToAll:
    return "all_to_all";
  case CollectiveKind::Broadcast:
    return "broadcast";
  case CollectiveKind::Reduce:
    return "reduce";
  case CollectiveKind::Gather:
    return "gather";
  case CollectiveKind::Scatter:
    return "scatter";
  case CollectiveKind::Send:
    return "send";
  }
  llvm_unreachable("covered switch");
}

Expected<Bytes> dtrain::sentPerDevice(CollectiveKind kind, Bytes tensor,
                                      int64_t ranks) {
  if (Error e = requireAmount("tensor size", tensor))
    return e;
  if (Error e = requireCount("ranks of a group", ranks))
    return e;
  if (ranks == 1)
    return Bytes();
  double n = ranks;
  switch (kind) {
  case CollectiveKind::AllReduce:
    return tensor * (2 * (n - 1) / n);
  case CollectiveKind::AllGather:
  case CollectiveKind::ReduceScatter:
  case CollectiveKind::Scatter:
    return tensor * ((n - 1) / n);
  case CollectiveKind::AllToAll:
    return tensor * ((n - 1) / (n * n));
  case CollectiveKind::Gather:
    return tensor / n;
  case CollectiveKind::Broadcast:
  case CollectiveKind::Reduce:
  case CollectiveKind::Send:
    return tensor;
  }
  llvm_unreachable("covered switch");
}

/// Whether every rank exchanges with its peers directly, rather than passing a
/// ring or chain along.
static bool isDirect(CollectiveKind kind) {
  return kind == CollectiveKind::AllToAll || kind == CollectiveKind::Gather ||
         kind == CollectiveKind::Scatter;
}

/// F * S: what passes through the busiest link.
static Bytes throughBusiestLink(CollectiveKind kind, Bytes tensor, double n) {
  // A gather sends little but its root receives all.
  if (kind == CollectiveKind::Gather)
    return tensor * ((n - 1) / n);
  return llvm::cantFail(sentPerDevice(kind, tensor, static_cast<int64_t>(n)));
}

/// sqrt(gSquared * x): docs/calibration.md, Collectives.
static Time rampTime(const CollectiveModel &model, Time wire) {
  return Time::fromBase(std::sqrt(model.gSquared.value.base() * wire.base()));
}

static Error checkNode(const Machine &machine) {
  const CollectiveModel &model = machine.node.collective;
  if (Error e = requirePositive(machine.name, "scale-up link bandwidth",
                                machine.node.linkBandwidth))
    return e;
  for (auto &[what, figure] : {std::pair{"collective a0", &model.a0},
                               {"collective a1", &model.a1},
                               {"collective c0", &model.c0},
                               {"collective c1", &model.c1},
                               {"collective g^2", &model.gSquared}})
    if (Error e = requireNonNegative(machine.name, what, *figure))
      return e;
  if (Error e = requirePositive(machine.name, "collective b1", model.b1))
    return e;
  return requirePositive(machine.name, "collective b2", model.b2);
}

static Error checkNetwork(const Machine &machine) {
  const Network &network = machine.network;
  if (Error e = requirePositive(machine.name, "network bandwidth of a node",
                                network.nodeBandwidth))
    return e;
  if (Error e = requirePositive(machine.name, "network interfaces of a node",
                                network.interfaces))
    return e;
  if (Error e = requirePositive(machine.name, "network efficiency",
                                network.efficiency))
    return e;
  if (Error e =
          requireNonNegative(machine.name, "network latency", network.latency))
    return e;
  return requireNonNegative(machine.name, "network latency per node",
                            network.latencyPerNode);
}

static Expected<Time> timeInNode(const Machine &machine, CollectiveKind kind,
                                 Bytes tensor, int64_t ranks) {
  const Node &node = machine.node;
  const CollectiveModel &model = node.collective;
  Bandwidth link = node.linkBandwidth.value;
  // A transfer has one partner to agree with and no protocol to choose.
  if (kind == CollectiveKind::Send)
    return model.a0.value + tensor / (link * model.b2.value);
  bool allReduce = kind == CollectiveKind::AllReduce;
  double steps = (allReduce ? 2.0 : 1.0) * (ranks - 1);
  Time wire = throughBusiestLink(kind, tensor, ranks) / link;
  Time best =
      std::min(model.a0.value + model.a1.value * steps + wire / model.b1.value,
               model.c0.value + model.c1.value * steps + wire / model.b2.value +
                   rampTime(model, wire));
  if (!allReduce || !node.switchReduction)
    return best;
  const SwitchReductionModel &reduction = *node.switchReduction;
  if (Error e = requireNonNegative(machine.name, "switch reduction latency",
                                   reduction.latency))
    return e;
  if (Error e = requirePositive(machine.name, "switch reduction efficiency",
                                reduction.efficiency))
    return e;
  if (ranks < toDouble(reduction.minimumRanks.value))
    return best;
  Time once = tensor / link;
  return std::min(best, reduction.latency.value +
                            once / reduction.efficiency.value +
                            rampTime(model, once));
}

/// The network bandwidth of one of `senders` devices of a node that send at
/// once, each through one interface.
static Bandwidth shareOf(const Machine &machine, double senders) {
  const Network &network = machine.network;
  double parts = std::max(senders, toDouble(network.interfaces.value));
  return network.nodeBandwidth.value * network.efficiency.value / parts;
}

/// Kinds whose ranks exchange with their peers directly: traffic within the
/// node and beyond it flow at the same time.
static Time directTimeAcrossNodes(const Machine &machine, CollectiveKind kind,
                                  Bytes tensor, const GroupLayout &layout) {
  const CollectiveModel &model = machine.node.collective;
  double n = layout.ranks, q = layout.ranksPerNode;
  bool everyRankSends = kind == CollectiveKind::AllToAll;
  Bytes perPeer = everyRankSends ? tensor / (n * n) : tensor / n;
  Bandwidth scaleUp = machine.node.linkBandwidth.value * model.b2.value;
  Bandwidth beyond =
      std::min(scaleUp, shareOf(machine, layout.groupsPerNode *
                                             (everyRankSends ? q : 1)));
  Time outside = perPeer * (n - q) / beyond;
  Time inside = perPeer * (q - 1) / scaleUp;
  return machine.network.latency.value +
         machine.network.latencyPerNode.value * (layout.nodes() - 1.0) +
         model.a0.value + model.a1.value * (q - 1) + std::max(outside, inside) +
         rampTime(model, outside);
}

/// Kinds that pass rings or chains along: each crosses a node's boundary once,
/// and a group has as many rings as it has interfaces to cross by.
static Time ringTimeAcrossNodes(const Machine &machine, CollectiveKind kind,
                                Bytes tensor, const GroupLayout &layout) {
  const CollectiveModel &model = machine.node.collective;
  const Network &network = machine.network;
  double q = layout.ranksPerNode;
  bool allReduce = kind == CollectiveKind::AllReduce;
  Time latency = allReduce
                     ? network.latency.value *
                           (2.0 * llvm::Log2_64_Ceil(
                                      static_cast<uint64_t>(layout.nodes())))
                     : network.latency.value + network.latencyPerNode.value *
                                                   (layout.nodes() - 1.0);
  Bandwidth node = network.nodeBandwidth.value * network.efficiency.value;
  Bandwidth beta =
      std::min({machine.node.linkBandwidth.value * model.b2.value,
                node / static_cast<double>(layout.groupsPerNode),
                node / std::max(1.0, toDouble(network.interfaces.value) / q)});
  Time wire = throughBusiestLink(kind, tensor, layout.ranks) / beta;
  return model.a0.value + latency +
         model.a1.value * ((allReduce ? 2.0 : 1.0) * (q - 1)) + wire +
         rampTime(model, wire);
}

Expected<Time> dtrain::collectiveTime(const Machine &machine,
                                      CollectiveKind kind, Bytes tensor,
                                      const GroupLayout &layout) {
  if (Error e = requireAmount("tensor size", tensor))
    return e;
  if (Error e = requireCount("ranks of a group", layout.ranks))
    return e;
  if (Error e = requireCount("ranks per node", layout.ranksPerNode))
    return e;
  if (Error e = requireCount("groups per node", layout.groupsPerNode))
    return e;
  if (layout.ranksPerNode > layout.ranks)
    return makeError("expected at most " + llvm::Twine(layout.ranks) +
                     " ranks of a group in a node, found " +
                     llvm::Twine(layout.ranksPerNode));
  if (layout.ranks == 1)
    return Time();
  if (Error e = checkNode(machine))
    return e;
  if (!layout.crossesNodes())
    return timeInNode(machine, kind, tensor, layout.ranks);
  if (Error e = checkNetwork(machine))
    return e;
  if (kind == CollectiveKind::Send)
    return machine.network.latency.value +
           tensor / std::min(machine.node.linkBandwidth.value *
                                 machine.node.collective.b2.value,
                             shareOf(machine, layout.groupsPerNode));
  if (isDirect(kind))
    return directTimeAcrossNodes(machine, kind, tensor, layout);
  return ringTimeAcrossNodes(machine, kind, tensor, layout);
}
