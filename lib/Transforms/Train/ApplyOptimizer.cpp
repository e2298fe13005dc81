//===- ApplyOptimizer.cpp - Update the parameters -----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/Questions.h"
#include "dtrain/Transforms/Train/Passes.h"
#include "dtrain/Transforms/Utils/RepeatUtils.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_APPLYOPTIMIZER
#include "dtrain/Transforms/Train/Passes.h.inc"
} // namespace dtrain

namespace {
/// One trained parameter: indices of old arguments, then the new arguments.
struct Trained {
  unsigned argument;
  Value gradient;
  BlockArgument parameter, master;
  SmallVector<BlockArgument, 2> moments;
  /// What replaces them.
  Value newParameter, newMaster;
  SmallVector<Value, 2> newMoments;
};

class StepCompletion {
public:
  StepCompletion(func::FuncOp main, Optimizer optimizer, double learningRate)
      : main(main), optimizer(optimizer), learningRate(learningRate),
        b(main.getContext()) {}

  LogicalResult run();

private:
  LogicalResult findGradients();
  void replaceArguments();
  BlockArgument addArgument(RankedTensorType type, Location loc, Role role,
                            const Twine &name);
  void buildUpdate(Trained &trained);
  void buildReturn();

  func::FuncOp main;
  Optimizer optimizer;
  double learningRate;
  OpBuilder b;
  RepeatOp microbatches;
  SmallVector<Trained> trained;
  SmallVector<DictionaryAttr> attributes;
};
} // namespace

static StringRef nameOf(func::FuncOp func, unsigned argument) {
  auto name = func.getArgAttrOfType<StringAttr>(argument, kNameAttr);
  return name ? name.getValue() : StringRef();
}

LogicalResult StepCompletion::findGradients() {
  if (!main.isExternal() && llvm::hasSingleElement(main.getBody()))
    for (RepeatOp op : main.getOps<RepeatOp>())
      if (op.getCallee() == "microbatch")
        microbatches = op;
  func::FuncOp body = microbatches ? microbatches.getBody() : func::FuncOp();
  if (!body || !llvm::equal(main.front().getTerminator()->getOperands(),
                            microbatches.getResults()))
    return main.emitError("expected @main to return the loss and the gradients "
                          "of dtrain.repeat @microbatch");
  for (unsigned k = 1; k < microbatches.getNumResults(); ++k) {
    StringRef name = nameOf(body, k);
    unsigned i = 0, count = main.getNumArguments();
    while (i < count && !(roleOf(main, i) == Role::parameter &&
                          (nameOf(main, i) == name ||
                           name == "argument" + std::to_string(i))))
      ++i;
    if (i == count)
      return main.emitError("gradient #")
             << k << ": no parameter is named \"" << name << '"';
    Trained t;
    t.argument = i;
    t.gradient = microbatches.getResult(k);
    trained.push_back(t);
  }
  return success();
}

BlockArgument StepCompletion::addArgument(RankedTensorType type, Location loc,
                                          Role role, const Twine &name) {
  attributes.push_back(b.getDictionaryAttr(
      {b.getNamedAttr(kRoleAttr, RoleAttr::get(b.getContext(), role)),
       b.getNamedAttr(kNameAttr, b.getStringAttr(name))}));
  return main.front().addArgument(type, loc);
}

/// Parameters, masters, moments, then inputs and labels.
void StepCompletion::replaceArguments() {
  SmallVector<BlockArgument> old(main.getArguments());
  auto isParameter = [&](unsigned i) {
    return roleOf(main, i) == Role::parameter;
  };
  auto move = [&](BlockArgument from) {
    attributes.push_back(main.getArgAttrDict(from.getArgNumber()));
    BlockArgument to = main.front().addArgument(from.getType(), from.getLoc());
    from.replaceAllUsesWith(to);
    for (Trained &t : trained)
      if (t.argument == from.getArgNumber())
        t.parameter = to;
  };
  auto name = [&](const Trained &t) {
    StringRef given = nameOf(main, t.argument);
    return given.empty() ? "argument" + std::to_string(t.argument)
                         : given.str();
  };
  for (BlockArgument argument : old)
    if (isParameter(argument.getArgNumber()))
      move(argument);
  auto single = [&](Value value) {
    return tensorType(value).clone(b.getF32Type());
  };
  for (Trained &t : trained)
    if (tensorType(t.parameter).getElementTypeBitWidth() < 32)
      t.master = addArgument(single(t.parameter), t.parameter.getLoc(),
                             Role::master, name(t) + ".master");
  for (Trained &t : trained)
    for (StringRef moment : momentsOf(optimizer))
      t.moments.push_back(addArgument(single(t.parameter), t.parameter.getLoc(),
                                      Role::moment, name(t) + "." + moment));
  for (BlockArgument argument : old)
    if (!isParameter(argument.getArgNumber()))
      move(argument);
  main.front().eraseArguments(0, old.size());
}

void StepCompletion::buildUpdate(Trained &t) {
  Value weights = t.master ? t.master : t.parameter;
  SmallVector<Value> inputs = {weights};
  llvm::append_range(inputs, t.moments);
  SmallVector<Type> types(ValueRange(inputs).getTypes());
  inputs.push_back(t.gradient);
  auto update = UpdateOp::create(b, t.parameter.getLoc(), types, optimizer,
                                 inputs, llvm::APFloat(learningRate),
                                 Origin::update, OpStateAttr());
  Value updated = update.getResult(0);
  llvm::append_range(t.newMoments, update.getResults().drop_front());
  if (!t.master) {
    t.newParameter = updated;
    return;
  }
  t.newMaster = updated;
  t.newParameter =
      buildElementwise(b, t.parameter.getLoc(), Elementwise::cast, updated,
                       std::nullopt, tensorType(t.parameter).getElementType());
}

void StepCompletion::buildReturn() {
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> resultAttributes;
  auto replace = [&](BlockArgument argument, Value value) {
    results.push_back(value);
    resultAttributes.push_back(b.getDictionaryAttr(b.getNamedAttr(
        kUpdatesAttr, b.getI64IntegerAttr(argument.getArgNumber()))));
  };
  for (Trained &t : trained)
    replace(t.parameter, t.newParameter);
  for (Trained &t : trained)
    if (t.master)
      replace(t.master, t.newMaster);
  for (Trained &t : trained)
    for (auto [moment, value] : llvm::zip_equal(t.moments, t.newMoments))
      replace(moment, value);
  results.push_back(microbatches.getResult(0));
  resultAttributes.push_back(b.getDictionaryAttr({}));

  Operation *ret = main.front().getTerminator();
  ret->setOperands(results);
  updateFunctionType(main);
  main.setAllArgAttrs(attributes);
  main.setAllResultAttrs(resultAttributes);
}

LogicalResult StepCompletion::run() {
  if (failed(findGradients()))
    return failure();
  replaceArguments();
  b.setInsertionPoint(main.front().getTerminator());
  OriginScope scope(b, Origin::update);
  for (Trained &t : trained)
    buildUpdate(t);
  buildReturn();
  return success();
}

namespace {
struct ApplyOptimizerPass
    : public dtrain::impl::ApplyOptimizerBase<ApplyOptimizerPass> {
  using ApplyOptimizerBase::ApplyOptimizerBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main) {
      module.emitError("expected a function @main, as dtrain-differentiate "
                       "leaves it");
      return signalPassFailure();
    }
    if (!(learningRate > 0)) {
      module.emitError("expected a learning rate above 0, found ")
          << static_cast<double>(learningRate);
      return signalPassFailure();
    }
    if (failed(StepCompletion(main, optimizer, learningRate).run()))
      return signalPassFailure();
  }
};
} // namespace
