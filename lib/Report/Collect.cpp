//===- Collect.cpp - From a solved plan to a report -----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Report/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace dtrain;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;

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

/// Contractions and attention take at least the time of their FLOPs at the
/// peak, whoever wrote the costs.
static Error checkAgainstPeak(const SolvedStep &solved,
                              const Machine &machine) {
  for (auto [payload, cost] :
       llvm::zip_equal(solved.step.payloads, solved.prices.costs)) {
    Precision precision = payload.work.precision;
    const PeakRate *peak = machine.chip.findPeak(precision);
    constexpr double kRelativeRounding = 1e-9;
    if (payload.contract == Flops() || !peak ||
        cost.device >= cost.flops / peak->rate.value * (1 - kRelativeRounding))
      continue;
    return createStringError(
        "expected a cost of at least " + (cost.flops / peak->rate.value).str() +
        ", what " + cost.flops.str() + " take at the peak of '" + machine.name +
        "' in " + stringifyPrecision(precision) + ", found " +
        cost.device.str());
  }
  return Error::success();
}

Expected<Report> dtrain::makeReport(const SolvedStep &solved,
                                    const Machine &machine, const Stack &stack,
                                    const Strategy &strategy,
                                    const RunLength &length,
                                    std::vector<Assumption> assumptions) {
  if (Error error = checkAgainstPeak(solved, machine))
    return error;
  const StepProblem &problem = solved.problem;
  StepTotals totals = totalsOf(solved.step, solved.prices, solved.solution);
  Report report;
  report.model = {problem.model.name, problem.model.parameters,
                  problem.model.layers, solved.step.samples,
                  solved.step.tokens};
  report.target = machine.name;
  report.stack = stack.name;
  report.order = problem.order->name().str();
  report.devices = solved.step.devices;
  report.microBatches = solved.step.shape.microBatches;
  report.chunks = solved.step.shape.chunks;
  report.strategy = strategy;
  report.step = solved.solution.step;
  report.assumptions = std::move(assumptions);
  report.modelFlops = totals.model;
  report.hardwareFlops = totals.hardware;
  report.breakdown = solved.solution.breakdown(totals.critical);
  report.criticalStage = problem.classes[totals.critical].stage;
  report.memory = solved.solution.peak(totals.fullest);
  report.fullestStage = problem.classes[totals.fullest].stage;
  report.sent = totals.sent;
  report.operators = operatorsOf(solved, totals.critical);
  report.reuse.tasks = totals.tasks;
  report.reuse.priced = problem.payloads.size();

  const PeakRate *peak = machine.chip.findPeak(totals.mainPrecision);
  if (!peak)
    return createStringError("'" + machine.name + "' has no peak rate for " +
                             stringifyPrecision(totals.mainPrecision));
  FlopRate peaks = peak->rate.value * static_cast<double>(report.devices);
  if (report.step != Time()) {
    report.mfu = toDouble(report.modelFlops / report.step / peaks);
    report.hfu = toDouble(report.hardwareFlops / report.step / peaks);
  }
  report.capacity = machine.chip.memoryCapacity.value;

  Expected<EnergyBreakdown> energy = energyOf(machine, totals.activity);
  if (!energy)
    return energy.takeError();
  report.energy = *energy;
  Expected<CostBreakdown> cost = moneyOf(machine, totals.activity, *energy);
  if (!cost)
    return cost.takeError();
  report.cost = *cost;
  Expected<CarbonBreakdown> carbon =
      carbonOf(machine, totals.activity, *energy);
  if (!carbon)
    return carbon.takeError();
  report.carbon = *carbon;
  if (Error error = setRun(report, length))
    return error;
  addWarnings(report, machine, totals.activity);
  if (Error error = finishReport(report))
    return error;
  return report;
}
