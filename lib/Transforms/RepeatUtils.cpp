//===- RepeatUtils.cpp - Rebuilding repeats and their bodies --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RepeatUtils.h"
#include "dtrain/Transforms/Passes.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_SIMPLIFYREPEATS
#include "dtrain/Transforms/Passes.h.inc"
} // namespace dtrain

RepeatSegments RepeatSegments::of(RepeatOp op) {
  return {
      SmallVector<Value>(op.getCarry()), SmallVector<Value>(op.getStacked()),
      SmallVector<Value>(op.getInout()), SmallVector<Value>(op.getShared())};
}

RepeatSegments RepeatSegments::ofBody(RepeatOp op) {
  SmallVector<Value> arguments(op.getBody().getArguments());
  ArrayRef<Value> rest = arguments;
  auto take = [&](size_t count) {
    SmallVector<Value> taken(rest.take_front(count));
    rest = rest.drop_front(count);
    return taken;
  };
  RepeatSegments segments;
  segments.carry = take(op.getCarry().size());
  segments.stacked = take(op.getStacked().size());
  segments.inout = take(op.getInout().size());
  segments.shared = take(op.getShared().size());
  return segments;
}

RepeatOp dtrain::buildRepeatLike(OpBuilder &b, RepeatOp like, func::FuncOp body,
                                 const RepeatSegments &operands) {
  SmallVector<Type> types;
  for (Value v : operands.carry)
    types.push_back(v.getType());
  for (Value v : operands.inout)
    types.push_back(v.getType());
  for (Type row : body.getResultTypes().drop_front(types.size())) {
    auto type = cast<RankedTensorType>(row);
    SmallVector<int64_t> shape = {like.getTripCount()};
    llvm::append_range(shape, type.getShape());
    types.push_back(RankedTensorType::get(shape, type.getElementType()));
  }
  return RepeatOp::create(b, like.getLoc(), types, body.getSymName(),
                          like.getFrom(), like.getTo(), operands.carry,
                          operands.stacked, operands.inout, operands.shared,
                          like.getReverse(), like.getPinnedAxisAttr(),
                          like.getPinnedToAttr(), like.getOrigin());
}

void dtrain::updateFunctionType(func::FuncOp func) {
  Block &block = func.front();
  func.setFunctionType(
      FunctionType::get(func.getContext(), block.getArgumentTypes(),
                        block.getTerminator()->getOperandTypes()));
}

void dtrain::setReturned(func::FuncOp func, ValueRange values) {
  func.front().getTerminator()->setOperands(values);
  updateFunctionType(func);
}

void dtrain::eraseDeadOps(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

bool dtrain::isOnlyCaller(RepeatOp op, ModuleOp module) {
  auto uses = SymbolTable::getSymbolUses(op.getBody(), module);
  return uses && llvm::hasSingleElement(*uses);
}

std::pair<RepeatOp, bool> dtrain::simplifyRepeat(RepeatOp op) {
  func::FuncOp body = op.getBody();
  Block &block = body.front();
  SmallVector<Value> returned(block.getTerminator()->getOperands());
  unsigned tied = op.getCarry().size() + op.getInout().size();
  SmallVector<Value> kept(ArrayRef<Value>(returned).take_front(tied));
  SmallVector<Value> results(op.getResults().take_front(tied));
  for (auto [output, value] :
       llvm::zip_equal(op.getOutputs(), ArrayRef(returned).drop_front(tied)))
    if (!output.use_empty()) {
      kept.push_back(value);
      results.push_back(output);
    }
  if (kept.size() != returned.size()) {
    setReturned(body, kept);
    eraseDeadOps(block);
  }

  RepeatSegments operands = RepeatSegments::of(op),
                 arguments = RepeatSegments::ofBody(op);
  llvm::BitVector dead(block.getNumArguments());
  auto filter = [&](SmallVector<Value> &values, ArrayRef<Value> rows) {
    SmallVector<Value> used;
    for (auto [value, row] : llvm::zip_equal(values, rows))
      if (row.use_empty())
        dead.set(cast<BlockArgument>(row).getArgNumber());
      else
        used.push_back(value);
    values = std::move(used);
  };
  filter(operands.stacked, arguments.stacked);
  filter(operands.shared, arguments.shared);
  if (dead.none() && kept.size() == returned.size())
    return {op, false};

  (void)body.eraseArguments(dead);
  OpBuilder b(op);
  RepeatOp repeat = buildRepeatLike(b, op, body, operands);
  for (auto [from, to] : llvm::zip_equal(results, repeat.getResults()))
    from.replaceAllUsesWith(to);
  op.erase();
  return {repeat, true};
}

void dtrain::simplifyRepeats(ModuleOp module) {
  bool changed = true;
  while (changed) {
    changed = false;
    SmallVector<RepeatOp> repeats;
    module.walk([&](func::FuncOp func) {
      if (func.isExternal())
        return;
      eraseDeadOps(func.front());
      llvm::append_range(repeats, func.getOps<RepeatOp>());
    });
    for (RepeatOp repeat : repeats)
      if (isOnlyCaller(repeat, module))
        changed |= simplifyRepeat(repeat).second;
  }
}

namespace {
struct SimplifyRepeatsPass
    : public dtrain::impl::SimplifyRepeatsBase<SimplifyRepeatsPass> {
  void runOnOperation() override { simplifyRepeats(getOperation()); }
};
} // namespace
