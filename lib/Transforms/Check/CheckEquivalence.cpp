//===- CheckEquivalence.cpp - A placed program against one device -------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Interpreter/Effort.h"
#include "dtrain/Interpreter/Equivalence.h"
#include "dtrain/Transforms/Check/Passes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_CHECKEQUIVALENCE
#include "dtrain/Transforms/Check/Passes.h.inc"
} // namespace dtrain

namespace {
struct CheckEquivalencePass
    : dtrain::impl::CheckEquivalenceBase<CheckEquivalencePass> {
  using CheckEquivalenceBase::CheckEquivalenceBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    auto main = getOperation().lookupSymbol<func::FuncOp>("main");
    if (!main) {
      emitError(getOperation().getLoc(), "expected a function @main to check");
      return signalPassFailure();
    }
    double effort = effortOf(main);
    if (MeshAttr mesh = meshOf(main))
      effort += effortOnMesh(main, mesh);
    if (failed(checkEffort(main.getLoc(), effort, limit)))
      return signalPassFailure();
    FailureOr<Equivalence> found =
        checkEquivalence(main, main, seed, tolerance);
    if (failed(found))
      return signalPassFailure();
    emitRemark(main.getLoc(), "equivalence: ")
        << found->results << " results equal, max difference "
        << llvm::formatv("{0:e}", found->maxDifference).str();
    for (const auto &[key, item] : found->traffic)
      emitRemark(main.getLoc(), "traffic: ")
          << item.count << ' ' << stringifyTransition(key.second) << " over \""
          << key.first << "\", " << item.sent.str() << " sent per device";
  }
};
} // namespace
