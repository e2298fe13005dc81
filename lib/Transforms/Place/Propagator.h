//===- Propagator.h - From seeds to the states of all ops -------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_TRANSFORMS_PLACE_PROPAGATOR_H
#define DTRAIN_LIB_TRANSFORMS_PLACE_PROPAGATOR_H

#include "dtrain/Transforms/Place/PlacementGraph.h"

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
  bool operator<(const Candidate &o) const {
    return std::tie(rank, bytes, operand) <
           std::tie(o.rank, o.bytes, o.operand);
  }
};

class Propagator {
public:
  Propagator(PlacementGraph &graph) : graph(graph) {}
  mlir::LogicalResult run();

private:
  PlacementGraph &graph;

  int64_t sizeOf(unsigned axis) const { return graph.getMesh()[axis].size; }
  bool takesPart(const PlacedNode &node, unsigned axis) {
    return !graph.isInside(node.op, axis);
  }

  mlir::LogicalResult applyStates();
  mlir::LogicalResult applySeed(SeedOp seed);
  void pinRepeats(unsigned axis);
  void propagate(unsigned axis);
  bool forward(unsigned axis);
  bool backward(unsigned axis);
  bool decideArguments(unsigned axis);
  void passPartials(unsigned axis);
  void finish(unsigned axis);

  bool isValid(const PlacedNode &node, unsigned axis, const OpAxisState &state);
  double reshardBytes(const PlacedNode &node, unsigned axis,
                      const OpAxisState &state);
  void decide(PlacedNode &node, unsigned axis, const OpAxisState &state);
  unsigned rankOf(const PlacedNode &node, const OpAxisState &state);
  void add(llvm::SmallVectorImpl<Candidate> &list, const PlacedNode &node,
           unsigned axis, const OpAxisState &state, unsigned operand);
  std::optional<OpAxisState> joinPartials(const PlacedNode &node,
                                          unsigned axis);
  bool enterRepeat(RepeatOp repeat, unsigned axis);
  bool adopt(mlir::Value value, unsigned axis, const AxisState &state);
};

} // namespace dtrain

#endif // DTRAIN_LIB_TRANSFORMS_PLACE_PROPAGATOR_H
