//===- RepeatUtils.cpp - Rebuilding repeats and their bodies --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Transforms/Utils/RepeatUtils.h"

using namespace mlir;
using namespace dtrain;

RepeatSegments RepeatSegments::of(RepeatOp op) {
  return {
      SmallVector<Value>(op.getCarry()), SmallVector<Value>(op.getStacked()),
      SmallVector<Value>(op.getInout()), SmallVector<Value>(op.getShared())};
}

RepeatSegments RepeatSegments::ofBody(RepeatOp op) {
  SmallVector<Value> arguments(op.getBody().getArguments());
  ArrayRef<Value> rest = arguments;
  auto take = [&](size_t count) {
    SmallVector<Value> taken(rest.take_front(count));
    rest = rest.drop_front(count);
    return taken;
  };
  RepeatSegments segments;
  segments.carry = take(op.getCarry().size());
  segments.stacked = take(op.getStacked().size());
  segments.inout = take(op.getInout().size());
  segments.shared = take(op.getShared().size());
  return segments;
}

RepeatOp dtrain::buildRepeatLike(OpBuilder &b, RepeatOp like, func::FuncOp body,
                                 const RepeatSegments &operands) {
  SmallVector<Type> types;
  for (Value v : operands.carry)
    types.push_back(v.getType());
  for (Value v : operands.inout)
    types.push_back(v.getType());
  for (Type row : body.getResultTypes().drop_front(types.size())) {
    auto type = cast<RankedTensorType>(row);
    SmallVector<int64_t> shape = {like.getTripCount()};
    llvm::append_range(shape, type.getShape());
    types.push_back(RankedTensorType::get(shape, type.getElementType()));
  }
  return RepeatOp::create(b, like.getLoc(), types, body.getSymName(),
                          like.getFrom(), like.getTo(), operands.carry,
                          operands.stacked, operands.inout, operands.shared,
                          like.getReverse(), like.getPinnedAxisAttr(),
                          like.getPinnedToAttr(), like.getOrigin());
}

bool dtrain::collectConstantOps(Value value, SetVector<Operation *> &ops) {
  auto rule = value.getDefiningOp<RuleOpInterface>();
  if (!rule)
    return false;
  if (ops.contains(rule))
    return true;
  for (Value operand : rule->getOperands())
    if (!collectConstantOps(operand, ops))
      return false;
  ops.insert(rule);
  return true;
}

bool dtrain::followsFromConstants(Value value) {
  SetVector<Operation *> ops;
  return collectConstantOps(value, ops);
}

void dtrain::updateFunctionType(func::FuncOp func) {
  Block &block = func.front();
  func.setFunctionType(
      FunctionType::get(func.getContext(), block.getArgumentTypes(),
                        block.getTerminator()->getOperandTypes()));
}

void dtrain::setReturned(func::FuncOp func, ValueRange values) {
  func.front().getTerminator()->setOperands(values);
  updateFunctionType(func);
}

void dtrain::eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

bool dtrain::isOnlyCaller(RepeatOp op, ModuleOp module) {
  auto uses = SymbolTable::getSymbolUses(op.getBody(), module);
  return uses && llvm::hasSingleElement(*uses);
}
