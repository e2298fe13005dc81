//===- Differentiate.cpp - From the forward program to gradients ----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gradients.h"
#include "dtrain/Transforms/Train/Passes.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_DIFFERENTIATE
#include "dtrain/Transforms/Train/Passes.h.inc"
} // namespace dtrain

/// Gives each repeat a body of its own: what it saves and which gradients it
/// has are its own too.
static void separateBodies(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::StringSet<> taken;
  SmallVector<RepeatOp> repeats;
  module.walk([&](RepeatOp op) { repeats.push_back(op); });
  // Bodies that are cloned bring repeats of their own.
  for (size_t i = 0; i < repeats.size(); ++i) {
    RepeatOp op = repeats[i];
    if (taken.insert(op.getCallee()).second)
      continue;
    func::FuncOp clone = op.getBody().clone();
    StringAttr name =
        symbols.insert(clone, std::next(Block::iterator(op.getBody())));
    taken.insert(name);
    op.setCallee(name);
    clone.walk([&](RepeatOp inner) { repeats.push_back(inner); });
  }
}

/// Follows the repeats of a function and of their bodies; fails where a body
/// runs itself, which no count ends.
static LogicalResult checkNesting(func::FuncOp func,
                                  SmallVectorImpl<func::FuncOp> &running) {
  running.push_back(func);
  for (RepeatOp op : func.getOps<RepeatOp>()) {
    if (llvm::is_contained(running, op.getBody()))
      return op.emitOpError("runs ")
             << op.getCalleeAttr() << ", which contains it";
    if (failed(checkNesting(op.getBody(), running)))
      return failure();
  }
  running.pop_back();
  return success();
}

/// The name of an argument, or what says which one it is.
static std::string nameOf(func::FuncOp func, unsigned argument) {
  auto name = func.getArgAttrOfType<StringAttr>(argument, kNameAttr);
  return name ? name.str() : "argument" + std::to_string(argument);
}

namespace {
/// Turns @main into @microbatch, and makes a @main that runs it.
class StepBuilder {
public:
  StepBuilder(func::FuncOp main, int64_t microBatches, FloatType gradientType)
      : main(main), module(main->getParentOfType<ModuleOp>()),
        microBatches(microBatches), gradientType(gradientType),
        b(main.getContext()) {}

  LogicalResult run();

private:
  LogicalResult check();
  void moveToMicrobatch();
  LogicalResult buildBackward();
  void buildMain();
  BlockArgument addArgument(Type type, unsigned of, Role role);

  func::FuncOp main;
  ModuleOp module;
  int64_t microBatches;
  FloatType gradientType;
  OpBuilder b;

  /// Arguments of @main by what becomes of them.
  SmallVector<unsigned> parameters, inputs;
  func::FuncOp microbatch;
  /// Attributes of the arguments of @microbatch.
  SmallVector<DictionaryAttr> attributes;
  Activity activity;
  /// By parameter: the argument of @microbatch, and its accumulator.
  SmallVector<Value> values, accumulators;
};
} // namespace

LogicalResult StepBuilder::check() {
  if (main.isExternal() || !llvm::hasSingleElement(main.getBody()))
    return main.emitError("expected @main to have a body of one block");
  FunctionType type = main.getFunctionType();
  auto loss = type.getNumResults() == 1
                  ? dyn_cast<RankedTensorType>(type.getResult(0))
                  : RankedTensorType();
  if (!loss || loss.getRank() != 0 || !isa<FloatType>(loss.getElementType()))
    return main.emitError(
               "expected @main to return one scalar, the loss, found ")
           << type.getResults();
  llvm::StringSet<> names;
  for (unsigned i = 0; i < type.getNumInputs(); ++i) {
    std::optional<Role> role = roleOf(main, i);
    if (role == Role::input || role == Role::label) {
      inputs.push_back(i);
      continue;
    }
    if (role != Role::parameter)
      return main.emitError("argument #")
             << i << ": expected the role parameter, input or label, found "
             << (role ? stringifyRole(*role) : "none");
    if (!names.insert(nameOf(main, i)).second)
      return main.emitError("argument #")
             << i << ": two parameters are named \"" << nameOf(main, i) << '"';
    parameters.push_back(i);
  }
  if (module.lookupSymbol("microbatch"))
    return main.emitError("expected no function @microbatch before "
                          "differentiation");
  SmallVector<func::FuncOp> running;
  return checkNesting(main, running);
}

BlockArgument StepBuilder::addArgument(Type type, unsigned of, Role role) {
  attributes.push_back(b.getDictionaryAttr(
      {b.getNamedAttr(kRoleAttr, RoleAttr::get(b.getContext(), role)),
       b.getNamedAttr(kNameAttr, b.getStringAttr(nameOf(main, of)))}));
  return microbatch.front().addArgument(type, main.getArgument(of).getLoc());
}

void StepBuilder::moveToMicrobatch() {
  microbatch = func::FuncOp::create(main.getLoc(), "microbatch",
                                    b.getFunctionType({}, {}));
  microbatch.setPrivate();
  SymbolTable(module).insert(microbatch, Block::iterator(main));
  Block *block = microbatch.addEntryBlock(), &old = main.front();
  auto ret = cast<func::ReturnOp>(old.getTerminator());
  attributes.push_back(b.getDictionaryAttr({}));
  block->addArgument(ret.getOperand(0).getType(), ret.getLoc());
  for (unsigned i : parameters) {
    RankedTensorType type = tensorType(main.getArgument(i));
    bool isFloat = isa<FloatType>(type.getElementType());
    accumulators.push_back(isFloat ? Value(addArgument(type.clone(gradientType),
                                                       i, Role::accumulator))
                                   : Value());
  }
  for (unsigned i : inputs) {
    BlockArgument row =
        addArgument(main.getArgument(i).getType(), i, *roleOf(main, i));
    main.getArgument(i).replaceAllUsesWith(row);
  }
  for (auto [i, accumulator] : llvm::zip_equal(parameters, accumulators)) {
    Value value =
        addArgument(main.getArgument(i).getType(), i, Role::parameter);
    values.push_back(value);
    main.getArgument(i).replaceAllUsesWith(value);
    if (accumulator)
      activity.addParameter(value);
  }
  block->getOperations().splice(block->end(), old.getOperations());
}

LogicalResult StepBuilder::buildBackward() {
  Block &block = microbatch.front();
  activity.propagate(block);
  Operation *ret = block.getTerminator();
  Value loss = ret->getOperand(0);
  RankedTensorType lossType = tensorType(loss);
  if (!activity.depends(loss))
    return ret->emitError("no trainable parameter reaches the loss");
  ret->setOperands(ValueRange());
  b.setInsertionPoint(ret);
  double share = 1.0 / static_cast<double>(microBatches);
  Value part =
      buildElementwise(b, loss.getLoc(), Elementwise::scale, loss, share);
  SmallVector<Value> results = {buildElementwise(
      b, loss.getLoc(), Elementwise::add, {block.getArgument(0), part})};

  OriginScope scope(b, Origin::backward);
  GradientMap grads;
  for (auto [value, accumulator] : llvm::zip_equal(values, accumulators))
    if (accumulator)
      grads.accumulators[value] = accumulator;
  grads.add(loss, buildConstant(b, loss.getLoc(), share, lossType));
  Differentiator differentiator(activity, gradientType);
  if (failed(differentiator.differentiate(block, b, grads)))
    return failure();

  llvm::BitVector unreached(block.getNumArguments());
  for (auto [i, value] : llvm::enumerate(values)) {
    Value &accumulator = accumulators[i];
    if (accumulator && grads.accumulate(b, value, accumulator)) {
      results.push_back(grads.accumulators[value]);
      continue;
    }
    if (accumulator)
      unreached.set(cast<BlockArgument>(accumulator).getArgNumber());
    accumulator = Value();
    mlir::emitWarning(value.getLoc())
        << "parameter \"" << nameOf(main, parameters[i])
        << "\" does not reach the loss: it is not trained";
  }
  ret->setOperands(results);
  updateFunctionType(microbatch);
  microbatch.setAllArgAttrs(attributes);
  return microbatch.eraseArguments(unreached);
}

/// The step as far as the gradients: @main returns the loss and the sums of the
/// gradients over the micro-batches.
void StepBuilder::buildMain() {
  SmallVector<Type> types(main.getArgumentTypes());
  for (unsigned i : inputs) {
    auto type = cast<RankedTensorType>(types[i]);
    SmallVector<int64_t> shape = {microBatches};
    llvm::append_range(shape, type.getShape());
    types[i] = RankedTensorType::get(shape, type.getElementType());
    main.getArgument(i).setType(types[i]);
  }
  b.setInsertionPointToEnd(&main.front());
  RepeatSegments segments;
  unsigned carries = microbatch.getNumResults();
  SmallVector<Type> sums(microbatch.getArgumentTypes().take_front(carries));
  for (auto [i, type] : llvm::enumerate(sums)) {
    OriginScope scope(b, i == 0 ? Origin::forward : Origin::backward);
    segments.carry.push_back(
        buildConstant(b, main.getLoc(), 0.0, cast<RankedTensorType>(type)));
  }
  for (unsigned i : inputs)
    segments.stacked.push_back(main.getArgument(i));
  for (unsigned i : parameters)
    segments.shared.push_back(main.getArgument(i));
  auto repeat = RepeatOp::create(
      b, main.getLoc(), sums, microbatch.getSymName(), 0, microBatches,
      segments.carry, segments.stacked, segments.inout, segments.shared,
      /*reverse=*/false, /*pinned_axis=*/nullptr, /*pinned_to=*/nullptr);
  func::ReturnOp::create(b, main.getLoc(), repeat.getResults());
  updateFunctionType(main);
}

LogicalResult StepBuilder::run() {
  if (failed(check()))
    return failure();
  separateBodies(module);
  moveToMicrobatch();
  if (failed(buildBackward()))
    return failure();
  buildMain();
  simplifyRepeats(module);
  return success();
}

namespace {
struct DifferentiatePass
    : public dtrain::impl::DifferentiateBase<DifferentiatePass> {
  using DifferentiateBase::DifferentiateBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main) {
      module.emitError("expected a function @main, the forward program");
      return signalPassFailure();
    }
    if (microBatches < 1) {
      module.emitError("expected at least one micro-batch, found ")
          << static_cast<int64_t>(microBatches);
      return signalPassFailure();
    }
    StepBuilder builder(main, microBatches,
                        floatTypeOf(&getContext(), gradientType));
    if (failed(builder.run()))
      return signalPassFailure();
  }
};
} // namespace
