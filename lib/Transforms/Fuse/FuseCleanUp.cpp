//===- FuseCleanUp.cpp - One spelling for one thing -----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseDetail.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::fuse;

/// The terms of an op's rule, added to `space`; the verifier has seen that it
/// binds.
static SmallVector<FactorSpace::Term, 4> addRuleOf(FactorSpace &space,
                                                   Operation *op) {
  return space.addRule(llvm::cantFail(bindRule(op)));
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

static bool cleanMove(MoveOp move, RewriterBase &rewriter) {
  RankedTensorType type = tensorType(move.getResult());
  if (auto constant = move.getInput().getDefiningOp<ConstantOp>()) {
    rewriter.replaceOpWithNewOp<ConstantOp>(move, type, constant.getValue(),
                                            move.getOrigin(), OpStateAttr());
    return true;
  }
  FactorSpace space;
  SmallVector<FactorSpace::Term, 4> terms = addRuleOf(space, move);
  Value input = move.getInput();
  FactorSpace::Term from = terms[0];
  if (auto inner = input.getDefiningOp<MoveOp>()) {
    FactorSpace composed = space;
    SmallVector<FactorSpace::Term, 4> innerTerms = addRuleOf(composed, inner);
    if (composed.unify(innerTerms[1], terms[0]) &&
        composed.isOneMove(innerTerms[0], terms[1])) {
      space = composed;
      input = inner.getInput();
      from = innerTerms[0];
    }
  }
  if (input == move.getInput() &&
      space.resolve(from) != space.resolve(terms[1]) &&
      move.getEinsum().getValue() == space.spell({from}, terms[1]))
    return false;
  rewriter.replaceOp(
      move, buildMove(rewriter, move.getLoc(), space, input, from, terms[1]));
  return true;
}

/// A contraction reads a transposed parameter as well as any other.
static bool foldTransposes(DotOp dot, RewriterBase &rewriter) {
  for (OpOperand &operand : dot->getOpOperands().take_front(2)) {
    auto move = operand.get().getDefiningOp<MoveOp>();
    if (!move || !isParameterLike(move.getInput()))
      continue;
    FactorSpace space;
    SmallVector<FactorSpace::Term, 4> terms = addRuleOf(space, dot),
                                      inner = addRuleOf(space, move);
    unsigned atoms = atomsOf(space.resolve(terms.back())).size();
    if (!space.unify(inner[1], terms[operand.getOperandNumber()]))
      continue;
    FactorSpace::Term source = space.resolve(inner[0]);
    bool plain =
        llvm::all_of(source, [](auto &d) { return d.size() <= 1; }) &&
        atomsOf(source).size() == atomsOf(space.resolve(inner[1])).size() &&
        atomsOf(space.resolve(terms.back())).size() == atoms;
    if (!plain)
      continue;
    terms[operand.getOperandNumber()] = source;
    Rule rule = space.spell(ArrayRef(terms).drop_back(), terms.back());
    rewriter.modifyOpInPlace(dot, [&] {
      operand.set(move.getInput());
      dot.setEinsumAttr(RuleAttr::get(dot.getContext(), rule));
    });
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// Whether a cast from `from` to `to` loses nothing.
static bool isWidening(Type from, Type to) {
  if (from.isInteger(1))
    return true;
  if (isa<FloatType>(from) != isa<FloatType>(to))
    return false;
  if (from == to)
    return true;
  if (auto a = dyn_cast<FloatType>(from)) {
    auto b = cast<FloatType>(to);
    return a.getFPMantissaWidth() <= b.getFPMantissaWidth() &&
           a.getWidth() < b.getWidth() && b.getWidth() >= 32;
  }
  return from.getIntOrFloatBitWidth() <= to.getIntOrFloatBitWidth();
}

static bool cleanCast(ElementwiseOp op, RewriterBase &rewriter) {
  Value input = op.getInputs()[0];
  if (ElementwiseOp inner = elementwiseOf(input, Elementwise::cast)) {
    Value source = inner.getInputs()[0];
    if (isWidening(tensorType(source).getElementType(),
                   tensorType(input).getElementType())) {
      rewriter.modifyOpInPlace(op, [&] { op->setOperand(0, source); });
      return true;
    }
  }
  if (input.getType() != op.getResults()[0].getType())
    return false;
  rewriter.replaceOp(op, input);
  return true;
}

static void replaceByUnary(ElementwiseOp op, Elementwise kind, Value input,
                           double constant, RewriterBase &rewriter) {
  rewriter.replaceOp(op, dtrain::buildElementwise(
                             rewriter, op.getLoc(), kind, input, constant,
                             tensorType(op.getResults()[0]).getElementType()));
}

/// scale of scale, offset of offset, and those that change nothing.
static bool cleanConstant(ElementwiseOp op, double neutral,
                          RewriterBase &rewriter) {
  Value input = op.getInputs()[0];
  double constant = constantOf(op);
  if (constant == neutral) {
    rewriter.replaceOp(op, input);
    return true;
  }
  ElementwiseOp inner = elementwiseOf(input, op.getKind());
  if (!inner || op.getKind() == Elementwise::power || !isFloat(input))
    return false;
  double both = op.getKind() == Elementwise::scale
                    ? constantOf(inner) * constant
                    : constantOf(inner) + constant;
  replaceByUnary(op, op.getKind(), inner.getInputs()[0], both, rewriter);
  return true;
}

/// mul, div, add and sub by what is one known value everywhere.
static bool cleanBinary(ElementwiseOp op, RewriterBase &rewriter) {
  if (!isFloat(op.getResults()[0]))
    return false;
  for (unsigned side : {0, 1}) {
    Value kept = op.getInputs()[1 - side];
    std::optional<double> known = splatOf(op.getInputs()[side]);
    if (!known || kept.getType() != op.getResults()[0].getType())
      continue;
    switch (op.getKind()) {
    case Elementwise::mul:
      replaceByUnary(op, Elementwise::scale, kept, *known, rewriter);
      return true;
    case Elementwise::add:
      replaceByUnary(op, Elementwise::offset, kept, *known, rewriter);
      return true;
    case Elementwise::sub:
      if (side != 1)
        continue;
      replaceByUnary(op, Elementwise::offset, kept, -*known, rewriter);
      return true;
    case Elementwise::div:
      if (side != 1 || *known == 0)
        continue;
      replaceByUnary(op, Elementwise::scale, kept, 1 / *known, rewriter);
      return true;
    default:
      return false;
    }
  }
  return false;
}

static bool cleanElementwise(ElementwiseOp op, RewriterBase &rewriter) {
  switch (op.getKind()) {
  case Elementwise::cast:
    return cleanCast(op, rewriter);
  case Elementwise::scale:
  case Elementwise::power:
    return cleanConstant(op, 1, rewriter);
  case Elementwise::offset:
    return cleanConstant(op, 0, rewriter);
  case Elementwise::mul:
  case Elementwise::div:
  case Elementwise::add:
  case Elementwise::sub:
    return cleanBinary(op, rewriter);
  default:
    return false;
  }
}

/// A part of a constant, or all of a tensor.
static bool cleanSlice(SliceOp op, RewriterBase &rewriter) {
  if (op.getInput().getType() == op.getResult().getType()) {
    rewriter.replaceOp(op, op.getInput());
    return true;
  }
  auto constant = op.getInput().getDefiningOp<ConstantOp>();
  if (!constant)
    return false;
  rewriter.replaceOpWithNewOp<ConstantOp>(op, op.getResult().getType(),
                                          constant.getValue(), op.getOrigin(),
                                          OpStateAttr());
  return true;
}

bool fuse::cleanUp(Operation *op, RewriterBase &rewriter) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](MoveOp move) { return cleanMove(move, rewriter); })
      .Case([&](DotOp dot) { return foldTransposes(dot, rewriter); })
      .Case([&](SliceOp slice) { return cleanSlice(slice, rewriter); })
      .Case([&](ElementwiseOp elementwise) {
        return cleanElementwise(elementwise, rewriter);
      })
      .Default([](Operation *) { return false; });
}

//===----------------------------------------------------------------------===//
// Projections, biases, losses
//===----------------------------------------------------------------------===//

bool fuse::splitProjection(Operation *op, RewriterBase &rewriter) {
  auto slice = dyn_cast<SliceOp>(op);
  if (!slice || !slice.getInput().getDefiningOp<DotOp>())
    return false;
  unsigned dim = slice.getDim();
  int64_t offset = slice.getOffset();
  RankedTensorType whole = tensorType(slice.getInput()),
                   part = tensorType(slice.getResult());
  int64_t extent = part.getShape()[dim];
  if (extent <= 1 || whole.getShape()[dim] % extent != 0 ||
      offset % extent != 0)
    return false;
  // … (c n) … -> … c n …, the part that `offset` tells, and back to … n ….
  FactorSpace space;
  FactorSpace::Term parts = space.addShape(part.getShape());
  FactorSpace::Term joined = parts, apart = parts;
  FactorSpace::Dim count = space.add(whole.getShape()[dim] / extent);
  joined[dim].insert(joined[dim].begin(), count.front());
  apart.insert(apart.begin() + dim, count);
  Location loc = slice.getLoc();
  Value view =
      fuse::buildMove(rewriter, loc, space, slice.getInput(), joined, apart);
  apart[dim].clear();
  Value one = SliceOp::create(
      rewriter, loc,
      RankedTensorType::get(space.shapeOf(apart), part.getElementType()), view,
      dim, offset / extent, slice.getOrigin(), OpStateAttr());
  rewriter.replaceOp(slice,
                     fuse::buildMove(rewriter, loc, space, one, apart, parts));
  return true;
}

bool fuse::fuseBias(Operation *op, RewriterBase &rewriter) {
  auto add = dyn_cast<ElementwiseOp>(op);
  if (!add || add.getKind() != Elementwise::add)
    return false;
  for (unsigned side : {0, 1}) {
    auto dot = add.getInputs()[side].getDefiningOp<DotOp>();
    Value addend = add.getInputs()[1 - side];
    Value bias = skipUnitMoves(addend);
    if (!dot || dot.getInputs().size() != 2 || !dot->hasOneUse() ||
        dot.getResult().getType() != add.getResults()[0].getType() ||
        !isParameterLike(bias) || tensorType(bias).getRank() != 1)
      continue;
    RankedTensorType type = tensorType(dot.getResult());
    int64_t width = tensorType(bias).getShape()[0];
    // The addend's last dimension is the one that is no unit.
    if (type.getRank() == 0 || type.getShape().back() != width ||
        tensorType(addend).getShape().back() != width)
      continue;
    Rule rule = dot.getEinsum().getValue();
    rule.operands.push_back({rule.results[0].back()});
    rewriter.replaceOpWithNewOp<DotOp>(
        add, type, ValueRange{dot.getInputs()[0], dot.getInputs()[1], bias},
        RuleAttr::get(op->getContext(), Rule(rule)), dot.getOrigin(),
        OpStateAttr());
    return true;
  }
  return false;
}

/// -log(softmax(x))[label].
bool fuse::fuseLoss(Operation *op, RewriterBase &rewriter) {
  auto negated = dyn_cast<ElementwiseOp>(op);
  if (!negated ||
      (negated.getKind() != Elementwise::neg &&
       (negated.getKind() != Elementwise::scale || constantOf(negated) != -1)))
    return false;
  auto pick = negated.getInputs()[0].getDefiningOp<PickOp>();
  ElementwiseOp log =
      pick ? elementwiseOf(pick.getInput(), Elementwise::log) : ElementwiseOp();
  auto softmax =
      log ? log.getInputs()[0].getDefiningOp<SoftmaxOp>() : SoftmaxOp();
  if (!softmax)
    return false;
  Type type = pick.getResult().getType();
  auto loss = CrossEntropyOp::create(rewriter, op->getLoc(), type, type,
                                     softmax.getInput(), pick.getIndices(),
                                     negated.getOrigin(), OpStateAttr());
  rewriter.replaceOp(op, loss.getLoss());
  return true;
}
