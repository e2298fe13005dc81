//===- VerifyPlace.cpp - What phase place promises ------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Transforms/Place/Passes.h"
#include "dtrain/Transforms/Place/PlacementGraph.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_VERIFYPLACE
#include "dtrain/Transforms/Place/Passes.h.inc"
} // namespace dtrain

LogicalResult dtrain::verifyPlaced(ModuleOp module) {
  auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
  if (!mesh)
    return module.emitError("expected the attribute dtrain.mesh");
  bool ok = true;
  auto check = [&](Value v, Operation *op) {
    PlacementAttr placement = placementOf(v.getType());
    if (placement && placement.getMesh() == mesh)
      return;
    op->emitOpError("expected a placement on ")
        << mesh << ", found " << v.getType();
    ok = false;
  };
  module.walk([&](Operation *op) {
    if (op->getName().getDialectNamespace() == "tensor" ||
        op->getName().getStringRef() == "arith.constant" ||
        op->getName().getStringRef() == "func.call") {
      op->emitOpError("is not allowed once values have placements");
      ok = false;
    }
    for (Value result : op->getResults())
      check(result, op);
    for (Region &region : op->getRegions())
      for (BlockArgument arg : region.getArguments())
        check(arg, op);
  });
  return success(ok);
}

namespace {
struct VerifyPlace : public dtrain::impl::VerifyPlaceBase<VerifyPlace> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    bool ok = succeeded(verifyPlaced(module));
    module.walk([&](RuleOpInterface op) {
      if (op.getStateAttr())
        return;
      op->emitOpError("has no state");
      ok = false;
    });
    if (!ok)
      return signalPassFailure();
    setPhase(module, Phase::place);
  }
};
} // namespace
