//===- Problems.h - From a plan to the problems it states -------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The problems of lib/Model/Simulate that a priced plan states: the lanes of a
/// body or segment, and the pipeline of all segments.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_IR_SCHEDULE_PROBLEMS_H
#define DTRAIN_IR_SCHEDULE_PROBLEMS_H

#include "dtrain/IR/Schedule/Schedule.h"
#include "dtrain/Model/Simulate/Lanes.h"

namespace dtrain {
namespace schedule {

/// Whether a communication runs over `axis`, alone or with others.
bool isOver(const TaskComm &comm, std::optional<llvm::StringRef> axis);

/// The devices that communicate with one another, on a mesh as `layoutOf` takes
/// it: fastest axis first.
CommGroups groupsOf(MeshAttr mesh, const TaskComm &comm);

/// Whether a task is a transfer to another pipeline stage, which occupies no
/// stage: the pipeline's problem has it.
bool isPipelineTransfer(TaskOp task);

/// The lanes of the tasks and calls of one body or segment, which have costs;
/// called bodies have spans. What a stack does not hide of a communication
/// blocks the compute lane; the rest runs beside it.
struct ScopeProblem {
  LaneProblem lanes;
  /// Of each op in order: its task, or that of its exposed part.
  llvm::SmallVector<TaskId> tasks;
  /// What the compute lane waits for at the end: all but what is hidden.
  llvm::SmallVector<TaskId> visible;
  Span sums; // compute, recompute and host; `exposed` is left to the solution
};
ScopeProblem scopeProblem(mlir::Block &scope);

/// The pipeline of a plan whose segments have spans.
PipelineProblem pipelineProblem(PlanOp plan);

/// The segments of a class: [2 * chunk + backward]; and its tail, or null.
llvm::SmallVector<SegmentOp> segmentsOf(RankClassOp rankClass);
SegmentOp tailOf(RankClassOp rankClass);

} // namespace schedule
} // namespace dtrain

#endif // DTRAIN_IR_SCHEDULE_PROBLEMS_H
