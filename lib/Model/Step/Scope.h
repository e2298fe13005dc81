//===- Scope.h - The tasks of a body or a segment ---------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_MODEL_STEP_SCOPE_H
#define DTRAIN_LIB_MODEL_STEP_SCOPE_H

#include "dtrain/Model/Step/Solve.h"
#include <functional>

namespace dtrain {

/// What the scopes of a step are solved with. Bodies come solved.
struct StepContext {
  const EvaluatedStep &step;
  const StepPrices &prices;
  llvm::ArrayRef<ScopeSolution> bodies;
  const StepProblem &problem() const { return *step.problem; }
};

struct ScopeKind {
  /// Not once per micro-batch.
  bool runsOnce = false;
  /// The share of a communication that the events beside which it runs leave
  /// exposed; all of it where there is none.
  std::function<Ratio(const StepComm &, const StepTask &)> exposedBeside;
};

/// The tasks of a scope, one for each op, and the sums over tasks and calls;
/// `exposed` and `fill` are left to the solution.
struct ScopeProblem {
  TaskProblem tasks;
  Span sums;
};
ScopeProblem scopeProblem(const StepContext &context,
                          llvm::ArrayRef<StepOp> ops, const ScopeKind &kind);
llvm::Expected<ScopeSolution> solveScope(const StepContext &context,
                                         llvm::ArrayRef<StepOp> ops,
                                         const ScopeKind &kind);
llvm::Expected<ScopeSolution> solveBody(const StepContext &context,
                                        const StepBody &body);

/// Solves the events of a solution whose scopes are given. Returns how long the
/// step then takes, and leaves what the solution says of that.
llvm::Expected<Time> solveEvents(const EvaluatedStep &step,
                                 const StepPrices &prices,
                                 StepSolution &solution);

/// Whether a communication is a transfer between classes, which occupies none
/// of them: the pipeline's problem has it.
bool isStageTransfer(const StepProblem &problem, const StepComm &comm);

} // namespace dtrain

#endif // DTRAIN_LIB_MODEL_STEP_SCOPE_H
