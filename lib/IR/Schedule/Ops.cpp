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

static bool isValid(Time t) { return t.base() >= 0 && std::isfinite(t.base()); }

static bool isValid(const Sum &sum) {
  return llvm::all_of(sum.terms, [](const Product &term) {
    return term.coef >= 0 && std::isfinite(term.coef);
  });
}

static ParseResult parseKeyword(OpAsmParser &p, StringAttr &name) {
  StringRef word;
  if (p.parseKeyword(&word))
    return failure();
  name = p.getBuilder().getStringAttr(word);
  return success();
}
static void printKeyword(OpAsmPrinter &p, Operation *, StringAttr name) {
  p.printKeywordOrString(name.getValue());
}

#define GET_OP_CLASSES
#include "dtrain/IR/Schedule/ScheduleOps.cpp.inc"

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

PipelineShape PlanOp::getShape() {
  PipelineShape shape;
  shape.stages = getNumStages();
  shape.chunks = getChunks();
  shape.microBatches = getMicroBatches();
  if (getKinds()) {
    shape.kinds.clear();
    for (auto kind : getKinds()->getAsRange<EventKindAttr>())
      shape.kinds.push_back(kind.getValue());
  }
  return shape;
}

Scale PlanOp::getScale() {
  Scale scale;
  scale.sizes[kMicroBatches] = getMicroBatches();
  if (DictionaryAttr sizes = getSizesAttr())
    for (NamedAttribute size : sizes)
      if (auto value = dyn_cast<IntegerAttr>(size.getValue()))
        scale.sizes[size.getName().getValue()] = value.getInt();
  for (const MeshAxis &axis : getMesh().getAxes())
    scale.degrees[axis.name] = axis.size;
  return scale;
}

/// Sizes, and what refers to them.
static LogicalResult verifySizes(PlanOp plan) {
  DictionaryAttr sizes = plan.getSizesAttr();
  auto isSize = [&](StringRef name) { return sizes && sizes.get(name); };
  auto unknown = [&](StringRef where, StringRef name) -> LogicalResult {
    return plan.emitOpError("expected the name of a size in ")
           << where << ", found '" << name << "'";
  };
  if (sizes)
    for (NamedAttribute size : sizes) {
      auto value = dyn_cast<IntegerAttr>(size.getValue());
      if (!value || !value.getType().isInteger(64) || value.getInt() < 1)
        return plan.emitOpError("expected a whole number of at least 1 of "
                                "size '")
               << size.getName().getValue() << "', found " << size.getValue();
    }
  if (plan.getFixed())
    for (auto name : plan.getFixed()->getAsRange<StringAttr>())
      if (!isSize(name))
        return unknown("fixed", name);
  if (plan.getProducts())
    for (NamedAttribute product : plan.getProductsAttr()) {
      if (!isSize(product.getName()))
        return unknown("products", product.getName());
      auto parts = dyn_cast<ArrayAttr>(product.getValue());
      if (!parts)
        return plan.emitOpError("expected a list of sizes in products, found ")
               << product.getValue();
      for (Attribute part : parts)
        if (auto name = dyn_cast<StringAttr>(part); !name || !isSize(name))
          return unknown("products", name ? name.getValue() : "");
    }
  if (plan.getDivisions())
    for (auto division : plan.getDivisions()->getAsRange<StringAttr>()) {
      llvm::Expected<Extents> extents = parseExtents(division.getValue());
      if (!extents)
        return plan.emitOpError() << llvm::toString(extents.takeError());
    }
  return success();
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
  PipelineShape shape = getShape();
  if (llvm::Error error = checkKinds(shape.kinds))
    return emitOpError() << llvm::toString(std::move(error));
  if (llvm::Error error = (*order)->check(shape))
    return emitOpError() << llvm::toString(std::move(error));
  // C5
  if (getResources())
    for (auto attr : getResources()->getAsRange<ResourceAttr>()) {
      const StepResource &r = attr.getValue();
      if (r.capacity < 1 || !(r.bandwidth.base() > 0) || !isValid(r.latency))
        return emitOpError("expected a capacity of at least 1, a positive "
                           "bandwidth and a latency that is not negative of "
                           "resource '")
               << r.name << "'";
    }
  return verifySizes(*this);
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
  PipelineShape shape = plan.getShape();
  llvm::SmallDenseSet<std::pair<int, int64_t>> seen;
  for (Operation &op : getContents().getOps()) {
    auto segment = dyn_cast<SegmentOp>(op);
    if (!segment)
      return op.emitOpError("expected only segments in a rank class");
    int kind = segment.getEventKind();
    if (kind < 0)
      continue;
    if (!seen.insert({kind, segment.getChunk()}).second)
      return segment.emitOpError("expected one segment '")
             << segment.getName() << "' of chunk " << segment.getChunk();
  }
  for (auto [kind, event] : llvm::enumerate(shape.kinds))
    for (int64_t chunk = 0; chunk < chunks; ++chunk)
      if (!seen.contains({static_cast<int>(kind), chunk}))
        return emitOpError("expected a segment '")
               << event.name << "' of chunk " << chunk;
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
  bool isEvent = getEventKind() >= 0;
  // C2
  int64_t chunks = isEvent ? plan.getChunks() : 1, chunk = getChunk();
  if (chunk < 0 || chunk >= chunks)
    return emitOpError("expected a chunk below ")
           << chunks << ", found " << chunk;
  // C3
  int64_t count = getCount();
  if (isEvent && count != static_cast<int64_t>(plan.getMicroBatches()))
    return emitOpError("expected count ")
           << plan.getMicroBatches() << ", found " << count;
  if (count < 1)
    return emitOpError("expected a count of at least 1, found ") << count;
  return success();
}

int SegmentOp::getEventKind() {
  auto plan = (*this)->getParentOfType<PlanOp>();
  for (auto [i, kind] : llvm::enumerate(plan.getShape().kinds))
    if (kind.name == getName())
      return i;
  return -1;
}

//===----------------------------------------------------------------------===//
// TaskOp, CallOp
//===----------------------------------------------------------------------===//

static LogicalResult verifyComm(TaskOp task, const StepComm &comm) {
  if (!isValid(comm.tensor))
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

/// Whether all sizes of an amount are the plan's.
static bool isKnown(const Sum &sum, const Scale &scale) {
  return llvm::all_of(sum.terms, [&](const Product &term) {
    return llvm::all_of(term.extents, [&](const Extent &extent) {
      return extent.size.empty() || scale.sizes.count(extent.size);
    });
  });
}

/// What a task counts is at most what its shape has, on every device.
static LogicalResult verifyCounted(TaskOp task, const StepWork &work) {
  if (work.contract.empty())
    return success();
  auto plan = task->getParentOfType<PlanOp>();
  Scale scale = plan.getScale();
  // Names are tested with the whole plan.
  if (!isKnown(work.contract, scale))
    return success();
  EvaluatedPayload evaluated = evaluateWork(work, scale);
  int64_t devices = plan.getMesh().getNumDevices();
  llvm::Expected<Flops> most = mostCountedFlops(evaluated.work);
  if (!most)
    return task.emitOpError() << llvm::toString(most.takeError());
  constexpr double kRelativeRounding = 1e-9;
  Flops bound = *most * static_cast<double>(devices);
  if (evaluated.contract <= bound * (1 + kRelativeRounding))
    return success();
  return task.emitOpError("expected to count at most ")
         << bound.str() << ", what its shape has on " << devices
         << " devices, found " << evaluated.contract.str();
}

static LogicalResult verifyWork(TaskOp task, const StepWork &w) {
  if (isValid(w.contract) && isValid(w.flops) && isValid(w.read) &&
      isValid(w.written) && isValid(w.elements) && w.kernels >= 0)
    return verifyCounted(task, w);
  return task.emitOpError("expected amounts of work that are not negative");
}

static LogicalResult verifyTransfer(TaskOp task, const StepTransfer &transfer) {
  if (!isValid(transfer.bytes))
    return task.emitOpError("expected bytes that are not negative"); // C1
  // C4
  auto resources = task->getParentOfType<PlanOp>().getResources();
  if (resources)
    for (auto resource : resources->getAsRange<ResourceAttr>())
      if (resource.getValue().name == transfer.resource)
        return success();
  return task.emitOpError("expected a resource of the plan, found '")
         << transfer.resource << "'";
}

/// Where a task may run ahead of its trip, or beside events.
static LogicalResult verifyPlace(TaskOp task) { // C5
  auto segment = dyn_cast<SegmentOp>(task->getParentOp());
  if (std::optional<int64_t> ahead = task.getAhead();
      ahead && (*ahead < 1 || segment))
    return task.emitOpError("expected to run ahead in a body, by at least one "
                            "trip, found ")
           << *ahead;
  if (!task.getDuring())
    return success();
  PipelineShape shape = task->getParentOfType<PlanOp>().getShape();
  bool isKind = llvm::any_of(shape.kinds, [&](const dtrain::EventKind &kind) {
    return kind.name == *task.getDuring();
  });
  if (isKind && segment && segment.getEventKind() < 0 && task.getComm())
    return success();
  return task.emitOpError("expected a communication of a segment that is no "
                          "event, during a kind of event, found '")
         << *task.getDuring() << "'";
}

LogicalResult TaskOp::verify() {
  // C1
  if (WorkAttr work = getWork()) {
    if (failed(verifyWork(*this, work.getValue())))
      return failure();
  } else if (CommAttr comm = getComm()) {
    if (failed(verifyComm(*this, comm.getValue())))
      return failure();
  } else if (TransferAttr transfer = getTransfer()) {
    if (failed(verifyTransfer(*this, transfer.getValue())))
      return failure();
  } else {
    return emitOpError("expected #schedule.work, #schedule.comm or "
                       "#schedule.transfer, found ")
           << getPayload();
  }
  if (failed(verifyPlace(*this)))
    return failure();
  // C3
  if (!getAt())
    return success();
  const Interval &at = getAt()->getValue();
  if (!getCost() || getCost()->getValue().device != at.duration)
    return emitOpError("expected the duration of its cost");
  if (!isValid(at.start) || !isValid(at.ready))
    return emitOpError("expected a start and a time until it is ready that are "
                       "not negative");
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
