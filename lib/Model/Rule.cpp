//===- Rule.cpp - The one rule an op states -------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Rule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace dtrain;

bool RuleWindow::operator==(const RuleWindow &o) const {
  return operand == o.operand && dim == o.dim && factor == o.factor &&
         lo == o.lo && hi == o.hi;
}

bool RuleMonomial::operator==(const RuleMonomial &o) const {
  return coef == o.coef && factors == o.factors;
}

bool Rule::Factor::operator==(const Factor &o) const {
  return name == o.name && kind == o.kind && reduce == o.reduce &&
         isRun == o.isRun;
}

bool Rule::operator==(const Rule &o) const {
  return factors == o.factors && operands == o.operands &&
         results == o.results && windows == o.windows && sum == o.sum &&
         keep == o.keep && contract == o.contract && flops == o.flops &&
         touch == o.touch && copy == o.copy && index == o.index;
}

namespace dtrain {
llvm::hash_code hash_value(const Rule &rule) {
  using llvm::hash_combine;
  llvm::hash_code hash =
      hash_combine(rule.operands.size(), rule.results.size());
  for (const Rule::Factor &f : rule.factors)
    hash = hash_combine(hash, f.name, f.kind, f.reduce);
  for (const auto *terms : {&rule.operands, &rule.results})
    for (const RuleTerm &term : *terms) {
      hash = hash_combine(hash, term.size());
      for (const RuleDim &dim : term)
        hash = hash_combine(hash, llvm::hash_combine_range(dim.factors));
    }
  for (const auto &product : rule.sum)
    hash = hash_combine(hash, llvm::hash_combine_range(product));
  for (const auto *poly : {&rule.contract, &rule.flops}) {
    hash = hash_combine(hash, poly->has_value());
    if (*poly)
      for (const RuleMonomial &m : **poly)
        hash = hash_combine(hash, llvm::bit_cast<uint64_t>(m.coef),
                            llvm::hash_combine_range(m.factors));
  }
  return hash_combine(hash, llvm::hash_combine_range(rule.copy),
                      rule.windows.size(), rule.touch.size(),
                      rule.index.size());
}
} // namespace dtrain

/// The shortest decimal text that reads back as `value`.
static std::string numberText(double value) {
  if (value < 1e15 && value == static_cast<double>(static_cast<int64_t>(value)))
    return llvm::itostr(static_cast<int64_t>(value));
  for (int digits = 1;; ++digits) {
    std::string text;
    llvm::raw_string_ostream(text) << llvm::format("%.*g", digits, value);
    double back;
    if (digits == 17 ||
        (!llvm::StringRef(text).getAsDouble(back) && back == value))
      return text;
  }
}

static void printTerms(llvm::raw_ostream &os, const Rule &rule,
                       llvm::ArrayRef<RuleTerm> terms) {
  auto name = [&](FactorId f) -> llvm::StringRef {
    return rule.factors[f].name;
  };
  llvm::interleaveComma(terms, os, [&](const RuleTerm &term) {
    if (term.empty())
      os << "()";
    llvm::interleave(
        term, os,
        [&](const RuleDim &dim) {
          if (dim.factors.empty()) {
            os << '1';
          } else if (dim.factors.size() == 1) {
            os << name(dim.factors[0]);
          } else {
            os << '(';
            llvm::interleave(
                dim.factors, os, [&](FactorId f) { os << name(f); }, " ");
            os << ')';
          }
        },
        " ");
  });
}

static void printPoly(llvm::raw_ostream &os, const Rule &rule,
                      const RulePoly &poly) {
  llvm::interleave(
      poly, os,
      [&](const RuleMonomial &m) {
        os << ' ' << numberText(m.coef);
        for (FactorId f : m.factors)
          os << ' ' << rule.factors[f].name;
      },
      " +");
}

std::string Rule::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  printTerms(os, *this, operands);
  os << (operands.empty() ? "-> " : " -> ");
  printTerms(os, *this, results);

  auto printDeclared = [&](llvm::StringRef keyword, auto &&isDeclared) {
    bool first = true;
    for (const Factor &f : factors) {
      if (!isDeclared(f))
        continue;
      if (first)
        os << " | " << keyword;
      first = false;
      os << ' ' << f.name;
    }
  };
  printDeclared("whole", [](auto &f) { return f.kind == FactorKind::Whole; });
  printDeclared("stat", [](auto &f) { return f.kind == FactorKind::Stat; });
  printDeclared("max", [](auto &f) { return f.reduce == ReduceOp::Max; });
  printDeclared("min", [](auto &f) { return f.reduce == ReduceOp::Min; });
  for (const RuleWindow &w : windows)
    os << " | window " << w.operand << '.' << w.dim << ' '
       << factors[w.factor].name << ' ' << w.lo << ' ' << w.hi;
  if (!sum.empty()) {
    os << " | sum ";
    llvm::interleave(
        sum, os, [&](auto &product) { llvm::interleave(product, os, "*"); },
        " + ");
  }
  if (!keep.empty()) {
    os << " | keep ";
    llvm::interleave(keep, os, " ");
  }
  if (contract) {
    os << " | contract";
    printPoly(os, *this, *contract);
  }
  if (flops) {
    os << " | flops";
    printPoly(os, *this, *flops);
  }
  for (const auto &[operand, touched] : touch) {
    os << " | touch " << operand << ':';
    for (FactorId f : touched)
      os << ' ' << factors[f].name;
  }
  if (!copy.empty()) {
    os << " | copy ";
    llvm::interleave(copy, os, " ");
  }
  for (const auto &[operand, factor] : index)
    os << " | index " << operand << ' ' << factors[factor].name;
  return text;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static llvm::Error ruleError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// The number of linear groups beyond which `sum` is refused: they are
/// enumerated.
static constexpr uint64_t maxLinearGroups = 64;

static llvm::Error verifyFactorIds(const Rule &rule,
                                   llvm::ArrayRef<FactorId> ids) {
  for (FactorId f : ids)
    if (f >= rule.factors.size())
      return ruleError("expected a factor below " +
                       llvm::Twine(rule.factors.size()) + ", found " +
                       llvm::Twine(f));
  return llvm::Error::success();
}

static llvm::Error verifyTerms(const Rule &rule, llvm::ArrayRef<RuleTerm> terms,
                               llvm::StringRef what) {
  for (auto [index, term] : llvm::enumerate(terms)) {
    llvm::SmallVector<FactorId, 8> seen;
    for (const RuleDim &dim : term) {
      if (llvm::Error e = verifyFactorIds(rule, dim.factors))
        return e;
      for (FactorId f : dim.factors) {
        if (llvm::is_contained(seen, f))
          return ruleError(
              "factor '" + rule.factors[f].name + "' stands twice in " + what +
              " " + llvm::Twine(index) + ": diagonals are not supported");
        if (rule.factors[f].isRun && dim.factors.size() != 1)
          return ruleError("run '" + rule.factors[f].name +
                           "' stands in a compound");
        seen.push_back(f);
      }
    }
  }
  return llvm::Error::success();
}

/// Factors that clauses name.
static llvm::Error verifyClauseFactors(const Rule &rule) {
  for (const RuleWindow &w : rule.windows)
    if (llvm::Error e = verifyFactorIds(rule, w.factor))
      return e;
  for (const auto &[operand, touched] : rule.touch)
    if (llvm::Error e = verifyFactorIds(rule, touched))
      return e;
  for (const auto &[operand, indexed] : rule.index)
    if (llvm::Error e = verifyFactorIds(rule, indexed))
      return e;
  for (const auto *poly : {&rule.contract, &rule.flops})
    if (*poly)
      for (const RuleMonomial &m : **poly)
        if (llvm::Error e = verifyFactorIds(rule, m.factors))
          return e;
  return llvm::Error::success();
}

/// Names that instantiation gives to a run's factors must be free: `i...`
/// becomes i0 i1 …, `...` becomes x0 x1 ….
static llvm::Error verifyRunNames(const Rule &rule) {
  for (const Rule::Factor &run : rule.factors) {
    if (!run.isRun)
      continue;
    llvm::StringRef stem = llvm::StringRef(run.name).drop_back(3);
    if (stem.empty())
      stem = "x";
    for (const Rule::Factor &other : rule.factors) {
      llvm::StringRef rest = other.name;
      if (&other == &run || !rest.consume_front(stem))
        continue;
      if (other.isRun ? rest == "..."
                      : !rest.empty() && llvm::all_of(rest, llvm::isDigit))
        return ruleError("factor '" + other.name + "' has a name that run '" +
                         run.name + "' gives to its own factors");
    }
  }
  return llvm::Error::success();
}

static llvm::Error verifySum(const Rule &rule) {
  llvm::SmallBitVector named(rule.operands.size());
  uint64_t numGroups = 1;
  for (const auto &product : rule.sum) {
    if (product.empty())
      return ruleError("expected an operand in each product of 'sum'");
    llvm::SmallBitVector here(rule.operands.size());
    for (unsigned i : product) {
      if (i >= rule.operands.size())
        return ruleError("'sum' names operand " + llvm::Twine(i) + " of " +
                         llvm::Twine(rule.operands.size()));
      if (here.test(i))
        return ruleError("'sum' names operand " + llvm::Twine(i) +
                         " twice in one product: it is not linear in it");
      if (named.test(i))
        return ruleError("'sum' names operand " + llvm::Twine(i) +
                         " in two products: expected one at most");
      here.set(i);
    }
    named |= here;
    numGroups *= product.size();
    if (numGroups > maxLinearGroups)
      return ruleError("'sum' has more than " + llvm::Twine(maxLinearGroups) +
                       " linear groups");
  }
  return llvm::Error::success();
}

static llvm::Error verifyWindows(const Rule &rule) {
  for (const RuleWindow &w : rule.windows) {
    if (w.operand >= rule.operands.size())
      return ruleError("'window' names operand " + llvm::Twine(w.operand) +
                       " of " + llvm::Twine(rule.operands.size()));
    const RuleTerm &term = rule.operands[w.operand];
    if (llvm::any_of(term, [&](const RuleDim &dim) {
          return dim.factors.size() == 1 && rule.factors[dim.factors[0]].isRun;
        }))
      return ruleError(
          "'window' needs an operand without runs, found operand " +
          llvm::Twine(w.operand));
    if (w.dim >= term.size())
      return ruleError("'window' expects a dimension below " +
                       llvm::Twine(term.size()) + " of operand " +
                       llvm::Twine(w.operand));
    if (!llvm::is_contained(term[w.dim].factors, w.factor))
      return ruleError("'window' expects factor '" +
                       rule.factors[w.factor].name + "' in dimension " +
                       llvm::Twine(w.dim) + " of operand " +
                       llvm::Twine(w.operand));
  }
  return llvm::Error::success();
}

/// With several products, the terms that a reduced factor belongs to are those
/// of the operands that have it; the others enter once (see additiveLone).
static llvm::Error verifySummedFactors(const Rule &rule) {
  if (rule.sum.size() < 2)
    return llvm::Error::success();
  for (FactorId f = 0; f < rule.factors.size(); ++f) {
    auto hasFactor = [&](const RuleTerm &term) {
      return Rule::dimOf(term, f).has_value();
    };
    if (rule.factors[f].kind != FactorKind::Plain ||
        llvm::any_of(rule.results, hasFactor))
      continue;
    if (llvm::none_of(rule.sum, [&](const auto &product) {
          return llvm::any_of(
              product, [&](unsigned i) { return hasFactor(rule.operands[i]); });
        }))
      return ruleError("factor '" + rule.factors[f].name +
                       "' is reduced, but no operand that 'sum' names has it: "
                       "the terms that it belongs to are unknown");
  }
  return llvm::Error::success();
}

/// A result that reduced one factor by sum and another by max would depend on
/// the order; factors that are never split may do so.
static llvm::Error verifyReductions(const Rule &rule) {
  for (unsigned j = 0; j < rule.results.size(); ++j) {
    const Rule::Factor *first = nullptr;
    for (FactorId f = 0; f < rule.factors.size(); ++f) {
      const Rule::Factor &factor = rule.factors[f];
      if (factor.kind != FactorKind::Plain || !rule.reducedIn(f, j) ||
          llvm::is_contained(rule.keep, j))
        continue;
      if (first && first->reduce != factor.reduce)
        return ruleError(
            "result " + llvm::Twine(j) + " reduces factor '" + first->name +
            "' by " + stringifyReduceOp(first->reduce) + " and '" +
            factor.name + "' by " + stringifyReduceOp(factor.reduce) +
            ": expected one reduction");
      first = first ? first : &factor;
    }
  }
  return llvm::Error::success();
}

/// Indices of a factor are not along it.
static llvm::Error verifyIndices(const Rule &rule) {
  for (const auto &[operand, factor] : rule.index) {
    if (operand >= rule.operands.size())
      return ruleError("'index' names operand " + llvm::Twine(operand) +
                       " of " + llvm::Twine(rule.operands.size()));
    if (rule.factors[factor].isRun)
      return ruleError("'index' expects a factor, found run '" +
                       rule.factors[factor].name + "'");
    if (Rule::dimOf(rule.operands[operand], factor))
      return ruleError("'index' expects a factor that operand " +
                       llvm::Twine(operand) + " lacks, found '" +
                       rule.factors[factor].name + "'");
  }
  return llvm::Error::success();
}

llvm::Error Rule::verify() const {
  if (llvm::Error e = verifyTerms(*this, operands, "operand"))
    return e;
  if (llvm::Error e = verifyTerms(*this, results, "result"))
    return e;
  if (llvm::Error e = verifyClauseFactors(*this))
    return e;
  if (llvm::Error e = verifyRunNames(*this))
    return e;
  if (llvm::Error e = verifySum(*this))
    return e;
  if (llvm::Error e = verifySummedFactors(*this))
    return e;
  if (llvm::Error e = verifyWindows(*this))
    return e;
  if (llvm::Error e = verifyReductions(*this))
    return e;
  for (unsigned j : keep)
    if (j >= results.size())
      return ruleError("'keep' names result " + llvm::Twine(j) + " of " +
                       llvm::Twine(results.size()));
  for (const auto &[operand, touched] : touch)
    if (operand >= operands.size())
      return ruleError("'touch' names operand " + llvm::Twine(operand) +
                       " of " + llvm::Twine(operands.size()));
  for (size_t i = 0; i < touch.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      if (touch[i].first == touch[j].first)
        return ruleError("'touch' names operand " +
                         llvm::Twine(touch[i].first) + " twice");
  for (unsigned i : copy)
    if (i >= operands.size())
      return ruleError("'copy' names operand " + llvm::Twine(i) + " of " +
                       llvm::Twine(operands.size()));
  return verifyIndices(*this);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

bool Rule::isGeneric() const {
  return llvm::any_of(factors, [](const Factor &f) { return f.isRun; });
}

std::optional<FactorId> Rule::find(llvm::StringRef name) const {
  for (auto [id, factor] : llvm::enumerate(factors))
    if (factor.name == name)
      return static_cast<FactorId>(id);
  return std::nullopt;
}

std::optional<unsigned> Rule::dimOf(const RuleTerm &term, FactorId f) {
  for (unsigned d = 0; d < term.size(); ++d)
    if (llvm::is_contained(term[d].factors, f))
      return d;
  return std::nullopt;
}

llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 2>
Rule::linearGroups() const {
  llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 2> groups;
  if (sum.empty())
    return groups;
  groups.emplace_back();
  for (const auto &product : sum) {
    llvm::SmallVector<llvm::SmallVector<unsigned, 2>, 2> longer;
    for (const auto &group : groups)
      for (unsigned i : product) {
        longer.push_back(group);
        longer.back().push_back(i);
      }
    groups = std::move(longer);
  }
  return groups;
}

bool Rule::additiveLone(unsigned operand, FactorId f) const {
  if (sum.size() < 2 ||
      llvm::any_of(results, [&](const RuleTerm &t) { return dimOf(t, f); }))
    return false;
  for (const auto &product : sum)
    if (product.front() == operand)
      return llvm::none_of(product,
                           [&](unsigned i) { return dimOf(operands[i], f); });
  return false;
}

bool Rule::addsUp() const {
  if (results.size() != 1 || sum.size() < 2 || sum.size() != operands.size())
    return false;
  for (FactorId f = 0; f < factors.size(); ++f)
    if (reducedIn(f, 0))
      return false;
  return llvm::all_of(sum,
                      [](const auto &product) { return product.size() == 1; });
}

bool Rule::isElementwise() const {
  if (operands.empty() || results.empty() ||
      llvm::any_of(factors,
                   [](const Factor &f) { return f.kind != FactorKind::Plain; }))
    return false;
  const RuleTerm &whole = results.front();
  // Unit dimensions and missing ones on the left are broadcast.
  auto linesUp = [&](const RuleTerm &term) {
    return term.size() <= whole.size() &&
           llvm::all_of(llvm::zip(llvm::reverse(term), llvm::reverse(whole)),
                        [](auto pair) {
                          const auto &[dim, of] = pair;
                          return dim.factors.empty() || dim == of;
                        });
  };
  return llvm::all_of(operands, linesUp) &&
         llvm::all_of(results,
                      [&](const RuleTerm &term) { return term == whole; });
}

bool Rule::isStatistic(unsigned j) const {
  bool hasStat = false;
  for (FactorId f = 0; f < factors.size(); ++f) {
    if (factors[f].kind != FactorKind::Plain && !reducedIn(f, j))
      return false;
    hasStat |= factors[f].kind == FactorKind::Stat;
  }
  return hasStat;
}
