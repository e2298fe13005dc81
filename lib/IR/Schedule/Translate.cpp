//===- Translate.cpp - Between a plan and the step it is ------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Translate.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::schedule;

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

namespace {
class Reader {
public:
  explicit Reader(PlanOp plan) : plan(plan) {}
  StepProblem read();

private:
  void readDeclarations();
  std::vector<StepOp> readScope(Block &scope);
  StepTask readTask(TaskOp task);
  DeviceClass readClass(RankClassOp rankClass);

  PlanOp plan;
  StepProblem problem;
  /// By payload and cost.
  DenseMap<std::pair<Attribute, Attribute>, unsigned> payloads;
  llvm::StringMap<unsigned> bodies;
};
} // namespace

static TaskOrigin originOf(Origin origin) {
  switch (origin) {
  case Origin::forward:
    return TaskOrigin::Forward;
  case Origin::backward:
    return TaskOrigin::Backward;
  case Origin::recompute:
    return TaskOrigin::Recompute;
  case Origin::update:
    return TaskOrigin::Update;
  }
  llvm_unreachable("covered switch");
}

/// The verifier has seen that one of the three fits.
static Payload payloadOf(TaskOp task) {
  if (WorkAttr work = task.getWork())
    return work.getValue();
  if (CommAttr comm = task.getComm())
    return comm.getValue();
  return task.getTransfer().getValue();
}

StepTask Reader::readTask(TaskOp task) {
  StepTask result;
  result.name = task.getName().str();
  result.origin = originOf(task.getOrigin());
  result.ahead = task.getAhead().value_or(0);
  if (task.getDuring())
    for (auto [i, kind] : llvm::enumerate(problem.shape.kinds))
      if (kind.name == *task.getDuring())
        result.during = i;
  auto [it, isNew] = payloads.try_emplace(
      {task.getPayload(), task.getCostAttr()}, problem.payloads.size());
  if (isNew)
    problem.payloads.push_back(payloadOf(task));
  result.payload = it->second;
  return result;
}

std::vector<StepOp> Reader::readScope(Block &scope) {
  std::vector<StepOp> ops;
  DenseMap<Value, unsigned> places;
  for (Operation &op : scope) {
    StepOp result;
    if (auto call = dyn_cast<CallOp>(op))
      result.what = StepCall{bodies.lookup(call.getCallee()),
                             static_cast<int64_t>(call.getTimes())};
    else
      result.what = readTask(cast<TaskOp>(op));
    for (Value event : op.getOperands())
      result.after.push_back(places.lookup(event));
    places[op.getResult(0)] = ops.size();
    ops.push_back(std::move(result));
  }
  return ops;
}

DeviceClass Reader::readClass(RankClassOp rankClass) {
  DeviceClass result;
  result.name = rankClass.getSymName().str();
  result.stage = rankClass.getStage();
  result.state = rankClass.getState().getValue();
  for (auto segment : rankClass.getContents().getOps<SegmentOp>()) {
    StepSegment s;
    s.name = segment.getName().str();
    s.kind = segment.getEventKind();
    s.chunk = segment.getChunk();
    s.count = segment.getCount();
    s.ops = readScope(segment.getContents().front());
    s.space = segment.getSpace().getValue();
    result.segments.push_back(std::move(s));
  }
  return result;
}

void Reader::readDeclarations() {
  problem.name = plan.getSymName().str();
  problem.model = plan.getModel().getValue();
  auto axes = plan.getMesh().getAxes();
  problem.axes.assign(axes.begin(), axes.end());
  problem.classAxis = plan.getPipeline().value_or("").str();
  problem.shape = plan.getShape();
  problem.order = &plan.getPipelineOrder();
  auto isFixed = [&](StringAttr name) {
    return plan.getFixed() && llvm::is_contained(*plan.getFixed(), name);
  };
  if (plan.getSizes())
    for (NamedAttribute size : plan.getSizesAttr())
      problem.sizes.push_back({size.getName().str(),
                               cast<IntegerAttr>(size.getValue()).getInt(),
                               isFixed(size.getName())});
  if (plan.getProducts())
    for (NamedAttribute product : plan.getProductsAttr()) {
      SizeRelation relation{product.getName().str(), {}};
      for (Attribute part : cast<ArrayAttr>(product.getValue()))
        relation.parts.push_back(cast<StringAttr>(part).str());
      problem.relations.push_back(std::move(relation));
    }
  if (plan.getDivisions())
    for (auto division : plan.getDivisions()->getAsRange<StringAttr>())
      for (const Extent &extent :
           llvm::cantFail(parseExtents(division.getValue()))) // verified
        problem.guards.push_back({extent});
  if (plan.getResources())
    for (auto resource : plan.getResources()->getAsRange<ResourceAttr>())
      problem.resources.push_back(resource.getValue());
  problem.optimizer = plan.getOptimizer().value_or("").str();
  problem.recompute = plan.getRecompute().value_or("").str();
}

StepProblem Reader::read() {
  readDeclarations();
  for (auto body : plan.getContents().getOps<BodyOp>()) {
    bodies[body.getSymName()] = problem.bodies.size();
    problem.bodies.push_back(
        {body.getSymName().str(), readScope(body.getContents().front())});
  }
  for (auto rankClass : plan.getContents().getOps<RankClassOp>())
    problem.classes.push_back(readClass(rankClass));
  return std::move(problem);
}

FailureOr<StepProblem> schedule::toStep(PlanOp plan) {
  StepProblem problem = Reader(plan).read();
  if (llvm::Error error = problem.check())
    return plan.emitError() << llvm::toString(std::move(error));
  return problem;
}

//===----------------------------------------------------------------------===//
// Prices
//===----------------------------------------------------------------------===//

/// Calls `visit` with the tasks of the plan and of its problem.
template <typename F>
static LogicalResult forEachTask(PlanOp plan, const StepProblem &problem,
                                 F visit) {
  auto visitScope = [&](Block &scope, ArrayRef<StepOp> ops) -> LogicalResult {
    for (auto [op, step] : llvm::zip_equal(scope, ops))
      if (auto task = dyn_cast<TaskOp>(op))
        if (failed(visit(task, *step.task())))
          return failure();
    return success();
  };
  for (auto [op, body] :
       llvm::zip_equal(plan.getContents().getOps<BodyOp>(), problem.bodies))
    if (failed(visitScope(op.getContents().front(), body.ops)))
      return failure();
  for (auto [op, c] : llvm::zip_equal(plan.getContents().getOps<RankClassOp>(),
                                      problem.classes))
    for (auto [segmentOp, segment] : llvm::zip_equal(
             op.getContents().template getOps<SegmentOp>(), c.segments))
      if (failed(visitScope(segmentOp.getContents().front(), segment.ops)))
        return failure();
  return success();
}

TaskOp schedule::taskOf(PlanOp plan, const StepProblem &problem,
                        unsigned payload) {
  TaskOp found;
  (void)forEachTask(plan, problem, [&](TaskOp task, const StepTask &step) {
    if (!found && step.payload == payload)
      found = task;
    return success();
  });
  return found;
}

FailureOr<StepPrices> schedule::pricesOf(PlanOp plan,
                                         const StepProblem &problem) {
  StepPrices prices;
  prices.target = plan.getTarget().value_or("").str();
  prices.stack = plan.getStack().value_or("").str();
  prices.costs.resize(problem.payloads.size());
  auto read = [&](TaskOp task, const StepTask &step) -> LogicalResult {
    if (!task.getCost())
      return task.emitOpError("expected a cost of every task: run "
                              "schedule-assign-durations first");
    prices.costs[step.payload] = task.getCost()->getValue();
    return success();
  };
  if (failed(forEachTask(plan, problem, read)))
    return failure();
  if (plan.getFigures()) {
    const StackFigures &figures = plan.getFigures()->getValue();
    prices.optimizerHost = figures.optimizerHost;
    prices.perLogit = figures.perLogit;
    prices.perScore = figures.perScore;
    prices.perDropped = figures.perDropped;
    prices.workspace = figures.workspace;
    prices.perWeight = figures.perWeight;
  }
  if (plan.getHidings())
    for (auto attr : plan.getHidings()->getAsRange<HidingAttr>()) {
      const PurposeHiding &hiding = attr.getValue();
      prices.hidings[static_cast<unsigned>(hiding.purpose)]
                    [hiding.pass == HidingPass::Backward] = hiding;
    }
  return prices;
}

FailureOr<std::unique_ptr<PricedPlan>> schedule::readPricedPlan(PlanOp plan) {
  auto result = std::make_unique<PricedPlan>();
  FailureOr<StepProblem> problem = toStep(plan);
  if (failed(problem))
    return failure();
  result->problem = std::move(*problem);
  FailureOr<StepPrices> prices = pricesOf(plan, result->problem);
  if (failed(prices))
    return failure();
  result->prices = std::move(*prices);
  llvm::Expected<EvaluatedStep> step =
      evaluate(result->problem, result->problem.scale(), /*devicesPerNode=*/1);
  if (!step)
    return plan.emitError() << llvm::toString(step.takeError());
  result->step = std::move(*step);
  return result;
}

void schedule::setPrices(PlanOp plan, const StepProblem &problem,
                         const StepPrices &prices) {
  MLIRContext *context = plan.getContext();
  SmallVector<CostAttr> costs =
      llvm::map_to_vector(prices.costs, [&](const PayloadCost &cost) {
        return CostAttr::get(context, cost);
      });
  (void)forEachTask(plan, problem, [&](TaskOp task, const StepTask &step) {
    task.setCostAttr(costs[step.payload]);
    return success();
  });
  plan.setFiguresAttr(FiguresAttr::get(
      context, {prices.optimizerHost, prices.perLogit, prices.perScore,
                prices.perDropped, prices.workspace, prices.perWeight}));
  SmallVector<Attribute> hidings;
  for (auto [purpose, passes] : llvm::enumerate(prices.hidings))
    for (HidingPass pass : {HidingPass::Forward, HidingPass::Backward}) {
      PurposeHiding hiding;
      static_cast<dtrain::Hiding &>(hiding) =
          passes[pass == HidingPass::Backward];
      hiding.purpose = static_cast<Purpose>(purpose);
      hiding.pass = pass;
      hidings.push_back(HidingAttr::get(context, hiding));
    }
  plan.setHidingsAttr(ArrayAttr::get(context, hidings));
  plan.setTarget(prices.target);
  plan.setStack(prices.stack);
}

//===----------------------------------------------------------------------===//
// The solution
//===----------------------------------------------------------------------===//

static void setScope(Block &scope, const ScopeSolution &solution) {
  for (auto [op, interval] : llvm::zip_equal(scope, solution.ops)) {
    auto at = AtAttr::get(op.getContext(), interval);
    if (auto task = dyn_cast<TaskOp>(op))
      task.setAtAttr(at);
    else
      cast<CallOp>(op).setAtAttr(at);
  }
}

void schedule::setSolution(PlanOp plan, const StepSolution &solution) {
  MLIRContext *context = plan.getContext();
  for (auto [body, solved] :
       llvm::zip_equal(plan.getContents().getOps<BodyOp>(), solution.bodies)) {
    setScope(body.getContents().front(), solved);
    body.setSpanAttr(SpanAttr::get(context, solved.span));
  }
  for (auto [c, rankClass] :
       llvm::enumerate(plan.getContents().getOps<RankClassOp>())) {
    for (auto [segment, solved] :
         llvm::zip_equal(rankClass.getContents().getOps<SegmentOp>(),
                         solution.segments[c])) {
      setScope(segment.getContents().front(), solved);
      segment.setSpanAttr(SpanAttr::get(context, solved.span));
    }
    rankClass.setFootprintAttr(FootprintAttr::get(context, solution.peak(c)));
    rankClass.setBreakdownAttr(
        BreakdownAttr::get(context, solution.breakdown(c)));
  }
  plan.setAtAttr(AtAttr::get(context, {Time(), solution.step, Time()}));
}

static ScopeSolution scopeOf(Block &scope, const dtrain::Span &span) {
  ScopeSolution solution;
  solution.span = span;
  for (Operation &op : scope) {
    auto task = dyn_cast<TaskOp>(op);
    solution.ops.push_back(
        (task ? *task.getAt() : *cast<CallOp>(op).getAt()).getValue());
  }
  return solution;
}

StepSolution schedule::solutionOf(PlanOp plan) {
  StepSolution solution;
  solution.step = plan.getAt()->getValue().duration;
  for (auto body : plan.getContents().getOps<BodyOp>())
    solution.bodies.push_back(
        scopeOf(body.getContents().front(), body.getSpan()->getValue()));
  for (auto rankClass : plan.getContents().getOps<RankClassOp>()) {
    solution.segments.emplace_back();
    for (auto segment : rankClass.getContents().getOps<SegmentOp>())
      solution.segments.back().push_back(scopeOf(
          segment.getContents().front(), segment.getSpan()->getValue()));
    solution.footprints.push_back(rankClass.getFootprint()->getValue());
    solution.breakdowns.push_back(rankClass.getBreakdown()->getValue());
  }
  return solution;
}
