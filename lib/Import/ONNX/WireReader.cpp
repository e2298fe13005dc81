//===- WireReader.cpp - An ONNX file without its weights ------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WireReader.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/LEB128.h"
#include <onnx/onnx_pb.h>
#include <optional>

using namespace dtrain;
using namespace llvm;

namespace {

/// The messages on the way from a model to its tensors.
enum class Message { Model, Graph, Node, Attribute, SparseTensor, Tensor };

/// Subgraphs nest through Graph, Node, Attribute; protobuf stops at 100 levels.
constexpr unsigned kMaxDepth = 90;

/// Wire types of protobuf
/// (developers.google.com/protocol-buffers/docs/encoding).
enum Wire : unsigned { Varint = 0, Fixed64 = 1, Delimited = 2, Fixed32 = 5 };

struct Field {
  unsigned number, wire;
  StringRef all;     // with the tag
  StringRef payload; // Delimited: the contents
  uint64_t varint = 0;
};

class Walker {
public:
  explicit Walker(StringRef file) : file(file) {}
  Error walk(Message message, StringRef bytes, std::string &out,
             unsigned depth);

private:
  Error malformed(StringRef at, const Twine &what) {
    return createStringError("expected an ONNX model, found " + what +
                             " at byte " + Twine(at.data() - file.data()));
  }
  Expected<uint64_t> readVarint(StringRef &bytes);
  Expected<Field> readField(StringRef &bytes);
  Error walkTensor(StringRef bytes, std::string &out);

  StringRef file;
};

} // namespace

/// The message that a field of `message` holds, if tensors are below it. Field
/// numbers are those of onnx.proto.
static std::optional<Message> childOf(Message message, unsigned number) {
  switch (message) {
  case Message::Model:
    return number == onnx::ModelProto::kGraphFieldNumber
               ? std::optional(Message::Graph)
               : std::nullopt;
  case Message::Graph:
    if (number == onnx::GraphProto::kNodeFieldNumber)
      return Message::Node;
    if (number == onnx::GraphProto::kInitializerFieldNumber)
      return Message::Tensor;
    if (number == onnx::GraphProto::kSparseInitializerFieldNumber)
      return Message::SparseTensor;
    return std::nullopt;
  case Message::Node:
    return number == onnx::NodeProto::kAttributeFieldNumber
               ? std::optional(Message::Attribute)
               : std::nullopt;
  case Message::Attribute:
    if (number == onnx::AttributeProto::kTFieldNumber ||
        number == onnx::AttributeProto::kTensorsFieldNumber)
      return Message::Tensor;
    if (number == onnx::AttributeProto::kGFieldNumber ||
        number == onnx::AttributeProto::kGraphsFieldNumber)
      return Message::Graph;
    if (number == onnx::AttributeProto::kSparseTensorFieldNumber ||
        number == onnx::AttributeProto::kSparseTensorsFieldNumber)
      return Message::SparseTensor;
    return std::nullopt;
  case Message::SparseTensor:
    return number == onnx::SparseTensorProto::kValuesFieldNumber ||
                   number == onnx::SparseTensorProto::kIndicesFieldNumber
               ? std::optional(Message::Tensor)
               : std::nullopt;
  case Message::Tensor:
    return std::nullopt;
  }
  llvm_unreachable("every message has its children");
}

Expected<uint64_t> Walker::readVarint(StringRef &bytes) {
  const char *error = nullptr;
  unsigned length = 0;
  uint64_t value =
      decodeULEB128(bytes.bytes_begin(), &length, bytes.bytes_end(), &error);
  if (error || length > 10)
    return malformed(bytes, "a cut or overlong number");
  bytes = bytes.drop_front(length);
  return value;
}

Expected<Field> Walker::readField(StringRef &bytes) {
  StringRef start = bytes;
  Expected<uint64_t> tag = readVarint(bytes);
  if (!tag)
    return tag.takeError();
  Field field{static_cast<unsigned>(*tag >> 3),
              static_cast<unsigned>(*tag & 7),
              {},
              {}};
  if (*tag >> 3 == 0 || *tag >> 32)
    return malformed(start, "field number " + Twine(*tag >> 3));
  uint64_t length = 0;
  switch (field.wire) {
  case Varint: {
    Expected<uint64_t> value = readVarint(bytes);
    if (!value)
      return value.takeError();
    field.varint = *value;
    break;
  }
  case Fixed64:
    length = 8;
    break;
  case Fixed32:
    length = 4;
    break;
  case Delimited: {
    Expected<uint64_t> value = readVarint(bytes);
    if (!value)
      return value.takeError();
    length = *value;
    break;
  }
  default:
    return malformed(start, "wire type " + Twine(field.wire));
  }
  if (length > bytes.size())
    return malformed(start, "a field of " + Twine(length) +
                                " bytes in a message with " +
                                Twine(bytes.size()) + " left");
  field.payload = bytes.take_front(length);
  bytes = bytes.drop_front(length);
  field.all = start.drop_back(bytes.size());
  return field;
}

static void append(std::string &out, uint64_t varint) {
  uint8_t buffer[10];
  out.append(reinterpret_cast<char *>(buffer), encodeULEB128(varint, buffer));
}

static bool isPayload(unsigned number) {
  switch (number) {
  case onnx::TensorProto::kRawDataFieldNumber:
  case onnx::TensorProto::kFloatDataFieldNumber:
  case onnx::TensorProto::kDoubleDataFieldNumber:
  case onnx::TensorProto::kInt32DataFieldNumber:
  case onnx::TensorProto::kInt64DataFieldNumber:
  case onnx::TensorProto::kUint64DataFieldNumber:
  case onnx::TensorProto::kStringDataFieldNumber:
    return true;
  default:
    return false;
  }
}

static bool isIntegral(int64_t type) {
  switch (type) {
  case onnx::TensorProto::BOOL:
  case onnx::TensorProto::INT8:
  case onnx::TensorProto::UINT8:
  case onnx::TensorProto::INT16:
  case onnx::TensorProto::UINT16:
  case onnx::TensorProto::INT32:
  case onnx::TensorProto::UINT32:
  case onnx::TensorProto::INT64:
  case onnx::TensorProto::UINT64:
    return true;
  default:
    return false;
  }
}

Error Walker::walkTensor(StringRef bytes, std::string &out) {
  // The shape may come after the payload that it decides about.
  int64_t type = 0;
  std::optional<int64_t> elements = 1;
  auto addDim = [&](uint64_t dim) {
    if (elements)
      elements = checkedMul(*elements, static_cast<int64_t>(dim));
  };
  for (StringRef rest = bytes; !rest.empty();) {
    Expected<Field> field = readField(rest);
    if (!field)
      return field.takeError();
    if (field->number == onnx::TensorProto::kDataTypeFieldNumber)
      type = static_cast<int64_t>(field->varint);
    if (field->number != onnx::TensorProto::kDimsFieldNumber)
      continue;
    if (field->wire == Varint)
      addDim(field->varint);
    // proto2 writes repeated numbers one by one, others pack them.
    for (StringRef packed = field->payload; !packed.empty();) {
      Expected<uint64_t> dim = readVarint(packed);
      if (!dim)
        return dim.takeError();
      addDim(*dim);
    }
  }
  int64_t limit = isIntegral(type) ? onnx_import::kMaxConstantElements : 1;
  bool keep = elements && *elements >= 0 && *elements <= limit;
  for (StringRef rest = bytes; !rest.empty();) {
    Expected<Field> field = readField(rest);
    if (!field)
      return field.takeError();
    if (keep || !isPayload(field->number))
      out.append(field->all.begin(), field->all.end());
  }
  return Error::success();
}

Error Walker::walk(Message message, StringRef bytes, std::string &out,
                   unsigned depth) {
  if (message == Message::Tensor)
    return walkTensor(bytes, out);
  if (depth > kMaxDepth)
    return malformed(bytes, "subgraphs nested more than " +
                                Twine(kMaxDepth / 3) + " deep");
  while (!bytes.empty()) {
    Expected<Field> field = readField(bytes);
    if (!field)
      return field.takeError();
    std::optional<Message> child = childOf(message, field->number);
    if (!child || field->wire != Delimited) {
      out.append(field->all.begin(), field->all.end());
      continue;
    }
    std::string body;
    if (Error error = walk(*child, field->payload, body, depth + 1))
      return error;
    append(out, (uint64_t(field->number) << 3) | Delimited);
    append(out, body.size());
    out += body;
  }
  return Error::success();
}

Expected<std::string> onnx_import::readSkeleton(StringRef bytes) {
  std::string out;
  if (Error error = Walker(bytes).walk(Message::Model, bytes, out, 0))
    return error;
  return out;
}
