//===- Work.cpp - Hardware-independent work of an op ----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Work.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace dtrain;

/// Product of the degrees of the axes in `mask`.
static int64_t degreeOf(AxisMask mask, llvm::ArrayRef<int64_t> degrees) {
  int64_t degree = 1;
  for (unsigned a = 0; a < degrees.size(); ++a)
    if (mask >> a & 1)
      degree *= degrees[a];
  return degree;
}

static int64_t localSize(const FactorUse &use,
                         llvm::ArrayRef<int64_t> degrees) {
  return llvm::divideCeilSigned(use.size, degreeOf(use.axes, degrees));
}

double Work::local(llvm::ArrayRef<WorkTerm> terms,
                   llvm::ArrayRef<int64_t> degrees) const {
  double sum = 0;
  for (const WorkTerm &term : terms) {
    double product = term.coef;
    for (unsigned f : term.factors)
      product *= localSize(factors[f], degrees);
    sum += product;
  }
  return sum;
}

double Work::mean(llvm::ArrayRef<WorkTerm> terms,
                  llvm::ArrayRef<int64_t> degrees) const {
  double sum = 0;
  for (const WorkTerm &term : terms) {
    double product = term.coef;
    for (unsigned f : term.factors)
      product *= static_cast<double>(factors[f].size) /
                 degreeOf(factors[f].axes, degrees);
    sum += product;
  }
  return sum;
}

double Work::total(llvm::ArrayRef<WorkTerm> terms) const {
  return mean(terms, {});
}

GemmShape Work::gemm(llvm::ArrayRef<int64_t> degrees) const {
  GemmShape shape;
  for (const FactorUse &use : factors) {
    int64_t size = localSize(use, degrees);
    switch (use.group) {
    case FactorGroup::None:
      break;
    case FactorGroup::Batch:
      shape.batch *= size;
      break;
    case FactorGroup::M:
      shape.m *= size;
      break;
    case FactorGroup::N:
      shape.n *= size;
      break;
    case FactorGroup::K:
      shape.k *= size;
      break;
    }
  }
  return shape;
}

/// Sorts the factors of a contraction into the dimensions of a matrix
/// multiplication.
static void groupFactors(const Rule &rule, Work &work) {
  if (!rule.contract || rule.results.empty())
    return;
  const auto *product =
      llvm::find_if(rule.sum, [](auto &p) { return p.size() == 2; });
  if (product == rule.sum.end())
    return;
  const RuleTerm &a = rule.operands[(*product)[0]];
  const RuleTerm &b = rule.operands[(*product)[1]];
  const RuleTerm &y = rule.results[0];
  for (FactorId f = 0; f < rule.factors.size(); ++f) {
    bool inA = Rule::dimOf(a, f).has_value();
    bool inB = Rule::dimOf(b, f).has_value();
    bool inY = Rule::dimOf(y, f).has_value();
    bool counted = llvm::any_of(*rule.contract, [&](const RuleMonomial &m) {
      return llvm::is_contained(m.factors, f);
    });
    FactorGroup &group = work.factors[f].group;
    if (inA && inB)
      group = inY ? FactorGroup::Batch : FactorGroup::K;
    else if (inY && inA)
      group = FactorGroup::M;
    else if (inY && inB)
      group = FactorGroup::N;
    else if (counted)
      group = inY ? FactorGroup::M : FactorGroup::K;
  }
}

static void addPoly(const RulePoly &poly,
                    llvm::SmallVectorImpl<WorkTerm> &terms) {
  for (const RuleMonomial &m : poly)
    terms.push_back({m.coef, m.factors});
}

/// One element of a term per point of all its factors.
static WorkTerm elementsOf(const RuleTerm &term, double bytes) {
  WorkTerm elements{bytes, {}};
  for (const RuleDim &dim : term)
    llvm::append_range(elements.factors, dim.factors);
  return elements;
}

Work dtrain::workOf(const BoundRule &bound, llvm::ArrayRef<double> operandBytes,
                    llvm::ArrayRef<double> resultBytes, const OpState &state) {
  const Rule &rule = bound.rule;
  Work work;
  for (int64_t size : bound.sizes) {
    work.factors.emplace_back();
    work.factors.back().size = size;
  }
  for (unsigned a = 0; a < state.size(); ++a) {
    AxisMask bit = AxisMask(1) << a;
    if (state[a].kind == OpAxisState::Factor)
      work.factors[state[a].factor].axes |= bit;
    else if (state[a].kind != OpAxisState::Pinned)
      work.replicated |= bit;
  }
  groupFactors(rule, work);

  if (rule.contract)
    addPoly(*rule.contract, work.contract);
  if (rule.flops) {
    addPoly(*rule.flops, work.flops);
  } else if (rule.contract) {
    work.flops = work.contract;
  } else {
    WorkTerm points{1, {}};
    for (FactorId f = 0; f < rule.factors.size(); ++f)
      points.factors.push_back(f);
    work.flops.push_back(std::move(points));
  }

  for (unsigned i = 0; i < rule.operands.size(); ++i) {
    const auto *touched =
        llvm::find_if(rule.touch, [&](auto &t) { return t.first == i; });
    if (touched != rule.touch.end())
      work.read.push_back({operandBytes[i], touched->second});
    else
      work.read.push_back(elementsOf(rule.operands[i], operandBytes[i]));
  }
  for (unsigned j = 0; j < rule.results.size(); ++j)
    work.written.push_back(elementsOf(rule.results[j], resultBytes[j]));
  return work;
}
