//===- EnergyTest.cpp - Energy of a training step -------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Energy/Energy.h"
#include "../A100.h"
#include <gtest/gtest.h>

using namespace dtrain;
using namespace dtrain::test;

namespace {
StepActivity activity() {
  StepActivity a;
  a.duration = Time::fromBase(10);
  a.devices = 12;
  a.flops = {{Precision::BF16, Flops::fromBase(12 * 10 * 150e12)},
             {Precision::TF32, Flops::fromBase(12e12)}};
  a.memory = Bytes::fromBase(12 * 10 * 1e12);
  a.link = Bytes::fromBase(5e12);
  a.network = Bytes::fromBase(1e12);
  return a;
}
} // namespace

TEST(EnergyTest, EachCauseByItsFigure) {
  EnergyBreakdown e = llvm::cantFail(energyOf(a100(), activity()));
  // TF32 costs twice as much per FLOP here.
  EXPECT_DOUBLE_EQ(e.compute.base(), .7e-12 * (18e15 + 2 * 12e12));
  EXPECT_DOUBLE_EQ(e.memory.base(), 8 * 4.71e-12 * 120e12);
  EXPECT_DOUBLE_EQ(e.link.base(), 8 * 1.3e-12 * 5e12);
  EXPECT_DOUBLE_EQ(e.network.base(), 8 * 30e-12 * 1e12);
  EXPECT_DOUBLE_EQ(e.idle.base(), 46.5 * 10 * 12);
  EXPECT_DOUBLE_EQ(e.host.base(), 1500 * 10 * 2); // twelve devices: two nodes
  EXPECT_NEAR(e.facility.base(), .1 * e.equipment().base(), 1e-6);
  Energy sum;
  for (auto &[name, value] : e.entries())
    sum += value;
  EXPECT_DOUBLE_EQ(sum.base(), e.total().base());
  EXPECT_NEAR(e.total().base(), 1.1 * e.equipment().base(), 1e-6);
  EXPECT_DOUBLE_EQ(llvm::cantFail(devicePower(e, activity())).base(),
                   (e.compute + e.memory + e.link + e.idle).base() / 10 / 12);
}

TEST(EnergyTest, NodesAreTakenWhole) {
  EXPECT_EQ(llvm::cantFail(nodesFor(a100(), 1)), 1);
  EXPECT_EQ(llvm::cantFail(nodesFor(a100(), 8)), 1);
  EXPECT_EQ(llvm::cantFail(nodesFor(a100(), 9)), 2);
}

TEST(EnergyTest, NetworkFiguresOnlyWhereNeeded) {
  Machine m = a100();
  m.network = {};
  StepActivity a = activity();
  EXPECT_PRED2(contains, messageOf(energyOf(m, a)),
               "'a100': expected a positive energy per byte of network");
  a.network = Bytes();
  EXPECT_EQ(llvm::cantFail(energyOf(m, a)).network, Energy());
}

TEST(EnergyTest, RejectsBadInput) {
  Machine m = a100();
  StepActivity a = activity();
  a.devices = 0;
  EXPECT_EQ(messageOf(energyOf(m, a)), "expected devices >= 1, found 0");
  a = activity();
  a.memory = Bytes::fromBase(-1);
  EXPECT_PRED2(contains, messageOf(energyOf(m, a)),
               "non-negative device memory traffic");
  a = activity();
  a.flops[0].precision = Precision::FP8;
  EXPECT_EQ(messageOf(energyOf(m, a)),
            "'a100' has no energy per FLOP in fp8, a type it has no peak rate "
            "for");
  a = activity();
  m.site.pue = given<Ratio>(.9);
  EXPECT_PRED2(contains, messageOf(energyOf(m, a)),
               "expected a PUE of at least 1");
  m = a100();
  m.node.devices = given<Ratio>(7.5);
  EXPECT_PRED2(contains, messageOf(energyOf(m, a)),
               "expected a whole number of devices per node");
  m = a100();
  m.chip.idlePower = {};
  EXPECT_PRED2(contains, messageOf(energyOf(m, a)),
               "expected a positive idle power");
  a.duration = Time();
  EXPECT_PRED2(contains, messageOf(devicePower({}, a)),
               "expected a positive step duration");
}
