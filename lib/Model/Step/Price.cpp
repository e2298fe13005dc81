//===- Price.cpp - What the tasks of a step cost --------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Step/Price.h"
#include "../Checks.h"
#include "dtrain/Model/Collective/Overlap.h"

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

static Expected<PayloadCost> costOfWork(const EvaluatedPayload &payload,
                                        const Machine &machine,
                                        const Stack &stack) {
  Expected<OpCost> cost = costOf(payload.work, machine, stack);
  if (!cost)
    return cost.takeError();
  PayloadCost result;
  static_cast<OpCost &>(result) = *cost;
  result.flops *= toDouble(payload.meanFlops);
  result.traffic *= toDouble(payload.meanBytes);
  return result;
}

static Expected<PayloadCost> costOfComm(const StepComm &comm,
                                        const EvaluatedPayload &payload,
                                        const Machine &machine,
                                        const Stack &stack) {
  PayloadCost result;
  if (payload.layout.ranks == 1)
    return result;
  Expected<Time> time =
      collectiveTime(machine, comm.kind, payload.tensor, payload.layout);
  if (!time)
    return time.takeError();
  Expected<Time> host = hostTime(stack, 1);
  if (!host)
    return host.takeError();
  result.device = *time;
  result.host = *host;
  double crossing = payload.layout.crossingShare();
  Bytes sent = payload.sent * toDouble(payload.meanBytes);
  result.network = sent * crossing;
  result.link = sent * (1 - crossing);
  return result;
}

static PayloadCost costOfTransfer(const StepProblem &problem,
                                  const StepTransfer &transfer, Bytes bytes) {
  PayloadCost result;
  for (const StepResource &resource : problem.resources)
    if (resource.name == transfer.resource)
      result.device = resource.latency + bytes / resource.bandwidth;
  return result;
}

Expected<PayloadCost> dtrain::priceOf(const EvaluatedStep &step, unsigned index,
                                      const Machine &machine,
                                      const Stack &stack) {
  const Payload &payload = step.problem->payloads[index];
  const EvaluatedPayload &evaluated = step.payloads[index];
  if (std::holds_alternative<StepWork>(payload))
    return costOfWork(evaluated, machine, stack);
  if (const auto *comm = std::get_if<StepComm>(&payload))
    return costOfComm(*comm, evaluated, machine, stack);
  return costOfTransfer(*step.problem, std::get<StepTransfer>(payload),
                        evaluated.tensor);
}

/// What unfused attention keeps of each score: its softmax, and what dropout
/// leaves of it.
static Bytes bytesPerScore(const StepProblem &problem, const Stack &stack) {
  if (stack.attention.value != AttentionKernel::Unfused)
    return Bytes();
  for (const Payload &payload : problem.payloads) {
    const auto *work = std::get_if<StepWork>(&payload);
    if (!work || work->cls != OpClass::Attention)
      continue;
    Bytes element = Bytes::fromBase(bytesOf(work->precision));
    return stack.dropout.value ? element * 2.0 + stack.dropoutMask.value
                               : element;
  }
  return Bytes();
}

static Error setHidings(const Stack &stack, StepPrices &prices) {
  for (unsigned purpose = 0; purpose < prices.hidings.size(); ++purpose)
    for (bool backward : {false, true}) {
      Expected<Hiding> hiding =
          hidingOf(stack, static_cast<Purpose>(purpose), backward);
      if (!hiding)
        return hiding.takeError();
      prices.hidings[purpose][backward] = *hiding;
    }
  return Error::success();
}

Expected<StepPrices> dtrain::price(const EvaluatedStep &step,
                                   const Machine &machine, const Stack &stack) {
  StepPrices prices;
  prices.target = machine.name;
  prices.stack = stack.name;
  prices.costs.reserve(step.payloads.size());
  for (size_t i = 0; i < step.payloads.size(); ++i) {
    Expected<PayloadCost> cost = priceOf(step, i, machine, stack);
    if (!cost)
      return cost.takeError();
    prices.costs.push_back(*cost);
  }
  if (Error e = setHidings(stack, prices))
    return e;
  prices.optimizerHost = stack.optimizerHost.value;
  prices.perLogit = stack.lossSaved.value;
  prices.perScore = bytesPerScore(*step.problem, stack);
  if (stack.dropout.value)
    prices.perDropped = stack.dropoutMask.value;
  prices.workspace = stack.workspace.value;
  prices.perWeight = stack.weightWorkspace.value;
  return prices;
}
