//===- ReportPass.cpp - Print what a solved plan takes --------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

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

/// What a plan tells of the strategy that it was made for.
static Strategy strategyOf(PlanOp plan, const Stack &stack) {
  Strategy strategy;
  MeshAttr mesh = plan.getMesh();
  int64_t dp = 1;
  for (auto [name, size] :
       llvm::reverse(llvm::zip_equal(mesh.getNames(), mesh.getSizes()))) {
    strategy.parallel.push_back({name.str(), size});
    if (name.getValue() == "dp")
      dp = size;
  }
  strategy.globalBatch = plan.getModel().getValue().samples;
  strategy.microBatch = strategy.globalBatch /
                        (static_cast<int64_t>(plan.getMicroBatches()) * dp);
  strategy.overlapDataParallel = stack.overlapDataParallel.value;
  strategy.recompute = "none";
  strategy.optimizer = "sgd";
  plan.walk([&](TaskOp task) {
    WorkAttr work = task.getWork();
    if (task.getOrigin() == Origin::recompute)
      strategy.recompute = "full";
    if (work && work.getValue().cls == OpClass::Optimizer)
      strategy.optimizer = "adamw";
    if (work && work.getValue().cls == OpClass::Contraction)
      strategy.precision = stringifyPrecision(work.getValue().precision).str();
  });
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
    Expected<Report> report =
        makeReport(plan, *machine, *stack, strategyOf(plan, *stack), {}, {});
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
      return printChromeTrace(plan, os);
    else
      return llvm::createStringError("expected format text, json, csv, "
                                     "operators or chrome-trace, found '" +
                                     format + "'");
    return llvm::Error::success();
  }
};
} // namespace
