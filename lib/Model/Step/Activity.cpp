//===- Activity.cpp - What the devices of a step do in all ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Step/Solve.h"
#include "llvm/ADT/STLExtras.h"

using namespace dtrain;

void Activity::add(const Activity &o, double times) {
  model += o.model * times;
  hardware += o.hardware * times;
  for (auto &[precision, f] : o.flops)
    flops[precision] += f * times;
  for (auto &[precision, f] : o.contracted)
    contracted[precision] += f * times;
  traffic += o.traffic * times;
  link += o.link * times;
  network += o.network * times;
  for (auto &[axes, bytes] : o.sent)
    sent[axes] += bytes * times;
  tasks += o.tasks * times;
}

namespace {
/// Sums up tasks; a body is summed up once.
class Collector {
public:
  Collector(const EvaluatedStep &step, const StepPrices &prices)
      : step(step), prices(prices) {
    for (const StepBody &body : step.problem->bodies)
      bodies.push_back(activityOf(body.ops));
  }
  Activity activityOf(const DeviceClass &c) const {
    Activity total;
    for (const StepSegment &segment : c.segments)
      total.add(activityOf(segment.ops), runsOf(step, segment));
    return total;
  }

private:
  Activity activityOf(llvm::ArrayRef<StepOp> ops) const;
  void addTask(const StepTask &task, Activity &activity) const;

  const EvaluatedStep &step;
  const StepPrices &prices;
  std::vector<Activity> bodies;
};
} // namespace

double dtrain::runsOf(const EvaluatedStep &step, const StepSegment &segment) {
  return segment.kind < 0 ? segment.count : step.shape.microBatches;
}

void Collector::addTask(const StepTask &task, Activity &activity) const {
  ++activity.tasks;
  const EvaluatedPayload &evaluated = step.payloads[task.payload];
  const PayloadCost &cost = prices.costs[task.payload];
  const Payload &payload = step.problem->payloads[task.payload];
  if (const auto *comm = std::get_if<StepComm>(&payload)) {
    activity.sent[comm->axisNames()] += evaluated.sent;
    activity.network += cost.network;
    activity.link += cost.link;
    return;
  }
  if (!std::holds_alternative<StepWork>(payload))
    return;
  activity.hardware += evaluated.contract;
  if (task.origin != TaskOrigin::Recompute)
    activity.model += evaluated.contract;
  activity.flops[evaluated.work.precision] += cost.flops;
  activity.traffic += cost.traffic;
  if (evaluated.contract != Flops())
    activity.contracted[evaluated.work.precision] += evaluated.contract;
}

Activity Collector::activityOf(llvm::ArrayRef<StepOp> ops) const {
  Activity activity;
  for (const StepOp &op : ops)
    if (const StepTask *task = op.task())
      addTask(*task, activity);
    else
      activity.add(bodies[op.call()->body], op.call()->times);
  return activity;
}

StepTotals dtrain::totalsOf(const EvaluatedStep &step, const StepPrices &prices,
                            const StepSolution &solution) {
  const StepProblem &problem = *step.problem;
  Collector collector(step, prices);
  StepTotals totals;
  totals.activity.duration = solution.step;
  totals.activity.devices = step.devices;
  double devices =
      static_cast<double>(step.devices / step.shape.stages); // of one class
  std::map<Precision, Flops> flops, contracted;
  std::map<std::string, Bytes> sent;
  for (auto [i, c] : llvm::enumerate(problem.classes)) {
    Activity activity = collector.activityOf(c);
    totals.model += activity.model;
    totals.hardware += activity.hardware;
    for (auto &[precision, f] : activity.flops)
      flops[precision] += f * devices;
    for (auto &[precision, f] : activity.contracted)
      contracted[precision] += f;
    totals.activity.memory += activity.traffic * devices;
    totals.activity.link += activity.link * devices;
    totals.activity.network += activity.network * devices;
    for (auto &[axes, bytes] : activity.sent)
      sent[axes] = std::max(sent[axes], bytes);
    totals.tasks += activity.tasks * devices;
    if (solution.breakdown(totals.critical).busy() <
        solution.breakdown(i).busy())
      totals.critical = i;
    if (solution.peak(totals.fullest).total() < solution.peak(i).total())
      totals.fullest = i;
  }
  for (auto &[precision, f] : flops)
    if (f != Flops())
      totals.activity.flops.push_back({precision, f});
  auto most = llvm::max_element(
      contracted, [](auto &a, auto &b) { return a.second < b.second; });
  if (most != contracted.end())
    totals.mainPrecision = most->first;
  for (const MeshAxis &axis : problem.axes) {
    totals.sent.push_back({axis.name, sent[axis.name]});
    sent.erase(axis.name);
  }
  llvm::append_range(totals.sent, sent);
  return totals;
}
