//===- Memory.cpp - What a device holds, keeps and needs ------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Memory/Memory.h"
#include "Program.h"
#include "dtrain/IR/DTrain/Questions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::conversion;

void Memory::hold(Type type, Bytes schedule::State::*field) {
  Bytes bytes = localBytes(type);
  Coords on = program.holders(type);
  if (on.empty())
    llvm::append_range(on, llvm::seq<int64_t>(program.numStages()));
  for (int64_t stage : on)
    states[stage].*field += bytes;
}

Memory::Memory(Program &program, const Accumulations &accumulations)
    : program(program), accumulations(accumulations),
      states(program.numStages()) {
  for (BlockArgument argument : program.main.getArguments()) {
    std::optional<Role> role = roleOf(program.main, argument.getArgNumber());
    if (!role)
      continue;
    switch (*role) {
    case Role::parameter:
      hold(argument.getType(), &schedule::State::parameters);
      break;
    case Role::master:
    case Role::moment:
      hold(argument.getType(), &schedule::State::optimizer);
      break;
    case Role::accumulator:
      hold(argument.getType(), &schedule::State::gradients);
      break;
    case Role::input:
    case Role::label:
      hold(argument.getType(), &schedule::State::inputs);
      break;
    }
  }
  // The running sums of the micro-batches, but for the loss, which nothing
  // reads.
  for (Value sum : program.loop.getCarryResults()) {
    bool isRead = llvm::any_of(sum.getUsers(), [](Operation *user) {
      return !isa<func::ReturnOp>(user);
    });
    if (cast<RankedTensorType>(sum.getType()).getRank() > 0 && isRead)
      hold(sum.getType(), &schedule::State::gradients);
  }
}

llvm::Expected<schedule::Space> Memory::spaceOf(RepeatOp repeat) {
  func::FuncOp body = repeat.getBody();
  SmallVector<Operation *> ops =
      repeat.getTripCount() == 1 ? opsOfLastTrip(repeat) : opsOfTrip(repeat);
  auto [it, inserted] = bodies.try_emplace(ops);
  if (!inserted)
    return it->second;
  Operation *ret = body.front().getTerminator();
  DenseSet<Value> kept;
  for (Value v : ret->getOperands().drop_front(repeat.getCarry().size()))
    kept.insert(storageOf(v));
  llvm::Expected<schedule::Space> space =
      spaceOf(ops, body.getArguments().take_front(repeat.getCarry().size()),
              [&](Value v) { return kept.contains(v); });
  if (!space)
    return space.takeError();
  return bodies[ops] = *space;
}

void Memory::collectWeights(Operation *op, Shapes &shapes) {
  if (auto repeat = dyn_cast<RepeatOp>(op)) {
    for (Operation &inner : repeat.getBody().front())
      collectWeights(&inner, shapes);
    return;
  }
  if (!accumulations.contains(op))
    return;
  auto isOfLoss = [](Value v) {
    return isOfClass(storageOf(v).getDefiningOp(), OpClass::LossBackward);
  };
  for (Value gradient : op->getOperands()) {
    // The product with the vocabulary is no linear layer of a stack.
    Operation *product = storageOf(gradient).getDefiningOp();
    if (isOfClass(product, OpClass::Contraction) &&
        llvm::none_of(product->getOperands(), isOfLoss))
      shapes.insert(localShapeOf(tensorType(gradient)));
  }
}

double Memory::weightsOf(ArrayRef<Operation *> ops) {
  Shapes shapes;
  for (Operation *op : ops)
    collectWeights(op, shapes);
  double elements = 0;
  for (ArrayRef<int64_t> shape : shapes) {
    double product = 1;
    for (int64_t extent : shape)
      product *= static_cast<double>(extent);
    elements += product;
  }
  return elements;
}

llvm::Expected<schedule::Space>
Memory::spaceOf(ArrayRef<Operation *> ops, ValueRange arriving,
                llvm::function_ref<bool(Value)> isKept) {
  llvm::MapVector<Value, LiveRange> ranges;
  std::vector<LiveRange> all;
  schedule::Space space;
  auto define = [&](Value v, int64_t begin, int64_t end) {
    if (storageOf(v) == v && !isKept(v))
      ranges.insert({v, LiveRange{MemoryCategory::Workspace,
                                  localBytes(v.getType()), begin, end}});
  };
  auto use = [&](ValueRange values, int64_t end) {
    for (Value v : values)
      if (auto *it = ranges.find(storageOf(v)); it != ranges.end())
        it->second.end = end;
  };
  for (Value v : arriving)
    define(v, 0, 0);
  for (auto [position, op] : llvm::enumerate(ops)) {
    int64_t now = position;
    auto repeat = dyn_cast<RepeatOp>(op);
    if (repeat) {
      llvm::Expected<schedule::Space> inside = spaceOf(repeat);
      if (!inside)
        return inside.takeError();
      all.push_back(
          {MemoryCategory::Workspace, inside->workspace, now, now + 1});
      // What is carried lives in the body from its arrival to its last use, as
      // if the iterations were written out.
      unsigned carried = repeat.getCarry().size();
      use(repeat->getOperands().drop_front(carried), now + 1);
      for (Value v : repeat->getResults().take_front(carried))
        if (!v.use_empty())
          define(v, now + 1, now + 1);
      // In-place tensors are held anyway.
      for (Value v : repeat.getOutputs())
        define(v, now, now + 1);
      continue;
    }
    use(op->getOperands(), now + 1);
    for (Value v : op->getResults())
      if (!isGenerated(op))
        define(v, now, now + 1);
  }
  for (auto &[value, range] : ranges)
    all.push_back(range);
  llvm::Expected<MemoryUse> peak = peakOf(all);
  if (!peak)
    return peak.takeError();
  space.workspace = peak->total();
  return space;
}
