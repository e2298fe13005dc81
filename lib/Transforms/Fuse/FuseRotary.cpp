//===- FuseRotary.cpp - Rotary positions from their primitives ------------===//
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

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// A table of angles per position, and the dimension of x that it follows.
namespace {
struct Table {
  Value value; // [positions, columns]
  unsigned dim = 0;
};
} // namespace

/// The table that broadcasts against a tensor of shape `shape`, else nothing.
static std::optional<Table> matchTable(Value value, ArrayRef<int64_t> shape) {
  FactorSpace space;
  FactorSpace::Term x = space.addShape(shape);
  ArrayRef<int64_t> own = tensorType(value).getShape();
  if (own.size() > shape.size() || own.empty())
    return std::nullopt;
  FactorSpace::Term term(llvm::drop_begin(x, x.size() - own.size()));
  for (auto [dim, extent] : llvm::zip(term, own))
    if (extent == 1)
      dim.clear();
  while (auto move = value.getDefiningOp<MoveOp>()) {
    SmallVector<FactorSpace::Term, 4> terms =
        space.addRule(llvm::cantFail(bindRule(move)));
    if (!space.unify(terms[1], term))
      return std::nullopt;
    term = terms[0];
    value = move.getInput();
  }
  term = space.resolve(term);
  FactorSpace::Term kept;
  for (const FactorSpace::Dim &dim : term)
    if (!dim.empty())
      kept.push_back(dim);
  if (kept.size() != 2 || kept[1] != space.resolve(x.back()))
    return std::nullopt;
  for (unsigned d = 0; d + 1 < x.size(); ++d)
    if (space.resolve(x[d]) == kept[0]) {
      OpBuilder b(value.getContext());
      b.setInsertionPointAfterValue(value);
      return Table{fuse::buildMove(b, value.getLoc(), space, value, term, kept),
                   d};
    }
  return std::nullopt;
}

static Value slice(OpBuilder &b, Location loc, Value value, unsigned dim,
                   int64_t offset, int64_t extent) {
  RankedTensorType type = tensorType(value);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = extent;
  return SliceOp::create(b, loc,
                         RankedTensorType::get(shape, type.getElementType()),
                         value, dim, offset, Origin::forward, OpStateAttr());
}

/// The first half of a table's columns if the second is known to be the same:
/// it is one value everywhere, or a tensor beside itself.
static Value halfOf(OpBuilder &b, Location loc, Value table) {
  unsigned last = tensorType(table).getRank() - 1;
  int64_t half = tensorType(table).getShape()[last] / 2;
  Operation *op = table.getDefiningOp();
  if (auto concat = dyn_cast_or_null<ConcatOp>(op)) {
    bool twice = concat.getInputs().size() == 2 && concat.getDim() == last &&
                 concat.getInputs()[0] == concat.getInputs()[1];
    return twice ? concat.getInputs()[0] : Value();
  }
  if (isa_and_nonnull<ConstantOp>(op))
    return slice(b, loc, table, last, 0, half);
  if (auto part = dyn_cast_or_null<SliceOp>(op)) {
    unsigned dim = part.getDim();
    Value inner = dim == last ? Value() : halfOf(b, loc, part.getInput());
    return inner ? slice(b, loc, inner, dim, part.getOffset(),
                         tensorType(table).getShape()[dim])
                 : Value();
  }
  return {};
}

//===----------------------------------------------------------------------===//
// x * cos + rotate_half(x) * sin
//===----------------------------------------------------------------------===//

/// Whether `value` is the part of x's last dimension at that offset.
static bool isPart(Value value, Value x, int64_t offset, int64_t extent) {
  auto part = value.getDefiningOp<SliceOp>();
  return part && part.getInput() == x &&
         static_cast<int64_t>(part.getDim()) == tensorType(x).getRank() - 1 &&
         static_cast<int64_t>(part.getOffset()) == offset &&
         tensorType(value).getShape().back() == extent;
}

/// The x whose halves are exchanged, the second negated, else null.
static Value matchRotateHalf(Value value) {
  auto concat = value.getDefiningOp<ConcatOp>();
  int64_t last = tensorType(value).getRank() - 1;
  if (!concat || concat.getInputs().size() != 2 ||
      static_cast<int64_t>(concat.getDim()) != last)
    return {};
  Product high = productOf(concat.getInputs()[0]);
  auto low = concat.getInputs()[1].getDefiningOp<SliceOp>();
  if (!low || high.powers.size() != 1)
    return {};
  Value x = low.getInput();
  int64_t half = tensorType(x).getShape()[last] / 2;
  bool halves = tensorType(x) == tensorType(value) &&
                high.is(-1, {{high.powers[0].first, 1}}) &&
                isPart(high.powers[0].first, x, half, half) &&
                isPart(low.getResult(), x, 0, half);
  return halves ? x : Value();
}

/// The operand of a product that is not `known`, else null.
static Value otherFactor(Value product, Value known) {
  ElementwiseOp mul = elementwiseOf(product, Elementwise::mul);
  if (!mul)
    return {};
  for (unsigned side : {0, 1})
    if (mul.getInputs()[side] == known)
      return mul.getInputs()[1 - side];
  return {};
}

/// x rotated, with the positions along dimension `dim`.
static Value buildRotary(RewriterBase &rewriter, Location loc, Value x,
                         Value cos, Value sin, unsigned dim) {
  FactorSpace space;
  FactorSpace::Term term = space.addShape(tensorType(x).getShape()),
                    turned = term;
  FactorSpace::Dim positions = turned[dim];
  turned.erase(turned.begin() + dim);
  turned.insert(turned.end() - 1, positions);
  Value moved = fuse::buildMove(rewriter, loc, space, x, term, turned);
  Value rotated = RotaryOp::create(
      rewriter, loc, moved.getType(), moved, cos, sin, /*interleaved=*/false,
      /*inverse=*/false, Origin::forward, OpStateAttr());
  return fuse::buildMove(rewriter, loc, space, rotated, turned, term);
}

static bool fuseRotateHalf(ElementwiseOp add, RewriterBase &rewriter) {
  for (unsigned side : {0, 1}) {
    ElementwiseOp mul = elementwiseOf(add.getInputs()[side], Elementwise::mul);
    for (unsigned factor = 0; mul && factor < 2; ++factor) {
      Value x = matchRotateHalf(mul.getInputs()[factor]);
      Value direct = x ? otherFactor(add.getInputs()[1 - side], x) : Value();
      if (!direct || x.getType() != add.getResults()[0].getType())
        continue;
      ArrayRef<int64_t> shape = tensorType(x).getShape();
      std::optional<Table> cos = matchTable(direct, shape),
                           sin = matchTable(mul.getInputs()[1 - factor], shape);
      if (!cos || !sin || cos->dim != sin->dim)
        continue;
      Location loc = add.getLoc();
      Value halfCos = halfOf(rewriter, loc, cos->value),
            halfSin = halfOf(rewriter, loc, sin->value);
      if (!halfCos || !halfSin)
        continue;
      rewriter.replaceOp(
          add, buildRotary(rewriter, loc, x, halfCos, halfSin, cos->dim));
      return true;
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The halves apart; a part that is not rotated
//===----------------------------------------------------------------------===//

/// concat(low * cos - high * sin, high * cos + low * sin).
static bool fuseHalves(ConcatOp concat, RewriterBase &rewriter) {
  ElementwiseOp first = elementwiseOf(concat.getInputs()[0], Elementwise::sub),
                second = elementwiseOf(concat.getInputs()[1], Elementwise::add);
  ElementwiseOp lowCos =
      first ? elementwiseOf(first.getInputs()[0], Elementwise::mul)
            : ElementwiseOp();
  if (!lowCos || !second)
    return false;
  for (unsigned side : {0, 1}) {
    Value low = lowCos.getInputs()[side], cos = lowCos.getInputs()[1 - side];
    auto part = low.getDefiningOp<SliceOp>();
    if (!part || part.getInput().getType() != concat.getResult().getType())
      continue;
    Value x = part.getInput();
    int64_t half = tensorType(x).getShape().back() / 2;
    ElementwiseOp highSin =
        elementwiseOf(first.getInputs()[1], Elementwise::mul);
    if (!highSin || !isPart(low, x, 0, half))
      continue;
    for (unsigned other : {0, 1}) {
      Value high = highSin.getInputs()[other],
            sin = highSin.getInputs()[1 - other];
      auto crosses = [&](unsigned i) {
        return otherFactor(second.getInputs()[i], high) == cos &&
               otherFactor(second.getInputs()[1 - i], low) == sin;
      };
      if (!isPart(high, x, half, half) || (!crosses(0) && !crosses(1)))
        continue;
      ArrayRef<int64_t> shape = tensorType(low).getShape();
      std::optional<Table> c = matchTable(cos, shape),
                           s = matchTable(sin, shape);
      if (!c || !s || c->dim != s->dim)
        continue;
      rewriter.replaceOp(concat, buildRotary(rewriter, concat.getLoc(), x,
                                             c->value, s->value, c->dim));
      return true;
    }
  }
  return false;
}

/// concat(rotary(part of x), rest of x): rotary passes the rest through.
static bool fuseRest(ConcatOp concat, RewriterBase &rewriter) {
  auto rotary = concat.getInputs()[0].getDefiningOp<RotaryOp>();
  auto part = rotary ? rotary.getInput().getDefiningOp<SliceOp>() : SliceOp();
  if (!part || rotary.getInterleaved() || !rotary->hasOneUse())
    return false;
  Value x = part.getInput();
  int64_t extent = tensorType(rotary.getInput()).getShape().back();
  int64_t rest = tensorType(x).getShape().back() - extent;
  if (!isPart(part.getResult(), x, 0, extent) ||
      !isPart(concat.getInputs()[1], x, extent, rest) ||
      2 * tensorType(rotary.getCos()).getShape().back() != extent)
    return false;
  rewriter.replaceOpWithNewOp<RotaryOp>(
      concat, x.getType(), x, rotary.getCos(), rotary.getSin(),
      /*interleaved=*/false, rotary.getInverse(), rotary.getOrigin(),
      OpStateAttr());
  return true;
}

bool fuse::fuseRotary(Operation *op, RewriterBase &rewriter) {
  if (auto concat = dyn_cast<ConcatOp>(op)) {
    int64_t last = tensorType(concat.getResult()).getRank() - 1;
    if (concat.getInputs().size() != 2 || last < 1 ||
        static_cast<int64_t>(concat.getDim()) != last)
      return false;
    return fuseHalves(concat, rewriter) || fuseRest(concat, rewriter);
  }
  auto add = dyn_cast<ElementwiseOp>(op);
  if (!add || add.getKind() != Elementwise::add)
    return false;
  return fuseRotateHalf(add, rewriter);
}
