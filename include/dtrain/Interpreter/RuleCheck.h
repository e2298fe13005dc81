//===- RuleCheck.h - Does an op do what its rule says? ----------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The mechanical rule check (docs/reference/rules.md): put an op in a random
/// state on a mesh, give its operands as the rule says that it needs them, run
/// its kernel on every device, gather the results as the rule says that it
/// gives them and compare with the op run in one piece. A wrong rule makes
/// every pass wrong; this finds it without thought.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_INTERPRETER_RULECHECK_H
#define DTRAIN_INTERPRETER_RULECHECK_H

#include "dtrain/Interpreter/VirtualMesh.h"
#include "dtrain/Model/Rule.h"
#include "mlir/IR/Operation.h"

namespace dtrain {

/// A random op state, one entry per axis of `mesh`, whose operand and result
/// states are valid: factors with random strides (uneven ones too), linear
/// groups, pins. All replicated where none is found.
OpState randomOpState(llvm::ArrayRef<MeshAxis> mesh, const BoundRule &rule,
                      std::mt19937_64 &random);

/// Checks `op`, whose types are not placed, in `state` on `operands`. The rule
/// is the op's own, or one over the same factors to be tried in its place. The
/// error says which result differs, by how much, in which state; or that
/// `inferState` does not find the state from what the rule needs and gives.
llvm::Error checkRule(mlir::Operation *op, const BoundRule &rule,
                      llvm::ArrayRef<MeshAxis> mesh, const OpState &state,
                      llvm::ArrayRef<Tensor> operands, std::mt19937_64 &random);

/// `trials` random states on random meshes of up to eight devices, on random
/// operands. Stops at the first error.
llvm::Error checkRule(mlir::Operation *op, const BoundRule &rule,
                      unsigned trials, std::mt19937_64 &random);

} // namespace dtrain

#endif // DTRAIN_INTERPRETER_RULECHECK_H
