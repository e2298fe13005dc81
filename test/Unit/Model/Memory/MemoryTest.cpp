//===- MemoryTest.cpp - Peak of live memory over an order -----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Memory/Memory.h"
#include "../A100.h"
#include <gtest/gtest.h>

using namespace dtrain;
using namespace dtrain::test;

namespace {
Bytes bytes(double value) { return Bytes::fromBase(value); }
} // namespace

TEST(MemoryTest, PeakIsAttributedToWhatIsLiveThen) {
  MemoryPlan plan;
  auto allocate = [&](MemoryCategory category, double size) {
    return llvm::cantFail(plan.allocate(category, bytes(size)));
  };
  allocate(MemoryCategory::Parameters, 100);
  auto first = allocate(MemoryCategory::Activations, 50);
  allocate(MemoryCategory::Gradients, 20); // 170: the peak
  EXPECT_FALSE(bool(plan.release(first)));
  allocate(MemoryCategory::Workspace, 30);
  EXPECT_EQ(plan.live().total(), bytes(150));
  EXPECT_EQ(plan.peak().total(), bytes(170));
  EXPECT_EQ(plan.peak()[MemoryCategory::Parameters], bytes(100));
  EXPECT_EQ(plan.peak()[MemoryCategory::Activations], bytes(50));
  EXPECT_EQ(plan.peak()[MemoryCategory::Gradients], bytes(20));
  EXPECT_EQ(plan.peak()[MemoryCategory::Workspace], bytes(0));
  EXPECT_EQ(plan.peak()[MemoryCategory::Optimizer], bytes(0));
  allocate(MemoryCategory::Optimizer, 40);
  EXPECT_EQ(plan.peak().total(), bytes(190));
  EXPECT_EQ(plan.peak()[MemoryCategory::Activations], bytes(0));
}

TEST(MemoryTest, PeakOfLiveRanges) {
  using C = MemoryCategory;
  // One range ends where the next begins: they share the memory.
  EXPECT_EQ(llvm::cantFail(peakOf({{C::Activations, bytes(7), 3, 5},
                                   {C::Activations, bytes(5), 0, 3}}))
                .total(),
            bytes(7));
  EXPECT_EQ(llvm::cantFail(peakOf({{C::Activations, bytes(7), 2, 5},
                                   {C::Workspace, bytes(5), 0, 3},
                                   {C::Activations, bytes(99), 4, 4}}))
                .total(),
            bytes(12));
  EXPECT_EQ(llvm::cantFail(peakOf({})).total(), bytes(0));
}

/// n layers' activations, saved forward and released backward: all are live
/// between the two, and a layer's own workspace comes on top.
TEST(MemoryTest, ForwardThenBackward) {
  std::vector<LiveRange> ranges;
  int64_t n = 12;
  for (int64_t i = 0; i < n; ++i) {
    ranges.push_back({MemoryCategory::Activations, bytes(10), i, 2 * n - i});
    ranges.push_back(
        {MemoryCategory::Workspace, bytes(3), 2 * n - i - 1, 2 * n - i});
  }
  MemoryUse peak = llvm::cantFail(peakOf(ranges));
  EXPECT_EQ(peak[MemoryCategory::Activations], bytes(10 * n));
  EXPECT_EQ(peak[MemoryCategory::Workspace], bytes(3));
  EXPECT_EQ(peak.total(), bytes(10 * n + 3));
}

TEST(MemoryTest, RejectsBadInput) {
  MemoryPlan plan;
  EXPECT_PRED2(contains,
               messageOf(plan.allocate(MemoryCategory::Workspace, bytes(-1))),
               "expected a finite, non-negative allocation size");
  EXPECT_EQ(llvm::toString(plan.release(0)),
            "expected one of 0 allocations, found allocation 0");
  auto block =
      llvm::cantFail(plan.allocate(MemoryCategory::Activations, bytes(1024)));
  EXPECT_FALSE(bool(plan.release(block)));
  EXPECT_PRED2(contains, llvm::toString(plan.release(block)),
               "of activations is released twice");
  EXPECT_EQ(messageOf(peakOf({{MemoryCategory::Workspace, bytes(1), 5, 4}})),
            "expected live range 0 to end at or after 5, found 4");
}
