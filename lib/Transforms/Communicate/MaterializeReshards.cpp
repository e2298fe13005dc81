//===- MaterializeReshards.cpp - Reshards where operands do not fit -------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Transforms/Communicate/Passes.h"
#include "dtrain/Transforms/Place/PlacementGraph.h"
#include "dtrain/Transforms/Utils/RepeatUtils.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_MATERIALIZERESHARDS
#include "dtrain/Transforms/Communicate/Passes.h.inc"
} // namespace dtrain

/// "dot '/h.0/mlp'": an op by kind and, where it has one, by name.
static std::string nameOf(Operation *op) {
  std::string text = op->getName().stripDialect().str();
  if (auto name = dyn_cast<NameLoc>(op->getLoc()))
    text += " '" + name.getName().str() + "'";
  return text;
}

namespace {
class Materializer {
public:
  explicit Materializer(MeshAttr mesh) : mesh(mesh), repeatTypes(mesh) {}
  LogicalResult run(ModuleOp module);

private:
  MeshAttr mesh;
  RepeatTypes repeatTypes;
  /// One of the repeats of each body.
  DenseMap<Operation *, RepeatOp> callers;
  /// One reshard per value and placement.
  DenseMap<std::pair<Value, Type>, Value> made;

  LogicalResult fit(func::FuncOp func);
  LogicalResult fitOperands(RuleOpInterface op);
  void fitRepeat(RepeatOp repeat);
  void fitReturn(func::ReturnOp op);
  Value reshard(Value value, RankedTensorType type, Operation *consumer);
  std::string reason(Value value, const TensorState &from,
                     const TensorState &to, Operation *consumer);
  void fit(OpOperand &use, RankedTensorType type);
  void fit(OpOperand &use, const TensorState &wanted);
};
} // namespace

/// Why the value is as it is and who wants it otherwise.
std::string Materializer::reason(Value value, const TensorState &from,
                                 const TensorState &to, Operation *consumer) {
  std::string text;
  auto producer = dyn_cast_or_null<RuleOpInterface>(value.getDefiningOp());
  for (unsigned axis = 0; axis < from.size(); ++axis) {
    if (from[axis] == to[axis])
      continue;
    if (!text.empty())
      text += "; ";
    text += mesh.getNames()[axis].str() + ": ";
    OpStateAttr attr = producer ? producer.getStateAttr() : OpStateAttr();
    bool told = false;
    if (attr && from[axis].kind == AxisState::Partial)
      for (const PlacedOpAxis &a : attr.getAxes())
        if (a.axis == mesh.getNames()[axis] && a.kind == OpAxisState::Factor) {
          text += nameOf(producer) + " reduces factor " + a.factor.str();
          told = true;
        }
    if (!told)
      text += (producer ? nameOf(producer) + " gives "
                        : std::string("the value is ")) +
              from[axis].str();
    text += ", " + nameOf(consumer) + " needs " + to[axis].str();
  }
  return text;
}

Value Materializer::reshard(Value value, RankedTensorType type,
                            Operation *consumer) {
  Value &result = made[{value, type}];
  if (result)
    return result;
  OpBuilder b(consumer->getContext());
  b.setInsertionPointAfterValue(value);
  Origin origin = Origin::forward;
  // A communication belongs to the part of the step that waits for it, except
  // that gradients are synchronised by backward.
  if (auto op = dyn_cast<RuleOpInterface>(consumer))
    origin =
        op.getOrigin() == Origin::update ? Origin::backward : op.getOrigin();
  else if (auto repeat = dyn_cast<RepeatOp>(consumer))
    origin = repeat.getOrigin();
  else if (auto producer =
               dyn_cast_or_null<RuleOpInterface>(value.getDefiningOp()))
    origin = producer.getOrigin();
  std::string why = reason(value, stateOf(tensorType(value), mesh),
                           stateOf(type, mesh), consumer);
  result = ReshardOp::create(b, consumer->getLoc(), type, value,
                             b.getStringAttr(why), origin);
  return result;
}

void Materializer::fit(OpOperand &use, RankedTensorType type) {
  if (type != use.get().getType())
    use.set(reshard(use.get(), type, use.getOwner()));
}

void Materializer::fit(OpOperand &use, const TensorState &wanted) {
  fit(use, withState(tensorType(use.get()), mesh, wanted));
}

LogicalResult Materializer::fitOperands(RuleOpInterface op) {
  BoundRule rule = llvm::cantFail(bindRule(op));
  OpStateAttr attr = op.getStateAttr();
  if (!attr)
    return op->emitOpError(
        "has no state: expected a module after dtrain-propagate-placement");
  llvm::Expected<dtrain::OpState> state = attr.getState(mesh, rule.rule);
  if (!state)
    return op->emitOpError("state: ") << llvm::toString(state.takeError());
  if (llvm::Error e = verifyOpState(op, rule, mesh, *state))
    return op->emitOpError("state: ") << llvm::toString(std::move(e));
  for (OpOperand &use : op->getOpOperands()) {
    TensorState wanted;
    for (const OpAxisState &s : *state)
      wanted.push_back(need(rule, use.getOperandNumber(), s));
    fit(use, wanted);
  }
  // A result may be wanted otherwise than the op gives it only through a type
  // that propagation gave to its class: the op's own type is what it gives.
  for (OpResult result : op->getResults()) {
    TensorState given;
    for (const OpAxisState &s : *state)
      given.push_back(gives(rule, result.getResultNumber(), s));
    RankedTensorType type = withState(tensorType(result), mesh, given);
    if (type == result.getType())
      continue;
    auto wanted = tensorType(result);
    result.setType(type);
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : result.getUses())
      uses.push_back(&use);
    for (OpOperand *use : uses)
      use->set(reshard(result, wanted, use->getOwner()));
  }
  op.removeStateAttr();
  return success();
}

/// A carried or shared operand as the body's argument, a stacked one as a row
/// of it; on the axis of a pin, where the repeat's coordinate is.
void Materializer::fitRepeat(RepeatOp repeat) {
  func::FuncOp body = repeat.getBody();
  for (OpOperand &use : repeat->getOpOperands()) {
    RepeatSegment segment = segmentOf(repeat, use.getOperandNumber());
    bool rows =
        segment == RepeatSegment::Stacked || segment == RepeatSegment::Inout;
    Type inner = body.getArgumentTypes()[use.getOperandNumber()];
    fit(use, repeatTypes.get(repeat, use.get(), inner, rows));
  }
}

void Materializer::fitReturn(func::ReturnOp op) {
  auto func = op->getParentOfType<func::FuncOp>();
  if (func.getSymName() == "main") {
    for (OpOperand &use : op->getOpOperands()) {
      if (auto tie = func.getResultAttrOfType<IntegerAttr>(
              use.getOperandNumber(), kUpdatesAttr)) {
        fit(use, stateOf(cast<RankedTensorType>(
                             func.getArgumentTypes()[tie.getInt()]),
                         mesh));
        continue;
      }
      TensorState state = stateOf(tensorType(use.get()), mesh);
      for (AxisState &s : state)
        s = reducedState(s);
      fit(use, state);
    }
  } else if (RepeatOp repeat = callers.lookup(func)) {
    // Carried and inout results continue in their arguments' state.
    for (OpOperand &use : op->getOpOperands())
      if (auto argument = repeat.getTiedOperand(use.getOperandNumber()))
        fit(use, stateOf(tensorType(func.getArgument(*argument)), mesh));
  }
  updateFunctionType(func);
}

LogicalResult Materializer::fit(func::FuncOp func) {
  for (Operation &op : llvm::make_early_inc_range(func.getBody().front())) {
    if (auto rule = dyn_cast<RuleOpInterface>(op)) {
      if (failed(fitOperands(rule)))
        return failure();
    } else if (auto repeat = dyn_cast<RepeatOp>(op)) {
      fitRepeat(repeat);
    } else if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      fitReturn(ret);
    }
  }
  return success();
}

LogicalResult Materializer::run(ModuleOp module) {
  module.walk([&](RepeatOp repeat) { callers[repeat.getBody()] = repeat; });
  for (func::FuncOp func : module.getOps<func::FuncOp>()) {
    made.clear();
    if (failed(fit(func)))
      return failure();
  }
  return success();
}

namespace {
struct MaterializeReshards
    : public dtrain::impl::MaterializeReshardsBase<MaterializeReshards> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!mesh) {
      module.emitError(
          "no mesh: expected a module after dtrain-propagate-placement");
      return signalPassFailure();
    }
    if (failed(Materializer(mesh).run(module)))
      return signalPassFailure();
  }
};
} // namespace
