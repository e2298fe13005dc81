//===- Questions.cpp - What passes ask of an op ---------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/Questions.h"

using namespace mlir;
using namespace dtrain;

std::optional<OpClass> dtrain::opClassOf(Operation *op) {
  auto rule = dyn_cast_or_null<RuleOpInterface>(op);
  return rule ? std::optional(rule.getOpClass()) : std::nullopt;
}

bool dtrain::isOfClass(Operation *op, OpClass cls) {
  return opClassOf(op) == cls;
}

bool dtrain::isView(Operation *op) {
  return isOfClass(op, OpClass::Move) && op->getNumOperands() == 1 &&
         op->getNumResults() == 1;
}

bool dtrain::movesData(Operation *op) {
  auto iface = dyn_cast_or_null<RuleOpInterface>(op);
  if (!iface)
    return false;
  Rule rule = iface.getRule();
  return !rule.copy.empty() && llvm::all_of(rule.copy, [&](unsigned i) {
    Type element = tensorType(op->getOperand(i)).getElementType();
    return llvm::all_of(op->getResults(), [&](Value v) {
      return tensorType(v).getElementType() == element;
    });
  });
}

bool dtrain::isConversion(Operation *op) {
  auto iface = dyn_cast_or_null<RuleOpInterface>(op);
  return iface && op->getNumOperands() == 1 && op->getNumResults() == 1 &&
         iface.getOpClass() != OpClass::Move && !iface.getRule().copy.empty() &&
         tensorType(op->getOperand(0)).getShape() ==
             tensorType(op->getResult(0)).getShape();
}

bool dtrain::addsUp(Operation *op) {
  auto iface = dyn_cast_or_null<RuleOpInterface>(op);
  return iface && iface.getRule().addsUp();
}

bool dtrain::isElementwise(Operation *op) {
  auto iface = dyn_cast_or_null<RuleOpInterface>(op);
  return iface && iface.getOpClass() != OpClass::Move &&
         iface.getRule().isElementwise();
}

bool dtrain::isGenerated(Operation *op) {
  return isa_and_nonnull<RuleOpInterface>(op) && op->getNumOperands() == 0;
}

OpOperand *dtrain::operandWith(RuleOpInterface op, const Rule &rule,
                               FactorId f) {
  for (OpOperand &operand : op->getOpOperands())
    if (Rule::dimOf(rule.operands[operand.getOperandNumber()], f))
      return &operand;
  return nullptr;
}

ArrayRef<llvm::StringLiteral> dtrain::momentsOf(Optimizer optimizer) {
  static constexpr llvm::StringLiteral adamw[] = {"moment1", "moment2"};
  static constexpr llvm::StringLiteral sgd[] = {"momentum"};
  switch (optimizer) {
  case Optimizer::adamw:
    return adamw;
  case Optimizer::sgd:
    return sgd;
  }
  llvm_unreachable("not an optimizer");
}

LogicalResult dtrain::expandOp(RuleOpInterface op) {
  OpBuilder b(op);
  OriginScope scope(b, op.getOrigin());
  SmallVector<Value> results;
  if (failed(op.expand(b, results)))
    return failure();
  op->replaceAllUsesWith(results);
  op->erase();
  return success();
}
