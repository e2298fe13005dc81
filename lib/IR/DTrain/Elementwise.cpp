//===- Elementwise.cpp - What elementwise kinds compute -------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/DTrain.h"
#include <cmath>

using namespace mlir;
using namespace dtrain;

static double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
/// The standard normal distribution and its density.
static double normal(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
static double density(double x) {
  return std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
}
static double silu(double x) { return x * sigmoid(x); }
static double siluGrad(double x) {
  double s = sigmoid(x);
  return s * (1 + x * (1 - s));
}

/// The argument of the tanh in GELU's approximation (Hendrycks and Gimpel,
/// arXiv:1606.08415), and its derivative.
static double geluInner(double x) {
  return std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
}
static double geluTanhGrad(double x) {
  double t = std::tanh(geluInner(x));
  double slope = std::sqrt(2 / M_PI) * (1 + 3 * 0.044715 * x * x);
  return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope;
}

static double unary(Elementwise kind, double x, double constant) {
  switch (kind) {
  case Elementwise::neg:
    return -x;
  case Elementwise::exp:
    return std::exp(x);
  case Elementwise::log:
    return std::log(x);
  case Elementwise::sqrt:
    return std::sqrt(x);
  case Elementwise::rsqrt:
    return 1 / std::sqrt(x);
  case Elementwise::reciprocal:
    return 1 / x;
  case Elementwise::tanh:
    return std::tanh(x);
  case Elementwise::sigmoid:
    return sigmoid(x);
  case Elementwise::relu:
    return std::max(x, 0.0);
  case Elementwise::erf:
    return std::erf(x);
  case Elementwise::gelu:
    return x * normal(x);
  case Elementwise::gelu_tanh:
    return 0.5 * x * (1 + std::tanh(geluInner(x)));
  case Elementwise::silu:
    return silu(x);
  case Elementwise::cast:
    return x;
  case Elementwise::scale:
    return x * constant;
  case Elementwise::offset:
    return x + constant;
  case Elementwise::power:
    return std::pow(x, constant);
  case Elementwise::logical_not:
    return x == 0;
  default:
    llvm_unreachable("not unary");
  }
}

static double binary(Elementwise kind, double x, double y, double constant) {
  switch (kind) {
  case Elementwise::add:
    return x + y;
  case Elementwise::sub:
    return x - y;
  case Elementwise::mul:
    return x * y;
  case Elementwise::div:
    return x / y;
  case Elementwise::max:
    return std::max(x, y);
  case Elementwise::min:
    return std::min(x, y);
  case Elementwise::swiglu:
    return silu(x) * y;
  case Elementwise::less_equal:
    return x <= y;
  case Elementwise::less:
    return x < y;
  case Elementwise::equal:
    return x == y;
  case Elementwise::logical_and:
    return x != 0 && y != 0;
  case Elementwise::logical_or:
    return x != 0 || y != 0;
  // Gradients: x is the result's gradient, y the operand, or for tanh and
  // sigmoid the result.
  case Elementwise::relu_grad:
    return y > 0 ? x : 0;
  case Elementwise::tanh_grad:
    return x * (1 - y * y);
  case Elementwise::sigmoid_grad:
    return x * y * (1 - y);
  case Elementwise::gelu_grad:
    return x * (normal(y) + y * density(y));
  case Elementwise::gelu_tanh_grad:
    return x * geluTanhGrad(y);
  case Elementwise::silu_grad:
    return x * siluGrad(y);
  case Elementwise::erf_grad:
    return x * 2 / std::sqrt(M_PI) * std::exp(-y * y);
  case Elementwise::power_grad:
    return x * constant * std::pow(y, constant - 1);
  default:
    llvm_unreachable("not binary");
  }
}

double dtrain::evaluate(Elementwise kind, ArrayRef<double> x, double constant) {
  switch (arityOf(kind)) {
  case 1:
    return unary(kind, x[0], constant);
  case 2:
    return binary(kind, x[0], x[1], constant);
  default:
    if (kind == Elementwise::where)
      return x[0] != 0 ? x[1] : x[2];
    // swiglu_grad: gradient, gate, value.
    return x[0] * x[2] * siluGrad(x[1]);
  }
}

double dtrain::evaluate(ElementwiseOp op, ArrayRef<double> x) {
  Elementwise kind = op.getKind();
  double constant =
      op.getConstant() ? op.getConstant()->convertToDouble() : 0.0;
  double value = evaluate(kind, x, constant);
  Type element = tensorType(op.getResults().front()).getElementType();
  if (!isa<IntegerType>(element) ||
      (kind != Elementwise::cast && kind != Elementwise::div))
    return value;
  return element.isInteger(1) ? static_cast<double>(value != 0)
                              : std::trunc(value);
}
