//===- Contractions.cpp - Kernels of dot, reduce and attention ------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace dtrain;

/// The factors of any of the terms, without repetition.
static llvm::SmallVector<FactorId>
unionOf(std::initializer_list<llvm::SmallVector<FactorId>> lists) {
  llvm::SmallVector<FactorId> all;
  for (const auto &list : lists)
    llvm::append_range(all, except(list, all));
  return all;
}

void dtrain::runDot(Kernel &k) {
  k.forEach(
      unionOf({k.resultFactors(0), k.operandFactors(0), k.operandFactors(1)}),
      [&](const Point &p) { k.out(0, p) += k.in(0, p) * k.in(1, p); });
  if (k.numOperands() == 3)
    k.forEach(unionOf({k.resultFactors(0), k.operandFactors(2)}),
              [&](const Point &p) { k.out(0, p) += k.in(2, p); });
}

void dtrain::runReduction(Kernel &k, ReductionOp op) {
  bool isMax = op.getKind() == Reduction::max;
  if (isMax)
    k.forEach(k.resultFactors(0), [&](const Point &p) {
      k.out(0, p) = -std::numeric_limits<double>::infinity();
    });
  k.forEach(k.allFactors(), [&](const Point &p) {
    k.out(0, p) =
        isMax ? std::max(k.out(0, p), k.in(0, p)) : k.out(0, p) + k.in(0, p);
  });
}

/// scale * <query, key> at a point of (b g r s t), or minus infinity where the
/// key comes after the query.
static double score(const Kernel &k, unsigned query, unsigned key,
                    const Point &p, bool causal, double scale) {
  if (causal && k.indexOf(k.factor("t"), p) > k.indexOf(k.factor("s"), p))
    return -std::numeric_limits<double>::infinity();
  double sum = 0;
  k.forEach({k.factor("d")}, p,
            [&](const Point &q) { sum += k.in(query, q) * k.in(key, q); });
  return scale * sum;
}

void dtrain::runAttention(Kernel &k, AttentionOp op) {
  double scale = op.getScale().convertToDouble();
  FactorId t = k.factor("t"), e = k.factor("e");
  k.forEach(k.resultFactors(1), [&](const Point &row) {
    llvm::SmallVector<double> scores;
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    k.forEach({t}, row, [&](const Point &p) {
      scores.push_back(score(k, 0, 1, p, op.getCausal(), scale));
      max = std::max(max, scores.back());
    });
    for (double s : scores)
      sum += std::exp(s - max);
    k.out(1, row) = max + std::log(sum);
    k.forEach({t, e}, row, [&](const Point &p) {
      k.out(0, p) +=
          std::exp(scores[p.position[t]] - k.out(1, row)) * k.in(2, p);
    });
  });
}

void dtrain::runAttentionGrad(Kernel &k, AttentionGradOp op) {
  enum { Grad, Query, Key, Value, Output, Lse };
  double scale = op.getScale().convertToDouble();
  FactorId t = k.factor("t"), d = k.factor("d"), e = k.factor("e");
  k.forEach(k.operandFactors(Lse), [&](const Point &row) {
    // The derivative of the softmax subtracts <grad, output> per row.
    double inner = 0;
    k.forEach({e}, row, [&](const Point &p) {
      inner += k.in(Grad, p) * k.in(Output, p);
    });
    k.forEach({t}, row, [&](const Point &p) {
      double weight = std::exp(score(k, Query, Key, p, op.getCausal(), scale) -
                               k.in(Lse, row));
      double gradWeight = 0;
      k.forEach({e}, p, [&](const Point &q) {
        gradWeight += k.in(Grad, q) * k.in(Value, q);
        k.out(2, q) += weight * k.in(Grad, q);
      });
      double gradScore = scale * weight * (gradWeight - inner);
      k.forEach({d}, p, [&](const Point &q) {
        k.out(0, q) += gradScore * k.in(Key, q);
        k.out(1, q) += gradScore * k.in(Query, q);
      });
    });
  });
}
