//===- Ops.cpp - Verifiers of the schedule dialect ------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Schedule.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::schedule;

#define GET_OP_CLASSES
#include "dtrain/IR/Schedule/ScheduleOps.cpp.inc"

static bool isValid(Bytes b) {
  return b.base() >= 0 && std::isfinite(b.base());
}
static bool isValid(Flops f) {
  return f.base() >= 0 && std::isfinite(f.base());
}
static bool isValid(Time t) { return t.base() >= 0 && std::isfinite(t.base()); }

//===----------------------------------------------------------------------===//
// PlanOp
//===----------------------------------------------------------------------===//

int64_t PlanOp::getNumStages() {
  if (!getPipeline())
    return 1;
  std::optional<unsigned> axis = getMesh().find(*getPipeline());
  return axis ? getMesh().getSizes()[*axis] : 1;
}

const PipelineOrder &PlanOp::getPipelineOrder() {
  return *llvm::cantFail(findPipelineOrder(getOrder()));
}

LogicalResult PlanOp::verify() {
  // C1
  llvm::Expected<const PipelineOrder *> order = findPipelineOrder(getOrder());
  if (!order)
    return emitOpError() << llvm::toString(order.takeError());
  if (getMicroBatches() < 1 || getChunks() < 1)
    return emitOpError("expected at least one micro-batch and chunk, found ")
           << getMicroBatches() << " and " << getChunks();
  // C2
  if (getPipeline() && !getMesh().find(*getPipeline()))
    return emitOpError("expected a pipeline axis of the mesh, found '")
           << *getPipeline() << "'";
  // C3
  int64_t stage = 0;
  for (Operation &op : getContents().getOps()) {
    if (isa<BodyOp>(op))
      continue;
    auto rankClass = dyn_cast<RankClassOp>(op);
    if (!rankClass)
      return op.emitOpError("expected a body or a rank class in a plan");
    if (static_cast<int64_t>(rankClass.getStage()) != stage)
      return rankClass.emitOpError("expected the class of stage ")
             << stage << ", found that of stage " << rankClass.getStage();
    ++stage;
  }
  if (stage != getNumStages())
    return emitOpError("expected a rank class for each of ")
           << getNumStages() << " stages, found " << stage;
  // C4
  PipelineShape shape{getNumStages(), static_cast<int64_t>(getChunks()),
                      static_cast<int64_t>(getMicroBatches())};
  if (llvm::Error error = (*order)->check(shape))
    return emitOpError() << llvm::toString(std::move(error));
  return success();
}

//===----------------------------------------------------------------------===//
// BodyOp, RankClassOp, SegmentOp
//===----------------------------------------------------------------------===//

LogicalResult BodyOp::verify() {
  for (Operation &op : getContents().getOps()) // C1
    if (!isa<TaskOp>(op))
      return op.emitOpError("expected only tasks in a body");
  return success();
}

LogicalResult RankClassOp::verify() {
  auto plan = cast<PlanOp>((*this)->getParentOp());
  int64_t chunks = plan.getChunks();
  // C1
  llvm::SmallDenseSet<int64_t> forward, backward;
  int64_t tails = 0, others = 0;
  for (Operation &op : getContents().getOps()) {
    auto segment = dyn_cast<SegmentOp>(op);
    if (!segment)
      return op.emitOpError("expected only segments in a rank class");
    int64_t chunk = segment.getChunk();
    if (segment.getKind() == SegmentKind::tail) {
      ++tails;
      continue;
    }
    ++others;
    if (chunk >= 0 && chunk < chunks)
      (segment.getKind() == SegmentKind::forward ? forward : backward)
          .insert(chunk);
  }
  auto isComplete = [&](const llvm::SmallDenseSet<int64_t> &seen) {
    return static_cast<int64_t>(seen.size()) == chunks;
  };
  if (!isComplete(forward) || !isComplete(backward) || others != 2 * chunks)
    return emitOpError("expected one forward and one backward segment for each "
                       "of ")
           << chunks << " chunks";
  if (tails > 1)
    return emitOpError("expected at most one tail, found ") << tails;
  // C2
  int64_t devices = plan.getMesh().getNumDevices();
  if (static_cast<int64_t>(getDevices()) * plan.getNumStages() != devices)
    return emitOpError("expected the classes to make up the mesh's ")
           << devices << " devices, found " << getDevices() << " for each of "
           << plan.getNumStages() << " stages";
  return success();
}

LogicalResult SegmentOp::verify() {
  for (Operation &op : getContents().getOps()) // C1
    if (!isa<TaskOp, CallOp>(op))
      return op.emitOpError("expected only tasks and calls in a segment");
  auto plan = (*this)->getParentOfType<PlanOp>();
  bool isTail = getKind() == SegmentKind::tail;
  // C2
  int64_t chunks = isTail ? 1 : plan.getChunks(), chunk = getChunk();
  if (chunk < 0 || chunk >= chunks)
    return emitOpError("expected a chunk below ")
           << chunks << ", found " << chunk;
  // C3
  int64_t count = isTail ? 1 : plan.getMicroBatches();
  if (static_cast<int64_t>(getCount()) != count)
    return emitOpError("expected count ") << count << ", found " << getCount();
  return success();
}

//===----------------------------------------------------------------------===//
// TaskOp, CallOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyComm(TaskOp task, const TaskComm &comm) {
  if (!isValid(comm.tensor) || !isValid(comm.sent))
    return task.emitOpError("expected bytes that are not negative"); // C1
  // C2
  MeshAttr mesh = task->getParentOfType<PlanOp>().getMesh();
  if (comm.axes.empty())
    return task.emitOpError("expected axes of the mesh, found none");
  int64_t size = 1;
  int next = 0;
  for (const std::string &name : comm.axes) {
    std::optional<unsigned> axis = mesh.find(name);
    if (!axis)
      return task.emitOpError("expected an axis of the mesh, found '")
             << name << "'";
    if (static_cast<int>(*axis) < next)
      return task.emitOpError("expected axes in the mesh's order, each once, "
                              "found '")
             << comm.axisNames() << "'";
    next = *axis + 1;
    size *= mesh.getSizes()[*axis];
  }
  for (int64_t coordinate : comm.between)
    if (coordinate < 0 || coordinate >= size)
      return task.emitOpError("expected coordinates below ")
             << size << " on axis '" << comm.axisNames() << "', found "
             << coordinate;
  if (comm.kind == CollectiveKind::Send && comm.between.size() != 2)
    return task.emitOpError("expected a send between two coordinates");
  return success();
}

/// What a task counts is at most what its shape has, on every device.
static LogicalResult verifyCounted(TaskOp task, const TaskWork &work) {
  int64_t devices = task->getParentOfType<PlanOp>().getMesh().getNumDevices();
  llvm::Expected<Flops> most = mostCountedFlops(work);
  if (!most)
    return task.emitOpError() << llvm::toString(most.takeError());
  constexpr double kRelativeRounding = 1e-9;
  Flops bound = *most * static_cast<double>(devices);
  if (work.contract <= bound * (1 + kRelativeRounding))
    return success();
  return task.emitOpError("expected to count at most ")
         << bound.str() << ", what its shape has on " << devices
         << " devices, found " << work.contract.str();
}

LogicalResult TaskOp::verify() {
  // C1
  if (WorkAttr work = getWork()) {
    const TaskWork &w = work.getValue();
    if (!isValid(w.contract) || !isValid(w.flops) || !isValid(w.read) ||
        !isValid(w.written) || !(w.elements >= 0) || w.kernels < 0)
      return emitOpError("expected amounts of work that are not negative");
    if (failed(verifyCounted(*this, w)))
      return failure();
  } else if (CommAttr comm = getComm()) {
    if (failed(verifyComm(*this, comm.getValue())))
      return failure();
  } else {
    return emitOpError("expected #schedule.work or #schedule.comm, found ")
           << getPayload();
  }
  // C3
  if (!getAt())
    return success();
  const Interval &at = getAt()->getValue();
  if (!getCost() || getCost()->getValue().device != at.duration)
    return emitOpError("expected the duration of its cost");
  if (!isValid(at.start) || !isValid(at.exposed) || at.duration < at.exposed)
    return emitOpError("expected a start and an exposed part that are not "
                       "negative, the latter within the duration");
  return success();
}

BodyOp CallOp::getBody() {
  auto plan = (*this)->getParentOfType<PlanOp>();
  return plan ? plan.lookupSymbol<BodyOp>(getCallee()) : BodyOp();
}

LogicalResult CallOp::verify() {
  if (static_cast<int64_t>(getTimes()) < 1) // C1
    return emitOpError("expected at least one trip, found ") << getTimes();
  return success();
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto plan = (*this)->getParentOfType<PlanOp>();
  if (!symbols.lookupSymbolIn(plan, getCalleeAttr()) || !getBody()) // C2
    return emitOpError("expected a body of the plan, found ")
           << getCalleeAttr();
  return success();
}
