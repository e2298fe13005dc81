//===- Effort.cpp - What interpreting a program takes ---------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Interpreter/Effort.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dtrain;

/// Of the whole tensors, or of one device's blocks.
static double elementsOf(TypeRange types, bool local) {
  double sum = 0;
  for (Type type : types) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      continue;
    double product = 1;
    for (int64_t extent :
         local ? localShapeOf(tensor) : SmallVector<int64_t>(tensor.getShape()))
      product *= static_cast<double>(extent);
    sum += product;
  }
  return sum;
}

/// Multiply-adds, or zero for an op that contracts nothing. On a device: those
/// of its factors' parts.
static double contractedBy(RuleOpInterface op, MeshAttr mesh) {
  BoundRule bound = op.getBoundRule();
  if (!bound.rule.contract)
    return 0;
  SmallVector<double> sizes(bound.sizes.begin(), bound.sizes.end());
  if (OpStateAttr attr = op.getStateAttr(); attr && mesh) {
    llvm::Expected<dtrain::OpState> states = attr.getState(mesh, bound.rule);
    if (!states)
      llvm::consumeError(states.takeError()); // its verifier says so
    else
      for (auto [axis, state] : llvm::enumerate(*states))
        if (state.kind == OpAxisState::Factor)
          sizes[state.factor] /= static_cast<double>(mesh.getSizes()[axis]);
  }
  double sum = 0;
  for (const RuleMonomial &monomial : *bound.rule.contract) {
    double product = monomial.coef / 2;
    for (FactorId f : monomial.factors)
      product *= sizes[f];
    sum += product;
  }
  return sum;
}

namespace {
/// Sums up functions, each once. One that calls itself counts nothing the
/// second time: running it is refused for that.
class Summation {
public:
  explicit Summation(MeshAttr mesh) : mesh(mesh) {}
  double of(func::FuncOp func);

private:
  MeshAttr mesh; // null: on one device
  llvm::DenseMap<Operation *, double> known;
};
} // namespace

double Summation::of(func::FuncOp func) {
  auto [it, isNew] = known.try_emplace(func, 0);
  if (!isNew)
    return it->second;
  bool local = static_cast<bool>(mesh);
  double sum = elementsOf(func.getArgumentTypes(), local);
  func.getBody().walk([&](Operation *op) {
    sum += elementsOf(op->getOperandTypes(), local) +
           elementsOf(op->getResultTypes(), local);
    if (auto rule = dyn_cast<RuleOpInterface>(op))
      sum += contractedBy(rule, mesh);
    if (auto repeat = dyn_cast<RepeatOp>(op))
      if (func::FuncOp body = repeat.getBody())
        sum += static_cast<double>(repeat.getTripCount()) * of(body);
  });
  known[func] = sum;
  return sum;
}

double dtrain::effortOf(RuleOpInterface op) {
  return elementsOf(op->getOperandTypes(), false) +
         elementsOf(op->getResultTypes(), false) + contractedBy(op, MeshAttr());
}

double dtrain::effortOf(func::FuncOp func) {
  return Summation(MeshAttr()).of(func);
}

double dtrain::effortOnMesh(func::FuncOp func, MeshAttr mesh) {
  double devices = 1;
  for (int64_t size : mesh.getSizes())
    devices *= static_cast<double>(size);
  return devices * Summation(mesh).of(func);
}

LogicalResult dtrain::checkEffort(Location loc, double effort, uint64_t limit) {
  if (effort <= static_cast<double>(limit))
    return success();
  return emitError(loc, "too large to run: it takes ")
         << llvm::formatv("{0:e1}", effort).str()
         << " elements and multiply-adds, expected at most "
         << llvm::formatv("{0:e1}", static_cast<double>(limit)).str()
         << "; make it smaller or raise the option 'limit'";
}
