//===- PlacementGraph.h - A program as propagation sees it ------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A module of functions that call each other through `dtrain.repeat`, as nodes
/// with rules and values with states. Values that a repeat passes through
/// unchanged (stacked rows and their stack, a carried slot's argument and
/// result) are one *class* with one state per axis; on the axis that a repeat
/// is pinned to, what lies inside its body has no state at all.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_PLACE_PLACEMENTGRAPH_H
#define DTRAIN_TRANSFORMS_PLACE_PLACEMENTGRAPH_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "llvm/ADT/SmallBitVector.h"

namespace dtrain {

/// Values that share one state on an axis. `lead` counts the stacked dimensions
/// that a value has beyond the innermost member of its class; class states
/// index the dimensions of the innermost.
struct PlacedClass {
  llvm::SmallVector<mlir::Value, 2> members;
  /// Whether everything that flows in from outside is a constant zero, which is
  /// partial for free.
  bool zero = false;
  llvm::SmallVector<std::optional<AxisState>, 4> state;
};

struct PlacedNode {
  mlir::Operation *op;
  BoundRule rule;
  llvm::SmallVector<std::optional<OpAxisState>, 4> state;
  /// The axes whose state the ops around do not see yet.
  llvm::SmallBitVector hidden;
};

class PlacementGraph {
public:
  /// Builds the graph of all functions reached from `main`; diagnoses an op
  /// that has no place in this phase.
  static mlir::FailureOr<PlacementGraph> build(mlir::ModuleOp module,
                                               MeshAttr mesh);

  llvm::ArrayRef<MeshAxis> getMesh() const { return axes; }
  MeshAttr getMeshAttr() const { return mesh; }
  /// Compute nodes and the repeats, in program order; a body stands before its
  /// first repeat's successors and after its operands.
  std::vector<PlacedNode> nodes;
  llvm::SmallVector<RepeatOp> repeats;
  mlir::func::FuncOp main;

  /// Whether `axis` pins some repeat (a pipeline axis).
  bool isPinnedAxis(unsigned axis) const { return pinned[axis]; }
  /// Whether the op lies in the body of a repeat that is pinned to `axis`.
  bool isInside(mlir::Operation *op, unsigned axis) const;
  /// `repeat.getBody()` without a search of the module.
  mlir::func::FuncOp bodyOf(RepeatOp repeat) const {
    return bodies.find(repeat)->second;
  }

  PlacedClass &classOf(mlir::Value value, unsigned axis);
  std::optional<AxisState> stateOf(mlir::Value value, unsigned axis);
  /// Sets the state of the value's class; false if it cannot have that state (a
  /// split of a stacked dimension that a member lacks).
  bool setState(mlir::Value value, unsigned axis, const AxisState &state);
  /// The states of all axes, undecided ones replicated.
  TensorState tensorState(mlir::Value value);

  /// What the consumer needs of the value on the axis; none while undecided or
  /// where value and consumer are one class.
  std::optional<AxisState> demand(mlir::OpOperand &use, unsigned axis);
  /// The node of an op, null for terminators, seeds and repeats.
  PlacedNode *nodeOf(mlir::Operation *op);
  /// Whether the operand's value is consumed as it is, whatever its state.
  bool passesThrough(mlir::OpOperand &use, unsigned axis);

private:
  struct Alias {
    unsigned cls;
    unsigned lead;
  };
  /// One map for all axes that pin nothing, one for each that does.
  llvm::SmallVector<llvm::DenseMap<mlir::Value, Alias>, 2> aliases;
  llvm::SmallVector<std::vector<PlacedClass>, 2> classes;
  llvm::SmallVector<unsigned, 4> mapOf; // per axis: index into `aliases`
  llvm::SmallVector<bool, 4> pinned;
  llvm::SmallVector<MeshAxis> axes;
  MeshAttr mesh;
  llvm::DenseMap<mlir::Operation *, unsigned> nodeIndex;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<RepeatOp, 1>> callers;
  llvm::DenseMap<mlir::Operation *, mlir::func::FuncOp> bodies;

  /// The axes that each body is inside of a pin of.
  llvm::DenseMap<mlir::Operation *, llvm::SmallBitVector> inside;

  mlir::LogicalResult collect(mlir::func::FuncOp func);
  void findInside(mlir::func::FuncOp func);
  void buildClasses(unsigned map, std::optional<unsigned> pinnedAxis);
  void findZeros(unsigned map);
  std::optional<AxisState> repeatDemand(RepeatOp repeat, unsigned operand,
                                        unsigned axis);
  std::optional<AxisState> returnDemand(mlir::OpOperand &use, unsigned axis);
  /// The coordinate and stride by which a repeat pinned to `axis` holds things.
  bool isPinnedTo(RepeatOp repeat, unsigned axis) const;
};

/// The parts of a repeat's operand list.
enum class RepeatSegment : uint8_t { Carry, Stacked, Inout, Shared };
RepeatSegment segmentOf(RepeatOp repeat, unsigned operand);

/// What a result of the step is on an axis where it is `state`: whole
/// somewhere, so that partial sums are reduced.
AxisState reducedState(const AxisState &state);

/// The state of a value that a repeat pinned to an axis holds: all layers'
/// rows split by its ranges, the rest on its coordinate.
AxisState pinnedState(RepeatOp repeat, mlir::Value value, bool rows);

/// The types that repeats give and take, which follow from the types of their
/// bodies. A pipeline asks for few of them very often.
class RepeatTypes {
public:
  explicit RepeatTypes(MeshAttr mesh) : mesh(mesh) {}
  /// The type of the operand or result `value` of `repeat`, whose body has
  /// `inner` in its place: as that, or (`rows`) as a stack of that; on the axis
  /// of a pin, where the repeat holds it.
  mlir::RankedTensorType get(RepeatOp repeat, mlir::Value value,
                             mlir::Type inner, bool rows);

private:
  MeshAttr mesh;
  llvm::DenseMap<std::tuple<mlir::Type, mlir::Type, int64_t, int64_t>,
                 mlir::RankedTensorType>
      cache;
};

} // namespace dtrain

#endif // DTRAIN_TRANSFORMS_PLACE_PLACEMENTGRAPH_H
