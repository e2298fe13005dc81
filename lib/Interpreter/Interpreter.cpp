//===- Interpreter.cpp - The sequential meaning of a program --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Interpreter/Interpreter.h"
#include "dtrain/Interpreter/Kernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtrain;

using Results = FailureOr<SmallVector<Tensor>>;

/// Runs a function that has been verified on arguments of its shapes.
static Results runFunction(func::FuncOp func, ArrayRef<Tensor> arguments,
                           Observer observer);

static Results runRuleOp(Operation *op, ArrayRef<const Tensor *> operands) {
  llvm::Expected<BoundRule> bound = bindRule(op);
  if (!bound)
    return op->emitError("rule: ") << llvm::toString(bound.takeError());
  IndexSets index = allIndices(bound->sizes);
  llvm::Expected<SmallVector<Tensor>> results =
      runKernel({op, *bound, index, operands});
  if (!results)
    return op->emitError("cannot be interpreted: ")
           << llvm::toString(results.takeError());
  return std::move(*results);
}

static Results runRepeat(RepeatOp op, ArrayRef<const Tensor *> operands,
                         Observer observer) {
  unsigned carries = op.getCarry().size(), stacked = op.getStacked().size(),
           inouts = op.getInout().size();
  SmallVector<Tensor> results;
  for (unsigned i = 0; i < carries; ++i)
    results.push_back(*operands[i]);
  for (unsigned i = 0; i < inouts; ++i)
    results.push_back(*operands[carries + stacked + i]);
  for (Value output : op.getOutputs())
    results.emplace_back(tensorType(output).getShape());

  int64_t from = op.getFrom(), trips = op.getTripCount();
  for (int64_t n = 0; n < trips; ++n) {
    int64_t index = op.getReverse() ? from + trips - 1 - n : from + n;
    SmallVector<Tensor> arguments;
    for (auto [i, value] : llvm::enumerate(op.getOperands())) {
      if (i < carries)
        arguments.push_back(results[i]);
      else if (i < carries + stacked)
        arguments.push_back(operands[i]->getRow(op.rowOf(value, index)));
      else if (i < carries + stacked + inouts)
        arguments.push_back(
            results[i - stacked].getRow(op.rowOf(value, index)));
      else
        arguments.push_back(*operands[i]);
    }
    Results values = runFunction(op.getBody(), arguments, observer);
    if (failed(values))
      return failure();
    for (auto [i, value] : llvm::enumerate(*values)) {
      if (i < carries)
        results[i] = std::move(value);
      else if (i < carries + inouts)
        results[i].setRow(op.rowOf(op.getInout()[i - carries], index), value);
      else
        results[i].setRow(index - from, value);
    }
  }
  return results;
}

static Results runOp(Operation *op, ArrayRef<const Tensor *> operands,
                     Observer observer) {
  return llvm::TypeSwitch<Operation *, Results>(op)
      .Case<RepeatOp>(
          [&](RepeatOp o) { return runRepeat(o, operands, observer); })
      .Case<ReshardOp, CommOpInterface>(
          [&](auto) { return SmallVector<Tensor>{*operands.front()}; })
      .Case<RuleOpInterface>([&](auto) { return runRuleOp(op, operands); })
      .Default([](Operation *o) {
        return o->emitError("'") << o->getName() << "' cannot be interpreted";
      });
}

static Results runFunction(func::FuncOp func, ArrayRef<Tensor> arguments,
                           Observer observer) {
  llvm::DenseMap<Value, Tensor> values;
  for (auto [value, tensor] : llvm::zip_equal(func.getArguments(), arguments))
    values[value] = tensor;
  for (Operation &op : func.front().without_terminator()) {
    SmallVector<const Tensor *> operands;
    for (Value operand : op.getOperands())
      operands.push_back(&values.find(operand)->second);
    Results results = runOp(&op, operands, observer);
    if (failed(results) ||
        (observer && failed(observer(&op, operands, *results))))
      return failure();
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), *results))
      values[value] = std::move(tensor);
  }
  return llvm::map_to_vector(func.front().getTerminator()->getOperands(),
                             [&](Value v) { return values.find(v)->second; });
}

/// Depth first; `path` holds the functions that lead here.
static LogicalResult verifyFrom(func::FuncOp func,
                                SmallVectorImpl<func::FuncOp> &path,
                                llvm::SmallDenseSet<Operation *> &done) {
  if (func.isExternal() || !llvm::hasSingleElement(func.getBody()) ||
      !func.front().mightHaveTerminator())
    return emitError(func.getLoc(),
                     "expected a body of one block to interpret");
  for (Type type : func.getArgumentTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        !tensor || !tensor.hasStaticShape())
      return emitError(func.getLoc(),
                       "expected tensors of static shape, found ")
             << type;
  path.push_back(func);
  for (auto repeat : func.getOps<RepeatOp>()) {
    func::FuncOp body = repeat.getBody();
    if (llvm::is_contained(path, body))
      return repeat.emitError("repeats ")
             << repeat.getCalleeAttr() << ", which leads back here";
    if (!done.contains(body) && failed(verifyFrom(body, path, done)))
      return failure();
  }
  path.pop_back();
  done.insert(func);
  return success();
}

LogicalResult dtrain::verifyInterpretable(func::FuncOp func) {
  SmallVector<func::FuncOp> path;
  llvm::SmallDenseSet<Operation *> done;
  return verifyFrom(func, path, done);
}

Results dtrain::interpret(func::FuncOp func, ArrayRef<Tensor> arguments,
                          Observer observer) {
  if (failed(verifyInterpretable(func)))
    return failure();
  if (arguments.size() != func.getNumArguments())
    return emitError(func.getLoc(), "expected ")
           << func.getNumArguments() << " arguments, found "
           << arguments.size();
  for (auto [i, value] : llvm::enumerate(func.getArguments()))
    if (tensorType(value).getShape() != arguments[i].getShape())
      return emitError(func.getLoc(), "argument #")
             << i << ": expected the shape of " << value.getType();
  return runFunction(func, arguments, observer);
}
