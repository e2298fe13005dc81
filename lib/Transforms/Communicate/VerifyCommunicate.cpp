//===- VerifyCommunicate.cpp - What phase communicate promises ------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Transforms/Communicate/Passes.h"
#include "dtrain/Transforms/Place/Passes.h"
#include "dtrain/Transforms/Place/PlacementGraph.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_VERIFYCOMMUNICATE
#include "dtrain/Transforms/Communicate/Passes.h.inc"
} // namespace dtrain

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
