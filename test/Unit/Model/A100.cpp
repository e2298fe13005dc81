//===- A100.cpp - The machine and stack of the cost model's tests ---------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "A100.h"

using namespace dtrain;
using namespace dtrain::test;

Machine test::a100() {
  Machine m;
  m.name = "a100";
  for (auto [precision, rate, energy] :
       {std::tuple{Precision::BF16, 312e12, 1.0},
        {Precision::FP16, 312e12, 1.0},
        {Precision::TF32, 156e12, 2.0}}) {
    PeakRate peak;
    peak.precision = precision;
    peak.rate = given<FlopRate>(rate);
    peak.efficiency = given<Ratio>(1);
    peak.energy = given<Ratio>(energy);
    m.chip.peaks.push_back(peak);
  }
  m.chip.memoryCapacity = given<Bytes>(80 * 1073741824.0);
  m.chip.memoryBandwidth = given<Bandwidth>(2.039e12);
  m.chip.contraction = {given<Ratio>(.774), given<Ratio>(.621),
                        given<Time>(6.0e-6)};
  m.chip.attention = {given<Ratio>(.651),
                      given<Ratio>(376),
                      given<Ratio>(2.5),
                      given<Ratio>(.8),
                      given<Time>(40e-6),
                      {{given<Ratio>(64), given<Ratio>(1.6)},
                       {given<Ratio>(128), given<Ratio>(1.25)}}};
  m.chip.memoryBound = {given<Ratio>(.80), given<Time>(2e-6)};
  m.chip.energyPerFlop = given<EnergyPerFlop>(.7e-12);
  m.chip.energyPerMemoryByte = given<EnergyPerByte>(8 * 4.71e-12);
  m.chip.idlePower = given<Power>(46.5);
  m.chip.maxPower = given<Power>(400);
  m.chip.embodied = given<Carbon>(127.6);
  m.chip.price = given<Money>(12000);
  m.node.devices = given<Ratio>(8);
  m.node.linkBandwidth = given<Bandwidth>(300e9);
  m.node.collective = {given<Time>(10.3e-6),     given<Time>(.707e-6),
                       given<Time>(17.9e-6),     given<Time>(.095e-6),
                       given<Ratio>(.221),       given<Ratio>(.726),
                       given<Time>(4.9 * 4.9e-6)};
  m.node.linkEnergy = given<EnergyPerByte>(8 * 1.3e-12);
  m.node.hostPower = given<Power>(1500);
  m.node.hostEmbodied = given<Carbon>(2000);
  m.node.hostPrice = given<Money>(60000);
  m.network = {given<Bandwidth>(200e9), given<Ratio>(8),
               given<Ratio>(.85),       given<Time>(10e-6),
               given<Time>(.6e-6),      given<EnergyPerByte>(8 * 30e-12),
               given<Money>(20000),     given<Carbon>(500)};
  m.site = {given<Ratio>(1.1), given<CarbonPerEnergy>(.4 / 3.6e6),
            given<MoneyPerEnergy>(.08 / 3.6e6), given<MoneyPerPower>(10),
            given<Time>(15 * 365 * 86400.0)};
  m.finance = {given<Time>(4 * 365 * 86400.0), given<Ratio>(.07),
               given<Ratio>(.05), given<Ratio>(.9)};
  return m;
}

Stack test::megatron2021() {
  Stack s;
  s.name = "megatron-2021";
  s.attention = {AttentionKernel::Unfused, Basis::Assumed, "test"};
  s.dropout = {true, Basis::Assumed, "test"};
  s.overlapDataParallel = {false, Basis::Assumed, "test"};
  s.fusedGradientAccumulation = {false, Basis::Assumed, "test"};
  s.gradientElement = given<Bytes>(2);
  s.optimizerTraffic = given<Bytes>(52);
  s.lossForward = given<Bytes>(38);
  s.lossBackward = given<Bytes>(22);
  s.softmaxForward = given<Bytes>(4);
  s.softmaxBackward = given<Bytes>(6);
  s.dropoutForward = given<Bytes>(5);
  s.dropoutBackward = given<Bytes>(5);
  s.residualDropoutForward = given<Bytes>(1);
  s.residualDropoutBackward = given<Bytes>(5);
  s.hostPerOp = given<Time>(10e-6);
  s.hostOpsPerKernel = given<Ratio>(1.5);
  s.tensorExposedForward = given<Ratio>(1);
  s.tensorExposedBackward = given<Ratio>(1);
  s.sequenceExposedBackward = given<Ratio>(1);
  return s;
}

Stack test::megatronCore() {
  Stack s;
  s.name = "megatron-core";
  s.attention = {AttentionKernel::Flash, Basis::Assumed, "test"};
  s.dropout = {false, Basis::Assumed, "test"};
  s.overlapDataParallel = {true, Basis::Assumed, "test"};
  s.fusedGradientAccumulation = {true, Basis::Assumed, "test"};
  s.gradientElement = given<Bytes>(4);
  s.optimizerTraffic = given<Bytes>(40);
  s.lossForward = given<Bytes>(12);
  s.lossBackward = given<Bytes>(8);
  s.castTraffic = given<Bytes>(3);
  s.groupedSlowdown = given<Ratio>(1.5);
  s.hostPerOp = given<Time>(8e-6);
  s.hostOpsPerKernel = given<Ratio>(1.5);
  s.tensorExposedForward = given<Ratio>(.35);
  s.tensorExposedBackward = given<Ratio>(.35);
  s.sequenceExposedBackward = given<Ratio>(.35);
  s.weightGradientHides = given<Ratio>(.85);
  s.dataHides = given<Ratio>(.8);
  s.dataExposed = given<Ratio>(.1);
  s.dataInterference = given<Ratio>(.25);
  return s;
}
