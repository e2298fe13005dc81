//===- VerifyTrain.cpp - The contract of the train phase ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/Questions.h"
#include "dtrain/Transforms/Train/Passes.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_VERIFYTRAIN
#include "dtrain/Transforms/Train/Passes.h.inc"
} // namespace dtrain

namespace {
/// Reports every breach of the contract.
class TrainContract {
public:
  explicit TrainContract(ModuleOp module) : module(module) {}
  LogicalResult check();

private:
  void checkOp(Operation *op);
  void checkTypes(Operation *op, TypeRange types);
  void checkArguments(func::FuncOp main);
  void checkMicrobatches(func::FuncOp main);
  void checkResults(func::FuncOp main);
  InFlightDiagnostic fail(Operation *op) {
    failed = true;
    return op->emitError();
  }

  ModuleOp module;
  bool failed = false;
};
} // namespace

void TrainContract::checkTypes(Operation *op, TypeRange types) {
  for (Type type : types)
    if (placementOf(type)) {
      fail(op) << "expected no placement before the place phase, found "
               << type;
      return;
    }
}

void TrainContract::checkOp(Operation *op) {
  if (isa<ModuleOp, func::ReturnOp>(op))
    return;
  if (auto func = dyn_cast<func::FuncOp>(op))
    return checkTypes(op, func.getArgumentTypes());
  checkTypes(op, op->getResultTypes());
  auto rule = dyn_cast<RuleOpInterface>(op);
  if (!rule && !isa<RepeatOp>(op)) {
    fail(op) << "expected compute ops and repeats only, found '"
             << op->getName() << '\'';
    return;
  }
  if (rule && rule.getStateAttr())
    fail(op) << "expected no state before the place phase";
  // Updates, and what converts their results.
  bool isUpdate = isa<UpdateOpInterface>(op);
  if (rule && isUpdate != (rule.getOrigin() == Origin::update) &&
      (isUpdate || !isElementwise(op)))
    fail(op) << "'" << op->getName() << "' has origin "
             << stringifyOrigin(rule.getOrigin());
}

void TrainContract::checkArguments(func::FuncOp main) {
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    std::optional<Role> role = roleOf(main, i);
    if (!role || *role == Role::accumulator)
      fail(main) << "argument #" << i
                 << ": expected the role parameter, master, moment, input or "
                    "label, found "
                 << (role ? stringifyRole(*role) : "none");
  }
}

void TrainContract::checkMicrobatches(func::FuncOp main) {
  SmallVector<RepeatOp> repeats;
  for (RepeatOp op : main.getOps<RepeatOp>())
    if (op.getCallee() == "microbatch")
      repeats.push_back(op);
  if (repeats.size() != 1) {
    fail(main) << "expected one dtrain.repeat @microbatch, found "
               << repeats.size();
    return;
  }
  int64_t count = repeats.front().getTo();
  if (repeats.front().getFrom() != 0)
    fail(repeats.front()) << "expected micro-batches from 0, found from "
                          << repeats.front().getFrom();
  for (auto [i, type] : llvm::enumerate(main.getArgumentTypes())) {
    std::optional<Role> role = roleOf(main, i);
    if (role != Role::input && role != Role::label)
      continue;
    auto tensor = cast<RankedTensorType>(type);
    if (tensor.getRank() == 0 || tensor.getShape().front() != count)
      fail(main) << "argument #" << i << ": expected " << count
                 << " micro-batches, found " << tensor;
  }
}

void TrainContract::checkResults(func::FuncOp main) {
  llvm::DenseSet<int64_t> replaced;
  unsigned losses = 0;
  for (auto [i, type] : llvm::enumerate(main.getResultTypes())) {
    if (auto index = main.getResultAttrOfType<IntegerAttr>(i, kUpdatesAttr)) {
      if (!replaced.insert(index.getInt()).second)
        fail(main) << "result #" << i << ": argument #" << index.getInt()
                   << " is replaced twice";
      continue;
    }
    ++losses;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() != 0 ||
        !isa<FloatType>(tensor.getElementType()))
      fail(main) << "result #" << i
                 << ": expected a scalar loss or a replaced argument, found "
                 << type;
  }
  if (losses != 1)
    fail(main) << "expected one result that replaces no argument, the loss, "
                  "found "
               << losses;
  for (unsigned i = 0; i < main.getNumArguments(); ++i) {
    std::optional<Role> role = roleOf(main, i);
    if ((role == Role::master || role == Role::moment) && !replaced.contains(i))
      fail(main) << "argument #" << i << ": no result replaces this "
                 << stringifyRole(*role);
  }
}

LogicalResult TrainContract::check() {
  module.walk([&](Operation *op) { checkOp(op); });
  auto main = module.lookupSymbol<func::FuncOp>("main");
  if (!main || main.isExternal()) {
    fail(module) << "expected a function @main, the step";
    return failure();
  }
  checkArguments(main);
  checkMicrobatches(main);
  checkResults(main);
  return failure(failed);
}

namespace {
struct VerifyTrainPass : public dtrain::impl::VerifyTrainBase<VerifyTrainPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(TrainContract(module).check()))
      return signalPassFailure();
    setPhase(module, Phase::train);
  }
};
} // namespace
