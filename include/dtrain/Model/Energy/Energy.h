//===- Energy.h - Energy of a training step ---------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Energy from the bottom up: what is done costs energy per FLOP and per byte,
/// what merely stands there costs power times time.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_ENERGY_ENERGY_H
#define DTRAIN_MODEL_ENERGY_ENERGY_H

#include "dtrain/Model/Machine.h"

namespace dtrain {

/// What all devices together do in one step.
struct StepActivity {
  Time duration;
  /// Devices in use; nodes are taken whole.
  int64_t devices = 1;
  struct PrecisionFlops {
    Precision precision = Precision::BF16;
    Flops flops;
  };
  /// Executed FLOPs by element type.
  llvm::SmallVector<PrecisionFlops, 2> flops;
  /// Bytes to and from device memory; sent over links inside nodes; sent
  /// between nodes.
  Bytes memory, link, network;
};

/// Energy by cause. The entries sum to `total()`.
struct EnergyBreakdown {
  Energy compute;  // FLOPs
  Energy memory;   // device memory traffic
  Energy link;     // traffic inside nodes
  Energy network;  // traffic between nodes
  Energy idle;     // of the devices: static power for the step's duration
  Energy host;     // of the nodes without their devices
  Energy facility; // cooling and distribution: PUE - 1 of the above

  /// What the equipment draws: everything but the facility's own.
  Energy equipment() const;
  Energy total() const { return equipment() + facility; }
  /// Name and value of each entry, in the order above.
  llvm::SmallVector<std::pair<llvm::StringRef, Energy>, 7> entries() const;
};

/// Errors: a negative or non-finite amount, no device, an element type the chip
/// has no peak (hence no energy) for, a PUE below 1, a missing figure. Figures
/// of links and network are needed only where bytes pass through them.
llvm::Expected<EnergyBreakdown> energyOf(const Machine &machine,
                                         const StepActivity &activity);

/// Mean power of one device itself, without host and facility. Above the chip's
/// `maxPower`, the step could not have run at the clock it was priced at.
llvm::Expected<Power> devicePower(const EnergyBreakdown &energy,
                                  const StepActivity &activity);

/// Nodes that hold `devices`, the last perhaps in part.
llvm::Expected<int64_t> nodesFor(const Machine &machine, int64_t devices);

} // namespace dtrain

#endif // DTRAIN_MODEL_ENERGY_ENERGY_H
