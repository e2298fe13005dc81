//===- FuseMask.cpp - What a mask hides -----------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Masks are computed from positions by comparisons and arithmetic. Following
/// that symbolically proves what a mask is whatever its spelling and size;
/// evaluating it would take a step per pair of positions.
///
//===----------------------------------------------------------------------===//

#include "FuseDetail.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace dtrain;
using namespace dtrain::fuse;

namespace {
/// What a tensor is as a function of its indices: affine, or two values decided
/// by the sign of an affine function.
struct Form {
  SmallVector<double, 4> coefs; // per dimension
  double offset = 0;
  bool isTwoValued = false;
  double yes = 0, no = 0;

  bool isSplat() const {
    return !isTwoValued && llvm::all_of(coefs, [](double c) { return c == 0; });
  }
  bool sameCondition(const Form &o) const {
    return isTwoValued && o.isTwoValued && coefs == o.coefs &&
           offset == o.offset;
  }
};
} // namespace

static constexpr unsigned kMaxDepth = 24;

static std::optional<Form> formOf(Value value, unsigned depth);

static Form splat(unsigned rank, double value) {
  Form form;
  form.coefs.assign(rank, 0);
  form.offset = value;
  return form;
}

/// The least and the greatest value of the affine function over the indices of
/// a tensor.
static std::pair<double, double> extremes(const Form &form,
                                          ArrayRef<int64_t> shape) {
  double least = form.offset, most = form.offset;
  for (auto [coef, extent] : llvm::zip(form.coefs, shape)) {
    double end = coef * static_cast<double>(extent - 1);
    least += std::min(end, 0.0);
    most += std::max(end, 0.0);
  }
  return {least, most};
}

/// A condition that holds everywhere or nowhere decides nothing.
static Form simplify(Form form, ArrayRef<int64_t> shape) {
  if (!form.isTwoValued)
    return form;
  auto [least, most] = extremes(form, shape);
  if (most <= 0)
    return splat(shape.size(), form.yes);
  if (least > 0 || form.yes == form.no)
    return splat(shape.size(), form.no);
  return form;
}

/// The operand's form over the dimensions of the result: right-aligned, units
/// broadcast.
static Form broadcast(Form form, ArrayRef<int64_t> from, unsigned rank) {
  for (auto [coef, extent] : llvm::zip(form.coefs, from))
    if (extent == 1)
      coef = 0;
  form.coefs.insert(form.coefs.begin(), rank - from.size(), 0);
  return form;
}

static bool isInteger(const Form &form) {
  return form.offset == std::round(form.offset) &&
         llvm::all_of(form.coefs, [](double c) { return c == std::round(c); });
}

/// a + factor * b of affine forms.
static Form combine(Form a, double factor, const Form &b) {
  for (auto [x, y] : llvm::zip(a.coefs, b.coefs))
    x += factor * y;
  a.offset += factor * b.offset;
  return a;
}

/// Functions of affine forms that are affine, or comparisons.
static std::optional<Form> applyAffine(ElementwiseOp op, ArrayRef<Form> x) {
  unsigned rank = x[0].coefs.size();
  Form zero = splat(rank, 0);
  switch (op.getKind()) {
  case Elementwise::neg:
    return combine(zero, -1, x[0]);
  case Elementwise::scale:
    return combine(zero, constantOf(op), x[0]);
  case Elementwise::offset:
    return combine(splat(rank, constantOf(op)), 1, x[0]);
  case Elementwise::cast:
    if (!isInteger(x[0]) ||
        tensorType(op.getResults()[0]).getElementType().isInteger(1))
      return std::nullopt;
    return x[0];
  case Elementwise::add:
    return combine(x[0], 1, x[1]);
  case Elementwise::sub:
    return combine(x[0], -1, x[1]);
  case Elementwise::mul:
    if (x[0].isSplat())
      return combine(zero, x[0].offset, x[1]);
    if (x[1].isSplat())
      return combine(zero, x[1].offset, x[0]);
    return std::nullopt;
  case Elementwise::less_equal:
  case Elementwise::less: {
    if (!isInteger(x[0]) || !isInteger(x[1]))
      return std::nullopt;
    Form condition = combine(x[0], -1, x[1]);
    if (op.getKind() == Elementwise::less)
      condition.offset += 1;
    condition.isTwoValued = true;
    condition.yes = 1;
    condition.no = 0;
    return condition;
  }
  default:
    return std::nullopt;
  }
}

static std::optional<Form> elementwiseForm(ElementwiseOp op, unsigned depth) {
  ArrayRef<int64_t> shape = tensorType(op.getResults()[0]).getShape();
  SmallVector<Form, 3> forms;
  for (Value input : op.getInputs()) {
    std::optional<Form> form = formOf(input, depth - 1);
    if (!form)
      return std::nullopt;
    forms.push_back(
        broadcast(*form, tensorType(input).getShape(), shape.size()));
  }
  // One condition at most, and splats besides.
  const Form *condition = nullptr;
  bool isAffine = true, isMapped = true;
  for (const Form &form : forms) {
    isAffine &= !form.isTwoValued;
    if (form.isTwoValued && condition && !condition->sameCondition(form))
      isMapped = false;
    if (form.isTwoValued)
      condition = &form;
    else if (!form.isSplat())
      isMapped = false;
  }
  if (isAffine && !llvm::all_of(forms, [](auto &f) { return f.isSplat(); }))
    return applyAffine(op, forms);
  if (!isMapped)
    return std::nullopt;
  SmallVector<double, 3> yes, no;
  for (const Form &form : forms) {
    yes.push_back(form.isTwoValued ? form.yes : form.offset);
    no.push_back(form.isTwoValued ? form.no : form.offset);
  }
  double whenYes = evaluate(op, yes), whenNo = evaluate(op, no);
  if (!condition)
    return splat(shape.size(), whenYes);
  Form result = *condition;
  result.yes = whenYes;
  result.no = whenNo;
  return result;
}

/// Through a move that gives each dimension that matters a dimension of its
/// own.
static std::optional<Form> moveForm(MoveOp move, unsigned depth) {
  std::optional<Form> input = formOf(move.getInput(), depth - 1);
  llvm::Expected<BoundRule> bound = bindRule(move);
  if (!bound) {
    llvm::consumeError(bound.takeError());
    return std::nullopt;
  }
  if (!input)
    return std::nullopt;
  FactorSpace space;
  SmallVector<FactorSpace::Term, 4> terms = space.addRule(*bound);
  Form form = *input;
  form.coefs.assign(terms[1].size(), 0);
  for (auto [d, coef] : llvm::enumerate(input->coefs)) {
    if (coef == 0 || terms[0][d].empty())
      continue;
    auto *it = llvm::find(terms[1], terms[0][d]);
    if (it == terms[1].end())
      return std::nullopt;
    form.coefs[it - terms[1].begin()] = coef;
  }
  return form;
}

static std::optional<Form> formOf(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == 0)
    return std::nullopt;
  ArrayRef<int64_t> shape = tensorType(value).getShape();
  if (auto iota = dyn_cast<IotaOp>(op)) {
    Form form = splat(shape.size(), 0);
    form.coefs[iota.getDim()] = 1;
    return form;
  }
  if (isa<ConstantOp>(op)) {
    std::optional<double> known = splatOf(value);
    // Integers and booleans are always read.
    if (!known && !isFloat(value))
      known = cast<ConstantOp>(op).getValue().convertToDouble();
    return known ? std::optional(splat(shape.size(), *known)) : std::nullopt;
  }
  std::optional<Form> form;
  if (auto move = dyn_cast<MoveOp>(op)) {
    form = moveForm(move, depth);
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    form = formOf(slice.getInput(), depth - 1);
    if (form)
      form->offset +=
          form->coefs[slice.getDim()] * static_cast<double>(slice.getOffset());
  } else if (auto elementwise = dyn_cast<ElementwiseOp>(op)) {
    form = elementwiseForm(elementwise, depth);
  }
  return form ? std::optional(simplify(*form, shape)) : std::nullopt;
}

std::optional<TwoValued> fuse::twoValuedOf(Value value) {
  std::optional<Form> form = formOf(value, kMaxDepth);
  if (!form)
    return std::nullopt;
  if (form->isSplat()) // the condition 0 <= 0
    return TwoValued{form->coefs, 0, form->offset, form->offset};
  if (!form->isTwoValued)
    return std::nullopt;
  return TwoValued{form->coefs, form->offset, form->yes, form->no};
}

/// What the one caller of a body passes on to all trips alike; null for what
/// else an argument is.
static Value sharedOperand(BlockArgument argument) {
  auto body = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  auto module = body ? body->getParentOfType<ModuleOp>() : ModuleOp();
  std::optional<SymbolTable::UseRange> uses =
      module ? SymbolTable::getSymbolUses(body, module) : std::nullopt;
  if (!uses || !llvm::hasSingleElement(*uses))
    return {};
  auto repeat = dyn_cast<RepeatOp>(uses->begin()->getUser());
  if (!repeat || argument.getArgNumber() >= repeat->getNumOperands())
    return {};
  Value passed = repeat->getOperand(argument.getArgNumber());
  return llvm::is_contained(repeat.getShared(), passed) &&
                 passed.getType() == argument.getType()
             ? passed
             : Value();
}

std::optional<std::pair<double, double>> fuse::rangeOf(Value value) {
  for (unsigned depth = 0; depth < kMaxDepth; ++depth) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      break;
    value = sharedOperand(argument);
    if (!value)
      return std::nullopt;
  }
  std::optional<Form> form = formOf(value, kMaxDepth);
  if (!form)
    return std::nullopt;
  if (form->isTwoValued)
    return std::minmax(form->yes, form->no);
  return extremes(*form, tensorType(value).getShape());
}

bool fuse::isCausal(const TwoValued &mask) {
  unsigned rank = mask.coefs.size();
  if (rank < 2 || mask.coefs[rank - 1] <= 0 ||
      mask.coefs[rank - 2] != -mask.coefs[rank - 1])
    return false;
  // Between 0 and one step, the offset excludes no pair.
  double steps = mask.offset / mask.coefs[rank - 1];
  return steps > -1 && steps <= 0 &&
         llvm::all_of(ArrayRef(mask.coefs).drop_back(2),
                      [](double c) { return c == 0; });
}
