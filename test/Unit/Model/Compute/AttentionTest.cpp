//===- AttentionTest.cpp - Time of the attention core ---------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../A100.h"
#include "dtrain/Model/Compute/Compute.h"

#include <gtest/gtest.h>

using namespace dtrain;
using namespace dtrain::test;

namespace {
OpWork attention(int64_t batch, int64_t s, int64_t heads, int64_t dim,
                 bool backward = false, bool causal = true) {
  OpWork work;
  work.cls = backward ? OpClass::AttentionBackward : OpClass::Attention;
  work.attention = {batch, heads, heads, s, s, dim, dim, causal};
  work.read = Bytes::fromBase(6.0 * batch * s * heads * dim);
  work.written = Bytes::fromBase(2.0 * batch * s * heads * dim);
  return work;
}
double us(llvm::Expected<Time> time) {
  return llvm::cantFail(std::move(time)).base() * 1e6;
}
} // namespace

TEST(AttentionTest, MeasuredFlashAttentionOfA100) {
  // attention_a100.csv (flash_attention, causal prefill, head_dim 128):
  // batch, seq, heads, us.
  const double rows[][4] = {{1, 8192, 16, 1643.696}, {4, 2048, 16, 528.038},
                            {4, 8192, 16, 5921.317}, {1, 4096, 32, 923.536},
                            {4, 2048, 32, 984.024},  {4, 4096, 32, 3211.331},
                            {1, 2048, 64, 519.469},  {4, 8192, 64, 23095.363}};
  for (auto &row : rows) {
    double predicted = us(
        timeOf(attention(row[0], row[1], row[2], 128), a100(), megatronCore()));
    EXPECT_NEAR(predicted / row[3], 1, .10)
        << row[0] << " x " << row[1] << " x " << row[2];
  }
}

TEST(AttentionTest, FlashFollowsItsEquation) {
  Machine m = a100();
  Stack s = megatronCore();
  double pairs = 4096.0 * 4096 / 2 + 376 * 4096.0;
  double flops = 4.0 * 2 * 16 * 128 * pairs;
  double forward = 40 + flops / (.651 * 312e6);
  EXPECT_NEAR(us(timeOf(attention(2, 4096, 16, 128), m, s)), forward, 1e-6);
  // Backward: 2.5 times the FLOPs at .8 of the efficiency.
  EXPECT_NEAR(us(timeOf(attention(2, 4096, 16, 128, true), m, s)),
              40 + 2.5 / .8 * (forward - 40), 1e-6);
  // Without a mask all pairs count.
  EXPECT_NEAR(us(timeOf(attention(2, 4096, 16, 128, false, false), m, s)),
              40 + 4.0 * 2 * 16 * 128 * (4096.0 * 4096 + 376 * 4096.0) /
                       (.651 * 312e6),
              1e-6);
  // Half as wide: half the FLOPs, 1.25 times slower; narrower still, 1.6.
  EXPECT_NEAR(us(timeOf(attention(2, 4096, 16, 64), m, s)),
              40 + .5 * 1.25 * (forward - 40), 1e-6);
  EXPECT_NEAR(us(timeOf(attention(2, 4096, 16, 32), m, s)),
              40 + .25 * 1.6 * (forward - 40), 1e-6);
}

TEST(AttentionTest, FlashCountsExecutedFlops) {
  OpCost full = llvm::cantFail(
      costOf(attention(1, 2048, 8, 128, false, false), a100(), megatronCore()));
  EXPECT_DOUBLE_EQ(full.flops.base(), 4.0 * 8 * 128 * 2048 * 2048);
  OpWork causal = attention(1, 2048, 8, 128, true);
  OpCost half = llvm::cantFail(costOf(causal, a100(), megatronCore()));
  EXPECT_DOUBLE_EQ(half.flops.base(), 2.5 * full.flops.base() / 2);
  EXPECT_EQ(half.traffic, causal.read + causal.written);
}

TEST(AttentionTest, PortableKernelIsTheChipsToHave) {
  Machine m = a100();
  Stack s = megatronCore();
  s.attention.value = AttentionKernel::PortableFlash;
  OpWork work = attention(4, 8192, 16, 128);
  EXPECT_EQ(messageOf(timeOf(work, m, s)),
            "'a100' has no figures for the portable attention kernel that "
            "stack 'megatron-core' runs");
  m.chip.portableAttention = m.chip.attention;
  m.chip.portableAttention->efficiency = given<Ratio>(.40);
  m.chip.portableAttention->overheadTokens = given<Ratio>(150);
  EXPECT_NEAR(us(timeOf(work, m, s)),
              40 + 4.0 * 4 * 16 * 128 * (8192.0 * 8192 / 2 + 150 * 8192) /
                       (.40 * 312e6),
              1e-6);
}

TEST(AttentionTest, UnfusedIsContractionsAndScoreKernels) {
  Machine m = a100();
  Stack s = megatron2021();
  OpWork work = attention(2, 2048, 12, 128);
  work.precision = Precision::FP16;
  double scores = 2.0 * 12 * 2048 * 2048;
  double bytes = 2.0 * 24 * (2 * 2048.0 * 128 + 2048.0 * 2048);
  double product =
      6 + std::max(2 * scores * 128 / (.774 * 312e6), bytes / (.621 * 2.039e6));
  double perByte = 1 / (.8 * 2.039e6);
  EXPECT_NEAR(us(timeOf(work, m, s)),
              2 * product + 2 * 2 + (4 + 5) * scores * perByte, 1e-6);
  work.cls = OpClass::AttentionBackward;
  EXPECT_NEAR(us(timeOf(work, m, s)),
              4 * product + 2 * 2 + (6 + 5) * scores * perByte, 1e-6);
  // No causal skipping, and no dropout where the stack has none.
  s.dropout.value = false;
  work.attention.causal = false;
  EXPECT_NEAR(us(timeOf(work, m, s)), 4 * product + 2 + 6 * scores * perByte,
              1e-6);
  EXPECT_DOUBLE_EQ(llvm::cantFail(costOf(work, m, s)).flops.base(),
                   4 * 2 * scores * 128);
}

TEST(AttentionTest, RejectsBadShapes) {
  Machine m = a100();
  Stack s = megatronCore();
  OpWork work = attention(1, 128, 8, 64);
  work.attention.kvHeads = 3;
  EXPECT_EQ(messageOf(timeOf(work, m, s)),
            "expected attention heads to be a multiple of the 3 kv heads, "
            "found 8");
  work = attention(1, 128, 8, 64);
  work.attention.keyLength = 64;
  EXPECT_EQ(messageOf(timeOf(work, m, s)),
            "expected at most 64 queries in causal attention, one per key, "
            "found 128");
  work = attention(0, 128, 8, 64);
  EXPECT_EQ(messageOf(timeOf(work, m, s)),
            "expected attention batch >= 1, found 0");
  work = attention(1, 128, 8, 64);
  work.precision = Precision::FP8;
  EXPECT_PRED2(contains, messageOf(timeOf(work, m, s)), "no peak rate for fp8");
  work.precision = Precision::BF16;
  m.chip.attention.efficiency = {};
  EXPECT_PRED2(contains, messageOf(timeOf(work, m, s)),
               "'a100': expected a positive attention efficiency");
  s.attention = {};
  EXPECT_EQ(messageOf(timeOf(work, m, s)),
            "'megatron-core' states no attention kernel");
  s = megatron2021();
  s.softmaxForward = {};
  EXPECT_PRED2(contains, messageOf(timeOf(work, m, s)),
               "'megatron-2021': expected a positive softmax traffic "
               "per score");
}
