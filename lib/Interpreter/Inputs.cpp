//===- Inputs.cpp - Random values that an op accepts ----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Interpreter/Inputs.h"
#include "dtrain/IR/DTrain/Questions.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtrain;

static Domain integers(int64_t extent) { return {Domain::Integer, extent}; }

static Domain elementwiseDomain(Elementwise kind, unsigned operand) {
  switch (kind) {
  case Elementwise::log:
  case Elementwise::sqrt:
  case Elementwise::rsqrt:
  case Elementwise::reciprocal:
  case Elementwise::power:
    return {Domain::Positive};
  case Elementwise::div:
  case Elementwise::power_grad:
    return {operand == 1 ? Domain::Positive : Domain::Real};
  // Few values, so that some are equal.
  case Elementwise::equal:
  case Elementwise::logical_not:
  case Elementwise::logical_and:
  case Elementwise::logical_or:
    return integers(2);
  case Elementwise::where:
    return operand == 0 ? integers(2) : Domain();
  default:
    return {};
  }
}

Domain dtrain::domainOf(OpOperand &operand) {
  unsigned i = operand.getOperandNumber();
  // Operands of indices are within the extent of their factor.
  if (auto op = dyn_cast<RuleOpInterface>(operand.getOwner())) {
    BoundRule bound = op.getBoundRule();
    for (auto [indices, f] : bound.rule.index)
      if (indices == i)
        return integers(bound.sizes[f]);
  }
  Domain domain =
      llvm::TypeSwitch<Operation *, Domain>(operand.getOwner())
          .Case<ElementwiseOp>([&](ElementwiseOp op) {
            return elementwiseDomain(op.getKind(), i);
          })
          .Case<UpdateOp>([&](UpdateOp op) {
            // The second moment is a mean of squares.
            bool squares = op.getKind() == Optimizer::adamw && i == 2;
            return Domain{squares ? Domain::Positive : Domain::Real};
          })
          .Default(Domain());
  Type element = tensorType(operand.get()).getElementType();
  if (domain.kind == Domain::Real && isa<IntegerType>(element))
    return integers(2);
  return domain;
}

/// The values that carry the elements of an operand on, unchanged.
static void forEachHandedOn(OpOperand &use, llvm::function_ref<void(Value)> f) {
  unsigned i = use.getOperandNumber();
  llvm::TypeSwitch<Operation *>(use.getOwner())
      .Case<RepeatOp>([&](RepeatOp op) {
        if (func::FuncOp body = op.getBody())
          f(body.getArgument(i));
      })
      .Case<ReshardOp, CommOpInterface>(
          [&](Operation *op) { f(op->getResult(0)); })
      .Case<RuleOpInterface>([&](RuleOpInterface op) {
        if (llvm::is_contained(op.getRule().copy, i))
          f(op->getResult(0));
      });
}

static void narrow(Value value, Domain &domain,
                   llvm::SmallDenseSet<Value> &seen) {
  if (!seen.insert(value).second)
    return;
  for (OpOperand &use : value.getUses()) {
    bool handedOn = false;
    forEachHandedOn(use, [&](Value next) {
      handedOn = true;
      narrow(next, domain, seen);
    });
    Domain of = handedOn ? Domain() : domainOf(use);
    if (of.kind == Domain::Integer && domain.kind == Domain::Integer)
      domain.extent = std::min(domain.extent, of.extent);
    else if (of.kind > domain.kind)
      domain = of;
  }
}

Domain dtrain::domainOf(Value value) {
  Domain domain;
  llvm::SmallDenseSet<Value> seen;
  narrow(value, domain, seen);
  if (domain.kind != Domain::Integer &&
      isa<IntegerType>(tensorType(value).getElementType()))
    return integers(2);
  return domain;
}

Tensor dtrain::randomTensor(ArrayRef<int64_t> shape, Domain domain,
                            std::mt19937_64 &random) {
  std::uniform_real_distribution<double> real(-1, 1), positive(0.5, 1.5);
  std::uniform_int_distribution<int64_t> integer(
      0, std::max<int64_t>(domain.extent - 1, 0));
  Tensor tensor(shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    tensor[i] = domain.kind == Domain::Integer    ? integer(random)
                : domain.kind == Domain::Positive ? positive(random)
                                                  : real(random);
  return tensor;
}

SmallVector<Tensor> dtrain::randomArguments(func::FuncOp func,
                                            std::mt19937_64 &random) {
  SmallVector<Tensor> tensors;
  for (auto [i, argument] : llvm::enumerate(func.getArguments())) {
    Domain domain = domainOf(argument);
    if (roleOf(func, i) == Role::moment)
      domain = {Domain::Positive};
    tensors.push_back(
        randomTensor(tensorType(argument).getShape(), domain, random));
  }
  return tensors;
}
