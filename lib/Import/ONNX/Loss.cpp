//===- Loss.cpp - The scalar loss -----------------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Node.h"

using namespace dtrain;
using namespace dtrain::onnx_import;
using namespace mlir;

/// Sum, or mean, of losses per token.
static FailureOr<Value> total(Node &n, Value losses, bool mean) {
  Ints axes;
  for (int64_t d = 0; d < tensorType(losses).getRank(); ++d)
    axes.push_back(d);
  FailureOr<Value> sum = n.reduce(Reduction::sum, losses, axes, false);
  if (failed(sum))
    return failure();
  double count =
      mean ? static_cast<double>(tensorType(losses).getNumElements()) : 1.0;
  return n.elementwise(Elementwise::scale, *sum, 1 / count);
}

static FailureOr<Value> crossEntropy(Node &n, Value logits, Value labels) {
  auto shape = tensorType(logits).getShape().drop_back();
  if (shape != tensorType(labels).getShape())
    return n.error() << "expected labels shaped as the logits without their "
                        "classes, found "
                     << labels.getType() << " for " << logits.getType();
  auto type = RankedTensorType::get(shape, n.builder().getF32Type());
  auto op = CrossEntropyOp::create(n.builder(), n.loc, type, type, logits,
                                   labels, Origin::forward, OpStateAttr());
  return Value(op.getLoss());
}

FailureOr<Value> onnx_import::buildCrossEntropy(Node &n, Value logits,
                                                Value labels, bool mean) {
  FailureOr<Value> losses = crossEntropy(n, logits, labels);
  return failed(losses) ? Failed() : total(n, *losses, mean);
}

/// ONNX has the classes second; here they are last.
static FailureOr<Value> classesLast(Node &n, Value scores) {
  Ints perm{0};
  int64_t rank = tensorType(scores).getRank();
  for (int64_t d = 2; d < rank; ++d)
    perm.push_back(d);
  perm.push_back(1);
  if (rank < 2)
    return n.error() << "expected scores of rank 2 or more, found "
                     << scores.getType();
  return n.transpose(scores, perm);
}

/// Negative logarithms of the labels' probabilities, given all logarithms.
static FailureOr<Value> negativeLogLikelihood(Node &n, Value scores,
                                              Value labels) {
  auto shape = tensorType(scores).getShape().drop_back();
  if (shape != tensorType(labels).getShape())
    return n.error() << "expected labels shaped as the scores without their "
                        "classes, found "
                     << labels.getType() << " for " << scores.getType();
  auto type = RankedTensorType::get(shape, tensorType(scores).getElementType());
  Value picked = PickOp::create(n.builder(), n.loc, type, scores, labels,
                                Origin::forward, OpStateAttr());
  return n.elementwise(Elementwise::neg, picked);
}

LogicalResult onnx_import::importLoss(Node &n) {
  Tensor *labels = n.input(1);
  if (!labels)
    return failure();
  if (n.hasInput(2))
    return n.error() << "class weights are not supported";
  StringRef reduction = n.stringAttr("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return n.error() << "expected reduction mean, sum or none, found \""
                     << reduction << '"';
  if (labels->role)
    labels->role = Role::label;
  // A logarithm of a softmax over the classes is part of cross-entropy.
  std::string source = n.proto.input_size() ? n.proto.input(0) : "";
  bool fused = n.proto.op_type() == "SoftmaxCrossEntropyLoss";
  int producer = n.importer.producerOf(source);
  if (!fused && producer >= 0 &&
      n.importer.node(producer).op_type() == "LogSoftmax") {
    Node softmax(n.importer, n.importer.node(producer), n.loc);
    Tensor *scores = softmax.input(0);
    if (!scores)
      return failure();
    int64_t axis = softmax.intAttr("axis", n.importer.opset < 13 ? 1 : -1);
    if (axis == 1 || axis == 1 - scores->getRank()) {
      fused = true;
      source = softmax.proto.input(0);
    }
  }
  Tensor *scores = n.importer.find(source);
  FailureOr<Value> value = scores ? n.value(*scores) : n.value(0);
  FailureOr<Value> label = failed(value) ? Failed() : n.value(1);
  if (failed(label))
    return failure();
  value = classesLast(n, *value);
  if (failed(value))
    return failure();
  FailureOr<Value> losses = fused ? crossEntropy(n, *value, *label)
                                  : negativeLogLikelihood(n, *value, *label);
  if (failed(losses))
    return failure();
  if (reduction == "none")
    return n.set(0, *losses);
  return n.set(0, total(n, *losses, reduction == "mean"));
}
