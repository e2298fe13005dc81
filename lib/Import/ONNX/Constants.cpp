//===- Constants.cpp - Constants and integer side computation -------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Node.h"
#include <cmath>

using namespace dtrain;
using namespace dtrain::onnx_import;
using namespace mlir;

LogicalResult onnx_import::importConstant(Node &n) {
  Type i64 = n.builder().getI64Type(), f32 = n.builder().getF32Type();
  StringRef name = n.proto.output_size() ? n.proto.output(0) : StringRef();
  if (const onnx::AttributeProto *value = n.attribute("value")) {
    FailureOr<Tensor> tensor = n.importer.readTensor(value->t(), name, n.loc);
    if (failed(tensor))
      return failure();
    n.importer.classify(*tensor);
    return n.set(0, *tensor);
  }
  if (const onnx::AttributeProto *value = n.attribute("value_int"))
    return n.set(0, tensorOf(*IntConstant::splat({}, value->i()), i64));
  if (const onnx::AttributeProto *value = n.attribute("value_ints")) {
    Ints ints(value->ints().begin(), value->ints().end());
    return n.set(0, tensorOf(*IntConstant::list(ints), i64));
  }
  Tensor tensor;
  tensor.element = f32;
  if (const onnx::AttributeProto *value = n.attribute("value_float")) {
    tensor.splat = value->f();
    return n.set(0, tensor);
  }
  if (const onnx::AttributeProto *value = n.attribute("value_floats")) {
    tensor.name = name.str();
    tensor.shape = {value->floats_size()};
    tensor.opaque = value->floats_size() != 1;
    tensor.splat = tensor.opaque ? 0.0 : value->floats(0);
    n.importer.classify(tensor);
    return n.set(0, tensor);
  }
  return n.error() << "expected one of value, value_int, value_ints, "
                      "value_float, value_floats";
}

LogicalResult onnx_import::importConstantOfShape(Node &n) {
  FailureOr<Ints> shape = n.ints(0);
  if (failed(shape) || failed(n.checkShape(*shape)))
    return failure();
  Tensor tensor;
  tensor.shape = *shape;
  tensor.element = n.builder().getF32Type();
  tensor.splat = 0.0;
  if (const onnx::AttributeProto *value = n.attribute("value")) {
    FailureOr<Tensor> fill = n.importer.readTensor(value->t(), "value", n.loc);
    if (failed(fill))
      return failure();
    if (fill->getNumElements() != 1)
      return n.error() << "expected a value of one element, found "
                       << fill->getType();
    tensor.element = fill->element;
    tensor.splat = fill->getSplat();
  }
  if (!tensor.splat)
    return n.error() << "expected a value that is in the file";
  if (!tensor.isFloat()) {
    auto ints = IntConstant::splat(*shape, static_cast<int64_t>(*tensor.splat));
    if (!ints)
      return n.error() << "expected a value within 64 bits";
    return n.set(0, tensorOf(*ints, tensor.element));
  }
  // An exporter's weight has a shape that the file states.
  StringRef source = n.proto.input(0);
  int producer = n.importer.producerOf(source);
  if (n.importer.isInitializer(source) ||
      (producer >= 0 && n.importer.node(producer).op_type() == "Constant")) {
    tensor.name = n.proto.output_size() ? n.proto.output(0) : "";
    n.importer.classify(tensor);
  }
  return n.set(0, tensor);
}

LogicalResult onnx_import::importRange(Node &n) {
  int64_t bounds[3];
  Type element;
  for (unsigned i = 0; i < 3; ++i) {
    Tensor *bound = n.input(i);
    if (!bound)
      return failure();
    std::optional<double> value = bound->getScalar();
    std::optional<int64_t> exact =
        bound->ints && value ? bound->ints->getSplat() : std::nullopt;
    if (!exact && value && std::floor(*value) == *value &&
        std::abs(*value) < 9e15)
      exact = static_cast<int64_t>(*value);
    if (!exact)
      return n.error() << "expected operand " << i
                       << " to be a whole number known at import, found "
                       << bound->getType();
    bounds[i] = *exact;
    element = bound->element;
  }
  auto range = IntConstant::range(bounds[0], bounds[1], bounds[2]);
  if (!range)
    return n.error() << "expected a step other than 0 and a range within 64 "
                        "bits, found "
                     << bounds[0] << " to " << bounds[1] << " by " << bounds[2];
  return n.set(0, tensorOf(*range, element));
}

LogicalResult onnx_import::importShape(Node &n) {
  Tensor *x = n.input(0);
  if (!x)
    return failure();
  int64_t rank = x->getRank();
  auto clamp = [&](int64_t bound) {
    bound = bound < 0 ? bound + rank : bound;
    return std::min(std::max<int64_t>(bound, 0), rank);
  };
  int64_t start = clamp(n.intAttr("start", 0));
  int64_t end = clamp(n.intAttr("end", rank));
  Ints extents;
  for (int64_t d = start; d < end; ++d)
    extents.push_back(x->shape[d]);
  return n.set(0,
               tensorOf(*IntConstant::list(extents), n.builder().getI64Type()));
}

LogicalResult onnx_import::importSize(Node &n) {
  Tensor *x = n.input(0);
  if (!x)
    return failure();
  return n.set(0, tensorOf(*IntConstant::splat({}, x->getNumElements()),
                           n.builder().getI64Type()));
}

LogicalResult onnx_import::importTrilu(Node &n) {
  Tensor *x = n.input(0);
  if (!x)
    return failure();
  int64_t k = 0, rank = x->getRank();
  if (n.hasInput(1)) {
    FailureOr<Ints> diagonal = n.ints(1);
    if (failed(diagonal))
      return failure();
    if (diagonal->size() != 1)
      return n.error() << "expected one diagonal, found " << diagonal->size();
    k = diagonal->front();
  }
  if (rank < 2)
    return n.error() << "expected a matrix, found " << x->getType();
  if (x->isEmpty())
    return n.error() << "operand 0 has no elements: " << x->getType();
  // Element (i, j) stays if i + k <= j (upper) or j <= i + k (lower).
  OpBuilder &b = n.builder();
  Type i64 = b.getI64Type(), i1 = b.getI1Type();
  Value row = n.iota(0, {x->shape[rank - 2], 1}, i64);
  Value column = n.iota(1, {1, x->shape[rank - 1]}, i64);
  if (k != 0) {
    FailureOr<Value> moved =
        n.elementwise(Elementwise::offset, row, static_cast<double>(k), i64);
    if (failed(moved))
      return failure();
    row = *moved;
  }
  bool upper = n.intAttr("upper", 1);
  FailureOr<Value> mask =
      n.elementwise(Elementwise::less_equal,
                    upper ? ValueRange{row, column} : ValueRange{column, row},
                    std::nullopt, i1);
  if (failed(mask))
    return failure();
  std::optional<double> fill = x->getSplat();
  if (x->element.isInteger(1) && fill && *fill != 0)
    return n.set(0, n.expand(*mask, x->shape));
  FailureOr<Value> inside =
      fill ? FailureOr<Value>(n.constant(*fill, x->element)) : n.value(*x);
  if (failed(inside))
    return failure();
  FailureOr<Value> result = n.elementwise(
      Elementwise::where, {*mask, *inside, n.constant(0, x->element)},
      std::nullopt, x->element);
  return failed(result) ? Failed() : n.set(0, n.expand(*result, x->shape));
}
