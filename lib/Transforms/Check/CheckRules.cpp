//===- CheckRules.cpp - Every op against its rule -----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Interpreter/Effort.h"
#include "dtrain/Interpreter/RuleCheck.h"
#include "dtrain/Transforms/Check/Passes.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_CHECKRULES
#include "dtrain/Transforms/Check/Passes.h.inc"
} // namespace dtrain

namespace {
struct CheckRulesPass : dtrain::impl::CheckRulesBase<CheckRulesPass> {
  using CheckRulesBase::CheckRulesBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    std::mt19937_64 random(seed);
    unsigned ops = 0, failures = 0;
    getOperation().walk([&](RuleOpInterface op) {
      ++ops;
      // On each of up to eight devices and in one piece, in every trial.
      if (failed(
              checkEffort(op.getLoc(), 9.0 * trials * effortOf(op), limit))) {
        ++failures;
        return;
      }
      if (llvm::Error error =
              checkRule(op, op.getBoundRule(), trials, random)) {
        ++failures;
        op.emitError("does not do what its rule says: ")
            << llvm::toString(std::move(error));
      }
    });
    if (failures)
      return signalPassFailure();
    emitRemark(getOperation().getLoc(), "rules: ")
        << ops << " ops agree with their rules in "
        << static_cast<unsigned>(trials) << " random states each";
  }
};
} // namespace
