//===- Loader.h - From a file to a ModelProto -------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_IMPORT_ONNX_LOADER_H
#define DTRAIN_LIB_IMPORT_ONNX_LOADER_H

#include "dtrain/Import/ONNX/Import.h"
#include "llvm/Support/MemoryBuffer.h"
#include <memory>
#include <onnx/onnx_pb.h>

namespace dtrain::onnx_import {

/// Maps a regular file into memory.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
openModel(llvm::StringRef path);

/// The model without its weights, textual or binary. It has a graph. An error
/// says what was found instead; it does not name the file.
llvm::Expected<onnx::ModelProto> loadModel(llvm::MemoryBufferRef buffer);

/// What the model needs. Errors: an input that is not a ranked tensor.
llvm::Expected<OnnxModelInfo> inspectModel(const onnx::ModelProto &model,
                                           llvm::StringRef path);

} // namespace dtrain::onnx_import

#endif // DTRAIN_LIB_IMPORT_ONNX_LOADER_H
