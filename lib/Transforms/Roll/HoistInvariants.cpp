//===- HoistInvariants.cpp - Compute once what all layers share -----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Transforms/Roll/Passes.h"
#include "dtrain/Transforms/Utils/RepeatUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_HOISTINVARIANTS
#include "dtrain/Transforms/Roll/Passes.h.inc"
} // namespace dtrain

namespace {
struct HoistInvariants
    : public dtrain::impl::HoistInvariantsBase<HoistInvariants> {
  using HoistInvariantsBase::HoistInvariantsBase;

  void runOnOperation() override {
    SmallVector<RepeatOp> repeats;
    getOperation().walk([&](RepeatOp repeat) { repeats.push_back(repeat); });
    for (RepeatOp repeat : repeats)
      if (isOnlyCaller(repeat, getOperation()))
        hoist(repeat);
  }

  static void hoist(RepeatOp repeat) {
    func::FuncOp function = repeat.getBody();
    Block &body = function.front();
    OpBuilder builder(repeat);
    IRMapping mapping;
    SmallVector<Value> shared;
    for (Operation &op :
         llvm::make_early_inc_range(body.without_terminator())) {
      bool isInvariant = isa<RuleOpInterface>(op) &&
                         llvm::all_of(op.getOperands(), [&](Value v) {
                           return mapping.contains(v);
                         });
      if (!isInvariant)
        continue;
      builder.clone(op, mapping);
    }
    // Constants cost nothing where they are.
    for (Operation &op : body)
      for (Value v : op.getResults())
        if (mapping.contains(v) && !isa<ConstantOp>(op) &&
            llvm::any_of(v.getUsers(), [&](Operation *user) {
              return user->getNumResults() == 0 ||
                     !mapping.contains(user->getResult(0));
            }))
          shared.push_back(v);
    RepeatSegments segments = RepeatSegments::of(repeat);
    for (Value v : shared) {
      v.replaceAllUsesWith(body.addArgument(v.getType(), v.getLoc()));
      segments.shared.push_back(mapping.lookup(v));
    }
    if (!shared.empty()) {
      updateFunctionType(function);
      RepeatOp hoisted = buildRepeatLike(builder, repeat, function, segments);
      repeat.replaceAllUsesWith(hoisted.getResults());
      repeat.erase();
    }
    eraseDeadOps(body);
    eraseDeadOps(*builder.getInsertionBlock());
  }
};
} // namespace
