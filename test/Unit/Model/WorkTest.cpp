//===- WorkTest.cpp - Hardware-independent work of an op ------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Work.h"
#include "OpTable.h"
#include "gtest/gtest.h"

using namespace dtrain;
using namespace dtrain::test;

namespace {

BoundRule entryNamed(llvm::StringRef name) {
  for (const OpTableEntry &entry : opTable())
    if (name == entry.name)
      return bindEntry(entry);
  ADD_FAILURE() << "no entry " << name.str();
  return {};
}

OpAxisState splitOf(const BoundRule &bound, llvm::StringRef name,
                    int64_t stride) {
  return OpAxisState::split(*bound.rule.find(name), stride);
}

TEST(Work, DotDividesByItsAxes) {
  // b m k = 4 12 24, b k n = 4 24 8, in two-byte elements.
  BoundRule dot = entryNamed("dot");
  OpState state{splitOf(dot, "b", 2), splitOf(dot, "n", 2),
                OpAxisState::replicated(), OpAxisState::pinned({1}),
                OpAxisState::linear(0)};
  Work work = workOf(dot, {2, 2}, {2}, state);
  EXPECT_EQ(work.replicated, 0b10100u);
  EXPECT_EQ(work.total(work.contract), 2. * 4 * 12 * 24 * 8);
  EXPECT_EQ(work.total(work.flops), work.total(work.contract));
  EXPECT_EQ(work.total(work.read), 2. * (4 * 12 * 24 + 4 * 24 * 8));
  EXPECT_EQ(work.total(work.written), 2. * 4 * 12 * 8);
  llvm::SmallVector<int64_t> degrees{2, 4, 8, 2, 2};
  EXPECT_EQ(work.local(work.contract, degrees), 2. * 2 * 12 * 24 * 2);
  EXPECT_EQ(work.local(work.read, degrees), 2. * (2 * 12 * 24 + 2 * 24 * 2));
  EXPECT_EQ(work.local(work.written, degrees), 2. * 2 * 12 * 2);
  // Re-priced for degrees that divide unevenly: ceil for the busiest, exact
  // for the mean.
  degrees = {3, 3, 1, 1, 1};
  EXPECT_EQ(work.local(work.contract, degrees), 2. * 2 * 12 * 24 * 3);
  EXPECT_DOUBLE_EQ(work.mean(work.contract, degrees), 2. * 4 * 12 * 24 * 8 / 9);
  // Degree 1 is the whole.
  EXPECT_EQ(work.local(work.contract, {1, 1, 1, 1, 1}),
            work.total(work.contract));
}

TEST(Work, TwoAxesOnOneFactor) {
  BoundRule dot = entryNamed("dot");
  Work work =
      workOf(dot, {2, 2}, {2}, {splitOf(dot, "k", 12), splitOf(dot, "k", 6)});
  EXPECT_EQ(work.factors[*dot.rule.find("k")].axes, 0b11u);
  EXPECT_EQ(work.local(work.contract, {2, 2}), 2. * 4 * 12 * 6 * 8);
  EXPECT_EQ(work.local(work.written, {2, 2}), 2. * 4 * 12 * 8)
      << "every device writes its partial result";
}

TEST(Work, GemmShapes) {
  BoundRule dot = entryNamed("dot");
  Work work = workOf(dot, {2, 2}, {2}, {splitOf(dot, "n", 4)});
  GemmShape shape = work.gemm({2});
  EXPECT_EQ(shape.batch, 4);
  EXPECT_EQ(shape.m, 12);
  EXPECT_EQ(shape.n, 4);
  EXPECT_EQ(shape.k, 24);

  // Convolution: m = b x, n = o, k = c k, batch = g; u only strides.
  BoundRule conv = entryNamed("conv 1-d");
  shape = workOf(conv, {2, 2}, {2}, {}).gemm({});
  EXPECT_EQ(shape.batch, 2);
  EXPECT_EQ(shape.m, 4 * 16);
  EXPECT_EQ(shape.n, 4);
  EXPECT_EQ(shape.k, 6 * 3);

  // Its weight gradient: the taps are rows of the result.
  BoundRule weight = entryNamed("conv weight gradient");
  Work gradient = workOf(weight, {2, 2}, {2}, {});
  shape = gradient.gemm({});
  EXPECT_EQ(shape.batch, 2);
  EXPECT_EQ(shape.m, 6 * 3);
  EXPECT_EQ(shape.n, 4);
  EXPECT_EQ(shape.k, 4 * 16);

  // In all three, the multiply-adds are those of the shape.
  for (const char *name :
       {"dot", "gemm", "conv 1-d", "conv 2-d", "conv data gradient",
        "conv weight gradient", "experts"}) {
    BoundRule bound = entryNamed(name);
    llvm::SmallVector<double> two(bound.rule.operands.size(), 2);
    Work w = workOf(bound, two, {2}, {});
    GemmShape s = w.gemm({});
    EXPECT_EQ(2. * s.batch * s.m * s.n * s.k, w.total(w.contract)) << name;
  }

  // No contraction, no shape.
  shape = workOf(entryNamed("mul"), {2, 2}, {2}, {}).gemm({});
  EXPECT_EQ(shape.batch * shape.m * shape.n * shape.k, 1);
}

TEST(Work, FlopClauses) {
  BoundRule attention = entryNamed("attention");
  Work work = workOf(attention, {2, 2, 2}, {2, 4}, {});
  double points = 4 * 2 * 3 * 12 * 24;
  EXPECT_EQ(work.total(work.contract), 2 * points * (8 + 16));
  EXPECT_EQ(work.total(work.flops), points * (2 * (8 + 16) + 5));
  EXPECT_EQ(work.total(work.written),
            2. * 4 * 2 * 3 * 12 * 16 + 4. * 4 * 2 * 3 * 12);

  // Backward does twice the contractions of forward, exactly.
  BoundRule gradient = entryNamed("attention gradient");
  Work back = workOf(gradient, llvm::SmallVector<double>(6, 2), {2, 2, 2}, {});
  EXPECT_EQ(back.total(back.contract), 2 * work.total(work.contract));

  // Unset: no contraction, one per point of the iteration space.
  BoundRule reduce = entryNamed("reduce sum");
  Work sum = workOf(reduce, {4}, {4}, {});
  EXPECT_TRUE(sum.contract.empty());
  EXPECT_EQ(sum.total(sum.contract), 0);
  EXPECT_EQ(sum.total(sum.flops), 12 * 8);
  BoundRule add = entryNamed("add");
  EXPECT_EQ(workOf(add, {2, 2}, {2}, {}).flops.size(), 1u);
  Work adding = workOf(add, {2, 2}, {2}, {});
  EXPECT_EQ(adding.total(adding.flops), 4 * 12 * 8);
}

TEST(Work, TouchReplacesAnOperand) {
  // Indices 4 12 of 8 bytes, table 24 8 of 2 bytes: only 4 * 12 rows are read.
  BoundRule gather = entryNamed("gather");
  Work work = workOf(gather, {8, 2}, {2}, {splitOf(gather, "d", 4)});
  EXPECT_EQ(work.total(work.read), 8. * 4 * 12 + 2. * 4 * 12 * 8);
  EXPECT_EQ(work.local(work.read, {2}), 8. * 4 * 12 + 2. * 4 * 12 * 4);
  EXPECT_EQ(work.total(work.flops), 0);
}

} // namespace
