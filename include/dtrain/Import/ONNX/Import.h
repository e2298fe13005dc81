//===- Import.h - ONNX models as dtrain programs ----------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Reads the structure of an ONNX model, never its weights: tensor payloads are
/// skipped on the wire, so files of any size and models whose external data is
/// absent import alike. The result is a module of the phase `import`, before
/// fusion and rolling: `@main` with one dtrain op (or a few) per node, forward
/// and loss.
///
/// Conventions of the translation:
/// - Parameters are floating tensors of rank 1 or more (initializers, Constant,
///   ConstantOfShape with a constant shape) that reach a weight, bias, scale or
///   table operand through Reshape, Squeeze, Unsqueeze, Flatten, Transpose,
///   Identity or Cast. One that several nodes read is one argument.
/// - Other floating tensors of more than one element (rotary tables, running
///   statistics) become `dtrain.constant`: their values do not matter to a
///   model of time, so those of initializers read 0.
/// - Results of Sin and Cos are such tables too, whatever they are computed
///   from.
/// - Padding masks and position ids of fused attention operators are ignored:
///   training batches are taken to be full and positions to count from 0.
/// - Dropout is the identity: it belongs to the software stack.
/// - An input with a zero extent (a past of length 0) disappears.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_IMPORT_ONNX_IMPORT_H
#define DTRAIN_IMPORT_ONNX_IMPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBufferRef.h"
#include <string>
#include <variant>

namespace dtrain {

struct OnnxImportOptions {
  /// Sizes of symbolic dimensions. A size of 0 makes the inputs that have the
  /// dimension disappear; negative sizes are errors.
  llvm::StringMap<int64_t> bindings;
  /// The name of the symbolic batch dimension; empty for the first dimension of
  /// the first input that is not a parameter.
  std::string batchDim;
  /// The size of the batch dimension, in samples; if unset, `bindings` must
  /// give it.
  std::optional<int64_t> batch;
  /// Whether a batch that is a fixed number in the file is replaced by `batch`,
  /// with the constants that repeat it as the first extent of Reshape and
  /// Expand.
  bool rebatch = false;
};

/// An extent of an input: its size, or the name of a symbolic dimension.
using OnnxDim = std::variant<int64_t, std::string>;

struct OnnxInputInfo {
  std::string name;
  llvm::SmallVector<OnnxDim> shape;
};

/// What a model needs before it can be imported.
struct OnnxModelInfo {
  /// Of the graph, else the file's stem.
  std::string name;
  /// Those that are not initializers, in order.
  llvm::SmallVector<OnnxInputInfo> inputs;
  /// Names of all symbolic dimensions of the inputs, in order of appearance. A
  /// dimension without a name is called `<input>_dim_<index>`.
  llvm::SmallVector<std::string> symbolicDims;
  /// The first dimension of the first input; none if there is no input or it is
  /// a scalar.
  std::optional<OnnxDim> batchDim;
};

/// Reads a model's inputs only. An error says what is wrong with the file.
llvm::Expected<OnnxModelInfo> peekOnnx(llvm::StringRef path);
llvm::Expected<OnnxModelInfo> peekOnnx(llvm::MemoryBufferRef buffer);

/// Imports a model: textual if the name ends in `.onnxtxt` or the contents
/// begin with `<` or `#`, else binary. On failure, null after one diagnostic.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(llvm::StringRef path,
                                             const OnnxImportOptions &options,
                                             mlir::MLIRContext *context);
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(llvm::MemoryBufferRef buffer,
                                             const OnnxImportOptions &options,
                                             mlir::MLIRContext *context);

} // namespace dtrain

#endif // DTRAIN_IMPORT_ONNX_IMPORT_H
