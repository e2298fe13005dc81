//===- WireReader.h - An ONNX file without its weights ----------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A walk over the protobuf wire format of a ModelProto that copies everything
/// but the payloads of tensors. protobuf itself refuses files over 2 GiB and
/// would read every weight.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_IMPORT_ONNX_WIREREADER_H
#define DTRAIN_LIB_IMPORT_ONNX_WIREREADER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace dtrain::onnx_import {

/// Elements of an integer or boolean tensor up to which its payload is kept,
/// and up to which constants are evaluated.
inline constexpr int64_t kMaxConstantElements = int64_t(1) << 16;

/// The ModelProto in `bytes`, serialised again without the payloads of tensors,
/// except those of one element and of integers and booleans up to
/// kMaxConstantElements. Errors: malformed wire format, with the offset; graphs
/// nested too deep.
llvm::Expected<std::string> readSkeleton(llvm::StringRef bytes);

} // namespace dtrain::onnx_import

#endif // DTRAIN_LIB_IMPORT_ONNX_WIREREADER_H
