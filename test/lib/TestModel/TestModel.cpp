//===- TestModel.cpp - A dialect that dtrain does not know ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel/TestModel.h"

using namespace mlir;
using namespace testmodel;
using dtrain::AttentionFactors;
using dtrain::OpStateAttr;
using dtrain::Origin;
using dtrain::Rule;

#include "TestModelDialect.cpp.inc"

#define GET_OP_CLASSES
#include "TestModelOps.cpp.inc"

void TestModelDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "TestModelOps.cpp.inc"
      >();
  registerKernels();
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

static AttentionFactors factorsOf(const Rule &rule) {
  return {*rule.find("n"), *rule.find("h"), *rule.find("m"), *rule.find("q"),
          *rule.find("k"), *rule.find("c"), *rule.find("v")};
}
AttentionFactors AttendOp::getAttentionFactors() {
  return factorsOf(getRule());
}
AttentionFactors AttendGradOp::getAttentionFactors() {
  return factorsOf(getRule());
}
// Always: the attention of a decoder.
bool AttendOp::isCausal() { return true; }
bool AttendGradOp::isCausal() { return true; }

LogicalResult AttendOp::buildBackward(OpBuilder &b, ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> wanted,
                                      SmallVectorImpl<Value> &operandGrads) {
  if (resultGrads[1])
    return emitOpError("has no gradient through its statistic");
  auto op = AttendGradOp::create(
      b, getLoc(), getQuery().getType(), getKey().getType(),
      getValue().getType(), resultGrads[0], getQuery(), getKey(), getValue(),
      getOutput(), getLse(), getScale(), Origin::forward, OpStateAttr());
  for (auto [want, grad] : llvm::zip_equal(wanted, op->getResults()))
    operandGrads.push_back(want ? Value(grad) : Value());
  return success();
}

/// Expands `like`, an op of dtrain's that computes the same.
static LogicalResult expandLike(dtrain::RuleOpInterface like, OpBuilder &b,
                                SmallVectorImpl<Value> &results) {
  LogicalResult expanded = like.expand(b, results);
  like->erase();
  return expanded;
}

LogicalResult AttendOp::expand(OpBuilder &b, SmallVectorImpl<Value> &results) {
  return expandLike(dtrain::AttentionOp::create(
                        b, getLoc(), getOutput().getType(), getLse().getType(),
                        getQuery(), getKey(), getValue(), /*causal=*/true,
                        getScale(), Origin::forward, OpStateAttr()),
                    b, results);
}

//===----------------------------------------------------------------------===//
// Normalisation
//===----------------------------------------------------------------------===//

LogicalResult
StandardizeOp::buildBackward(OpBuilder &b, ArrayRef<Value> resultGrads,
                             ArrayRef<bool> wanted,
                             SmallVectorImpl<Value> &operandGrads) {
  auto op = StandardizeGradOp::create(
      b, getLoc(), getInput().getType(), getScale().getType(),
      getBias().getType(), resultGrads.front(), getInput(), getScale(),
      getEpsilon(), Origin::forward, OpStateAttr());
  for (auto [want, grad] : llvm::zip_equal(wanted, op->getResults()))
    operandGrads.push_back(want ? Value(grad) : Value());
  return success();
}

LogicalResult StandardizeOp::expand(OpBuilder &b,
                                    SmallVectorImpl<Value> &results) {
  return expandLike(dtrain::NormalizeOp::create(
                        b, getLoc(), getResult().getType(), dtrain::Norm::layer,
                        getInput(), getScale(), getBias(), getEpsilon(),
                        Origin::forward, OpStateAttr()),
                    b, results);
}

LogicalResult StandardizeGradOp::expand(OpBuilder &b,
                                        SmallVectorImpl<Value> &results) {
  return expandLike(dtrain::NormalizeGradOp::create(
                        b, getLoc(), getGradInput().getType(),
                        getGradScale().getType(), getGradBias().getType(),
                        dtrain::Norm::layer, getGrad(), getInput(), getScale(),
                        getEpsilon(), Origin::forward, OpStateAttr()),
                    b, results);
}

//===----------------------------------------------------------------------===//
// Loss
//===----------------------------------------------------------------------===//

LogicalResult SurpriseOp::buildBackward(OpBuilder &b,
                                        ArrayRef<Value> resultGrads,
                                        ArrayRef<bool>,
                                        SmallVectorImpl<Value> &operandGrads) {
  if (resultGrads[1])
    return emitOpError("has no gradient through its statistic");
  operandGrads.assign(
      {SurpriseGradOp::create(b, getLoc(), getLogits().getType(),
                              resultGrads[0], getLogits(), getLabels(),
                              getLse(), Origin::forward, OpStateAttr()),
       Value()});
  return success();
}

LogicalResult SurpriseOp::expand(OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
  return expandLike(dtrain::CrossEntropyOp::create(
                        b, getLoc(), getLoss().getType(), getLse().getType(),
                        getLogits(), getLabels(), Origin::forward,
                        OpStateAttr()),
                    b, results);
}
