//===- Reshard.cpp - Prices and paths of placement changes ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/AxisState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <queue>
#include <tuple>

using namespace dtrain;

llvm::StringRef dtrain::stringifyTransition(Transition t) {
  switch (t) {
  case Transition::None:
    return "none";
  case Transition::Slice:
    return "slice";
  case Transition::Mask:
    return "mask";
  case Transition::Drop:
    return "drop";
  case Transition::AllGather:
    return "all_gather";
  case Transition::AllToAll:
    return "all_to_all";
  case Transition::Pad:
    return "pad";
  case Transition::Gather:
    return "gather";
  case Transition::AllReduce:
    return "all_reduce";
  case Transition::ReduceScatter:
    return "reduce_scatter";
  case Transition::Reduce:
    return "reduce";
  case Transition::Broadcast:
    return "broadcast";
  case Transition::Scatter:
    return "scatter";
  case Transition::ZeroElsewhere:
    return "zero_elsewhere";
  case Transition::Send:
    return "send";
  }
  llvm_unreachable("all transitions are covered");
}

//===----------------------------------------------------------------------===//
// Prices: docs/reference/axis-states.md, Transitions
//===----------------------------------------------------------------------===//

namespace {
/// Prices transitions of one axis of size `n`. `B` is the number of elements of
/// the fullest local block when the axis is replicated, `L` as it is now.
struct Pricing {
  int64_t n;
  double B, L;

  std::optional<EdgeCost> fromReplicated(const AxisState &to) const;
  std::optional<EdgeCost> fromSplit(const AxisState &to) const;
  std::optional<EdgeCost> fromPartial(const AxisState &from,
                                      const AxisState &to) const;
  std::optional<EdgeCost> fromPinned(const AxisState &from,
                                     const AxisState &to) const;

private:
  EdgeCost ring(Transition t, double rounds, int64_t ranks) const {
    return {t, rounds * (ranks - 1) / ranks * B,
            static_cast<int64_t>(rounds) * (ranks - 1)};
  }
};
} // namespace

static EdgeCost freely(Transition t) { return {t, 0, 0}; }

/// |a \ b|.
static int64_t numMissing(const Coords &a, const Coords &b) {
  return llvm::count_if(a,
                        [&](int64_t c) { return !llvm::is_contained(b, c); });
}

std::optional<EdgeCost> Pricing::fromReplicated(const AxisState &to) const {
  switch (to.kind) {
  case AxisState::Replicated:
    return EdgeCost();
  case AxisState::Split:
    return freely(Transition::Slice);
  case AxisState::Partial:
    return freely(Transition::Mask);
  case AxisState::Pinned:
    return freely(Transition::Drop);
  }
  llvm_unreachable("all kinds are covered");
}

std::optional<EdgeCost> Pricing::fromSplit(const AxisState &to) const {
  switch (to.kind) {
  case AxisState::Replicated:
    return ring(Transition::AllGather, 1, n);
  case AxisState::Split:
    return EdgeCost{Transition::AllToAll, B / n * (n - 1) / n, n - 1};
  case AxisState::Partial:
    // Where some coordinates contribute nothing, their slices have to move.
    if (!to.on.empty())
      return std::nullopt;
    return freely(Transition::Pad);
  case AxisState::Pinned:
    return EdgeCost{Transition::Gather, to.numHolders(n) * L, n - 1};
  }
  llvm_unreachable("all kinds are covered");
}

std::optional<EdgeCost> Pricing::fromPartial(const AxisState &from,
                                             const AxisState &to) const {
  switch (to.kind) {
  case AxisState::Replicated:
    return ring(Transition::AllReduce, 2, n);
  case AxisState::Split:
    return ring(Transition::ReduceScatter, 1, n);
  case AxisState::Partial:
    if (from.reduce != to.reduce || from.on.empty() ||
        (!to.on.empty() && numMissing(from.on, to.on) != 0))
      return std::nullopt;
    return freely(Transition::ZeroElsewhere);
  case AxisState::Pinned: {
    int64_t ranks =
        from.on.empty() ? n : from.numHolders(n) + numMissing(to.on, from.on);
    if (to.on.size() == 1)
      return EdgeCost{Transition::Reduce, B, ranks - 1};
    return ring(Transition::AllReduce, 2, ranks);
  }
  }
  llvm_unreachable("all kinds are covered");
}

std::optional<EdgeCost> Pricing::fromPinned(const AxisState &from,
                                            const AxisState &to) const {
  int64_t holders = from.numHolders(n);
  switch (to.kind) {
  case AxisState::Replicated:
    return EdgeCost{Transition::Broadcast, B,
                    llvm::divideCeilSigned(n - holders, holders)};
  case AxisState::Split: {
    // The busiest holder sends this many slices.
    int64_t slices = llvm::divideCeilSigned(n - holders, holders);
    return EdgeCost{Transition::Scatter, B * slices / n, slices};
  }
  case AxisState::Partial:
    if (!to.on.empty() && numMissing(from.on, to.on) == holders)
      return std::nullopt;
    return freely(Transition::ZeroElsewhere);
  case AxisState::Pinned: {
    int64_t missing = numMissing(to.on, from.on);
    if (missing == 0)
      return freely(Transition::Drop);
    // One receiver that takes over from others is sent to; receivers beside
    // the holders, or several of them, are broadcast to.
    bool grows = numMissing(from.on, to.on) == 0;
    return EdgeCost{missing == 1 && !grows ? Transition::Send
                                           : Transition::Broadcast,
                    B, llvm::divideCeilSigned(missing, holders)};
  }
  }
  llvm_unreachable("all kinds are covered");
}

static double localElements(llvm::ArrayRef<MeshAxis> mesh,
                            llvm::ArrayRef<int64_t> shape,
                            const TensorState &state) {
  double elements = 1;
  for (unsigned d = 0; d < shape.size(); ++d)
    elements *= localExtent(mesh, shape, state, d);
  return elements;
}

std::optional<EdgeCost> dtrain::edge(llvm::ArrayRef<MeshAxis> mesh,
                                     llvm::ArrayRef<int64_t> shape,
                                     const TensorState &from, unsigned axis,
                                     const AxisState &to) {
  if (from[axis] == to || mesh[axis].size == 1)
    return EdgeCost();
  TensorState whole = from;
  whole[axis] = AxisState::replicated();
  Pricing pricing{mesh[axis].size, localElements(mesh, shape, whole),
                  localElements(mesh, shape, from)};
  switch (from[axis].kind) {
  case AxisState::Replicated:
    return pricing.fromReplicated(to);
  case AxisState::Split:
    return pricing.fromSplit(to);
  case AxisState::Partial:
    return pricing.fromPartial(from[axis], to);
  case AxisState::Pinned:
    return pricing.fromPinned(from[axis], to);
  }
  llvm_unreachable("all kinds are covered");
}

//===----------------------------------------------------------------------===//
// Paths: docs/reference/axis-states.md, Paths
//===----------------------------------------------------------------------===//

namespace {
/// What a path is judged by, in order.
struct PathKey {
  double sent = 0;
  int64_t steps = 0, ops = 0;
  bool operator<(const PathKey &o) const {
    return std::tie(sent, steps, ops) < std::tie(o.sent, o.steps, o.ops);
  }
};

/// Dijkstra over the product of the differing axes' options. A node is a number
/// in mixed radix, one digit per differing axis.
class PathSearch {
public:
  PathSearch(llvm::ArrayRef<MeshAxis> mesh, llvm::ArrayRef<int64_t> shape,
             const TensorState &from, const TensorState &to)
      : mesh(mesh), shape(shape), from(from), to(to) {}

  llvm::Expected<ReshardPath> run();

private:
  struct AxisOptions {
    unsigned axis;
    size_t radix; // weight of this digit in a node's number
    llvm::SmallVector<AxisState, 3> states;
  };
  struct Node {
    PathKey key;
    bool reached = false, done = false;
    size_t previous = 0;
    unsigned axis = 0;
    EdgeCost cost;
  };
  void addOptions();
  TensorState stateOf(size_t node) const;
  size_t numberOf(const TensorState &state) const;
  void expand(size_t node);

  llvm::ArrayRef<MeshAxis> mesh;
  llvm::ArrayRef<int64_t> shape;
  const TensorState &from, &to;
  llvm::SmallVector<AxisOptions, 4> axes;
  std::vector<Node> nodes;
  using Entry = std::pair<PathKey, size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> queue;
};
} // namespace

void PathSearch::addOptions() {
  size_t radix = 1;
  for (unsigned a = 0; a < mesh.size(); ++a) {
    if (from[a] == to[a])
      continue;
    AxisOptions options{a, radix, {from[a]}};
    for (const AxisState &s : {to[a], AxisState::replicated()})
      if (!llvm::is_contained(options.states, s))
        options.states.push_back(s);
    radix *= options.states.size();
    axes.push_back(std::move(options));
  }
  nodes.resize(radix);
}

TensorState PathSearch::stateOf(size_t node) const {
  TensorState state = from;
  for (const AxisOptions &o : axes)
    state[o.axis] = o.states[node / o.radix % o.states.size()];
  return state;
}

size_t PathSearch::numberOf(const TensorState &state) const {
  size_t node = 0;
  for (const AxisOptions &o : axes)
    node += o.radix * (llvm::find(o.states, state[o.axis]) - o.states.begin());
  return node;
}

void PathSearch::expand(size_t node) {
  TensorState state = stateOf(node);
  for (const AxisOptions &o : axes) {
    size_t digit = node / o.radix % o.states.size();
    AxisState here = state[o.axis];
    for (size_t next = 0; next < o.states.size(); ++next) {
      const AxisState &target = o.states[next];
      // Partials are produced only where they are wanted.
      if (next == digit ||
          (target.kind == AxisState::Partial && target != to[o.axis]))
        continue;
      std::optional<EdgeCost> cost = edge(mesh, shape, state, o.axis, target);
      if (!cost)
        continue;
      state[o.axis] = target;
      bool valid = target.kind != AxisState::Split ||
                   hasValidDigits(mesh, shape[target.dim], state, target.dim);
      state[o.axis] = here;
      if (!valid)
        continue;
      size_t number = node - digit * o.radix + next * o.radix;
      Node &successor = nodes[number];
      PathKey key = nodes[node].key;
      key.sent += cost->sentElements;
      key.steps += cost->steps;
      key.ops += 1;
      if (successor.done || (successor.reached && !(key < successor.key)))
        continue;
      successor = {key, true, false, node, o.axis, *cost};
      queue.push({key, number});
    }
  }
}

llvm::Expected<ReshardPath> PathSearch::run() {
  unsigned numDiffering = 0;
  for (unsigned a = 0; a < mesh.size(); ++a)
    numDiffering += from[a] != to[a];
  if (numDiffering > maxReshardAxes)
    return llvm::createStringError(
        llvm::inconvertibleErrorCode(),
        "expected at most %u mesh axes that differ in a reshard, found %u",
        maxReshardAxes, numDiffering);
  addOptions();
  size_t start = numberOf(from), goal = numberOf(to);
  nodes[start].reached = true;
  queue.push({PathKey(), start});
  while (!queue.empty() && !nodes[goal].done) {
    size_t node = queue.top().second;
    queue.pop();
    if (nodes[node].done)
      continue;
    nodes[node].done = true;
    expand(node);
  }
  // Every axis can become replicated and then its target: both only remove or
  // add digits of a valid set, so the goal is always reached.
  ReshardPath path;
  for (size_t node = goal; node != start; node = nodes[node].previous)
    path.push_back({nodes[node].axis, nodes[node].cost, stateOf(node)});
  std::reverse(path.begin(), path.end());
  return path;
}

llvm::Expected<ReshardPath> dtrain::findPath(llvm::ArrayRef<MeshAxis> mesh,
                                             llvm::ArrayRef<int64_t> shape,
                                             const TensorState &from,
                                             const TensorState &to) {
  for (const TensorState *state : {&from, &to})
    if (llvm::Error e = verifyTensorState(mesh, shape, *state))
      return e;
  return PathSearch(mesh, shape, from, to).run();
}
