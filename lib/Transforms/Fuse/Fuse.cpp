//===- Fuse.cpp - Primitives become the ops they spell --------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseDetail.h"
#include "dtrain/Transforms/Fuse/Passes.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_FUSE
#include "dtrain/Transforms/Fuse/Passes.h.inc"
} // namespace dtrain

namespace {
struct FusePass : dtrain::impl::FuseBase<FusePass> {
  using FuseBase::FuseBase;
  using Fusion = bool (*)(Operation *, RewriterBase &);

  void runOnOperation() override {
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isExternal())
        run(func);
  }

  void run(func::FuncOp func) {
    const std::pair<bool, Fusion> fusions[] = {
        {true, fuse::cleanUp},
        {bias, fuse::fuseBias},
        {activation, fuse::fuseActivation},
        {normalization, fuse::fuseNormalization},
        {rotary, fuse::fuseRotary},
        {attention, fuse::fuseAttention},
        {loss, fuse::fuseLoss},
        {projection, fuse::splitProjection}};
    IRRewriter rewriter(func.getContext());
    unmerged = true;
    // Each fusion is applied until nothing changes before the next one: they
    // build on each other in this order.
    bool changed = true;
    while (changed) {
      changed = false;
      for (auto [enabled, fusion] : fusions)
        if (enabled && apply(func, fusion, rewriter)) {
          changed = true;
          break;
        }
    }
    if (attention)
      func.walk([](SoftmaxOp softmax) {
        std::string why = fuse::whyNotAttention(softmax);
        if (!why.empty())
          emitRemark(softmax.getLoc(), "not fused to an attention: ") << why;
      });
  }

  /// Whether ops may be equal that were not when equal ops were last merged. A
  /// fusion makes one op of several; only the clean-up makes different ops
  /// equal.
  bool unmerged = true;

  /// One sweep over the function; what has no uses any more goes. A fusion may
  /// erase the op that it is given, but no other: the sweep has a list of all.
  bool apply(func::FuncOp func, Fusion fusion, RewriterBase &rewriter) {
    SmallVector<Operation *> ops;
    for (Block &block : func.getBody())
      for (Operation &op : block)
        ops.push_back(&op);
    bool changed = false;
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      changed |= fusion(op, rewriter);
    }
    unmerged |= changed && fusion == fuse::cleanUp;
    bool merging = unmerged && !changed && fusion == fuse::cleanUp;
    if (changed || merging) {
      bool merged = false;
      if (merging) {
        DominanceInfo dominance(func);
        eliminateCommonSubExpressions(rewriter, dominance, func, &merged);
        unmerged = merged;
      }
      for (Block &block : func.getBody())
        for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
          if (isOpTriviallyDead(&op)) {
            rewriter.eraseOp(&op);
            merged = true;
          }
      changed |= merged;
    }
    return changed;
  }
};
} // namespace
