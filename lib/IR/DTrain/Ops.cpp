//===- Ops.cpp - Verifiers of the compute ops -----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/DTrain.h"

using namespace mlir;
using namespace dtrain;

/// `rule("…")` in the assembly of ops whose rule is an attribute.
static ParseResult parseRuleText(OpAsmParser &p, RuleAttr &einsum) {
  SMLoc loc = p.getCurrentLocation();
  std::string text;
  if (p.parseString(&text))
    return failure();
  llvm::Expected<Rule> rule = Rule::parse(text);
  if (!rule)
    return p.emitError(loc) << "rule: " << llvm::toString(rule.takeError());
  einsum = RuleAttr::get(p.getContext(), *rule);
  return success();
}
static void printRuleText(OpAsmPrinter &p, Operation *, RuleAttr einsum) {
  p << '"' << einsum.getValue().str() << '"';
}

#define GET_OP_CLASSES
#include "dtrain/IR/DTrain/DTrainOps.cpp.inc"

/// Whether a rule states terms only, as a `dot`, `move` or `reduce` does.
static bool hasClauses(const Rule &rule) {
  for (const Rule::Factor &f : rule.factors)
    if (f.kind != FactorKind::Plain || f.reduce != ReduceOp::Sum || f.isRun)
      return true;
  return !rule.windows.empty() || !rule.keep.empty() || rule.flops ||
         rule.contract || !rule.touch.empty() || !rule.sum.empty() ||
         !rule.copy.empty() || !rule.index.empty();
}

static bool isUnary(const Rule &rule) {
  return rule.operands.size() == 1 && rule.results.size() == 1 &&
         !hasClauses(rule);
}

LogicalResult DotOp::verify() {
  if (getInputs().size() < 2 || getInputs().size() > 3) // C1
    return emitOpError("C1: expected two or three operands, found ")
           << getInputs().size();
  const Rule &rule = getEinsum().getValue();
  if (rule.results.size() != 1 || rule.operands.size() != getInputs().size() ||
      hasClauses(rule)) // C2
    return emitOpError("C2: expected a rule of ")
           << getInputs().size()
           << " operands and one result without clauses, found \"" << rule.str()
           << '"';
  for (const RuleDim &dim : rule.results[0])
    for (FactorId f : dim.factors)
      if (!Rule::dimOf(rule.operands[0], f) &&
          !Rule::dimOf(rule.operands[1], f)) // C3
        return emitOpError("C3: factor '")
               << rule.factors[f].name
               << "' of the result is in neither operand 0 nor 1";
  return success();
}

LogicalResult ElementwiseOp::verify() {
  if (getConstant().has_value() != takesConstant(getKind())) // C1
    return emitOpError("C1: '")
           << stringifyElementwise(getKind())
           << (getConstant() ? "' takes no constant" : "' needs a constant");
  return success();
}

LogicalResult ReductionOp::verify() {
  const Rule &rule = getEinsum().getValue();
  bool ok = isUnary(rule);
  for (unsigned f = 0; ok && f < rule.factors.size(); ++f)
    ok = Rule::dimOf(rule.operands[0], f).has_value();
  if (!ok) // C1
    return emitOpError("C1: expected a rule of one operand and one result "
                       "whose factors are the "
                       "operand's, found \"")
           << rule.str() << '"';
  return success();
}

LogicalResult MoveOp::verify() {
  const Rule &rule = getEinsum().getValue();
  bool ok = isUnary(rule);
  for (unsigned f = 0; ok && f < rule.factors.size(); ++f)
    ok = Rule::dimOf(rule.results[0], f).has_value();
  if (!ok) // C1
    return emitOpError("C1: expected a rule of one operand and one result that "
                       "keeps every factor, "
                       "found \"")
           << rule.str() << '"';
  return success();
}

LogicalResult NormalizeOp::verify() {
  if (getKind() == Norm::rms && getBias()) // C1
    return emitOpError("C1: 'rms' has no bias");
  return success();
}

LogicalResult RotaryOp::verify() {
  int64_t d = tensorType(getInput()).getShape().back();
  int64_t c = tensorType(getCos()).getShape().back();
  if (2 * c > d) // C1
    return emitOpError("C1: tables of ")
           << c << " angles need at least " << 2 * c
           << " elements per row, found " << d;
  return success();
}

LogicalResult ConcatOp::verify() {
  RankedTensorType result = tensorType(getResult());
  int64_t dim = getDim(), sum = 0;
  if (getInputs().empty() || dim < 0 || dim >= result.getRank()) // C1
    return emitOpError("C1: expected operands and a dimension below ")
           << result.getRank();
  for (Value v : getInputs()) {
    if (tensorType(v).getRank() != result.getRank())
      return emitOpError("C1: expected operands of rank ")
             << result.getRank() << ", found " << tensorType(v).getRank();
    sum += tensorType(v).getShape()[dim];
  }
  if (sum != result.getShape()[dim])
    return emitOpError("C1: the operands add up to ")
           << sum << " along dimension " << dim << ", the result has "
           << result.getShape()[dim];
  return success();
}

/// The part [offset, offset + extent of `part`) lies within `whole`.
static LogicalResult verifyPart(Operation *op, RankedTensorType part,
                                RankedTensorType whole, int64_t dim,
                                int64_t offset) {
  if (part.getRank() == whole.getRank() && dim >= 0 && dim < whole.getRank() &&
      offset >= 0 && offset <= whole.getShape()[dim] - part.getShape()[dim])
    return success();
  return op->emitOpError("C1: dimension ")
         << dim << " at offset " << offset << ": " << part
         << " is not a part of " << whole;
}
LogicalResult SliceOp::verify() {
  return verifyPart(*this, tensorType(getResult()), tensorType(getInput()),
                    getDim(), getOffset());
}
LogicalResult PadOp::verify() {
  return verifyPart(*this, tensorType(getInput()), tensorType(getResult()),
                    getDim(), getOffset());
}

LogicalResult IotaOp::verify() {
  int64_t rank = tensorType(getResult()).getRank();
  int64_t dim = getDim();
  if (dim < 0 || dim >= rank) // C1
    return emitOpError("C1: expected a dimension below ")
           << rank << ", found " << dim;
  return success();
}

LogicalResult CustomOp::verify() {
  if (!getEinsum().getValue().flops) // C1
    return emitOpError(
        "C1: the rule must state 'flops': work is given, never guessed");
  return success();
}

void DTrainDialect::registerOps() {
  addOperations<
#define GET_OP_LIST
#include "dtrain/IR/DTrain/DTrainOps.cpp.inc"
      >();
  registerControlOps();
}
