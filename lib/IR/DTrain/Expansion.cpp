//===- Expansion.cpp - Ops in place of those with statistics --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The promise of `stat`: the same results by ops that may split the factor, at
/// the price of reductions of their statistics (maxima, sums) over the devices
/// that share it.
///
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/DTrain.h"
#include <limits>

using namespace mlir;
using namespace dtrain;

namespace {
/// Statistics over the last dimension of tensors of one shape. A statistic has
/// all dimensions but that.
class Rows {
public:
  Rows(OpBuilder &b, Location loc, Value like) : b(b), loc(loc) {
    ArrayRef<int64_t> shape = tensorType(like).getShape();
    rowShape.assign(shape.begin(), std::prev(shape.end()));
    extent = static_cast<double>(shape.back());
    for (unsigned d = 0; d < rowShape.size(); ++d)
      term += "d" + std::to_string(d) + " ";
  }

  Value make(Elementwise kind, ValueRange operands,
             std::optional<double> constant = std::nullopt, Type element = {}) {
    return buildElementwise(b, loc, kind, operands, constant, element);
  }
  Value reduce(Reduction kind, Value v, Type element = {}) {
    return buildReduce(b, loc, kind,
                       term + "n -> " + (term.empty() ? "()" : term), v,
                       element);
  }
  Value sum(Value v) { return reduce(Reduction::sum, v); }
  Value mean(Value v) { return make(Elementwise::scale, sum(v), 1 / extent); }
  /// The sum over all rows: what scales and biases are to a normalisation.
  Value sumOfRows(Value v, Type element) {
    return buildReduce(b, loc, Reduction::sum, term + "n -> n", v, element);
  }
  /// A statistic as an elementwise op broadcasts it along its row.
  Value spread(Value statistic) {
    SmallVector<int64_t> shape(rowShape);
    shape.push_back(1);
    return buildMove(b, loc, (term.empty() ? "() " : term) + "-> " + term + "1",
                     statistic, shape);
  }

private:
  OpBuilder &b;
  Location loc;
  SmallVector<int64_t> rowShape;
  double extent;
  std::string term;
};

/// A row less its mean (layer only), and one over its deviation.
struct Normalised {
  Value centred, rstd;
};
} // namespace

static Type elementOf(Value value) {
  return tensorType(value).getElementType();
}

static Normalised normalise(Rows &rows, Value x, Norm kind, double epsilon) {
  if (kind == Norm::layer)
    x = rows.make(Elementwise::sub, {x, rows.spread(rows.mean(x))});
  Value variance = rows.mean(rows.make(Elementwise::mul, {x, x}));
  Value rstd = rows.make(Elementwise::rsqrt,
                         rows.make(Elementwise::offset, variance, epsilon));
  return {x, rows.spread(rstd)};
}

LogicalResult NormalizeOp::expand(OpBuilder &b,
                                  SmallVectorImpl<Value> &results) {
  Rows rows(b, getLoc(), getInput());
  Normalised n =
      normalise(rows, getInput(), getKind(), getEpsilon().convertToDouble());
  Type element = elementOf(getResult());
  Value y = rows.make(Elementwise::mul, {n.centred, n.rstd});
  y = rows.make(Elementwise::mul, {y, getScale()}, std::nullopt, element);
  if (getBias())
    y = rows.make(Elementwise::add, {y, getBias()}, std::nullopt, element);
  results.push_back(y);
  return success();
}

LogicalResult NormalizeGradOp::expand(OpBuilder &b,
                                      SmallVectorImpl<Value> &results) {
  Rows rows(b, getLoc(), getInput());
  Normalised n =
      normalise(rows, getInput(), getKind(), getEpsilon().convertToDouble());
  Value normal = rows.make(Elementwise::mul, {n.centred, n.rstd});
  // The derivative removes from the scaled gradient its mean (layer only) and
  // its projection on the normalised row.
  Value scaled = rows.make(Elementwise::mul, {getGrad(), getScale()});
  Value projection =
      rows.spread(rows.mean(rows.make(Elementwise::mul, {scaled, normal})));
  Value rest = scaled;
  if (getKind() == Norm::layer)
    rest = rows.make(Elementwise::sub, {rest, rows.spread(rows.mean(scaled))});
  rest = rows.make(Elementwise::sub,
                   {rest, rows.make(Elementwise::mul, {normal, projection})});
  results.push_back(rows.make(Elementwise::mul, {rest, n.rstd}, std::nullopt,
                              elementOf(getGradInput())));
  results.push_back(
      rows.sumOfRows(rows.make(Elementwise::mul, {getGrad(), normal}),
                     elementOf(getGradScale())));
  if (getGradBias())
    results.push_back(rows.sumOfRows(getGrad(), elementOf(getGradBias())));
  return success();
}

LogicalResult SoftmaxOp::expand(OpBuilder &b, SmallVectorImpl<Value> &results) {
  Rows rows(b, getLoc(), getInput());
  Value max = rows.spread(rows.reduce(Reduction::max, getInput()));
  Value exps = rows.make(Elementwise::exp,
                         rows.make(Elementwise::sub, {getInput(), max}));
  results.push_back(rows.make(Elementwise::div,
                              {exps, rows.spread(rows.sum(exps))}, std::nullopt,
                              elementOf(getResult())));
  return success();
}

LogicalResult SoftmaxGradOp::expand(OpBuilder &b,
                                    SmallVectorImpl<Value> &results) {
  Rows rows(b, getLoc(), getGrad());
  Value inner = rows.spread(
      rows.sum(rows.make(Elementwise::mul, {getGrad(), getOutput()})));
  Value rest = rows.make(Elementwise::sub, {getGrad(), inner});
  results.push_back(rows.make(Elementwise::mul, {rest, getOutput()},
                              std::nullopt, elementOf(getResult())));
  return success();
}

namespace {
/// Of each row: the maximum and the sum of the exponentials above it, each a
/// reduction of its own.
struct Exponentials {
  Value max, sum;
  Value logOfSum(Rows &rows) const {
    return rows.make(Elementwise::add, {rows.make(Elementwise::log, sum), max});
  }
};
} // namespace

static Exponentials sumExponentials(OpBuilder &b, Location loc, Rows &rows,
                                    Value x, Type element) {
  Value max = rows.reduce(Reduction::max, x, element);
  Value sum = SumExpOp::create(b, loc, cast<RankedTensorType>(max.getType()), x,
                               max, Origin::forward, OpStateAttr());
  return {max, sum};
}

/// The label's logit becomes a masked pick.
LogicalResult CrossEntropyOp::expand(OpBuilder &b,
                                     SmallVectorImpl<Value> &results) {
  Rows rows(b, getLoc(), getLogits());
  Exponentials exps =
      sumExponentials(b, getLoc(), rows, getLogits(), elementOf(getLoss()));
  Value picked =
      PickOp::create(b, getLoc(), cast<RankedTensorType>(exps.max.getType()),
                     getLogits(), getLabels(), Origin::forward, OpStateAttr());
  Value lse = exps.logOfSum(rows);
  results.push_back(rows.make(Elementwise::sub, {lse, picked}));
  results.push_back(lse);
  return success();
}

/// The scores are written; keys that a query does not see weigh nothing.
LogicalResult AttentionOp::expand(OpBuilder &b,
                                  SmallVectorImpl<Value> &results) {
  RankedTensorType query = tensorType(getQuery()), lse = tensorType(getLse());
  int64_t keys = tensorType(getKey()).getDimSize(2);
  auto dot = [&](StringRef rule, Value x, Value y, RankedTensorType type) {
    return DotOp::create(b, getLoc(), type, ValueRange{x, y},
                         RuleAttr::get(getContext(), parseRuleOrDie(rule)),
                         Origin::forward, OpStateAttr());
  };
  SmallVector<int64_t> shape(lse.getShape());
  shape.push_back(keys);
  Value scores = dot("b g r s d, b g t d -> b g r s t", getQuery(), getKey(),
                     RankedTensorType::get(shape, lse.getElementType()));
  Rows rows(b, getLoc(), scores);
  scores = rows.make(Elementwise::scale, scores, getScale().convertToDouble());
  if (getCausal()) {
    auto indices =
        RankedTensorType::get({query.getDimSize(3), keys}, b.getI64Type());
    auto iota = [&](int64_t dim) {
      return IotaOp::create(b, getLoc(), indices, dim, Origin::forward,
                            OpStateAttr());
    };
    Value isSeen = rows.make(Elementwise::less_equal, {iota(1), iota(0)},
                             std::nullopt, b.getI1Type());
    Value unseen =
        buildConstant(b, getLoc(), -std::numeric_limits<double>::infinity(),
                      RankedTensorType::get({}, lse.getElementType()));
    scores = rows.make(Elementwise::where, {isSeen, scores, unseen});
  }
  Value sum = sumExponentials(b, getLoc(), rows, scores, lse.getElementType())
                  .logOfSum(rows);
  Value weights = rows.make(
      Elementwise::exp, rows.make(Elementwise::sub, {scores, rows.spread(sum)}),
      std::nullopt, elementOf(getValue()));
  results.push_back(dot("b g r s t, b g t e -> b g r s e", weights, getValue(),
                        tensorType(getOutput())));
  results.push_back(sum);
  return success();
}
