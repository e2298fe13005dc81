//===- VerifyImport.cpp - The contract of the import phase ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Transforms/Fuse/Passes.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_VERIFYIMPORT
#include "dtrain/Transforms/Fuse/Passes.h.inc"
} // namespace dtrain

namespace {
struct VerifyImport : public dtrain::impl::VerifyImportBase<VerifyImport> {
  /// @main is a forward program from named arguments to one scalar loss.
  static LogicalResult checkMain(ModuleOp module) {
    auto main = module.lookupSymbol<func::FuncOp>("main");
    if (!main || main.isExternal() || !llvm::hasSingleElement(main.getBody()))
      return module.emitError("expected a function @main with one block");
    bool ok = true;
    for (unsigned i = 0; i < main.getNumArguments(); ++i) {
      std::optional<Role> role = roleOf(main, i);
      if (role && (*role == Role::parameter || *role == Role::input ||
                   *role == Role::label))
        continue;
      main.emitError("argument #")
          << i << ": expected the role of a parameter, an input or a label";
      ok = false;
    }
    ArrayRef<Type> results = main.getResultTypes();
    auto loss = results.size() == 1 ? dyn_cast<RankedTensorType>(results[0])
                                    : RankedTensorType();
    if (loss && loss.getRank() == 0 && isa<FloatType>(loss.getElementType()))
      return success(ok);
    return main.emitError("expected one result, the scalar loss, found ")
           << results.size() << " of type " << results;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool ok = succeeded(verify(module)) && succeeded(checkMain(module));
    module.walk([&](Operation *op) {
      if (isa<ModuleOp, func::FuncOp, func::ReturnOp, RepeatOp>(op))
        return;
      auto rule = dyn_cast<RuleOpInterface>(op);
      if (rule && rule.getOrigin() == Origin::forward && !rule.getStateAttr())
        return;
      op->emitError("expected forward compute ops and repeats only, found '")
          << op->getName() << '\'';
      ok = false;
    });
    if (!ok)
      return signalPassFailure();
    setPhase(module, Phase::import);
  }
};
} // namespace
