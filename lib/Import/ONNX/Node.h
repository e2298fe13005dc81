//===- Node.h - One ONNX node under import ----------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What handlers of operators work with: operands, attributes, and builders
/// that check shapes before they build. Whatever can fail has emitted a
/// diagnostic that names the node.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_IMPORT_ONNX_NODE_H
#define DTRAIN_LIB_IMPORT_ONNX_NODE_H

#include "Importer.h"

namespace dtrain::onnx_import {

using Ints = llvm::SmallVector<int64_t>;

/// Failure as a branch of `?:` beside a FailureOr or a LogicalResult.
struct Failed {
  template <typename T> operator mlir::FailureOr<T>() const {
    return mlir::failure();
  }
  operator mlir::LogicalResult() const { return mlir::failure(); }
};

class Node {
public:
  Node(Importer &importer, const onnx::NodeProto &proto, mlir::Location loc)
      : importer(importer), proto(proto), loc(loc) {}

  Importer &importer;
  const onnx::NodeProto &proto;
  mlir::Location loc;

  /// `node 'name' (Type): `
  mlir::InFlightDiagnostic error() const;

  //===--------------------------------------------------------------------===//
  // Operands, results, attributes
  //===--------------------------------------------------------------------===//

  unsigned getNumInputs() const { return proto.input_size(); }
  bool hasInput(unsigned i) const {
    return i < getNumInputs() && !proto.input(i).empty();
  }
  /// Null after a diagnostic if it is absent or not yet defined.
  Tensor *input(unsigned i);
  mlir::FailureOr<mlir::Value> value(unsigned i);
  mlir::FailureOr<mlir::Value> value(Tensor &tensor) {
    return importer.materialize(tensor, loc);
  }
  /// All elements of a constant integer operand.
  mlir::FailureOr<Ints> ints(unsigned i);
  /// Of operand `i` if present, else of attribute `name`, else `{}`.
  mlir::FailureOr<Ints> intsOf(unsigned i, llvm::StringRef name);

  bool hasOutput(unsigned i) const {
    return i < static_cast<unsigned>(proto.output_size()) &&
           !proto.output(i).empty();
  }
  mlir::LogicalResult set(unsigned i, Tensor tensor);
  mlir::LogicalResult set(unsigned i, mlir::Value value);
  mlir::LogicalResult set(unsigned i, mlir::FailureOr<mlir::Value> value);

  const onnx::AttributeProto *attribute(llvm::StringRef name) const;
  int64_t intAttr(llvm::StringRef name, int64_t otherwise) const;
  double floatAttr(llvm::StringRef name, double otherwise) const;
  llvm::StringRef stringAttr(llvm::StringRef name,
                             llvm::StringRef otherwise) const;
  Ints intsAttr(llvm::StringRef name) const;
  /// A dimension below `rank`; negative ones count from the end.
  mlir::FailureOr<int64_t> axis(int64_t axis, int64_t rank) const;

  //===--------------------------------------------------------------------===//
  // Building
  //===--------------------------------------------------------------------===//

  mlir::OpBuilder &builder() { return importer.builder; }
  /// Fails with a diagnostic if a shape's element count exceeds 64 bits.
  mlir::LogicalResult checkShape(llvm::ArrayRef<int64_t> shape) const;
  using FailureOrValue = mlir::FailureOr<mlir::Value>;
  FailureOrValue elementwise(Elementwise kind, mlir::ValueRange operands,
                             std::optional<double> constant = std::nullopt,
                             mlir::Type element = {});
  FailureOrValue dot(const llvm::Twine &einsum, mlir::ValueRange operands);
  FailureOrValue move(const llvm::Twine &einsum, mlir::Value input,
                      llvm::ArrayRef<int64_t> shape);
  /// Any reshape; two moves where dimensions do not nest.
  FailureOrValue reshape(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  FailureOrValue transpose(mlir::Value input, llvm::ArrayRef<int64_t> perm);
  FailureOrValue expand(mlir::Value input, llvm::ArrayRef<int64_t> shape);
  FailureOrValue slice(mlir::Value input, int64_t dim, int64_t offset,
                       int64_t extent);
  FailureOrValue reduce(Reduction kind, mlir::Value input,
                        llvm::ArrayRef<int64_t> axes, bool keepDims);
  FailureOrValue softmax(mlir::Value input);
  FailureOrValue gather(mlir::Value indices, mlir::Value table);
  FailureOrValue normalize(Norm kind, mlir::Value input, mlir::Value scale,
                           mlir::Value bias, double epsilon);
  FailureOrValue attention(mlir::Value q, mlir::Value k, mlir::Value v,
                           bool causal, double scale);
  FailureOrValue rotary(mlir::Value input, mlir::Value cos, mlir::Value sin,
                        bool interleaved);
  mlir::Value constant(double value, mlir::Type element,
                       llvm::ArrayRef<int64_t> shape = {});
  /// The index along `dim`.
  mlir::Value iota(int64_t dim, llvm::ArrayRef<int64_t> shape,
                   mlir::Type element);

private:
  /// Result shapes of a rule, or a diagnostic.
  mlir::FailureOr<llvm::SmallVector<llvm::SmallVector<int64_t>>>
  infer(llvm::StringRef rule, bool broadcasts, mlir::ValueRange operands);
  /// The attribute of a rule.
  mlir::FailureOr<RuleAttr> ruleOf(llvm::StringRef text);
};

/// Factor names a, b, … z, f26, …
std::string factorName(unsigned i);
/// "a b c" for a rank, with "1" for the dimensions in `units`.
std::string termOf(unsigned rank, llvm::ArrayRef<int64_t> units = {});

/// The tensor of a dtrain value.
Tensor tensorOf(mlir::Value value);
/// A known integer tensor.
Tensor tensorOf(IntConstant ints, mlir::Type element);

/// Where the shape of Reshape or Expand repeats the fixed batch that is being
/// replaced, the new one.
void followRebatch(const Importer &importer, llvm::ArrayRef<int64_t> input,
                   llvm::MutableArrayRef<int64_t> target);

// Handlers, by file.
mlir::LogicalResult importElementwise(Node &n);
mlir::LogicalResult importCast(Node &n);
mlir::LogicalResult importWhere(Node &n);
mlir::LogicalResult importVariadic(Node &n);
mlir::LogicalResult importClip(Node &n);
mlir::LogicalResult importGelu(Node &n);
mlir::LogicalResult importBiasGelu(Node &n);
mlir::LogicalResult importTable(Node &n);

mlir::LogicalResult importConstant(Node &n);
mlir::LogicalResult importConstantOfShape(Node &n);
mlir::LogicalResult importRange(Node &n);
mlir::LogicalResult importShape(Node &n);
mlir::LogicalResult importSize(Node &n);
mlir::LogicalResult importTrilu(Node &n);

mlir::LogicalResult importIdentity(Node &n);
mlir::LogicalResult importReshape(Node &n);
mlir::LogicalResult importFlatten(Node &n);
mlir::LogicalResult importTranspose(Node &n);
mlir::LogicalResult importSqueeze(Node &n);
mlir::LogicalResult importUnsqueeze(Node &n);
mlir::LogicalResult importExpand(Node &n);
mlir::LogicalResult importSlice(Node &n);
mlir::LogicalResult importSplit(Node &n);
mlir::LogicalResult importConcat(Node &n);
mlir::LogicalResult importPad(Node &n);
mlir::LogicalResult importGather(Node &n);

mlir::LogicalResult importMatMul(Node &n);
mlir::LogicalResult importGemm(Node &n);
mlir::LogicalResult importEinsum(Node &n);
mlir::LogicalResult importReduce(Node &n);
mlir::LogicalResult importSoftmax(Node &n);
mlir::LogicalResult importNorm(Node &n);
mlir::LogicalResult importSkipNorm(Node &n);
mlir::LogicalResult importEmbedNorm(Node &n);

mlir::LogicalResult importAttention(Node &n);
mlir::LogicalResult importGroupQueryAttention(Node &n);
mlir::LogicalResult importMultiHeadAttention(Node &n);
mlir::LogicalResult importRotary(Node &n);

mlir::LogicalResult importLoss(Node &n);
/// The scalar loss of logits [… v] and integer labels [...]: mean or sum over
/// tokens of cross-entropy.
mlir::FailureOr<mlir::Value> buildCrossEntropy(Node &n, mlir::Value logits,
                                               mlir::Value labels, bool mean);

} // namespace dtrain::onnx_import

#endif // DTRAIN_LIB_IMPORT_ONNX_NODE_H
