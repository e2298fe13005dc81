//===- FuseDetail.h - What the fusions share --------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Each fusion is a function that looks at one op, replaces it where it is the
/// last op of the form it knows, and says whether it did. It finds the rewriter
/// before that op. Ops that this leaves
/// without uses are removed by `cleanUp`, which runs between fusions.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_TRANSFORMS_FUSE_FUSEDETAIL_H
#define DTRAIN_LIB_TRANSFORMS_FUSE_FUSEDETAIL_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "mlir/IR/PatternMatch.h"

namespace dtrain::fuse {

//===----------------------------------------------------------------------===//
// Factors of several rules
//===----------------------------------------------------------------------===//

/// The factors of several rules that index the same tensors, refined as far as
/// the rules need: unifying `(h e)` with `(g x)` splits what has to be split.
class FactorSpace {
public:
  using Atom = unsigned;
  /// One dimension, major to minor. Extents of 1 have no atoms.
  using Dim = llvm::SmallVector<Atom, 3>;
  using Term = llvm::SmallVector<Dim, 5>;

  Dim add(int64_t size);
  /// Fresh atoms, one per dimension.
  Term addShape(llvm::ArrayRef<int64_t> shape);
  /// Fresh atoms for a rule's factors: the terms of operands, then results.
  llvm::SmallVector<Term, 4> addRule(const BoundRule &rule);

  /// Makes two dimensions index alike. False if their factors do not refine
  /// each other; the space is then of no further use.
  bool unify(const Dim &a, const Dim &b);
  bool unify(const Term &a, const Term &b);

  /// In terms of atoms that are not refined any further.
  Dim resolve(const Dim &dim) const;
  Term resolve(const Term &term) const;
  int64_t sizeOf(Atom atom) const { return sizes[atom]; }
  int64_t sizeOf(const Dim &dim) const;
  llvm::SmallVector<int64_t> shapeOf(const Term &term) const;

  /// The rule of these terms, with factors named a, b, … by appearance, so that
  /// equal rules are spelled alike. Neighbours that are never apart are one
  /// factor.
  Rule spell(llvm::ArrayRef<Term> operands, const Term &result) const;

  /// Whether the rule from `from` to `to` says the sizes of its factors by the
  /// shapes alone, as the rule of a move must: `a (b c) -> (b a c)` does not.
  bool isOneMove(const Term &from, const Term &to) const;

private:
  llvm::SmallVector<int64_t> sizes;
  /// What an atom was refined into; empty for those that were not.
  llvm::SmallVector<Dim> parts;
};

/// All atoms of a term, in order.
FactorSpace::Dim atomsOf(const FactorSpace::Term &term);

/// `input`, indexed as `from`, indexed as `to` instead; `input` itself if that
/// is no change, two moves if one cannot say it. Every atom of `from` must be
/// in `to`.
mlir::Value buildMove(mlir::OpBuilder &b, mlir::Location loc,
                      const FactorSpace &space, mlir::Value input,
                      const FactorSpace::Term &from,
                      const FactorSpace::Term &to);

//===----------------------------------------------------------------------===//
// Looking at values
//===----------------------------------------------------------------------===//

/// The op behind a value if it is elementwise of that kind.
ElementwiseOp elementwiseOf(mlir::Value value, Elementwise kind);
/// The constant of an elementwise op that takes one.
double constantOf(ElementwiseOp op);
/// The value that all elements have, where that is known. A constant 0 of many
/// elements is not: it stands for contents that import did not read.
std::optional<double> splatOf(mlir::Value value);
bool isFloat(mlir::Value value);
bool isNear(double a, double b);
/// Looks through moves that only add or drop unit dimensions.
mlir::Value skipUnitMoves(mlir::Value value);
/// Looks through casts between floating types.
mlir::Value skipFloatCasts(mlir::Value value);
/// A parameter of the step, or an argument of a function of its own.
bool isParameterLike(mlir::Value value);

/// coef * product of values to powers, which is what chains of mul, div, scale,
/// neg, power, sqrt, rsqrt and reciprocal compute.
struct Product {
  double coef = 1;
  llvm::SmallVector<std::pair<mlir::Value, double>, 4> powers;

  double powerOf(mlir::Value value) const;
  bool is(double coef,
          llvm::ArrayRef<std::pair<mlir::Value, double>> expected) const;
};
/// The product that computes `value`. `stops` are not taken apart; casts
/// between floating types are looked through if `casts`.
Product productOf(mlir::Value value, llvm::ArrayRef<mlir::Value> stops = {},
                  bool casts = false);

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

/// A tensor that is one value where an affine function of the indices is at
/// most 0, and another elsewhere: offset + sum of coefs[d] * index[d] <= 0.
struct TwoValued {
  llvm::SmallVector<double, 4> coefs;
  double offset;
  double yes, no;
};
/// What `value` is in this form; nothing if it is not known to have it.
std::optional<TwoValued> twoValuedOf(mlir::Value value);
/// The least and the greatest element of `value`, both attained, where it is
/// known as a function of its indices; also through what a repeat passes on.
std::optional<std::pair<double, double>> rangeOf(mlir::Value value);
/// Whether its condition is key <= query for queries along the last but one
/// dimension and keys along the last.
bool isCausal(const TwoValued &mask);

//===----------------------------------------------------------------------===//
// Fusions
//===----------------------------------------------------------------------===//

/// Composes moves, drops what does nothing, folds constants into `scale` and
/// `offset`, transposes of parameters into `dot`. Returns whether anything
/// changed.
bool cleanUp(mlir::Operation *op, mlir::RewriterBase &rewriter);
bool fuseBias(mlir::Operation *op, mlir::RewriterBase &rewriter);
bool fuseActivation(mlir::Operation *op, mlir::RewriterBase &rewriter);
bool fuseNormalization(mlir::Operation *op, mlir::RewriterBase &rewriter);
bool fuseRotary(mlir::Operation *op, mlir::RewriterBase &rewriter);
bool fuseAttention(mlir::Operation *op, mlir::RewriterBase &rewriter);
bool fuseLoss(mlir::Operation *op, mlir::RewriterBase &rewriter);
/// Slices that cut a projection's columns in equal parts become a view with a
/// dimension that counts the parts.
bool splitProjection(mlir::Operation *op, mlir::RewriterBase &rewriter);

/// Why a softmax between two contractions is not an attention; empty if it is
/// not between two.
std::string whyNotAttention(SoftmaxOp op);

} // namespace dtrain::fuse

#endif // DTRAIN_LIB_TRANSFORMS_FUSE_FUSEDETAIL_H
