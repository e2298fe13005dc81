//===- Operators.cpp - What the step is made of, by kind of task ----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Report/Report.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <tuple>

using namespace dtrain;

namespace {
/// Visits the tasks of a scope with how often they run.
class Counter {
public:
  explicit Counter(const SolvedStep &solved) : solved(solved) {}
  void count(llvm::ArrayRef<StepOp> ops, double times);
  std::vector<OperatorUse> sorted();

private:
  void add(const StepTask &task, double times);
  const SolvedStep &solved;
  std::map<std::pair<std::string, std::string>, OperatorUse> uses;
};
} // namespace

/// The class of work, or the communication and its axes, or the resource.
static std::string kindOf(const Payload &payload) {
  if (const auto *work = std::get_if<StepWork>(&payload))
    return stringifyOpClass(work->cls).str();
  if (const auto *comm = std::get_if<StepComm>(&payload))
    return (stringifyCollectiveKind(comm->kind) + " " + comm->axisNames())
        .str();
  return "transfer " + std::get<StepTransfer>(payload).resource;
}

void Counter::add(const StepTask &task, double times) {
  const Payload &payload = solved.problem.payloads[task.payload];
  std::string kind = kindOf(payload);
  OperatorUse &use = uses[{task.name, kind}];
  use.name = task.name;
  use.kind = kind;
  use.count += times;
  const PayloadCost &cost = solved.prices.costs[task.payload];
  const EvaluatedPayload &evaluated = solved.step.payloads[task.payload];
  use.flops += cost.flops * times;
  use.bytes +=
      (std::holds_alternative<StepWork>(payload)   ? cost.traffic
       : std::holds_alternative<StepComm>(payload) ? evaluated.sent
                                                   : evaluated.tensor) *
      times;
  use.time += cost.device * times;
}

void Counter::count(llvm::ArrayRef<StepOp> ops, double times) {
  for (const StepOp &op : ops)
    if (const StepCall *call = op.call())
      count(solved.problem.bodies[call->body].ops,
            times * static_cast<double>(call->times));
    else
      add(*op.task(), times);
}

std::vector<OperatorUse> Counter::sorted() {
  std::vector<OperatorUse> list;
  for (auto &[key, use] : uses)
    list.push_back(use);
  llvm::sort(list, [](const OperatorUse &a, const OperatorUse &b) {
    return std::tie(b.time, a.name, a.kind) < std::tie(a.time, b.name, b.kind);
  });
  return list;
}

std::vector<OperatorUse> dtrain::operatorsOf(const SolvedStep &solved,
                                             unsigned c) {
  Counter counter(solved);
  for (const StepSegment &segment : solved.problem.classes[c].segments)
    counter.count(segment.ops, runsOf(solved.step, segment));
  return counter.sorted();
}
