//===- AxisState.h - What one mesh axis does to one tensor ------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The axis-state algebra: for each tensor, every mesh axis is in exactly one
/// of four states. A communication is a change of one axis's state; `edge`
/// prices a change, `findPath` finds the cheapest sequence between two
/// placements.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_AXISSTATE_H
#define DTRAIN_MODEL_AXISSTATE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace dtrain {

/// How partial values combine, and how a factor absent from a result reduces.
enum class ReduceOp : uint8_t { Sum, Max, Min };
llvm::StringRef stringifyReduceOp(ReduceOp op);

/// A named mesh axis. A mesh is an ordered list of axes, slowest to fastest as
/// written; the state vectors below are parallel to it.
struct MeshAxis {
  std::string name;
  int64_t size = 1;
  bool operator==(const MeshAxis &o) const {
    return name == o.name && size == o.size;
  }
};

/// Sorted coordinates along one axis; empty means all of them.
using Coords = llvm::SmallVector<int64_t, 2>;
/// Sorts the coordinates and drops repetitions.
Coords sortedCoords(Coords on);

/// The state of one mesh axis (size n) for one tensor.
///  - Replicated: every coordinate holds the whole extent.
///  - Split(dim, stride): coordinate c holds the indices i of `dim` with
///    (i / stride) mod n == c.
///  - Partial(reduce, on): the value is the reduction over the coordinates
///    `on` of what each holds; other coordinates hold nothing.
///  - Pinned(on): only the coordinates `on` hold the value, each the whole.
/// Pinned on all coordinates is Replicated, and is spelled so.
struct AxisState {
  enum Kind : uint8_t { Replicated, Split, Partial, Pinned };
  Kind kind = Replicated;
  unsigned dim = 0;                // Split
  int64_t stride = 0;              // Split
  ReduceOp reduce = ReduceOp::Sum; // Partial
  Coords on;                       // Partial, Pinned

  static AxisState replicated() { return {}; }
  static AxisState split(unsigned dim, int64_t stride);
  /// The coordinates are sorted and made unique. Partial on a single
  /// coordinate is Pinned there, and Pinned on none given is Replicated: the
  /// factories spell them so.
  static AxisState partial(ReduceOp op = ReduceOp::Sum, Coords on = {});
  static AxisState pinned(Coords on);
  /// The one spelling on an axis of `axisSize` coordinates: everything on a
  /// size-1 axis and Pinned on all coordinates are Replicated; Partial on all
  /// coordinates lists none.
  AxisState canonical(int64_t axisSize) const;
  /// The number of coordinates that hold anything, on an axis of `axisSize`.
  int64_t numHolders(int64_t axisSize) const {
    return on.empty() ? axisSize : static_cast<int64_t>(on.size());
  }
  bool operator==(const AxisState &o) const;
  bool operator!=(const AxisState &o) const { return !(*this == o); }
  /// "R", "S(1,64)", "P(sum)", "P(sum,{0,7})", "N({0})".
  std::string str() const;
};

/// Masks of axes are 32-bit words.
inline constexpr size_t maxMeshAxes = 32;

/// One state per mesh axis, in mesh order.
using TensorState = llvm::SmallVector<AxisState, 4>;

/// Checks that each state is within range and spelled canonically (see
/// AxisState::canonical), and that the digits on every dimension are disjoint
/// (docs/reference/axis-states.md): strides descend, each next stride * n
/// divides the previous stride, and an axis that splits unevenly is alone on
/// its dimension and leaves no coordinate empty.
llvm::Error verifyTensorState(llvm::ArrayRef<MeshAxis> mesh,
                              llvm::ArrayRef<int64_t> shape,
                              const TensorState &state);

/// Whether an axis of size `n` alone splits `extent` unevenly: contiguous
/// blocks of ceil(extent / n), none empty.
bool splitsUnevenly(int64_t extent, int64_t stride, int64_t n);
/// The digit test of `verifyTensorState` for one dimension, without words.
bool hasValidDigits(llvm::ArrayRef<MeshAxis> mesh, int64_t extent,
                    const TensorState &state, unsigned dim);

/// The extent of `dim` that the fullest device holds.
int64_t localExtent(llvm::ArrayRef<MeshAxis> mesh,
                    llvm::ArrayRef<int64_t> shape, const TensorState &state,
                    unsigned dim);
llvm::SmallVector<int64_t> localShape(llvm::ArrayRef<MeshAxis> mesh,
                                      llvm::ArrayRef<int64_t> shape,
                                      const TensorState &state);
/// The global indices of `dim` held at mesh coordinates `device`, ascending.
llvm::SmallVector<int64_t> heldIndices(llvm::ArrayRef<MeshAxis> mesh,
                                       llvm::ArrayRef<int64_t> shape,
                                       const TensorState &state, unsigned dim,
                                       llvm::ArrayRef<int64_t> device);
/// Whether the device at `device` holds any of the tensor (no axis pins or
/// restricts it to other coordinates).
bool holds(const TensorState &state, llvm::ArrayRef<int64_t> device);

/// The transitions of one axis: the rows and columns of the table in
/// docs/reference/axis-states.md.
enum class Transition : uint8_t {
  None,
  Slice,         // R -> S, free
  Mask,          // R -> P, free
  Drop,          // R -> N, N -> subset N, free
  AllGather,     // S -> R
  AllToAll,      // S -> S
  Pad,           // S -> P, free
  Gather,        // S -> N
  AllReduce,     // P -> R
  ReduceScatter, // P -> S
  Reduce,        // P -> N
  Broadcast,     // N -> R, N -> larger N
  Scatter,       // N -> S
  ZeroElsewhere, // N -> P, P -> P on more coordinates, free
  Send,          // N(c) -> N(c')
};
llvm::StringRef stringifyTransition(Transition t);
inline bool isFree(Transition t) {
  return t == Transition::None || t == Transition::Slice ||
         t == Transition::Mask || t == Transition::Drop ||
         t == Transition::Pad || t == Transition::ZeroElsewhere;
}

/// What changing one axis costs, by ring and chain algorithms.
struct EdgeCost {
  Transition transition = Transition::None;
  /// Elements that the busiest device sends.
  double sentElements = 0;
  /// Latency steps.
  int64_t steps = 0;
};

/// Prices the change of `axis` from `from[axis]` to `to`, both valid. Returns
/// nullopt where the table has no entry: Partial to a Partial of another
/// reduction or without all of the source's coordinates, Split to a Partial on
/// some coordinates only, Pinned to a Partial that shares no coordinate. (All
/// are reachable through Replicated.)
///
/// With B the elements of the local block when the axis is replicated and L =
/// B / n, the prices are those of docs/reference/axis-states.md. Coordinate
/// sets generalise them: the ranks of a collective are the coordinates that
/// hold the source or the target, so Partial(on) -> Pinned(on) is an all_reduce
/// of |on| ranks and Partial(on) -> Replicated one of n ranks; several holders
/// of a Pinned share the sending; a gather to k coordinates sends k * L.
std::optional<EdgeCost> edge(llvm::ArrayRef<MeshAxis> mesh,
                             llvm::ArrayRef<int64_t> shape,
                             const TensorState &from, unsigned axis,
                             const AxisState &to);

/// One step of a reshard path.
struct ReshardStep {
  unsigned axis;
  EdgeCost cost;
  TensorState result;
};
/// The search visits 3^k states for k differing axes.
inline constexpr unsigned maxReshardAxes = 8;
using ReshardPath = llvm::SmallVector<ReshardStep, 1>;

/// The cheapest sequence of single-axis changes by (elements sent, steps,
/// number of ops), over the states {source, target, replicated} of every axis
/// that differs (docs/reference/axis-states.md). Always exists for valid
/// states; errors are those of `verifyTensorState` on one of the two, and more
/// than `maxReshardAxes` axes that differ.
llvm::Expected<ReshardPath> findPath(llvm::ArrayRef<MeshAxis> mesh,
                                     llvm::ArrayRef<int64_t> shape,
                                     const TensorState &from,
                                     const TensorState &to);

/// The digits of one dimension, major to minor: an axis (index into the mesh)
/// or a gap (local digits). The text form of a split; strides follow with the
/// shape.
struct Digit {
  int axis = -1;   // mesh axis, or -1 for a gap
  int64_t gap = 0; // extent of the gap
};
using Digits = llvm::SmallVector<Digit, 2>;
/// Strides from digits; other states are untouched, and an axis of size 1 stays
/// replicated. Fails when the extents do not divide (a lone axis may split
/// unevenly), or an axis is out of range or already has a state.
llvm::Error applyDigits(llvm::ArrayRef<MeshAxis> mesh, int64_t extent,
                        unsigned dim, const Digits &digits, TensorState &state);
/// The canonical digits of `dim`: no gap of 1, no adjacent gaps, no trailing
/// gap. The inverse of `applyDigits`.
Digits digitsOf(llvm::ArrayRef<MeshAxis> mesh, llvm::ArrayRef<int64_t> shape,
                const TensorState &state, unsigned dim);

} // namespace dtrain

#endif // DTRAIN_MODEL_AXISSTATE_H
