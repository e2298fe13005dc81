//===- Kernel.cpp - Geometry and dispatch of kernels ----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <numeric>

using namespace mlir;
using namespace dtrain;

//===----------------------------------------------------------------------===//
// Geometry
//===----------------------------------------------------------------------===//

Kernel::Kernel(const KernelCall &call) : call(call) {
  for (const RuleTerm &term : rule().operands)
    addStrides(term);
  for (const RuleTerm &term : rule().results) {
    addStrides(term);
    results.emplace_back(localShape(term));
  }
}

SmallVector<int64_t> Kernel::localShape(const RuleTerm &term) const {
  SmallVector<int64_t> shape;
  for (const RuleDim &dim : term) {
    shape.push_back(1);
    for (FactorId f : dim.factors)
      shape.back() *= extent(f);
  }
  return shape;
}

void Kernel::addStrides(const RuleTerm &term) {
  SmallVector<int64_t, 8> stride(rule().factors.size(), 0);
  int64_t minor = 1;
  SmallVector<FactorId> factors = factorsOf(term);
  for (FactorId f : llvm::reverse(factors)) {
    stride[f] = minor;
    minor *= extent(f);
  }
  strides.push_back(std::move(stride));
}

llvm::Error Kernel::checkOperands() const {
  for (unsigned i = 0; i < numOperands(); ++i) {
    SmallVector<int64_t> expected = localShape(rule().operands[i]);
    if (operand(i).getShape() != ArrayRef<int64_t>(expected))
      return llvm::createStringError(llvm::formatv(
          "operand #{0}: expected a block of [{1:$[, ]}], found [{2:$[, ]}]", i,
          llvm::make_range(expected.begin(), expected.end()),
          llvm::make_range(operand(i).getShape().begin(),
                           operand(i).getShape().end())));
  }
  return llvm::Error::success();
}

llvm::Error Kernel::checkWhole(ArrayRef<FactorId> factors) const {
  for (FactorId f : factors)
    if (extent(f) != globalSize(f))
      return llvm::createStringError(
          llvm::formatv("expected all {0} of '{1}', found {2}", globalSize(f),
                        rule().factors[f].name, extent(f)));
  return llvm::Error::success();
}

SmallVector<FactorId> Kernel::factorsOf(const RuleTerm &term) const {
  SmallVector<FactorId> list;
  for (const RuleDim &dim : term)
    llvm::append_range(list, dim.factors);
  return list;
}

SmallVector<FactorId> Kernel::allFactors() const {
  SmallVector<FactorId> list(rule().factors.size());
  std::iota(list.begin(), list.end(), 0);
  return list;
}

llvm::Expected<std::optional<int64_t>> Kernel::locate(FactorId f,
                                                      double value) const {
  int64_t index = static_cast<int64_t>(value);
  if (!(value >= 0 && value < globalSize(f)) || index != value)
    return llvm::createStringError(llvm::formatv(
        "index {0} is not one of the {1} of '{2}'", llvm::format("%g", value),
        globalSize(f), rule().factors[f].name));
  ArrayRef<int64_t> held = call.index[f];
  const int64_t *it = llvm::lower_bound(held, index);
  if (it == held.end() || *it != index)
    return std::nullopt;
  return it - held.begin();
}

void Kernel::advance(Point &p, FactorId f, int64_t by) const {
  p.position[f] += by;
  for (auto [offset, stride] : llvm::zip_equal(p.offset, strides))
    offset += by * stride[f];
}

Point Kernel::origin() const {
  Point p;
  p.position.assign(rule().factors.size(), 0);
  p.offset.assign(strides.size(), 0);
  return p;
}

SmallVector<FactorId> dtrain::except(ArrayRef<FactorId> factors,
                                     ArrayRef<FactorId> without) {
  return llvm::filter_to_vector(
      factors, [&](FactorId f) { return !llvm::is_contained(without, f); });
}

//===----------------------------------------------------------------------===//
// Dispatch
//===----------------------------------------------------------------------===//

static llvm::Error dispatch(Operation *op, Kernel &k) {
  if (Dialect *dialect = op->getDialect())
    if (auto *kernels =
            dialect->getRegisteredInterface<KernelDialectInterface>())
      return kernels->run(op, k);
  auto done = [](auto &&run) {
    run();
    return llvm::Error::success();
  };
  return llvm::TypeSwitch<Operation *, llvm::Error>(op)
      .Case<DotOp>([&](auto) { return done([&] { runDot(k); }); })
      .Case<ReductionOp>(
          [&](auto o) { return done([&] { runReduction(k, o); }); })
      .Case<AttentionOp>(
          [&](auto o) { return done([&] { runAttention(k, o); }); })
      .Case<AttentionGradOp>(
          [&](auto o) { return done([&] { runAttentionGrad(k, o); }); })
      .Case<ElementwiseOp>(
          [&](auto o) { return done([&] { runElementwise(k, o); }); })
      .Case<UpdateOp>([&](auto o) { return done([&] { runUpdate(k, o); }); })
      .Case<SoftmaxOp>([&](auto) { return done([&] { runSoftmax(k); }); })
      .Case<SoftmaxGradOp>(
          [&](auto) { return done([&] { runSoftmaxGrad(k); }); })
      .Case<NormalizeOp>(
          [&](auto o) { return done([&] { runNormalize(k, o); }); })
      .Case<NormalizeGradOp>(
          [&](auto o) { return done([&] { runNormalizeGrad(k, o); }); })
      .Case<SumExpOp>([&](auto) { return done([&] { runSumExp(k); }); })
      .Case<GatherOp>([&](auto) { return runGather(k); })
      .Case<ScatterAddOp>([&](auto) { return runScatterAdd(k); })
      .Case<PickOp>([&](auto) { return runPick(k); })
      .Case<CrossEntropyOp>([&](auto) { return runCrossEntropy(k); })
      .Case<CrossEntropyGradOp>([&](auto) { return runCrossEntropyGrad(k); })
      .Case<RotaryOp>([&](auto o) { return runRotary(k, o); })
      .Case<MoveOp>([&](auto) { return done([&] { runMove(k); }); })
      .Case<ConcatOp>([&](auto o) { return runConcat(k, o); })
      .Case<SliceOp>([&](auto o) { return runSlice(k, o); })
      .Case<PadOp>([&](auto o) { return runPad(k, o); })
      .Case<ConstantOp>(
          [&](auto o) { return done([&] { runConstant(k, o); }); })
      .Case<IotaOp>([&](auto o) { return done([&] { runIota(k, o); }); })
      .Default([](Operation *o) {
        return llvm::createStringError("'" + o->getName().getStringRef() +
                                       "' has no kernel");
      });
}

llvm::Expected<SmallVector<Tensor>> dtrain::runKernel(const KernelCall &call) {
  Kernel k(call);
  if (llvm::Error error = k.checkOperands())
    return error;
  if (llvm::Error error = dispatch(call.op, k))
    return error;
  return k.takeResults();
}
