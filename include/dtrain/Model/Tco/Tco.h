//===- Tco.h - Money and carbon of a training step --------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Total cost of ownership and carbon, as the share of them that a step's use
/// of the equipment causes. Equipment is paid for over its life, in which it
/// works for a share (`Finance::utilization`) of the time: the idle rest is
/// charged to the work.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_TCO_TCO_H
#define DTRAIN_MODEL_TCO_TCO_H

#include "dtrain/Model/Energy/Energy.h"

namespace dtrain {

/// Money by cause. The entries sum to `total()`.
struct CostBreakdown {
  Money equipment;   // devices, hosts and network: annuity over their life
  Money facility;    // building, power and cooling plant: annuity over its life
  Money electricity; // energy including PUE at the site's price
  Money maintenance; // a share of the equipment's price per year

  Money total() const {
    return equipment + facility + electricity + maintenance;
  }
  llvm::SmallVector<std::pair<llvm::StringRef, Money>, 4> entries() const;
};

/// Carbon by cause.
struct CarbonBreakdown {
  Carbon operational; // energy including PUE times the grid's intensity
  Carbon embodied;    // in devices, hosts and network, over their life
  Carbon total() const { return operational + embodied; }
};

/// What is paid per unit of time to repay `price` over `life` at `interest` per
/// year: P r / (1 - (1+r)^-n) per year with n years, P / n without interest.
llvm::Expected<MoneyRate> annuity(Money price, Ratio interestPerYear,
                                  Time life);

/// Price of the equipment that `devices` occupy, whole nodes.
llvm::Expected<Money> equipmentPrice(const Machine &machine, int64_t devices);

/// Errors: no device, a negative duration, a utilization outside (0, 1], a
/// missing figure.
llvm::Expected<CostBreakdown> moneyOf(const Machine &machine,
                                      const StepActivity &activity,
                                      const EnergyBreakdown &energy);
llvm::Expected<CarbonBreakdown> carbonOf(const Machine &machine,
                                         const StepActivity &activity,
                                         const EnergyBreakdown &energy);

} // namespace dtrain

#endif // DTRAIN_MODEL_TCO_TCO_H
