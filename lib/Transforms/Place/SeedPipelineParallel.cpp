//===- SeedPipelineParallel.cpp - Cut the layers into stages --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Seeding.h"
#include "dtrain/IR/DTrain/Questions.h"
#include "dtrain/Model/Work.h"
#include "dtrain/Transforms/Place/Passes.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_SEEDPIPELINEPARALLEL
#include "dtrain/Transforms/Place/Passes.h.inc"
} // namespace dtrain

/// FLOPs of the contractions of one op, whole mesh.
static double contractionFlops(Operation *op) {
  auto rule = dyn_cast<RuleOpInterface>(op);
  if (!rule)
    return 0;
  // Bytes do not matter here.
  Work work = workOf(llvm::cantFail(bindRule(op)),
                     SmallVector<double>(op->getNumOperands()),
                     SmallVector<double>(op->getNumResults()), {});
  return work.total(work.contract);
}

static double contractionFlopsOf(RepeatOp repeat) {
  double flops = 0;
  for (Operation &op : repeat.getBody().getBody().front())
    flops += contractionFlops(&op);
  return flops * repeat.getTripCount();
}

namespace {

/// Cuts one repeat and its backward into pinned pieces.
class RepeatCutter {
public:
  RepeatCutter(RepeatOp forward, RepeatOp backward, const SeedAxis &pp,
               int64_t chunks)
      : forward(forward), backward(backward), pp(pp),
        pieces(pp.size() * chunks) {}

  LogicalResult run() {
    int64_t layers = forward.getTripCount();
    if (layers % pieces != 0)
      return forward.emitError()
             << layers << " layers cannot be cut into " << pieces
             << " equal pieces (" << pp.name() << " = " << pp.size() << ", "
             << pieces / pp.size()
             << " chunks each); the nearest feasible number of pieces is "
             << nearestDivisor(layers, pieces);
    for (Value output : forward.getOutputs())
      for (Operation *user : output.getUsers())
        if (user != backward)
          return user->emitOpError("uses a saved value of the layers that a "
                                   "pipeline would scatter over stages");
    cutForward();
    if (backward)
      cutBackward();
    return success();
  }

private:
  RepeatOp forward, backward;
  const SeedAxis &pp;
  int64_t pieces;
  /// Saved values of each piece, by output.
  std::vector<SmallVector<Value>> outputs;

  /// A piece of `repeat` over its k-th range, with these operands by segment.
  RepeatOp createPiece(OpBuilder &b, RepeatOp repeat, int64_t k,
                       ValueRange carry, ValueRange stacked, ValueRange inout) {
    int64_t size = repeat.getTripCount() / pieces;
    int64_t from = static_cast<int64_t>(repeat.getFrom()) + k * size;
    SmallVector<Type> types(ValueRange(carry).getTypes());
    llvm::append_range(types, inout.getTypes());
    for (Value output : repeat.getOutputs()) {
      RankedTensorType type = tensorType(output);
      SmallVector<int64_t> shape(type.getShape());
      shape.front() = size;
      types.push_back(RankedTensorType::get(shape, type.getElementType()));
    }
    return RepeatOp::create(
        b, repeat.getLoc(), types, repeat.getCalleeAttr(),
        b.getI64IntegerAttr(from), b.getI64IntegerAttr(from + size), carry,
        stacked, inout, repeat.getShared(), repeat.getReverseAttr(),
        b.getStringAttr(pp.name()), b.getI64IntegerAttr(k % pp.size()),
        OriginAttr::get(b.getContext(), repeat.getOrigin()));
  }

  void cutForward() {
    OpBuilder b(forward);
    SmallVector<Value> carry(forward.getCarry()), inout(forward.getInout());
    for (int64_t k = 0; k < pieces; ++k) {
      RepeatOp piece =
          createPiece(b, forward, k, carry, forward.getStacked(), inout);
      carry.assign(piece.getCarryResults().begin(),
                   piece.getCarryResults().end());
      inout.assign(piece.getInoutResults().begin(),
                   piece.getInoutResults().end());
      outputs.emplace_back(piece.getOutputs());
    }
    forward.getCarryResults().replaceAllUsesWith(carry);
    forward.getInoutResults().replaceAllUsesWith(inout);
  }

  void cutBackward() {
    OpBuilder b(backward);
    SmallVector<Value> carry(backward.getCarry()), inout(backward.getInout());
    unsigned firstOutput =
        forward.getNumResults() - forward.getOutputs().size();
    for (int64_t k = pieces - 1; k >= 0; --k) {
      SmallVector<Value> stacked;
      for (Value v : backward.getStacked()) {
        auto result = dyn_cast<OpResult>(v);
        bool saved = result && result.getOwner() == forward;
        stacked.push_back(
            saved ? outputs[k][result.getResultNumber() - firstOutput] : v);
      }
      RepeatOp piece = createPiece(b, backward, k, carry, stacked, inout);
      carry.assign(piece.getCarryResults().begin(),
                   piece.getCarryResults().end());
      inout.assign(piece.getInoutResults().begin(),
                   piece.getInoutResults().end());
    }
    backward.getCarryResults().replaceAllUsesWith(carry);
    backward.getInoutResults().replaceAllUsesWith(inout);
    backward.erase();
    forward.erase();
  }
};

/// Stages of a program in which nothing repeats.
class OpCutter {
public:
  OpCutter(func::FuncOp func, const SeedAxis &pp) : func(func), pp(pp) {}

  LogicalResult run() {
    double total = 0;
    unsigned contractions = 0;
    for (Operation &op : func.getBody().front())
      if (isForward(&op)) {
        double flops = contractionFlops(&op);
        total += flops;
        contractions += flops > 0;
      }
    if (contractions < pp.size())
      return func.emitError()
             << contractions << " contractions cannot be cut into " << pp.name()
             << " = " << pp.size() << " stages; the nearest feasible number is "
             << std::max(1u, contractions);
    double before = 0;
    unsigned seen = 0;
    for (Operation &op : func.getBody().front()) {
      if (!isForward(&op) || op.getNumOperands() == 0)
        continue;
      double flops = contractionFlops(&op);
      // By FLOPs, but never so late that a later stage goes without.
      int64_t stage =
          std::min<int64_t>(before * pp.size() / total, pp.size() - 1);
      stage = std::clamp<int64_t>(
          stage, static_cast<int64_t>(pp.size()) - (contractions - seen),
          pp.size() - 1);
      assign(&op, std::max<int64_t>(stage, latestOperand(&op)));
      before += flops;
      seen += flops > 0;
    }
    findParameterSums();
    for (Operation &op : func.getBody().front())
      if (isa<RuleOpInterface>(op) && !isForward(&op) &&
          !parameterSums.contains(&op))
        if (std::optional<int64_t> stage = backwardStage(&op))
          assign(&op, *stage);
    return success();
  }

private:
  func::FuncOp func;
  const SeedAxis &pp;
  DenseMap<Operation *, int64_t> stages;
  llvm::DenseSet<Operation *> parameterSums;

  static bool isForward(Operation *op) {
    auto rule = dyn_cast<RuleOpInterface>(op);
    return rule && rule.getOrigin() == Origin::forward;
  }

  void assign(Operation *op, int64_t stage) {
    stages[op] = stage;
    addState(cast<RuleOpInterface>(op), pp, OpAxisState::pinned({stage}));
  }

  int64_t latestOperand(Operation *op) {
    int64_t latest = 0;
    for (Value v : op->getOperands())
      if (Operation *def = v.getDefiningOp())
        latest = std::max(latest, stages.lookup(def));
    return latest;
  }

  /// Sums of gradients of one parameter stay partial over its stages: they are
  /// left to propagation.
  void findParameterSums() {
    SmallVector<Value> work(
        func.getBody().front().getTerminator()->getOperands());
    while (!work.empty()) {
      Value v = work.pop_back_val();
      Operation *op = v.getDefiningOp();
      if (!op || isForward(op) || (!addsUp(op) && !isConversion(op)) ||
          !parameterSums.insert(op).second)
        continue;
      llvm::append_range(work, op->getOperands());
    }
  }

  /// A backward op belongs where its forward values are used; without any,
  /// where its gradients come from.
  std::optional<int64_t> backwardStage(Operation *op) {
    std::optional<int64_t> fromForward, fromBackward;
    for (Value v : op->getOperands()) {
      Operation *def = v.getDefiningOp();
      if (def && !isForward(def)) {
        if (stages.count(def))
          fromBackward =
              std::min(fromBackward.value_or(stages[def]), stages[def]);
        continue;
      }
      std::optional<int64_t> used;
      for (Operation *user : v.getUsers())
        if (isForward(user) && stages.count(user))
          used = std::min(used.value_or(stages[user]), stages[user]);
      if (used)
        fromForward = std::max(fromForward.value_or(*used), *used);
    }
    return fromForward ? fromForward : fromBackward;
  }
};

struct SeedPipelineParallel
    : public dtrain::impl::SeedPipelineParallelBase<SeedPipelineParallel> {
  using SeedPipelineParallelBase::SeedPipelineParallelBase;

  /// The repeat that runs backward through the layers of `forward`.
  static RepeatOp backwardOf(func::FuncOp func, RepeatOp forward) {
    for (RepeatOp repeat : func.getBody().front().getOps<RepeatOp>())
      if (repeat.getOrigin() == Origin::backward &&
          repeat.getFrom() == forward.getFrom() &&
          repeat.getTo() == forward.getTo())
        for (Value v : repeat.getStacked())
          if (v.getDefiningOp() == forward ||
              llvm::is_contained(forward.getStacked(), v))
            return repeat;
    return {};
  }

  void runOnOperation() override {
    FailureOr<std::optional<SeedAxis>> found =
        seedAxisOf(getOperation(), mesh, axis);
    FailureOr<func::FuncOp> func = microbatchOf(getOperation());
    if (failed(found) || failed(func))
      return signalPassFailure();
    if (!*found) {
      if (chunks > 1) {
        getOperation().emitError("chunks = ")
            << chunks.getValue() << " needs a pipeline axis \""
            << axis.getValue() << "\" of at least 2";
        signalPassFailure();
      }
      return;
    }
    const SeedAxis &pp = **found;
    if (chunks < 1) {
      getOperation().emitError("chunks: expected a positive number, found ")
          << chunks.getValue();
      return signalPassFailure();
    }
    RepeatOp dominant;
    double most = 0;
    for (RepeatOp repeat : func->getBody().front().getOps<RepeatOp>()) {
      if (repeat.getOrigin() != Origin::forward)
        continue;
      double flops = contractionFlopsOf(repeat);
      if (dominant && flops <= most)
        continue;
      dominant = repeat;
      most = flops;
    }
    if (dominant) {
      if (failed(RepeatCutter(dominant, backwardOf(*func, dominant), pp, chunks)
                     .run()))
        signalPassFailure();
      return;
    }
    if (chunks > 1) {
      func->emitError("interleaving needs repeated layers: run "
                      "dtrain-roll-layers, or take 1 chunk");
      return signalPassFailure();
    }
    if (failed(OpCutter(*func, pp).run()))
      signalPassFailure();
  }
};

} // namespace
