//===- Equivalence.h - Does a program compute what it should? ---*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The two proofs by numbers: a placed program computes on its mesh what it
/// computes on one device, and the gradients of a training step are the slopes
/// of its loss.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_INTERPRETER_EQUIVALENCE_H
#define DTRAIN_INTERPRETER_EQUIVALENCE_H

#include "dtrain/Interpreter/MeshInterpreter.h"

namespace dtrain {

/// What a successful check found.
struct Equivalence {
  unsigned results = 0;
  /// The largest relative difference of any result.
  double maxDifference = 0;
  Traffic traffic;
};

/// Runs `placed` on its mesh and `original` on one device (the same function,
/// or the one that it was made from), both on the random arguments that `seed`
/// gives, and compares all results. The diagnostic of a failure names the first
/// result that differs and, where the fault is in the placement, the first op
/// whose value does.
mlir::FailureOr<Equivalence> checkEquivalence(mlir::func::FuncOp original,
                                              mlir::func::FuncOp placed,
                                              uint64_t seed,
                                              double tolerance = 1e-9);

/// "result #3 (wte)": a result and the argument that it replaces.
std::string nameOfResult(mlir::func::FuncOp func, unsigned result);

/// What a successful check of gradients found.
struct GradientCheck {
  unsigned parameters = 0;
  /// The largest difference between a gradient and the slope, relative to the
  /// gradient where that exceeds a thousandth.
  double maxDifference = 0;
};

/// Compares, for one entry of every parameter of a training step, the gradient
/// that `dtrain.update` receives with the central difference of the step's loss
/// (its one result that updates no argument). Every failure has been reported:
/// no such loss, a parameter that no update reaches, a gradient that is off by
/// more than `tolerance`.
mlir::FailureOr<GradientCheck>
checkGradients(mlir::func::FuncOp step, uint64_t seed, double tolerance = 1e-6);

} // namespace dtrain

#endif // DTRAIN_INTERPRETER_EQUIVALENCE_H
