//===- Rule.h - The one rule an op states -----------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// An einsum-like rule: the iteration factors of an op, which operand and
/// result dimensions each indexes, which factors are special and in which sums
/// of products the op is linear. Everything else (result shapes, placements,
/// work, linear backward) is derived by the algorithms declared here.
///
/// Grammar (see docs/reference/rules.md):
/// \code
///   rule   := terms '->' terms clause*
///   terms  := [term (',' term)*]    // no operands; one scalar result
///   term   := '()' | dim*           // a scalar
///   dim    := factor | '1' | '(' factor factor+ ')' | '...' | factor'...'
///   factor := [a-z][a-z0-9]*
///   clause := '|' ( 'whole' f+ | 'stat' f+ | ('max'|'min') f+
///           | 'window' OPERAND.DIM f LO HI | 'sum' product ('+' product)*
///           | 'keep' INT+ | 'contract' poly | 'flops' poly
///           | 'touch' INT ':' f* | 'copy' INT+ | 'index' INT f )
///   poly   := mono ('+' mono)*      mono := NUMBER f*
///   product := INT ('*' INT)*
/// \endcode
/// A run (`...`, `i...`) stands for any number of factors; in a monomial it
/// multiplies all of them.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_RULE_H
#define DTRAIN_MODEL_RULE_H

#include "dtrain/Model/AxisState.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringMap.h"

namespace dtrain {

/// Index of a factor within its rule.
using FactorId = unsigned;

/// One dimension of a term: no factor (a unit dimension), one factor, or a
/// compound, major to minor.
struct RuleDim {
  llvm::SmallVector<FactorId, 2> factors;
  bool operator==(const RuleDim &o) const { return factors == o.factors; }
};
using RuleTerm = llvm::SmallVector<RuleDim, 4>;

/// Operand dimension read along `factor` with `lo` and `hi` elements beyond the
/// block.
struct RuleWindow {
  unsigned operand, dim;
  FactorId factor;
  int64_t lo, hi;
  bool operator==(const RuleWindow &o) const;
};

/// coef * product of factor sizes (a factor may repeat).
struct RuleMonomial {
  double coef;
  llvm::SmallVector<FactorId, 4> factors;
  bool operator==(const RuleMonomial &o) const;
};
using RulePoly = llvm::SmallVector<RuleMonomial, 1>;

enum class FactorKind : uint8_t { Plain, Whole, Stat };

/// A parsed rule. Plain data; a rule with runs (`...`, `i...`) is generic and
/// must be `instantiate`d for given ranks before it is bound.
class Rule {
public:
  struct Factor {
    std::string name;
    FactorKind kind = FactorKind::Plain;
    ReduceOp reduce = ReduceOp::Sum; // where a result lacks it
    bool isRun = false;              // named "..." or "i..."
    bool operator==(const Factor &o) const;
  };
  llvm::SmallVector<Factor, 6> factors;
  llvm::SmallVector<RuleTerm, 3> operands, results;
  llvm::SmallVector<RuleWindow, 0> windows;
  /// The result is the sum over products of operands; each product lists
  /// operand indices. Empty: nonlinear.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 2> sum;
  /// Results that do not depend on absent factors.
  llvm::SmallVector<unsigned, 1> keep;
  /// Multiply-adds by the MFU convention, as FLOPs; executed FLOPs. Unset
  /// `contract` is zero; unset `flops` is `contract` where that is set, else
  /// one per point of the iteration space (the product of all factors).
  std::optional<RulePoly> contract, flops;
  /// Operand bytes actually read, where not the whole operand.
  llvm::SmallVector<std::pair<unsigned, llvm::SmallVector<FactorId, 4>>, 1>
      touch;
  /// The op computes nothing: each element of its results is one of these
  /// operands', perhaps in another type, or zero. None: it computes.
  llvm::SmallVector<unsigned, 1> copy;
  /// Operands whose elements are indices of a factor: labels, rows of a table.
  llvm::SmallVector<std::pair<unsigned, FactorId>, 1> index;

  /// Parses `text`; the error says what was expected and where (offset).
  static llvm::Expected<Rule> parse(llvm::StringRef text);
  /// Canonical text; parse(str()) == *this.
  std::string str() const;
  bool operator==(const Rule &o) const;
  bool operator!=(const Rule &o) const { return !(*this == o); }
  friend llvm::hash_code hash_value(const Rule &rule);

  /// The checks beyond grammar, which `parse` makes; for rules built in C++:
  /// a factor at most once per operand and result, `sum` operands in range and
  /// named once, clause references in range, windows where their factor is.
  llvm::Error verify() const;

  bool isGeneric() const;
  /// Replaces runs by factors x0 x1 … (i0 i1 …) of the length that the ranks
  /// of the operands imply. For `...` with `broadcast` (elementwise ops) the
  /// operands are right-aligned against the longest, and a dimension of size 1
  /// against a larger one becomes a unit dimension. Runs that no operand has
  /// take their length from `resultShapes`, where given. Factors are numbered
  /// by first appearance, as parsing the result's text would.
  llvm::Expected<Rule> instantiate(
      llvm::ArrayRef<llvm::SmallVector<int64_t>> operandShapes,
      bool broadcast = false,
      llvm::ArrayRef<llvm::SmallVector<int64_t>> resultShapes = {}) const;

  std::optional<FactorId> find(llvm::StringRef name) const;
  /// The dimension of `term` that factor `f` indexes, if any.
  static std::optional<unsigned> dimOf(const RuleTerm &term, FactorId f);
  /// Whether `f` is absent from result `j` (hence reduced for it).
  bool reducedIn(FactorId f, unsigned j) const { return !dimOf(results[j], f); }
  /// All sets of operands, one from each product of `sum`, that may be jointly
  /// partial while the rest is replicated.
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 2> linearGroups() const;
  /// Operand i enters by one copy (Partial) when `f` is split.
  bool additiveLone(unsigned operand, FactorId f) const;

  /// Whether the one result is the sum (with any signs) of its operands, each
  /// a term of its own and none reduced: `sum 0+1`.
  bool addsUp() const;
  /// Whether an element of a result depends on one element of each operand
  /// only, at its own place: no factor is reduced, moved or special, and
  /// operands line up with the results from the right.
  bool isElementwise() const;
  /// Whether result `j` is a statistic of the op: it has none of the factors
  /// that the op needs whole, some of which are `stat`.
  bool isStatistic(unsigned j) const;
};

/// A rule with a size for every factor.
struct BoundRule {
  Rule rule;
  llvm::SmallVector<int64_t, 6> sizes;

  /// Binds an instantiated rule. A compound may have one unknown factor, the
  /// others from `given` (factor sizes from attributes). Errors: unknown size,
  /// disagreeing sizes, wrong rank, extent not divisible, a factor twice in
  /// one operand, overflow.
  static llvm::Expected<BoundRule>
  bind(const Rule &rule, llvm::ArrayRef<llvm::SmallVector<int64_t>> operands,
       const llvm::StringMap<int64_t> &given = {});
  /// As above, with the result shapes too (for generated factors).
  static llvm::Expected<BoundRule>
  bind(const Rule &rule, llvm::ArrayRef<llvm::SmallVector<int64_t>> operands,
       llvm::ArrayRef<llvm::SmallVector<int64_t>> results);

  llvm::SmallVector<int64_t> shapeOf(const RuleTerm &term) const;
  llvm::SmallVector<int64_t> resultShape(unsigned j) const {
    return shapeOf(rule.results[j]);
  }
  /// Product of the factors minor to `f` inside its dimension of `term`.
  int64_t minorTo(const RuleTerm &term, FactorId f) const;
};

/// The state of one mesh axis for one op (docs/reference/rules.md).
struct OpAxisState {
  enum Kind : uint8_t { Replicated, Factor, Linear, Pinned };
  Kind kind = Replicated;
  FactorId factor = 0; // Factor
  int64_t stride = 0;  // Factor: in units of the factor's index
  unsigned group = 0;  // Linear: index into linearGroups()
  Coords on;           // Linear, Pinned: empty means all

  static OpAxisState replicated() { return {}; }
  static OpAxisState split(FactorId f, int64_t stride);
  static OpAxisState linear(unsigned group, Coords on = {});
  static OpAxisState pinned(Coords on);
  bool operator==(const OpAxisState &o) const;
  bool operator!=(const OpAxisState &o) const { return !(*this == o); }
};
using OpState = llvm::SmallVector<OpAxisState, 4>;

/// What the op needs of operand `i` on one axis, and what it gives as result
/// `j`.
AxisState need(const BoundRule &rule, unsigned i, const OpAxisState &state);
AxisState gives(const BoundRule &rule, unsigned j, const OpAxisState &state);

/// The factor of `term` that an axis of size `n`, splitting `dim` with
/// `stride`, divides; none when the digit spans factors.
std::optional<OpAxisState> factorAt(const BoundRule &rule, const RuleTerm &term,
                                    unsigned dim, int64_t stride, int64_t n);

/// Whether an axis of size `n` may split `f` with `stride`: `f` is neither
/// `whole` nor `stat`; the digit fits the factor, evenly or (only where the
/// factor is alone in every dimension that has it) unevenly; and, where `f` is
/// windowed, contiguously (stride * n == size).
bool maySplit(const BoundRule &rule, FactorId f, int64_t stride, int64_t n);

/// The op state on one axis that explains the operand and result states; none
/// if no state does. Unique where it exists (tested for every op). An axis of
/// size 1 is replicated, whatever the states say.
std::optional<OpAxisState> inferState(const BoundRule &rule,
                                      llvm::ArrayRef<AxisState> operands,
                                      llvm::ArrayRef<AxisState> results,
                                      int64_t axisSize);

} // namespace dtrain

#endif // DTRAIN_MODEL_RULE_H
