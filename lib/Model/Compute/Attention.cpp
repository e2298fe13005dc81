//===- Attention.cpp - Time of the attention core -------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Attention.h"
#include "../Checks.h"

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

static Error checkShape(const AttentionShape &shape) {
  for (auto [what, extent] : {std::pair{"attention batch", shape.batch},
                              {"attention heads", shape.heads},
                              {"attention kv heads", shape.kvHeads},
                              {"query length", shape.queryLength},
                              {"key length", shape.keyLength},
                              {"head dimension", shape.headDim},
                              {"value dimension", shape.valueDim}})
    if (Error e = requireCount(what, extent))
      return e;
  if (shape.heads % shape.kvHeads != 0)
    return makeError("expected attention heads to be a multiple of the " +
                     llvm::Twine(shape.kvHeads) + " kv heads, found " +
                     llvm::Twine(shape.heads));
  if (shape.causal && shape.queryLength > shape.keyLength)
    return makeError("expected at most " + llvm::Twine(shape.keyLength) +
                     " queries in causal attention, one per key, found " +
                     llvm::Twine(shape.queryLength));
  return Error::success();
}

/// Score elements that a kernel with causal skipping computes, for one head:
/// queries are the last of the keys, and the diagonal counts half.
static double scoresOfHead(const AttentionShape &shape) {
  double s = shape.queryLength, t = shape.keyLength;
  return shape.causal ? s * (t - s / 2) : s * t;
}

/// FLOPs of `scores` score elements per head: queries times keys, and
/// probabilities times values.
static Flops forwardFlops(const AttentionShape &shape, double scores) {
  return Flops::fromBase(2.0 * shape.batch * shape.heads *
                         (static_cast<double>(shape.headDim) + shape.valueDim) *
                         scores);
}

Expected<Flops> detail::fullAttentionFlops(const AttentionShape &shape) {
  if (Error e = checkShape(shape))
    return e;
  return forwardFlops(shape, static_cast<double>(shape.queryLength) *
                                 static_cast<double>(shape.keyLength));
}

static double narrowHeadSlowdown(const AttentionModel &kernel,
                                 const AttentionShape &shape) {
  double width = std::max(shape.headDim, shape.valueDim);
  for (const NarrowHead &narrow : kernel.narrowHeads)
    if (width < toDouble(narrow.below.value))
      return toDouble(narrow.slowdown.value);
  return 1;
}

static Error checkKernel(const Machine &machine, const AttentionModel &kernel) {
  if (Error e = requirePositive(machine.name, "attention efficiency",
                                kernel.efficiency))
    return e;
  if (Error e = requireNonNegative(machine.name, "attention overhead tokens",
                                   kernel.overheadTokens))
    return e;
  if (Error e = requirePositive(machine.name, "attention backward FLOPs ratio",
                                kernel.backwardFlops))
    return e;
  if (Error e = requirePositive(machine.name, "attention backward efficiency",
                                kernel.backwardEfficiency))
    return e;
  if (Error e = requireNonNegative(machine.name, "attention launch time",
                                   kernel.launch))
    return e;
  for (const NarrowHead &narrow : kernel.narrowHeads) {
    if (Error e =
            requirePositive(machine.name, "narrow head width", narrow.below))
      return e;
    if (Error e = requirePositive(machine.name, "narrow head slowdown",
                                  narrow.slowdown))
      return e;
  }
  return Error::success();
}

Expected<Time> dtrain::fusedAttentionTime(const Machine &machine,
                                          const AttentionModel &kernel,
                                          Precision precision,
                                          const AttentionShape &shape,
                                          bool backward) {
  if (Error e = checkShape(shape))
    return e;
  if (Error e = checkKernel(machine, kernel))
    return e;
  Expected<const PeakRate *> peak = detail::findPeak(machine, precision);
  if (!peak)
    return peak.takeError();
  double scores = scoresOfHead(shape) +
                  toDouble(kernel.overheadTokens.value) * shape.queryLength;
  Flops flops = forwardFlops(shape, scores) * narrowHeadSlowdown(kernel, shape);
  FlopRate rate = (*peak)->rate.value * kernel.efficiency.value;
  if (backward) {
    flops *= toDouble(kernel.backwardFlops.value);
    rate *= toDouble(kernel.backwardEfficiency.value);
  }
  return kernel.launch.value + flops / rate;
}

/// Appends the batched multiplication m x k by k x n to `cost`.
static Error addContraction(OpCost &cost, const Machine &machine,
                            Precision precision, int64_t batch, int64_t m,
                            int64_t n, int64_t k) {
  double elements = (1.0 * m * k + 1.0 * n * k + 1.0 * m * n) * batch;
  Bytes traffic = Bytes::fromBase(bytesOf(precision) * elements);
  GemmShape shape{batch, m, n, k};
  Expected<Flops> flops = flopsOf(shape);
  if (!flops)
    return flops.takeError();
  Expected<Time> time = contractionTime(machine, precision, shape, traffic);
  if (!time)
    return time.takeError();
  cost.device += *time;
  cost.flops += *flops;
  cost.traffic += traffic;
  return Error::success();
}

/// Appends one kernel over all score elements to `cost`.
static Error addScoreKernel(OpCost &cost, const Machine &machine,
                            const Stack &stack, llvm::StringRef what,
                            const Sourced<Bytes> &perScore, double scores) {
  if (Error e = requirePositive(stack.name, what, perScore))
    return e;
  Bytes traffic = perScore.value * scores;
  Expected<Time> time = memoryBoundTime(machine, /*kernels=*/1, traffic);
  if (!time)
    return time.takeError();
  cost.device += *time;
  cost.traffic += traffic;
  return Error::success();
}

Expected<OpCost> dtrain::unfusedAttentionCost(const Machine &machine,
                                              const Stack &stack,
                                              Precision precision,
                                              const AttentionShape &shape,
                                              bool backward) {
  if (Error e = checkShape(shape))
    return e;
  if (shape.batch > INT64_MAX / shape.heads)
    return makeError("expected batch * heads to fit 64 bits, found " +
                     llvm::Twine(shape.batch) + " * " +
                     llvm::Twine(shape.heads));
  int64_t batch = shape.batch * shape.heads;
  int64_t s = shape.queryLength, t = shape.keyLength;
  int64_t d = shape.headDim, e = shape.valueDim;
  double scores = 1.0 * batch * s * t;

  OpCost cost;
  struct Product {
    int64_t m, n, k;
  };
  const Product forward[] = {{s, t, d}, {s, e, t}};
  const Product reverse[] = {{t, e, s}, {s, t, e}, {s, d, t}, {t, d, s}};
  for (const Product &p :
       backward ? llvm::ArrayRef(reverse) : llvm::ArrayRef<Product>(forward))
    if (Error err =
            addContraction(cost, machine, precision, batch, p.m, p.n, p.k))
      return err;
  if (Error err = addScoreKernel(
          cost, machine, stack, "softmax traffic per score",
          backward ? stack.softmaxBackward : stack.softmaxForward, scores))
    return err;
  if (Error err = requireGiven(stack.name, "use of dropout", stack.dropout))
    return err;
  if (stack.dropout.value)
    if (Error err = addScoreKernel(
            cost, machine, stack, "dropout traffic per score",
            backward ? stack.dropoutBackward : stack.dropoutForward, scores))
      return err;
  return cost;
}

Expected<OpCost> detail::attentionCost(const OpWork &work,
                                       const Machine &machine,
                                       const Stack &stack, bool backward) {
  const AttentionShape &shape = work.attention;
  if (Error e = requireGiven(stack.name, "attention kernel", stack.attention))
    return e;
  if (stack.attention.value == AttentionKernel::Unfused)
    return unfusedAttentionCost(machine, stack, work.precision, shape,
                                backward);
  const AttentionModel *kernel = &machine.chip.attention;
  if (stack.attention.value == AttentionKernel::PortableFlash) {
    if (!machine.chip.portableAttention)
      return makeError("'" + machine.name +
                       "' has no figures for the portable attention kernel "
                       "that stack '" +
                       stack.name + "' runs");
    kernel = &*machine.chip.portableAttention;
  }
  Expected<Time> time =
      fusedAttentionTime(machine, *kernel, work.precision, shape, backward);
  if (!time)
    return time.takeError();
  OpCost cost;
  cost.device = *time;
  cost.flops = forwardFlops(shape, scoresOfHead(shape));
  if (backward)
    cost.flops *= toDouble(kernel->backwardFlops.value);
  cost.traffic = work.read + work.written;
  return cost;
}
