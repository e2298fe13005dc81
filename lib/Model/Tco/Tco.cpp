//===- Tco.cpp - Money and carbon of a training step ----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Tco/Tco.h"
#include "../Checks.h"

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

llvm::SmallVector<std::pair<llvm::StringRef, Money>, 4>
CostBreakdown::entries() const {
  return {{"equipment", equipment},
          {"facility", facility},
          {"electricity", electricity},
          {"maintenance", maintenance}};
}

/// One year, in the unit that texts may use too.
static Time year() { return llvm::cantFail(Time::get(1, "year")); }

Expected<MoneyRate> dtrain::annuity(Money price, Ratio interestPerYear,
                                    Time life) {
  if (Error e = requireAmount("price", price))
    return e;
  if (Error e = requireAmount("interest per year", interestPerYear))
    return e;
  if (!std::isfinite(life.base()) || life <= Time())
    return makeError("expected a positive life, found " + life.str());
  double rate = toDouble(interestPerYear), years = toDouble(life / year());
  if (rate == 0)
    return price / life;
  // 1 - (1+r)^-n, exact for small rates too.
  double repaid = -std::expm1(-years * std::log1p(rate));
  return price * (rate / repaid) / year();
}

Expected<Money> dtrain::equipmentPrice(const Machine &machine,
                                       int64_t devices) {
  Expected<int64_t> nodes = nodesFor(machine, devices);
  if (!nodes)
    return nodes.takeError();
  if (Error e =
          requirePositive(machine.name, "device price", machine.chip.price))
    return e;
  if (Error e = requireNonNegative(machine.name, "host price",
                                   machine.node.hostPrice))
    return e;
  if (Error e = requireNonNegative(machine.name, "network price per node",
                                   machine.network.pricePerNode))
    return e;
  return machine.chip.price.value * static_cast<double>(devices) +
         (machine.node.hostPrice.value + machine.network.pricePerNode.value) *
             static_cast<double>(*nodes);
}

/// The part of the equipment's life that the step takes, idle time included.
static Expected<Time> chargedTime(const Machine &machine,
                                  const StepActivity &activity) {
  if (Error e = requireAmount("step duration", activity.duration))
    return e;
  double utilization = toDouble(machine.finance.utilization.value);
  if (!(utilization > 0 && utilization <= 1))
    return makeError("'" + machine.name +
                     "': expected a utilization above 0 and up to 1, found " +
                     machine.finance.utilization.value.str());
  return activity.duration / utilization;
}

/// What the facility must be able to supply: all equipment at full power.
static Expected<Power> provisionedPower(const Machine &machine,
                                        int64_t devices) {
  Expected<int64_t> nodes = nodesFor(machine, devices);
  if (!nodes)
    return nodes.takeError();
  if (Error e =
          requirePositive(machine.name, "device power", machine.chip.maxPower))
    return e;
  if (Error e =
          requirePositive(machine.name, "host power", machine.node.hostPower))
    return e;
  return machine.chip.maxPower.value * static_cast<double>(devices) +
         machine.node.hostPower.value * static_cast<double>(*nodes);
}

Expected<CostBreakdown> dtrain::moneyOf(const Machine &machine,
                                        const StepActivity &activity,
                                        const EnergyBreakdown &energy) {
  const Finance &finance = machine.finance;
  const Site &site = machine.site;
  Expected<Time> charged = chargedTime(machine, activity);
  if (!charged)
    return charged.takeError();
  Expected<Money> price = equipmentPrice(machine, activity.devices);
  if (!price)
    return price.takeError();
  Expected<Power> power = provisionedPower(machine, activity.devices);
  if (!power)
    return power.takeError();
  if (Error e = requirePositive(machine.name, "equipment life", finance.life))
    return e;
  if (Error e = requireNonNegative(machine.name, "interest", finance.interest))
    return e;
  if (Error e = requireNonNegative(machine.name, "maintenance share",
                                   finance.maintenance))
    return e;
  if (Error e = requirePositive(machine.name, "electricity price",
                                site.electricityPrice))
    return e;
  if (Error e = requireNonNegative(machine.name, "facility price",
                                   site.facilityPrice))
    return e;
  if (Error e =
          requirePositive(machine.name, "facility life", site.facilityLife))
    return e;
  Expected<MoneyRate> equipment =
      annuity(*price, finance.interest.value, finance.life.value);
  if (!equipment)
    return equipment.takeError();
  Expected<MoneyRate> facility =
      annuity(site.facilityPrice.value * *power, finance.interest.value,
              site.facilityLife.value);
  if (!facility)
    return facility.takeError();
  CostBreakdown result;
  result.equipment = *equipment * *charged;
  result.facility = *facility * *charged;
  result.electricity = site.electricityPrice.value * energy.total();
  result.maintenance = *price * finance.maintenance.value * (*charged / year());
  return result;
}

Expected<CarbonBreakdown> dtrain::carbonOf(const Machine &machine,
                                           const StepActivity &activity,
                                           const EnergyBreakdown &energy) {
  Expected<Time> charged = chargedTime(machine, activity);
  if (!charged)
    return charged.takeError();
  Expected<int64_t> nodes = nodesFor(machine, activity.devices);
  if (!nodes)
    return nodes.takeError();
  if (Error e = requireNonNegative(machine.name, "grid intensity",
                                   machine.site.gridIntensity))
    return e;
  if (Error e = requirePositive(machine.name, "embodied carbon of a device",
                                machine.chip.embodied))
    return e;
  if (Error e = requireNonNegative(machine.name, "embodied carbon of a host",
                                   machine.node.hostEmbodied))
    return e;
  if (Error e = requireNonNegative(machine.name,
                                   "embodied carbon of the network per node",
                                   machine.network.embodiedPerNode))
    return e;
  if (Error e =
          requirePositive(machine.name, "equipment life", machine.finance.life))
    return e;
  Carbon embodied =
      machine.chip.embodied.value * static_cast<double>(activity.devices) +
      (machine.node.hostEmbodied.value +
       machine.network.embodiedPerNode.value) *
          static_cast<double>(*nodes);
  CarbonBreakdown result;
  result.operational = machine.site.gridIntensity.value * energy.total();
  result.embodied = embodied * (*charged / machine.finance.life.value);
  return result;
}
