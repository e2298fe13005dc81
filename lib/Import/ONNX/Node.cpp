//===- Node.cpp - Operands and attributes of one node ---------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Node.h"

using namespace dtrain;
using namespace dtrain::onnx_import;
using namespace mlir;

InFlightDiagnostic Node::error() const {
  StringRef name = proto.name();
  if (name.empty() && !proto.output().empty())
    name = proto.output(0);
  return emitError(loc) << "node '" << name << "' (" << proto.op_type()
                        << "): ";
}

Tensor *Node::input(unsigned i) {
  if (!hasInput(i)) {
    error() << "expected operand " << i << ", found none";
    return nullptr;
  }
  Tensor *tensor = importer.find(proto.input(i));
  if (!tensor)
    error() << "operand " << i << " reads '" << proto.input(i)
            << "', which nothing before it defines";
  return tensor;
}

FailureOr<Value> Node::value(unsigned i) {
  Tensor *tensor = input(i);
  if (!tensor)
    return failure();
  if (tensor->isEmpty())
    return error() << "operand " << i << " ('" << proto.input(i)
                   << "') has no elements: " << tensor->getType();
  return value(*tensor);
}

FailureOr<Ints> Node::ints(unsigned i) {
  Tensor *tensor = input(i);
  if (!tensor)
    return failure();
  std::optional<Ints> values =
      tensor->ints ? tensor->ints->getValues() : std::nullopt;
  if (!values)
    return error() << "expected operand " << i << " ('" << proto.input(i)
                   << "') to be integers known at import, found "
                   << tensor->getType();
  return *values;
}

FailureOr<Ints> Node::intsOf(unsigned i, StringRef name) {
  return hasInput(i) ? ints(i) : intsAttr(name);
}

LogicalResult Node::set(unsigned i, Tensor tensor) {
  if (!hasOutput(i))
    return success();
  return importer.define(proto.output(i), std::move(tensor), loc);
}
LogicalResult Node::set(unsigned i, Value value) {
  return set(i, tensorOf(value));
}
LogicalResult Node::set(unsigned i, FailureOr<Value> value) {
  return failed(value) ? Failed() : set(i, *value);
}

const onnx::AttributeProto *Node::attribute(StringRef name) const {
  for (const onnx::AttributeProto &attribute : proto.attribute())
    if (attribute.name() == name)
      return &attribute;
  return nullptr;
}
int64_t Node::intAttr(StringRef name, int64_t otherwise) const {
  const onnx::AttributeProto *a = attribute(name);
  return a && a->has_i() ? a->i() : otherwise;
}
double Node::floatAttr(StringRef name, double otherwise) const {
  const onnx::AttributeProto *a = attribute(name);
  return a && a->has_f() ? a->f() : otherwise;
}
StringRef Node::stringAttr(StringRef name, StringRef otherwise) const {
  const onnx::AttributeProto *a = attribute(name);
  return a && a->has_s() ? StringRef(a->s()) : otherwise;
}
Ints Node::intsAttr(StringRef name) const {
  const onnx::AttributeProto *a = attribute(name);
  return a ? Ints(a->ints().begin(), a->ints().end()) : Ints();
}

FailureOr<int64_t> Node::axis(int64_t axis, int64_t rank) const {
  if (axis < -rank || axis >= rank)
    return error() << "expected an axis of " << rank << " dimensions, found "
                   << axis;
  return axis < 0 ? axis + rank : axis;
}

Tensor onnx_import::tensorOf(Value value) {
  Tensor tensor;
  tensor.shape.assign(tensorType(value).getShape().begin(),
                      tensorType(value).getShape().end());
  tensor.element = tensorType(value).getElementType();
  tensor.value = value;
  return tensor;
}

Tensor onnx_import::tensorOf(IntConstant ints, Type element) {
  Tensor tensor;
  tensor.shape.assign(ints.getShape().begin(), ints.getShape().end());
  tensor.element = element;
  tensor.ints = std::move(ints);
  return tensor;
}
