//===- Propagator.h - From seeds to the states of all ops -------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_TRANSFORMS_PLACE_PROPAGATOR_H
#define DTRAIN_LIB_TRANSFORMS_PLACE_PROPAGATOR_H

#include "dtrain/Transforms/Place/PlacementGraph.h"
#include <map>

namespace dtrain {

/// The union of two coordinate sets on an axis of that size; empty means all.
Coords unite(const Coords &a, const Coords &b, int64_t size);

/// A possible state of an op with what ranks it: parallel splits before
/// reducing ones before pins, then the bytes that it makes move, then the
/// operand that it comes from.
struct Candidate {
  OpAxisState state;
  unsigned rank;
  double bytes;
  unsigned operand;
  /// The state itself comes last, so that of two equals it is never the order
  /// of uses that chooses.
  auto key() const {
    return std::tie(rank, bytes, operand, state.factor, state.stride, state.on);
  }
  bool operator<(const Candidate &o) const { return key() < o.key(); }
};

/// An intent for an op, as propagation meets it.
struct NodeIntent {
  unsigned node; // in the graph
  OpIntent intent;
};

class Propagator {
public:
  Propagator(PlacementGraph &graph) : graph(graph) {}
  mlir::LogicalResult run();

private:
  PlacementGraph &graph;
  llvm::SmallVector<NodeIntent> intents;
  llvm::SmallVector<SeedOp> seeds;
  /// The seeds of the level at hand that took effect, by class and axis.
  llvm::DenseMap<std::pair<PlacedClass *, unsigned>, SeedOp> applied;

  int64_t sizeOf(unsigned axis) const { return graph.getMesh()[axis].size; }
  bool takesPart(const PlacedNode &node, unsigned axis) {
    return !graph.isInside(node.op, axis);
  }

  mlir::LogicalResult collectIntents();
  mlir::LogicalResult collectIntents(unsigned node);
  mlir::LogicalResult collectSeeds();
  std::map<int64_t, llvm::SmallBitVector> levels() const;
  mlir::LogicalResult applyLevel(int64_t level);
  void applyIntent(const NodeIntent &intent);
  mlir::LogicalResult applySeed(SeedOp seed);
  mlir::LogicalResult meetState(SeedOp seed, unsigned axis);
  void pinRepeats(unsigned axis);
  void propagate(unsigned axis);
  bool forward(unsigned axis);
  bool backward(unsigned axis);
  bool decideArguments(unsigned axis);
  void passPartials(unsigned axis);
  void finish(unsigned axis);

  /// Whether the op can be so on `axis`, being as `others` on the other axes.
  bool isValid(const PlacedNode &node, unsigned axis, const OpAxisState &state,
               llvm::ArrayRef<std::optional<OpAxisState>> others);
  double reshardBytes(const PlacedNode &node, unsigned axis,
                      const OpAxisState &state);
  void decide(PlacedNode &node, unsigned axis, const OpAxisState &state);
  /// Shows what the op gives on the axis to the ops around it.
  void reveal(PlacedNode &node, unsigned axis);
  unsigned rankOf(const PlacedNode &node, const OpAxisState &state);
  void add(llvm::SmallVectorImpl<Candidate> &list, const PlacedNode &node,
           unsigned axis, const OpAxisState &state, unsigned operand);
  std::optional<OpAxisState> joinPartials(const PlacedNode &node,
                                          unsigned axis);
  bool enterRepeat(RepeatOp repeat, unsigned axis);
  /// Whether the value can be so on `axis`, being on the other axes as it is.
  bool fits(mlir::Value value, unsigned axis, const AxisState &state);
  bool adopt(mlir::Value value, unsigned axis, const AxisState &state);
};

} // namespace dtrain

#endif // DTRAIN_LIB_TRANSFORMS_PLACE_PROPAGATOR_H
