//===- SimplifyRepeats.cpp - Drop what repeats pass for nothing -----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Transforms/Train/Passes.h"
#include "dtrain/Transforms/Utils/RepeatUtils.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_SIMPLIFYREPEATS
#include "dtrain/Transforms/Train/Passes.h.inc"
} // namespace dtrain

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
