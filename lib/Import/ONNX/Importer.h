//===- Importer.h - One graph, node by node ---------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_IMPORT_ONNX_IMPORTER_H
#define DTRAIN_LIB_IMPORT_ONNX_IMPORTER_H

#include "IntConstant.h"
#include "dtrain/IR/DTrain/DTrain.h"
#include "dtrain/Import/ONNX/Import.h"
#include "llvm/ADT/StringSet.h"
#include <onnx/onnx_pb.h>

namespace dtrain::onnx_import {

/// A value of the graph: what is known of it, and the dtrain value once
/// something needed it.
struct Tensor {
  llvm::SmallVector<int64_t> shape;
  mlir::Type element;
  /// The values, where they are integers known at import (whatever the element
  /// type).
  std::optional<IntConstant> ints;
  /// The one value that all elements have, if it is known and not in `ints`.
  std::optional<double> splat;
  /// `splat` stands for values that were not read.
  bool opaque = false;
  /// An argument of @main not yet added: a parameter or an input.
  std::optional<Role> role;
  /// One floating element of rank 1 or more that an exporter may have meant as
  /// a parameter; `splat` is its value otherwise.
  bool maybeParameter = false;
  /// Name of the argument; where it comes from, for diagnostics.
  std::string name;
  mlir::Value value;

  int64_t getNumElements() const { return *countElements(shape); }
  int64_t getRank() const { return static_cast<int64_t>(shape.size()); }
  bool isEmpty() const { return getNumElements() == 0; }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(element); }
  bool isConstant() const { return ints || splat; }
  /// The value of a constant of one element, of any rank.
  std::optional<double> getScalar() const;
  /// The value that all elements of a constant have.
  std::optional<double> getSplat() const;
  mlir::RankedTensorType getType() const {
    return mlir::RankedTensorType::get(shape, element);
  }
};

class Node;
using Handler = mlir::LogicalResult (*)(Node &);

/// One supported operator.
struct OpInfo {
  Handler handler;
  /// Bit i: operand i is a weight, bias, scale or table.
  unsigned trainable = 0;
  /// Bit i: as above, but one element is a scalar constant unless the other
  /// operand has a last extent of 1 too.
  unsigned maybeTrainable = 0;
  /// A parameter passes through operand 0.
  bool isView = false;
  /// Bit i: operand i is not read.
  unsigned ignored = 0;
};

/// The operator, or null.
const OpInfo *findOp(llvm::StringRef domain, llvm::StringRef type);

/// Imports one model. Every method that can fail has emitted the diagnostic.
class Importer {
public:
  Importer(const onnx::ModelProto &model, const OnnxModelInfo &info,
           const OnnxImportOptions &options, llvm::StringRef file,
           mlir::MLIRContext *context);
  mlir::OwningOpRef<mlir::ModuleOp> import();

  /// The dtrain value of a tensor: emits constants, adds arguments.
  mlir::FailureOr<mlir::Value> materialize(Tensor &tensor, mlir::Location loc);
  mlir::FailureOr<mlir::Type> elementType(int dataType, mlir::Location loc);
  mlir::FailureOr<Tensor> readTensor(const onnx::TensorProto &proto,
                                     llvm::StringRef name, mlir::Location loc);
  /// Floating values that an exporter may have meant as a parameter: gives the
  /// tensor its role, or marks its values as unknown.
  void classify(Tensor &tensor);
  Tensor *find(llvm::StringRef name);
  mlir::LogicalResult define(llvm::StringRef name, Tensor tensor,
                             mlir::Location loc);
  /// The node that defines a value, or -1.
  int producerOf(llvm::StringRef name) const;
  const onnx::NodeProto &node(int index) const { return graph.node(index); }
  bool isInitializer(llvm::StringRef name) const {
    return initializers.contains(name);
  }
  /// The name of the value that a chain of Identity, Cast, Dropout starts from.
  std::string skipCopies(std::string name) const;

  int64_t opset = 1;
  mlir::OpBuilder builder;
  /// Layers repeat: rules by text, and the result shapes that rules gave by
  /// text and operand types.
  llvm::StringMap<RuleAttr> rules;
  llvm::StringMap<llvm::SmallVector<llvm::SmallVector<int64_t>>> inferred;
  /// The fixed batch that `rebatch` replaces, and by what.
  std::optional<std::pair<int64_t, int64_t>> rebatched;

private:
  mlir::Location fileLoc() const;
  mlir::Location locOf(int node) const;
  mlir::LogicalResult bind();
  mlir::LogicalResult bindBatch(llvm::StringMap<int64_t> &sizes);
  mlir::LogicalResult addInputs(const llvm::StringMap<int64_t> &sizes);
  mlir::LogicalResult addInitializers();
  mlir::LogicalResult chooseOutput();
  void markLive(llvm::StringRef output);
  mlir::LogicalResult checkSupported();
  void markTrainable();
  mlir::LogicalResult importNode(int index);
  mlir::FailureOr<mlir::Value> buildLoss();
  mlir::OwningOpRef<mlir::ModuleOp> finish(mlir::Value loss);

  const onnx::GraphProto &graph;
  const OnnxModelInfo &info;
  const OnnxImportOptions &options;
  mlir::StringAttr fileName;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Block *body;
  llvm::StringMap<int> producers;
  /// What is known of each node's operator, null where nothing is.
  std::vector<const OpInfo *> ops;
  llvm::StringSet<> initializers;
  /// Where values of inputs and initializers live; StringMap entries are
  /// stable.
  llvm::StringMap<Tensor> tensors;
  std::vector<bool> live;
  /// Values in positions of parameters; whether those of one element are too.
  llvm::StringMap<bool> trainable;
  /// The output that decides the loss, and how.
  std::string output;
  enum class Loss { Node, Softmax, Logits } lossKind = Loss::Logits;
  struct Argument {
    Role role;
    std::string name;
  };
  /// Of `body`, in order.
  llvm::SmallVector<Argument> arguments;
};

} // namespace dtrain::onnx_import

#endif // DTRAIN_LIB_IMPORT_ONNX_IMPORTER_H
