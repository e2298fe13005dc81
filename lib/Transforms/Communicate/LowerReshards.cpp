//===- LowerReshards.cpp - From reshards to communications ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Transforms/Communicate/Passes.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_LOWERRESHARDS
#include "dtrain/Transforms/Communicate/Passes.h.inc"
} // namespace dtrain

template <typename... Ops>
static Operation *
createFirstThatPerforms(OpBuilder &b, Transition t, ReshardOp reshard,
                        Value input, RankedTensorType type, StringAttr axis) {
  Operation *made = nullptr;
  auto attempt = [&](auto tag) {
    using Op = typename decltype(tag)::type;
    if (!made && llvm::is_contained(Op::getTransitions(), t))
      made = Op::create(b, reshard.getLoc(), type, input, axis,
                        reshard.getWhyAttr(), reshard.getOrigin());
  };
  (attempt(std::common_type<Ops>{}), ...);
  return made;
}

/// The communication that performs one transition.
static Operation *createComm(OpBuilder &b, Transition t, ReshardOp reshard,
                             Value input, RankedTensorType type,
                             StringAttr axis) {
  return createFirstThatPerforms<
      comm::AllReduceOp, comm::AllGatherOp, comm::ReduceScatterOp,
      comm::AllToAllOp, comm::BroadcastOp, comm::CommReduceOp,
      comm::CommGatherOp, comm::CommScatterOp, comm::SendOp, comm::RelabelOp>(
      b, t, reshard, input, type, axis);
}

namespace {
struct LowerReshards : public dtrain::impl::LowerReshardsBase<LowerReshards> {
  LogicalResult lower(ReshardOp reshard) {
    RankedTensorType from = tensorType(reshard.getInput()),
                     to = tensorType(reshard.getResult());
    MeshAttr mesh = placementOf(from).getMesh();
    llvm::Expected<ReshardPath> path =
        findPath(mesh.getAxes(), from.getShape(), stateOf(from, mesh),
                 stateOf(to, mesh));
    if (!path)
      return reshard.emitOpError("cannot be lowered: ")
             << llvm::toString(path.takeError());
    OpBuilder b(reshard);
    Value value = reshard.getInput();
    for (const ReshardStep &step : *path) {
      RankedTensorType type = withState(from, mesh, step.result);
      StringAttr axis = mesh.getNames()[step.axis];
      Operation *op =
          createComm(b, step.cost.transition, reshard, value, type, axis);
      value = op->getResult(0);
      isFree(step.cost.transition) ? ++numFree : ++numCommunications;
      if (!isFree(step.cost.transition))
        remark::passed(
            op->getLoc(),
            remark::RemarkOpts::name("communication").category("communicate"))
            << remark::metric("transition",
                              stringifyTransition(step.cost.transition))
            << remark::metric("axis", axis.getValue())
            << remark::metric("elements", step.cost.sentElements)
            << remark::reason(
                   "{0}", reshard.getWhy().value_or("stated by the program"));
    }
    reshard.replaceAllUsesWith(value);
    reshard.erase();
    return success();
  }

  void runOnOperation() override {
    SmallVector<ReshardOp> all;
    getOperation().walk([&](ReshardOp op) { all.push_back(op); });
    for (ReshardOp op : all)
      if (failed(lower(op)))
        return signalPassFailure();
  }
};
} // namespace
