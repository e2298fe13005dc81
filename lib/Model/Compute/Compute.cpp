//===- Compute.cpp - Time of one op on one device -------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Compute/Compute.h"
#include "../Checks.h"
#include "Attention.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

Expected<const PeakRate *> detail::findPeak(const Machine &machine,
                                            Precision precision) {
  if (const PeakRate *peak = machine.chip.findPeak(precision)) {
    if (Error e = requirePositive(
            machine.name, (stringifyPrecision(precision) + " peak").str(),
            peak->rate))
      return e;
    if (Error e = requirePositive(
            machine.name, (stringifyPrecision(precision) + " efficiency").str(),
            peak->efficiency))
      return e;
    return peak;
  }
  std::string known = llvm::join(
      llvm::map_range(machine.chip.peaks,
                      [](const PeakRate &peak) {
                        return stringifyPrecision(peak.precision).str();
                      }),
      ", ");
  return makeError("'" + machine.name + "' has no peak rate for " +
                   stringifyPrecision(precision) + "; expected one of " +
                   (known.empty() ? "none" : known));
}

Expected<Flops> dtrain::flopsOf(const GemmShape &shape) {
  for (auto [what, extent] : {std::pair{"batch", shape.batch},
                              {"m", shape.m},
                              {"n", shape.n},
                              {"k", shape.k}})
    if (Error e = requireCount(what, extent))
      return e;
  return Flops::fromBase(2.0 * shape.batch * shape.m * shape.n * shape.k);
}

Expected<Flops> dtrain::mostCountedFlops(const OpWork &work) {
  switch (work.cls) {
  case OpClass::Contraction:
    return flopsOf(work.gemm);
  case OpClass::Attention:
    return detail::fullAttentionFlops(work.attention);
  case OpClass::AttentionBackward: {
    Expected<Flops> forward = detail::fullAttentionFlops(work.attention);
    if (!forward)
      return forward.takeError();
    return *forward * 2;
  }
  default:
    return work.flops;
  }
}

Expected<Time> dtrain::contractionTime(const Machine &machine,
                                       Precision precision,
                                       const GemmShape &shape, Bytes traffic) {
  const ContractionModel &model = machine.chip.contraction;
  Expected<Flops> flops = flopsOf(shape);
  if (!flops)
    return flops.takeError();
  Expected<const PeakRate *> peak = detail::findPeak(machine, precision);
  if (!peak)
    return peak.takeError();
  if (Error e = requireAmount("contraction traffic", traffic))
    return e;
  if (Error e = requirePositive(machine.name, "contraction compute efficiency",
                                model.computeEfficiency))
    return e;
  if (Error e = requirePositive(machine.name, "contraction memory efficiency",
                                model.memoryEfficiency))
    return e;
  if (Error e = requirePositive(machine.name, "memory bandwidth",
                                machine.chip.memoryBandwidth))
    return e;
  if (Error e = requireNonNegative(machine.name, "contraction launch time",
                                   model.launch))
    return e;
  Time compute = *flops / ((*peak)->rate.value * (*peak)->efficiency.value *
                           model.computeEfficiency.value);
  Time memory = traffic / (machine.chip.memoryBandwidth.value *
                           model.memoryEfficiency.value);
  return model.launch.value + std::max(compute, memory);
}

Expected<Time> dtrain::memoryBoundTime(const Machine &machine, int64_t kernels,
                                       Bytes traffic) {
  const MemoryBoundModel &model = machine.chip.memoryBound;
  if (kernels < 0)
    return makeError("expected a non-negative number of kernels, found " +
                     llvm::Twine(kernels));
  if (Error e = requireAmount("memory traffic", traffic))
    return e;
  if (Error e = requirePositive(machine.name, "memory-bound efficiency",
                                model.efficiency))
    return e;
  if (Error e = requirePositive(machine.name, "memory bandwidth",
                                machine.chip.memoryBandwidth))
    return e;
  if (Error e = requireNonNegative(machine.name, "memory-bound launch time",
                                   model.launch))
    return e;
  return model.launch.value * static_cast<double>(kernels) +
         traffic /
             (machine.chip.memoryBandwidth.value * model.efficiency.value);
}

Expected<Time> dtrain::hostTime(const Stack &stack, int64_t kernels) {
  if (kernels < 0)
    return makeError("expected a non-negative number of kernels, found " +
                     llvm::Twine(kernels));
  if (Error e =
          requireNonNegative(stack.name, "host time per op", stack.hostPerOp))
    return e;
  if (Error e = requireNonNegative(stack.name, "host ops per kernel",
                                   stack.hostOpsPerKernel))
    return e;
  return stack.hostPerOp.value * stack.hostOpsPerKernel.value *
         static_cast<double>(kernels);
}

/// The cost of a memory-bound op of `kernels` kernels that moves `traffic`.
static Expected<OpCost> memoryBoundCost(const Machine &machine, int64_t kernels,
                                        Bytes traffic) {
  Expected<Time> time = memoryBoundTime(machine, kernels, traffic);
  if (!time)
    return time.takeError();
  OpCost cost;
  cost.device = *time;
  cost.traffic = traffic;
  return cost;
}

/// `elements` at a stack's `perElement` bytes; zero elements would be a silent
/// zero, so it is an error.
static Expected<Bytes> stackTraffic(const OpWork &work, const Stack &stack,
                                    llvm::StringRef what,
                                    const Sourced<Bytes> &perElement) {
  if (!std::isfinite(work.elements) || work.elements <= 0)
    return makeError("expected a positive number of elements of a " +
                     stringifyOpClass(work.cls) + " op, found " +
                     llvm::formatv("{0}", work.elements).str());
  if (Error e = requirePositive(stack.name, what, perElement))
    return e;
  return perElement.value * work.elements;
}

static Expected<OpCost> contractionCost(const OpWork &work,
                                        const Machine &machine,
                                        const Stack &stack) {
  Expected<Flops> flops = flopsOf(work.gemm);
  if (!flops)
    return flops.takeError();
  // The shape decides the time; FLOPs counted elsewhere that disagree with it
  // mean that a factor was lost on the way.
  constexpr double kRelativeRounding = 1e-9;
  if (std::abs(work.flops.base() - flops->base()) >
      kRelativeRounding * flops->base())
    return makeError("expected 2*batch*m*n*k = " + flops->str() +
                     " of a contraction, found " + work.flops.str());
  OpCost cost;
  cost.flops = *flops;
  cost.traffic = work.read + work.written;
  Expected<Time> time =
      contractionTime(machine, work.precision, work.gemm, cost.traffic);
  if (!time)
    return time.takeError();
  cost.device = *time;
  if (work.grouped) {
    if (Error e = requirePositive(stack.name, "slowdown of grouped contraction",
                                  stack.groupedSlowdown))
      return e;
    cost.device *= toDouble(stack.groupedSlowdown.value);
  }
  if (work.elements != 0) {
    if (bytesOf(work.precision) > 1)
      return makeError("expected no elements to cast for a contraction in " +
                       stringifyPrecision(work.precision) + ", found " +
                       llvm::formatv("{0}", work.elements).str());
    Expected<Bytes> traffic =
        stackTraffic(work, stack, "cast traffic", stack.castTraffic);
    if (!traffic)
      return traffic.takeError();
    Expected<OpCost> cast = memoryBoundCost(machine, 1, *traffic);
    if (!cast)
      return cast.takeError();
    cost += *cast;
  }
  return cost;
}

/// Costs an op at its natural bytes. On a residual connection, a stack with
/// dropout moves more, and its backward is then a kernel of its own.
static Expected<OpCost> naturalCost(const OpWork &work, const Machine &machine,
                                    const Stack &stack) {
  Bytes traffic = work.read + work.written;
  int64_t kernels = work.kernels;
  if (work.dropout != ResidualDropout::None)
    if (Error e = requireGiven(stack.name, "use of dropout", stack.dropout))
      return e;
  if (stack.dropout.value && work.dropout != ResidualDropout::None) {
    bool backward = work.dropout == ResidualDropout::Backward;
    Expected<Bytes> extra =
        stackTraffic(work, stack, "residual dropout traffic",
                     backward ? stack.residualDropoutBackward
                              : stack.residualDropoutForward);
    if (!extra)
      return extra.takeError();
    traffic += *extra;
    kernels += backward;
  }
  return memoryBoundCost(machine, kernels, traffic);
}

static Expected<OpCost>
accumulateCost(const OpWork &work, const Machine &machine, const Stack &stack) {
  if (Error e = requireGiven(stack.name, "fusion of gradient accumulation",
                             stack.fusedGradientAccumulation))
    return e;
  if (!stack.fusedGradientAccumulation.value)
    return naturalCost(work, machine, stack);
  // The epilogue of the contraction reads and writes the accumulator; the
  // gradient itself never reaches memory and nothing more is launched.
  Expected<Bytes> element =
      stackTraffic(work, stack, "gradient element", stack.gradientElement);
  if (!element)
    return element.takeError();
  return memoryBoundCost(machine, 0, *element * 2);
}

static Expected<OpCost> overriddenCost(const OpWork &work,
                                       const Machine &machine,
                                       const Stack &stack, llvm::StringRef what,
                                       const Sourced<Bytes> &perElement) {
  Expected<Bytes> traffic = stackTraffic(work, stack, what, perElement);
  if (!traffic)
    return traffic.takeError();
  return memoryBoundCost(machine, work.kernels, *traffic);
}

static Expected<OpCost> deviceCost(const OpWork &work, const Machine &machine,
                                   const Stack &stack) {
  switch (work.cls) {
  case OpClass::Contraction:
    return contractionCost(work, machine, stack);
  case OpClass::Attention:
    return detail::attentionCost(work, machine, stack, /*backward=*/false);
  case OpClass::AttentionBackward:
    return detail::attentionCost(work, machine, stack, /*backward=*/true);
  case OpClass::MemoryBound:
    return naturalCost(work, machine, stack);
  case OpClass::Move:
    return OpCost(); // a view: nothing moves
  case OpClass::Loss:
    return overriddenCost(work, machine, stack, "loss traffic per logit",
                          stack.lossForward);
  case OpClass::LossBackward:
    return overriddenCost(work, machine, stack,
                          "loss backward traffic per logit",
                          stack.lossBackward);
  case OpClass::Accumulate:
    return accumulateCost(work, machine, stack);
  case OpClass::Optimizer:
    return overriddenCost(work, machine, stack,
                          "optimizer traffic per parameter",
                          stack.optimizerTraffic);
  }
  llvm_unreachable("covered switch");
}

Expected<OpCost> dtrain::costOf(const OpWork &work, const Machine &machine,
                                const Stack &stack) {
  if (Error e = requireAmount("FLOPs", work.flops))
    return e;
  if (Error e = requireAmount("bytes read", work.read))
    return e;
  if (Error e = requireAmount("bytes written", work.written))
    return e;
  Expected<OpCost> cost = deviceCost(work, machine, stack);
  if (!cost)
    return cost;
  // Contractions and attention count FLOPs by their shape.
  if (cost->flops == Flops())
    cost->flops = work.flops;
  Expected<Time> host =
      hostTime(stack, work.cls == OpClass::Move ? 0 : work.kernels);
  if (!host)
    return host.takeError();
  cost->host = *host;
  return cost;
}

Expected<Time> dtrain::timeOf(const OpWork &work, const Machine &machine,
                              const Stack &stack) {
  Expected<OpCost> cost = costOf(work, machine, stack);
  if (!cost)
    return cost.takeError();
  return cost->device;
}
