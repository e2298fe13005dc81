//===- AssignDurations.cpp - Price every task -----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Translate.h"
#include "dtrain/IR/Target/Load.h"
#include "dtrain/Transforms/Schedule/Passes.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::schedule;
using llvm::Expected;

namespace dtrain {
#define GEN_PASS_DEF_SCHEDULEASSIGNDURATIONS
#include "dtrain/Transforms/Schedule/Passes.h.inc"
} // namespace dtrain

/// The tasks of a plan.
static unsigned countTasks(PlanOp plan) {
  unsigned count = 0;
  plan.walk([&](TaskOp) { ++count; });
  return count;
}

namespace {
struct ScheduleAssignDurations
    : public dtrain::impl::ScheduleAssignDurationsBase<
          ScheduleAssignDurations> {
  using ScheduleAssignDurationsBase::ScheduleAssignDurationsBase;

  void runOnOperation() override {
    FailureOr<PlanOp> plan = findPlan(getOperation());
    if (failed(plan))
      return signalPassFailure();
    if (failed(run(*plan)))
      signalPassFailure();
  }

  LogicalResult run(PlanOp plan) {
    if (target.empty())
      return plan.emitError("expected a target; there is no default");
    SmallVector<std::string> dirs(targetPath.begin(), targetPath.end());
    Expected<Machine> machine = loadMachine(target, dirs, &getContext());
    if (!machine)
      return plan.emitError() << llvm::toString(machine.takeError());
    Expected<Stack> facts = loadStack(stack, dirs, &getContext());
    if (!facts)
      return plan.emitError() << llvm::toString(facts.takeError());
    if (overlapDataParallel == "yes" || overlapDataParallel == "no")
      facts->overlapDataParallel.value = overlapDataParallel == "yes";
    else if (overlapDataParallel != "stack")
      return plan.emitError("expected overlap-dp stack, yes or no, found '")
             << overlapDataParallel << "'";
    FailureOr<StepProblem> problem = toStep(plan);
    if (failed(problem))
      return failure();
    Expected<int64_t> devices = devicesPerNode(*machine);
    if (!devices)
      return plan.emitError() << llvm::toString(devices.takeError());
    Expected<EvaluatedStep> step =
        evaluate(*problem, problem->scale(), *devices);
    if (!step)
      return plan.emitError() << llvm::toString(step.takeError());
    Expected<StepPrices> prices = price(*step, *machine, *facts);
    if (!prices)
      return diagnose(plan, *step, *machine, *facts, prices.takeError());
    setPrices(plan, *problem, *prices);
    numTasks = countTasks(plan);
    numCosts = problem->payloads.size();
    return success();
  }

  /// Says `error` at the first task that has no price, else at the plan.
  static LogicalResult diagnose(PlanOp plan, const EvaluatedStep &step,
                                const Machine &machine, const Stack &stack,
                                llvm::Error error) {
    Operation *where = plan;
    for (unsigned i = 0; i < step.payloads.size() && where == plan; ++i)
      if (Expected<PayloadCost> cost = priceOf(step, i, machine, stack);
          !cost) {
        llvm::consumeError(cost.takeError());
        where = taskOf(plan, *step.problem, i);
      }
    return where->emitError() << llvm::toString(std::move(error));
  }
};
} // namespace
