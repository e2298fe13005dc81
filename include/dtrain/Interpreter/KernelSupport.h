//===- KernelSupport.h - Loops over the points of an op ---------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

///
/// \file
/// What kernels are written with. A dialect outside dtrain brings kernels of
/// its own by KernelDialectInterface.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_INTERPRETER_KERNELSUPPORT_H
#define DTRAIN_INTERPRETER_KERNELSUPPORT_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "dtrain/Interpreter/Kernel.h"
#include "mlir/IR/DialectInterface.h"

namespace dtrain {

/// A point of the local iteration space: the position of every factor within
/// its index set, and the flat offset into every operand and result.
struct Point {
  llvm::SmallVector<int64_t, 8> position;
  llvm::SmallVector<int64_t, 8> offset;
};

/// The geometry of a call: local extents, strides and results.
class Kernel {
public:
  explicit Kernel(const KernelCall &call);

  /// Whether each operand has the shape that the index sets give.
  llvm::Error checkOperands() const;
  /// Whether all of the `whole` factors are here, for kernels that compute with
  /// positions inside them.
  llvm::Error checkWhole(llvm::ArrayRef<FactorId> factors) const;

  const Rule &rule() const { return call.bound.rule; }
  /// The factor of that name. Kernels name factors of their op's own rule.
  FactorId factor(llvm::StringRef name) const { return *rule().find(name); }
  /// The factors of an operand's or a result's term, in order.
  llvm::SmallVector<FactorId> factorsOf(const RuleTerm &term) const;
  llvm::SmallVector<FactorId> operandFactors(unsigned i) const {
    return factorsOf(rule().operands[i]);
  }
  llvm::SmallVector<FactorId> resultFactors(unsigned j) const {
    return factorsOf(rule().results[j]);
  }
  llvm::SmallVector<FactorId> allFactors() const;

  int64_t extent(FactorId f) const { return call.index[f].size(); }
  int64_t globalSize(FactorId f) const { return call.bound.sizes[f]; }
  /// The global index of factor `f` at a point.
  int64_t indexOf(FactorId f, const Point &p) const {
    return call.index[f][p.position[f]];
  }
  /// Where the global index `value` of `f` is in the local set, if it is there.
  /// An error if the value is not an index of `f` at all.
  llvm::Expected<std::optional<int64_t>> locate(FactorId f, double value) const;

  const Tensor &operand(unsigned i) const { return *call.operands[i]; }
  Tensor &result(unsigned j) { return results[j]; }
  double in(unsigned i, const Point &p) const {
    return operand(i)[p.offset[i]];
  }
  double &out(unsigned j, const Point &p) {
    return results[j][p.offset[call.operands.size() + j]];
  }
  unsigned numOperands() const { return call.operands.size(); }
  /// Moves factor `f` of a point that stands at position 0 of it.
  void advance(Point &p, FactorId f, int64_t position) const;

  /// The point with every factor at its first position.
  Point origin() const;
  /// Visits all positions of `factors`, the last one fastest, from `base`,
  /// where they stand at their first position.
  template <typename Body>
  void forEach(llvm::ArrayRef<FactorId> factors, const Point &base,
               Body body) const {
    for (FactorId f : factors)
      if (extent(f) == 0)
        return;
    Point p = base;
    while (true) {
      body(static_cast<const Point &>(p));
      unsigned k = factors.size();
      for (; k > 0; --k) {
        FactorId f = factors[k - 1];
        if (p.position[f] + 1 < extent(f)) {
          advance(p, f, 1);
          break;
        }
        advance(p, f, -p.position[f]);
      }
      if (k == 0)
        return;
    }
  }
  template <typename Body>
  void forEach(llvm::ArrayRef<FactorId> factors, Body body) const {
    forEach(factors, origin(), body);
  }

  llvm::SmallVector<Tensor> takeResults() { return std::move(results); }

private:
  llvm::SmallVector<int64_t> localShape(const RuleTerm &term) const;
  void addStrides(const RuleTerm &term);

  const KernelCall &call;
  /// stride[tensor][factor], operands first.
  llvm::SmallVector<llvm::SmallVector<int64_t, 8>, 4> strides;
  llvm::SmallVector<Tensor> results;
};

/// `factors` without `without`.
llvm::SmallVector<FactorId> except(llvm::ArrayRef<FactorId> factors,
                                   llvm::ArrayRef<FactorId> without);

/// The kernels of another dialect's ops: the dialect registers one
/// (`addInterfaces`), and the interpreter and its checks run them as they run
/// dtrain's own.
class KernelDialectInterface
    : public mlir::DialectInterface::Base<KernelDialectInterface> {
public:
  explicit KernelDialectInterface(mlir::Dialect *dialect) : Base(dialect) {}
  /// Computes the results of `op`. Errors: no kernel, a factor that is not
  /// there whole, an index outside the table that it looks up.
  virtual llvm::Error run(mlir::Operation *op, Kernel &k) const = 0;
};

} // namespace dtrain

#endif // DTRAIN_INTERPRETER_KERNELSUPPORT_H
