//===- Import.cpp - The boundary of the ONNX importer ---------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Import/ONNX/Import.h"
#include "Importer.h"
#include "Loader.h"

using namespace dtrain;
using namespace dtrain::onnx_import;
using namespace mlir;

/// Runs `fn` where protobuf's and ONNX's exceptions end.
template <typename Fn> static auto guarded(Fn fn) -> decltype(fn()) {
  try {
    return fn();
  } catch (const std::exception &exception) {
    return llvm::createStringError("malformed ONNX model: " +
                                   Twine(exception.what()));
  }
}

static llvm::Error inFile(StringRef path, llvm::Error error) {
  return llvm::createStringError(path + ": " +
                                 llvm::toString(std::move(error)));
}

llvm::Expected<OnnxModelInfo> dtrain::peekOnnx(llvm::MemoryBufferRef buffer) {
  auto info = guarded([&]() -> llvm::Expected<OnnxModelInfo> {
    llvm::Expected<onnx::ModelProto> model = loadModel(buffer);
    if (!model)
      return model.takeError();
    return inspectModel(*model, buffer.getBufferIdentifier());
  });
  if (!info)
    return inFile(buffer.getBufferIdentifier(), info.takeError());
  return info;
}

llvm::Expected<OnnxModelInfo> dtrain::peekOnnx(StringRef path) {
  auto buffer = openModel(path);
  if (!buffer)
    return inFile(path, buffer.takeError());
  return peekOnnx((*buffer)->getMemBufferRef());
}

OwningOpRef<ModuleOp> dtrain::importOnnx(llvm::MemoryBufferRef buffer,
                                         const OnnxImportOptions &options,
                                         MLIRContext *context) {
  context->loadDialect<DTrainDialect, func::FuncDialect>();
  StringRef file = buffer.getBufferIdentifier();
  using Result = llvm::Expected<OwningOpRef<ModuleOp>>;
  Result module = guarded([&]() -> Result {
    llvm::Expected<onnx::ModelProto> model = loadModel(buffer);
    if (!model)
      return model.takeError();
    llvm::Expected<OnnxModelInfo> info = inspectModel(*model, file);
    if (!info)
      return info.takeError();
    return Importer(*model, *info, options, file, context).import();
  });
  if (module)
    return std::move(*module);
  emitError(FileLineColLoc::get(context, file, 0, 0))
      << llvm::toString(module.takeError());
  return {};
}

OwningOpRef<ModuleOp> dtrain::importOnnx(StringRef path,
                                         const OnnxImportOptions &options,
                                         MLIRContext *context) {
  auto buffer = openModel(path);
  if (buffer)
    return importOnnx((*buffer)->getMemBufferRef(), options, context);
  emitError(FileLineColLoc::get(context, path, 0, 0))
      << llvm::toString(buffer.takeError());
  return {};
}
