//===- MachineTest.cpp - Names and lookups of machine descriptions --------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Machine.h"
#include <gtest/gtest.h>

using namespace dtrain;

TEST(MachineTest, PrecisionNamesRoundTrip) {
  const std::pair<Precision, double> all[] = {
      {Precision::FP64, 8},  {Precision::FP32, 4}, {Precision::TF32, 4},
      {Precision::BF16, 2},  {Precision::FP16, 2}, {Precision::FP8, 1},
      {Precision::FP4, 0.5}, {Precision::INT8, 1}};
  for (auto [precision, bytes] : all) {
    EXPECT_EQ(parsePrecision(stringifyPrecision(precision)), precision);
    EXPECT_EQ(bytesOf(precision), bytes);
  }
  EXPECT_EQ(stringifyPrecision(Precision::BF16), "bf16");
  EXPECT_FALSE(parsePrecision("bfloat16"));
  EXPECT_FALSE(parsePrecision(""));
}

TEST(MachineTest, AttentionKernelNames) {
  EXPECT_EQ(parseAttentionKernel("unfused"), AttentionKernel::Unfused);
  EXPECT_EQ(parseAttentionKernel("flash"), AttentionKernel::Flash);
  EXPECT_EQ(parseAttentionKernel("portable_flash"),
            AttentionKernel::PortableFlash);
  EXPECT_FALSE(parseAttentionKernel("fa3"));
}

TEST(MachineTest, FindsThePeakOfAPrecision) {
  Chip chip;
  PeakRate bf16;
  bf16.precision = Precision::BF16;
  bf16.rate.value = FlopRate::fromBase(312e12);
  chip.peaks.push_back(bf16);
  ASSERT_NE(chip.findPeak(Precision::BF16), nullptr);
  EXPECT_EQ(chip.findPeak(Precision::BF16)->rate.value.base(), 312e12);
  EXPECT_EQ(chip.findPeak(Precision::FP8), nullptr);
}
