//===- Machine.h - What the cost model knows of a machine -------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Plain descriptions of a machine and of a software stack. Every figure
/// carries where it comes from; the `target` dialect is their text form. The
/// cost model has no constants of its own: what it needs stands here.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_MACHINE_H
#define DTRAIN_MODEL_MACHINE_H

#include "dtrain/Support/Quantity.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace dtrain {

/// How a figure came to be known.
enum class Basis : uint8_t { Datasheet, Measured, Derived, Assumed };

/// A figure with its provenance. An `assumed` figure's source says why.
/// One with an empty source is not known; asking for it is an error.
template <typename T> struct Sourced {
  T value{};
  Basis basis = Basis::Assumed;
  std::string source;
};

/// Element types a chip may have a peak for.
enum class Precision : uint8_t { FP64, FP32, TF32, BF16, FP16, FP8, FP4, INT8 };
llvm::StringRef stringifyPrecision(Precision p);
std::optional<Precision> parsePrecision(llvm::StringRef text);
/// Bytes of one stored element.
double bytesOf(Precision p);

/// Peak dense rate of one element type, and how this type differs from the one
/// the chip was calibrated with (where both ratios are 1).
struct PeakRate {
  Precision precision = Precision::BF16;
  Sourced<FlopRate> rate;
  /// Multiplies ContractionModel::computeEfficiency: docs/calibration.md, FP8.
  Sourced<Ratio> efficiency;
  /// Multiplies Chip::energyPerFlop.
  Sourced<Ratio> energy;
};

/// T = launch + max(flops / (computeEfficiency * peak),
///                  bytes / (memoryEfficiency * bandwidth)):
///                  docs/calibration.md, Contractions.
struct ContractionModel {
  Sourced<Ratio> computeEfficiency, memoryEfficiency;
  Sourced<Time> launch;
};

/// A fused attention kernel is slower on heads narrower than `below`.
struct NarrowHead {
  Sourced<Ratio> below;    // elements of one head
  Sourced<Ratio> slowdown; // >= 1
};

/// A fused (flash) attention kernel: docs/calibration.md, Attention.
/// T = launch + 2 b a (d + e) (pairs + overheadTokens * s) * slowdown
///              / (efficiency * peak)
/// with b sequences, a heads of widths d and e, s queries, and pairs = s^2/2 if
/// causal or s*t; backward = backwardFlops * those FLOPs at backwardEfficiency
/// of the forward's efficiency.
struct AttentionModel {
  Sourced<Ratio> efficiency, overheadTokens, backwardFlops, backwardEfficiency;
  Sourced<Time> launch;
  /// Ascending in `below`; the first that the head is narrower than applies.
  llvm::SmallVector<NarrowHead, 2> narrowHeads;
};

/// T = kernels * launch + bytes / (efficiency * bandwidth):
/// docs/calibration.md, Memory-bound ops.
struct MemoryBoundModel {
  Sourced<Ratio> efficiency;
  Sourced<Time> launch;
};

struct Chip {
  std::string name;
  llvm::SmallVector<PeakRate, 4> peaks;
  Sourced<Bytes> memoryCapacity;
  Sourced<Bandwidth> memoryBandwidth;
  ContractionModel contraction;
  AttentionModel attention; // the best fused kernel for this chip
  /// A fused kernel not written for this chip's matrix unit, which some stacks
  /// run instead (FlashAttention-1 class, Triton).
  std::optional<AttentionModel> portableAttention;
  MemoryBoundModel memoryBound;
  Sourced<EnergyPerFlop> energyPerFlop;       // at the 16-bit matrix unit
  Sourced<EnergyPerByte> energyPerMemoryByte; // device memory
  Sourced<Power> idlePower, maxPower;
  Sourced<Carbon> embodied;
  Sourced<Money> price;
  const PeakRate *findPeak(Precision p) const;
};

/// Two-protocol collective model inside a node: docs/calibration.md,
/// Collectives.
///   LL     = a0 + a1*K + F*S / (b1*L)
///   Simple = c0 + c1*K + F*S / (b2*L) + g*sqrt(F*S / L)
/// with K = 2(n-1) or n-1 and F = 2(n-1)/n or (n-1)/n; the faster one runs.
struct CollectiveModel {
  Sourced<Time> a0, a1, c0, c1;
  Sourced<Ratio> b1, b2;
  /// The square-root term's coefficient: g*sqrt(x us) us with x = F*S/L, kept
  /// as g^2 (a time) so that it has a unit: sqrt(gSquared * x).
  Sourced<Time> gSquared;
};

/// Reduction inside the switch (NVLS), tried for all_reduce where a node has
/// it: T = latency + S / (efficiency * L) + sqrt(gSquared * S / L).
struct SwitchReductionModel {
  Sourced<Time> latency;
  Sourced<Ratio> efficiency;
  Sourced<Ratio> minimumRanks;
};

struct Node {
  Sourced<Ratio> devices;           // accelerators in one node
  Sourced<Bandwidth> linkBandwidth; // scale-up, one way, per device
  CollectiveModel collective;
  std::optional<SwitchReductionModel> switchReduction;
  Sourced<EnergyPerByte> linkEnergy;
  Sourced<Power> hostPower;     // of the node, without its accelerators
  Sourced<Carbon> hostEmbodied; // of the node, without its accelerators
  Sourced<Money> hostPrice;     // of the node, without its accelerators
};

struct Network {
  Sourced<Bandwidth> nodeBandwidth; // all NICs of one node, one way
  Sourced<Ratio> interfaces;        // NICs of one node
  Sourced<Ratio> efficiency;        // of wire bandwidth achieved
  Sourced<Time> latency;            // of one hop between nodes
  Sourced<Time> latencyPerNode;     // added by each further node of a ring
  Sourced<EnergyPerByte> energy;
  Sourced<Money> pricePerNode;
  Sourced<Carbon> embodiedPerNode;
};

struct Site {
  Sourced<Ratio> pue;
  Sourced<CarbonPerEnergy> gridIntensity;
  Sourced<MoneyPerEnergy> electricityPrice;
  Sourced<MoneyPerPower> facilityPrice; // capex per watt of IT power
  Sourced<Time> facilityLife;
};

struct Finance {
  Sourced<Time> life;         // of the equipment
  Sourced<Ratio> interest;    // per year
  Sourced<Ratio> maintenance; // share of equipment price per year
  Sourced<Ratio> utilization; // share of its life the equipment works
};

struct Machine {
  std::string name;
  Chip chip;
  Node node;
  Network network;
  Site site;
  Finance finance;
};

/// The accelerators of one node. Fails where the figure is no whole number.
llvm::Expected<int64_t> devicesPerNode(const Machine &machine);

/// Which attention kernel a stack runs.
enum class AttentionKernel : uint8_t {
  Unfused,       // batched GEMMs, softmax and dropout as kernels of their own
  Flash,         // the chip's best fused kernel: Chip::attention
  PortableFlash, // Chip::portableAttention
};
std::optional<AttentionKernel> parseAttentionKernel(llvm::StringRef text);

/// Facts about a software stack: docs/calibration.md, Stacks.
struct Stack {
  std::string name;
  Sourced<AttentionKernel> attention;
  Sourced<bool> dropout;
  Sourced<bool> overlapDataParallel;
  Sourced<bool> fusedGradientAccumulation;  // in the GEMM epilogue
  Sourced<Bytes> gradientElement;           // 2 or 4
  Sourced<Bytes> optimizerTraffic;          // per parameter
  Sourced<Time> optimizerHost;              // per step
  Sourced<Bytes> lossForward, lossBackward; // per logit
  Sourced<Bytes> softmaxForward,
      softmaxBackward; // per score, unfused attention
  Sourced<Bytes> dropoutForward,
      dropoutBackward;        // per score, unfused attention
  Sourced<Bytes> dropoutMask; // per dropped element, saved
  /// What dropout adds to a residual connection's traffic, per element: the
  /// mask written forward; a kernel of its own backward.
  Sourced<Bytes> residualDropoutForward, residualDropoutBackward;
  /// Cast and transpose of an operand to a type of one byte or less, per
  /// element: docs/calibration.md, FP8.
  Sourced<Bytes> castTraffic;
  /// Time of a grouped (per expert) contraction over that of a batched one.
  Sourced<Ratio> groupedSlowdown;
  /// Held from the loss's forward to its backward, per logit.
  Sourced<Bytes> lossSaved;
  /// Buffers that live beside the tensors: fixed, and per weight of one layer.
  Sourced<Bytes> workspace, weightWorkspace;
  Sourced<Time> hostPerOp;         // launch cost of one framework op
  Sourced<Ratio> hostOpsPerKernel; // framework ops per dtrain op
  /// Share of a tensor-parallel collective left exposed when it may overlap
  /// independent compute (1: none hidden), forward and backward.
  Sourced<Ratio> tensorExposedForward, tensorExposedBackward;
  /// The same for the backward of a sequence-parallel layer.
  Sourced<Ratio> sequenceExposedBackward;
  /// Share of weight-gradient time that can hide tensor-parallel collectives.
  Sourced<Ratio> weightGradientHides;
  /// With overlapDataParallel: the share of compute that can hide gradient and
  /// parameter collectives, the share of them left exposed all the same, and
  /// the compute lost to interference per unit of hidden time.
  Sourced<Ratio> dataHides, dataExposed, dataInterference;
  /// Share of a pipeline transfer left exposed.
  Sourced<Ratio> pipelineExposed;
};

} // namespace dtrain

#endif // DTRAIN_MODEL_MACHINE_H
