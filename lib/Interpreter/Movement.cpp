//===- Movement.cpp - Kernels that move or generate elements --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

using namespace dtrain;

void dtrain::runMove(Kernel &k) {
  k.forEach(k.resultFactors(0),
            [&](const Point &p) { k.out(0, p) = k.in(0, p); });
}

llvm::Error dtrain::runRotary(Kernel &k, RotaryOp op) {
  FactorId d = k.factor("d"), c = k.factor("c");
  if (llvm::Error error = k.checkWhole({d, c}))
    return error;
  int64_t angles = k.extent(c);
  llvm::SmallVector<FactorId> rows = except(k.operandFactors(0), {d});
  k.forEach(k.resultFactors(0), [&](const Point &p) {
    if (p.position[d] >= 2 * angles)
      k.out(0, p) = k.in(0, p);
  });
  llvm::SmallVector<FactorId> pairs = rows;
  pairs.push_back(c);
  k.forEach(pairs, [&](const Point &p) {
    int64_t i = p.position[c];
    Point first = p, second = p;
    k.advance(first, d, op.getInterleaved() ? 2 * i : i);
    k.advance(second, d, op.getInterleaved() ? 2 * i + 1 : i + angles);
    double x = k.in(0, first), y = k.in(0, second);
    double cos = k.in(1, p), sin = op.getInverse() ? -k.in(2, p) : k.in(2, p);
    k.out(0, first) = x * cos - y * sin;
    k.out(0, second) = x * sin + y * cos;
  });
  return llvm::Error::success();
}

/// Copies operand `i` to the result, or the result from the operand, where the
/// dimension `dim` of the larger is `offset` ahead of the smaller's.
static llvm::Error copyShifted(Kernel &k, unsigned i, unsigned dim,
                               int64_t offset) {
  FactorId from = k.rule().operands[i][dim].factors.front();
  FactorId to = k.rule().results[0][dim].factors.front();
  if (llvm::Error error = k.checkWhole({from, to}))
    return error;
  FactorId part = k.extent(from) < k.extent(to) ? from : to;
  k.forEach(except(k.operandFactors(i), {from}), [&](const Point &row) {
    for (int64_t n = 0; n < k.extent(part); ++n) {
      Point p = row;
      k.advance(p, from, part == from ? n : n + offset);
      k.advance(p, to, part == to ? n : n + offset);
      k.out(0, p) = k.in(i, p);
    }
  });
  return llvm::Error::success();
}

llvm::Error dtrain::runConcat(Kernel &k, ConcatOp op) {
  unsigned dim = op.getDim();
  int64_t offset = 0;
  for (unsigned i = 0; i < k.numOperands(); ++i) {
    if (llvm::Error error = copyShifted(k, i, dim, offset))
      return error;
    offset += k.operand(i).getShape()[dim];
  }
  return llvm::Error::success();
}
llvm::Error dtrain::runSlice(Kernel &k, SliceOp op) {
  return copyShifted(k, 0, op.getDim(), op.getOffset());
}
llvm::Error dtrain::runPad(Kernel &k, PadOp op) {
  return copyShifted(k, 0, op.getDim(), op.getOffset());
}

void dtrain::runConstant(Kernel &k, ConstantOp op) {
  double value = op.getValue().convertToDouble();
  k.forEach(k.resultFactors(0), [&](const Point &p) { k.out(0, p) = value; });
}

void dtrain::runIota(Kernel &k, IotaOp op) {
  FactorId f = k.rule().results[0][op.getDim()].factors.front();
  k.forEach(k.resultFactors(0), [&](const Point &p) {
    k.out(0, p) = static_cast<double>(k.indexOf(f, p));
  });
}
