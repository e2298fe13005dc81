//===- DTrainSupport.h - Storage and hooks of generated code ----*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What the generated dialect code refers to: flat storage of attributes, and
/// the functions behind interfaces.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_IR_DTRAIN_DTRAINSUPPORT_H
#define DTRAIN_IR_DTRAIN_DTRAINSUPPORT_H

#include "dtrain/Model/OpClass.h"
#include "dtrain/Model/Rule.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"

namespace dtrain {

/// One digit of one dimension: a mesh axis (`axis` >= 0) or a gap.
struct PlacedDigit {
  unsigned dim;
  int axis;
  int64_t gap;
  bool operator==(const PlacedDigit &o) const {
    return dim == o.dim && axis == o.axis && gap == o.gap;
  }
  friend llvm::hash_code hash_value(const PlacedDigit &d) {
    return llvm::hash_combine(d.dim, d.axis, d.gap);
  }
};

/// A partial or pinned axis; its coordinates are `count` entries of the
/// attribute's list, from `first`. None for all.
struct PlacedAxis {
  unsigned axis;
  bool partial;
  ReduceOp reduce;
  unsigned first, count;
  bool operator==(const PlacedAxis &o) const {
    return axis == o.axis && partial == o.partial && reduce == o.reduce &&
           first == o.first && count == o.count;
  }
  friend llvm::hash_code hash_value(const PlacedAxis &a) {
    return llvm::hash_combine(a.axis, a.partial, static_cast<int>(a.reduce),
                              a.first, a.count);
  }
};

/// The state of one named axis for an op. `factor` is null unless the kind is
/// Factor. `level` and `visible` are those of OpIntent.
struct PlacedOpAxis {
  mlir::StringAttr axis;
  OpAxisState::Kind kind;
  mlir::StringAttr factor;
  int64_t stride;
  unsigned group;
  unsigned first, count;
  int64_t level = 0, visible = 0;
  bool operator==(const PlacedOpAxis &o) const {
    return axis == o.axis && kind == o.kind && factor == o.factor &&
           stride == o.stride && group == o.group && first == o.first &&
           count == o.count && level == o.level && visible == o.visible;
  }
  friend llvm::hash_code hash_value(const PlacedOpAxis &a) {
    return llvm::hash_combine(a.axis, static_cast<int>(a.kind), a.factor,
                              a.stride, a.group, a.first, a.count, a.level,
                              a.visible);
  }
};

/// What an op is asked to be on one mesh axis: fixed when propagation comes to
/// `level`, seen by the ops around it from `visible` on.
struct OpIntent {
  unsigned axis;
  OpAxisState state;
  int64_t level = 0, visible = 0;
};

/// A rule of the dialect's own, which a test parses for every registered op.
Rule parseRuleOrDie(llvm::StringRef text);

/// What the factors of an attention are, by their numbers in the op's rule. The
/// heads are key/value heads, each shared by a group of query heads.
struct AttentionFactors {
  FactorId batch, heads, group, query, key, headDim, valueDim;
};

/// The op's rule with sizes, from its operand and result types.
llvm::Expected<BoundRule> bindRule(mlir::Operation *op);

mlir::LogicalResult verifyRuleOp(mlir::Operation *op);
mlir::LogicalResult verifyAttentionOp(mlir::Operation *op);
mlir::LogicalResult verifyCommOp(mlir::Operation *op);

} // namespace dtrain

#endif // DTRAIN_IR_DTRAIN_DTRAINSUPPORT_H
