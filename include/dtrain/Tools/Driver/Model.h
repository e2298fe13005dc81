//===- Model.h - The subcommand dtrain model --------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TOOLS_DRIVER_MODEL_H
#define DTRAIN_TOOLS_DRIVER_MODEL_H

#include "llvm/ADT/ArrayRef.h"

namespace dtrain {

/// `dtrain model FAMILY … -o FILE.onnx`: writes a weightless ONNX network.
/// `args` are what follows "model" on the command line. Returns the exit
/// status: 0, or 1 after one "error: …" on standard error.
int runModelCommand(llvm::ArrayRef<const char *> args);

} // namespace dtrain

#endif // DTRAIN_TOOLS_DRIVER_MODEL_H
