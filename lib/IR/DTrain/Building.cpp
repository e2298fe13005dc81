//===- Building.cpp - Types and builders ----------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/DTrain.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtrain;

RankedTensorType dtrain::tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

bool dtrain::sameTensor(Type a, Type b) {
  auto x = dyn_cast<RankedTensorType>(a), y = dyn_cast<RankedTensorType>(b);
  return x && y && x.getShape() == y.getShape() &&
         x.getElementType() == y.getElementType();
}

PlacementAttr dtrain::placementOf(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<PlacementAttr>(tensor.getEncoding())
                : PlacementAttr();
}

TensorState dtrain::stateOf(RankedTensorType type, MeshAttr mesh) {
  if (PlacementAttr placement = placementOf(type))
    return placement.getState(type.getShape());
  return TensorState(mesh.getNames().size());
}

RankedTensorType dtrain::withState(RankedTensorType type, MeshAttr mesh,
                                   const TensorState &state) {
  return RankedTensorType::get(
      type.getShape(), type.getElementType(),
      PlacementAttr::get(mesh, type.getShape(), state));
}

SmallVector<int64_t> dtrain::localShapeOf(RankedTensorType type) {
  PlacementAttr placement = placementOf(type);
  if (!placement)
    return SmallVector<int64_t>(type.getShape());
  return localShape(placement.getMesh().getAxes(), type.getShape(),
                    placement.getState(type.getShape()));
}

double dtrain::elementBytes(Type elementType) {
  unsigned bits =
      elementType.isIndex() ? 64 : elementType.getIntOrFloatBitWidth();
  return bits == 1 ? 1.0 : bits / 8.0;
}

/// The element type of a result: as asked, else of the first floating operand.
static Type resultElement(ValueRange operands, Type asked) {
  if (asked)
    return asked;
  for (Value v : operands)
    if (isa<FloatType>(tensorType(v).getElementType()))
      return tensorType(v).getElementType();
  return tensorType(operands.front()).getElementType();
}

static RankedTensorType resultType(const Rule &rule, bool broadcasts,
                                   ValueRange operands, Type asked) {
  auto shapes = llvm::cantFail(inferShapes(rule, broadcasts, operands));
  return RankedTensorType::get(shapes.front(), resultElement(operands, asked));
}

Value dtrain::buildMove(OpBuilder &b, Location loc, StringRef einsum,
                        Value input, ArrayRef<int64_t> shape) {
  auto type = RankedTensorType::get(shape, tensorType(input).getElementType());
  return MoveOp::create(b, loc, type, input,
                        RuleAttr::get(b.getContext(), parseRuleOrDie(einsum)),
                        Origin::forward, OpStateAttr());
}

Value dtrain::buildReduce(OpBuilder &b, Location loc, Reduction kind,
                          StringRef einsum, Value input, Type elementType) {
  Rule rule = parseRuleOrDie(einsum);
  return ReductionOp::create(
      b, loc, resultType(rule, false, input, elementType), kind, input,
      RuleAttr::get(b.getContext(), rule), Origin::forward, OpStateAttr());
}

Value dtrain::buildElementwise(OpBuilder &b, Location loc, Elementwise kind,
                               ValueRange operands,
                               std::optional<double> constant,
                               Type elementType) {
  static const Rule rules[] = {parseRuleOrDie("... -> ..."),
                               parseRuleOrDie("..., ... -> ..."),
                               parseRuleOrDie("..., ..., ... -> ...")};
  RankedTensorType type =
      resultType(rules[operands.size() - 1], true, operands, elementType);
  SmallVector<Type> types(kind == Elementwise::swiglu_grad ? 2 : 1, type);
  auto op = ElementwiseOp::create(b, loc, types, kind, operands,
                                  constant ? b.getF64FloatAttr(*constant)
                                           : FloatAttr(),
                                  Origin::forward, OpStateAttr());
  return op.getResults().front();
}

Value dtrain::buildConstant(OpBuilder &b, Location loc, double value,
                            RankedTensorType type) {
  return ConstantOp::create(b, loc, type, llvm::APFloat(value), Origin::forward,
                            OpStateAttr());
}

OriginScope::OriginScope(OpBuilder &builder, Origin origin)
    : builder(builder), previous(builder.getListener()), origin(origin) {
  builder.setListener(this);
}
OriginScope::~OriginScope() { builder.setListener(previous); }

void OriginScope::notifyOperationInserted(Operation *op,
                                          OpBuilder::InsertPoint point) {
  TypeSwitch<Operation *>(op)
      .Case<RuleOpInterface, CommOpInterface, RepeatOp, ReshardOp>(
          [&](auto typed) { typed.setOrigin(origin); });
  if (auto *outer = dyn_cast_or_null<OpBuilder::Listener>(previous))
    outer->notifyOperationInserted(op, point);
}
