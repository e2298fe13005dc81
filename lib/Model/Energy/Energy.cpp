//===- Energy.cpp - Energy of a training step -----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Energy/Energy.h"
#include "../Checks.h"

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

Energy EnergyBreakdown::equipment() const {
  return compute + memory + link + network + idle + host;
}

llvm::SmallVector<std::pair<llvm::StringRef, Energy>, 7>
EnergyBreakdown::entries() const {
  return {{"compute", compute},  {"memory", memory}, {"link", link},
          {"network", network},  {"idle", idle},     {"host", host},
          {"facility", facility}};
}

Expected<int64_t> dtrain::nodesFor(const Machine &machine, int64_t devices) {
  if (Error e = requireCount("devices", devices))
    return e;
  Expected<int64_t> perNode = devicesPerNode(machine);
  if (!perNode)
    return perNode.takeError();
  return (devices - 1) / *perNode + 1;
}

/// Energy of `traffic` at `perByte`, a figure needed only if there is traffic.
static Expected<Energy> energyOfTraffic(const Machine &machine,
                                        llvm::StringRef what, Bytes traffic,
                                        const Sourced<EnergyPerByte> &perByte) {
  if (Error e = requireAmount((what + " traffic").str(), traffic))
    return e;
  if (traffic == Bytes())
    return Energy();
  if (Error e = requirePositive(machine.name,
                                ("energy per byte of " + what).str(), perByte))
    return e;
  return perByte.value * traffic;
}

static Expected<Energy> energyOfFlops(const Machine &machine,
                                      const StepActivity &activity) {
  const Chip &chip = machine.chip;
  Energy sum;
  for (auto [precision, flops] : activity.flops) {
    if (Error e = requireAmount("FLOPs", flops))
      return e;
    const PeakRate *peak = chip.findPeak(precision);
    if (!peak)
      return makeError("'" + machine.name + "' has no energy per FLOP in " +
                       stringifyPrecision(precision) +
                       ", a type it has no peak rate for");
    if (Error e = requirePositive(machine.name, "energy per FLOP",
                                  chip.energyPerFlop))
      return e;
    if (Error e = requirePositive(
            machine.name,
            (stringifyPrecision(precision) + " energy ratio").str(),
            peak->energy))
      return e;
    sum += chip.energyPerFlop.value * peak->energy.value * flops;
  }
  return sum;
}

Expected<EnergyBreakdown> dtrain::energyOf(const Machine &machine,
                                           const StepActivity &activity) {
  if (Error e = requireAmount("step duration", activity.duration))
    return e;
  Expected<int64_t> nodes = nodesFor(machine, activity.devices);
  if (!nodes)
    return nodes.takeError();
  if (Error e =
          requirePositive(machine.name, "idle power", machine.chip.idlePower))
    return e;
  if (Error e =
          requirePositive(machine.name, "host power", machine.node.hostPower))
    return e;
  double pue = toDouble(machine.site.pue.value);
  if (!std::isfinite(pue) || pue < 1)
    return makeError("'" + machine.name +
                     "': expected a PUE of at least 1, "
                     "found " +
                     machine.site.pue.value.str());

  EnergyBreakdown result;
  if (Error e = energyOfFlops(machine, activity).moveInto(result.compute))
    return e;
  if (Error e = energyOfTraffic(machine, "device memory", activity.memory,
                                machine.chip.energyPerMemoryByte)
                    .moveInto(result.memory))
    return e;
  if (Error e = energyOfTraffic(machine, "scale-up links", activity.link,
                                machine.node.linkEnergy)
                    .moveInto(result.link))
    return e;
  if (Error e = energyOfTraffic(machine, "network", activity.network,
                                machine.network.energy)
                    .moveInto(result.network))
    return e;
  result.idle = machine.chip.idlePower.value * activity.duration *
                static_cast<double>(activity.devices);
  result.host = machine.node.hostPower.value * activity.duration *
                static_cast<double>(*nodes);
  result.facility = result.equipment() * (pue - 1);
  return result;
}

Expected<Power> dtrain::devicePower(const EnergyBreakdown &energy,
                                    const StepActivity &activity) {
  if (Error e = requireCount("devices", activity.devices))
    return e;
  if (!(activity.duration > Time()))
    return makeError("expected a positive step duration, found " +
                     activity.duration.str());
  return (energy.compute + energy.memory + energy.link + energy.idle) /
         activity.duration / static_cast<double>(activity.devices);
}
