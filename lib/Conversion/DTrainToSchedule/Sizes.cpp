//===- Sizes.cpp - The sizes that a program's dimensions share ------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sizes.h"
#include "Program.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::conversion;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

Sizes::Node Sizes::newNode(int64_t size) {
  parents.push_back(parents.size());
  values.push_back(size);
  isFixed.push_back(false);
  return parents.size() - 1;
}

Sizes::Node Sizes::leader(Node node) const {
  while (parents[node] != node)
    node = parents[node] = parents[parents[node]];
  return node;
}

Sizes::Node Sizes::nodeOf(Value value, unsigned dim) {
  auto [it, isNew] = dims.try_emplace({value, dim}, 0);
  if (isNew) {
    Node node = newNode(tensorType(value).getDimSize(dim));
    it->second = node;
  }
  return it->second;
}

Sizes::Node Sizes::nodeOf(Operation *op, FactorId factor, int64_t size) {
  auto [it, isNew] = factors.try_emplace({op, factor}, 0);
  if (isNew) {
    Node node = newNode(size);
    it->second = node;
  }
  return it->second;
}

void Sizes::join(Node a, Node b) {
  a = leader(a);
  b = leader(b);
  // Only equal extents are one size: a dimension of 1 may be broadcast.
  if (a == b || values[a] != values[b])
    return;
  parents[std::max(a, b)] = std::min(a, b);
  isFixed[std::min(a, b)] = isFixed[a] || isFixed[b];
}

void Sizes::joinAll(Value outer, Value inner, bool isRow) {
  for (int64_t d = 0; d < tensorType(inner).getRank(); ++d)
    join(nodeOf(outer, d + isRow), nodeOf(inner, d));
}

//===----------------------------------------------------------------------===//
// What makes dimensions equal
//===----------------------------------------------------------------------===//

void Sizes::visitTerm(Operation *op, const BoundRule &bound,
                      const RuleTerm &term, Value value) {
  for (auto [d, dim] : llvm::enumerate(term)) {
    auto factorNode = [&](FactorId f) { return nodeOf(op, f, bound.sizes[f]); };
    if (dim.factors.size() == 1)
      join(nodeOf(value, d), factorNode(dim.factors.front()));
    if (dim.factors.size() < 2)
      continue;
    Relation relation{nodeOf(value, d), {}};
    for (FactorId f : dim.factors)
      relation.parts.push_back(factorNode(f));
    relations.push_back(std::move(relation));
  }
}

void Sizes::visit(RuleOpInterface op) {
  llvm::Expected<BoundRule> bound = bindRule(op);
  if (!bound) {
    llvm::consumeError(bound.takeError());
    return;
  }
  const Rule &rule = bound->rule;
  for (auto [term, value] : llvm::zip(rule.operands, op->getOperands()))
    visitTerm(op, *bound, term, value);
  for (auto [term, value] : llvm::zip(rule.results, op->getResults()))
    visitTerm(op, *bound, term, value);
}

void Sizes::visit(RepeatOp repeat) {
  func::FuncOp body = repeat.getBody();
  if (!body || body.isExternal())
    return;
  unsigned carried = repeat.getCarry().size();
  std::optional<Node> layers; // the rows of all
  for (auto [i, operand] : llvm::enumerate(repeat->getOperands())) {
    unsigned rows = repeat.getStacked().size() + repeat.getInout().size();
    bool isRow = i >= carried && i < carried + rows;
    joinAll(operand, body.getArgument(i), isRow);
    if (isRow && layers)
      join(*layers, nodeOf(operand, 0));
    else if (isRow)
      layers = nodeOf(operand, 0);
  }
  Operation *ret = body.front().getTerminator();
  for (auto [i, result] : llvm::enumerate(repeat->getResults())) {
    joinAll(result, ret->getOperand(i), i >= carried);
    if (i >= carried && layers)
      join(*layers, nodeOf(result, 0));
  }
}

Sizes::Sizes(ModuleOp module, Program &program) : program(program) {
  for (BlockArgument argument : program.main.getArguments())
    if (roleOf(program.main, argument.getArgNumber()) == Role::parameter)
      for (int64_t d = 0; d < tensorType(argument).getRank(); ++d)
        isFixed[nodeOf(argument, d)] = true;
  module.walk([&](Operation *op) {
    if (auto rule = dyn_cast<RuleOpInterface>(op))
      visit(rule);
    else if (auto repeat = dyn_cast<RepeatOp>(op))
      visit(repeat);
    else if (isa<CommOpInterface, comm::RelabelOp>(op))
      joinAll(op->getOperand(0), op->getResult(0));
  });
  taken.insert(kMicroBatches);
  nameInputs();
}

//===----------------------------------------------------------------------===//
// Names and extents
//===----------------------------------------------------------------------===//

/// The first input is [micro-batches, batch, position, …].
void Sizes::nameInputs() {
  for (Value input : program.loop.getStacked()) {
    RankedTensorType type = tensorType(input);
    if (type.getRank() < 2)
      continue;
    for (auto [d, name] : {std::pair{1, "batch"}, std::pair{2, "seq"}})
      if (d < type.getRank() && (d == 1 || type.getElementType().isInteger()) &&
          names.try_emplace(leader(nodeOf(input, d)), name).second)
        taken.insert(name);
    return;
  }
}

Extent Sizes::extentOf(Node node) {
  node = leader(node);
  Extent extent;
  if (values[node] == 1 && !names.count(node))
    return extent;
  std::string &name = names[node];
  if (name.empty()) {
    std::string stem = "n" + std::to_string(values[node]);
    name = stem;
    for (unsigned i = 2; !taken.insert(name).second; ++i)
      name = stem + "." + std::to_string(i);
  }
  if (!llvm::is_contained(used, node))
    used.push_back(node);
  extent.size = name;
  return extent;
}

Extent Sizes::of(Value value, unsigned dim) {
  return extentOf(nodeOf(value, dim));
}

Extent Sizes::of(Operation *op, FactorId factor, int64_t size) {
  return extentOf(nodeOf(op, factor, size));
}

Extent Sizes::divided(Extent extent, AxisMask axes) {
  ArrayRef<StringAttr> names = program.mesh.getNames();
  int64_t degree = 1;
  for (auto [a, name] : llvm::enumerate(names))
    if (axes >> a & 1) {
      extent.axes.push_back(name.str());
      degree *= program.mesh.getSizes()[a];
    }
  if (extent.axes.empty() || extent.size.empty())
    return extent;
  for (Node node : used)
    if (this->names.lookup(node) == extent.size && values[node] % degree == 0)
      if (std::string text = printExtents(extent);
          knownDivisions.insert(text).second)
        divisions.push_back(text);
  return extent;
}

Product Sizes::local(Value value, double coef, ArrayRef<unsigned> replicated) {
  RankedTensorType type = tensorType(value);
  TensorState state = stateOf(type, program.mesh);
  Product product{coef, {}};
  for (int64_t d = 0; d < type.getRank(); ++d) {
    AxisMask axes = 0;
    for (auto [a, s] : llvm::enumerate(state))
      if (s.kind == AxisState::Split && s.dim == d &&
          !llvm::is_contained(replicated, a))
        axes |= AxisMask(1) << a;
    Extent extent = divided(of(value, d), axes);
    if (!(extent == Extent()))
      product.extents.push_back(std::move(extent));
  }
  return product;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

DictionaryAttr Sizes::sizesAttr(Builder &b) const {
  SmallVector<NamedAttribute> list;
  for (Node node : used)
    list.push_back(
        b.getNamedAttr(names.lookup(node), b.getI64IntegerAttr(values[node])));
  return list.empty() ? DictionaryAttr() : b.getDictionaryAttr(list);
}

static ArrayAttr stringsAttr(Builder &b, ArrayRef<StringRef> list) {
  return list.empty() ? ArrayAttr() : b.getStrArrayAttr(list);
}

ArrayAttr Sizes::fixedAttr(Builder &b) const {
  SmallVector<StringRef> list;
  for (Node node : used)
    if (isFixed[node])
      list.push_back(names.find(node)->second);
  return stringsAttr(b, list);
}

ArrayAttr Sizes::divisionsAttr(Builder &b) const {
  SmallVector<StringRef> list(divisions.begin(), divisions.end());
  return stringsAttr(b, list);
}

/// Those whose sizes all have names; one for each product.
DictionaryAttr Sizes::productsAttr(Builder &b) const {
  SmallVector<NamedAttribute> list;
  llvm::StringSet<> seen;
  for (const Relation &relation : relations) {
    Node whole = leader(relation.whole);
    if (!llvm::is_contained(used, whole))
      continue;
    SmallVector<StringRef> parts;
    bool isKnown = true, changes = !isFixed[whole];
    for (Node part : relation.parts) {
      part = leader(part);
      if (values[part] == 1)
        continue;
      isKnown &= llvm::is_contained(used, part) && part != whole;
      changes |= !isFixed[part];
      auto name = names.find(part);
      parts.push_back(name == names.end() ? StringRef() : name->second);
    }
    if (isKnown && changes && parts.size() > 1 &&
        seen.insert(names.lookup(whole)).second)
      list.push_back(
          b.getNamedAttr(names.lookup(whole), b.getStrArrayAttr(parts)));
  }
  return list.empty() ? DictionaryAttr() : b.getDictionaryAttr(list);
}
