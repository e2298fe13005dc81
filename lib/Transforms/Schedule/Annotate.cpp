//===- Annotate.cpp - What share of the step each task takes --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Target/Target.h"
#include "dtrain/Transforms/Schedule/Passes.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::schedule;

namespace dtrain {
#define GEN_PASS_DEF_SCHEDULEANNOTATE
#include "dtrain/Transforms/Schedule/Passes.h.inc"
} // namespace dtrain

namespace {
struct ScheduleAnnotate
    : public dtrain::impl::ScheduleAnnotateBase<ScheduleAnnotate> {
  using ScheduleAnnotateBase::ScheduleAnnotateBase;

  void runOnOperation() override {
    FailureOr<PlanOp> plan = findPlan(getOperation());
    if (failed(plan) || failed(verifySolution(*plan)))
      return signalPassFailure();
    Time step = plan->getAt()->getValue().duration;
    Builder b(&getContext());
    auto note = [&](Operation *op, Time time) {
      double share = step == Time() ? 0 : toDouble(time / step);
      op->setDiscardableAttr("schedule.share", b.getF64FloatAttr(share));
    };
    for (auto rankClass : plan->getContents().getOps<RankClassOp>())
      for (auto segment : rankClass.getContents().getOps<SegmentOp>()) {
        double count = segment.getCount();
        note(segment, segment.getSpan()->getValue().duration() * count);
        for (Operation &op : segment.getContents().getOps())
          noteOp(&op, count, note);
      }
  }

  template <typename F> void noteOp(Operation *op, double count, F note) {
    if (auto task = dyn_cast<TaskOp>(op))
      return note(op, task.getAt()->getValue().duration * count);
    auto call = cast<CallOp>(op);
    note(op, call.getAt()->getValue().duration * count);
    // A body's share is that in the call last seen, whichever stage it is of:
    // all of a pipeline's stages run as many layers.
    double trips = static_cast<double>(call.getTimes()) * count;
    for (auto task : call.getBody().getContents().getOps<TaskOp>())
      note(task, task.getAt()->getValue().duration * trips);
  }
};
} // namespace
