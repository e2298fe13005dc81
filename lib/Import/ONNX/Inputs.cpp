//===- Inputs.cpp - Inputs, symbolic dimensions, initializers -------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Importer.h"
#include "WireReader.h"
#include "llvm/Support/Endian.h"

using namespace dtrain;
using namespace dtrain::onnx_import;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Symbolic dimensions
//===----------------------------------------------------------------------===//

LogicalResult Importer::bindBatch(llvm::StringMap<int64_t> &sizes) {
  if (!options.batchDim.empty() &&
      !llvm::is_contained(info.symbolicDims, options.batchDim)) {
    InFlightDiagnostic error = emitError(fileLoc())
                               << "no symbolic dimension '" << options.batchDim
                               << "' to be the batch; the model has ";
    if (info.symbolicDims.empty())
      return error << "none";
    llvm::interleaveComma(info.symbolicDims, error,
                          [&](StringRef name) { error << "'" << name << "'"; });
    return error;
  }
  if (!options.batch)
    return success();
  if (*options.batch <= 0)
    return emitError(fileLoc())
           << "expected a positive batch, found " << *options.batch;
  std::optional<OnnxDim> dim = options.batchDim.empty()
                                   ? info.batchDim
                                   : std::optional<OnnxDim>(options.batchDim);
  if (!dim)
    return emitError(fileLoc())
           << "expected a first input with a batch dimension, found "
           << (info.inputs.empty() ? "no input" : "a scalar");
  if (const std::string *name = std::get_if<std::string>(&*dim)) {
    auto [it, added] = sizes.try_emplace(*name, *options.batch);
    if (!added && it->second != *options.batch)
      return emitError(fileLoc())
             << "the batch dimension '" << *name << "' is " << *options.batch
             << ", found it bound to " << it->second;
    return success();
  }
  int64_t fixed = std::get<int64_t>(*dim);
  if (fixed == *options.batch)
    return success();
  if (!options.rebatch)
    return emitError(fileLoc())
           << "expected a batch of " << *options.batch
           << ", found one fixed at " << fixed << " by input '"
           << info.inputs.front().name << "' (rebatch replaces it)";
  rebatched = {fixed, *options.batch};
  return success();
}

LogicalResult Importer::bind() {
  for (const auto &binding : options.bindings) {
    if (!llvm::is_contained(info.symbolicDims, binding.getKey())) {
      InFlightDiagnostic error = emitError(fileLoc())
                                 << "no symbolic dimension '"
                                 << binding.getKey() << "'; the model has ";
      if (info.symbolicDims.empty())
        return error << "none";
      llvm::interleaveComma(info.symbolicDims, error, [&](StringRef name) {
        error << "'" << name << "'";
      });
      return error;
    }
    if (binding.second < 0)
      return emitError(fileLoc())
             << "expected a size of 0 or more for '" << binding.getKey()
             << "', found " << binding.second;
  }
  llvm::StringMap<int64_t> sizes = options.bindings;
  if (failed(bindBatch(sizes)))
    return failure();
  SmallVector<std::pair<StringRef, StringRef>> unbound;
  for (StringRef name : info.symbolicDims) {
    if (sizes.contains(name))
      continue;
    for (const OnnxInputInfo &input : info.inputs)
      if (llvm::is_contained(input.shape, OnnxDim(name.str()))) {
        unbound.push_back({name, input.name});
        break;
      }
  }
  if (!unbound.empty()) {
    InFlightDiagnostic error = emitError(fileLoc())
                               << "symbolic dimensions without a size: ";
    llvm::interleaveComma(unbound, error, [&](auto &entry) {
      error << "'" << entry.first << "' (input '" << entry.second << "')";
    });
    return error;
  }
  return addInputs(sizes);
}

LogicalResult Importer::addInputs(const llvm::StringMap<int64_t> &sizes) {
  llvm::StringMap<int> dataTypes;
  for (const onnx::ValueInfoProto &input : graph.input())
    dataTypes[input.name()] = input.type().tensor_type().elem_type();
  for (const OnnxInputInfo &input : info.inputs) {
    Tensor tensor;
    tensor.name = input.name;
    tensor.role = Role::input;
    for (const OnnxDim &dim : input.shape) {
      const std::string *name = std::get_if<std::string>(&dim);
      tensor.shape.push_back(name ? sizes.lookup(*name)
                                  : std::get<int64_t>(dim));
    }
    if (rebatched && !tensor.shape.empty() &&
        tensor.shape.front() == rebatched->first)
      tensor.shape.front() = rebatched->second;
    FailureOr<Type> element = elementType(dataTypes[input.name], fileLoc());
    if (failed(element))
      return failure();
    tensor.element = *element;
    bool first = &input == &info.inputs.front();
    if (first && llvm::is_contained(tensor.shape, 0))
      return emitError(fileLoc()) << "input '" << input.name
                                  << "' has no elements: " << tensor.getType();
    if (failed(define(input.name, std::move(tensor), fileLoc())))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Tensors in the file
//===----------------------------------------------------------------------===//

FailureOr<Type> Importer::elementType(int dataType, Location loc) {
  MLIRContext *c = builder.getContext();
  // Numbers are those of onnx.proto; those above 16 are newer than the package.
  switch (dataType) {
  case onnx::TensorProto::FLOAT:
    return Type(Float32Type::get(c));
  case onnx::TensorProto::FLOAT16:
    return Type(Float16Type::get(c));
  case onnx::TensorProto::BFLOAT16:
    return Type(BFloat16Type::get(c));
  case onnx::TensorProto::DOUBLE:
    return Type(Float64Type::get(c));
  case 17:
    return Type(Float8E4M3FNType::get(c));
  case 19:
    return Type(Float8E5M2Type::get(c));
  case onnx::TensorProto::BOOL:
    return Type(IntegerType::get(c, 1));
  case onnx::TensorProto::INT8:
  case onnx::TensorProto::UINT8:
    return Type(IntegerType::get(c, 8));
  case onnx::TensorProto::INT16:
  case onnx::TensorProto::UINT16:
    return Type(IntegerType::get(c, 16));
  case onnx::TensorProto::INT32:
  case onnx::TensorProto::UINT32:
    return Type(IntegerType::get(c, 32));
  case onnx::TensorProto::INT64:
  case onnx::TensorProto::UINT64:
    return Type(IntegerType::get(c, 64));
  default:
    return emitError(loc) << "expected a float, integer or boolean element "
                             "type, found ONNX data type "
                          << dataType;
  }
}

/// Bytes of one element in `raw_data`, and whether it is a signed integer.
static std::pair<unsigned, bool> rawLayout(int dataType) {
  switch (dataType) {
  case onnx::TensorProto::BOOL:
  case onnx::TensorProto::UINT8:
    return {1, false};
  case onnx::TensorProto::INT8:
    return {1, true};
  case onnx::TensorProto::UINT16:
  case onnx::TensorProto::FLOAT16:
  case onnx::TensorProto::BFLOAT16:
    return {2, false};
  case onnx::TensorProto::INT16:
    return {2, true};
  case onnx::TensorProto::UINT32:
  case onnx::TensorProto::FLOAT:
    return {4, false};
  case onnx::TensorProto::INT32:
    return {4, true};
  case onnx::TensorProto::UINT64:
  case onnx::TensorProto::DOUBLE:
    return {8, false};
  default:
    return {8, true};
  }
}

/// The bits of all elements, sign-extended where they are integers; nothing if
/// the payload is absent.
static std::optional<SmallVector<int64_t>>
readBits(const onnx::TensorProto &proto) {
  SmallVector<int64_t> bits;
  if (proto.has_raw_data()) {
    auto [bytes, isSigned] = rawLayout(proto.data_type());
    StringRef raw = proto.raw_data();
    for (; raw.size() >= bytes; raw = raw.drop_front(bytes)) {
      uint64_t value = 0;
      for (unsigned i = 0; i < bytes; ++i)
        value |= uint64_t(uint8_t(raw[i])) << (8 * i);
      bits.push_back(isSigned ? llvm::SignExtend64(value, 8 * bytes)
                              : static_cast<int64_t>(value));
    }
    return bits;
  }
  for (int64_t value : proto.int64_data())
    bits.push_back(value);
  for (uint64_t value : proto.uint64_data())
    bits.push_back(static_cast<int64_t>(value));
  for (int32_t value : proto.int32_data())
    bits.push_back(value);
  for (float value : proto.float_data())
    bits.push_back(llvm::bit_cast<uint32_t>(value));
  for (double value : proto.double_data())
    bits.push_back(llvm::bit_cast<int64_t>(value));
  if (bits.empty())
    return std::nullopt;
  return bits;
}

FailureOr<Tensor> Importer::readTensor(const onnx::TensorProto &proto,
                                       StringRef name, Location loc) {
  Tensor tensor;
  tensor.name = name.str();
  tensor.shape.assign(proto.dims().begin(), proto.dims().end());
  FailureOr<Type> element = elementType(proto.data_type(), loc);
  if (failed(element))
    return failure();
  tensor.element = *element;
  std::optional<int64_t> count = countElements(tensor.shape);
  if (!count)
    return emitError(loc) << "expected extents whose product fits 64 bits for '"
                          << name << "', found " << tensor.shape.size()
                          << " dimensions that do not";
  std::optional<SmallVector<int64_t>> bits;
  if (proto.data_location() != onnx::TensorProto::EXTERNAL)
    bits = readBits(proto);
  if (*count == 0)
    bits.emplace();
  if (bits && static_cast<int64_t>(bits->size()) != *count)
    return emitError(loc) << "expected " << *count << " elements for '" << name
                          << "', found " << bits->size();
  if (!tensor.isFloat()) {
    if (bits && *count <= kMaxConstantElements)
      tensor.ints = IntConstant::get(tensor.shape, *bits);
    return tensor;
  }
  tensor.splat = 0.0;
  tensor.opaque = !bits || *count != 1;
  if (tensor.opaque)
    return tensor;
  auto type = cast<FloatType>(tensor.element);
  llvm::APFloat value(type.getFloatSemantics(),
                      llvm::APInt(type.getWidth(),
                                  static_cast<uint64_t>(bits->front()),
                                  /*isSigned=*/false, /*implicitTrunc=*/true));
  bool losesInfo;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  tensor.splat = value.convertToDouble();
  return tensor;
}

LogicalResult Importer::addInitializers() {
  for (const onnx::TensorProto &proto : graph.initializer()) {
    FailureOr<Tensor> tensor = readTensor(proto, proto.name(), fileLoc());
    if (failed(tensor))
      return failure();
    classify(*tensor);
    if (failed(define(proto.name(), std::move(*tensor), fileLoc())))
      return failure();
  }
  return success();
}
