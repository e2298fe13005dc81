//===- Collect.cpp - From a solved plan to a report -----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Problems.h"
#include "dtrain/Report/Report.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <map>

using namespace mlir;
using namespace dtrain;
using namespace dtrain::schedule;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

namespace {

/// What one device does in a scope or a step.
struct Activity {
  /// By the MFU convention and over all devices, without and with
  /// recomputation.
  Flops model, hardware;
  /// Of one device: executed FLOPs and memory traffic, bytes sent by axis.
  std::map<Precision, Flops> flops;
  Bytes traffic;
  std::map<std::string, Bytes> sent;
  /// Of what is sent, that which leaves the node.
  Bytes link, network;
  double tasks = 0;

  void add(const Activity &o, double times) {
    model += o.model * times;
    hardware += o.hardware * times;
    for (auto &[precision, f] : o.flops)
      flops[precision] += f * times;
    traffic += o.traffic * times;
    for (auto &[axis, bytes] : o.sent)
      sent[axis] += bytes * times;
    link += o.link * times;
    network += o.network * times;
    tasks += o.tasks * times;
  }
};

/// Sums up tasks; a body is summed up once.
class Collector {
public:
  Collector(PlanOp plan, const Machine &machine)
      : plan(plan), machine(machine) {}
  Expected<Activity> activityOf(RankClassOp rankClass);
  /// Tasks that differ in what they cost.
  int64_t numDifferent() const { return payloads.size(); }
  /// The matrix unit's type of most contraction FLOPs.
  Precision mainPrecision() const {
    auto most = llvm::max_element(
        contracted, [](auto &a, auto &b) { return a.second < b.second; });
    return most == contracted.end() ? Precision::BF16 : most->first;
  }

private:
  Expected<Activity> activityOf(Block &scope);
  Error addTask(TaskOp task, Activity &activity);
  Error addSent(const TaskComm &comm, Activity &activity);

  PlanOp plan;
  const Machine &machine;
  llvm::DenseMap<Operation *, Activity> bodies;
  llvm::DenseSet<Attribute> payloads;
  std::map<Precision, Flops> contracted;
};
} // namespace

Error Collector::addSent(const TaskComm &comm, Activity &activity) {
  activity.sent[comm.axisNames()] += comm.sent;
  MeshAttr mesh = plan.getMesh();
  Expected<GroupLayout> layout =
      layoutOf(SmallVector<int64_t>(llvm::reverse(mesh.getSizes())),
               groupsOf(mesh, comm),
               static_cast<int64_t>(toDouble(machine.node.devices.value)));
  if (!layout)
    return layout.takeError();
  double crossing = layout->crossingShare();
  activity.network += comm.sent * crossing;
  activity.link += comm.sent * (1 - crossing);
  return Error::success();
}

/// Contractions and attention take at least the time of their FLOPs at the
/// peak, whoever wrote the costs.
static Error checkAgainstPeak(const TaskWork &work, const TaskCost &cost,
                              const Machine &machine) {
  const PeakRate *peak = machine.chip.findPeak(work.precision);
  constexpr double kRelativeRounding = 1e-9;
  if (work.contract == Flops() || !peak ||
      cost.device >= cost.flops / peak->rate.value * (1 - kRelativeRounding))
    return Error::success();
  return createStringError(
      "expected a cost of at least " + (cost.flops / peak->rate.value).str() +
      ", what " + cost.flops.str() + " take at the peak of '" + machine.name +
      "' in " + stringifyPrecision(work.precision) + ", found " +
      cost.device.str());
}

Error Collector::addTask(TaskOp task, Activity &activity) {
  payloads.insert(task.getPayload());
  ++activity.tasks;
  if (CommAttr comm = task.getComm())
    return addSent(comm.getValue(), activity);
  const TaskWork &work = task.getWork().getValue();
  const TaskCost &cost = task.getCost()->getValue();
  if (Error error = checkAgainstPeak(work, cost, machine))
    return error;
  activity.hardware += work.contract;
  if (task.getOrigin() != Origin::recompute)
    activity.model += work.contract;
  activity.flops[work.precision] += cost.flops;
  activity.traffic += cost.traffic;
  if (work.contract != Flops())
    contracted[work.precision] += work.contract;
  return Error::success();
}

Expected<Activity> Collector::activityOf(Block &scope) {
  Activity activity;
  for (Operation &op : scope) {
    if (auto task = dyn_cast<TaskOp>(op)) {
      if (Error error = addTask(task, activity))
        return error;
      continue;
    }
    auto call = cast<CallOp>(op);
    auto it = bodies.find(call.getBody());
    if (it == bodies.end()) {
      Expected<Activity> body =
          activityOf(call.getBody().getContents().front());
      if (!body)
        return body.takeError();
      it = bodies.insert({call.getBody(), std::move(*body)}).first;
    }
    activity.add(it->second, call.getTimes());
  }
  return activity;
}

Expected<Activity> Collector::activityOf(RankClassOp rankClass) {
  Activity total;
  for (auto segment : rankClass.getContents().getOps<SegmentOp>()) {
    Expected<Activity> activity = activityOf(segment.getContents().front());
    if (!activity)
      return activity.takeError();
    total.add(*activity, segment.getCount());
  }
  return total;
}

//===----------------------------------------------------------------------===//
// The report
//===----------------------------------------------------------------------===//

static Time busyOf(const Breakdown &b) {
  return b.compute + b.exposedCommunication + b.optimizer + b.input + b.host;
}

static Error setRun(Report &report, const RunLength &length) {
  if (!length.tokens && !length.steps)
    return Error::success();
  RunTotals run;
  if (length.tokens) {
    if (report.model.tokens == 0)
      return createStringError("--tokens: '" + report.model.name +
                               "' has no tokens; say --steps");
    run.steps = *length.tokens / report.model.tokens;
  } else {
    run.steps = *length.steps;
  }
  if (report.model.tokens)
    run.tokens = run.steps * report.model.tokens;
  run.time = report.step * run.steps;
  run.energy = report.energy.total() * run.steps;
  run.money = report.cost.total() * run.steps;
  run.carbon = report.carbon.total() * run.steps;
  report.run = run;
  return Error::success();
}

/// Sums over all devices, for energy, and the busiest and fullest classes.
static Expected<StepActivity> collectClasses(Collector &collector, PlanOp plan,
                                             Report &report) {
  StepActivity step;
  step.duration = report.step;
  step.devices = report.devices;
  std::map<Precision, Flops> flops;
  std::map<std::string, Bytes> sent;
  Time busiest;
  RankClassOp critical;
  for (auto rankClass : plan.getContents().getOps<RankClassOp>()) {
    Expected<Activity> activity = collector.activityOf(rankClass);
    if (!activity)
      return activity.takeError();
    double devices = rankClass.getDevices();
    report.modelFlops += activity->model;
    report.hardwareFlops += activity->hardware;
    for (auto &[precision, f] : activity->flops)
      flops[precision] += f * devices;
    step.memory += activity->traffic * devices;
    step.link += activity->link * devices;
    step.network += activity->network * devices;
    for (auto &[axis, bytes] : activity->sent)
      sent[axis] = std::max(sent[axis], bytes);
    const Breakdown &breakdown = rankClass.getBreakdown()->getValue();
    bool first = !critical;
    report.reuse.tasks += activity->tasks * devices;
    if (first || busiest < busyOf(breakdown)) {
      critical = rankClass;
      busiest = busyOf(breakdown);
      report.breakdown = breakdown;
      report.criticalStage = rankClass.getStage();
    }
    const Footprint &footprint = rankClass.getFootprint()->getValue();
    if (first || report.memory.total() < footprint.total()) {
      report.memory = footprint;
      report.fullestStage = rankClass.getStage();
    }
  }
  report.reuse.priced = collector.numDifferent();
  if (critical)
    report.operators = operatorsOf(critical);
  for (auto &[precision, f] : flops)
    if (f != Flops())
      step.flops.push_back({precision, f});
  for (StringAttr axis : plan.getMesh().getNames())
    report.sent.push_back({axis.str(), sent[axis.str()]});
  // Collectives over several axes at once count for none of them alone.
  for (auto &[axes, bytes] : sent)
    if (!plan.getMesh().find(axes))
      report.sent.push_back({axes, bytes});
  return step;
}

static void addWarnings(Report &report, const Machine &machine,
                        const StepActivity &step) {
  if (!report.fits())
    report.warnings.push_back(
        llvm::formatv("does not fit in memory: stage {0} needs {1:f2} GiB of "
                      "{2:f2} GiB",
                      report.fullestStage,
                      report.memory.total().base() / (1 << 30),
                      report.capacity.base() / (1 << 30))
            .str());
  Expected<Power> power = devicePower(report.energy, step);
  if (!power) {
    llvm::consumeError(power.takeError());
    return;
  }
  if (machine.chip.maxPower.value < *power)
    report.warnings.push_back(
        llvm::formatv("a device would draw {0:f0} W of at most {1:f0} W: it "
                      "would run slower than estimated",
                      power->base(), machine.chip.maxPower.value.base())
            .str());
}

Expected<Report> dtrain::makeReport(PlanOp plan, const Machine &machine,
                                    const Stack &stack,
                                    const Strategy &strategy,
                                    const RunLength &length,
                                    std::vector<Assumption> assumptions) {
  if (!plan.getAt())
    return createStringError("expected a solved plan: run schedule-solve "
                             "first");
  Report report;
  report.model = plan.getModel().getValue();
  report.target = machine.name;
  report.stack = stack.name;
  report.order = plan.getOrder().str();
  report.devices = plan.getMesh().getNumDevices();
  report.microBatches = plan.getMicroBatches();
  report.chunks = plan.getChunks();
  report.strategy = strategy;
  report.step = plan.getAt()->getValue().duration;
  report.assumptions = std::move(assumptions);
  Collector collector(plan, machine);
  Expected<StepActivity> step = collectClasses(collector, plan, report);
  if (!step)
    return step.takeError();

  const PeakRate *peak = machine.chip.findPeak(collector.mainPrecision());
  if (!peak)
    return createStringError("'" + machine.name + "' has no peak rate for " +
                             stringifyPrecision(collector.mainPrecision()));
  FlopRate peaks = peak->rate.value * static_cast<double>(report.devices);
  if (report.step != Time()) {
    report.mfu = toDouble(report.modelFlops / report.step / peaks);
    report.hfu = toDouble(report.hardwareFlops / report.step / peaks);
  }
  report.capacity = machine.chip.memoryCapacity.value;

  Expected<EnergyBreakdown> energy = energyOf(machine, *step);
  if (!energy)
    return energy.takeError();
  report.energy = *energy;
  Expected<CostBreakdown> cost = moneyOf(machine, *step, *energy);
  if (!cost)
    return cost.takeError();
  report.cost = *cost;
  Expected<CarbonBreakdown> carbon = carbonOf(machine, *step, *energy);
  if (!carbon)
    return carbon.takeError();
  report.carbon = *carbon;
  if (Error error = setRun(report, length))
    return error;
  addWarnings(report, machine, *step);
  if (Error error = finishReport(report))
    return error;
  return report;
}
