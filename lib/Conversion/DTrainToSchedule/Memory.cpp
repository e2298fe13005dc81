//===- Memory.cpp - What a device holds, keeps and needs ------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtrain/IR/DTrain/Questions.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::conversion;

Product Memory::bytesOf(Value value) {
  return sizes.local(value, elementBytes(tensorType(value).getElementType()));
}

void Memory::hold(Value value, Amount<Bytes> StepState::*field) {
  Product bytes = bytesOf(value);
  Coords on = program.holders(value.getType());
  if (on.empty())
    llvm::append_range(on, llvm::seq<int64_t>(program.numStages()));
  for (int64_t stage : on)
    (states[stage].*field).add(bytes);
}

Memory::Memory(Program &program, const Accumulations &accumulations,
               Sizes &sizes)
    : program(program), accumulations(accumulations), sizes(sizes),
      states(program.numStages()) {
  for (BlockArgument argument : program.main.getArguments()) {
    std::optional<Role> role = roleOf(program.main, argument.getArgNumber());
    if (!role)
      continue;
    switch (*role) {
    case Role::parameter:
      hold(argument, &StepState::parameters);
      break;
    case Role::master:
    case Role::moment:
      hold(argument, &StepState::optimizer);
      break;
    case Role::accumulator:
      hold(argument, &StepState::gradients);
      break;
    case Role::input:
    case Role::label:
      hold(argument, &StepState::inputs);
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
      hold(sum, &StepState::gradients);
  }
}

const Peak<Bytes> &Memory::workspaceOf(RepeatOp repeat) {
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
  return bodies[ops] = workspaceOf(
             ops, body.getArguments().take_front(repeat.getCarry().size()),
             [&](Value v) { return kept.contains(v); });
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
      shapes.try_emplace(localShapeOf(tensorType(gradient)), gradient);
  }
}

Amount<Ratio> Memory::weightsOf(ArrayRef<Operation *> ops) {
  Shapes shapes;
  for (Operation *op : ops)
    collectWeights(op, shapes);
  Amount<Ratio> elements;
  for (auto &[shape, gradient] : shapes)
    elements.add(sizes.local(gradient, 1));
  return elements;
}

namespace {
/// A buffer that lives from position `begin` until before `end`.
struct LiveBuffer {
  Product bytes;
  int64_t begin, end;
};
} // namespace

/// Whether `a` is at most `b` under every scale.
static bool isWithin(const Sum &a, const Sum &b) {
  return llvm::all_of(a.terms, [&](const Product &term) {
    return llvm::any_of(b.terms, [&](const Product &other) {
      return other.extents == term.extents && other.coef >= term.coef;
    });
  });
}

/// Adds a moment, if no other needs as much under every scale.
static void addMoment(Peak<Bytes> &peak, Amount<Bytes> moment) {
  if (llvm::any_of(peak.moments, [&](const Amount<Bytes> &other) {
        return isWithin(moment, other);
      }))
    return;
  llvm::erase_if(peak.moments, [&](const Amount<Bytes> &other) {
    return isWithin(other, moment);
  });
  peak.moments.push_back(std::move(moment));
}

Peak<Bytes> Memory::workspaceOf(ArrayRef<Operation *> ops, ValueRange arriving,
                                llvm::function_ref<bool(Value)> isKept) {
  llvm::MapVector<Value, LiveBuffer> buffers;
  std::map<int64_t, const Peak<Bytes> *> inside;
  auto define = [&](Value v, int64_t begin, int64_t end) {
    if (storageOf(v) == v && !isKept(v))
      buffers.insert({v, LiveBuffer{bytesOf(v), begin, end}});
  };
  auto use = [&](ValueRange values, int64_t end) {
    for (Value v : values)
      if (auto *it = buffers.find(storageOf(v)); it != buffers.end())
        it->second.end = end;
  };
  for (Value v : arriving)
    define(v, 0, 0);
  for (auto [position, op] : llvm::enumerate(ops)) {
    int64_t now = position;
    auto repeat = dyn_cast<RepeatOp>(op);
    if (repeat) {
      inside[now] = &workspaceOf(repeat);
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
  Peak<Bytes> peak;
  for (int64_t now = 0; now <= static_cast<int64_t>(ops.size()); ++now) {
    Amount<Bytes> moment;
    for (auto &[value, buffer] : buffers)
      if (buffer.begin <= now && now < buffer.end)
        moment.add(buffer.bytes);
    auto it = inside.find(now);
    if (it == inside.end()) {
      addMoment(peak, std::move(moment));
      continue;
    }
    for (const Amount<Bytes> &other : it->second->moments) {
      Amount<Bytes> both = moment;
      for (const Product &term : other.terms)
        both.add(term);
      addMoment(peak, std::move(both));
    }
  }
  return peak;
}
