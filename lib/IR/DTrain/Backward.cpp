//===- Backward.cpp - The backward of each op -----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Backward as ops of the dialect. For linear ops it follows from the rule: the
/// terms of a contraction are swapped, a move goes the other way, and what an
/// operand was broadcast along is summed.
///
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/DTrain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dtrain;

static Type elementOf(Value value) {
  return tensorType(value).getElementType();
}

//===----------------------------------------------------------------------===//
// Rules of backward ops
//===----------------------------------------------------------------------===//

/// A term as rule text.
static std::string textOf(const Rule &rule, const RuleTerm &term) {
  if (term.empty())
    return "()";
  return llvm::join(
      llvm::map_range(term,
                      [&](const RuleDim &dim) -> std::string {
                        if (dim.factors.empty())
                          return "1";
                        std::string names = llvm::join(
                            llvm::map_range(dim.factors,
                                            [&](FactorId f) -> StringRef {
                                              return rule.factors[f].name;
                                            }),
                            " ");
                        return dim.factors.size() == 1 ? names
                                                       : "(" + names + ")";
                      }),
      " ");
}

static RuleAttr ruleOver(MLIRContext *context, const Rule &rule,
                         ArrayRef<RuleTerm> operands, const RuleTerm &result) {
  std::string text = llvm::join(
      llvm::map_range(operands,
                      [&](const RuleTerm &term) { return textOf(rule, term); }),
      ", ");
  return RuleAttr::get(context,
                       parseRuleOrDie(text + " -> " + textOf(rule, result)));
}

/// The factors of `term` for which `pick` holds, one dimension each.
static RuleTerm factorsOf(const RuleTerm &term,
                          llvm::function_ref<bool(FactorId)> pick) {
  RuleTerm picked;
  for (const RuleDim &dim : term)
    for (FactorId f : dim.factors)
      if (pick(f))
        picked.push_back(RuleDim{{f}});
  return picked;
}

static bool covers(const RuleTerm &term, const RuleTerm &of) {
  return factorsOf(of, [&](FactorId f) { return !Rule::dimOf(term, f); })
      .empty();
}

static Value buildMoveOver(OpBuilder &b, Location loc, const BoundRule &bound,
                           const RuleTerm &from, const RuleTerm &to,
                           Value value) {
  if (from == to)
    return value;
  return MoveOp::create(
      b, loc, RankedTensorType::get(bound.shapeOf(to), elementOf(value)), value,
      ruleOver(b.getContext(), bound.rule, from, to), Origin::forward,
      OpStateAttr());
}

/// `value`, indexed by the term `from`, in the form of the term `to`: summed
/// over the factors that `to` lacks, constant along those that `from` lacks.
/// Sums take the element type `element`.
static Value project(OpBuilder &b, Location loc, const BoundRule &bound,
                     const RuleTerm &from, const RuleTerm &to, Value value,
                     Type element) {
  if (covers(to, from))
    return buildMoveOver(b, loc, bound, from, to, value);
  RuleTerm kept = covers(from, to) ? to : factorsOf(from, [&](FactorId f) {
    return Rule::dimOf(to, f).has_value();
  });
  Value sum = ReductionOp::create(
      b, loc, RankedTensorType::get(bound.shapeOf(kept), element),
      Reduction::sum, value, ruleOver(b.getContext(), bound.rule, from, kept),
      Origin::forward, OpStateAttr());
  return buildMoveOver(b, loc, bound, kept, to, sum);
}

static Value buildZero(OpBuilder &b, Location loc, Type element) {
  return buildConstant(b, loc, 0.0, RankedTensorType::get({}, element));
}

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

LogicalResult DotOp::buildBackward(OpBuilder &b, ArrayRef<Value> resultGrads,
                                   ArrayRef<bool> wanted,
                                   SmallVectorImpl<Value> &operandGrads) {
  Value grad = resultGrads.front();
  BoundRule bound = getBoundRule();
  const Rule &rule = bound.rule;
  const RuleTerm &result = rule.results.front();
  operandGrads.assign(getInputs().size(), Value());
  for (unsigned i : {0u, 1u}) {
    if (!wanted[i])
      continue;
    const RuleTerm &term = rule.operands[i], &other = rule.operands[1 - i];
    auto known = [&](FactorId f) {
      return Rule::dimOf(result, f) || Rule::dimOf(other, f);
    };
    // A factor of this operand alone was summed, so the gradient is constant
    // along it.
    RuleTerm direct =
        factorsOf(term, [&](FactorId f) { return !known(f); }).empty()
            ? term
            : factorsOf(term, known);
    SmallVector<Value, 2> values = {grad, getInputs()[1]};
    SmallVector<RuleTerm, 2> terms = {result, other};
    if (i == 1) {
      values = {getInputs()[0], grad};
      terms = {other, result};
    }
    Value product = DotOp::create(
        b, getLoc(),
        RankedTensorType::get(bound.shapeOf(direct), elementOf(getInputs()[i])),
        values, ruleOver(b.getContext(), rule, terms, direct), Origin::forward,
        OpStateAttr());
    operandGrads[i] = buildMoveOver(b, getLoc(), bound, direct, term, product);
  }
  if (getInputs().size() == 3 && wanted[2])
    operandGrads[2] = project(b, getLoc(), bound, result, rule.operands[2],
                              grad, elementOf(getInputs()[2]));
  return success();
}

LogicalResult AttentionOp::buildBackward(OpBuilder &b,
                                         ArrayRef<Value> resultGrads,
                                         ArrayRef<bool> wanted,
                                         SmallVectorImpl<Value> &operandGrads) {
  if (resultGrads[1])
    return emitOpError("has no gradient through its log of the sum of "
                       "exponentials");
  auto op = AttentionGradOp::create(
      b, getLoc(), getQuery().getType(), getKey().getType(),
      getValue().getType(), resultGrads[0], getQuery(), getKey(), getValue(),
      getOutput(), getLse(), getCausal(), getScale(), Origin::forward,
      OpStateAttr());
  for (auto [want, grad] : llvm::zip_equal(wanted, op->getResults()))
    operandGrads.push_back(want ? Value(grad) : Value());
  return success();
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

namespace {
/// The gradients of an elementwise op before broadcasting is undone.
class ElementwiseBackward {
public:
  ElementwiseBackward(OpBuilder &b, ElementwiseOp op, Value grad,
                      ArrayRef<bool> wanted)
      : b(b), op(op), grad(grad), wanted(wanted) {}

  /// Null where the kind has no backward or the operand none.
  FailureOr<SmallVector<Value>> build();

private:
  Value make(Elementwise kind, ValueRange operands,
             std::optional<double> constant = std::nullopt) {
    return buildElementwise(b, op.getLoc(), kind, operands, constant);
  }
  Value compare(Elementwise kind, Value x, Value y) {
    return buildElementwise(b, op.getLoc(), kind, {x, y}, std::nullopt,
                            b.getI1Type());
  }
  Value in(unsigned i) { return op.getInputs()[i]; }
  Value out() { return op.getResults().front(); }
  double constant() { return op.getConstant()->convertToDouble(); }

  FailureOr<SmallVector<Value>> buildUnary();
  SmallVector<Value> buildChoice(Value condition, unsigned first);

  OpBuilder &b;
  ElementwiseOp op;
  Value grad;
  ArrayRef<bool> wanted;
};
} // namespace

FailureOr<SmallVector<Value>> ElementwiseBackward::buildUnary() {
  auto one = [](Value v) { return SmallVector<Value>{v}; };
  switch (op.getKind()) {
  case Elementwise::neg:
    return one(make(Elementwise::neg, grad));
  case Elementwise::exp:
    return one(make(Elementwise::mul, {grad, out()}));
  case Elementwise::log:
    return one(make(Elementwise::div, {grad, in(0)}));
  case Elementwise::sqrt:
    return one(
        make(Elementwise::scale, make(Elementwise::div, {grad, out()}), 0.5));
  case Elementwise::rsqrt: // y = x^(-1/2), y' = -y / 2x
    return one(make(
        Elementwise::scale,
        make(Elementwise::mul, {grad, make(Elementwise::div, {out(), in(0)})}),
        -0.5));
  case Elementwise::reciprocal: // y' = -y^2
    return one(make(Elementwise::neg,
                    make(Elementwise::mul,
                         {grad, make(Elementwise::mul, {out(), out()})})));
  case Elementwise::relu:
    return one(make(Elementwise::relu_grad, {grad, out()}));
  case Elementwise::tanh:
    return one(make(Elementwise::tanh_grad, {grad, out()}));
  case Elementwise::sigmoid:
    return one(make(Elementwise::sigmoid_grad, {grad, out()}));
  case Elementwise::erf:
    return one(make(Elementwise::erf_grad, {grad, in(0)}));
  case Elementwise::gelu:
    return one(make(Elementwise::gelu_grad, {grad, in(0)}));
  case Elementwise::gelu_tanh:
    return one(make(Elementwise::gelu_tanh_grad, {grad, in(0)}));
  case Elementwise::silu:
    return one(make(Elementwise::silu_grad, {grad, in(0)}));
  case Elementwise::power:
    return one(make(Elementwise::power_grad, {grad, in(0)}, constant()));
  case Elementwise::scale:
    return one(make(Elementwise::scale, grad, constant()));
  case Elementwise::cast:
  case Elementwise::offset:
    return one(grad);
  default:
    return failure();
  }
}

/// The gradient goes to operand `first` where the condition holds and to the
/// next one elsewhere.
SmallVector<Value> ElementwiseBackward::buildChoice(Value condition,
                                                    unsigned first) {
  SmallVector<Value> grads(first + 2);
  Value zero = buildZero(b, op.getLoc(), elementOf(grad));
  if (wanted[first])
    grads[first] = make(Elementwise::where, {condition, grad, zero});
  if (wanted[first + 1])
    grads[first + 1] = make(Elementwise::where, {condition, zero, grad});
  return grads;
}

FailureOr<SmallVector<Value>> ElementwiseBackward::build() {
  if (arityOf(op.getKind()) == 1)
    return buildUnary();
  auto two = [&](llvm::function_ref<Value()> first,
                 llvm::function_ref<Value()> second) {
    return SmallVector<Value>{wanted[0] ? first() : Value(),
                              wanted[1] ? second() : Value()};
  };
  auto same = [&] { return grad; };
  switch (op.getKind()) {
  case Elementwise::add:
    return two(same, same);
  case Elementwise::sub:
    return two(same, [&] { return make(Elementwise::neg, grad); });
  case Elementwise::mul:
    return two([&] { return make(Elementwise::mul, {grad, in(1)}); },
               [&] { return make(Elementwise::mul, {grad, in(0)}); });
  case Elementwise::div: // y = x / z, dy/dz = -y / z
    return two([&] { return make(Elementwise::div, {grad, in(1)}); },
               [&] {
                 Value slope = make(Elementwise::div, {out(), in(1)});
                 return make(Elementwise::neg,
                             make(Elementwise::mul, {grad, slope}));
               });
  case Elementwise::max:
    return buildChoice(compare(Elementwise::less_equal, in(1), in(0)), 0);
  case Elementwise::min:
    return buildChoice(compare(Elementwise::less_equal, in(0), in(1)), 0);
  case Elementwise::where:
    return buildChoice(in(0), 1);
  case Elementwise::swiglu: {
    auto type = cast<RankedTensorType>(out().getType());
    auto both = ElementwiseOp::create(
        b, op.getLoc(), TypeRange{type, type}, Elementwise::swiglu_grad,
        ValueRange{grad, in(0), in(1)}, FloatAttr(), Origin::forward,
        OpStateAttr());
    return two([&] { return both.getResults()[0]; },
               [&] { return both.getResults()[1]; });
  }
  default:
    return failure();
  }
}

LogicalResult
ElementwiseOp::buildBackward(OpBuilder &b, ArrayRef<Value> resultGrads,
                             ArrayRef<bool> wanted,
                             SmallVectorImpl<Value> &operandGrads) {
  FailureOr<SmallVector<Value>> grads =
      ElementwiseBackward(b, *this, resultGrads.front(), wanted).build();
  if (failed(grads))
    return emitOpError("'")
           << stringifyElementwise(getKind()) << "' has no backward";
  BoundRule bound = getBoundRule();
  const RuleTerm &result = bound.rule.results.front();
  for (auto [i, grad] : llvm::enumerate(*grads)) {
    if (!wanted[i] || !grad) {
      operandGrads.emplace_back();
      continue;
    }
    Type element = elementOf(getInputs()[i]);
    Value own = project(b, getLoc(), bound, result, bound.rule.operands[i],
                        grad, element);
    if (elementOf(own) != element)
      own = buildElementwise(b, getLoc(), Elementwise::cast, own, std::nullopt,
                             element);
    operandGrads.push_back(own);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions and normalisations
//===----------------------------------------------------------------------===//

LogicalResult ReductionOp::buildBackward(OpBuilder &b,
                                         ArrayRef<Value> resultGrads,
                                         ArrayRef<bool>,
                                         SmallVectorImpl<Value> &operandGrads) {
  BoundRule bound = getBoundRule();
  const RuleTerm &from = bound.rule.results.front(),
                 &to = bound.rule.operands.front();
  auto spread = [&](Value v) {
    return project(b, getLoc(), bound, from, to, v, elementOf(v));
  };
  Value grad = spread(resultGrads.front());
  if (getKind() == Reduction::max) {
    // To the largest elements.
    Value largest = buildElementwise(b, getLoc(), Elementwise::equal,
                                     {getInput(), spread(getResult())},
                                     std::nullopt, b.getI1Type());
    grad = buildElementwise(
        b, getLoc(), Elementwise::where,
        {largest, grad, buildZero(b, getLoc(), elementOf(grad))});
  }
  operandGrads.push_back(grad);
  return success();
}

LogicalResult SoftmaxOp::buildBackward(OpBuilder &b,
                                       ArrayRef<Value> resultGrads,
                                       ArrayRef<bool>,
                                       SmallVectorImpl<Value> &operandGrads) {
  operandGrads.push_back(SoftmaxGradOp::create(
      b, getLoc(), getInput().getType(), resultGrads.front(), getResult(),
      Origin::forward, OpStateAttr()));
  return success();
}

LogicalResult NormalizeOp::buildBackward(OpBuilder &b,
                                         ArrayRef<Value> resultGrads,
                                         ArrayRef<bool> wanted,
                                         SmallVectorImpl<Value> &operandGrads) {
  auto op = NormalizeGradOp::create(
      b, getLoc(), getInput().getType(), getScale().getType(),
      getBias() ? getBias().getType() : Type(), getKind(), resultGrads.front(),
      getInput(), getScale(), getEpsilon(), Origin::forward, OpStateAttr());
  for (auto [want, grad] : llvm::zip_equal(wanted, op->getResults()))
    operandGrads.push_back(want ? Value(grad) : Value());
  return success();
}

LogicalResult RotaryOp::buildBackward(OpBuilder &b, ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> wanted,
                                      SmallVectorImpl<Value> &operandGrads) {
  if (wanted[1] || wanted[2])
    return emitOpError("has no gradient in its tables");
  Value grad =
      RotaryOp::create(b, getLoc(), getInput().getType(), resultGrads.front(),
                       getCos(), getSin(), getInterleaved(), !getInverse(),
                       Origin::forward, OpStateAttr());
  operandGrads.assign({grad, Value(), Value()});
  return success();
}

//===----------------------------------------------------------------------===//
// Lookup and loss
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::buildBackward(OpBuilder &b, ArrayRef<Value> resultGrads,
                                      ArrayRef<bool>,
                                      SmallVectorImpl<Value> &operandGrads) {
  Value grad =
      ScatterAddOp::create(b, getLoc(), getTable().getType(), getIndices(),
                           resultGrads.front(), Origin::forward, OpStateAttr());
  operandGrads.assign({Value(), grad});
  return success();
}

LogicalResult
CrossEntropyOp::buildBackward(OpBuilder &b, ArrayRef<Value> resultGrads,
                              ArrayRef<bool>,
                              SmallVectorImpl<Value> &operandGrads) {
  if (resultGrads[1])
    return emitOpError("has no gradient through its log of the sum of "
                       "exponentials");
  Value grad = CrossEntropyGradOp::create(
      b, getLoc(), getLogits().getType(), resultGrads[0], getLogits(),
      getLabels(), getLse(), Origin::forward, OpStateAttr());
  operandGrads.assign({grad, Value()});
  return success();
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

LogicalResult MoveOp::buildBackward(OpBuilder &b, ArrayRef<Value> resultGrads,
                                    ArrayRef<bool>,
                                    SmallVectorImpl<Value> &operandGrads) {
  BoundRule bound = getBoundRule();
  Value grad = resultGrads.front();
  operandGrads.push_back(project(b, getLoc(), bound, bound.rule.results.front(),
                                 bound.rule.operands.front(), grad,
                                 elementOf(grad)));
  return success();
}

/// The part of `grad` along `dim` that has the shape of `part`.
static Value buildSliceLike(OpBuilder &b, Location loc, Value grad, Value part,
                            int64_t dim, int64_t offset) {
  return SliceOp::create(
      b, loc,
      RankedTensorType::get(tensorType(part).getShape(), elementOf(grad)), grad,
      dim, offset, Origin::forward, OpStateAttr());
}

LogicalResult ConcatOp::buildBackward(OpBuilder &b, ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> wanted,
                                      SmallVectorImpl<Value> &operandGrads) {
  int64_t offset = 0, dim = getDim();
  for (auto [want, part] : llvm::zip_equal(wanted, getInputs())) {
    operandGrads.push_back(want ? buildSliceLike(b, getLoc(),
                                                 resultGrads.front(), part, dim,
                                                 offset)
                                : Value());
    offset += tensorType(part).getShape()[dim];
  }
  return success();
}

LogicalResult SliceOp::buildBackward(OpBuilder &b, ArrayRef<Value> resultGrads,
                                     ArrayRef<bool>,
                                     SmallVectorImpl<Value> &operandGrads) {
  Value grad = resultGrads.front();
  operandGrads.push_back(PadOp::create(
      b, getLoc(),
      RankedTensorType::get(tensorType(getInput()).getShape(), elementOf(grad)),
      grad, getDim(), getOffset(), Origin::forward, OpStateAttr()));
  return success();
}

LogicalResult PadOp::buildBackward(OpBuilder &b, ArrayRef<Value> resultGrads,
                                   ArrayRef<bool>,
                                   SmallVectorImpl<Value> &operandGrads) {
  operandGrads.push_back(buildSliceLike(b, getLoc(), resultGrads.front(),
                                        getInput(), getDim(), getOffset()));
  return success();
}
