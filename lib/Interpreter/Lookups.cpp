//===- Lookups.cpp - Kernels that read by index, and the loss -------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A device that holds a part of the table answers for the indices in its part
// and contributes zero for the others.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include <cmath>
#include <limits>

using namespace dtrain;

/// Visits the points of `factors`; where the index in operand `indices` is in
/// the local part of `table`, `body` gets the point moved to it. Stops at the
/// first index that is out of range.
template <typename Body>
static llvm::Error forEachFound(Kernel &k, llvm::ArrayRef<FactorId> factors,
                                unsigned indices, FactorId table, Body body) {
  llvm::Error error = llvm::Error::success();
  bool failed = false;
  k.forEach(factors, [&](const Point &p) {
    if (failed)
      return;
    llvm::Expected<std::optional<int64_t>> row =
        k.locate(table, k.in(indices, p));
    if (!row) {
      failed = true;
      error = llvm::joinErrors(std::move(error), row.takeError());
    } else if (*row) {
      Point found = p;
      k.advance(found, table, **row);
      body(static_cast<const Point &>(found));
    }
  });
  return error;
}

llvm::Error dtrain::runGather(Kernel &k) {
  return forEachFound(k, k.resultFactors(0), 0, k.factor("v"),
                      [&](const Point &p) { k.out(0, p) = k.in(1, p); });
}

llvm::Error dtrain::runScatterAdd(Kernel &k) {
  return forEachFound(k, k.operandFactors(1), 0, k.factor("v"),
                      [&](const Point &p) { k.out(0, p) += k.in(1, p); });
}

llvm::Error dtrain::runPick(Kernel &k) {
  return forEachFound(k, k.operandFactors(1), 1, k.factor("v"),
                      [&](const Point &p) { k.out(0, p) = k.in(0, p); });
}

llvm::Error dtrain::runCrossEntropy(Kernel &k) {
  FactorId v = k.factor("v");
  llvm::SmallVector<FactorId> rows = k.operandFactors(1);
  k.forEach(rows, [&](const Point &row) {
    double max = -std::numeric_limits<double>::infinity(), sum = 0;
    k.forEach({v}, row,
              [&](const Point &p) { max = std::max(max, k.in(0, p)); });
    k.forEach({v}, row,
              [&](const Point &p) { sum += std::exp(k.in(0, p) - max); });
    k.out(1, row) = max + std::log(sum);
  });
  return forEachFound(k, rows, 1, v, [&](const Point &p) {
    k.out(0, p) = k.out(1, p) - k.in(0, p);
  });
}

llvm::Error dtrain::runCrossEntropyGrad(Kernel &k) {
  enum { Grad, Logits, Labels, Lse };
  k.forEach(k.operandFactors(Logits), [&](const Point &p) {
    k.out(0, p) = k.in(Grad, p) * std::exp(k.in(Logits, p) - k.in(Lse, p));
  });
  return forEachFound(k, k.operandFactors(Labels), Labels, k.factor("v"),
                      [&](const Point &p) { k.out(0, p) -= k.in(Grad, p); });
}
