//===- ReportPass.cpp - Print what a solved plan takes --------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Translate.h"
#include "dtrain/IR/Target/Load.h"
#include "dtrain/Report/Passes.h"
#include "dtrain/Report/Report.h"
#include "dtrain/Transforms/Schedule/Passes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::schedule;
using llvm::Expected;

namespace dtrain {
#define GEN_PASS_DEF_SCHEDULEREPORT
#include "dtrain/Report/Passes.h.inc"
} // namespace dtrain

/// What a plan says of the strategy that it was made for.
static Strategy strategyOf(const SolvedStep &solved) {
  const StepProblem &problem = solved.problem;
  Strategy strategy;
  int64_t dp = 1;
  for (const MeshAxis &axis : llvm::reverse(problem.axes)) {
    strategy.parallel.push_back({axis.name, axis.size});
    if (axis.name == "dp")
      dp = axis.size;
  }
  strategy.globalBatch = solved.step.samples;
  strategy.microBatch =
      strategy.globalBatch / (solved.step.shape.microBatches * dp);
  const Hiding &gradients =
      solved.prices.hiding(Purpose::Gradient, TaskOrigin::Backward);
  strategy.overlapDataParallel = gradients.least.base() < 1;
  strategy.recompute = problem.recompute;
  strategy.optimizer = problem.optimizer;
  for (const Payload &payload : problem.payloads)
    if (const auto *work = std::get_if<StepWork>(&payload))
      if (work->cls == OpClass::Contraction)
        strategy.precision = stringifyPrecision(work->precision).str();
  return strategy;
}

namespace {
struct ScheduleReport
    : public dtrain::impl::ScheduleReportBase<ScheduleReport> {
  using ScheduleReportBase::ScheduleReportBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    FailureOr<PlanOp> plan = findPlan(getOperation());
    if (failed(plan) || failed(verifySolution(*plan)))
      return signalPassFailure();
    llvm::Error error = print(*plan, llvm::outs());
    if (!error)
      return;
    plan->emitError() << llvm::toString(std::move(error));
    signalPassFailure();
  }

  llvm::Error print(PlanOp plan, llvm::raw_ostream &os) {
    if (!plan.getTarget() || !plan.getStack())
      return llvm::createStringError("expected the names of target and stack");
    SmallVector<std::string> dirs(targetPath.begin(), targetPath.end());
    Expected<Machine> machine =
        loadMachine(*plan.getTarget(), dirs, &getContext());
    if (!machine)
      return machine.takeError();
    Expected<Stack> stack = loadStack(*plan.getStack(), dirs, &getContext());
    if (!stack)
      return stack.takeError();
    FailureOr<StepProblem> problem = toStep(plan);
    if (failed(problem))
      return llvm::createStringError("expected a well-formed plan");
    llvm::Expected<int64_t> perNode = devicesPerNode(*machine);
    if (!perNode)
      return perNode.takeError();
    Expected<EvaluatedStep> step =
        evaluate(*problem, problem->scale(), *perNode);
    if (!step)
      return step.takeError();
    FailureOr<StepPrices> prices = pricesOf(plan, *problem);
    if (failed(prices))
      return llvm::createStringError("expected a priced plan");
    Expected<StepSolution> solution = dtrain::solve(*step, *prices);
    if (!solution)
      return solution.takeError();
    SolvedStep solved{*problem, *step, *prices, *solution};
    Expected<Report> report =
        makeReport(solved, *machine, *stack, strategyOf(solved), {}, {});
    if (!report)
      return report.takeError();
    if (format == "text")
      printText(*report, os);
    else if (format == "json")
      os << llvm::formatv("{0:2}", toJson(*report)) << '\n';
    else if (format == "csv")
      printCsv(*report, os);
    else if (format == "operators")
      printOperators(*report, os);
    else if (format == "chrome-trace")
      printChromeTrace(solved, os);
    else
      return llvm::createStringError("expected format text, json, csv, "
                                     "operators or chrome-trace, found '" +
                                     format + "'");
    return llvm::Error::success();
  }
};
} // namespace
