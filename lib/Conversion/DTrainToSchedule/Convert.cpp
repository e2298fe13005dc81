//===- Convert.cpp - From a communicating program to a plan ---------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtrain/Conversion/Passes.h"
#include "dtrain/IR/DTrain/Questions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::conversion;
using namespace dtrain::schedule;

namespace dtrain {
#define GEN_PASS_DEF_CONVERTDTRAINTOSCHEDULE
#include "dtrain/Conversion/Passes.h.inc"
} // namespace dtrain

namespace {

/// What the calls of a body add to the memory of their segment.
struct BodyFacts {
  /// Attention scores and elements with dropout of one trip's forward.
  Amount<Ratio> scores, dropped;
  /// Whether anything but the carried input outlives a trip.
  bool keepsInside = false;
};

class Converter {
public:
  Converter(Program &program, Accumulations &accumulations, Stages &stages)
      : program(program), stages(stages), accumulations(accumulations),
        sizes(program.main->getParentOfType<ModuleOp>(), program),
        payloads(program, accumulations, sizes),
        memory(program, accumulations, sizes),
        builder(program.main.getContext()) {}

  FailureOr<PlanOp> convert(StringRef name, StringRef order, StringRef axis);

private:
  using Events = llvm::SetVector<Value>;

  ModelFacts modelFacts(StringRef name);
  int64_t countLayers();
  LogicalResult convertClass(int64_t stage);
  LogicalResult convertSegment(int64_t stage, int64_t chunk, bool backward);
  LogicalResult convertTail(int64_t stage);
  void collectTails();
  Value createTask(Operation *op, Attribute payload, ValueRange after,
                   StringRef during = "");
  /// Tasks and calls of `ops` at the insertion point.
  LogicalResult convertOps(ArrayRef<Operation *> ops);
  /// The calls of a repeat at the insertion point, and the event of the last.
  FailureOr<Value> convertRepeat(RepeatOp repeat, ValueRange after);
  /// A body of the ops of one trip.
  FailureOr<BodyOp> bodyOf(RepeatOp repeat, ArrayRef<Operation *> ops,
                           StringRef suffix);
  FailureOr<Attribute> payloadOf(Operation *op);
  SegmentOp createSegment(StringRef name, int64_t chunk, int64_t count);
  void setSpace(SegmentOp segment, ArrayRef<Operation *> ops,
                const StepSpace &kept, const DenseSet<Value> &savedValues);
  /// Values that backward ops read and forward ops of the chunk made.
  struct Saved {
    StepSpace space;
    DenseSet<Value> values;
    DenseSet<Operation *> repeats;
  };
  Saved collectSaved(ArrayRef<Operation *> backward);
  void save(Value value, Saved &saved, bool asLogits = false);
  void saveOutputs(RepeatOp repeat, Saved &saved);
  const BodyFacts &factsOf(RepeatOp repeat);

  Program &program;
  Stages &stages;
  Accumulations &accumulations;
  Sizes sizes;
  Payloads payloads;
  Memory memory;
  OpBuilder builder;
  PlanOp plan;
  /// By the ops of a trip.
  std::map<SmallVector<Operation *>, BodyOp> bodies;
  llvm::DenseMap<Operation *, BodyFacts> facts;
  llvm::DenseMap<Operation *, Attribute> cachedPayloads;
  /// Ops of @main that run after the micro-batches, by stage and in order.
  std::vector<SmallVector<Operation *>> tails;
};
} // namespace

//===----------------------------------------------------------------------===//
// Facts of the model
//===----------------------------------------------------------------------===//

/// Whether a value is a parameter of @microbatch, seen through views and
/// communications.
static bool isParameter(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isFree(op) && !isa<CommOpInterface>(op))
      return false;
    if (op->getNumOperands() != 1)
      return false;
    value = op->getOperand(0);
  }
  return true;
}

int64_t Converter::countLayers() {
  int64_t trips = 0, contractions = 0;
  for (Operation &op : program.microbatch.getBody().front()) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      if (repeat.getOrigin() == Origin::forward)
        trips += repeat.getTripCount();
      continue;
    }
    auto rule = dyn_cast<RuleOpInterface>(op);
    if (rule && rule.getOrigin() == Origin::forward &&
        rule.getOpClass() == OpClass::Contraction &&
        llvm::any_of(op.getOperands(), isParameter))
      ++contractions;
  }
  return trips ? trips : contractions;
}

ModelFacts Converter::modelFacts(StringRef name) {
  ModelFacts model;
  model.name = name.str();
  for (BlockArgument argument : program.main.getArguments())
    if (roleOf(program.main, argument.getArgNumber()) == Role::parameter)
      model.parameters +=
          cast<RankedTensorType>(argument.getType()).getNumElements();
  model.layers = countLayers();
  // The first input is [micro-batches, batch, …]; one of whole numbers with one
  // more dimension holds tokens.
  for (Value input : program.loop.getStacked()) {
    RankedTensorType type = tensorType(input);
    if (type.getRank() < 2)
      continue;
    Extent microBatches;
    microBatches.size = kMicroBatches;
    model.samples = {microBatches, sizes.of(input, 1)};
    if (type.getRank() == 3 && type.getElementType().isInteger()) {
      model.tokens = model.samples;
      model.tokens.push_back(sizes.of(input, 2));
    }
    break;
  }
  return model;
}

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

FailureOr<Attribute> Converter::payloadOf(Operation *op) {
  if (auto it = cachedPayloads.find(op); it != cachedPayloads.end())
    return it->second;
  FailureOr<Attribute> payload = payloads.of(op);
  if (succeeded(payload))
    cachedPayloads[op] = *payload;
  return payload;
}

static Origin originOf(Operation *op) {
  if (auto rule = dyn_cast<RuleOpInterface>(op))
    return rule.getOrigin();
  return cast<CommOpInterface>(op).getOrigin();
}

Value Converter::createTask(Operation *op, Attribute payload, ValueRange after,
                            StringRef during) {
  return TaskOp::create(builder, op->getLoc(), EventType::get(op->getContext()),
                        op->getName().getIdentifier(), after, payload,
                        OriginAttr::get(op->getContext(), originOf(op)),
                        CostAttr(), AtAttr(), IntegerAttr(),
                        during.empty() ? StringAttr()
                                       : builder.getStringAttr(during));
}

LogicalResult Converter::convertOps(ArrayRef<Operation *> ops) {
  DenseMap<Value, Events> events;
  for (Operation *op : ops) {
    Events after;
    for (Value v : op->getOperands())
      if (auto it = events.find(v); it != events.end())
        after.insert(it->second.begin(), it->second.end());
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      FailureOr<Value> done = convertRepeat(repeat, after.getArrayRef());
      if (failed(done))
        return failure();
      after.clear();
      after.insert(*done);
    } else {
      FailureOr<Attribute> payload = payloadOf(op);
      if (failed(payload))
        return failure();
      if (*payload) {
        Value done = createTask(op, *payload, after.getArrayRef());
        after.clear();
        after.insert(done);
      }
    }
    for (Value v : op->getResults())
      events[v] = after;
  }
  return success();
}

/// `times` of each term of `sum`.
static void addTimes(Sum &to, const Sum &sum, double times) {
  for (Product term : sum.terms) {
    term.coef *= times;
    to.add(term);
  }
}

/// The attention scores of a core: sequences, heads, queries, keys.
static Product scoresOf(const AttentionExtents &attention) {
  Product scores{1, {}};
  for (const Extents &side : ArrayRef(attention.sides).take_front(5))
    llvm::append_range(scores.extents, side);
  return scores;
}

/// Adds the attention scores and the elements with dropout of the forward tasks
/// of `scope`: what a stack may keep of them for backward.
static void addKeptByStack(Block &scope, Amount<Ratio> &scores,
                           Amount<Ratio> &dropped) {
  for (auto task : scope.getOps<TaskOp>()) {
    WorkAttr work = task.getWork();
    if (!work || task.getOrigin() != Origin::forward)
      continue;
    if (work.getValue().cls == OpClass::Attention)
      scores.add(scoresOf(work.getValue().attention));
    if (work.getValue().dropout == ResidualDropout::Forward)
      addTimes(dropped, work.getValue().elements, 1);
  }
}

FailureOr<Value> Converter::convertRepeat(RepeatOp repeat, ValueRange after) {
  SmallVector<Operation *> ops = opsOfTrip(repeat),
                           last = opsOfLastTrip(repeat);
  int64_t trips = repeat.getTripCount();
  int64_t whole = last.size() < ops.size() ? trips - 1 : trips;
  Value done;
  auto call = [&](FailureOr<BodyOp> body, int64_t times) {
    if (succeeded(body))
      done = CallOp::create(builder, repeat.getLoc(),
                            EventType::get(repeat.getContext()),
                            FlatSymbolRefAttr::get(body->getSymNameAttr()),
                            builder.getI64IntegerAttr(times),
                            done ? ValueRange(done) : after, AtAttr());
    return success(succeeded(body));
  };
  if (whole > 0 && failed(call(bodyOf(repeat, ops, ""), whole)))
    return failure();
  if (whole < trips && failed(call(bodyOf(repeat, last, "_last"), 1)))
    return failure();
  return done;
}

FailureOr<BodyOp> Converter::bodyOf(RepeatOp repeat, ArrayRef<Operation *> ops,
                                    StringRef suffix) {
  func::FuncOp function = repeat.getBody();
  BodyOp &body = bodies[SmallVector<Operation *>(ops)];
  if (body)
    return body;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&plan.getContents().front());
  // Another layer may have the name already.
  std::string name = (function.getSymName() + suffix).str();
  while (SymbolTable::lookupSymbolIn(plan, name))
    name += '_';
  body = BodyOp::create(builder, function.getLoc(), name, SpanAttr());
  BodyOp result = body;
  builder.createBlock(&result.getContents());
  for (Operation *op : ops)
    if (isa<RepeatOp>(op))
      return op->emitOpError("inside a repeated layer cannot be scheduled");
  if (failed(convertOps(ops)))
    return failure();
  BodyFacts &fact = facts[function];
  addKeptByStack(result.getContents().front(), fact.scores, fact.dropped);
  Operation *ret = function.getBody().front().getTerminator();
  unsigned first = repeat.getCarry().size() + repeat.getInout().size();
  fact.keepsInside =
      llvm::any_of(ret->getOperands().drop_front(first),
                   [](Value v) { return !isa<BlockArgument>(storageOf(v)); });
  return result;
}

const BodyFacts &Converter::factsOf(RepeatOp repeat) {
  return facts[repeat.getBody()];
}

//===----------------------------------------------------------------------===//
// Segments
//===----------------------------------------------------------------------===//

SegmentOp Converter::createSegment(StringRef name, int64_t chunk,
                                   int64_t count) {
  auto segment = SegmentOp::create(
      builder, program.main.getLoc(), builder.getStringAttr(name),
      builder.getI64IntegerAttr(chunk), builder.getI64IntegerAttr(count),
      SpaceAttr::get(builder.getContext(), StepSpace()), SpanAttr());
  return segment;
}

static bool isForward(Operation *op) {
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return repeat.getOrigin() == Origin::forward;
  return originOf(op) == Origin::forward;
}

void Converter::save(Value value, Saved &saved, bool asLogits) {
  Value storage = storageOf(value);
  Operation *def = storage.getDefiningOp();
  if (!def || isFree(def) || !isForward(def) || accumulations.contains(def))
    return;
  auto repeat = dyn_cast<RepeatOp>(def);
  if (repeat && llvm::is_contained(repeat.getOutputs(), storage))
    return saveOutputs(repeat, saved);
  if (!saved.values.insert(storage).second)
    return;
  if (asLogits)
    saved.space.logits.add(sizes.local(storage, 1));
  else
    saved.space.saved.add(memory.bytesOf(storage));
}

void Converter::saveOutputs(RepeatOp repeat, Saved &saved) {
  if (!saved.repeats.insert(repeat).second)
    return;
  ValueRange returned = repeat.getBody().front().getTerminator()->getOperands();
  unsigned carries = repeat.getCarry().size();
  DenseSet<Value> seen;
  llvm::SmallBitVector isCarrySaved(carries);
  // What one trip carries out, the next carries in: it is kept once. The first
  // and the last are values of the micro-batch.
  auto saveRows = [&](Value value, int64_t rows) {
    Product bytes = memory.bytesOf(value);
    bytes.coef *= static_cast<double>(rows);
    if (rows > 0)
      saved.space.saved.add(bytes);
  };
  auto saveBetweenTrips = [&](unsigned carry, Value value) {
    if (!isCarrySaved.test(carry))
      saveRows(value, repeat.getTripCount() - 1);
    isCarrySaved.set(carry);
  };
  ValueRange outputs = returned.drop_front(carries + repeat.getInout().size());
  for (Value value : outputs) {
    Value storage = storageOf(value);
    if (!seen.insert(storage).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(storage)) {
      // Rows of parameters and shared tensors are held anyway.
      if (argument.getArgNumber() >= carries)
        continue;
      saveBetweenTrips(argument.getArgNumber(), value);
      save(repeat.getCarry()[argument.getArgNumber()], saved);
      continue;
    }
    bool isCarried = false;
    for (unsigned carry = 0; carry < carries && !isCarried; ++carry)
      if (storageOf(returned[carry]) == storage) {
        isCarried = true;
        saveBetweenTrips(carry, value);
        save(repeat.getResult(carry), saved);
      }
    if (!isCarried)
      saveRows(value, repeat.getTripCount());
  }
  const BodyFacts &fact = factsOf(repeat);
  if (fact.keepsInside) {
    double trips = static_cast<double>(repeat.getTripCount());
    addTimes(saved.space.scores, fact.scores, trips);
    addTimes(saved.space.dropped, fact.dropped, trips);
  }
}

/// Whether a loss' backward reads the operand as scores of what its labels
/// index.
static bool isLogits(OpOperand &operand) {
  auto op = dyn_cast<RuleOpInterface>(operand.getOwner());
  if (!op || op.getOpClass() != OpClass::LossBackward)
    return false;
  Rule rule = op.getRule();
  return llvm::any_of(rule.index, [&](const auto &indexed) {
    return operandWith(op, rule, indexed.second) == &operand;
  });
}

Converter::Saved Converter::collectSaved(ArrayRef<Operation *> backward) {
  Saved saved;
  for (Operation *op : backward)
    for (OpOperand &operand : op->getOpOperands())
      save(operand.get(), saved, isLogits(operand));
  return saved;
}

void Converter::setSpace(SegmentOp segment, ArrayRef<Operation *> ops,
                         const StepSpace &kept,
                         const DenseSet<Value> &savedValues) {
  auto isKept = [&](Value v) {
    Operation *def = v.getDefiningOp();
    if (auto repeat = dyn_cast_or_null<RepeatOp>(def))
      if (llvm::is_contained(repeat.getOutputs(), v))
        return true;
    return savedValues.contains(v) || accumulations.contains(def);
  };
  StepSpace space = kept;
  space.workspace = memory.workspaceOf(ops, {}, isKept);
  space.weights = memory.weightsOf(ops);
  auto consider = [&](TaskOp task) {
    WorkAttr work = task.getWork();
    if (!work || (work.getValue().cls != OpClass::Attention &&
                  work.getValue().cls != OpClass::AttentionBackward))
      return;
    Amount<Ratio> scores;
    scores.add(scoresOf(work.getValue().attention));
    if (!llvm::is_contained(space.layerScores.moments, scores))
      space.layerScores.moments.push_back(std::move(scores));
  };
  for (Operation &op : segment.getContents().getOps()) {
    if (auto task = dyn_cast<TaskOp>(op))
      consider(task);
    else if (auto call = dyn_cast<CallOp>(op))
      for (auto task : call.getBody().getContents().getOps<TaskOp>())
        consider(task);
  }
  segment.setSpaceAttr(SpaceAttr::get(builder.getContext(), space));
}

LogicalResult Converter::convertSegment(int64_t stage, int64_t chunk,
                                        bool backward) {
  OpBuilder::InsertionGuard guard(builder);
  const SegmentOps &ops =
      backward ? stages.backward(stage, chunk) : stages.forward(stage, chunk);
  SegmentOp segment = createSegment(plan.getShape().kinds[backward].name, chunk,
                                    plan.getMicroBatches());
  builder.createBlock(&segment.getContents());
  // Views and free transitions carry dependences between the segment's ops.
  if (failed(convertOps(ops.ops)))
    return failure();
  Saved saved = collectSaved(stages.backward(stage, chunk).ops);
  // Outside of repeats nothing is computed again.
  addKeptByStack(segment.getContents().front(), saved.space.scores,
                 saved.space.dropped);
  setSpace(segment, ops.ops, backward ? StepSpace() : saved.space,
           saved.values);
  return success();
}

LogicalResult Converter::convertTail(int64_t stage) {
  OpBuilder::InsertionGuard guard(builder);
  SegmentOp segment = createSegment("tail", 0, 1);
  builder.createBlock(&segment.getContents());
  FailureOr<std::vector<TailGroup>> groups = groupTail(
      program, tails[stage], [&](Operation *op) { return payloadOf(op); });
  if (failed(groups))
    return failure();
  SmallVector<Value> events;
  for (const TailGroup &group : *groups) {
    SmallVector<Value> after = llvm::map_to_vector(
        group.after, [&](unsigned before) { return events[before]; });
    events.push_back(
        createTask(group.first, group.payload, after, group.during));
  }
  return success();
}

void Converter::collectTails() {
  tails.resize(program.numStages());
  for (Operation &op : program.main.getBody().front()) {
    if (&op == program.loop || isa<func::ReturnOp>(op))
      continue;
    llvm::SmallBitVector on(program.numStages());
    for (Value v : llvm::concat<Value>(op.getOperands(), op.getResults())) {
      Coords holders = program.holders(v.getType());
      if (holders.empty())
        on.set();
      for (int64_t stage : holders)
        on.set(stage);
    }
    for (unsigned stage : on.set_bits())
      tails[stage].push_back(&op);
  }
}

LogicalResult Converter::convertClass(int64_t stage) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&plan.getContents().front());
  auto rankClass = RankClassOp::create(
      builder, program.main.getLoc(),
      builder.getStringAttr("stage" + Twine(stage)),
      builder.getI64IntegerAttr(stage),
      builder.getI64IntegerAttr(program.mesh.getNumDevices() /
                                program.numStages()),
      StateAttr::get(builder.getContext(), memory.stateOf(stage)),
      FootprintAttr(), BreakdownAttr());
  builder.createBlock(&rankClass.getContents());
  for (int64_t chunk = 0; chunk < stages.numChunks(); ++chunk)
    for (bool backward : {false, true})
      if (failed(convertSegment(stage, chunk, backward)))
        return failure();
  return convertTail(stage);
}

FailureOr<PlanOp> Converter::convert(StringRef name, StringRef order,
                                     StringRef axis) {
  collectTails();
  builder.setInsertionPointAfter(program.main);
  plan = PlanOp::create(
      builder, program.main.getLoc(), builder.getStringAttr("plan"),
      builder.getStringAttr(order),
      builder.getI64IntegerAttr(program.loop.getTripCount()),
      builder.getI64IntegerAttr(stages.numChunks()), program.mesh,
      program.pipeline ? builder.getStringAttr(axis) : StringAttr(),
      ModelAttr::get(builder.getContext(), modelFacts(name)), StringAttr(),
      StringAttr(), AtAttr(), ArrayAttr(), DictionaryAttr(), ArrayAttr(),
      DictionaryAttr(), ArrayAttr(), ArrayAttr(), FiguresAttr(), ArrayAttr(),
      StringAttr(), StringAttr());
  builder.createBlock(&plan.getContents());
  for (int64_t stage = 0; stage < program.numStages(); ++stage)
    if (failed(convertClass(stage)))
      return failure();
  // The order matters: products and divisions are of sizes that are used.
  plan.setSizesAttr(sizes.sizesAttr(builder));
  plan.setFixedAttr(sizes.fixedAttr(builder));
  plan.setProductsAttr(sizes.productsAttr(builder));
  plan.setDivisionsAttr(sizes.divisionsAttr(builder));
  return plan;
}

namespace {
struct ConvertDTrainToSchedule
    : public dtrain::impl::ConvertDTrainToScheduleBase<
          ConvertDTrainToSchedule> {
  using ConvertDTrainToScheduleBase::ConvertDTrainToScheduleBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<Program> program = takeApart(module, axis);
    if (failed(program))
      return signalPassFailure();
    Accumulations accumulations(module, *program);
    Stages stages(*program);
    Converter converter(*program, accumulations, stages);
    FailureOr<PlanOp> plan = converter.convert(name, order, axis);
    if (failed(plan))
      return signalPassFailure();
    if (!optimizer.empty())
      plan->setOptimizer(StringRef(optimizer));
    if (!recompute.empty())
      plan->setRecompute(StringRef(recompute));
    for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
      func.erase();
    setPhase(module, Phase::schedule);
  }
};
} // namespace
