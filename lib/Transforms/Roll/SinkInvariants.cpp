//===- SinkInvariants.cpp - Show a body how its shared operands are made --===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Transforms/Roll/Passes.h"
#include "dtrain/Transforms/Utils/RepeatUtils.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_SINKINVARIANTS
#include "dtrain/Transforms/Roll/Passes.h.inc"
} // namespace dtrain

namespace {
struct SinkInvariants
    : public dtrain::impl::SinkInvariantsBase<SinkInvariants> {
  using SinkInvariantsBase::SinkInvariantsBase;

  void runOnOperation() override {
    SmallVector<RepeatOp> repeats;
    getOperation().walk([&](RepeatOp repeat) { repeats.push_back(repeat); });
    for (RepeatOp repeat : repeats)
      if (isOnlyCaller(repeat, getOperation())) {
        sink(repeat);
        eraseDeadOps(*simplifyRepeat(repeat).first->getBlock());
      }
  }

  static void sink(RepeatOp repeat) {
    Block &body = repeat.getBody().front();
    OpBuilder builder = OpBuilder::atBlockBegin(&body);
    IRMapping mapping;
    unsigned first = body.getNumArguments() - repeat.getShared().size();
    for (auto [i, value] : llvm::enumerate(repeat.getShared())) {
      SetVector<Operation *> ops;
      if (!collectConstantOps(value, ops))
        continue;
      for (Operation *op : ops)
        if (!mapping.contains(op->getResult(0)))
          builder.clone(*op, mapping);
      body.getArgument(first + i).replaceAllUsesWith(mapping.lookup(value));
    }
  }
};
} // namespace
