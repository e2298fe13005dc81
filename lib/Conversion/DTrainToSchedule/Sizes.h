//===- Sizes.h - The sizes that a program's dimensions share ----*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Dimensions that a rule, a communication or a repeat makes equal are one
/// size, which has a name in the plan: work and memory are then amounts over
/// sizes, and can be evaluated for other ones.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_CONVERSION_DTRAINTOSCHEDULE_SIZES_H
#define DTRAIN_LIB_CONVERSION_DTRAINTOSCHEDULE_SIZES_H

#include "dtrain/IR/Schedule/Schedule.h"
#include "dtrain/Model/Work.h"
#include "llvm/ADT/StringSet.h"

namespace dtrain {
namespace conversion {

struct Program;

class Sizes {
public:
  /// Looks at every op once. Errors of rules are diagnosed where the op is
  /// priced.
  Sizes(mlir::ModuleOp module, Program &program);

  /// The whole extent of a dimension, or of a factor of an op's rule.
  Extent of(mlir::Value value, unsigned dim);
  Extent of(mlir::Operation *op, FactorId factor, int64_t size);
  /// The elements that the fullest device holds of a tensor, each worth `coef`.
  /// The axes in `replicated` count as if they did not divide it.
  Product local(mlir::Value value, double coef,
                llvm::ArrayRef<unsigned> replicated = {});
  /// Divided by the axes of a mask; what placement relied on is noted.
  Extent divided(Extent extent, AxisMask axes);

  /// What the extents so far refer to.
  mlir::DictionaryAttr sizesAttr(mlir::Builder &b) const;
  mlir::ArrayAttr fixedAttr(mlir::Builder &b) const;
  mlir::DictionaryAttr productsAttr(mlir::Builder &b) const;
  mlir::ArrayAttr divisionsAttr(mlir::Builder &b) const;

private:
  using Node = unsigned;
  Node nodeOf(mlir::Value value, unsigned dim);
  Node nodeOf(mlir::Operation *op, FactorId factor, int64_t size);
  Node newNode(int64_t size);
  void join(Node a, Node b);
  /// All dimensions of `inner` with those of `outer`, whose first is the row
  /// that `inner` is.
  void joinAll(mlir::Value outer, mlir::Value inner, bool isRow = false);
  void visit(RuleOpInterface op);
  void visitTerm(mlir::Operation *op, const BoundRule &bound,
                 const RuleTerm &term, mlir::Value value);
  void visit(RepeatOp repeat);
  void nameInputs();
  Extent extentOf(Node node);
  Node leader(Node node) const;

  Program &program;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, Node> dims;
  llvm::DenseMap<std::pair<mlir::Operation *, unsigned>, Node> factors;
  /// Per node: its parent in the union, its size, whether it shapes parameters.
  mutable std::vector<Node> parents;
  std::vector<int64_t> values;
  std::vector<bool> isFixed;
  struct Relation {
    Node whole;
    llvm::SmallVector<Node, 2> parts;
  };
  std::vector<Relation> relations;
  /// Of leaders.
  llvm::DenseMap<Node, std::string> names;
  llvm::StringSet<> taken;
  /// In order of first use.
  std::vector<Node> used;
  std::vector<std::string> divisions;
  llvm::StringSet<> knownDivisions;
};

} // namespace conversion
} // namespace dtrain

#endif // DTRAIN_LIB_CONVERSION_DTRAINTOSCHEDULE_SIZES_H
