//===- Problems.cpp - From a plan to the problems it states ---------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Problems.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::schedule;

bool schedule::isOver(const TaskComm &comm, std::optional<StringRef> axis) {
  return axis && llvm::is_contained(comm.axes, *axis);
}

CommGroups schedule::groupsOf(MeshAttr mesh, const TaskComm &comm) {
  CommGroups groups;
  for (const std::string &axis : comm.axes)
    groups.axes.push_back(mesh.getNames().size() - 1 - *mesh.find(axis));
  groups.between = comm.between;
  groups.oneWay = comm.kind == CollectiveKind::Send;
  return groups;
}

bool schedule::isPipelineTransfer(TaskOp task) {
  CommAttr comm = task.getComm();
  auto plan = task->getParentOfType<PlanOp>();
  return comm && comm.getValue().kind == CollectiveKind::Send && plan &&
         isOver(comm.getValue(), plan.getPipeline());
}

namespace {
/// Builds the problem of one scope.
class ScopeBuilder {
public:
  ScopeProblem build(Block &scope) {
    compute = problem.lanes.addLane("compute", LaneKind::Compute);
    for (Operation &op : scope) {
      TaskId task = 0;
      if (auto call = dyn_cast<CallOp>(op))
        task = addCall(call);
      else if (auto t = cast<TaskOp>(op); t.getWork())
        task = addWork(t);
      else
        task = addComm(t);
      for (Value v : op.getOperands())
        problem.lanes.addDependence(ends.lookup(v), task);
      ends[op.getResult(0)] = task;
      problem.tasks.push_back(task);
    }
    return std::move(problem);
  }

private:
  TaskId addVisible(LaneId lane, Time duration) {
    TaskId task = problem.lanes.addTask(lane, duration, blocking);
    problem.visible.push_back(task);
    return task;
  }
  TaskId addCall(CallOp call) {
    double times = call.getTimes();
    const Span &span = call.getBody().getSpan()->getValue();
    problem.sums.compute += span.compute * times;
    problem.sums.recompute += span.recompute * times;
    problem.sums.host += span.host * times;
    return addVisible(compute, span.device() * times);
  }
  TaskId addWork(TaskOp task) {
    const TaskCost &cost = task.getCost()->getValue();
    problem.sums.compute += cost.device;
    problem.sums.host += cost.host;
    if (task.getOrigin() == Origin::recompute)
      problem.sums.recompute += cost.device;
    return addVisible(compute, cost.device);
  }
  TaskId addComm(TaskOp task) {
    const TaskCost &cost = task.getCost()->getValue();
    problem.sums.host += cost.host;
    std::string axes = task.getComm().getValue().axisNames();
    auto [it, isNew] = links.try_emplace(axes, 0);
    if (isNew)
      it->second = problem.lanes.addLane(axes, LaneKind::Communication);
    LaneId link = it->second;
    if (isPipelineTransfer(task))
      return problem.lanes.addTask(link, cost.device);
    TaskId exposed = addVisible(link, cost.exposed);
    problem.lanes.addTask(link, cost.device - cost.exposed);
    blocking.assign({exposed});
    return exposed;
  }

  ScopeProblem problem;
  LaneId compute = 0;
  llvm::StringMap<LaneId> links;
  DenseMap<Value, TaskId> ends;
  /// The last communication: what follows waits for its exposed part.
  SmallVector<TaskId, 1> blocking;
};
} // namespace

ScopeProblem schedule::scopeProblem(Block &scope) {
  return ScopeBuilder().build(scope);
}

SmallVector<SegmentOp> schedule::segmentsOf(RankClassOp rankClass) {
  auto plan = cast<PlanOp>(rankClass->getParentOp());
  SmallVector<SegmentOp> segments(2 * plan.getChunks());
  for (auto segment : rankClass.getContents().getOps<SegmentOp>())
    if (segment.getKind() != SegmentKind::tail)
      segments[2 * segment.getChunk() +
               (segment.getKind() == SegmentKind::backward)] = segment;
  return segments;
}

SegmentOp schedule::tailOf(RankClassOp rankClass) {
  for (auto segment : rankClass.getContents().getOps<SegmentOp>())
    if (segment.getKind() == SegmentKind::tail)
      return segment;
  return {};
}

/// What the receiver of a segment's transfers waits for once it has ended.
static Time transferOf(SegmentOp segment) {
  Time time;
  for (auto task : segment.getContents().getOps<TaskOp>())
    if (isPipelineTransfer(task))
      time += task.getCost()->getValue().exposed;
  return time;
}

PipelineProblem schedule::pipelineProblem(PlanOp plan) {
  PipelineProblem problem;
  problem.shape = {plan.getNumStages(), static_cast<int64_t>(plan.getChunks()),
                   static_cast<int64_t>(plan.getMicroBatches())};
  problem.order = &plan.getPipelineOrder();
  int64_t virtualStages = problem.shape.virtualStages();
  problem.forward.resize(virtualStages);
  problem.backward.resize(virtualStages);
  problem.forwardTransfer.resize(virtualStages - 1);
  problem.backwardTransfer.resize(virtualStages - 1);
  for (auto rankClass : plan.getContents().getOps<RankClassOp>()) {
    SmallVector<SegmentOp> segments = segmentsOf(rankClass);
    for (int64_t chunk = 0; chunk < problem.shape.chunks; ++chunk) {
      int64_t k = chunk * problem.shape.stages + rankClass.getStage();
      SegmentOp forward = segments[2 * chunk],
                backward = segments[2 * chunk + 1];
      problem.forward[k] = forward.getSpan()->getValue().duration();
      problem.backward[k] = backward.getSpan()->getValue().duration();
      if (k + 1 < virtualStages)
        problem.forwardTransfer[k] = transferOf(forward);
      if (k > 0)
        problem.backwardTransfer[k - 1] = transferOf(backward);
    }
  }
  return problem;
}
