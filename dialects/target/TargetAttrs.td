//===----------------------------------------------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The records of a machine and of a software stack: the fields of
// dtrain/Model/Machine.h, in the same order.

#ifndef DTRAIN_TARGET_ATTRS_TD
#define DTRAIN_TARGET_ATTRS_TD

include "target/TargetFields.td"

//===----------------------------------------------------------------------===//
// Chip
//===----------------------------------------------------------------------===//

def Target_PeakAttr : Target_Record<"Peak", "peak", "::dtrain::PeakRate", [
  Figure<"rate", "rate", "FlopRate", "Positive", "the fastest dense rate", "Dense">,
  Figure<"efficiency", "efficiency", "Ratio", "Positive", "multiplies the compute efficiency of contractions">,
  Figure<"energy", "energy", "Ratio", "Positive", "multiplies the energy per FLOP">,
], [{
    The peak rate of one element type, and how the type differs from the one the
    chip was calibrated with, where both ratios are 1.
  }], ["precision"]> {
  let summary = "Peak rate of one element type";
}

def Target_PeaksAttr : Target_Record<"Peaks", "peaks",
    "::llvm::SmallVector<::dtrain::PeakRate, 4>", [
  Peak<"fp64", "64-bit floating point">,
  Peak<"fp32", "32-bit floating point">,
  Peak<"tf32", "32-bit storage, 10-bit mantissa products">,
  Peak<"bf16", "bfloat16">,
  Peak<"fp16", "16-bit floating point">,
  Peak<"fp8", "8-bit floating point">,
  Peak<"fp4", "4-bit floating point">,
  Peak<"int8", "8-bit integer">,
], [{
    The element types the chip computes in. A type that is absent has no peak:
    asking for it is an error, not another rate.
  }], [], "verifyPeaks", ["(C5) there is at least one peak."]> {
  let summary = "Peak rates by element type";
}

def Target_ContractionAttr : Target_Record<"Contraction", "contraction",
    "::dtrain::ContractionModel", [
  Figure<"compute_efficiency", "computeEfficiency", "Ratio", "Efficiency", "share of the peak that a large product reaches">,
  Figure<"memory_efficiency", "memoryEfficiency", "Ratio", "Efficiency", "share of the memory bandwidth">,
  Figure<"launch", "launch", "Time", "NonNegative", "of one kernel">,
], [{
    Time of a contraction: launch + max(flops / (compute_efficiency * peak),
    bytes / (memory_efficiency * bandwidth)).
  }]> {
  let summary = "How fast contractions run";
}

def Target_NarrowHeadAttr : Target_Record<"NarrowHead", "narrow_head",
    "::dtrain::NarrowHead", [
  Figure<"below", "below", "Ratio", "Count", "elements of one head">,
  Figure<"slowdown", "slowdown", "Ratio", "AtLeastOne", "over the time of a wide head">,
], [{
    A fused attention kernel is slower on heads narrower than `below`.
  }]> {
  let summary = "Slowdown on narrow heads";
}

def Target_AttentionAttr : Target_Record<"Attention", "attention",
    "::dtrain::AttentionModel", [
  Figure<"efficiency", "efficiency", "Ratio", "Efficiency", "share of the peak, forward">,
  Figure<"overhead_tokens", "overheadTokens", "Ratio", "NonNegative", "keys that each query costs beyond the causal half">,
  Figure<"backward_flops", "backwardFlops", "Ratio", "AtLeastTwo", "FLOPs of backward over forward: four products for two, and what is computed again">,
  Figure<"backward_efficiency", "backwardEfficiency", "Ratio", "Positive", "efficiency of backward over forward">,
  Figure<"launch", "launch", "Time", "NonNegative", "of one kernel">,
  NestedList<"narrow_heads", "narrowHeads", "NarrowHead", "the first that a head is narrower than applies">,
], [{
    Time of a fused attention kernel, forward: launch + 2 b a (d + e) (pairs +
    overhead_tokens * s) * slowdown / (efficiency * peak), for b sequences, a
    heads of widths d and e, and s queries; pairs is s^2/2 if causal.
  }], [], "verifyAttention", [
    "(C5) narrow heads are listed in ascending order.",
    "(C6) backward reaches at most its peak: efficiency times backward_efficiency is up to 1."]> {
  let summary = "How fast fused attention runs";
}

def Target_MemoryBoundAttr : Target_Record<"MemoryBound", "memory_bound",
    "::dtrain::MemoryBoundModel", [
  Figure<"efficiency", "efficiency", "Ratio", "Efficiency", "share of the memory bandwidth">,
  Figure<"launch", "launch", "Time", "NonNegative", "of one kernel">,
], [{
    Time of an operation that moves bytes: kernels * launch +
    bytes / (efficiency * bandwidth).
  }]> {
  let summary = "How fast memory-bound operations run";
}

def Target_ChipAttr : Target_Record<"Chip", "chip", "::dtrain::Chip", [
  Text<"name", "name", "the product">,
  Nested<"peaks", "peaks", "Peaks", "peak rates">,
  Figure<"memory_capacity", "memoryCapacity", "Bytes", "Positive", "in the unit the datasheet means: an 80 GB A100 has 80 GiB">,
  Figure<"memory_bandwidth", "memoryBandwidth", "Bandwidth", "Positive", "of the device memory">,
  Nested<"contraction", "contraction", "Contraction", "speed of contractions">,
  Nested<"attention", "attention", "Attention", "speed of the best fused attention kernel">,
  OptionalNested<"portable_attention", "portableAttention", "Attention", "speed of a fused kernel not written for this chip's matrix unit">,
  Nested<"memory_bound", "memoryBound", "MemoryBound", "speed of the rest">,
  Figure<"energy_per_flop", "energyPerFlop", "EnergyPerFlop", "Positive", "at the 16-bit matrix unit">,
  Figure<"energy_per_memory_byte", "energyPerMemoryByte", "EnergyPerByte", "Positive", "of device memory traffic">,
  Figure<"idle_power", "idlePower", "Power", "Positive", "drawn without work">,
  Figure<"max_power", "maxPower", "Power", "Positive", "the cap">,
  Figure<"embodied", "embodied", "Carbon", "Positive", "of making one">,
  Figure<"price", "price", "Money", "Positive", "of one">,
], [{
    One accelerator.
  }], [], "verifyChip", [
    "(C5) the idle power does not exceed the maximum power.",
    "(C6) contractions reach at most the peak: a peak's efficiency times compute_efficiency is up to 1."]> {
  let summary = "One accelerator";
}

//===----------------------------------------------------------------------===//
// Node and network
//===----------------------------------------------------------------------===//

def Target_CollectiveAttr : Target_Record<"Collective", "collective",
    "::dtrain::CollectiveModel", [
  Figure<"a0", "a0", "Time", "NonNegative", "start of the low-latency protocol">,
  Figure<"a1", "a1", "Time", "NonNegative", "its step">,
  Figure<"c0", "c0", "Time", "NonNegative", "start of the bandwidth protocol">,
  Figure<"c1", "c1", "Time", "NonNegative", "its step">,
  Figure<"b1", "b1", "Ratio", "Efficiency", "share of the link, low-latency protocol">,
  Figure<"b2", "b2", "Ratio", "Efficiency", "share of the link, bandwidth protocol">,
  Figure<"g_squared", "gSquared", "Time", "NonNegative", "of the square-root term: sqrt(g_squared * F * S / L)">,
], [{
    Time of a collective inside a node: the smaller of
    a0 + a1 K + F S / (b1 L) and c0 + c1 K + F S / (b2 L) + sqrt(g_squared F S / L),
    with S the bytes of the full tensor, L the link, K the steps, F the share
    of S that crosses a link.
  }]> {
  let summary = "How fast collectives run inside a node";
}

def Target_SwitchReductionAttr : Target_Record<"SwitchReduction", "switch_reduction",
    "::dtrain::SwitchReductionModel", [
  Figure<"latency", "latency", "Time", "NonNegative", "of one all-reduce">,
  Figure<"efficiency", "efficiency", "Ratio", "Efficiency", "share of the link">,
  Figure<"minimum_ranks", "minimumRanks", "Ratio", "Count", "fewest ranks that use it">,
], [{
    All-reduce inside the switch: latency + S / (efficiency * L) +
    sqrt(g_squared S / L), with g_squared of the node's collectives.
  }]> {
  let summary = "All-reduce inside the switch";
}

def Target_NodeAttr : Target_Record<"Node", "node", "::dtrain::Node", [
  Figure<"devices", "devices", "Ratio", "Count", "accelerators in one node">,
  Figure<"link_bandwidth", "linkBandwidth", "Bandwidth", "Positive", "of the scale-up link of one device", "OneWay">,
  Nested<"collective", "collective", "Collective", "speed of collectives inside">,
  OptionalNested<"switch_reduction", "switchReduction", "SwitchReduction", "all-reduce by the switch, where it can">,
  Figure<"link_energy", "linkEnergy", "EnergyPerByte", "Positive", "of scale-up traffic">,
  Figure<"host_power", "hostPower", "Power", "Positive", "of the node without its accelerators">,
  Figure<"host_embodied", "hostEmbodied", "Carbon", "NonNegative", "of the node without its accelerators">,
  Figure<"host_price", "hostPrice", "Money", "NonNegative", "of the node without its accelerators">,
], [{
    A server: accelerators joined by a scale-up network, and what hosts them.
  }]> {
  let summary = "A server of accelerators";
}

def Target_NetworkAttr : Target_Record<"Network", "network", "::dtrain::Network", [
  Figure<"node_bandwidth", "nodeBandwidth", "Bandwidth", "Positive", "of all network adapters of one node", "OneWay">,
  Figure<"interfaces", "interfaces", "Ratio", "Count", "network adapters of one node">,
  Figure<"efficiency", "efficiency", "Ratio", "Efficiency", "share of the wire bandwidth that is achieved">,
  Figure<"latency", "latency", "Time", "NonNegative", "of one hop between nodes">,
  Figure<"latency_per_node", "latencyPerNode", "Time", "NonNegative", "added by each further node of a ring">,
  Figure<"energy", "energy", "EnergyPerByte", "Positive", "of traffic between nodes, adapters and switches included">,
  Figure<"price_per_node", "pricePerNode", "Money", "NonNegative", "of adapters, cables and the node's share of the switches">,
  Figure<"embodied_per_node", "embodiedPerNode", "Carbon", "NonNegative", "of the same">,
], [{
    The scale-out network between nodes.
  }]> {
  let summary = "The network between nodes";
}

//===----------------------------------------------------------------------===//
// Site and finance
//===----------------------------------------------------------------------===//

def Target_SiteAttr : Target_Record<"Site", "site", "::dtrain::Site", [
  Figure<"pue", "pue", "Ratio", "AtLeastOne", "facility energy over equipment energy">,
  Figure<"grid_intensity", "gridIntensity", "CarbonPerEnergy", "NonNegative", "of the electricity, location-based">,
  Figure<"electricity_price", "electricityPrice", "MoneyPerEnergy", "Positive", "flat tariff">,
  Figure<"facility_price", "facilityPrice", "MoneyPerPower", "NonNegative", "capital cost per watt of equipment">,
  Figure<"facility_life", "facilityLife", "Time", "Positive", "over which it is paid off">,
], [{
    The building and its electricity.
  }]> {
  let summary = "The building and its electricity";
}

def Target_FinanceAttr : Target_Record<"Finance", "finance", "::dtrain::Finance", [
  Figure<"life", "life", "Time", "Positive", "of the equipment">,
  Figure<"interest", "interest", "Ratio", "NonNegative", "per year">,
  Figure<"maintenance", "maintenance", "Ratio", "NonNegative", "share of the equipment's price per year">,
  Figure<"utilization", "utilization", "Ratio", "Efficiency", "share of its life the equipment works">,
], [{
    How equipment is paid for.
  }]> {
  let summary = "How equipment is paid for";
}

def Target_MachineAttr : Target_Record<"Machine", "machine", "::dtrain::Machine", [
  Nested<"chip", "chip", "Chip", "the accelerator">,
  Nested<"node", "node", "Node", "the server">,
  Nested<"network", "network", "Network", "between servers">,
  Nested<"site", "site", "Site", "where it stands">,
  Nested<"finance", "finance", "Finance", "how it is paid">,
], [{
    A whole machine. Its name is that of the operation that holds it.
  }], ["name"]> {
  let summary = "A machine";
}

//===----------------------------------------------------------------------===//
// Software stack
//===----------------------------------------------------------------------===//

def Target_StackAttr : Target_Record<"Stack", "stack", "::dtrain::Stack", [
  Fact<"attention", "attention", ["unfused", "flash", "portable_flash"], "the attention kernel">,
  Flag<"dropout", "dropout", "dropout is trained with">,
  Flag<"overlap_data_parallel", "overlapDataParallel", "gradients are reduced during backward">,
  Flag<"fused_gradient_accumulation", "fusedGradientAccumulation", "weight gradients are accumulated by the product that makes them">,
  Figure<"gradient_element", "gradientElement", "Bytes", "Positive", "of one stored gradient">,
  Figure<"optimizer_traffic", "optimizerTraffic", "Bytes", "Positive", "per parameter and step">,
  Figure<"optimizer_host", "optimizerHost", "Time", "NonNegative", "of the host, per step">,
  Figure<"loss_forward", "lossForward", "Bytes", "Positive", "moved per logit">,
  Figure<"loss_backward", "lossBackward", "Bytes", "Positive", "moved per logit">,
  Figure<"softmax_forward", "softmaxForward", "Bytes", "Positive", "moved per score, unfused attention">,
  Figure<"softmax_backward", "softmaxBackward", "Bytes", "Positive", "moved per score, unfused attention">,
  Figure<"dropout_forward", "dropoutForward", "Bytes", "Positive", "moved per score, unfused attention">,
  Figure<"dropout_backward", "dropoutBackward", "Bytes", "Positive", "moved per score, unfused attention">,
  Figure<"dropout_mask", "dropoutMask", "Bytes", "NonNegative", "saved per dropped element">,
  Figure<"residual_dropout_forward", "residualDropoutForward", "Bytes", "Positive", "added to a residual connection's traffic, per element">,
  Figure<"residual_dropout_backward", "residualDropoutBackward", "Bytes", "Positive", "added to a residual connection's traffic, per element">,
  Figure<"cast_traffic", "castTraffic", "Bytes", "Positive", "of casting an operand to a type of one byte or less, per element">,
  Figure<"grouped_slowdown", "groupedSlowdown", "Ratio", "AtLeastOne", "of a grouped contraction over a batched one">,
  Figure<"loss_saved", "lossSaved", "Bytes", "NonNegative", "held from the loss's forward to its backward, per logit">,
  Figure<"workspace", "workspace", "Bytes", "NonNegative", "buffers beside the tensors">,
  Figure<"weight_workspace", "weightWorkspace", "Bytes", "NonNegative", "buffers beside the tensors, per weight of the linear layers, one of each shape">,
  Figure<"host_per_op", "hostPerOp", "Time", "NonNegative", "to launch one framework operation">,
  Figure<"host_ops_per_kernel", "hostOpsPerKernel", "Ratio", "NonNegative", "framework operations per operation of the program">,
  Figure<"tensor_exposed_forward", "tensorExposedForward", "Ratio", "Share", "of a tensor-parallel collective, where it may overlap">,
  Figure<"tensor_exposed_backward", "tensorExposedBackward", "Ratio", "Share", "of a tensor-parallel collective, where it may overlap">,
  Figure<"sequence_exposed_backward", "sequenceExposedBackward", "Ratio", "Share", "the same, of a sequence-parallel layer">,
  Figure<"weight_gradient_hides", "weightGradientHides", "Ratio", "Share", "of weight-gradient time that hides tensor-parallel collectives">,
  Figure<"data_hides", "dataHides", "Ratio", "Share", "of compute that can hide gradient and parameter collectives">,
  Figure<"data_exposed", "dataExposed", "Ratio", "Share", "of those collectives, left exposed all the same">,
  Figure<"data_interference", "dataInterference", "Ratio", "NonNegative", "compute time lost per unit of hidden time">,
  Figure<"pipeline_exposed", "pipelineExposed", "Ratio", "Share", "of a pipeline transfer">,
], [{
    What a training framework does on any machine.
  }], ["name"], "verifyStack", ["(C5) a gradient element has 2 or 4 bytes."]> {
  let summary = "A software stack";
}

#endif // DTRAIN_TARGET_ATTRS_TD
