//===- Normalisations.cpp - Kernels of softmax and normalisation ----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include <cmath>
#include <limits>

using namespace dtrain;

/// The row factors of operand `i` (all but its last) and the last.
static std::pair<llvm::SmallVector<FactorId>, FactorId> rowsOf(const Kernel &k,
                                                               unsigned i) {
  llvm::SmallVector<FactorId> rows = k.operandFactors(i);
  FactorId last = rows.pop_back_val();
  return {rows, last};
}

void dtrain::runSoftmax(Kernel &k) {
  auto [rows, n] = rowsOf(k, 0);
  FactorId last = n;
  k.forEach(rows, [&](const Point &row) {
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    k.forEach({last}, row,
              [&](const Point &p) { max = std::max(max, k.in(0, p)); });
    k.forEach({last}, row,
              [&](const Point &p) { sum += std::exp(k.in(0, p) - max); });
    k.forEach({last}, row, [&](const Point &p) {
      k.out(0, p) = std::exp(k.in(0, p) - max) / sum;
    });
  });
}

void dtrain::runSoftmaxGrad(Kernel &k) {
  auto [rows, n] = rowsOf(k, 0);
  FactorId last = n;
  k.forEach(rows, [&](const Point &row) {
    double inner = 0;
    k.forEach({last}, row,
              [&](const Point &p) { inner += k.in(0, p) * k.in(1, p); });
    k.forEach({last}, row, [&](const Point &p) {
      k.out(0, p) = k.in(1, p) * (k.in(0, p) - inner);
    });
  });
}

void dtrain::runSumExp(Kernel &k) {
  k.forEach(k.operandFactors(0), [&](const Point &p) {
    k.out(0, p) += std::exp(k.in(0, p) - k.in(1, p));
  });
}

namespace {
/// The mean (zero for RMS) of a row of operand `i`, and the reciprocal of its
/// deviation.
struct Statistics {
  double mean = 0, rstd = 0;
};
} // namespace

static Statistics statisticsOf(const Kernel &k, unsigned i, FactorId d,
                               const Point &row, Norm kind, double epsilon) {
  Statistics s;
  double n = k.extent(d), squares = 0;
  if (kind == Norm::layer) {
    k.forEach({d}, row, [&](const Point &p) { s.mean += k.in(i, p); });
    s.mean /= n;
  }
  k.forEach({d}, row, [&](const Point &p) {
    squares += (k.in(i, p) - s.mean) * (k.in(i, p) - s.mean);
  });
  s.rstd = 1 / std::sqrt(squares / n + epsilon);
  return s;
}

void dtrain::runNormalize(Kernel &k, NormalizeOp op) {
  double epsilon = op.getEpsilon().convertToDouble();
  auto [rows, last] = rowsOf(k, 0);
  FactorId d = last;
  k.forEach(rows, [&](const Point &row) {
    Statistics s = statisticsOf(k, 0, d, row, op.getKind(), epsilon);
    k.forEach({d}, row, [&](const Point &p) {
      double bias = op.getBias() ? k.in(2, p) : 0;
      k.out(0, p) = (k.in(0, p) - s.mean) * s.rstd * k.in(1, p) + bias;
    });
  });
}

void dtrain::runNormalizeGrad(Kernel &k, NormalizeGradOp op) {
  enum { Grad, Input, Scale };
  double epsilon = op.getEpsilon().convertToDouble();
  auto [rows, last] = rowsOf(k, Grad);
  FactorId d = last;
  k.forEach(rows, [&](const Point &row) {
    Statistics s = statisticsOf(k, Input, d, row, op.getKind(), epsilon);
    auto normalised = [&](const Point &p) {
      return (k.in(Input, p) - s.mean) * s.rstd;
    };
    // The derivative removes from the scaled gradient its mean (layer only) and
    // its projection on the normalised row.
    double mean = 0, projection = 0, n = k.extent(d);
    k.forEach({d}, row, [&](const Point &p) {
      double scaled = k.in(Grad, p) * k.in(Scale, p);
      if (op.getKind() == Norm::layer)
        mean += scaled / n;
      projection += scaled * normalised(p) / n;
    });
    k.forEach({d}, row, [&](const Point &p) {
      double scaled = k.in(Grad, p) * k.in(Scale, p);
      k.out(0, p) = s.rstd * (scaled - mean - normalised(p) * projection);
      k.out(1, p) += k.in(Grad, p) * normalised(p);
      if (op.getGradBias())
        k.out(2, p) += k.in(Grad, p);
    });
  });
}
