//===- RollLayersAnalyze.cpp - How the iterations of a layer hang together ===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RollLayersDetail.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::roll;

unsigned Signatures::of(Operation *op) {
  auto [it, inserted] = known.try_emplace(op, 0);
  if (!inserted)
    return it->second;
  constexpr auto kFlags = OperationEquivalence::Flags::IgnoreLocations;
  size_t hash = OperationEquivalence::computeHash(
      op, OperationEquivalence::ignoreHashValue,
      OperationEquivalence::ignoreHashValue, kFlags);
  auto &bucket = buckets[hash];
  for (auto [other, number] : bucket)
    if (op->getOperandTypes() == other->getOperandTypes() &&
        OperationEquivalence::isEquivalentTo(
            op, other, OperationEquivalence::ignoreValueEquivalence, nullptr,
            kFlags))
      return it->second = number;
  bucket.push_back({op, count});
  return it->second = count++;
}

namespace {
/// Result `result` of main op `op` of iteration `iteration`.
struct Place {
  unsigned iteration, op, result;
};

class Analyzer {
public:
  Analyzer(ArrayRef<Iteration> iterations, Signatures &signatures, Layer &layer)
      : iterations(iterations), signatures(signatures), layer(layer) {
    for (auto [k, iteration] : llvm::enumerate(iterations))
      for (auto [j, op] : llvm::enumerate(iteration))
        places[op] = {static_cast<unsigned>(k), static_cast<unsigned>(j)};
  }
  unsigned run();

private:
  std::optional<Place> placeOf(Value value) const;
  std::optional<Source> classify(ArrayRef<Value> tuple);
  std::optional<Source> classifyOutside(ArrayRef<Value> tuple);
  std::optional<Source> classifySide(ArrayRef<Value> tuple);
  unsigned checkEscapes() const;
  std::nullopt_t fail(unsigned iteration) {
    failedAt = std::max(iteration, 1u);
    return std::nullopt;
  }

  ArrayRef<Iteration> iterations;
  Signatures &signatures;
  Layer &layer;
  llvm::DenseMap<Operation *, std::pair<unsigned, unsigned>> places;
  unsigned failedAt = 0;
  /// Indices of what was seen, by its first value.
  llvm::DenseMap<Value, unsigned> sharedIndex;
  llvm::DenseMap<Value, SmallVector<unsigned, 1>> rowIndex, carryIndex;
  llvm::DenseMap<Operation *, SmallVector<unsigned, 1>> sideIndex;
};
} // namespace

std::optional<Place> Analyzer::placeOf(Value value) const {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return std::nullopt;
  auto it = places.find(result.getOwner());
  if (it == places.end())
    return std::nullopt;
  return Place{it->second.first, it->second.second, result.getResultNumber()};
}

/// `tuple` has one value per iteration, all in the same operand.
std::optional<Source> Analyzer::classify(ArrayRef<Value> tuple) {
  std::optional<Place> second = placeOf(tuple[1]);
  if (!second)
    return classifyOutside(tuple);
  bool local = second->iteration == 1;
  if (!local && second->iteration != 0)
    return fail(1);
  for (unsigned k = local ? 0 : 1; k < tuple.size(); ++k) {
    std::optional<Place> place = placeOf(tuple[k]);
    if (!place || place->iteration != (local ? k : k - 1) ||
        place->op != second->op || place->result != second->result)
      return fail(k);
  }
  if (local)
    return Source{Source::Local, second->op, second->result};
  if (placeOf(tuple[0]))
    return fail(1);
  auto &seen = carryIndex[tuple[0]];
  for (unsigned i : seen)
    if (layer.carries[i].index == second->op &&
        layer.carries[i].result == second->result)
      return Source{Source::Carry, i};
  unsigned index = layer.carries.size();
  seen.push_back(index);
  layer.carries.push_back({second->op, second->result, tuple[0]});
  return Source{Source::Carry, index};
}

std::optional<Source> Analyzer::classifyOutside(ArrayRef<Value> tuple) {
  for (auto [k, value] : llvm::enumerate(tuple))
    if (placeOf(value))
      return fail(k);
  if (llvm::all_equal(tuple)) {
    auto [it, inserted] =
        sharedIndex.try_emplace(tuple[0], layer.shared.size());
    if (inserted)
      layer.shared.push_back(tuple[0]);
    return Source{Source::Shared, it->second};
  }
  for (auto [k, value] : llvm::enumerate(tuple))
    if (isa<BlockArgument>(value) != isa<BlockArgument>(tuple[0]) ||
        value.getType() != tuple[0].getType())
      return fail(k);
  if (!isa<BlockArgument>(tuple[0]))
    return classifySide(tuple);
  auto &seen = rowIndex[tuple[0]];
  for (unsigned i : seen)
    if (ArrayRef(layer.rows[i]) == tuple)
      return Source{Source::Row, i};
  seen.push_back(layer.rows.size());
  layer.rows.emplace_back(tuple);
  return Source{Source::Row, seen.back()};
}

std::optional<Source> Analyzer::classifySide(ArrayRef<Value> tuple) {
  unsigned result = cast<OpResult>(tuple[0]).getResultNumber();
  SideOp side;
  for (auto [k, value] : llvm::enumerate(tuple)) {
    Operation *op = value.getDefiningOp();
    side.ops.push_back(op);
    if (cast<OpResult>(value).getResultNumber() != result ||
        signatures.of(op) != signatures.of(side.ops[0]))
      return fail(k);
  }
  for (unsigned i : sideIndex[side.ops[0]])
    if (layer.sides[i].ops == side.ops)
      return Source{Source::Side, i, result};
  for (unsigned o = 0; o < side.ops[0]->getNumOperands(); ++o) {
    SmallVector<Value> operands;
    for (Operation *op : side.ops)
      operands.push_back(op->getOperand(o));
    std::optional<Source> source = classifyOutside(operands);
    if (!source)
      return std::nullopt;
    side.operands.push_back(*source);
  }
  unsigned index = layer.sides.size();
  sideIndex[side.ops[0]].push_back(index);
  layer.sides.push_back(std::move(side));
  return Source{Source::Side, index, result};
}

/// The first iteration that cannot be in the repeat because what it computes is
/// used outside; the number of iterations if there is none.
unsigned Analyzer::checkEscapes() const {
  unsigned count = iterations.size();
  llvm::DenseSet<std::pair<unsigned, unsigned>> carried;
  for (const Layer::CarrySlot &slot : layer.carries)
    carried.insert({slot.index, slot.result});
  for (unsigned k = 0; k < count; ++k)
    for (unsigned j = 0; j < iterations[k].size(); ++j)
      for (OpResult result : iterations[k][j]->getResults()) {
        if (llvm::all_of(result.getUsers(),
                         [&](Operation *u) { return places.contains(u); }))
          continue;
        // A carried value is a result of the last iteration.
        unsigned last =
            carried.contains({j, result.getResultNumber()}) ? k + 1 : k;
        if (last < count)
          return std::max(last, 1u);
      }
  return count;
}

unsigned Analyzer::run() {
  const Iteration &first = iterations.front();
  for (unsigned j = 0; j < first.size(); ++j) {
    auto &sources = layer.operands.emplace_back();
    for (unsigned o = 0; o < first[j]->getNumOperands(); ++o) {
      SmallVector<Value> tuple;
      for (const Iteration &iteration : iterations)
        tuple.push_back(iteration[j]->getOperand(o));
      std::optional<Source> source = classify(tuple);
      if (!source)
        return failedAt;
      sources.push_back(*source);
    }
  }
  layer.iterations.assign(iterations.begin(), iterations.end());
  return checkEscapes();
}

unsigned roll::analyze(ArrayRef<Iteration> iterations, Signatures &signatures,
                       Layer &layer) {
  return Analyzer(iterations, signatures, layer).run();
}

Iteration roll::findPrevious(const Iteration &first, const Iteration &second,
                             Signatures &signatures) {
  llvm::DenseMap<Operation *, unsigned> inFirst, inSecond;
  for (unsigned j = 0; j < first.size(); ++j) {
    inFirst[first[j]] = j;
    inSecond[second[j]] = j;
  }
  Iteration previous(first.size(), nullptr);
  llvm::DenseSet<Operation *> taken;
  SmallVector<unsigned> worklist;
  /// Lets the producer of `value` be op j of the previous iteration.
  auto match = [&](Value value, unsigned j, unsigned result) {
    Operation *op = value.getDefiningOp();
    if (!op || cast<OpResult>(value).getResultNumber() != result)
      return false;
    if (previous[j])
      return previous[j] == op;
    if (inFirst.contains(op) || !taken.insert(op).second ||
        signatures.of(op) != signatures.of(first[j]))
      return false;
    previous[j] = op;
    worklist.push_back(j);
    return true;
  };
  auto numberOf = [](Value value) {
    return cast<OpResult>(value).getResultNumber();
  };
  for (unsigned j = 0; j < first.size(); ++j)
    for (auto [init, carried] :
         llvm::zip(first[j]->getOperands(), second[j]->getOperands()))
      if (auto it = inFirst.find(carried.getDefiningOp());
          it != inFirst.end() && !match(init, it->second, numberOf(carried)))
        return {};
  while (!worklist.empty()) {
    unsigned j = worklist.pop_back_val();
    for (auto [own, local] :
         llvm::zip(previous[j]->getOperands(), second[j]->getOperands()))
      if (auto it = inSecond.find(local.getDefiningOp());
          it != inSecond.end() && !match(own, it->second, numberOf(local)))
        return {};
  }
  return llvm::is_contained(previous, nullptr) ? Iteration() : previous;
}
