//===- SetPrecision.cpp - The type that the step computes in --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/Questions.h"
#include "dtrain/Transforms/Train/Passes.h"
#include "dtrain/Transforms/Utils/RepeatUtils.h"

using namespace mlir;
using namespace dtrain;

namespace dtrain {
#define GEN_PASS_DEF_SETPRECISION
#include "dtrain/Transforms/Train/Passes.h.inc"
} // namespace dtrain

FloatType dtrain::floatTypeOf(MLIRContext *context, ComputeType type) {
  switch (type) {
  case ComputeType::bf16:
    return BFloat16Type::get(context);
  case ComputeType::f16:
    return Float16Type::get(context);
  case ComputeType::f32:
    return Float32Type::get(context);
  }
  llvm_unreachable("not a compute type");
}

static bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

namespace {
/// The values that stay f32: the statistics and losses, and what follows from
/// them. They grow to a fixpoint, since a repeat ties values of its caller to
/// those of its body.
class KeptValues {
public:
  explicit KeptValues(ModuleOp module) {
    do {
      changed = false;
      module.walk([&](Operation *op) { visit(op); });
    } while (changed);
  }
  bool contains(Value value) const { return kept.contains(value); }

private:
  void keep(Value value) {
    if (isFloat(value) && kept.insert(value).second)
      changed = true;
  }
  /// One type for two values.
  void tie(Value a, Value b) {
    if (contains(a) || contains(b)) {
      keep(a);
      keep(b);
    }
  }
  void visit(Operation *op);
  void visitRepeat(RepeatOp op);

  DenseSet<Value> kept;
  bool changed = false;
};
} // namespace

void KeptValues::visit(Operation *op) {
  if (auto repeat = dyn_cast<RepeatOp>(op))
    return visitRepeat(repeat);
  if (auto iface = dyn_cast<RuleOpInterface>(op)) {
    // What statistics stand beside is of the compute type whatever it reads.
    Rule rule = iface.getRule();
    bool hasStatistic = false;
    for (unsigned j = 0; j < op->getNumResults(); ++j)
      if (rule.isStatistic(j)) {
        keep(op->getResult(j));
        hasStatistic = true;
      }
    if (hasStatistic)
      return;
  }
  if (op->hasTrait<OpTrait::IsTerminator>() ||
      llvm::none_of(op->getOperands(), [&](Value v) { return contains(v); }))
    return;
  for (Value v : op->getResults())
    keep(v);
  // A constant has the type of what it meets.
  for (Value v : op->getOperands())
    if (isGenerated(v.getDefiningOp()))
      keep(v);
}

void KeptValues::visitRepeat(RepeatOp op) {
  func::FuncOp body = op.getBody();
  if (!body || body.isExternal())
    return;
  Operation *ret = body.front().getTerminator();
  for (auto [operand, argument] :
       llvm::zip_equal(op.getOperands(), body.getArguments()))
    tie(operand, argument);
  for (auto [result, returned] :
       llvm::zip_equal(op.getResults(), ret->getOperands()))
    tie(result, returned);
  unsigned first = op.getCarry().size() + op.getStacked().size();
  for (auto [i, init] : llvm::enumerate(op.getCarry()))
    tie(init, ret->getOperand(i));
  for (auto [i, init] : llvm::enumerate(op.getInout()))
    tie(body.getArgument(first + i), ret->getOperand(op.getCarry().size() + i));
}

namespace {
struct SetPrecisionPass
    : public dtrain::impl::SetPrecisionBase<SetPrecisionPass> {
  using SetPrecisionBase::SetPrecisionBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (std::optional<Phase> phase = phaseOf(module);
        phase && *phase != Phase::import) {
      module.emitError("the precision is set before differentiation: expected "
                       "phase import, found ")
          << stringifyPhase(*phase);
      return signalPassFailure();
    }
    KeptValues kept(module);
    FloatType compute = floatTypeOf(&getContext(), precision),
              single = Float32Type::get(&getContext());
    auto set = [&](Value value) {
      if (isFloat(value))
        value.setType(
            tensorType(value).clone(kept.contains(value) ? single : compute));
    };
    module.walk([&](Operation *op) {
      for (Value result : op->getResults())
        set(result);
      auto func = dyn_cast<func::FuncOp>(op);
      if (!func || func.isExternal())
        return;
      for (Value argument : func.getArguments())
        set(argument);
    });
    module.walk([&](func::FuncOp func) {
      if (!func.isExternal())
        updateFunctionType(func);
    });
  }
};
} // namespace
