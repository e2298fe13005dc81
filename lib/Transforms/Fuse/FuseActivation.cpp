//===- FuseActivation.cpp - Activations from their primitives -------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseDetail.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace dtrain;
using namespace dtrain::fuse;

/// How far below its last op the function that makes an activation can be.
static constexpr unsigned kMaxDepth = 6;

/// tanh, erf or sigmoid below `value`, through arithmetic only, and what the
/// arithmetic reads on the way.
static ElementwiseOp findCurve(Value value, unsigned depth) {
  auto op = value.getDefiningOp<ElementwiseOp>();
  if (!op || depth == 0)
    return {};
  switch (op.getKind()) {
  case Elementwise::tanh:
  case Elementwise::erf:
  case Elementwise::sigmoid:
    return op;
  case Elementwise::mul:
  case Elementwise::div:
  case Elementwise::add:
  case Elementwise::scale:
  case Elementwise::offset:
    for (Value input : op.getInputs())
      if (ElementwiseOp found = findCurve(input, depth - 1))
        return found;
    return {};
  default:
    return {};
  }
}

/// Every value within reach below `value`: what x may be.
static void collect(Value value, unsigned depth,
                    SmallVectorImpl<Value> &values) {
  if (llvm::is_contained(values, value))
    return;
  values.push_back(value);
  auto op = value.getDefiningOp<ElementwiseOp>();
  if (!op || depth == 0)
    return;
  for (Value input : op.getInputs())
    collect(input, depth - 1, values);
}

/// c + product: the constant and the rest of an offset.
static bool matchOffset(Value value, double constant, Value &rest) {
  ElementwiseOp op = elementwiseOf(value, Elementwise::offset);
  if (!op || !isNear(constantOf(op), constant))
    return false;
  rest = op.getInputs()[0];
  return true;
}

/// sqrt(2 / pi) (x + 0.044715 x^3), also as sqrt(2 / pi) x (1 + 0.044715 x^2)
/// (Hendrycks and Gimpel 2016, arXiv:1606.08415).
static bool isTanhArgument(Value value, Value x) {
  constexpr double kCubic = 0.044715;
  const double kOuter = std::sqrt(2 / M_PI);
  Product outer = productOf(value, x);
  double powerOfX = outer.powerOf(x);
  if (!isNear(outer.coef, kOuter) ||
      outer.powers.size() != (powerOfX == 0 ? 1 : 2))
    return false;
  for (auto [base, power] : outer.powers) {
    if (base == x || power != 1)
      continue;
    Value rest;
    if (powerOfX == 1)
      return matchOffset(base, 1, rest) &&
             productOf(rest, x).is(kCubic, {{x, 2}});
    ElementwiseOp sum = elementwiseOf(base, Elementwise::add);
    if (powerOfX != 0 || !sum)
      return false;
    for (unsigned side : {0, 1})
      if (sum.getInputs()[side] == x &&
          productOf(sum.getInputs()[1 - side], x).is(kCubic, {{x, 3}}))
        return true;
  }
  return false;
}

/// Whether 1 + curve(…x…) times x / 2 is a GELU, and which.
static std::optional<Elementwise> matchGELU(Value root, ElementwiseOp curve,
                                            Value x) {
  Product product = productOf(root, x);
  if (product.powers.size() != 2 || product.powerOf(x) != 1 ||
      !isNear(product.coef, 0.5))
    return std::nullopt;
  for (auto [base, power] : product.powers) {
    Value rest;
    if (base == x)
      continue;
    if (power != 1 || !matchOffset(base, 1, rest) ||
        rest != curve.getResults()[0])
      return std::nullopt;
  }
  Value argument = curve.getInputs()[0];
  if (curve.getKind() == Elementwise::tanh)
    return isTanhArgument(argument, x) ? std::optional(Elementwise::gelu_tanh)
                                       : std::nullopt;
  return productOf(argument, x).is(std::sqrt(0.5), {{x, 1}})
             ? std::optional(Elementwise::gelu)
             : std::nullopt;
}

static void replace(ElementwiseOp op, Elementwise kind, ValueRange operands,
                    RewriterBase &rewriter) {
  rewriter.replaceOp(
      op, dtrain::buildElementwise(rewriter, op.getLoc(), kind, operands));
}

/// silu(gate) * up.
static bool fuseSwiGLU(ElementwiseOp op, RewriterBase &rewriter) {
  if (op.getKind() != Elementwise::mul)
    return false;
  for (unsigned side : {0, 1}) {
    ElementwiseOp silu = elementwiseOf(op.getInputs()[side], Elementwise::silu);
    Value up = op.getInputs()[1 - side];
    if (!silu || !silu->hasOneUse() ||
        up.getType() != op.getResults()[0].getType() ||
        silu.getInputs()[0].getType() != up.getType())
      continue;
    replace(op, Elementwise::swiglu, {silu.getInputs()[0], up}, rewriter);
    return true;
  }
  return false;
}

bool fuse::fuseActivation(Operation *op, RewriterBase &rewriter) {
  auto root = dyn_cast<ElementwiseOp>(op);
  if (!root || (root.getKind() != Elementwise::mul &&
                root.getKind() != Elementwise::scale))
    return false;
  if (fuseSwiGLU(root, rewriter))
    return true;
  Value result = root.getResults()[0];
  ElementwiseOp curve = findCurve(result, kMaxDepth);
  if (!curve)
    return false;
  if (curve.getKind() == Elementwise::sigmoid) {
    Value x = curve.getInputs()[0], gate = curve.getResults()[0];
    if (x.getType() != result.getType() ||
        !productOf(result, {x, gate}).is(1, {{x, 1}, {gate, 1}}))
      return false;
    replace(root, Elementwise::silu, x, rewriter);
    return true;
  }
  SmallVector<Value> candidates;
  collect(curve.getInputs()[0], kMaxDepth, candidates);
  for (Value x : candidates) {
    if (x.getType() != result.getType())
      continue;
    std::optional<Elementwise> kind = matchGELU(result, curve, x);
    if (!kind)
      continue;
    replace(root, *kind, x, rewriter);
    return true;
  }
  return false;
}
