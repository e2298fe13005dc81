//===- RepeatGradients.cpp - Reverse mode over a repeat -------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The backward of a repeat is a repeat in the other direction. Its body takes
/// the gradients of the carries, rows of the stacked operands and of what the
/// forward body saved, rows of the accumulators of stacked parameters, and the
/// shared operands; it returns the gradients of the carries, the sums of the
/// gradients of shared operands, and the accumulators' rows.
///
//===----------------------------------------------------------------------===//

#include "Gradients.h"
#include "dtrain/IR/DTrain/Questions.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
/// Differentiates one repeat whose body has no other caller.
class RepeatDifferentiator {
public:
  RepeatDifferentiator(const Differentiator &parent, RepeatOp op, OpBuilder &b,
                       ArrayRef<Value> resultGrads, GradientMap &grads)
      : parent(parent), activity(parent.activity), op(op), b(b),
        resultGrads(resultGrads), grads(grads), forward(op.getBody()),
        returned(forward.front().getTerminator()->getOperands()),
        arguments(RepeatSegments::ofBody(op)), operands(RepeatSegments::of(op)),
        bodyBuilder(op.getContext()) {}

  LogicalResult run();

private:
  void findFlowingCarries();
  void createBackward();
  LogicalResult buildBody();
  void finishBody();
  void outline();
  Value resolve(Value value, Operation *user);
  RepeatOp saveInForward();
  void buildRepeat(RepeatOp saving);

  const Differentiator &parent;
  const Activity &activity;
  RepeatOp op;
  OpBuilder &b;
  ArrayRef<Value> resultGrads;
  GradientMap &grads;
  func::FuncOp forward;
  SmallVector<Value> returned;
  RepeatSegments arguments, operands;

  /// The carries with a gradient, by index.
  SmallVector<unsigned> flowing;
  /// Stacked operands with an accumulator, and shared operands with a gradient,
  /// by index.
  SmallVector<unsigned> accumulated, summed;
  func::FuncOp backward;
  OpBuilder bodyBuilder;
  GradientMap bodyGrads;
  DenseMap<Value, Value> initial;
  DenseMap<Value, Value> resolved;
  /// Operands of the backward repeat after the carries. `saved` are values of
  /// the forward body.
  SmallVector<Value> stacked, saved, outputGrads, shared;
  /// The number of carried arguments of the backward body.
  unsigned carryArguments = 0;
};
} // namespace dtrain

LogicalResult Differentiator::differentiateRepeat(RepeatOp op, OpBuilder &b,
                                                  ArrayRef<Value> resultGrads,
                                                  GradientMap &grads) const {
  if (!op.getInout().empty())
    return op.emitOpError("has no backward: it replaces rows of its operands");
  return RepeatDifferentiator(*this, op, b, resultGrads, grads).run();
}

LogicalResult RepeatDifferentiator::run() {
  findFlowingCarries();
  createBackward();
  if (failed(buildBody()))
    return failure();
  finishBody();
  outline();
  buildRepeat(saveInForward());
  return success();
}

/// A carry has a gradient if it depends on a parameter and its result, in the
/// last iteration or in one before, has one.
void RepeatDifferentiator::findFlowingCarries() {
  unsigned carries = arguments.carry.size();
  SmallVector<bool> useful(carries);
  for (unsigned i = 0; i < carries; ++i)
    useful[i] = resultGrads[i] != nullptr;
  bool changed = true;
  while (changed) {
    changed = false;
    DenseSet<Value> live;
    for (auto [i, value] : llvm::enumerate(returned))
      if (i < carries ? useful[i] : resultGrads[i] != nullptr)
        live.insert(value);
    for (Operation &inner : llvm::reverse(forward.front().without_terminator()))
      if (llvm::any_of(inner.getResults(),
                       [&](Value v) { return live.contains(v); }))
        for (Value v : inner.getOperands())
          if (activity.depends(v))
            live.insert(v);
    for (auto [i, argument] : llvm::enumerate(arguments.carry))
      if (!useful[i] && live.contains(argument))
        useful[i] = changed = true;
  }
  for (unsigned i = 0; i < carries; ++i)
    if (useful[i] && activity.depends(arguments.carry[i]))
      flowing.push_back(i);
}

/// Makes the backward function with the arguments known so far: gradients of
/// carries, rows of gradients of outputs, accumulators' rows.
void RepeatDifferentiator::createBackward() {
  backward = func::FuncOp::create(forward.getLoc(),
                                  (forward.getSymName() + "_backward").str(),
                                  FunctionType::get(op.getContext(), {}, {}));
  backward.setPrivate();
  SymbolTable(op->getParentOfType<ModuleOp>())
      .insert(backward, std::next(Block::iterator(forward)));
  Block *block = backward.addEntryBlock();
  auto add = [&](RankedTensorType type, Location loc) -> Value {
    return block->addArgument(type, loc);
  };
  for (unsigned i : flowing)
    bodyGrads.add(returned[i], add(tensorType(arguments.carry[i]),
                                   arguments.carry[i].getLoc()));
  carryArguments = flowing.size();
  for (unsigned i = arguments.carry.size(); i < returned.size(); ++i)
    if (resultGrads[i]) {
      outputGrads.push_back(resultGrads[i]);
      bodyGrads.add(returned[i],
                    add(tensorType(returned[i]), returned[i].getLoc()));
    }
  for (Value row : arguments.stacked)
    if (activity.depends(row))
      bodyGrads.accumulators[row] = initial[row] =
          add(parent.accumulatorType(row), row.getLoc());
  bodyBuilder.setInsertionPointToEnd(block);
}

LogicalResult RepeatDifferentiator::buildBody() {
  OriginScope scope(bodyBuilder, Origin::backward);
  return parent.differentiate(forward.front(), bodyBuilder, bodyGrads);
}

/// Builds the sums and the return. Arguments of accumulators that nothing is
/// added to disappear.
void RepeatDifferentiator::finishBody() {
  OriginScope scope(bodyBuilder, Origin::backward);
  Block &block = backward.front();
  SmallVector<Value> results, rows;
  for (unsigned i : flowing) {
    Value argument = arguments.carry[i];
    Value grad = bodyGrads.sum(bodyBuilder, argument);
    results.push_back(grad ? grad
                           : buildConstant(bodyBuilder, op.getLoc(), 0.0,
                                           tensorType(argument)));
  }
  for (auto [i, argument] : llvm::enumerate(arguments.shared)) {
    if (!activity.depends(argument))
      continue;
    Value grad = bodyGrads.sum(bodyBuilder, argument);
    if (!grad)
      continue;
    summed.push_back(i);
    Value sum = block.insertArgument(
        carryArguments++, parent.accumulatorType(argument), argument.getLoc());
    results.push_back(buildElementwise(
        bodyBuilder, grad.getLoc(), Elementwise::add, {sum, grad}, std::nullopt,
        tensorType(sum).getElementType()));
  }
  for (auto [i, row] : llvm::enumerate(arguments.stacked)) {
    if (!activity.depends(row))
      continue;
    Value start = initial.lookup(row);
    if (bodyGrads.accumulate(bodyBuilder, row, start)) {
      accumulated.push_back(i);
      results.push_back(bodyGrads.accumulators[row]);
    } else {
      block.eraseArgument(cast<BlockArgument>(start).getArgNumber());
    }
  }
  func::ReturnOp::create(bodyBuilder, op.getLoc(), results);
  eraseDeadOps(block);
}

/// The value of the backward body that stands for `value` of the forward one.
Value RepeatDifferentiator::resolve(Value value, Operation *user) {
  if (Value known = resolved.lookup(value))
    return known;
  Value result;
  Operation *def = value.getDefiningOp();
  if (def && (isView(def) || followsFromConstants(value))) {
    // A view costs nothing to derive again from what is kept anyway.
    IRMapping map;
    for (Value v : def->getOperands())
      map.map(v, resolve(v, user));
    OpBuilder at(user);
    OriginScope scope(at, Origin::backward);
    Operation *clone = at.clone(*def, map);
    for (auto [from, to] :
         llvm::zip_equal(def->getResults(), clone->getResults()))
      resolved[from] = to;
    return resolved[value];
  }
  if (auto *it = llvm::find(arguments.stacked, value);
      it != arguments.stacked.end()) {
    result = backward.front().insertArgument(carryArguments + stacked.size(),
                                             value.getType(), value.getLoc());
    stacked.push_back(operands.stacked[it - arguments.stacked.begin()]);
  } else if (auto *it = llvm::find(arguments.shared, value);
             it != arguments.shared.end()) {
    result = backward.front().addArgument(value.getType(), value.getLoc());
    shared.push_back(operands.shared[it - arguments.shared.begin()]);
  } else {
    result = backward.front().insertArgument(carryArguments + stacked.size() +
                                                 saved.size(),
                                             value.getType(), value.getLoc());
    saved.push_back(value);
  }
  return resolved[value] = result;
}

void RepeatDifferentiator::outline() {
  for (Operation &inner : llvm::make_early_inc_range(backward.front()))
    for (OpOperand &use : inner.getOpOperands())
      if (use.get().getParentBlock() == &forward.front())
        use.set(resolve(use.get(), &inner));
  updateFunctionType(backward);
}

/// The forward repeat with the saved values as further outputs.
RepeatOp RepeatDifferentiator::saveInForward() {
  if (saved.empty())
    return op;
  SmallVector<Value> values(forward.front().getTerminator()->getOperands());
  llvm::append_range(values, saved);
  setReturned(forward, values);
  OpBuilder at(op);
  RepeatOp saving = buildRepeatLike(at, op, forward, operands);
  op->replaceAllUsesWith(saving.getResults().take_front(op.getNumResults()));
  return saving;
}

void RepeatDifferentiator::buildRepeat(RepeatOp saving) {
  auto zero = [&](RankedTensorType type) {
    return buildConstant(b, op.getLoc(), 0.0, type);
  };
  RepeatSegments segments;
  for (unsigned i : flowing)
    segments.carry.push_back(
        resultGrads[i] ? resultGrads[i] : zero(tensorType(operands.carry[i])));
  for (unsigned i : summed)
    segments.carry.push_back(zero(parent.accumulatorType(operands.shared[i])));
  segments.stacked = stacked;
  llvm::append_range(segments.stacked,
                     saving.getResults().take_back(saved.size()));
  llvm::append_range(segments.stacked, outputGrads);
  segments.shared = shared;
  // An operand that has an accumulator here lends it, once; others start at
  // zero.
  SmallVector<bool> lent;
  for (unsigned i : accumulated) {
    Value operand = operands.stacked[i];
    auto *it = grads.accumulators.find(operand);
    lent.push_back(it != grads.accumulators.end() &&
                   !llvm::is_contained(segments.inout, it->second));
    segments.inout.push_back(
        lent.back() ? it->second : zero(parent.accumulatorType(operand)));
  }
  RepeatOp reverse = buildRepeatLike(b, op, backward, segments);
  reverse.setReverse(!op.getReverse());
  reverse.setOrigin(Origin::backward);

  ResultRange results = reverse.getResults();
  for (unsigned i : flowing) {
    if (activity.depends(operands.carry[i]))
      grads.add(operands.carry[i], results.front());
    results = results.drop_front();
  }
  for (unsigned i : summed) {
    grads.add(operands.shared[i], results.front());
    results = results.drop_front();
  }
  for (auto [i, isLent] : llvm::zip_equal(accumulated, lent)) {
    if (isLent)
      grads.accumulators[operands.stacked[i]] = results.front();
    else
      grads.add(operands.stacked[i], results.front());
    results = results.drop_front();
  }
  if (saving != op)
    op.erase();
}
