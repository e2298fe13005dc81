//===- Programs.h - Programs that import tests run --------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TEST_UNIT_TRANSFORMS_PROGRAMS_H
#define DTRAIN_TEST_UNIT_TRANSFORMS_PROGRAMS_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "dtrain/Networks/Network.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"
#include <string>
#include <vector>

namespace dtrain::test {

using Module = mlir::OwningOpRef<mlir::ModuleOp>;

/// A context with what the programs need.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// The programs of a lit test of lib/Transforms, cut at its separators.
std::vector<std::string> readPrograms(llvm::StringRef file);

Module parse(mlir::MLIRContext *context, llvm::StringRef text);

/// A network as the importer gives it: batch 2, sequence 6.
Module importNetwork(mlir::MLIRContext *context, const NetworkSpec &spec);

/// Runs passes without showing their remarks; whether all went well.
bool run(mlir::ModuleOp module,
         std::vector<std::unique_ptr<mlir::Pass>> passes);

/// How many ops of a kind are in a module.
template <typename Op> unsigned count(mlir::ModuleOp module) {
  unsigned n = 0;
  module.walk([&](Op) { ++n; });
  return n;
}

/// A GPT or Llama of that many layers that an interpreter can run.
NetworkSpec smallNetwork(NetworkFamily family, int64_t layers);

} // namespace dtrain::test

#endif // DTRAIN_TEST_UNIT_TRANSFORMS_PROGRAMS_H
