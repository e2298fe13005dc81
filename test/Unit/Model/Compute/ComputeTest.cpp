//===- ComputeTest.cpp - Time of one op on one device ---------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Compute/Compute.h"
#include "../A100.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace dtrain;
using namespace dtrain::test;

namespace {
OpWork gemm(int64_t m, int64_t n, int64_t k, int64_t batch = 1) {
  OpWork work;
  work.cls = OpClass::Contraction;
  work.gemm = {batch, m, n, k};
  work.flops = Flops::fromBase(2.0 * batch * m * n * k);
  work.read = Bytes::fromBase(2.0 * batch * (1.0 * m * k + 1.0 * n * k));
  work.written = Bytes::fromBase(2.0 * batch * m * n);
  return work;
}
OpWork ofElements(OpClass cls, double elements, double read, double written) {
  OpWork work;
  work.cls = cls;
  work.elements = elements;
  work.read = Bytes::fromBase(read);
  work.written = Bytes::fromBase(written);
  return work;
}
double us(llvm::Expected<Time> time) {
  return llvm::cantFail(std::move(time)).base() * 1e6;
}
} // namespace

TEST(ComputeTest, MeasuredContractionsOfA100) {
  // gemm_a100.csv (aiconfigurator, A100-SXM4-80GB, bfloat16): m, n, k, us.
  const double rows[][4] = {
      {4096, 4096, 4096, 548.896},   {8192, 8192, 8192, 4280.406},
      {2048, 12288, 1536, 333.552},  {8192, 5120, 5120, 1742.434},
      {4096, 12288, 4096, 1675.465}, {8192, 1024, 4096, 324.319},
      {16384, 4096, 1024, 541.827},  {16384, 3072, 3072, 1307.412},
      {256, 65536, 51200, 7147.507}, {16384, 2560, 51200, 17238.9},
      {2048, 10240, 12288, 2013.897}};
  for (auto &row : rows) {
    double predicted =
        us(timeOf(gemm(row[0], row[1], row[2]), a100(), megatronCore()));
    // The roofline's 95th percentile at sizes above 1024 is 20 %; these are
    // ordinary rows.
    EXPECT_NEAR(predicted / row[3], 1, .12)
        << row[0] << "x" << row[1] << "x" << row[2];
  }
}

TEST(ComputeTest, ContractionIsTheSlowerOfFlopsAndBytes) {
  Machine m = a100();
  OpWork big = gemm(8192, 8192, 8192);
  EXPECT_DOUBLE_EQ(us(timeOf(big, m, megatronCore())),
                   6 + 2.0 * 8192 * 8192 * 8192 / (.774 * 312e6));
  OpWork thin = gemm(1, 8192, 8192);
  EXPECT_NEAR(us(timeOf(thin, m, megatronCore())),
              6 + 2.0 * (8192 + 8192.0 * 8192 + 8192) / (.621 * 2.039e6), 1e-9);
  OpCost cost = llvm::cantFail(costOf(big, m, megatronCore()));
  EXPECT_EQ(cost.flops, big.flops);
  EXPECT_EQ(cost.traffic, big.read + big.written);
  EXPECT_DOUBLE_EQ(cost.host.base(), 12e-6);
}

TEST(ComputeTest, PrecisionsHaveTheirOwnPeakAndEfficiency) {
  Machine m = a100();
  OpWork work = gemm(8192, 8192, 8192);
  double bf16 = us(timeOf(work, m, megatronCore())) - 6;
  work.precision = Precision::TF32;
  EXPECT_NEAR(us(timeOf(work, m, megatronCore())) - 6, 2 * bf16, 1e-6);
  m.chip.peaks[2].efficiency = given<Ratio>(.8);
  EXPECT_NEAR(us(timeOf(work, m, megatronCore())) - 6, 2.5 * bf16, 1e-6);
}

TEST(ComputeTest, CastsToNarrowTypesAreMemoryBound) {
  Machine m = a100();
  PeakRate fp8 = m.chip.peaks[0];
  fp8.precision = Precision::FP8;
  m.chip.peaks.push_back(fp8);
  OpWork work = gemm(8192, 8192, 8192);
  work.precision = Precision::FP8;
  double without = us(timeOf(work, m, megatronCore()));
  work.elements = 8192.0 * 8192;
  EXPECT_NEAR(us(timeOf(work, m, megatronCore())) - without,
              2 + 3 * 8192.0 * 8192 / (.8 * 2.039e6), 1e-6);
  work.precision = Precision::BF16;
  EXPECT_PRED2(contains, messageOf(timeOf(work, m, megatronCore())),
               "expected no elements to cast for a contraction in "
               "bf16");
}

TEST(ComputeTest, GroupedContractionsAreSlower) {
  OpWork work = gemm(512, 4096, 1024, 8);
  double batched = us(timeOf(work, a100(), megatronCore()));
  work.grouped = true;
  EXPECT_DOUBLE_EQ(us(timeOf(work, a100(), megatronCore())), 1.5 * batched);
  EXPECT_PRED2(contains, messageOf(timeOf(work, a100(), megatron2021())),
               "'megatron-2021': expected a positive slowdown of "
               "grouped contraction");
}

TEST(ComputeTest, MemoryBoundOps) {
  OpWork work = ofElements(OpClass::MemoryBound, 0, 6e9, 2e9);
  work.kernels = 3;
  EXPECT_DOUBLE_EQ(us(timeOf(work, a100(), megatronCore())),
                   6 + 8e9 / (.8 * 2.039e6));
  OpWork view;
  view.cls = OpClass::Move;
  view.read = view.written = Bytes::fromBase(1e9);
  OpCost free = llvm::cantFail(costOf(view, a100(), megatronCore()));
  EXPECT_EQ(free.device, Time());
  EXPECT_EQ(free.traffic, Bytes());
  EXPECT_EQ(free.host, Time());
}

TEST(ComputeTest, ResidualDropoutAddsHalfAPassForward) {
  // docs/calibration.md, Memory-bound ops, u = 2*T*h: 3.5u instead of 3u
  // forward; 5.5u and one kernel more instead of 3u backward.
  double elements = 2048 * 12288, u = 2 * elements;
  OpWork work = ofElements(OpClass::MemoryBound, elements, 2 * u, u);
  work.dropout = ResidualDropout::Forward;
  auto traffic = [&](const Stack &stack) {
    return llvm::cantFail(costOf(work, a100(), stack)).traffic.base();
  };
  EXPECT_DOUBLE_EQ(traffic(megatron2021()), 3.5 * u);
  EXPECT_DOUBLE_EQ(traffic(megatronCore()), 3 * u);
  work.dropout = ResidualDropout::Backward;
  EXPECT_DOUBLE_EQ(traffic(megatron2021()), 5.5 * u);
  EXPECT_DOUBLE_EQ(us(timeOf(work, a100(), megatron2021())),
                   2 * 2 + 5.5 * u / (.8 * 2.039e6));
  work.elements = 0;
  EXPECT_PRED2(contains, messageOf(timeOf(work, a100(), megatron2021())),
               "expected a positive number of elements of a "
               "memory_bound op, found 0");
}

TEST(ComputeTest, StacksOverrideBytes) {
  double n = 1e8;
  auto traffic = [&](OpClass cls, const Stack &stack) {
    return llvm::cantFail(
               costOf(ofElements(cls, n, 8 * n, 4 * n), a100(), stack))
        .traffic.base();
  };
  EXPECT_DOUBLE_EQ(traffic(OpClass::Loss, megatron2021()), 38 * n);
  EXPECT_DOUBLE_EQ(traffic(OpClass::LossBackward, megatron2021()), 22 * n);
  EXPECT_DOUBLE_EQ(traffic(OpClass::Loss, megatronCore()), 12 * n);
  EXPECT_DOUBLE_EQ(traffic(OpClass::LossBackward, megatronCore()), 8 * n);
  EXPECT_DOUBLE_EQ(traffic(OpClass::Optimizer, megatron2021()), 52 * n);
  EXPECT_DOUBLE_EQ(traffic(OpClass::Optimizer, megatronCore()), 40 * n);
  // Natural 12 B per weight; 8 B in the epilogue, and nothing launched.
  EXPECT_DOUBLE_EQ(traffic(OpClass::Accumulate, megatron2021()), 12 * n);
  EXPECT_DOUBLE_EQ(traffic(OpClass::Accumulate, megatronCore()), 8 * n);
  EXPECT_DOUBLE_EQ(us(timeOf(ofElements(OpClass::Accumulate, n, 8 * n, 4 * n),
                             a100(), megatronCore())),
                   8 * n / (.8 * 2.039e6));
}

TEST(ComputeTest, RejectsBadWork) {
  Machine m = a100();
  Stack s = megatronCore();
  OpWork fp8 = gemm(64, 64, 64);
  fp8.precision = Precision::FP8;
  EXPECT_EQ(messageOf(timeOf(fp8, m, s)),
            "'a100' has no peak rate for fp8; expected one of bf16, fp16, "
            "tf32");
  OpWork empty = gemm(64, 64, 64);
  empty.gemm.n = 0;
  EXPECT_EQ(messageOf(timeOf(empty, m, s)), "expected n >= 1, found 0");
  OpWork lost = gemm(64, 64, 64);
  lost.gemm.k = 32;
  EXPECT_PRED2(contains, messageOf(timeOf(lost, m, s)),
               "expected 2*batch*m*n*k = ");
  OpWork negative = ofElements(OpClass::MemoryBound, 0, -1, 0);
  EXPECT_EQ(messageOf(timeOf(negative, m, s)),
            "expected a finite, non-negative bytes read, found " +
                Bytes::fromBase(-1).str());
  OpWork endless = ofElements(OpClass::MemoryBound, 0, HUGE_VAL, 0);
  EXPECT_PRED2(contains, messageOf(timeOf(endless, m, s)),
               "expected a finite, non-negative bytes read");
  OpWork kernels = ofElements(OpClass::MemoryBound, 0, 1, 0);
  kernels.kernels = -1;
  EXPECT_EQ(messageOf(timeOf(kernels, m, s)),
            "expected a non-negative number of kernels, found -1");
  EXPECT_PRED2(contains,
               messageOf(timeOf(ofElements(OpClass::Loss, 0, 1, 1), m, s)),
               "expected a positive number of elements of a loss op");
  Stack silent = megatronCore();
  silent.fusedGradientAccumulation = {};
  EXPECT_EQ(
      messageOf(timeOf(ofElements(OpClass::Accumulate, 1, 8, 4), m, silent)),
      "'megatron-core' states no fusion of gradient accumulation");
  m.chip.memoryBandwidth = {};
  EXPECT_PRED2(contains, messageOf(timeOf(gemm(64, 64, 64), m, s)),
               "'a100': expected a positive memory bandwidth");
}

TEST(ComputeTest, CountsAtMostWhatTheShapeHas) {
  OpWork work;
  work.cls = OpClass::Contraction;
  work.gemm = {2, 3, 5, 7};
  EXPECT_EQ(mostCountedFlops(work)->base(), 2.0 * 2 * 3 * 5 * 7);
  work.cls = OpClass::Attention;
  work.attention = {2, 4, 2, 8, 16, 32, 64, /*causal=*/true};
  double full = 2.0 * 2 * 4 * 8 * 16 * (32 + 64);
  EXPECT_EQ(mostCountedFlops(work)->base(), full);
  work.cls = OpClass::AttentionBackward;
  EXPECT_EQ(mostCountedFlops(work)->base(), 2 * full);
  work.cls = OpClass::MemoryBound;
  work.flops = Flops::fromBase(9);
  EXPECT_EQ(mostCountedFlops(work)->base(), 9);
  work.cls = OpClass::Contraction;
  work.gemm.k = 0;
  EXPECT_PRED2(contains, messageOf(mostCountedFlops(work)),
               "expected k >= 1, found 0");
}
