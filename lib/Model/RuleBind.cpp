//===- RuleBind.cpp - Runs and sizes of rules -----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Rule.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace dtrain;

static llvm::Error bindError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

static std::string place(llvm::StringRef what, size_t index) {
  return (what + " " + llvm::Twine(index)).str();
}

//===----------------------------------------------------------------------===//
// Instantiation of runs
//===----------------------------------------------------------------------===//

namespace {
using Shapes = llvm::ArrayRef<llvm::SmallVector<int64_t>>;

/// Replaces the runs of a rule. Lengths are found first, then every term and
/// clause is rewritten with factors numbered by first appearance.
class Instantiation {
public:
  Instantiation(const Rule &rule, Shapes operands, Shapes results,
                bool broadcast)
      : rule(rule), operands(operands), results(results), broadcast(broadcast),
        lengths(rule.factors.size()), sizes(rule.factors.size()),
        renamed(rule.factors.size()) {}

  llvm::Expected<Rule> run();

private:
  bool isRun(const RuleDim &dim) const {
    return dim.factors.size() == 1 && rule.factors[dim.factors[0]].isRun;
  }
  bool isBroadcast(FactorId run) const {
    return broadcast && rule.factors[run].name == "...";
  }
  /// Deduces run lengths from one term; `isOperand` allows broadcasting.
  llvm::Error visitTerm(const RuleTerm &term, llvm::ArrayRef<int64_t> shape,
                        const std::string &where, bool isOperand,
                        bool &progress);
  llvm::Error deduceLengths();
  /// The new factor number `position` of a run (0 for an ordinary factor).
  FactorId newFactor(FactorId old, int64_t position);
  RuleTerm rewriteTerm(const RuleTerm &term, const int64_t *shape, size_t rank);
  llvm::SmallVector<FactorId, 4> rewriteFactors(llvm::ArrayRef<FactorId> ids);
  void rewritePoly(const std::optional<RulePoly> &from,
                   std::optional<RulePoly> &to);

  const Rule &rule;
  Shapes operands, results;
  bool broadcast;
  Rule out;
  /// Per factor of `rule`: the run's length, its sizes (the largest, where it
  /// broadcasts, right-aligned), and the new factors.
  llvm::SmallVector<std::optional<int64_t>, 8> lengths;
  llvm::SmallVector<llvm::SmallVector<int64_t>, 8> sizes;
  llvm::SmallVector<llvm::SmallVector<std::optional<FactorId>, 4>, 8> renamed;
};
} // namespace

llvm::Error Instantiation::visitTerm(const RuleTerm &term,
                                     llvm::ArrayRef<int64_t> shape,
                                     const std::string &where, bool isOperand,
                                     bool &progress) {
  int64_t fixed = 0;
  std::optional<FactorId> open;
  unsigned numOpen = 0;
  size_t before = 0; // dimensions before the open run
  for (const RuleDim &dim : term) {
    FactorId f = dim.factors.empty() ? 0 : dim.factors[0];
    if (!isRun(dim)) {
      ++fixed;
    } else if (lengths[f] && !(isOperand && isBroadcast(f))) {
      fixed += *lengths[f];
    } else {
      open = f;
      ++numOpen;
      before = fixed;
    }
  }
  int64_t rank = shape.size();
  if (numOpen > 1)
    return llvm::Error::success();
  if (!open) {
    if (rank != fixed)
      return bindError("expected rank " + llvm::Twine(fixed) + " of " + where +
                       ", found " + llvm::Twine(rank));
    return llvm::Error::success();
  }
  int64_t length = rank - fixed;
  if (length < 0)
    return bindError("expected rank " + llvm::Twine(fixed) + " or more of " +
                     where + ", found " + llvm::Twine(rank));
  if (!isBroadcast(*open)) {
    lengths[*open] = length;
    progress = true;
    return llvm::Error::success();
  }
  if (!lengths[*open] || *lengths[*open] < length) {
    lengths[*open] = length;
    progress = true;
  }
  // Right-aligned maxima.
  auto &largest = sizes[*open];
  if (static_cast<int64_t>(largest.size()) < length)
    largest.insert(largest.begin(), length - largest.size(), 1);
  for (int64_t i = 0; i < length; ++i) {
    int64_t &slot = largest[largest.size() - length + i];
    slot = std::max(slot, shape[before + i]);
  }
  return llvm::Error::success();
}

llvm::Error Instantiation::deduceLengths() {
  if (operands.size() != rule.operands.size())
    return bindError("expected " + llvm::Twine(rule.operands.size()) +
                     " operands, found " + llvm::Twine(operands.size()));
  if (!results.empty() && results.size() != rule.results.size())
    return bindError("expected " + llvm::Twine(rule.results.size()) +
                     " results, found " + llvm::Twine(results.size()));
  bool progress = true;
  while (progress) {
    progress = false;
    for (auto [i, shape] : llvm::enumerate(operands))
      if (llvm::Error e = visitTerm(rule.operands[i], shape,
                                    place("operand", i), true, progress))
        return e;
    // Operands say first; results only add what no operand says.
    if (progress)
      continue;
    for (auto [j, shape] : llvm::enumerate(results))
      if (llvm::Error e = visitTerm(rule.results[j], shape, place("result", j),
                                    false, progress))
        return e;
  }
  for (auto [f, factor] : llvm::enumerate(rule.factors))
    if (factor.isRun && !lengths[f])
      return bindError("the length of run '" + factor.name +
                       "' does not follow from the shapes");
  return llvm::Error::success();
}

FactorId Instantiation::newFactor(FactorId old, int64_t position) {
  auto &slots = renamed[old];
  if (static_cast<int64_t>(slots.size()) <= position)
    slots.resize(position + 1);
  if (!slots[position]) {
    Rule::Factor factor = rule.factors[old];
    if (factor.isRun) {
      llvm::StringRef stem = llvm::StringRef(factor.name).drop_back(3);
      factor.name = ((stem.empty() ? "x" : stem) + llvm::Twine(position)).str();
      factor.isRun = false;
    }
    slots[position] = out.factors.size();
    out.factors.push_back(std::move(factor));
  }
  return *slots[position];
}

/// Rewrites one term. `shape` is the operand's, null for a result.
RuleTerm Instantiation::rewriteTerm(const RuleTerm &term, const int64_t *shape,
                                    size_t rank) {
  RuleTerm rewritten;
  for (const RuleDim &dim : term) {
    if (!isRun(dim)) {
      RuleDim &copy = rewritten.emplace_back();
      for (FactorId f : dim.factors)
        copy.factors.push_back(newFactor(f, 0));
      continue;
    }
    FactorId run = dim.factors[0];
    int64_t length = *lengths[run], here = length;
    bool broadcasts = shape && isBroadcast(run);
    if (broadcasts) {
      // What the other dimensions of this operand leave.
      here = rank;
      for (const RuleDim &other : term)
        if (&other != &dim)
          here -= isRun(other) ? *lengths[other.factors[0]] : 1;
    }
    for (int64_t p = length - here; p < length; ++p) {
      bool unit =
          broadcasts && shape[rewritten.size()] == 1 && sizes[run][p] != 1;
      RuleDim &added = rewritten.emplace_back();
      if (!unit)
        added.factors.push_back(newFactor(run, p));
    }
  }
  return rewritten;
}

llvm::SmallVector<FactorId, 4>
Instantiation::rewriteFactors(llvm::ArrayRef<FactorId> ids) {
  llvm::SmallVector<FactorId, 4> rewritten;
  for (FactorId f : ids) {
    int64_t length = rule.factors[f].isRun ? *lengths[f] : 1;
    for (int64_t p = 0; p < length; ++p)
      rewritten.push_back(newFactor(f, p));
  }
  return rewritten;
}

void Instantiation::rewritePoly(const std::optional<RulePoly> &from,
                                std::optional<RulePoly> &to) {
  if (!from)
    return;
  to.emplace();
  for (const RuleMonomial &m : *from)
    to->push_back({m.coef, rewriteFactors(m.factors)});
}

llvm::Expected<Rule> Instantiation::run() {
  if (llvm::Error e = deduceLengths())
    return e;
  for (auto [i, term] : llvm::enumerate(rule.operands))
    out.operands.push_back(
        rewriteTerm(term, operands[i].data(), operands[i].size()));
  for (const RuleTerm &term : rule.results)
    out.results.push_back(rewriteTerm(term, nullptr, 0));
  // A windowed operand has no runs, so its dimensions stay.
  for (RuleWindow w : rule.windows) {
    w.factor = newFactor(w.factor, 0);
    out.windows.push_back(w);
  }
  out.sum = rule.sum;
  out.keep = rule.keep;
  out.copy = rule.copy;
  rewritePoly(rule.contract, out.contract);
  rewritePoly(rule.flops, out.flops);
  for (const auto &[operand, touched] : rule.touch)
    out.touch.push_back({operand, rewriteFactors(touched)});
  for (const auto &[operand, factor] : rule.index)
    out.index.push_back({operand, newFactor(factor, 0)});
  return out;
}

llvm::Expected<Rule> Rule::instantiate(
    llvm::ArrayRef<llvm::SmallVector<int64_t>> operandShapes, bool broadcast,
    llvm::ArrayRef<llvm::SmallVector<int64_t>> resultShapes) const {
  if (!isGeneric())
    return *this;
  return Instantiation(*this, operandShapes, resultShapes, broadcast).run();
}

//===----------------------------------------------------------------------===//
// Binding of sizes
//===----------------------------------------------------------------------===//

namespace {
/// Collects factor sizes from shapes.
class Binder {
public:
  explicit Binder(const Rule &rule) {
    bound.rule = rule;
    bound.sizes.assign(rule.factors.size(), 0);
  }
  llvm::Error addGiven(const llvm::StringMap<int64_t> &given);
  /// Reads what single-factor and unit dimensions say; compounds wait.
  llvm::Error addShapes(llvm::ArrayRef<RuleTerm> terms, Shapes shapes,
                        llvm::StringRef what);
  llvm::Expected<BoundRule> finish();

private:
  struct Compound {
    const RuleDim *dim;
    int64_t extent;
    llvm::StringRef what;
    unsigned index, position;
    std::string where() const {
      return ("dimension " + llvm::Twine(position) + " of " + what + " " +
              llvm::Twine(index))
          .str();
    }
  };
  llvm::Error set(FactorId f, int64_t size, const Compound &from);
  llvm::Error solve(const Compound &compound, bool &solved);
  llvm::StringRef name(FactorId f) const { return bound.rule.factors[f].name; }

  BoundRule bound;
  llvm::SmallVector<Compound, 4> compounds;
};
} // namespace

llvm::Error Binder::addGiven(const llvm::StringMap<int64_t> &given) {
  for (const auto &entry : given) {
    std::optional<FactorId> f = bound.rule.find(entry.getKey());
    if (!f)
      return bindError("a size is given for '" + entry.getKey() +
                       "', which is no factor of the rule");
    if (entry.getValue() <= 0)
      return bindError("expected a positive size of factor '" + entry.getKey() +
                       "', found " + llvm::Twine(entry.getValue()));
    bound.sizes[*f] = entry.getValue();
  }
  return llvm::Error::success();
}

llvm::Error Binder::set(FactorId f, int64_t size, const Compound &from) {
  int64_t &slot = bound.sizes[f];
  if (slot && slot != size)
    return bindError("factor '" + name(f) + "': expected size " +
                     llvm::Twine(slot) + ", found " + llvm::Twine(size) +
                     " in " + from.where());
  slot = size;
  return llvm::Error::success();
}

llvm::Error Binder::addShapes(llvm::ArrayRef<RuleTerm> terms, Shapes shapes,
                              llvm::StringRef what) {
  if (terms.size() != shapes.size())
    return bindError("expected " + llvm::Twine(terms.size()) + " " + what +
                     "s, found " + llvm::Twine(shapes.size()));
  for (unsigned i = 0; i < terms.size(); ++i) {
    if (terms[i].size() != shapes[i].size())
      return bindError("expected rank " + llvm::Twine(terms[i].size()) +
                       " of " + what + " " + llvm::Twine(i) + ", found " +
                       llvm::Twine(shapes[i].size()));
    for (unsigned d = 0; d < terms[i].size(); ++d) {
      const RuleDim &dim = terms[i][d];
      Compound at{&dim, shapes[i][d], what, i, d};
      if (at.extent <= 0)
        return bindError("expected a positive extent in " + at.where() +
                         ", found " + llvm::Twine(at.extent));
      if (dim.factors.empty()) {
        if (at.extent != 1)
          return bindError("expected extent 1 in " + at.where() + ", found " +
                           llvm::Twine(at.extent));
      } else if (dim.factors.size() == 1) {
        if (llvm::Error e = set(dim.factors[0], at.extent, at))
          return e;
      } else {
        compounds.push_back(at);
      }
    }
  }
  return llvm::Error::success();
}

llvm::Error Binder::solve(const Compound &compound, bool &solved) {
  int64_t product = 1;
  std::optional<FactorId> unknown;
  for (FactorId f : compound.dim->factors) {
    if (!bound.sizes[f]) {
      if (unknown)
        return llvm::Error::success();
      unknown = f;
    } else if (llvm::MulOverflow(product, bound.sizes[f], product)) {
      return bindError("the product of the factors of " + compound.where() +
                       " overflows");
    }
  }
  solved = true;
  if (!unknown) {
    if (product != compound.extent)
      return bindError("expected extent " + llvm::Twine(product) + " in " +
                       compound.where() + ", found " +
                       llvm::Twine(compound.extent));
    return llvm::Error::success();
  }
  if (compound.extent % product != 0)
    return bindError("expected a multiple of " + llvm::Twine(product) + " in " +
                     compound.where() + ", found " +
                     llvm::Twine(compound.extent));
  return set(*unknown, compound.extent / product, compound);
}

llvm::Expected<BoundRule> Binder::finish() {
  bool progress = true;
  while (progress && !compounds.empty()) {
    progress = false;
    for (size_t i = 0; i < compounds.size();) {
      bool solved = false;
      if (llvm::Error e = solve(compounds[i], solved))
        return e;
      if (solved) {
        compounds.erase(compounds.begin() + i);
        progress = true;
      } else {
        ++i;
      }
    }
  }
  for (FactorId f = 0; f < bound.sizes.size(); ++f)
    if (!bound.sizes[f])
      return bindError("the size of factor '" + name(f) +
                       "' does not follow from the shapes: expected it as an "
                       "attribute");
  for (unsigned j = 0; j < bound.rule.results.size(); ++j)
    for (const RuleDim &dim : bound.rule.results[j]) {
      int64_t product = 1;
      for (FactorId f : dim.factors)
        if (llvm::MulOverflow(product, bound.sizes[f], product))
          return bindError("an extent of result " + llvm::Twine(j) +
                           " overflows");
    }
  return bound;
}

static llvm::Error refuseGeneric(const Rule &rule) {
  for (const Rule::Factor &f : rule.factors)
    if (f.isRun)
      return bindError("expected a rule without runs, found run '" + f.name +
                       "'");
  return llvm::Error::success();
}

llvm::Expected<BoundRule>
BoundRule::bind(const Rule &rule,
                llvm::ArrayRef<llvm::SmallVector<int64_t>> operands,
                const llvm::StringMap<int64_t> &given) {
  if (llvm::Error e = refuseGeneric(rule))
    return e;
  Binder binder(rule);
  if (llvm::Error e = binder.addGiven(given))
    return e;
  if (llvm::Error e = binder.addShapes(rule.operands, operands, "operand"))
    return e;
  return binder.finish();
}

llvm::Expected<BoundRule>
BoundRule::bind(const Rule &rule,
                llvm::ArrayRef<llvm::SmallVector<int64_t>> operands,
                llvm::ArrayRef<llvm::SmallVector<int64_t>> results) {
  if (llvm::Error e = refuseGeneric(rule))
    return e;
  Binder binder(rule);
  if (llvm::Error e = binder.addShapes(rule.operands, operands, "operand"))
    return e;
  if (llvm::Error e = binder.addShapes(rule.results, results, "result"))
    return e;
  return binder.finish();
}

llvm::SmallVector<int64_t> BoundRule::shapeOf(const RuleTerm &term) const {
  llvm::SmallVector<int64_t> shape;
  for (const RuleDim &dim : term) {
    int64_t extent = 1;
    for (FactorId f : dim.factors)
      extent *= sizes[f];
    shape.push_back(extent);
  }
  return shape;
}

int64_t BoundRule::minorTo(const RuleTerm &term, FactorId f) const {
  for (const RuleDim &dim : term) {
    int64_t product = 1;
    for (FactorId g : llvm::reverse(dim.factors)) {
      if (g == f)
        return product;
      product *= sizes[g];
    }
  }
  return 1;
}
