//===- VerifyPhases.cpp - The contracts of place and communicate ----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlacementGraph.h"
#include "dtrain/Transforms/Passes.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_VERIFYPLACE
#define GEN_PASS_DEF_VERIFYCOMMUNICATE
#include "dtrain/Transforms/Passes.h.inc"
} // namespace dtrain

/// Every value of the module has a placement on its mesh. Reports all that have
/// not.
static LogicalResult verifyPlaced(ModuleOp module) {
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

/// The operands and results of one op fit its rule on every axis.
static LogicalResult verifyFits(RuleOpInterface op, MeshAttr mesh) {
  BoundRule rule = llvm::cantFail(bindRule(op));
  auto complain = [&](unsigned axis, ArrayRef<AxisState> ins,
                      ArrayRef<AxisState> outs) -> LogicalResult {
    InFlightDiagnostic diag = op->emitOpError("no state on axis ")
                              << mesh.getNames()[axis]
                              << " explains operands (";
    llvm::interleaveComma(ins, diag,
                          [&](const AxisState &s) { diag << s.str(); });
    diag << ") and results (";
    llvm::interleaveComma(outs, diag,
                          [&](const AxisState &s) { diag << s.str(); });
    return diag << ") under its rule '" << rule.rule.str() << "'";
  };
  return inferOpState(mesh, rule, statesOf(op->getOperands(), mesh),
                      statesOf(op->getResults(), mesh), complain);
}

/// A repeat's operands and results are as its body has them.
static LogicalResult verifyRepeat(RepeatOp repeat, MeshAttr mesh,
                                  RepeatTypes &types) {
  func::FuncOp body = repeat.getBody();
  auto expect = [&](Value outer, Type inner, bool rows, StringRef what,
                    unsigned index) -> LogicalResult {
    RankedTensorType type = types.get(repeat, outer, inner, rows);
    if (type == outer.getType())
      return success();
    TensorState wanted = stateOf(type, mesh),
                found = stateOf(tensorType(outer), mesh);
    unsigned axis = 0;
    while (wanted[axis] == found[axis])
      ++axis;
    return repeat.emitOpError()
           << what << " #" << index << ": expected " << wanted[axis].str()
           << " on axis " << mesh.getNames()[axis] << ", found "
           << found[axis].str();
  };
  for (auto [i, v] : llvm::enumerate(repeat.getOperands())) {
    RepeatSegment segment = segmentOf(repeat, i);
    bool rows =
        segment == RepeatSegment::Stacked || segment == RepeatSegment::Inout;
    if (failed(expect(v, body.getArgumentTypes()[i], rows, "operand", i)))
      return failure();
  }
  for (auto [i, v] : llvm::enumerate(repeat.getResults()))
    if (failed(expect(v, body.getResultTypes()[i],
                      i >= repeat.getCarry().size(), "result", i)))
      return failure();
  return success();
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

struct VerifyCommunicate
    : public dtrain::impl::VerifyCommunicateBase<VerifyCommunicate> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyPlaced(module)))
      return signalPassFailure();
    auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
    RepeatTypes types(mesh);
    bool ok = true;
    module.walk([&](Operation *op) {
      if (auto reshard = dyn_cast<ReshardOp>(op))
        ok &= succeeded(LogicalResult(reshard.emitOpError("is not lowered")));
      else if (auto rule = dyn_cast<RuleOpInterface>(op))
        ok &= succeeded(verifyFits(rule, mesh));
      else if (auto repeat = dyn_cast<RepeatOp>(op))
        ok &= succeeded(verifyRepeat(repeat, mesh, types));
    });
    if (!ok)
      return signalPassFailure();
    setPhase(module, Phase::communicate);
  }
};
} // namespace
