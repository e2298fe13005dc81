//===- Elementwise.cpp - Kernels of elementwise ops and optimizers --------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include <cmath>

using namespace mlir;
using namespace dtrain;

void dtrain::runElementwise(Kernel &k, ElementwiseOp op) {
  SmallVector<double, 3> x(op.getInputs().size());
  k.forEach(k.allFactors(), [&](const Point &p) {
    for (auto [i, value] : llvm::enumerate(x))
      value = k.in(i, p);
    k.out(0, p) = evaluate(op, x);
    // Of the value; the gradient of the gate comes first.
    if (op.getKind() == Elementwise::swiglu_grad)
      k.out(1, p) = x[0] * evaluate(Elementwise::silu, x[1]);
  });
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

/// AdamW (Loshchilov and Hutter, arXiv:1711.05101) at its first step, with the
/// constants that the op documents.
static void runAdamW(Kernel &k, double learningRate) {
  const double beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, decay = 0.01;
  k.forEach(k.allFactors(), [&](const Point &p) {
    double master = k.in(0, p), gradient = k.in(3, p);
    double m = beta1 * k.in(1, p) + (1 - beta1) * gradient;
    double v = beta2 * k.in(2, p) + (1 - beta2) * gradient * gradient;
    double step = m / (1 - beta1) / (std::sqrt(v / (1 - beta2)) + epsilon);
    k.out(0, p) = master - learningRate * (step + decay * master);
    k.out(1, p) = m;
    k.out(2, p) = v;
  });
}

static void runSgd(Kernel &k, double learningRate) {
  const double momentum = 0.9;
  k.forEach(k.allFactors(), [&](const Point &p) {
    double velocity = momentum * k.in(1, p) + k.in(2, p);
    k.out(0, p) = k.in(0, p) - learningRate * velocity;
    k.out(1, p) = velocity;
  });
}

void dtrain::runUpdate(Kernel &k, UpdateOp op) {
  double learningRate = op.getLearningRate().convertToDouble();
  switch (op.getKind()) {
  case Optimizer::adamw:
    return runAdamW(k, learningRate);
  case Optimizer::sgd:
    return runSgd(k, learningRate);
  }
}
