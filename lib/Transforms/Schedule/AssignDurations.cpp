//===- AssignDurations.cpp - Price every task -----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Problems.h"
#include "dtrain/IR/Target/Load.h"
#include "dtrain/Model/Collective/Overlap.h"
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

namespace {

/// Prices one plan. Costs are kept by payload: stages that do the same cost as
/// much work as one.
class Pricer {
public:
  Pricer(PlanOp plan, const Machine &machine, const Stack &stack, bool reuse)
      : plan(plan), machine(machine), stack(stack), reuse(reuse) {}
  LogicalResult price();
  /// Tasks of the plan, and the costs that were computed for them.
  unsigned numTasks = 0, numCosts = 0;

private:
  LogicalResult priceScope(Block &scope);
  LogicalResult priceTail(RankClassOp rankClass);
  LogicalResult priceSpace(SegmentOp segment);
  FailureOr<TaskCost> costOf(TaskOp task);
  Expected<TaskCost> compute(const TaskWork &work);
  Expected<TaskCost> communicate(const TaskComm &comm);
  /// What dependents of a communication within a scope wait for, of its time.
  FailureOr<Time> exposedOf(TaskOp comm, Time time);
  /// Compute and exposed communication of a segment or body without its host.
  Time deviceTime(Block &scope);

  void setCost(TaskOp task, const TaskCost &cost) {
    ++numTasks;
    task.setCostAttr(CostAttr::get(task.getContext(), cost));
  }
  template <typename T>
  FailureOr<T> orDiagnose(Operation *op, Expected<T> value) {
    if (value)
      return std::move(*value);
    return op->emitError() << llvm::toString(value.takeError());
  }

  PlanOp plan;
  const Machine &machine;
  const Stack &stack;
  bool reuse;
  DenseMap<Attribute, TaskCost> costs;
  DenseMap<Operation *, Time> bodyTimes;
};
} // namespace

//===----------------------------------------------------------------------===//
// One task
//===----------------------------------------------------------------------===//

Expected<TaskCost> Pricer::compute(const TaskWork &work) {
  Expected<OpCost> cost = dtrain::costOf(work, machine, stack);
  if (!cost)
    return cost.takeError();
  return TaskCost(*cost);
}

Expected<TaskCost> Pricer::communicate(const TaskComm &comm) {
  Expected<GroupLayout> layout =
      layoutOf(SmallVector<int64_t>(llvm::reverse(plan.getMesh().getSizes())),
               groupsOf(plan.getMesh(), comm),
               static_cast<int64_t>(toDouble(machine.node.devices.value)));
  if (!layout)
    return layout.takeError();
  Expected<Time> time =
      collectiveTime(machine, comm.kind, comm.tensor, *layout);
  if (!time)
    return time.takeError();
  Expected<Time> host = hostTime(stack, 1);
  if (!host)
    return host.takeError();
  TaskCost cost;
  cost.device = cost.exposed = *time;
  cost.host = *host;
  return cost;
}

FailureOr<TaskCost> Pricer::costOf(TaskOp task) {
  auto it = costs.find(task.getPayload());
  if (reuse && it != costs.end())
    return it->second;
  ++numCosts;
  FailureOr<TaskCost> cost =
      orDiagnose(task, task.getWork() ? compute(task.getWork().getValue())
                                      : communicate(task.getComm().getValue()));
  if (succeeded(cost))
    costs[task.getPayload()] = *cost;
  return cost;
}

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

FailureOr<Time> Pricer::exposedOf(TaskOp comm, Time time) {
  if (comm.getOrigin() != Origin::backward)
    return orDiagnose(comm, exposedTensorForward(stack, time));
  // What may run meanwhile: the weight gradients before the first task that
  // needs the result.
  Time hiding;
  for (Operation *op = comm->getNextNode(); op; op = op->getNextNode()) {
    if (llvm::is_contained(op->getOperands(), comm.getDone()))
      break;
    auto task = dyn_cast<TaskOp>(op);
    if (task && task.getWork() && task.getWork().getValue().weightGradient) {
      FailureOr<TaskCost> cost = costOf(task);
      if (failed(cost))
        return failure();
      hiding += cost->device;
    }
  }
  return orDiagnose(comm, exposedTensorBackward(stack, time, hiding,
                                                /*sequenceParallel=*/false));
}

LogicalResult Pricer::priceScope(Block &scope) {
  for (auto task : scope.getOps<TaskOp>()) {
    FailureOr<TaskCost> cost = costOf(task);
    if (failed(cost))
      return failure();
    if (isPipelineTransfer(task)) {
      cost->exposed = cost->device * stack.pipelineExposed.value;
    } else if (task.getComm()) {
      FailureOr<Time> exposed = exposedOf(task, cost->device);
      if (failed(exposed))
        return failure();
      cost->exposed = *exposed;
    }
    setCost(task, *cost);
  }
  return success();
}

Time Pricer::deviceTime(Block &scope) {
  Time time;
  for (Operation &op : scope) {
    if (auto call = dyn_cast<CallOp>(op)) {
      auto [it, isNew] = bodyTimes.try_emplace(call.getBody());
      if (isNew)
        it->second = deviceTime(call.getBody().getContents().front());
      time += it->second * static_cast<double>(call.getTimes());
    } else if (auto task = cast<TaskOp>(op); !isPipelineTransfer(task)) {
      const TaskCost &cost = task.getCost()->getValue();
      time += task.getWork() ? cost.device : cost.exposed;
    }
  }
  return time;
}

LogicalResult Pricer::priceTail(RankClassOp rankClass) {
  SegmentOp tail = tailOf(rankClass);
  if (!tail)
    return success();
  SmallVector<TaskOp> sync;
  Time syncTime;
  bool hosted = false;
  for (auto task : tail.getContents().getOps<TaskOp>()) {
    FailureOr<TaskCost> cost = costOf(task);
    if (failed(cost))
      return failure();
    // A stack states what the optimizer costs the host in one step.
    cost->host = Time();
    if (task.getWork() && !hosted) {
      cost->host = stack.optimizerHost.value;
      hosted = true;
    }
    setCost(task, *cost);
    // What the stages share cannot wait behind the backward of one of them.
    if (task.getComm() && task.getOrigin() == Origin::backward &&
        !isOver(task.getComm().getValue(), plan.getPipeline())) {
      sync.push_back(task);
      syncTime += cost->device;
    }
  }
  // Gradients of a chunk are complete during its last micro-batch's backward.
  Time backward;
  for (SegmentOp segment : segmentsOf(rankClass))
    if (segment.getKind() == SegmentKind::backward)
      backward += deviceTime(segment.getContents().front());
  FailureOr<Time> exposed = orDiagnose(
      tail,
      exposedDataParallel(stack, syncTime,
                          backward / static_cast<double>(plan.getChunks())));
  if (failed(exposed))
    return failure();
  if (syncTime == Time())
    return success();
  double share = toDouble(*exposed / syncTime);
  for (TaskOp task : sync) {
    TaskCost cost = task.getCost()->getValue();
    cost.exposed = cost.device * share;
    setCost(task, cost);
  }
  return success();
}

LogicalResult Pricer::priceSpace(SegmentOp segment) {
  Space space = segment.getSpace().getValue();
  Bytes perScore;
  if (space.scores > 0 || space.layerScores > 0) {
    // Unfused attention keeps its softmax, and what dropout leaves of it.
    auto attention = [&]() -> std::optional<TaskWork> {
      std::optional<TaskWork> found;
      plan.walk([&](TaskOp task) {
        if (task.getWork() &&
            (task.getWork().getValue().cls == OpClass::Attention))
          found = task.getWork().getValue();
        return found ? WalkResult::interrupt() : WalkResult::advance();
      });
      return found;
    }();
    if (attention && stack.attention.value == AttentionKernel::Unfused) {
      Bytes element = Bytes::fromBase(bytesOf(attention->precision));
      perScore = stack.dropout.value ? element * 2.0 + stack.dropoutMask.value
                                     : element;
    }
  }
  space.stackSaved =
      stack.lossSaved.value * space.logits + perScore * space.scores;
  if (stack.dropout.value)
    space.stackSaved += stack.dropoutMask.value * space.dropped;
  space.stackWorkspace = stack.workspace.value +
                         stack.weightWorkspace.value * space.weights +
                         perScore * space.layerScores;
  segment.setSpaceAttr(SpaceAttr::get(segment.getContext(), space));
  return success();
}

LogicalResult Pricer::price() {
  for (auto body : plan.getContents().getOps<BodyOp>())
    if (failed(priceScope(body.getContents().front())))
      return failure();
  for (auto rankClass : plan.getContents().getOps<RankClassOp>()) {
    for (auto segment : rankClass.getContents().getOps<SegmentOp>()) {
      if (segment.getKind() != SegmentKind::tail &&
          failed(priceScope(segment.getContents().front())))
        return failure();
      if (failed(priceSpace(segment)))
        return failure();
    }
    if (failed(priceTail(rankClass)))
      return failure();
  }
  plan.setTarget(machine.name);
  plan.setStack(stack.name);
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

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
    Pricer pricer(plan, *machine, *facts, reuse);
    LogicalResult result = pricer.price();
    numTasks = pricer.numTasks;
    numCosts = pricer.numCosts;
    return result;
  }
};
} // namespace
