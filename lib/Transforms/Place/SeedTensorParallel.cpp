//===- SeedTensorParallel.cpp - Split heads, widths, vocabulary -----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Seeding.h"
#include "dtrain/Transforms/Place/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_SEEDTENSORPARALLEL
#include "dtrain/Transforms/Place/Passes.h.inc"
} // namespace dtrain

/// cross_entropy over a split vocabulary: the maximum and the sum of
/// exponentials become reductions of their own, the label's logit a masked
/// pick.
static void expandCrossEntropy(CrossEntropyOp op) {
  OpBuilder b(op);
  OriginScope scope(b, op.getOrigin());
  Location loc = op.getLoc();
  Type f32 = tensorType(op.getLoss()).getElementType();
  unsigned rank = tensorType(op.getLogits()).getRank();
  std::string term;
  for (unsigned d = 0; d + 1 < rank; ++d)
    term += "d" + std::to_string(d) + " ";
  std::string rows = term + "v -> " + (term.empty() ? "()" : term);
  Value max = buildReduce(b, loc, Reduction::max, rows, op.getLogits(), f32);
  auto rowType = cast<RankedTensorType>(max.getType());
  Value sum = SumExpOp::create(b, loc, rowType, op.getLogits(), max,
                               op.getOrigin(), OpStateAttr());
  Value picked = PickOp::create(b, loc, rowType, op.getLogits(), op.getLabels(),
                                op.getOrigin(), OpStateAttr());
  Value log = buildElementwise(b, loc, Elementwise::log, sum);
  Value lse = buildElementwise(b, loc, Elementwise::add, {log, max});
  Value loss = buildElementwise(b, loc, Elementwise::sub, {lse, picked});
  op.getLoss().replaceAllUsesWith(loss);
  op.getLse().replaceAllUsesWith(lse);
  op.erase();
}

/// Whether the value is a trainable weight here: an argument, perhaps seen
/// through views.
static bool isWeight(Value v) {
  while (Operation *op = v.getDefiningOp()) {
    if (!isa<MoveOp, SliceOp, ConcatOp>(op))
      return false;
    v = op->getOperand(0);
  }
  return true;
}

/// Whether `factor` of the dot is its result's last dimension or reduced from
/// its first operand's.
static std::optional<FactorId> outputFactor(DotOp dot) {
  Rule rule = dot.getRule();
  const RuleTerm &result = rule.results[0];
  if (result.empty() || result.back().factors.size() != 1)
    return std::nullopt;
  FactorId f = result.back().factors[0];
  return Rule::dimOf(rule.operands[1], f) && !Rule::dimOf(rule.operands[0], f)
             ? std::optional(f)
             : std::nullopt;
}

static bool contractsLastOf(DotOp dot) {
  Rule rule = dot.getRule();
  const RuleTerm &x = rule.operands[0];
  return !x.empty() && x.back().factors.size() == 1 &&
         rule.reducedIn(x.back().factors[0], 0) &&
         Rule::dimOf(rule.operands[1], x.back().factors[0]);
}

/// The contractions that consume `v` in their last dimension through ops that
/// work on each element alone.
static void consumersThroughElementwise(Value v,
                                        llvm::SetVector<DotOp> &found) {
  for (OpOperand &use : v.getUses()) {
    Operation *user = use.getOwner();
    if (auto dot = dyn_cast<DotOp>(user)) {
      if (use.getOperandNumber() == 0 && dot.getOrigin() == Origin::forward &&
          contractsLastOf(dot) && isWeight(dot.getInputs()[1]))
        found.insert(dot);
      continue;
    }
    auto elementwise = dyn_cast<ElementwiseOp>(user);
    if (!elementwise || elementwise.getOrigin() != Origin::forward)
      continue;
    bool addsActivation =
        elementwise.getKind() == Elementwise::add &&
        elementwise.getInputs().size() == 2 &&
        !isWeight(elementwise.getInputs()[1 - use.getOperandNumber()]);
    if (!addsActivation)
      consumersThroughElementwise(elementwise.getResults().front(), found);
  }
}

/// Whether the value comes from an integer input (token ids), not from
/// positions.
static bool isLookupOfInput(GatherOp op) {
  Value v = op.getIndices();
  while (Operation *def = v.getDefiningOp()) {
    if (def->getNumOperands() == 0)
      return false;
    v = def->getOperand(0);
  }
  return true;
}

namespace {
struct SeedTensorParallel
    : public dtrain::impl::SeedTensorParallelBase<SeedTensorParallel> {
  using SeedTensorParallelBase::SeedTensorParallelBase;
  unsigned seeds = 0;

  LogicalResult split(RuleOpInterface op, FactorId f, StringRef what,
                      const SeedAxis &tp, bool uneven) {
    int64_t size = llvm::cantFail(bindRule(op)).sizes[f], n = tp.size();
    int64_t stride = (size + n - 1) / n;
    if (uneven ? stride * (n - 1) >= size : size % n != 0)
      return checkDivides(op, what, size, tp);
    addState(op, tp, OpAxisState::split(f, stride));
    ++seeds;
    return success();
  }

  LogicalResult seedAttention(AttentionOp op, const SeedAxis &tp) {
    return split(op, *op.getRule().find("g"), "key/value heads", tp, false);
  }

  /// Pairs of contractions with nothing but elementwise ops between: the first
  /// by its output; the second then contracts a split factor.
  LogicalResult seedPairs(ArrayRef<DotOp> dots, const SeedAxis &tp) {
    llvm::DenseSet<Operation *> second;
    for (DotOp dot : dots) {
      std::optional<FactorId> f = outputFactor(dot);
      if (second.contains(dot) || !f || !isWeight(dot.getInputs()[1]))
        continue;
      llvm::SetVector<DotOp> next;
      consumersThroughElementwise(dot.getResult(), next);
      if (next.empty())
        continue;
      for (DotOp n : next)
        second.insert(n);
      if (failed(split(dot, *f, "output features", tp, false)))
        return failure();
    }
    return success();
  }

  LogicalResult seedVocabulary(ModuleOp module, const SeedAxis &tp) {
    bool ok = true;
    module.walk([&](GatherOp op) {
      if (isWeight(op.getTable()) && isLookupOfInput(op))
        ok &= succeeded(split(op, *llvm::cantFail(bindRule(op)).rule.find("v"),
                              "rows", tp, true));
    });
    module.walk([&](PickOp op) {
      Value v = op.getInput();
      while (v.getDefiningOp() && isa<ElementwiseOp, MoveOp>(v.getDefiningOp()))
        v = v.getDefiningOp()->getOperand(0);
      auto head = v.getDefiningOp<DotOp>();
      std::optional<FactorId> f = head ? outputFactor(head) : std::nullopt;
      if (f && isWeight(head.getInputs()[1]))
        ok &= succeeded(split(head, *f, "words", tp, true));
    });
    return success(ok);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<std::optional<SeedAxis>> found = seedAxisOf(module, mesh, axis);
    if (failed(found))
      return signalPassFailure();
    if (!*found)
      return;
    const SeedAxis &tp = **found;
    seeds = 0;

    SmallVector<CrossEntropyOp> losses;
    SmallVector<AttentionOp> attentions;
    SmallVector<DotOp> dots;
    module.walk([&](CrossEntropyOp op) { losses.push_back(op); });
    for (CrossEntropyOp op : losses)
      expandCrossEntropy(op);
    module.walk([&](Operation *op) {
      if (auto attention = dyn_cast<AttentionOp>(op);
          attention && attention.getOrigin() == Origin::forward)
        attentions.push_back(attention);
      if (auto dot = dyn_cast<DotOp>(op);
          dot && dot.getOrigin() == Origin::forward)
        dots.push_back(dot);
    });
    for (AttentionOp op : attentions)
      if (failed(seedAttention(op, tp)))
        return signalPassFailure();
    if (failed(seedPairs(dots, tp)) || failed(seedVocabulary(module, tp)))
      return signalPassFailure();
    if (seeds == 0)
      module.emitWarning("nothing to split over ")
          << tp.name() << ": every device of the axis does the same work";
  }
};
} // namespace
