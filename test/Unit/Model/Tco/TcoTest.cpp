//===- TcoTest.cpp - Money and carbon of a training step ------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Tco/Tco.h"
#include "../A100.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace dtrain;
using namespace dtrain::test;

namespace {
Time years(double n) { return llvm::cantFail(Time::get(n, "year")); }
Money usd(double n) { return Money::fromBase(n); }

StepActivity activity() {
  StepActivity a;
  a.duration = Time::fromBase(10);
  a.devices = 16;
  a.flops = {{Precision::BF16, Flops::fromBase(1e15)}};
  return a;
}
/// What the tests' machine has in two nodes of eight.
constexpr double kPrice = 16 * 12000 + 2 * (60000 + 20000);
} // namespace

TEST(TcoTest, Annuity) {
  // 1000 at 5 % over ten years: 129.50 a year (any annuity table).
  MoneyRate rate =
      llvm::cantFail(annuity(usd(1000), Ratio::fromBase(.05), years(10)));
  EXPECT_NEAR((rate * years(1)).base(), 129.50, .005);
  // No interest: straight line; little interest comes to the same.
  rate = llvm::cantFail(annuity(usd(1000), Ratio::fromBase(0), years(4)));
  EXPECT_DOUBLE_EQ((rate * years(1)).base(), 250);
  rate = llvm::cantFail(annuity(usd(1000), Ratio::fromBase(1e-12), years(4)));
  EXPECT_NEAR((rate * years(1)).base(), 250, 1e-6);
}

/// The payments of the whole life, discounted, are the price.
TEST(TcoTest, PaymentsRepayThePrice) {
  double r = .07, present = 0;
  MoneyRate rate =
      llvm::cantFail(annuity(usd(kPrice), Ratio::fromBase(r), years(4)));
  for (int year = 1; year <= 4; ++year)
    present += (rate * years(1)).base() / std::pow(1 + r, year);
  EXPECT_NEAR(present, kPrice, 1e-6 * kPrice);
}

TEST(TcoTest, CostByCause) {
  Machine m = a100();
  EXPECT_EQ(llvm::cantFail(equipmentPrice(m, 16)), usd(kPrice));
  EnergyBreakdown energy;
  energy.compute = Energy::fromBase(3.6e6); // one kWh
  energy.facility = Energy::fromBase(.36e6);
  CostBreakdown cost = llvm::cantFail(moneyOf(m, activity(), energy));
  // Ten seconds of work at 90 % utilization.
  double share = 10 / .9 / years(1).base();
  double r = .07;
  EXPECT_NEAR(cost.equipment.base(),
              kPrice * r /
                  (1 - std::pow(1 + r, -m.finance.life.value.base() /
                                           years(1).base())) *
                  share,
              1e-9);
  double watts = 16 * 400 + 2 * 1500;
  EXPECT_NEAR(cost.facility.base(),
              10 * watts * r /
                  (1 - std::pow(1 + r, -m.site.facilityLife.value.base() /
                                           years(1).base())) *
                  share,
              1e-9);
  EXPECT_DOUBLE_EQ(cost.electricity.base(), 1.1 * .08);
  EXPECT_NEAR(cost.maintenance.base(), .05 * kPrice * share, 1e-12);
  Money sum;
  for (auto &[name, value] : cost.entries())
    sum += value;
  EXPECT_DOUBLE_EQ(sum.base(), cost.total().base());
}

/// Steps that fill the working time of the equipment's life pay for all of it.
TEST(TcoTest, ALifetimeOfStepsPaysForEverything) {
  Machine m = a100();
  m.finance.interest = given<Ratio>(0);
  double steps = toDouble(m.finance.life.value * .9 / activity().duration);
  CostBreakdown cost = llvm::cantFail(moneyOf(m, activity(), {}));
  EXPECT_NEAR(cost.equipment.base() * steps, kPrice, 1e-6 * kPrice);
  CarbonBreakdown carbon = llvm::cantFail(carbonOf(m, activity(), {}));
  EXPECT_NEAR(carbon.embodied.base() * steps, 16 * 127.6 + 2 * (2000 + 500),
              1e-6);
}

TEST(TcoTest, OperationalCarbonIncludesPue) {
  EnergyBreakdown energy;
  energy.compute = Energy::fromBase(3.6e6);
  energy.facility = Energy::fromBase(.36e6);
  CarbonBreakdown carbon = llvm::cantFail(carbonOf(a100(), activity(), energy));
  EXPECT_DOUBLE_EQ(carbon.operational.base(), 1.1 * .4);
  EXPECT_EQ(carbon.total(), carbon.operational + carbon.embodied);
}

TEST(TcoTest, RejectsBadInput) {
  Machine m = a100();
  StepActivity a = activity();
  for (double utilization : {0., -.5, 1.5}) {
    m.finance.utilization = given<Ratio>(utilization);
    EXPECT_PRED2(contains, messageOf(moneyOf(m, a, {})),
                 "expected a utilization above 0 and up to 1");
    EXPECT_PRED2(contains, messageOf(carbonOf(m, a, {})),
                 "expected a utilization above 0 and up to 1");
  }
  m = a100();
  m.chip.price = {};
  EXPECT_PRED2(contains, messageOf(moneyOf(m, a, {})),
               "'a100': expected a positive device price");
  m = a100();
  m.chip.embodied = {};
  EXPECT_PRED2(contains, messageOf(carbonOf(m, a, {})),
               "'a100': expected a positive embodied carbon of a device");
  m = a100();
  m.finance.life = {};
  EXPECT_PRED2(contains, messageOf(moneyOf(m, a, {})),
               "'a100': expected a positive equipment life");
  EXPECT_PRED2(contains,
               messageOf(annuity(usd(-1), Ratio::fromBase(.1), years(1))),
               "expected a finite, non-negative price");
  EXPECT_PRED2(contains,
               messageOf(annuity(usd(1), Ratio::fromBase(.1), years(0))),
               "expected a positive life");
  m = a100();
  m.site.gridIntensity = {};
  EXPECT_EQ(messageOf(carbonOf(m, a, {})), "'a100' states no grid intensity");
  // Nothing emitted is an answer where somebody says so.
  m.site.gridIntensity = given<CarbonPerEnergy>(0);
  EXPECT_EQ(llvm::cantFail(carbonOf(m, a, {})).operational, Carbon());
  a.devices = 0;
  EXPECT_EQ(messageOf(moneyOf(a100(), a, {})),
            "expected devices >= 1, found 0");
}
