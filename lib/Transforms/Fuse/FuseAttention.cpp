//===- FuseAttention.cpp - Attention from its primitives ------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// softmax(mask(scale * q k^T)) v. The two contractions, the softmax and the
/// moves around them all index one space of factors. What a factor means
/// follows from which of q, k, v and the output have it; the layout and the
/// order of operands do not matter. A factor that a move of k and v generates
/// (grouped queries repeat their keys) is one that k and v do not have.
///
//===----------------------------------------------------------------------===//

#include "FuseDetail.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::fuse;

using Atom = FactorSpace::Atom;
using Dim = FactorSpace::Dim;
using Term = FactorSpace::Term;

/// Scores at most this count as hidden. Exporters write the lowest number of a
/// format, -1e9 or, for half precision, -1e4: exp underflows to 0.
static constexpr double kHidden = -1e4;

namespace {

/// A tensor before the moves on the way to a contraction.
struct Source {
  Value value;
  Term term;
};

class Matcher {
public:
  /// Empty on success, else why the softmax is no attention.
  std::string match(SoftmaxOp softmax);
  /// Whether the softmax is between two contractions.
  bool isCandidate() const { return scores && context; }
  void replace(RewriterBase &rewriter);

private:
  std::string followScores(Value value, Term term);
  std::string followWeights(Value value, Term term);
  std::string applyMask(Value mask, const Term &term, bool added,
                        bool hiddenIfTrue, double hidden);
  Source sourceOf(Value value, Term term, bool scales);
  std::string classify();

  SmallVector<Term, 4> addRule(Operation *op) {
    return space.addRule(llvm::cantFail(bindRule(op)));
  }

  FactorSpace space;
  DotOp scores, context;
  Source q, k, v;
  Term weights, output; // what softmax gives; what the second dot gives
  double scale = 1;
  bool causal = false;
  Dim maskQueries, maskKeys;
  Dim b, g, r, s, t, d, e;
};

} // namespace

/// Looks through moves, and through factors where `scales`, which it collects.
Source Matcher::sourceOf(Value value, Term term, bool scales) {
  while (true) {
    if (auto move = value.getDefiningOp<MoveOp>()) {
      FactorSpace before = space;
      SmallVector<Term, 4> terms = addRule(move);
      if (!space.unify(terms[1], term)) {
        space = before;
        break;
      }
      term = terms[0];
      value = move.getInput();
      continue;
    }
    ElementwiseOp factor = elementwiseOf(value, Elementwise::scale);
    if (!factor || !scales)
      break;
    scale *= constantOf(factor);
    value = factor.getInputs()[0];
  }
  return {value, term};
}

/// A mask over scores with dimensions `term`: added to them, or the condition
/// of a choice between them and `hidden`.
std::string Matcher::applyMask(Value mask, const Term &term, bool added,
                               bool hiddenIfTrue, double hidden) {
  std::optional<TwoValued> known = twoValuedOf(mask);
  if (!known)
    return "its mask is not known to be causal";
  double yes = known->yes, no = known->no;
  if (!added) {
    yes = (yes != 0) == hiddenIfTrue ? hidden : 0;
    no = (no != 0) == hiddenIfTrue ? hidden : 0;
  }
  if (yes == 0 && no == 0)
    return "";
  TwoValued causalForm = *known;
  if (!isCausal(causalForm)) {
    // The opposite condition: not (x <= 0) is 1 - x <= 0.
    for (double &coef : causalForm.coefs)
      coef = -coef;
    causalForm.offset = 1 - causalForm.offset;
    std::swap(yes, no);
  }
  if (!isCausal(causalForm) || yes != 0)
    return "its mask is not causal";
  if (no > kHidden)
    return "its mask does not hide scores: they change by " +
           std::to_string(no);
  Dim queries = term[term.size() - 2], keys = term.back();
  if (causal && (space.resolve(queries) != space.resolve(maskQueries) ||
                 space.resolve(keys) != space.resolve(maskKeys)))
    return "it has two masks over different dimensions";
  causal = true;
  maskQueries = queries;
  maskKeys = keys;
  return "";
}

/// From softmax's operand up to the first contraction.
std::string Matcher::followScores(Value value, Term term) {
  double after = 1; // factors between here and the softmax
  SmallVector<std::string, 2> problems;
  while (true) {
    Operation *op = value.getDefiningOp();
    if (!op)
      return "its operand is no contraction";
    if (auto dot = dyn_cast<DotOp>(op)) {
      SmallVector<Term, 4> terms = addRule(dot);
      if (dot.getInputs().size() != 2 || !space.unify(terms.back(), term))
        return "its scores are no plain contraction";
      scores = dot;
      q = {dot.getInputs()[0], terms[0]};
      k = {dot.getInputs()[1], terms[1]};
      break;
    }
    if (!value.hasOneUse())
      problems.push_back("its scores have other uses");
    if (auto move = dyn_cast<MoveOp>(op)) {
      SmallVector<Term, 4> terms = addRule(move);
      if (!space.unify(terms[1], term) ||
          atomsOf(space.resolve(terms[0])).size() !=
              atomsOf(space.resolve(terms[1])).size())
        return "its scores are moved in a way that is not known";
      term = terms[0];
      value = move.getInput();
      continue;
    }
    auto elementwise = dyn_cast<ElementwiseOp>(op);
    if (!elementwise)
      return "its operand is no contraction";
    OperandRange inputs = elementwise.getInputs();
    std::string problem;
    switch (elementwise.getKind()) {
    case Elementwise::scale:
      after *= constantOf(elementwise);
      value = inputs[0];
      break;
    case Elementwise::cast:
      if (!isFloat(inputs[0]))
        return "its operand is no contraction";
      value = inputs[0];
      break;
    case Elementwise::where: {
      std::optional<double> onTrue = splatOf(inputs[1]),
                            onFalse = splatOf(inputs[2]);
      if (onTrue.has_value() == onFalse.has_value())
        return "it chooses between scores";
      bool hiddenIfTrue = onTrue.has_value();
      Value chosen = inputs[hiddenIfTrue ? 2 : 1];
      if (chosen.getType() != value.getType())
        return "its scores are broadcast";
      problem = applyMask(inputs[0], term, false, hiddenIfTrue,
                          after * (hiddenIfTrue ? *onTrue : *onFalse));
      value = chosen;
      break;
    }
    case Elementwise::add: {
      // The scores are the side that comes from a contraction.
      unsigned side = twoValuedOf(inputs[0]) ? 1 : 0;
      if (inputs[side].getType() != value.getType())
        return "its scores are broadcast";
      Value mask = inputs[1 - side];
      if (after <= 0)
        return "its mask is negated";
      problem = applyMask(mask, term, true, false, 0);
      value = inputs[side];
      break;
    }
    default:
      return "its operand is no contraction";
    }
    if (!problem.empty())
      problems.push_back(problem);
    if (term.size() < 2)
      return "its scores have fewer than two dimensions";
  }
  if (!scores->hasOneUse())
    problems.push_back("its scores have other uses");
  scale *= after;
  return problems.empty() ? "" : problems.front();
}

/// From softmax's result down to the second contraction.
std::string Matcher::followWeights(Value value, Term term) {
  while (true) {
    if (!value.hasOneUse())
      return "its result has other uses";
    OpOperand &use = *value.getUses().begin();
    Operation *op = use.getOwner();
    if (auto dot = dyn_cast<DotOp>(op)) {
      if (dot.getInputs().size() != 2)
        return "its contraction with values has an addend";
      SmallVector<Term, 4> terms = addRule(dot);
      unsigned side = use.getOperandNumber();
      if (!space.unify(terms[side], term))
        return "its contraction with values has other factors";
      context = dot;
      v = {dot.getInputs()[1 - side], terms[1 - side]};
      output = terms[2];
      return "";
    }
    if (auto move = dyn_cast<MoveOp>(op)) {
      SmallVector<Term, 4> terms = addRule(move);
      if (!space.unify(terms[0], term) ||
          atomsOf(space.resolve(terms[0])).size() !=
              atomsOf(space.resolve(terms[1])).size())
        return "its result is moved in a way that is not known";
      term = terms[1];
      value = move.getResult();
      continue;
    }
    auto cast = dyn_cast<ElementwiseOp>(op);
    if (!cast || cast.getKind() != Elementwise::cast ||
        !isFloat(cast.getResults()[0]))
      return "its result is not contracted with values";
    value = cast.getResults()[0];
  }
}

using AtomSet = llvm::SmallSetVector<Atom, 16>;

static AtomSet setOf(const Term &term) {
  AtomSet set;
  for (Atom atom : atomsOf(term))
    set.insert(atom);
  return set;
}

/// Finds out what each factor is; the names of the op table.
std::string Matcher::classify() {
  for (Term *term : {&q.term, &k.term, &v.term, &weights, &output})
    *term = space.resolve(*term);
  t = weights.back();
  AtomSet ofT, ofP = setOf(weights), ofO = setOf(output);
  ofT.insert_range(t);
  // k is the operand that has the keys.
  auto hasKeys = [&](const Term &term) {
    AtomSet set = setOf(term);
    return llvm::any_of(t, [&](Atom a) { return set.contains(a); });
  };
  if (hasKeys(q.term))
    std::swap(q, k);
  AtomSet ofQ = setOf(q.term), ofK = setOf(k.term), ofV = setOf(v.term);
  // A factor twice in one term is a diagonal.
  for (const Term *term : {&q.term, &k.term, &v.term, &weights, &output})
    if (setOf(*term).size() != atomsOf(*term).size())
      return "it takes a diagonal";
  if (t.empty() || hasKeys(q.term))
    return "its keys are not a dimension of one operand";
  AtomSet batch, queries;
  for (Atom atom : ofP) {
    if (ofT.contains(atom)) {
      if (!ofK.contains(atom) || !ofV.contains(atom) || ofO.contains(atom))
        return "its keys are not contracted with values";
      continue;
    }
    if (!ofQ.contains(atom) || !ofO.contains(atom) ||
        ofK.contains(atom) != ofV.contains(atom))
      return "its keys and values have different factors";
    (ofK.contains(atom) ? batch : queries).insert(atom);
  }
  auto claim = [&](const Term &term, auto known, Dim &own) {
    for (Atom atom : atomsOf(term))
      if (!known(atom))
        own.push_back(atom);
  };
  claim(k.term, [&](Atom a) { return ofP.contains(a); }, d);
  claim(v.term, [&](Atom a) { return ofP.contains(a); }, e);
  auto is = [](const Dim &dim, Atom a) { return llvm::is_contained(dim, a); };
  bool closed = llvm::all_of(d, [&](Atom a) { return ofQ.contains(a); }) &&
                llvm::all_of(e,
                             [&](Atom a) {
                               return ofO.contains(a) && !ofQ.contains(a) &&
                                      !ofK.contains(a);
                             }) &&
                llvm::all_of(ofQ,
                             [&](Atom a) {
                               return batch.contains(a) ||
                                      queries.contains(a) || is(d, a);
                             }) &&
                llvm::all_of(ofO, [&](Atom a) {
                  return batch.contains(a) || queries.contains(a) || is(e, a);
                });
  if (!closed || d.empty() || e.empty())
    return "its operands have factors of other roles";
  // Queries are the dimension before the keys, or the mask's.
  s = causal ? space.resolve(maskQueries) : weights[weights.size() - 2];
  if (causal && space.resolve(maskKeys) != t)
    return "its mask is over other keys";
  if (!llvm::all_of(s, [&](Atom a) { return queries.contains(a); }))
    return "its queries are not a dimension of their own";
  for (Atom atom : queries)
    if (!is(s, atom))
      r.push_back(atom);
  // The first dimension is the batch; alone, its major factor is.
  bool headsApart = weights.size() > 3;
  for (Atom atom : weights.front())
    if (headsApart ? batch.contains(atom) : batch.contains(atom) && b.empty())
      b.push_back(atom);
  for (Atom atom : batch)
    if (!is(b, atom))
      g.push_back(atom);
  return "";
}

std::string Matcher::match(SoftmaxOp softmax) {
  RankedTensorType type = tensorType(softmax.getResult());
  if (type.getRank() < 2)
    return "it has fewer than two dimensions";
  weights = space.addShape(type.getShape());
  std::string below = followWeights(softmax.getResult(), weights);
  std::string above = followScores(softmax.getInput(), weights);
  if (!above.empty() || !below.empty())
    return above.empty() ? below : above;
  q = sourceOf(q.value, q.term, /*scales=*/true);
  k = sourceOf(k.value, k.term, /*scales=*/true);
  v = sourceOf(v.value, v.term, /*scales=*/false);
  Type element = tensorType(q.value).getElementType();
  if (tensorType(k.value).getElementType() != element ||
      tensorType(v.value).getElementType() != element ||
      tensorType(context.getResult()).getElementType() != element)
    return "its operands have different element types";
  return classify();
}

void Matcher::replace(RewriterBase &rewriter) {
  Location loc = context.getLoc();
  rewriter.setInsertionPoint(context);
  Value query = fuse::buildMove(rewriter, loc, space, q.value, q.term,
                                {b, g, r, s, d}),
        key = fuse::buildMove(rewriter, loc, space, k.value, k.term,
                              {b, g, t, d}),
        value = fuse::buildMove(rewriter, loc, space, v.value, v.term,
                                {b, g, t, e});
  Type element = tensorType(query).getElementType();
  // Statistics of narrow types are kept in single precision.
  Type wide = element.isF64() ? element : rewriter.getF32Type();
  Term result{b, g, r, s, e}, rows{b, g, r, s};
  auto attention = AttentionOp::create(
      rewriter, loc, RankedTensorType::get(space.shapeOf(result), element),
      RankedTensorType::get(space.shapeOf(rows), wide), query, key, value,
      causal, llvm::APFloat(scale), context.getOrigin(), OpStateAttr());
  rewriter.replaceAllUsesWith(context.getResult(),
                              fuse::buildMove(rewriter, loc, space,
                                              attention.getOutput(), result,
                                              output));
}

bool fuse::fuseAttention(Operation *op, RewriterBase &rewriter) {
  auto softmax = dyn_cast<SoftmaxOp>(op);
  Matcher matcher;
  if (!softmax || !matcher.match(softmax).empty())
    return false;
  matcher.replace(rewriter);
  return true;
}

std::string fuse::whyNotAttention(SoftmaxOp softmax) {
  Matcher matcher;
  std::string why = matcher.match(softmax);
  return matcher.isCandidate() ? why : "";
}
