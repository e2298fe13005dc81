//===- RandomIntents.h - Strategies that nobody would choose ----*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TEST_UNIT_TRANSFORMS_RANDOMINTENTS_H
#define DTRAIN_TEST_UNIT_TRANSFORMS_RANDOMINTENTS_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "mlir/IR/BuiltinOps.h"
#include <random>

namespace dtrain::test {

/// Asks for random states of some ops and random splits of some values of a
/// training step, on random levels from -1 to 2; every third op is seen by its
/// neighbours only later. Sets the module's mesh.
void addRandomIntents(mlir::ModuleOp module, llvm::ArrayRef<MeshAxis> axes,
                      std::mt19937_64 &random);

} // namespace dtrain::test

#endif // DTRAIN_TEST_UNIT_TRANSFORMS_RANDOMINTENTS_H
