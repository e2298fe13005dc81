//===- Control.cpp - repeat, reshard and the communications ---------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/DTrain.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;

#define GET_OP_CLASSES
#include "dtrain/IR/DTrain/DTrainControl.cpp.inc"

void DTrainDialect::registerControlOps() {
  addOperations<
#define GET_OP_LIST
#include "dtrain/IR/DTrain/DTrainControl.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// repeat
//===----------------------------------------------------------------------===//

LogicalResult RepeatOp::verify() {
  int64_t from = getFrom(), to = getTo();
  if (from < 0 || from >= to) // C1
    return emitOpError("C1: expected 0 <= from < to, found ")
           << from << " to " << to;
  if (getPinnedAxis().has_value() != getPinnedTo().has_value()) // C5
    return emitOpError("C5: a pin needs an axis and a coordinate");
  if (!getPinnedAxis())
    return success();
  for (Value v : getOperands()) {
    PlacementAttr placement = placementOf(v.getType());
    if (!placement)
      continue;
    std::optional<unsigned> axis = placement.getMesh().find(*getPinnedAxis());
    int64_t c = *getPinnedTo();
    if (!axis || c < 0 || c >= placement.getMesh().getSizes()[*axis])
      return emitOpError("C5: the mesh has no coordinate ")
             << c << " of axis \"" << *getPinnedAxis() << '"';
  }
  return success();
}

func::FuncOp RepeatOp::getBody() {
  return SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(getOperation(),
                                                            getCalleeAttr());
}

int64_t RepeatOp::rowOf(Value stacked, int64_t index) {
  return tensorType(stacked).getShape().front() == getTripCount()
             ? index - static_cast<int64_t>(getFrom())
             : index;
}

/// Whether `type` stacks rows like `row` over a leading extent that covers the
/// range.
static bool stacks(RepeatOp op, RankedTensorType type, RankedTensorType row,
                   bool exactly) {
  if (type.getRank() != row.getRank() + 1 ||
      type.getElementType() != row.getElementType() ||
      type.getShape().drop_front() != row.getShape())
    return false;
  int64_t extent = type.getShape().front();
  return extent == op.getTripCount() ||
         (!exactly && extent >= static_cast<int64_t>(op.getTo()));
}

LogicalResult RepeatOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto body =
      symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getCalleeAttr());
  if (!body || body.isExternal() ||
      !llvm::hasSingleElement(body.getBody())) // C2
    return emitOpError("C2: expected a function with one block, found ")
           << getCalleeAttr();
  FunctionType type = body.getFunctionType();
  if (type.getNumInputs() != getNumOperands() ||
      type.getNumResults() != getNumResults())
    return emitOpError("C2: ")
           << getCalleeAttr() << " takes " << type.getNumInputs()
           << " arguments and gives " << type.getNumResults()
           << " results; the segments give " << getNumOperands() << " and "
           << getNumResults();
  auto complain = [&](StringRef which, StringRef what, unsigned i, Type found,
                      Type row) {
    return emitOpError(which)
           << ": " << what << " #" << i << ": " << found << " does not fit "
           << row << " of " << getCalleeAttr() << " over " << getFrom()
           << " to " << getTo();
  };
  unsigned carries = getCarry().size(),
           rows = getStacked().size() + getInout().size();
  for (auto [i, v] : llvm::enumerate(getOperands())) { // C3
    bool isRow = i >= carries && i < carries + rows;
    auto row = dyn_cast<RankedTensorType>(type.getInput(i));
    if (isRow ? !row || !stacks(*this, tensorType(v), row, false)
              : !sameTensor(v.getType(), type.getInput(i)))
      return complain("C3", "operand", i, v.getType(), type.getInput(i));
  }
  for (auto [i, v] : llvm::enumerate(getResults())) { // C4
    auto row = dyn_cast<RankedTensorType>(type.getResult(i));
    bool ok = static_cast<bool>(row);
    if (i < carries)
      ok = ok && sameTensor(v.getType(), getCarry()[i].getType()) &&
           sameTensor(v.getType(), row);
    else if (i < carries + getInout().size())
      ok = ok && sameTensor(v.getType(), getInout()[i - carries].getType()) &&
           stacks(*this, tensorType(v), row, false);
    else
      ok = ok && stacks(*this, tensorType(v), row, true);
    if (!ok)
      return complain("C4", "result", i, v.getType(), type.getResult(i));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// seed, reshard and communications
//===----------------------------------------------------------------------===//

/// C1 of reshard and of the communications: one tensor, one mesh.
static LogicalResult verifySameTensor(Operation *op) {
  RankedTensorType from = tensorType(op->getOperand(0)),
                   to = tensorType(op->getResult(0));
  PlacementAttr a = placementOf(from), b = placementOf(to);
  if (from.getShape() != to.getShape() ||
      from.getElementType() != to.getElementType() || !a || !b ||
      a.getMesh() != b.getMesh())
    return op->emitOpError("C1: expected one shape, one element type and "
                           "placements on one mesh, found ")
           << from << " and " << to;
  return success();
}

LogicalResult SeedOp::verify() {
  int64_t rank = tensorType(getValue()).getRank(), dim = getDim();
  if (dim < 0 || dim >= rank) // C1
    return emitOpError("C1: expected a dimension below ")
           << rank << ", found " << dim;
  return success();
}

LogicalResult ReshardOp::verify() { return verifySameTensor(*this); }

LogicalResult dtrain::verifyCommOp(Operation *op) {
  auto comm = cast<CommOpInterface>(op);
  if (failed(verifySameTensor(op)))
    return failure();
  RankedTensorType type = tensorType(op->getOperand(0));
  MeshAttr mesh = placementOf(type).getMesh();
  std::optional<unsigned> axis = mesh.find(comm.getAxis());
  if (!axis)
    return op->emitOpError("C1: axis \"")
           << comm.getAxis() << "\" is not in the mesh";
  TensorState from = stateOf(type, mesh),
              to = stateOf(tensorType(op->getResult(0)), mesh);
  for (unsigned i = 0; i < from.size(); ++i)
    if (i != *axis && from[i] != to[i])
      return op->emitOpError("C1: axis ")
             << mesh.getNames()[i] << " changes from " << from[i].str()
             << " to " << to[i].str() << ", only \"" << comm.getAxis()
             << "\" may";
  std::optional<EdgeCost> cost =
      edge(mesh.getAxes(), type.getShape(), from, *axis, to[*axis]);
  if (!cost ||
      !llvm::is_contained(comm.getTransitions(), cost->transition)) // C2
    return op->emitOpError("C2: ")
           << from[*axis].str() << " to " << to[*axis].str() << " is "
           << (cost ? stringifyTransition(cost->transition) : "no transition");
  return success();
}
