//===- RollLayersOutline.cpp - A layer as a function and a repeat ---------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RollLayersDetail.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::roll;

//===----------------------------------------------------------------------===//
// The body
//===----------------------------------------------------------------------===//

namespace {
/// Clones one iteration into a function.
class BodyBuilder {
public:
  BodyBuilder(const Layer &layer, OpBuilder builder, Block *block)
      : layer(layer), builder(builder), block(block),
        sides(layer.sides.size()) {}

  SmallVector<Value> build() {
    for (auto [op, sources] :
         llvm::zip(layer.iterations.front(), layer.operands))
      main.push_back(clone(op, sources));
    SmallVector<Value> results;
    for (const Layer::CarrySlot &slot : layer.carries)
      results.push_back(main[slot.index]->getResult(slot.result));
    return results;
  }

private:
  Operation *clone(Operation *op, ArrayRef<Source> sources) {
    SmallVector<Value> operands;
    for (const Source &source : sources)
      operands.push_back(valueOf(source));
    Operation *copy = op->clone();
    copy->setOperands(operands);
    return builder.insert(copy);
  }
  Value valueOf(const Source &source) {
    unsigned carries = layer.carries.size(), rows = layer.rows.size();
    switch (source.kind) {
    case Source::Local:
      return main[source.index]->getResult(source.result);
    case Source::Carry:
      return block->getArgument(source.index);
    case Source::Row:
      return block->getArgument(carries + source.index);
    case Source::Shared:
      return block->getArgument(carries + rows + source.index);
    case Source::Side: {
      const SideOp &side = layer.sides[source.index];
      if (!sides[source.index])
        sides[source.index] = clone(side.ops.front(), side.operands);
      return sides[source.index]->getResult(source.result);
    }
    }
    llvm_unreachable("every source has a value");
  }

  const Layer &layer;
  OpBuilder builder;
  Block *block;
  SmallVector<Operation *> main, sides;
};
} // namespace

static func::FuncOp buildBody(func::FuncOp caller, const Layer &layer,
                              Location loc) {
  SmallVector<Type> inputs, results;
  for (const Layer::CarrySlot &slot : layer.carries)
    inputs.push_back(slot.init.getType());
  results = inputs;
  for (const SmallVector<Value> &row : layer.rows)
    inputs.push_back(row.front().getType());
  for (Value value : layer.shared)
    inputs.push_back(value.getType());
  OpBuilder builder(caller);
  auto body = func::FuncOp::create(builder, loc, "layer",
                                   builder.getFunctionType(inputs, results));
  body.setPrivate();
  // The symbol table finds a name that is free.
  SymbolTable symbols(caller->getParentOfType<ModuleOp>());
  symbols.insert(body, caller->getIterator());
  Block *block = body.addEntryBlock();
  builder.setInsertionPointToStart(block);
  SmallVector<Value> values = BodyBuilder(layer, builder, block).build();
  builder.setInsertionPointToEnd(block);
  func::ReturnOp::create(builder, loc, values);
  return body;
}

//===----------------------------------------------------------------------===//
// Stacked parameters
//===----------------------------------------------------------------------===//

/// A name cut where digits begin and end: "h.12.w" is "h.", "12", ".w".
static SmallVector<StringRef> cutAtNumbers(StringRef name) {
  SmallVector<StringRef> parts;
  while (!name.empty()) {
    bool digit = llvm::isDigit(name.front());
    StringRef part =
        name.take_while([&](char c) { return llvm::isDigit(c) == digit; });
    parts.push_back(part);
    name = name.drop_front(part.size());
  }
  return parts;
}

/// The names with `*` for the numbers that differ; the first name with `*`
/// appended if more than numbers does.
static std::string nameOfStack(ArrayRef<StringRef> names) {
  SmallVector<std::string> parts;
  for (StringRef part : cutAtNumbers(names.front()))
    parts.push_back(part.str());
  for (StringRef name : names.drop_front()) {
    SmallVector<StringRef> own = cutAtNumbers(name);
    if (own.size() != parts.size())
      return names.front().str() + ".*";
    for (auto [part, other] : llvm::zip(parts, own)) {
      if (part == other)
        continue;
      if (!llvm::isDigit(other.front()))
        return names.front().str() + ".*";
      part = "*";
    }
  }
  return llvm::join(parts, "");
}

namespace {
/// Replaces the arguments of a function by stacks of them.
class Stacker {
public:
  Stacker(func::FuncOp func, const Layer &layer) : func(func), layer(layer) {
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (auto name = func.getArgAttrOfType<StringAttr>(i, kNameAttr))
        names.insert(name);
    for (const SmallVector<Value> &row : layer.rows)
      for (Value value : row)
        ++slots[value];
    findRemoved();
  }
  /// The stacked operand of a row.
  Value stack(OpBuilder &builder, Location loc, ArrayRef<Value> row);
  /// Removes the arguments that stacks replace. They have no uses any more.
  void eraseArguments();

private:
  /// What goes away with the iterations: they, and side ops used nowhere else.
  void findRemoved();
  /// The attributes of a stacked argument, or null if the row cannot be one: a
  /// tensor has two slots, is used elsewhere, or differs in role.
  DictionaryAttr attributesOf(ArrayRef<Value> row);

  func::FuncOp func;
  const Layer &layer;
  llvm::DenseMap<Value, unsigned> slots;
  llvm::DenseSet<Operation *> removed;
  llvm::DenseSet<StringAttr> names;
  llvm::DenseSet<Value> replaced;
};
} // namespace

void Stacker::findRemoved() {
  for (const Iteration &iteration : layer.iterations)
    removed.insert(iteration.begin(), iteration.end());
  // Users come after their operands.
  for (const SideOp &side : llvm::reverse(layer.sides))
    for (Operation *op : side.ops)
      if (llvm::all_of(op->getUsers(),
                       [&](Operation *u) { return removed.contains(u); }))
        removed.insert(op);
}

DictionaryAttr Stacker::attributesOf(ArrayRef<Value> row) {
  SmallVector<StringRef> stackedNames;
  DictionaryAttr common;
  for (Value value : row) {
    if (slots[value] != 1 || !llvm::all_of(value.getUsers(), [&](Operation *u) {
          return removed.contains(u);
        }))
      return {};
    unsigned index = cast<BlockArgument>(value).getArgNumber();
    NamedAttrList attributes(func.getArgAttrDict(index));
    if (auto name = dyn_cast_or_null<StringAttr>(attributes.erase(kNameAttr)))
      stackedNames.push_back(name.getValue());
    DictionaryAttr own = attributes.getDictionary(func.getContext());
    if (common && own != common)
      return {};
    common = own;
  }
  NamedAttrList attributes(common);
  if (stackedNames.size() == row.size()) {
    std::string name = nameOfStack(stackedNames);
    StringAttr unique = StringAttr::get(func.getContext(), name);
    for (unsigned i = 1; !names.insert(unique).second; ++i)
      unique =
          StringAttr::get(func.getContext(), name + "_" + std::to_string(i));
    attributes.set(kNameAttr, unique);
  }
  return attributes.getDictionary(func.getContext());
}

Value Stacker::stack(OpBuilder &builder, Location loc, ArrayRef<Value> row) {
  RankedTensorType type = tensorType(row.front());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), static_cast<int64_t>(row.size()));
  auto stacked = RankedTensorType::get(shape, type.getElementType());
  if (DictionaryAttr attributes = attributesOf(row)) {
    auto first = cast<BlockArgument>(row.front());
    unsigned index = first.getArgNumber();
    replaced.insert(row.begin(), row.end());
    // Arguments of a block can always be added.
    llvm::cantFail(
        failed(func.insertArgument(index, stacked, attributes, first.getLoc()))
            ? llvm::createStringError("argument not inserted")
            : llvm::Error::success());
    return func.getArgument(index);
  }
  // One tensor in several places: the tie stays, as several uses of it.
  std::string dims;
  for (int64_t d = 0; d < type.getRank(); ++d)
    dims += (d ? " d" : "d") + std::to_string(d);
  std::string rule = (dims.empty() ? "()" : dims) + " -> 1 " + dims;
  shape.front() = 1;
  SmallVector<Value> rows;
  for (Value value : row)
    rows.push_back(buildMove(builder, loc, rule, value, shape));
  return ConcatOp::create(builder, loc, stacked, rows, 0, Origin::forward,
                          OpStateAttr());
}

void Stacker::eraseArguments() {
  llvm::BitVector erased(func.getNumArguments());
  for (Value value : replaced)
    erased.set(cast<BlockArgument>(value).getArgNumber());
  llvm::cantFail(failed(func.eraseArguments(erased))
                     ? llvm::createStringError("arguments not erased")
                     : llvm::Error::success());
}

//===----------------------------------------------------------------------===//
// The repeat
//===----------------------------------------------------------------------===//

RepeatOp roll::outline(func::FuncOp func, const Layer &layer) {
  Location loc = layer.iterations.front().front()->getLoc();
  Block &block = func.getBody().front();
  func::FuncOp body = buildBody(func, layer, loc);
  OpBuilder builder(block.getTerminator());
  SmallVector<Value> carries, stacked;
  for (const Layer::CarrySlot &slot : layer.carries)
    carries.push_back(slot.init);
  Stacker stacker(func, layer);
  for (const SmallVector<Value> &row : layer.rows)
    stacked.push_back(stacker.stack(builder, loc, row));
  auto repeat = RepeatOp::create(
      builder, loc, body.getFunctionType().getResults(), body.getSymName(), 0,
      layer.iterations.size(), carries, stacked, ValueRange(), layer.shared,
      /*reverse=*/false, StringAttr(), IntegerAttr(), Origin::forward);
  // What follows the layers uses what the last one carries out.
  for (auto [slot, result] : llvm::zip(layer.carries, repeat.getResults()))
    layer.iterations.back()[slot.index]
        ->getResult(slot.result)
        .replaceUsesWithIf(result, [&](OpOperand &use) {
          return !llvm::is_contained(layer.iterations.back(), use.getOwner());
        });
  for (const Iteration &iteration : llvm::reverse(layer.iterations))
    for (Operation *op : iteration)
      op->dropAllReferences();
  for (const Iteration &iteration : layer.iterations)
    for (Operation *op : iteration)
      op->erase();
  for (const SideOp &side : llvm::reverse(layer.sides))
    for (Operation *op : side.ops)
      if (op->use_empty())
        op->erase();
  stacker.eraseArguments();
  sortTopologically(&block);
  return repeat;
}
