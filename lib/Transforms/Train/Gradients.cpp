//===- Gradients.cpp - Reverse mode over the ops of a block ---------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gradients.h"
#include "dtrain/IR/DTrain/Questions.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;

static Type elementOf(Value value) {
  return tensorType(value).getElementType();
}

//===----------------------------------------------------------------------===//
// Activity
//===----------------------------------------------------------------------===//

void Activity::addParameter(Value value) {
  varied.insert(value);
  weights.insert(value);
}

bool Activity::add(Value value) {
  return isa<FloatType>(elementOf(value)) && varied.insert(value).second;
}

void Activity::propagate(Block &block) {
  for (Operation &op : block.without_terminator()) {
    if (auto repeat = dyn_cast<RepeatOp>(op)) {
      propagateRepeat(repeat);
      continue;
    }
    if (llvm::none_of(op.getOperands(), [&](Value v) { return depends(v); }))
      continue;
    for (Value result : op.getResults())
      add(result);
    if (isView(&op) && isWeight(op.getOperand(0)))
      weights.insert(op.getResult(0));
  }
}

void Activity::propagateRepeat(RepeatOp op) {
  Block &body = op.getBody().front();
  ValueRange returned = body.getTerminator()->getOperands();
  unsigned carries = op.getCarry().size();
  for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
    BlockArgument argument = body.getArgument(i);
    if (depends(operand))
      add(argument);
    if (i >= carries && isWeight(operand))
      weights.insert(argument);
  }
  bool changed = true;
  while (changed) {
    changed = false;
    propagate(body);
    for (unsigned i = 0; i < carries; ++i)
      if (depends(returned[i]))
        changed |= add(body.getArgument(i));
  }
  for (auto [result, value] : llvm::zip_equal(op.getResults(), returned))
    if (depends(value))
      add(result);
}

//===----------------------------------------------------------------------===//
// Sums of gradients
//===----------------------------------------------------------------------===//

void GradientMap::add(Value of, Value gradient) {
  parts[of].push_back(gradient);
}

/// Gradients of all the slices of a tensor, together, in place of each one
/// among zeros; null if they are something else.
static Value concatenate(OpBuilder &b, MutableArrayRef<Value> parts) {
  SmallVector<PadOp> pads;
  for (Value v : parts) {
    auto pad = v.getDefiningOp<PadOp>();
    if (!pad || !v.use_empty() ||
        (!pads.empty() && pad.getDim() != pads.front().getDim()))
      return {};
    pads.push_back(pad);
  }
  llvm::sort(pads,
             [](PadOp x, PadOp y) { return x.getOffset() < y.getOffset(); });
  int64_t dim = pads.front().getDim(), end = 0;
  SmallVector<Value> inputs;
  for (PadOp pad : pads) {
    if (static_cast<int64_t>(pad.getOffset()) != end ||
        elementOf(pad.getInput()) != elementOf(pads.front().getInput()))
      return {};
    inputs.push_back(pad.getInput());
    end += tensorType(pad.getInput()).getShape()[dim];
  }
  RankedTensorType type = tensorType(pads.front().getResult());
  if (end != type.getShape()[dim])
    return {};
  Value whole = ConcatOp::create(b, pads.front().getLoc(), type, inputs, dim,
                                 Origin::forward, OpStateAttr());
  for (PadOp pad : pads)
    pad.erase();
  return whole;
}

Value GradientMap::sum(OpBuilder &b, Value of) {
  auto it = parts.find(of);
  if (it == parts.end())
    return {};
  SmallVectorImpl<Value> &list = it->second;
  if (list.size() > 1)
    if (Value whole = concatenate(b, list))
      list.assign({whole});
  // In the widest type among them: gradients of a parameter may be wider than
  // those of activations.
  Type element = elementOf(list.front());
  for (Value v : list)
    if (elementOf(v).getIntOrFloatBitWidth() > element.getIntOrFloatBitWidth())
      element = elementOf(v);
  Value total = list.front();
  for (Value v : llvm::drop_begin(list))
    total = buildElementwise(b, v.getLoc(), Elementwise::add, {total, v},
                             std::nullopt, element);
  list.assign({total});
  return total;
}

bool GradientMap::accumulate(OpBuilder &b, Value of, Value initial) {
  Value &accumulator = accumulators[of];
  if (Value gradient = sum(b, of))
    accumulator = buildElementwise(b, gradient.getLoc(), Elementwise::add,
                                   {accumulator, gradient}, std::nullopt,
                                   elementOf(accumulator));
  parts.erase(of);
  return accumulator != initial;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

RankedTensorType Differentiator::accumulatorType(Value of) const {
  RankedTensorType type = tensorType(of);
  return activity.isWeight(of) ? type.clone(gradientType) : type;
}

LogicalResult Differentiator::differentiate(Block &block, OpBuilder &b,
                                            GradientMap &grads) const {
  // Backward ops may be appended to the same block. A parameter's gradient is
  // added to its accumulator as soon as it is complete: after the first op that
  // reads the parameter.
  SmallVector<Operation *> forward;
  DenseMap<Operation *, SmallVector<Value>> completes;
  DenseSet<Value> seen;
  for (Operation &op : block.without_terminator()) {
    forward.push_back(&op);
    for (Value v : op.getOperands())
      if (grads.accumulators.contains(v) && seen.insert(v).second)
        completes[&op].push_back(v);
  }
  for (Operation *op : llvm::reverse(forward)) {
    // A repeat is replaced by one that saves.
    SmallVector<Value> complete = completes.lookup(op);
    if (failed(differentiateOp(op, b, grads)))
      return failure();
    for (Value v : complete)
      grads.accumulate(b, v, grads.accumulators[v]);
  }
  return success();
}

LogicalResult Differentiator::differentiateOp(Operation *op, OpBuilder &b,
                                              GradientMap &grads) const {
  if (llvm::none_of(op->getOperands(),
                    [&](Value v) { return activity.depends(v); }))
    return success();
  SmallVector<Value> resultGrads;
  for (Value result : op->getResults())
    resultGrads.push_back(grads.sum(b, result));
  if (llvm::none_of(resultGrads, [](Value v) { return v != nullptr; }))
    return success();
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return differentiateRepeat(repeat, b, resultGrads, grads);
  return buildOpBackward(op, b, resultGrads, grads);
}

LogicalResult Differentiator::buildOpBackward(Operation *op, OpBuilder &b,
                                              ArrayRef<Value> resultGrads,
                                              GradientMap &grads) const {
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op->emitOpError("has no backward, and a trainable parameter reaches "
                           "the loss through it");
  SmallVector<bool> wanted;
  for (Value v : op->getOperands())
    wanted.push_back(activity.depends(v));
  SmallVector<Value> operandGrads;
  if (failed(
          differentiable.buildBackward(b, resultGrads, wanted, operandGrads)))
    return failure();
  for (auto [operand, want, grad] :
       llvm::zip_equal(op->getOperands(), wanted, operandGrads)) {
    if (!want || !grad)
      continue;
    // The kernels that give a parameter's gradient write the accumulator's
    // type; those that only move data keep theirs.
    Operation *def = grad.getDefiningOp();
    if (activity.isWeight(operand) && gradientType.isF32() && def &&
        !llvm::is_contained(resultGrads, grad) && !movesData(def))
      grad.setType(tensorType(grad).clone(gradientType));
    grads.add(operand, grad);
  }
  return success();
}
