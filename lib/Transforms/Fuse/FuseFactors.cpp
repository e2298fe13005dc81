//===- FuseFactors.cpp - Factors of several rules -------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuseDetail.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::fuse;

FactorSpace::Dim FactorSpace::add(int64_t size) {
  if (size == 1)
    return {};
  sizes.push_back(size);
  parts.emplace_back();
  return {static_cast<Atom>(sizes.size() - 1)};
}

FactorSpace::Term FactorSpace::addShape(ArrayRef<int64_t> shape) {
  Term term;
  for (int64_t extent : shape)
    term.push_back(add(extent));
  return term;
}

SmallVector<FactorSpace::Term, 4> FactorSpace::addRule(const BoundRule &bound) {
  SmallVector<Dim> factors;
  for (int64_t size : bound.sizes)
    factors.push_back(add(size));
  SmallVector<Term, 4> terms;
  for (const RuleTerm &ruleTerm :
       llvm::concat<const RuleTerm>(bound.rule.operands, bound.rule.results)) {
    Term &term = terms.emplace_back();
    for (const RuleDim &ruleDim : ruleTerm) {
      Dim &dim = term.emplace_back();
      for (FactorId f : ruleDim.factors)
        dim.append(factors[f]);
    }
  }
  return terms;
}

FactorSpace::Dim FactorSpace::resolve(const Dim &dim) const {
  Dim resolved;
  SmallVector<Atom> stack(llvm::reverse(dim));
  while (!stack.empty()) {
    Atom atom = stack.pop_back_val();
    if (parts[atom].empty())
      resolved.push_back(atom);
    else
      stack.append(parts[atom].rbegin(), parts[atom].rend());
  }
  return resolved;
}

FactorSpace::Term FactorSpace::resolve(const Term &term) const {
  Term resolved;
  for (const Dim &dim : term)
    resolved.push_back(resolve(dim));
  return resolved;
}

int64_t FactorSpace::sizeOf(const Dim &dim) const {
  int64_t size = 1;
  for (Atom atom : dim)
    size *= sizes[atom];
  return size;
}

SmallVector<int64_t> FactorSpace::shapeOf(const Term &term) const {
  SmallVector<int64_t> shape;
  for (const Dim &dim : term)
    shape.push_back(sizeOf(dim));
  return shape;
}

bool FactorSpace::unify(const Dim &a, const Dim &b) {
  if (sizeOf(a) != sizeOf(b))
    return false;
  // From the minor end; what is refined may be on both sides.
  Dim x = resolve(a), y = resolve(b);
  while (!x.empty() && !y.empty()) {
    Atom p = x.back(), q = y.back();
    if (p == q) {
      x.pop_back();
      y.pop_back();
      continue;
    }
    if (sizes[p] == sizes[q]) {
      parts[q] = {p};
    } else {
      if (sizes[p] < sizes[q])
        std::swap(p, q);
      if (sizes[p] % sizes[q] != 0)
        return false;
      Dim major = add(sizes[p] / sizes[q]);
      major.push_back(q);
      parts[p] = major;
    }
    x = resolve(x);
    y = resolve(y);
  }
  return x.empty() && y.empty();
}

bool FactorSpace::unify(const Term &a, const Term &b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [&](auto pair) {
           return unify(std::get<0>(pair), std::get<1>(pair));
         });
}

FactorSpace::Dim fuse::atomsOf(const FactorSpace::Term &term) {
  FactorSpace::Dim atoms;
  for (const FactorSpace::Dim &dim : term)
    atoms.append(dim);
  return atoms;
}

Rule FactorSpace::spell(ArrayRef<Term> operands, const Term &result) const {
  SmallVector<Term> terms;
  for (const Term &term : operands)
    terms.push_back(resolve(term));
  terms.push_back(resolve(result));
  // The atom that follows each one, where it is the same everywhere.
  constexpr Atom kNone = ~0u;
  llvm::DenseMap<Atom, Atom> next, previous;
  auto note = [](llvm::DenseMap<Atom, Atom> &map, Atom key, Atom value) {
    auto [it, inserted] = map.try_emplace(key, value);
    if (!inserted && it->second != value)
      it->second = kNone;
  };
  for (const Term &term : terms)
    for (const Dim &dim : term)
      for (unsigned i = 0; i < dim.size(); ++i) {
        note(next, dim[i], i + 1 < dim.size() ? dim[i + 1] : kNone);
        note(previous, dim[i], i > 0 ? dim[i - 1] : kNone);
      }
  Rule rule;
  llvm::DenseMap<Atom, FactorId> ids;
  auto spellTerm = [&](const Term &term) {
    RuleTerm spelled;
    for (const Dim &dim : term) {
      RuleDim &ruleDim = spelled.emplace_back();
      for (unsigned i = 0; i < dim.size(); ++i) {
        bool merged = i > 0 && next[dim[i - 1]] == dim[i] &&
                      previous[dim[i]] == dim[i - 1];
        if (merged)
          continue;
        auto [it, inserted] = ids.try_emplace(dim[i], rule.factors.size());
        if (inserted) {
          unsigned n = rule.factors.size();
          std::string name(1, static_cast<char>('a' + n % 26));
          if (n >= 26)
            name += std::to_string(n / 26);
          rule.factors.emplace_back().name = name;
        }
        ruleDim.factors.push_back(it->second);
      }
    }
    return spelled;
  };
  for (const Term &term : ArrayRef(terms).drop_back())
    rule.operands.push_back(spellTerm(term));
  rule.results.push_back(spellTerm(terms.back()));
  return rule;
}

bool FactorSpace::isOneMove(const Term &from, const Term &to) const {
  Term source = resolve(from), target = resolve(to);
  llvm::Expected<BoundRule> bound =
      BoundRule::bind(spell(source, target), shapeOf(source), shapeOf(target));
  if (bound)
    return true;
  llvm::consumeError(bound.takeError());
  return false;
}

Value fuse::buildMove(OpBuilder &b, Location loc, const FactorSpace &space,
                      Value input, const FactorSpace::Term &from,
                      const FactorSpace::Term &to) {
  FactorSpace::Term source = space.resolve(from), target = space.resolve(to);
  if (source == target)
    return input;
  if (!space.isOneMove(source, target)) {
    // By way of a tensor with a dimension for every atom: its shape says their
    // sizes to both moves.
    FactorSpace::Term apart;
    for (FactorSpace::Atom atom : atomsOf(target))
      apart.push_back({atom});
    input = buildMove(b, loc, space, input, source, apart);
    source = apart;
  }
  auto type = RankedTensorType::get(space.shapeOf(target),
                                    tensorType(input).getElementType());
  return MoveOp::create(
      b, loc, type, input,
      RuleAttr::get(b.getContext(), space.spell(source, target)),
      Origin::forward, OpStateAttr());
}
