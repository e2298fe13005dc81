//===- GraphBuilder.cpp - Builds one ONNX graph, node by node -------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphBuilder.h"
#include "llvm/ADT/Twine.h"

using namespace dtrain;
using namespace llvm;

/// The newest that the packaged ONNX 1.12 knows.
static constexpr int64_t kIRVersion = 8;
static constexpr int64_t kOpset = 17;

GraphBuilder::GraphBuilder(StringRef graphName)
    : graph(*model.mutable_graph()) {
  model.set_ir_version(kIRVersion);
  model.set_producer_name("dtrain");
  model.set_producer_version(DTRAIN_VERSION);
  onnx::OperatorSetIdProto &opset = *model.add_opset_import();
  opset.set_domain("");
  opset.set_version(kOpset);
  graph.set_name(graphName.str());
}

GraphBuilder::Scope::Scope(GraphBuilder &builder, const Twine &name)
    : builder(builder), outer(builder.path.size()) {
  builder.path += ("/" + name).str();
}

static void setType(onnx::ValueInfoProto &info, StringRef name,
                    onnx::TensorProto::DataType type, ArrayRef<Dim> shape) {
  info.set_name(name.str());
  onnx::TypeProto::Tensor &tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  onnx::TensorShapeProto &dims = *tensor.mutable_shape();
  for (const Dim &dim : shape) {
    if (const int64_t *size = std::get_if<int64_t>(&dim))
      dims.add_dim()->set_dim_value(*size);
    else
      dims.add_dim()->set_dim_param(std::get<StringRef>(dim).str());
  }
}

Value GraphBuilder::addInput(StringRef name, onnx::TensorProto::DataType type,
                             ArrayRef<Dim> shape) {
  setType(*graph.add_input(), name, type, shape);
  return name.str();
}

void GraphBuilder::declareShape(const Value &value,
                                onnx::TensorProto::DataType type,
                                ArrayRef<Dim> shape) {
  setType(*graph.add_value_info(), value, type, shape);
}

static void setAttribute(onnx::AttributeProto &proto,
                         const Attribute &attribute) {
  proto.set_name(attribute.name.str());
  if (const int64_t *i = std::get_if<int64_t>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::INT);
    proto.set_i(*i);
  } else if (const float *f = std::get_if<float>(&attribute.value)) {
    proto.set_type(onnx::AttributeProto::FLOAT);
    proto.set_f(*f);
  } else {
    proto.set_type(onnx::AttributeProto::INTS);
    for (int64_t i : std::get<SmallVector<int64_t, 4>>(attribute.value))
      proto.add_ints(i);
  }
}

onnx::NodeProto &GraphBuilder::addNode(StringRef opType, ArrayRef<Value> inputs,
                                       ArrayRef<Attribute> attributes) {
  onnx::NodeProto &node = *graph.add_node();
  std::string name = (path + "/" + opType).str();
  if (unsigned n = nodeCounts[name]++)
    name += "_" + std::to_string(n);
  node.set_name(name);
  node.set_op_type(opType.str());
  for (const Value &input : inputs)
    node.add_input(input);
  for (const Attribute &attribute : attributes)
    setAttribute(*node.add_attribute(), attribute);
  return node;
}

Value GraphBuilder::add(StringRef opType, ArrayRef<Value> inputs,
                        ArrayRef<Attribute> attributes) {
  return addMultiple(opType, inputs, 1, attributes).front();
}

SmallVector<Value, 3>
GraphBuilder::addMultiple(StringRef opType, ArrayRef<Value> inputs,
                          unsigned results, ArrayRef<Attribute> attributes) {
  onnx::NodeProto &node = addNode(opType, inputs, attributes);
  for (unsigned i = 0; i < results; ++i)
    node.add_output(node.name() + "_output_" + std::to_string(i));
  return SmallVector<Value, 3>(node.output().begin(), node.output().end());
}

void GraphBuilder::addOutput(StringRef name, StringRef opType,
                             ArrayRef<Value> inputs, ArrayRef<Dim> shape) {
  addNode(opType, inputs, {}).add_output(name.str());
  setType(*graph.add_output(), name, onnx::TensorProto::FLOAT, shape);
}

Value GraphBuilder::addWeight(StringRef name, ArrayRef<int64_t> shape) {
  // Without `value` ConstantOfShape gives float zeros.
  onnx::NodeProto &node = addNode("ConstantOfShape", getInts(shape), {});
  std::string module = path.empty() ? "" : path.substr(1) + ".";
  std::replace(module.begin(), module.end(), '/', '.');
  node.add_output((module + name).str());
  return node.output(0);
}

onnx::TensorProto *
GraphBuilder::addInitializer(const std::string &name,
                             onnx::TensorProto::DataType type) {
  if (!initializers.insert(name).second)
    return nullptr;
  onnx::TensorProto &tensor = *graph.add_initializer();
  tensor.set_name(name);
  tensor.set_data_type(type);
  return &tensor;
}

Value GraphBuilder::getInts(ArrayRef<int64_t> values) {
  std::string name = "ints";
  for (int64_t value : values)
    name += "_" + std::to_string(value);
  if (onnx::TensorProto *tensor =
          addInitializer(name, onnx::TensorProto::INT64)) {
    tensor->add_dims(values.size());
    for (int64_t value : values)
      tensor->add_int64_data(value);
  }
  return name;
}

Value GraphBuilder::getInt(int64_t value) {
  std::string name = "int_" + std::to_string(value);
  if (onnx::TensorProto *tensor =
          addInitializer(name, onnx::TensorProto::INT64))
    tensor->add_int64_data(value);
  return name;
}

Value GraphBuilder::getFloat(StringRef name, float value) {
  if (onnx::TensorProto *tensor =
          addInitializer(name.str(), onnx::TensorProto::FLOAT))
    tensor->add_float_data(value);
  return name.str();
}
