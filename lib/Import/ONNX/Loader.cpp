//===- Loader.cpp - From a file to a ModelProto ---------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loader.h"
#include "WireReader.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <limits>
#include <onnx/defs/parser.h>

using namespace dtrain;
using namespace dtrain::onnx_import;
using namespace llvm;

Expected<std::unique_ptr<MemoryBuffer>> onnx_import::openModel(StringRef path) {
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(path, status))
    return createStringError(error, "cannot read: " + error.message());
  // A device could have no end.
  if (sys::fs::is_directory(status) ||
      status.type() == sys::fs::file_type::character_file ||
      status.type() == sys::fs::file_type::block_file)
    return createStringError(
        "expected an ONNX model, found a " +
        Twine(sys::fs::is_directory(status) ? "directory" : "device"));
  auto buffer = MemoryBuffer::getFile(path, /*IsText=*/false,
                                      /*RequiresNullTerminator=*/false);
  if (std::error_code error = buffer.getError())
    return createStringError(error, "cannot read: " + error.message());
  return std::move(*buffer);
}

/// Whether brackets nest so deep that a recursive parser could run out of
/// stack.
static bool nestsTooDeep(StringRef text) {
  constexpr int kMaxNesting = 256;
  int depth = 0;
  for (char c : text) {
    depth += StringRef("({[<").contains(c) - StringRef(")}]>").contains(c);
    if (depth > kMaxNesting)
      return true;
  }
  return false;
}

static Error parseText(StringRef text, onnx::ModelProto &model) {
  if (nestsTooDeep(text))
    return createStringError("expected a textual ONNX model, found brackets "
                             "nested more than 256 deep");
  std::string copy = text.str();
  onnx::OnnxParser parser(copy.c_str());
  onnx::Common::Status status = parser.Parse(model);
  if (status.IsOK() && !parser.EndOfInput())
    return createStringError("expected the end of the model at " +
                             parser.GetCurrentPos());
  if (status.IsOK())
    return Error::success();
  // The parser's message has several lines.
  SmallVector<StringRef> lines;
  StringRef(status.ErrorMessage()).split(lines, '\n', -1, false);
  std::string message;
  for (StringRef line : lines)
    message += (message.empty() ? "" : " ") + line.trim().str();
  return createStringError("expected a textual ONNX model: " + message);
}

static Error parseBinary(StringRef bytes, onnx::ModelProto &model) {
  Expected<std::string> skeleton = readSkeleton(bytes);
  if (!skeleton)
    return skeleton.takeError();
  if (skeleton->size() > std::numeric_limits<int>::max())
    return createStringError("expected at most 2 GiB of structure, found " +
                             Twine(skeleton->size()) + " bytes");
  // Partial: proto2's required fields are not ours to enforce.
  if (!model.ParsePartialFromArray(skeleton->data(), skeleton->size()))
    return createStringError("expected an ONNX model, found fields of other "
                             "types than ONNX's");
  return Error::success();
}

Expected<onnx::ModelProto> onnx_import::loadModel(MemoryBufferRef buffer) {
  StringRef bytes = buffer.getBuffer();
  if (bytes.empty())
    return createStringError("expected an ONNX model, found an empty file");
  // '<' and '#' would be fields of a deprecated wire type.
  bool text = buffer.getBufferIdentifier().ends_with(".onnxtxt") ||
              bytes.starts_with("<") || bytes.starts_with("#");
  onnx::ModelProto model;
  if (Error error = text ? parseText(bytes, model) : parseBinary(bytes, model))
    return error;
  if (!model.has_graph())
    return createStringError("expected an ONNX model with a graph, found none");
  return model;
}

Expected<OnnxModelInfo> onnx_import::inspectModel(const onnx::ModelProto &model,
                                                  StringRef path) {
  OnnxModelInfo info;
  const onnx::GraphProto &graph = model.graph();
  info.name = graph.name().empty() ? sys::path::stem(path).str() : graph.name();
  StringSet<> initialized, seen;
  for (const onnx::TensorProto &tensor : graph.initializer())
    initialized.insert(tensor.name());
  for (const onnx::ValueInfoProto &input : graph.input()) {
    if (initialized.contains(input.name()))
      continue;
    const onnx::TypeProto &type = input.type();
    if (!type.has_tensor_type() || !type.tensor_type().has_shape())
      return createStringError("expected a tensor with a shape for input '" +
                               input.name() + "', found none");
    OnnxInputInfo &entry = info.inputs.emplace_back();
    entry.name = input.name();
    for (const auto &dim : type.tensor_type().shape().dim()) {
      if (dim.has_dim_value()) {
        entry.shape.push_back(dim.dim_value());
        continue;
      }
      std::string name = dim.dim_param();
      if (name.empty())
        name = input.name() + "_dim_" + std::to_string(entry.shape.size());
      if (seen.insert(name).second)
        info.symbolicDims.push_back(name);
      entry.shape.push_back(std::move(name));
    }
  }
  if (!info.inputs.empty() && !info.inputs.front().shape.empty())
    info.batchDim = info.inputs.front().shape.front();
  return info;
}
