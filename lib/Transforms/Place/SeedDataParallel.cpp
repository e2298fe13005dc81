//===- SeedDataParallel.cpp - Split the batch -----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Seeding.h"
#include "dtrain/Transforms/Place/Passes.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_SEEDDATAPARALLEL
#include "dtrain/Transforms/Place/Passes.h.inc"
} // namespace dtrain

namespace {
struct SeedDataParallel
    : public dtrain::impl::SeedDataParallelBase<SeedDataParallel> {
  using SeedDataParallelBase::SeedDataParallelBase;

  void runOnOperation() override {
    FailureOr<std::optional<SeedAxis>> found =
        seedAxisOf(getOperation(), mesh, axis);
    FailureOr<func::FuncOp> body = microbatchOf(getOperation());
    if (failed(found) || failed(body))
      return signalPassFailure();
    if (!*found)
      return;
    const SeedAxis &dp = **found;
    auto uses = SymbolTable::getSymbolUses(*body, getOperation());
    OpBuilder b = OpBuilder::atBlockBegin(&body->getBody().front());
    for (SymbolTable::SymbolUse use : *uses) {
      auto repeat = dyn_cast<RepeatOp>(use.getUser());
      if (!repeat)
        continue;
      unsigned first = repeat.getCarry().size();
      for (unsigned i = first; i < first + repeat.getStacked().size(); ++i) {
        BlockArgument input = body->getArgument(i);
        ArrayRef<int64_t> shape = tensorType(input).getShape();
        if (shape.empty())
          continue;
        if (failed(checkDivides(repeat, "samples of a micro-batch",
                                shape.front(), dp)))
          return signalPassFailure();
        SeedOp::create(b, repeat.getLoc(), input, dp.name(), 0, 0,
                       "data-parallel");
      }
    }
  }
};
} // namespace
