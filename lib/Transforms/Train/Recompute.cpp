//===- Recompute.cpp - Activations again in backward --------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Transforms/Train/Passes.h"
#include "dtrain/Transforms/Utils/RepeatUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_RECOMPUTE
#include "dtrain/Transforms/Train/Passes.h.inc"
} // namespace dtrain

/// The backward repeat that reads what `forward` saves; null if none does.
static RepeatOp backwardOf(RepeatOp forward) {
  for (Value output : forward.getOutputs())
    for (OpOperand &use : output.getUses()) {
      auto user = dyn_cast<RepeatOp>(use.getOwner());
      if (user && user.getOrigin() == Origin::backward &&
          llvm::is_contained(user.getStacked(), output))
        return user;
    }
  return {};
}

namespace {
/// Puts the forward layer in front of its backward.
class LayerRecomputation {
public:
  LayerRecomputation(RepeatOp forward, RepeatOp backward)
      : forward(forward), backward(backward) {}

  void run();

private:
  void saveCarries();
  void passOperands();
  void clone();
  void mergeViews(ArrayRef<Operation *> clones);

  RepeatOp forward, backward;
  /// From the forward body's values to the backward body's.
  IRMapping map;
};
} // namespace

/// The output of `op` that is its body's value `value`; null if none is.
static Value outputOf(RepeatOp op, Value value) {
  OperandRange returned = op.getBody().front().getTerminator()->getOperands();
  unsigned first = op.getNumResults() - op.getOutputs().size();
  for (auto [output, saved] :
       llvm::zip_equal(op.getOutputs(), returned.drop_front(first)))
    if (saved == value)
      return output;
  return {};
}

void LayerRecomputation::saveCarries() {
  func::FuncOp body = forward.getBody();
  SmallVector<Value> returned(body.front().getTerminator()->getOperands());
  unsigned before = returned.size();
  for (Value carry : RepeatSegments::ofBody(forward).carry)
    if (!carry.use_empty() && !outputOf(forward, carry))
      returned.push_back(carry);
  if (returned.size() == before)
    return;
  setReturned(body, returned);
  OpBuilder b(forward);
  RepeatOp saving =
      buildRepeatLike(b, forward, body, RepeatSegments::of(forward));
  forward->replaceAllUsesWith(saving.getResults().take_front(before));
  forward.erase();
  forward = saving;
}

/// Gives the backward body every argument of the forward one: carries as rows
/// of what was saved.
void LayerRecomputation::passOperands() {
  func::FuncOp body = backward.getBody();
  RepeatSegments operands = RepeatSegments::of(backward),
                 arguments = RepeatSegments::ofBody(backward),
                 given = RepeatSegments::of(forward),
                 wanted = RepeatSegments::ofBody(forward);
  auto pass = [&](Value argument, Value operand, SmallVector<Value> &segment,
                  SmallVector<Value> &rows, unsigned position) {
    auto *it = llvm::find(segment, operand);
    if (it == segment.end()) {
      rows.push_back(body.front().insertArgument(position, argument.getType(),
                                                 argument.getLoc()));
      segment.push_back(operand);
      it = std::prev(segment.end());
    }
    map.map(argument, rows[it - segment.begin()]);
  };
  auto passRow = [&](Value argument, Value operand) {
    pass(argument, operand, operands.stacked, arguments.stacked,
         operands.carry.size() + operands.stacked.size());
  };
  for (Value carry : wanted.carry)
    if (Value saved = outputOf(forward, carry))
      passRow(carry, saved);
  for (auto [argument, operand] :
       llvm::zip_equal(wanted.stacked, given.stacked))
    passRow(argument, operand);
  for (auto [argument, operand] : llvm::zip_equal(wanted.shared, given.shared))
    pass(argument, operand, operands.shared, arguments.shared,
         body.front().getNumArguments());
  updateFunctionType(body);
  OpBuilder b(backward);
  RepeatOp again = buildRepeatLike(b, backward, body, operands);
  backward->replaceAllUsesWith(again.getResults());
  backward.erase();
  backward = again;
}

void LayerRecomputation::clone() {
  Block &from = forward.getBody().front(), &to = backward.getBody().front();
  OpBuilder b = OpBuilder::atBlockBegin(&to);
  SmallVector<Operation *> clones;
  {
    OriginScope scope(b, Origin::recompute);
    for (Operation &op : from.without_terminator())
      clones.push_back(b.clone(op, map));
  }
  RepeatSegments operands = RepeatSegments::of(backward),
                 arguments = RepeatSegments::ofBody(backward);
  OperandRange returned = from.getTerminator()->getOperands();
  unsigned first = forward.getNumResults() - forward.getOutputs().size();
  for (auto [output, value] :
       llvm::zip_equal(forward.getOutputs(), returned.drop_front(first)))
    for (auto [operand, row] :
         llvm::zip_equal(operands.stacked, arguments.stacked))
      if (operand == output && map.lookup(value) != row)
        row.replaceAllUsesWith(map.lookup(value));
  mergeViews(clones);
}

/// Views that backward derived from what was saved are among the clones now.
void LayerRecomputation::mergeViews(ArrayRef<Operation *> clones) {
  Block &block = backward.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto rule = dyn_cast<RuleOpInterface>(op);
    if (!rule || rule.getOrigin() != Origin::backward)
      continue;
    rule.setOrigin(Origin::recompute);
    const auto *it = llvm::find_if(clones, [&](Operation *clone) {
      return OperationEquivalence::isEquivalentTo(
          &op, clone, OperationEquivalence::IgnoreLocations);
    });
    if (it == clones.end()) {
      rule.setOrigin(Origin::backward);
      continue;
    }
    op.replaceAllUsesWith(*it);
    op.erase();
  }
}

void LayerRecomputation::run() {
  saveCarries();
  passOperands();
  clone();
  simplifyRepeat(backward);
  simplifyRepeat(forward);
}

namespace {
struct RecomputePass : public dtrain::impl::RecomputeBase<RecomputePass> {
  using RecomputeBase::RecomputeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (mode == RecomputeMode::none)
      return;
    if (mode == RecomputeMode::selective) {
      module.emitError("recomputation 'selective' is not available: expected "
                       "'none' or 'full'");
      return signalPassFailure();
    }
    SmallVector<std::pair<RepeatOp, RepeatOp>> layers;
    module.walk([&](RepeatOp op) {
      if (op.getOrigin() != Origin::forward)
        return;
      if (RepeatOp backward = backwardOf(op))
        layers.emplace_back(op, backward);
    });
    if (layers.empty())
      module.emitWarning("nothing to recompute: no repeated layer saves values "
                         "for its backward");
    for (auto [forward, backward] : layers) {
      if (!isOnlyCaller(forward, module) || !isOnlyCaller(backward, module)) {
        forward.emitError("recomputation needs a layer and a backward that no "
                          "other repeat runs");
        return signalPassFailure();
      }
      LayerRecomputation(forward, backward).run();
    }
  }
};
} // namespace
