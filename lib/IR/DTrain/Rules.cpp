//===- Rules.cpp - The rule of each op, and what follows from it ----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/DTrain.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dtrain;

Rule dtrain::parseRuleOrDie(StringRef text) {
  return llvm::cantFail(Rule::parse(text));
}

LogicalResult dtrain::verifyAttentionOp(Operation *op) {
  AttentionFactors f = cast<AttentionOpInterface>(op).getAttentionFactors();
  // Runs are replaced; a rule that does not bind has been reported.
  llvm::Expected<BoundRule> bound = bindRule(op);
  if (!bound) {
    llvm::consumeError(bound.takeError());
    return failure();
  }
  const Rule &rule = bound->rule;
  for (FactorId id :
       {f.batch, f.heads, f.group, f.query, f.key, f.headDim, f.valueDim})
    if (id >= rule.factors.size())
      return op->emitOpError("an attention has a factor of number ")
             << id << ", of which its rule has " << rule.factors.size();
  return success();
}

/// The factors of dtrain's own attentions by their letters.
static AttentionFactors namedFactors(const Rule &rule) {
  return {*rule.find("b"), *rule.find("g"), *rule.find("r"), *rule.find("s"),
          *rule.find("t"), *rule.find("d"), *rule.find("e")};
}
AttentionFactors AttentionOp::getAttentionFactors() {
  return namedFactors(getRule());
}
AttentionFactors AttentionGradOp::getAttentionFactors() {
  return namedFactors(getRule());
}
bool AttentionOp::isCausal() { return getCausal(); }
bool AttentionGradOp::isCausal() { return getCausal(); }

static SmallVector<SmallVector<int64_t>> shapesOf(TypeRange types) {
  SmallVector<SmallVector<int64_t>> shapes;
  for (Type t : types)
    shapes.emplace_back(cast<RankedTensorType>(t).getShape());
  return shapes;
}

llvm::Expected<BoundRule> dtrain::bindRule(Operation *op) {
  auto iface = cast<RuleOpInterface>(op);
  SmallVector<SmallVector<int64_t>> operands = shapesOf(op->getOperandTypes());
  Rule rule = iface.getRule();
  if (rule.isGeneric()) {
    llvm::Expected<Rule> concrete =
        rule.instantiate(operands, iface.broadcasts());
    if (!concrete)
      return concrete.takeError();
    rule = std::move(*concrete);
  }
  return BoundRule::bind(rule, operands, shapesOf(op->getResultTypes()));
}

LogicalResult dtrain::verifyRuleOp(Operation *op) {
  for (NamedAttribute attr : op->getDiscardableAttrs())
    if (!attr.getNameDialect())
      return op->emitOpError("unknown attribute '") << attr.getName() << "'";
  for (Type t :
       llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
    if (!cast<RankedTensorType>(t).hasStaticShape())
      return op->emitOpError("expected static shapes, found ") << t;
  // Before the rule is asked for: it spells the dimension.
  if (auto dim = op->getAttrOfType<IntegerAttr>("dim")) {
    int64_t rank = tensorType(op->getResult(0)).getRank();
    if (dim.getInt() < 0 || dim.getInt() >= rank) // C1
      return op->emitOpError("C1: expected a dimension below ")
             << rank << ", found " << dim.getInt();
  }
  OpClass cls = cast<RuleOpInterface>(op).getOpClass();
  if ((cls == OpClass::Attention || cls == OpClass::AttentionBackward) &&
      !isa<AttentionOpInterface>(op))
    return op->emitOpError("is of class ")
           << stringifyOpClass(cls)
           << " and does not say what its factors are (AttentionOpInterface)";
  llvm::Expected<BoundRule> bound = bindRule(op);
  if (!bound)
    return op->emitOpError("rule: ") << llvm::toString(bound.takeError());
  return success();
}

llvm::Expected<SmallVector<SmallVector<int64_t>>>
dtrain::inferShapes(const Rule &generic, bool broadcasts, ValueRange operands) {
  SmallVector<SmallVector<int64_t>> shapes = shapesOf(operands.getTypes());
  llvm::Expected<Rule> rule = generic.instantiate(shapes, broadcasts);
  if (!rule)
    return rule.takeError();
  llvm::Expected<BoundRule> bound =
      BoundRule::bind(*rule, shapes, llvm::StringMap<int64_t>());
  if (!bound)
    return bound.takeError();
  SmallVector<SmallVector<int64_t>> results;
  for (unsigned j = 0; j < rule->results.size(); ++j)
    results.push_back(bound->resultShape(j));
  return results;
}

SmallVector<TensorState> dtrain::statesOf(ValueRange values, MeshAttr mesh) {
  return llvm::map_to_vector(
      values, [&](Value v) { return stateOf(tensorType(v), mesh); });
}

llvm::Error dtrain::verifyOpState(Operation *op, const BoundRule &rule,
                                  MeshAttr mesh, const OpState &state) {
  SmallVector<MeshAxis> axes = mesh.getAxes();
  auto check = [&](Value value, auto stateOn) {
    TensorState t = llvm::map_to_vector<4>(state, stateOn);
    return verifyTensorState(axes, tensorType(value).getShape(), t);
  };
  for (auto [i, v] : llvm::enumerate(op->getOperands()))
    if (llvm::Error e = check(
            v, [&, i = i](const OpAxisState &s) { return need(rule, i, s); }))
      return e;
  for (auto [j, v] : llvm::enumerate(op->getResults()))
    if (llvm::Error e = check(
            v, [&, j = j](const OpAxisState &s) { return gives(rule, j, s); }))
      return e;
  return llvm::Error::success();
}

FailureOr<dtrain::OpState>
dtrain::inferOpState(MeshAttr mesh, const BoundRule &rule,
                     ArrayRef<TensorState> operands,
                     ArrayRef<TensorState> results,
                     function_ref<LogicalResult(unsigned, ArrayRef<AxisState>,
                                                ArrayRef<AxisState>)>
                         complain) {
  dtrain::OpState state;
  for (auto [axis, size] : llvm::enumerate(mesh.getSizes())) {
    auto onAxis = [axis = axis](const TensorState &s) { return s[axis]; };
    auto ins = llvm::map_to_vector(operands, onAxis);
    auto outs = llvm::map_to_vector(results, onAxis);
    std::optional<OpAxisState> found = inferState(rule, ins, outs, size);
    if (!found)
      return complain(axis, ins, outs);
    state.push_back(*found);
  }
  return state;
}

//===----------------------------------------------------------------------===//
// Rules that depend on the instance
//===----------------------------------------------------------------------===//

Rule DotOp::getRule() {
  Rule rule = getEinsum().getValue();
  rule.sum = {{0, 1}};
  if (rule.operands.size() == 3)
    rule.sum.push_back({2});
  RuleMonomial all{2.0, {}};
  for (FactorId f = 0; f < rule.factors.size(); ++f)
    all.factors.push_back(f);
  rule.contract = rule.flops = RulePoly{all};
  return rule;
}
Rule CustomOp::getRule() { return getEinsum().getValue(); }

Rule MoveOp::getRule() {
  Rule rule = getEinsum().getValue();
  rule.sum = {{0}};
  rule.flops = RulePoly{{0.0, {}}};
  rule.copy = {0};
  return rule;
}

Rule ReductionOp::getRule() {
  Rule rule = getEinsum().getValue();
  if (getKind() == Reduction::sum) {
    rule.sum = {{0}};
    return rule;
  }
  for (auto [f, factor] : llvm::enumerate(rule.factors))
    if (rule.reducedIn(f, 0))
      factor.reduce = ReduceOp::Max;
  return rule;
}

unsigned dtrain::arityOf(Elementwise kind) {
  // The enum groups kinds by their number of operands; gradients take two.
  if (kind < Elementwise::add)
    return 1;
  return kind < Elementwise::where ? 2 : 3;
}

bool dtrain::takesConstant(Elementwise kind) {
  return kind == Elementwise::scale || kind == Elementwise::offset ||
         kind == Elementwise::power || kind == Elementwise::power_grad;
}

/// The linear products of an elementwise kind and what it copies, as rule text.
static StringRef linearityOf(Elementwise kind) {
  switch (kind) {
  case Elementwise::cast:
    return " | sum 0 | copy 0";
  case Elementwise::neg:
  case Elementwise::scale:
  case Elementwise::div:
    return " | sum 0";
  case Elementwise::add:
  case Elementwise::sub:
    return " | sum 0+1";
  case Elementwise::mul:
    return " | sum 0*1";
  case Elementwise::where:
    return " | sum 1+2";
  case Elementwise::swiglu:
    return " | sum 1";
  case Elementwise::swiglu_grad:
  case Elementwise::relu_grad:
  case Elementwise::tanh_grad:
  case Elementwise::sigmoid_grad:
  case Elementwise::gelu_grad:
  case Elementwise::gelu_tanh_grad:
  case Elementwise::silu_grad:
  case Elementwise::erf_grad:
  case Elementwise::power_grad:
    return " | sum 0";
  default:
    return "";
  }
}

/// Executed FLOPs per element; transcendental functions count 8 (a polynomial
/// of that degree), the rest one. They matter to energy alone: these ops are
/// bound by memory.
static int flopsOf(Elementwise kind) {
  switch (kind) {
  case Elementwise::exp:
  case Elementwise::log:
  case Elementwise::tanh:
  case Elementwise::sigmoid:
  case Elementwise::erf:
  case Elementwise::gelu:
  case Elementwise::gelu_tanh:
  case Elementwise::silu:
  case Elementwise::power:
  case Elementwise::swiglu:
  case Elementwise::gelu_grad:
  case Elementwise::gelu_tanh_grad:
  case Elementwise::silu_grad:
  case Elementwise::erf_grad:
  case Elementwise::power_grad:
  case Elementwise::swiglu_grad:
    return 8;
  default:
    return 1;
  }
}

Rule ElementwiseOp::getRule() {
  static const llvm::DenseMap<int, Rule> *rules = [] {
    auto *map = new llvm::DenseMap<int, Rule>();
    for (int k = 0; k <= static_cast<int>(getMaxEnumValForElementwise()); ++k) {
      std::optional<Elementwise> kind = symbolizeElementwise(k);
      if (!kind)
        continue;
      SmallVector<StringRef> operands(arityOf(*kind), "...");
      std::string results =
          *kind == Elementwise::swiglu_grad ? "..., ..." : "...";
      map->insert(
          {k, parseRuleOrDie(llvm::join(operands, ", ") + " -> " + results +
                             linearityOf(*kind).str() + " | flops " +
                             std::to_string(flopsOf(*kind)) + " ...")});
    }
    return map;
  }();
  return rules->lookup(static_cast<int>(getKind()));
}

Rule NormalizeOp::getRule() {
  static const Rule biased =
      parseRuleOrDie("... d, d, d -> ... d | stat d | flops 8 ... d");
  static const Rule plain =
      parseRuleOrDie("... d, d -> ... d | stat d | flops 5 ... d");
  return getBias() ? biased : plain;
}

Rule NormalizeGradOp::getRule() {
  static const Rule biased = parseRuleOrDie(
      "... d, ... d, d -> ... d, d, d | stat d | sum 0 | flops 12 ... d");
  static const Rule plain = parseRuleOrDie(
      "... d, ... d, d -> ... d, d | stat d | sum 0 | flops 9 ... d");
  return getGradBias() ? biased : plain;
}

Rule UpdateOp::getRule() {
  static const Rule adamw =
      parseRuleOrDie("..., ..., ..., ... -> ..., ..., ... | flops 14 ...");
  static const Rule sgd =
      parseRuleOrDie("..., ..., ... -> ..., ... | flops 4 ...");
  return getKind() == Optimizer::adamw ? adamw : sgd;
}

/// A rule over factors d0 d1 … of a tensor, where `term(i)` spells operand i.
static std::string dims(unsigned rank, unsigned special, StringRef name) {
  std::string text;
  for (unsigned d = 0; d < rank; ++d)
    text +=
        (d ? " " : "") + (d == special ? name.str() : "d" + std::to_string(d));
  return text;
}

Rule ConcatOp::getRule() {
  unsigned rank = tensorType(getResult()).getRank();
  std::string terms, whole = "m", sum, copy;
  for (unsigned i = 0; i < getInputs().size(); ++i) {
    std::string n = "n" + std::to_string(i);
    terms += (i ? ", " : "") + dims(rank, getDim(), n);
    whole += " " + n;
    sum += (i ? "+" : "") + std::to_string(i);
    copy += " " + std::to_string(i);
  }
  return parseRuleOrDie(terms + " -> " + dims(rank, getDim(), "m") +
                        " | whole " + whole + " | sum " + sum + " | copy" +
                        copy);
}

static Rule shiftRule(RankedTensorType type, unsigned dim, bool view) {
  return parseRuleOrDie(
      dims(type.getRank(), dim, "n") + " -> " + dims(type.getRank(), dim, "m") +
      " | whole n m | sum 0" + (view ? " | flops 0" : "") + " | copy 0");
}
Rule SliceOp::getRule() {
  return shiftRule(tensorType(getInput()), getDim(), true);
}
Rule PadOp::getRule() {
  return shiftRule(tensorType(getInput()), getDim(), false);
}

static Rule generatedRule(RankedTensorType type) {
  return parseRuleOrDie(" -> " + dims(type.getRank(), ~0u, "") + " | flops 0");
}
Rule ConstantOp::getRule() { return generatedRule(tensorType(getResult())); }
Rule IotaOp::getRule() { return generatedRule(tensorType(getResult())); }
