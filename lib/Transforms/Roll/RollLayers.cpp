//===- RollLayers.cpp - Repeated layers become one function ---------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Ops in depth-first order from the results repeat with the period of the
/// layers. Runs of ops that look like those a period earlier are candidates;
/// which of their rotations is the layer is decided by how little it carries
/// and how often it repeats; that it is one is then verified operand by
/// operand.
///
//===----------------------------------------------------------------------===//

#include "RollLayersDetail.h"
#include "dtrain/Support/FindRepeats.h"
#include "dtrain/Transforms/Roll/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::roll;

namespace dtrain {
#define GEN_PASS_DEF_ROLLLAYERS
#include "dtrain/Transforms/Roll/Passes.h.inc"
} // namespace dtrain

/// Runs tried in one function before it is taken to have no layers.
static constexpr unsigned kMaxRuns = 32;

//===----------------------------------------------------------------------===//
// The sequence
//===----------------------------------------------------------------------===//

/// Whether the op makes a layer what it is: a contraction, an attention, a
/// normalisation or another op with statistics; an op of the user's may be
/// anything.
static bool isHeavy(Operation *op) {
  if (isa<RepeatOp, CustomOp>(op))
    return true;
  auto rule = dyn_cast<RuleOpInterface>(op);
  if (!rule)
    return false;
  OpClass cls = rule.getOpClass();
  return cls == OpClass::Contraction || cls == OpClass::Attention ||
         llvm::any_of(rule.getRule().factors, [](const Rule::Factor &f) {
           return f.kind == FactorKind::Stat;
         });
}

/// Which ops are in the sequence. The others belong to no place in it: masks,
/// tables of positions and moves of weights are computed wherever the first
/// layer needs them.
enum class Scope {
  FromInputs,       // what depends on an input or on a contraction
  FromContractions, // what depends on a contraction
  All
};

static bool isInput(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto func = dyn_cast<func::FuncOp>(value.getParentBlock()->getParentOp());
  return argument && func &&
         roleOf(func, argument.getArgNumber()) == Role::input;
}

static llvm::DenseSet<Operation *> findMainOps(Block &block, Scope scope) {
  llvm::DenseSet<Operation *> main;
  for (Operation &op : block.without_terminator()) {
    bool depends = scope == Scope::All || isHeavy(&op);
    for (Value operand : op.getOperands())
      depends |= main.contains(operand.getDefiningOp()) ||
                 (scope == Scope::FromInputs && isInput(operand));
    if (depends)
      main.insert(&op);
  }
  return main;
}

/// Main ops in depth-first order from the results: the same for a layer
/// wherever its ops stand in the file.
static SmallVector<Operation *>
orderOps(Block &block, const llvm::DenseSet<Operation *> &main) {
  SmallVector<Operation *> order;
  llvm::DenseSet<Operation *> seen;
  SmallVector<std::pair<Operation *, unsigned>> stack{
      {block.getTerminator(), 0}};
  while (!stack.empty()) {
    auto &[op, next] = stack.back();
    if (next == op->getNumOperands()) {
      if (op != block.getTerminator())
        order.push_back(op);
      stack.pop_back();
      continue;
    }
    Operation *producer = op->getOperand(next++).getDefiningOp();
    if (producer && main.contains(producer) && seen.insert(producer).second)
      stack.push_back({producer, 0});
  }
  return order;
}

static SmallVector<SequenceOp> describe(ArrayRef<Operation *> order,
                                        Signatures &signatures) {
  llvm::DenseMap<Operation *, int64_t> positions;
  SmallVector<SequenceOp> sequence;
  for (auto [i, op] : llvm::enumerate(order)) {
    positions[op] = static_cast<int64_t>(i);
    SequenceOp &entry = sequence.emplace_back();
    entry.signature = signatures.of(op);
    for (Value operand : op->getOperands()) {
      SequenceOperand &from = entry.operands.emplace_back();
      auto it = positions.find(operand.getDefiningOp());
      if (it == positions.end())
        continue;
      from.distance = static_cast<int64_t>(i) - it->second;
      from.result = cast<OpResult>(operand).getResultNumber();
    }
  }
  return sequence;
}

//===----------------------------------------------------------------------===//
// Rotations
//===----------------------------------------------------------------------===//

/// How many values the second iteration takes from the first.
static unsigned countCarries(const Iteration &first, const Iteration &second) {
  llvm::DenseSet<Operation *> producers(first.begin(), first.end());
  llvm::DenseSet<Value> carried;
  for (Operation *op : second)
    for (Value operand : op->getOperands())
      if (producers.contains(operand.getDefiningOp()))
        carried.insert(operand);
  return carried.size();
}

/// The iterations of a run whose first op is `offset` ops late.
static SmallVector<Iteration> iterationsOf(ArrayRef<Operation *> order,
                                           const RepeatedRun &run,
                                           int64_t offset) {
  SmallVector<Iteration> iterations;
  for (int64_t at = run.start + offset;
       at + run.period <= run.start + run.length; at += run.period)
    iterations.emplace_back(order.slice(at, run.period));
  return iterations;
}

/// The rotations of a run that carry least, those with most iterations first.
static SmallVector<SmallVector<Iteration>>
rotationsOf(ArrayRef<Operation *> order, const RepeatedRun &run,
            Signatures &signatures) {
  struct Rotation {
    unsigned carries;
    int64_t trips, offset;
  };
  SmallVector<Rotation> rotations;
  for (int64_t offset = 0; offset < run.period; ++offset) {
    int64_t base = run.start + offset;
    int64_t trips = (run.length - offset) / run.period;
    if (trips < 2)
      break;
    ArrayRef<Operation *> first = order.slice(base, run.period),
                          second = order.slice(base + run.period, run.period);
    rotations.push_back(
        {countCarries(Iteration(first), Iteration(second)), trips, offset});
  }
  unsigned least = ~0u;
  for (const Rotation &rotation : rotations)
    least = std::min(least, rotation.carries);
  llvm::erase_if(rotations,
                 [&](const Rotation &r) { return r.carries != least; });
  SmallVector<SmallVector<Iteration>> all;
  for (const Rotation &rotation : rotations) {
    SmallVector<Iteration> &iterations =
        all.emplace_back(iterationsOf(order, run, rotation.offset));
    while (true) {
      Iteration previous =
          findPrevious(iterations[0], iterations[1], signatures);
      if (previous.empty())
        break;
      iterations.insert(iterations.begin(), std::move(previous));
    }
  }
  SmallVector<std::pair<int64_t, size_t>> ranks;
  for (auto [i, iterations] : llvm::enumerate(all))
    ranks.push_back({-static_cast<int64_t>(iterations.size()), i});
  llvm::sort(ranks);
  SmallVector<SmallVector<Iteration>> ranked;
  for (auto [trips, i] : ranks)
    ranked.push_back(std::move(all[i]));
  return ranked;
}

/// The most iterations, without gaps, that are one layer.
static std::optional<Layer> verify(ArrayRef<Iteration> iterations,
                                   unsigned minTrips, Signatures &signatures) {
  while (iterations.size() >= minTrips) {
    Layer layer;
    unsigned fit = analyze(iterations, signatures, layer);
    if (fit == iterations.size())
      return layer;
    if (fit >= minTrips)
      iterations = iterations.take_front(fit);
    else
      iterations = iterations.drop_front(fit);
  }
  return std::nullopt;
}

/// The layer that the longest run with one has.
static std::optional<Layer> findLayer(ArrayRef<Operation *> order,
                                      unsigned minTrips) {
  Signatures signatures;
  SmallVector<RepeatedRun> runs = findRuns(describe(order, signatures));
  for (const RepeatedRun &run : ArrayRef(runs).take_front(kMaxRuns))
    for (const SmallVector<Iteration> &iterations :
         rotationsOf(order, run, signatures)) {
      std::optional<Layer> layer = verify(iterations, minTrips, signatures);
      // A layer has weights or contracts; a chain of the same function is none.
      if (layer && (!layer->rows.empty() ||
                    llvm::any_of(layer->iterations.front(), isHeavy)))
        return layer;
    }
  return std::nullopt;
}

/// How many ops rolling replaces.
static size_t coverageOf(const Layer &layer) {
  return layer.iterations.size() *
         (layer.iterations.front().size() + layer.sides.size());
}

/// The layer that covers most ops, of those the one that carries least.
static std::optional<Layer> findLayer(Block &block, unsigned minTrips) {
  std::optional<Layer> best;
  for (Scope scope : {Scope::FromInputs, Scope::FromContractions, Scope::All}) {
    SmallVector<Operation *> order = orderOps(block, findMainOps(block, scope));
    std::optional<Layer> layer = findLayer(order, minTrips);
    if (!layer)
      continue;
    auto rank = [](const Layer &l) {
      return std::pair(coverageOf(l), -static_cast<int>(l.carries.size()));
    };
    if (!best || rank(*best) < rank(*layer))
      best = std::move(layer);
    // Nothing else can be much better.
    if (best->carries.size() == 1 && 2 * coverageOf(*best) > order.size())
      break;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct RollLayersPass : dtrain::impl::RollLayersBase<RollLayersPass> {
  using RollLayersBase::RollLayersBase;

  void runOnOperation() override {
    if (minTrips < 2) {
      getOperation().emitError("expected at least 2 trips, found ")
          << minTrips.getValue();
      return signalPassFailure();
    }
    SmallVector<func::FuncOp> funcs;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (!func.isPrivate() && !func.isExternal() &&
          llvm::hasSingleElement(func.getBody()))
        funcs.push_back(func);
    for (func::FuncOp func : funcs)
      roll(func);
  }

  void roll(func::FuncOp func) {
    Block &block = func.getBody().front();
    while (true) {
      for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
        if (isOpTriviallyDead(&op))
          op.erase();
      std::optional<Layer> layer = findLayer(block, minTrips);
      if (!layer)
        return;
      size_t ops = layer->iterations.front().size() + layer->sides.size();
      RepeatOp repeat = outline(func, *layer);
      emitRemark(repeat.getLoc(), "rolled ")
          << repeat.getTripCount() << " layers of " << ops << " ops into "
          << repeat.getCalleeAttr();
    }
  }
};
} // namespace
