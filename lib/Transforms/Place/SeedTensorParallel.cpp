//===- SeedTensorParallel.cpp - Split heads, widths, vocabulary -----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Seeding.h"
#include "dtrain/IR/DTrain/Questions.h"
#include "dtrain/Transforms/Place/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_SEEDTENSORPARALLEL
#include "dtrain/Transforms/Place/Passes.h.inc"
} // namespace dtrain

/// Whether the value is a trainable weight here: an argument, perhaps moved.
static bool isWeight(Value v) {
  while (Operation *op = v.getDefiningOp()) {
    if (!movesData(op))
      return false;
    v = op->getOperand(0);
  }
  return true;
}

/// Whether the value comes from an input (token ids), not from positions.
static bool isOfInput(Value v) {
  while (Operation *def = v.getDefiningOp()) {
    if (def->getNumOperands() == 0)
      return false;
    v = def->getOperand(0);
  }
  return true;
}

namespace {
/// A contraction of activations and a weight.
struct Product {
  RuleOpInterface op;
  Rule rule;

  /// None unless the op is one.
  static std::optional<Product> of(Operation *op) {
    if (!isOfClass(op, OpClass::Contraction) || op->getNumOperands() < 2 ||
        !isWeight(op->getOperand(1)))
      return std::nullopt;
    auto iface = cast<RuleOpInterface>(op);
    return Product{iface, llvm::cantFail(bindRule(op)).rule};
  }

  /// The result's last dimension, where it is one of the weight's alone.
  std::optional<FactorId> outputFactor() const {
    const RuleTerm &result = rule.results[0];
    if (result.empty() || result.back().factors.size() != 1)
      return std::nullopt;
    FactorId f = result.back().factors[0];
    return Rule::dimOf(rule.operands[1], f) && !Rule::dimOf(rule.operands[0], f)
               ? std::optional(f)
               : std::nullopt;
  }
  /// Whether the activations' last dimension is contracted.
  bool contractsLast() const {
    const RuleTerm &x = rule.operands[0];
    return !x.empty() && x.back().factors.size() == 1 &&
           rule.reducedIn(x.back().factors[0], 0) &&
           Rule::dimOf(rule.operands[1], x.back().factors[0]);
  }
};
} // namespace

static bool isForward(Operation *op) {
  auto rule = dyn_cast<RuleOpInterface>(op);
  return rule && rule.getOrigin() == Origin::forward;
}

/// The contractions that consume `v` in their last dimension through ops that
/// work on each element alone.
static void consumersThroughElementwise(Value v,
                                        llvm::SetVector<Operation *> &found) {
  for (OpOperand &use : v.getUses()) {
    Operation *user = use.getOwner();
    if (!isForward(user))
      continue;
    if (isOfClass(user, OpClass::Contraction)) {
      std::optional<Product> product = Product::of(user);
      if (product && use.getOperandNumber() == 0 && product->contractsLast())
        found.insert(user);
      continue;
    }
    if (!isElementwise(user))
      continue;
    bool addsActivation =
        addsUp(user) && user->getNumOperands() == 2 &&
        !isWeight(user->getOperand(1 - use.getOperandNumber()));
    if (!addsActivation)
      consumersThroughElementwise(user->getResult(0), found);
  }
}

/// The contraction that gives `v`, through views and ops that work on each
/// element alone.
static std::optional<Product> productBehind(Value v) {
  while (Operation *op = v.getDefiningOp()) {
    if (!isElementwise(op) && !isView(op))
      return Product::of(op);
    v = op->getOperand(0);
  }
  return std::nullopt;
}

/// Losses over a vocabulary that may be split give way to their expansions: ops
/// that look up labels in a factor which they need whole otherwise.
static LogicalResult expandLookups(ModuleOp module) {
  SmallVector<RuleOpInterface> found;
  module.walk([&](RuleOpInterface op) {
    Rule rule = op.getRule();
    if (llvm::any_of(rule.index, [&](const auto &indexed) {
          return rule.factors[indexed.second].kind == FactorKind::Stat;
        }))
      found.push_back(op);
  });
  for (RuleOpInterface op : found)
    if (failed(expandOp(op)))
      return op->emitOpError(
          "has a 'stat' factor in its rule and no expansion");
  return success();
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

  LogicalResult seedAttentions(ModuleOp module, const SeedAxis &tp) {
    bool ok = true;
    module.walk([&](AttentionOpInterface op) {
      if (isOfClass(op, OpClass::Attention) && isForward(op))
        ok = ok && succeeded(split(cast<RuleOpInterface>(op.getOperation()),
                                   op.getAttentionFactors().heads,
                                   "key/value heads", tp, false));
    });
    return success(ok);
  }

  /// Pairs of contractions with nothing but elementwise ops between: the first
  /// by its output; the second then contracts a split factor.
  LogicalResult seedPairs(ModuleOp module, const SeedAxis &tp) {
    llvm::DenseSet<Operation *> second;
    bool ok = true;
    module.walk([&](RuleOpInterface op) {
      std::optional<Product> product = isForward(op) && !second.contains(op)
                                           ? Product::of(op)
                                           : std::nullopt;
      std::optional<FactorId> f =
          product ? product->outputFactor() : std::nullopt;
      if (!ok || !f)
        return;
      llvm::SetVector<Operation *> next;
      consumersThroughElementwise(op->getResult(0), next);
      if (next.empty())
        return;
      second.insert(next.begin(), next.end());
      ok = succeeded(split(op, *f, "output features", tp, false));
    });
    return success(ok);
  }

  /// The tables in which an input's indices are looked up, and the contractions
  /// in whose results the labels' are.
  LogicalResult seedLookups(ModuleOp module, const SeedAxis &tp) {
    bool ok = true;
    auto seed = [&](RuleOpInterface op, const Rule &rule, unsigned indices,
                    FactorId f) {
      OpOperand *table = operandWith(op, rule, f);
      if (!table || !rule.reducedIn(f, 0))
        return;
      if (isWeight(table->get())) {
        if (isOfInput(op->getOperand(indices)))
          ok &= succeeded(split(op, f, "rows", tp, true));
        return;
      }
      std::optional<Product> head = productBehind(table->get());
      if (std::optional<FactorId> words =
              head ? head->outputFactor() : std::nullopt)
        ok &= succeeded(split(head->op, *words, "words", tp, true));
    };
    module.walk([&](RuleOpInterface op) {
      Rule rule = op.getRule();
      if (rule.index.empty())
        return;
      rule = llvm::cantFail(bindRule(op)).rule;
      for (auto [indices, f] : rule.index)
        seed(op, rule, indices, f);
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

    if (failed(expandLookups(module)) || failed(seedAttentions(module, tp)) ||
        failed(seedPairs(module, tp)) || failed(seedLookups(module, tp)))
      return signalPassFailure();
    if (seeds == 0)
      module.emitWarning("nothing to split over ")
          << tp.name() << ": every device of the axis does the same work";
  }
};
} // namespace
