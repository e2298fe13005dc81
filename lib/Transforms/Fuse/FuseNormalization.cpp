//===- FuseNormalization.cpp - Norms from their primitives ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseDetail.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::fuse;

/// Whether a tensor has one element per row of a tensor of shape `shape`, in a
/// shape that broadcasts along the row.
static bool isPerRow(Value value, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> own = tensorType(value).getShape();
  return own.size() == shape.size() && own.back() == 1 &&
         own.drop_back() == shape.drop_back();
}

/// The tensor whose mean over the last dimension `value` is, else null. A
/// tensor per row may have lost its last dimension.
static Value matchMean(Value value) {
  Product product = productOf(value, {}, /*casts=*/true);
  if (product.powers.size() != 1 || product.powers[0].second != 1)
    return {};
  Value base = skipUnitMoves(product.powers[0].first);
  // The division by the extent may be before the unit dimension comes back.
  Product inner = productOf(base, {}, /*casts=*/true);
  if (inner.powers.size() != 1 || inner.powers[0].second != 1)
    return {};
  auto sum = inner.powers[0].first.getDefiningOp<ReductionOp>();
  if (!sum || sum.getKind() != Reduction::sum)
    return {};
  ArrayRef<int64_t> shape = tensorType(sum.getInput()).getShape();
  if (shape.empty() || shape.back() == 1 ||
      !isNear(product.coef * inner.coef,
              1.0 / static_cast<double>(shape.back())))
    return {};
  // All dimensions but the last stay, in order.
  FactorSpace space;
  SmallVector<FactorSpace::Term, 4> terms =
      space.addRule(llvm::cantFail(bindRule(sum)));
  FactorSpace::Term rows(llvm::drop_end(terms[0]));
  return atomsOf(rows) == atomsOf(terms[1]) ? sum.getInput() : Value();
}

/// The tensor that `value` is the square of, else null.
static Value matchSquare(Value value) {
  value = skipFloatCasts(value);
  if (ElementwiseOp power = elementwiseOf(value, Elementwise::power))
    return constantOf(power) == 2 ? power.getInputs()[0] : Value();
  ElementwiseOp mul = elementwiseOf(value, Elementwise::mul);
  return mul && mul.getInputs()[0] == mul.getInputs()[1] ? mul.getInputs()[0]
                                                         : Value();
}

/// mean(y^2) + epsilon, whose y this returns.
static Value matchVariance(Value value, double &epsilon) {
  ElementwiseOp offset =
      elementwiseOf(skipUnitMoves(value), Elementwise::offset);
  if (!offset || constantOf(offset) < 0)
    return {};
  epsilon = constantOf(offset);
  Value mean = matchMean(offset.getInputs()[0]);
  return mean ? matchSquare(mean) : Value();
}

/// x - mean(x), whose x this returns.
static Value matchCentred(Value value) {
  ElementwiseOp sub = elementwiseOf(skipFloatCasts(value), Elementwise::sub);
  if (!sub)
    return {};
  Value x = sub.getInputs()[0], mean = sub.getInputs()[1];
  return isPerRow(mean, tensorType(x).getShape()) && matchMean(mean) == x
             ? x
             : Value();
}

namespace {
/// x, the scale and the deviation of each row in one product.
struct Normal {
  Value y, scale, rows;
  double epsilon = 0;
};
} // namespace

/// A product of y, of a vector and of 1 / sqrt(mean(y^2) + epsilon).
static std::optional<Normal> matchNormal(Value root) {
  Product apart = productOf(root, {}, /*casts=*/true);
  for (auto [base, power] : apart.powers) {
    Normal normal;
    // The row's deviation may get its unit dimension after the root.
    Value deviation = base;
    double exponent = power;
    if (auto move = base.getDefiningOp<MoveOp>()) {
      Product inner = productOf(skipUnitMoves(base), {}, /*casts=*/true);
      if (inner.coef != 1 || inner.powers.size() != 1)
        continue;
      deviation = inner.powers[0].first;
      exponent *= inner.powers[0].second;
    }
    if (exponent != -0.5)
      continue;
    normal.y = matchVariance(deviation, normal.epsilon);
    if (!normal.y || !isPerRow(base, tensorType(root).getShape()))
      continue;
    normal.rows = base;
    // Without taking y apart.
    Product product = productOf(root, normal.y, /*casts=*/true);
    if (product.coef != 1 || product.powers.size() != 3 ||
        product.powerOf(normal.y) != 1 || product.powerOf(base) != power)
      continue;
    for (auto [other, otherPower] : product.powers)
      if (other != normal.y && other != base && otherPower == 1)
        normal.scale = other;
    if (normal.scale)
      return normal;
  }
  return std::nullopt;
}

/// The value before widening casts that has the wanted type, else null.
static Value withType(Value value, Type type) {
  while (value.getType() != type) {
    ElementwiseOp cast = elementwiseOf(value, Elementwise::cast);
    if (!cast || !isFloat(cast.getInputs()[0]))
      return {};
    value = cast.getInputs()[0];
  }
  return value;
}

/// A vector along the last dimension of `type`, else null.
static Value matchVector(Value value, RankedTensorType type) {
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  Value vector = skipUnitMoves(value);
  if (tensorType(vector).getRank() != 1 || shape.empty() ||
      shape.back() != type.getShape().back())
    return {};
  return vector;
}

static bool fuseScale(ElementwiseOp root, RewriterBase &rewriter) {
  Value result = root.getResults()[0];
  RankedTensorType type = tensorType(result);
  std::optional<Normal> normal = matchNormal(result);
  if (!normal)
    return false;
  Value scale = matchVector(normal->scale, type);
  Value centred = matchCentred(normal->y);
  Value x = withType(centred ? centred : normal->y, type);
  if (!scale || !x)
    return false;
  rewriter.replaceOpWithNewOp<NormalizeOp>(
      root, type, centred ? Norm::layer : Norm::rms, x, scale, Value(),
      llvm::APFloat(normal->epsilon), root.getOrigin(), OpStateAttr());
  return true;
}

static bool fuseShift(ElementwiseOp root, RewriterBase &rewriter) {
  for (unsigned side : {0, 1}) {
    auto norm = root.getInputs()[side].getDefiningOp<NormalizeOp>();
    if (!norm || norm.getKind() != Norm::layer || norm.getBias() ||
        !norm->hasOneUse() ||
        norm.getResult().getType() != root.getResults()[0].getType())
      continue;
    Value bias =
        matchVector(root.getInputs()[1 - side], tensorType(norm.getResult()));
    if (!bias)
      continue;
    rewriter.replaceOpWithNewOp<NormalizeOp>(
        root, norm.getResult().getType(), Norm::layer, norm.getInput(),
        norm.getScale(), bias, norm.getEpsilon(), root.getOrigin(),
        OpStateAttr());
    return true;
  }
  return false;
}

bool fuse::fuseNormalization(Operation *op, RewriterBase &rewriter) {
  auto root = dyn_cast<ElementwiseOp>(op);
  if (!root || !isFloat(root.getResults()[0]) ||
      tensorType(root.getResults()[0]).getRank() == 0)
    return false;
  if (root.getKind() == Elementwise::add)
    return fuseShift(root, rewriter);
  if (root.getKind() != Elementwise::mul && root.getKind() != Elementwise::div)
    return false;
  return fuseScale(root, rewriter);
}
