//===- GraphBuilder.h - Builds one ONNX graph, node by node -----*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A thin layer over the ONNX protobuf classes that names nodes as exporters do
/// ("/h.0/attn/MatMul", its result "/h.0/attn/MatMul_output_0") and parameters
/// after the module they belong to ("h.0.attn.c_attn.weight").
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_NETWORKS_GRAPHBUILDER_H
#define DTRAIN_LIB_NETWORKS_GRAPHBUILDER_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include <onnx/onnx_pb.h>
#include <string>
#include <variant>

namespace dtrain {

/// The name of a tensor.
using Value = std::string;

/// A dimension: its size, or the name of a symbolic one.
using Dim = std::variant<int64_t, llvm::StringRef>;

/// An attribute of a node.
struct Attribute {
  llvm::StringRef name;
  std::variant<int64_t, float, llvm::SmallVector<int64_t, 4>> value;
};

class GraphBuilder {
public:
  explicit GraphBuilder(llvm::StringRef graphName);

  /// While alive, nodes and parameters belong to module `name` of the enclosing
  /// module.
  class Scope {
  public:
    Scope(GraphBuilder &builder, const llvm::Twine &name);
    ~Scope() { builder.path.resize(outer); }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    GraphBuilder &builder;
    size_t outer;
  };

  Value addInput(llvm::StringRef name, onnx::TensorProto::DataType type,
                 llvm::ArrayRef<Dim> shape);
  /// Declares the shape of a value whose dimensions ONNX cannot infer.
  void declareShape(const Value &value, onnx::TensorProto::DataType type,
                    llvm::ArrayRef<Dim> shape);

  Value add(llvm::StringRef opType, llvm::ArrayRef<Value> inputs,
            llvm::ArrayRef<Attribute> attributes = {});
  /// A node with `results` results.
  llvm::SmallVector<Value, 3>
  addMultiple(llvm::StringRef opType, llvm::ArrayRef<Value> inputs,
              unsigned results, llvm::ArrayRef<Attribute> attributes = {});
  /// The last node of the graph: its result is the output `name`.
  void addOutput(llvm::StringRef name, llvm::StringRef opType,
                 llvm::ArrayRef<Value> inputs, llvm::ArrayRef<Dim> shape);

  /// A float tensor without contents, ConstantOfShape, named after the current
  /// module.
  Value addWeight(llvm::StringRef name, llvm::ArrayRef<int64_t> shape);
  /// An int64 vector of constants (axes, shapes, bounds); equal ones are one.
  Value getInts(llvm::ArrayRef<int64_t> values);
  /// An int64 scalar.
  Value getInt(int64_t value);
  /// A float scalar, named after what it means.
  Value getFloat(llvm::StringRef name, float value);

  /// The model in ONNX's binary form.
  std::string serialize() const { return model.SerializeAsString(); }

private:
  onnx::NodeProto &addNode(llvm::StringRef opType, llvm::ArrayRef<Value> inputs,
                           llvm::ArrayRef<Attribute> attributes);
  /// A new initializer of that name, or null if there is one already.
  onnx::TensorProto *addInitializer(const std::string &name,
                                    onnx::TensorProto::DataType type);

  onnx::ModelProto model;
  onnx::GraphProto &graph;
  /// The current module: "/h.0/attn", or "" for the top.
  std::string path;
  /// How many nodes have a name that starts with path and operator.
  llvm::StringMap<unsigned> nodeCounts;
  llvm::StringSet<> initializers;
};

} // namespace dtrain

#endif // DTRAIN_LIB_NETWORKS_GRAPHBUILDER_H
