//===- Gradients.cpp - Gradients against slopes of the loss ---------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/Questions.h"
#include "dtrain/Interpreter/Equivalence.h"
#include "dtrain/Interpreter/Inputs.h"
#include "dtrain/Interpreter/Interpreter.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dtrain;

/// The update that makes a returned value, through casts and changes of
/// placement; null if there is none.
static UpdateOpInterface updateBehind(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto update = dyn_cast<UpdateOpInterface>(op))
      return update;
    if (!isa<ReshardOp, CommOpInterface>(op) && !isConversion(op))
      return {};
    value = op->getOperand(0);
  }
  return {};
}

/// The result that is the loss: the one that replaces no argument.
static FailureOr<unsigned> lossOf(func::FuncOp step) {
  std::optional<unsigned> loss;
  for (unsigned i = 0; i < step.getNumResults(); ++i) {
    if (step.getResultAttr(i, kUpdatesAttr))
      continue;
    auto type = dyn_cast<RankedTensorType>(step.getResultTypes()[i]);
    if (loss || !type || type.getNumElements() != 1)
      return emitError(step.getLoc(),
                       "expected one scalar result that updates no "
                       "argument, the loss; found result #")
             << i << " of " << step.getResultTypes()[i];
    loss = i;
  }
  if (!loss)
    return emitError(step.getLoc(),
                     "expected a result that updates no argument, the "
                     "loss; found none");
  return *loss;
}

/// The gradient that reaches each parameter, by argument.
static FailureOr<std::map<unsigned, Tensor>>
gradientsOf(func::FuncOp step, ArrayRef<Tensor> arguments) {
  llvm::DenseMap<Operation *, Tensor> received;
  auto record = [&](Operation *op, ArrayRef<const Tensor *> operands,
                    ArrayRef<Tensor>) {
    if (auto update = dyn_cast<UpdateOpInterface>(op))
      received[op] = *operands[update.getGradientOperand().getOperandNumber()];
    return success();
  };
  if (failed(interpret(step, arguments, record)))
    return failure();
  std::map<unsigned, Tensor> gradients;
  Operation *end = step.front().getTerminator();
  for (auto [i, value] : llvm::enumerate(end->getOperands())) {
    auto argument = step.getResultAttrOfType<IntegerAttr>(i, kUpdatesAttr);
    if (!argument || roleOf(step, argument.getInt()) != Role::parameter)
      continue;
    UpdateOpInterface update = updateBehind(value);
    if (!update)
      return emitError(step.getLoc(), nameOfResult(step, i))
             << ": no dtrain.update makes this parameter";
    gradients[argument.getInt()] = received.lookup(update);
  }
  for (unsigned i = 0; i < step.getNumArguments(); ++i)
    if (roleOf(step, i) == Role::parameter && !gradients.count(i))
      return emitError(step.getLoc(), "argument #")
             << i
             << ": a parameter without an "
                "update";
  return gradients;
}

FailureOr<GradientCheck>
dtrain::checkGradients(func::FuncOp step, uint64_t seed, double tolerance) {
  // A power of two; the central difference is off by its square.
  const double delta = 0x1p-16;
  FailureOr<unsigned> loss = lossOf(step);
  if (failed(loss))
    return failure();
  std::mt19937_64 random(seed);
  SmallVector<Tensor> arguments = randomArguments(step, random);
  FailureOr<std::map<unsigned, Tensor>> gradients =
      gradientsOf(step, arguments);
  if (failed(gradients))
    return failure();
  GradientCheck check;
  for (const auto &[argument, gradient] : *gradients) {
    // The steepest of a few entries: a flat one proves little.
    auto draw = std::uniform_int_distribution<int64_t>(0, gradient.size() - 1);
    int64_t entry = draw(random);
    for (unsigned n = 0; n < 8; ++n)
      if (int64_t other = draw(random);
          std::abs(gradient[other]) > std::abs(gradient[entry]))
        entry = other;
    double losses[2];
    for (int side : {0, 1}) {
      SmallVector<Tensor> moved = arguments;
      moved[argument][entry] += side ? delta : -delta;
      FailureOr<SmallVector<Tensor>> results = interpret(step, moved);
      if (failed(results))
        return failure();
      losses[side] = (*results)[*loss][0];
    }
    double slope = (losses[1] - losses[0]) / (2 * delta);
    double difference = std::abs(slope - gradient[entry]) /
                        std::max(std::abs(gradient[entry]), 1e-3);
    if (!(difference <= tolerance)) {
      auto name = step.getArgAttrOfType<StringAttr>(argument, kNameAttr);
      return emitError(step.getLoc(), "argument #")
             << argument << (name ? " (" + name.str() + ")" : "")
             << ": the gradient of entry " << entry << " is "
             << llvm::formatv("{0:e}", gradient[entry]).str()
             << ", the slope of the loss "
             << llvm::formatv("{0:e}", slope).str();
    }
    check.maxDifference = std::max(check.maxDifference, difference);
    ++check.parameters;
  }
  return check;
}
