//===- VerifyImport.cpp - The contract of the import phase ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseDetail.h"
#include "dtrain/IR/DTrain/Questions.h"
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

  /// Indices that are known (positions, mostly) are within what they index.
  static LogicalResult checkIndices(RuleOpInterface op) {
    BoundRule bound = op.getBoundRule();
    for (auto [operand, factor] : bound.rule.index) {
      std::optional<std::pair<double, double>> range =
          fuse::rangeOf(op->getOperand(operand));
      int64_t rows = bound.sizes[factor];
      if (!range ||
          (range->first >= 0 && range->second < static_cast<double>(rows)))
        continue;
      InFlightDiagnostic diag = op.emitError("'")
                                << op->getName() << "' looks up indices "
                                << static_cast<int64_t>(range->first) << " to "
                                << static_cast<int64_t>(range->second);
      if (OpOperand *table = operandWith(op, bound.rule, factor))
        diag << " in " << nameOf(table->get());
      diag << ", expected 0 to " << rows - 1 << ": it has " << rows << " rows";
      return diag;
    }
    return success();
  }

  /// Its quoted name, or the type of what has no name.
  static std::string nameOf(Value value) {
    if (auto argument = dyn_cast<BlockArgument>(value))
      if (auto func =
              dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
        if (auto name = func.getArgAttrOfType<StringAttr>(
                argument.getArgNumber(), kNameAttr))
          return ("'" + name.getValue() + "'").str();
    std::string text = "a table of type ";
    llvm::raw_string_ostream(text) << value.getType();
    return text;
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool ok = succeeded(verify(module)) && succeeded(checkMain(module));
    module.walk([&](Operation *op) {
      if (isa<ModuleOp, func::FuncOp, func::ReturnOp, RepeatOp>(op))
        return;
      auto rule = dyn_cast<RuleOpInterface>(op);
      if (rule && rule.getOrigin() == Origin::forward && !rule.getStateAttr()) {
        ok &= succeeded(checkIndices(rule));
        return;
      }
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
