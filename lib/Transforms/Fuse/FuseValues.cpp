//===- FuseValues.cpp - Looking at values ---------------------------------===//
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

/// How deep the searches below go: exporters spell a norm in under ten ops.
static constexpr unsigned kMaxDepth = 16;

ElementwiseOp fuse::elementwiseOf(Value value, Elementwise kind) {
  auto op = value.getDefiningOp<ElementwiseOp>();
  return op && op.getKind() == kind ? op : ElementwiseOp();
}

double fuse::constantOf(ElementwiseOp op) {
  return op.getConstant()->convertToDouble();
}

bool fuse::isFloat(Value value) {
  return isa<FloatType>(tensorType(value).getElementType());
}

/// Constants come as 32-bit floats, or 16-bit ones in half precision models.
bool fuse::isNear(double a, double b) {
  return std::abs(a - b) <= 1e-3 * std::abs(b);
}

static std::optional<double> evaluate(ElementwiseOp op, unsigned depth);

static std::optional<double> splatOf(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return std::nullopt;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    double known = constant.getValue().convertToDouble();
    bool contents = known != 0 || tensorType(value).getNumElements() == 1;
    return contents ? std::optional(known) : std::nullopt;
  }
  if (auto move = dyn_cast<MoveOp>(op))
    return splatOf(move.getInput(), depth - 1);
  if (auto elementwise = dyn_cast<ElementwiseOp>(op))
    return evaluate(elementwise, depth);
  return std::nullopt;
}

/// The functions that exporters leave unfolded on scalars.
static std::optional<double> evaluate(ElementwiseOp op, unsigned depth) {
  SmallVector<double, 2> x;
  for (Value input : op.getInputs()) {
    std::optional<double> value = splatOf(input, depth - 1);
    if (!value)
      return std::nullopt;
    x.push_back(*value);
  }
  return dtrain::evaluate(op, x);
}

std::optional<double> fuse::splatOf(Value value) {
  return ::splatOf(value, kMaxDepth);
}

static SmallVector<int64_t> withoutUnits(Value value) {
  SmallVector<int64_t> shape(tensorType(value).getShape());
  llvm::erase(shape, 1);
  return shape;
}

/// Whether a move keeps all elements in order, and its shape but for units.
static bool isUnitMove(MoveOp move) {
  if (withoutUnits(move.getInput()) != withoutUnits(move.getResult()))
    return false;
  llvm::Expected<BoundRule> bound = bindRule(move);
  if (!bound) {
    llvm::consumeError(bound.takeError());
    return false;
  }
  FactorSpace space;
  SmallVector<FactorSpace::Term, 4> terms = space.addRule(*bound);
  return atomsOf(terms[0]) == atomsOf(terms[1]);
}

Value fuse::skipUnitMoves(Value value) {
  while (auto move = value.getDefiningOp<MoveOp>()) {
    if (!isUnitMove(move))
      break;
    value = move.getInput();
  }
  return value;
}

Value fuse::skipFloatCasts(Value value) {
  while (ElementwiseOp op = elementwiseOf(value, Elementwise::cast)) {
    if (!isFloat(op.getInputs()[0]) || !isFloat(value))
      break;
    value = op.getInputs()[0];
  }
  return value;
}

bool fuse::isParameterLike(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  auto func = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  if (!func)
    return false;
  return func.isPrivate() ||
         roleOf(func, argument.getArgNumber()) == Role::parameter;
}

double Product::powerOf(Value value) const {
  for (auto [base, power] : powers)
    if (base == value)
      return power;
  return 0;
}

bool Product::is(double expectedCoef,
                 ArrayRef<std::pair<Value, double>> expected) const {
  return isNear(coef, expectedCoef) && powers.size() == expected.size() &&
         llvm::all_of(expected, [&](auto factor) {
           return powerOf(factor.first) == factor.second;
         });
}

static void multiply(Product &product, Value base, double power) {
  auto *it = llvm::find_if(product.powers,
                           [&](auto &factor) { return factor.first == base; });
  if (it == product.powers.end()) {
    product.powers.push_back({base, power});
    return;
  }
  it->second += power;
  if (it->second == 0)
    product.powers.erase(it);
}

static void multiply(Product &product, Value value, double power,
                     ArrayRef<Value> stops, bool casts, unsigned depth) {
  auto op = value.getDefiningOp<ElementwiseOp>();
  if (!op || depth == 0 || llvm::is_contained(stops, value) ||
      !isFloat(value)) {
    multiply(product, value, power);
    return;
  }
  auto recurse = [&](unsigned operand, double p) {
    multiply(product, op.getInputs()[operand], p, stops, casts, depth - 1);
  };
  // A fractional power of a product is no product of fractional powers where
  // the sign is not known.
  bool whole = power == std::round(power);
  switch (op.getKind()) {
  case Elementwise::mul:
    if (!whole)
      break;
    recurse(0, power);
    recurse(1, power);
    return;
  case Elementwise::div:
    if (!whole)
      break;
    recurse(0, power);
    recurse(1, -power);
    return;
  case Elementwise::reciprocal:
    recurse(0, -power);
    return;
  case Elementwise::scale:
    if (!whole)
      break;
    product.coef *= std::pow(constantOf(op), power);
    recurse(0, power);
    return;
  case Elementwise::neg:
    if (!whole)
      break;
    product.coef *= std::pow(-1.0, power);
    recurse(0, power);
    return;
  case Elementwise::sqrt:
    if (!whole)
      break;
    multiply(product, op.getInputs()[0], power / 2);
    return;
  case Elementwise::rsqrt:
    if (!whole)
      break;
    multiply(product, op.getInputs()[0], -power / 2);
    return;
  case Elementwise::power: {
    if (!whole)
      break;
    double p = power * constantOf(op);
    if (p == std::round(p))
      recurse(0, p);
    else
      multiply(product, op.getInputs()[0], p);
    return;
  }
  case Elementwise::cast:
    if (!casts || !isFloat(op.getInputs()[0]))
      break;
    recurse(0, power);
    return;
  default:
    break;
  }
  multiply(product, value, power);
}

Product fuse::productOf(Value value, ArrayRef<Value> stops, bool casts) {
  Product product;
  multiply(product, value, 1, stops, casts, kMaxDepth);
  return product;
}
