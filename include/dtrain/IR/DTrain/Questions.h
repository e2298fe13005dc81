//===- Questions.h - What passes ask of an op -------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A pass never asks which op it has before it: it asks what the op's rule, op
/// class and types say. These are the questions that several passes share; all
/// are answered "no" for ops without a rule.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_IR_DTRAIN_QUESTIONS_H
#define DTRAIN_IR_DTRAIN_QUESTIONS_H

#include "dtrain/IR/DTrain/DTrain.h"

namespace dtrain {

/// The op class; none for ops without a rule.
std::optional<OpClass> opClassOf(mlir::Operation *op);
/// Whether the op is of that class; `op` may be null.
bool isOfClass(mlir::Operation *op, OpClass cls);

/// Whether the one result is the one operand's memory, read otherwise: an op
/// that moves no byte.
bool isView(mlir::Operation *op);
/// Whether the results hold elements of operands, in their own type, and
/// nothing else but zeros: views, concatenations, paddings.
bool movesData(mlir::Operation *op);
/// Whether the one result is the one operand, element by element, perhaps in
/// another type.
bool isConversion(mlir::Operation *op);
/// Whether the result is the sum (or difference) of the operands, which may be
/// broadcast.
bool addsUp(mlir::Operation *op);
/// Whether the op works on each element alone, and is no view.
bool isElementwise(mlir::Operation *op);
/// Whether the results follow from no value: constants and tables of indices.
bool isGenerated(mlir::Operation *op);

/// The operand that has factor `f` in its rule, if one has.
mlir::OpOperand *operandWith(RuleOpInterface op, const Rule &rule, FactorId f);

/// The names of what an optimizer keeps for each parameter beside it, in the
/// order in which its update takes them.
llvm::ArrayRef<llvm::StringLiteral> momentsOf(Optimizer optimizer);

/// Replaces the op by its expansion (RuleOpInterface::expand), of the same
/// origin; fails where it has none.
mlir::LogicalResult expandOp(RuleOpInterface op);

} // namespace dtrain

#endif // DTRAIN_IR_DTRAIN_QUESTIONS_H
