//===- Report.h - What a solved plan means ----------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// From a solved plan, a machine and a stack to time, memory, energy, money and
/// carbon, and to the formats they are printed in.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_REPORT_REPORT_H
#define DTRAIN_REPORT_REPORT_H

#include "dtrain/Model/Step/Solve.h"
#include "dtrain/Model/Tco/Tco.h"
#include "llvm/Support/JSON.h"

namespace dtrain {

/// A figure or choice that nobody stated: what it is and where it comes from.
struct Assumption {
  std::string name;
  llvm::json::Value value = nullptr;
  std::string unit, basis, source;
};

/// What the user asked for, as far as the plan does not say it.
struct Strategy {
  /// Degrees by axis, fastest axis first, those of 1 included.
  std::vector<std::pair<std::string, int64_t>> parallel;
  int64_t globalBatch = 0, microBatch = 0;
  std::string precision, optimizer, recompute;
  bool overlapDataParallel = false;
};

/// How long the whole run is, if the user said it.
struct RunLength {
  std::optional<double> tokens, steps;
};

/// Totals of a run of many steps.
struct RunTotals {
  double steps = 0;
  std::optional<double> tokens;
  Time time;
  Energy energy;
  Money money;
  Carbon carbon;
};

/// All tasks of one op and kind that a device runs in one step.
struct OperatorUse {
  /// The op, and the class of its work or the communication and its axis.
  std::string name, kind;
  double count = 0;
  /// Executed.
  Flops flops;
  /// Moved to and from device memory; of a communication, sent.
  Bytes bytes;
  /// On the device, hidden or not.
  Time time;
  /// Arithmetic intensity in FLOPs per byte of device memory.
  double intensity() const {
    return bytes == Bytes() ? 0 : flops.base() / bytes.base();
  }
};

/// A step with its prices and its solution.
struct SolvedStep {
  const StepProblem &problem;
  const EvaluatedStep &step;
  const StepPrices &prices;
  const StepSolution &solution;
};

/// The tasks of one class of devices in one step, by op and kind, those that
/// take longest first.
std::vector<OperatorUse> operatorsOf(const SolvedStep &solved, unsigned c);

/// Tasks that are alike are priced once.
struct Reuse {
  /// Of one step over all devices.
  double tasks = 0;
  /// Different ones among them.
  int64_t priced = 0;
  double rate() const { return tasks == 0 ? 0 : 1 - priced / tasks; }
};

/// What is trained, and on how much in one step.
struct ReportedModel {
  std::string name;
  int64_t parameters = 0, layers = 0, samples = 0, tokens = 0;
};

struct Report {
  ReportedModel model;
  std::string target, stack, order;
  int64_t devices = 1, microBatches = 1, chunks = 1;
  Strategy strategy;
  Time step;
  Flops modelFlops, hardwareFlops;
  /// Of the class of devices that is busiest.
  Breakdown breakdown;
  int64_t criticalStage = 0;
  /// Bytes that a device of the busiest class sends in one step, by axis.
  std::vector<std::pair<std::string, Bytes>> sent;
  double mfu = 0, hfu = 0;
  Bytes capacity;
  /// Of the class of devices that is fullest.
  Footprint memory;
  int64_t fullestStage = 0;
  /// Of a device of the busiest class.
  std::vector<OperatorUse> operators;
  Reuse reuse;
  EnergyBreakdown energy;
  CostBreakdown cost;
  CarbonBreakdown carbon;
  std::optional<RunTotals> run;
  std::vector<Assumption> assumptions;
  std::vector<std::string> warnings;

  bool fits() const { return memory.total() <= capacity; }
  /// Means over the step; of a program that takes no time, nothing.
  FlopRate perDevice() const {
    return step == Time() ? FlopRate()
                          : modelFlops / step / static_cast<double>(devices);
  }
  Power powerPerDevice() const {
    return step == Time()
               ? Power()
               : energy.total() / step / static_cast<double>(devices);
  }
};

/// Evaluates a solved step. Errors: a figure the machine lacks, work faster than
/// the machine's peak, tokens asked of a model without, a result that is not
/// finite.
llvm::Expected<Report> makeReport(const SolvedStep &solved,
                                  const Machine &machine, const Stack &stack,
                                  const Strategy &strategy,
                                  const RunLength &length,
                                  std::vector<Assumption> assumptions);

/// Fails on a result that is not finite; warns of a utilisation above 1, and
/// says what in the convention makes it so.
llvm::Error finishReport(Report &report);

/// The contract of `dtrain estimate --format json` (docs/report.md). Names that
/// are not UTF-8 have U+FFFD where they are not.
llvm::json::Value toJson(const Report &report);
/// One readable screen.
void printText(const Report &report, llvm::raw_ostream &os);
/// A line of column names (the JSON's keys joined by points) and one of values.
void printCsv(const Report &report, llvm::raw_ostream &os);
/// The report's operators as a table, and its reuse.
void printOperators(const Report &report, llvm::raw_ostream &os);
/// The pipeline's events in the Trace Event Format, times in microseconds.
void printChromeTrace(const SolvedStep &solved, llvm::raw_ostream &os);

} // namespace dtrain

#endif // DTRAIN_REPORT_REPORT_H
