//===- Inputs.h - Random values that an op accepts --------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Random tensors for the interpreter's checks: an op that looks up rows needs
/// indices within its table, one that takes a logarithm positive numbers.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_INTERPRETER_INPUTS_H
#define DTRAIN_INTERPRETER_INPUTS_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "dtrain/Interpreter/Tensor.h"
#include <random>

namespace dtrain {

/// The values from which an operand is drawn: numbers in (-1, 1), numbers in
/// (0.5, 1.5), or integers in [0, extent).
struct Domain {
  enum Kind { Real, Positive, Integer } kind = Real;
  int64_t extent = 0;
};

/// What one operand of an op accepts, seen alone.
Domain domainOf(mlir::OpOperand &operand);

/// What a value accepts, from all its uses: the narrowest of them, through ops
/// and repeats that hand elements on. Integers that nothing uses as an index
/// are 0 or 1.
Domain domainOf(mlir::Value value);

Tensor randomTensor(llvm::ArrayRef<int64_t> shape, Domain domain,
                    std::mt19937_64 &random);

/// One tensor per argument of a step; moments of an optimizer are positive.
llvm::SmallVector<Tensor> randomArguments(mlir::func::FuncOp func,
                                          std::mt19937_64 &random);

} // namespace dtrain

#endif // DTRAIN_INTERPRETER_INPUTS_H
