//===- Stages.cpp - Which segment each op belongs to ----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A value's level on a stage is the number of sends on the pipeline axis
/// before it becomes available there. Micro-batches pass the virtual stages k =
/// 0, 1, … forward at level k and back at level 2(pv - 1) - k, where stage k
/// mod p runs chunk k / p.
///
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtrain/IR/DTrain/Questions.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::conversion;

static bool isBackward(Operation *op) {
  Origin origin = Origin::forward;
  if (auto rule = dyn_cast<RuleOpInterface>(op))
    origin = rule.getOrigin();
  else if (auto comm = dyn_cast<CommOpInterface>(op))
    origin = comm.getOrigin();
  else if (auto repeat = dyn_cast<RepeatOp>(op))
    origin = repeat.getOrigin();
  return origin != Origin::forward;
}

int64_t Stages::levelBefore(Operation *op, int64_t stage) const {
  int64_t level = 0;
  for (Value v : op->getOperands())
    if (auto it = levels.find(v); it != levels.end())
      level = std::max(level, it->second.at(stage));
  return level;
}

Coords Stages::listed(Coords stages) const {
  if (stages.empty())
    llvm::append_range(stages, llvm::seq<int64_t>(program.numStages()));
  return stages;
}

bool Stages::isSumOfOne(Operation *op, int64_t stage) const {
  if (!addsUp(op) || !program.pipeline)
    return false;
  return llvm::count_if(op->getOperands(), [&](Value v) {
           auto relabel = v.getDefiningOp<comm::RelabelOp>();
           return program.holds((relabel ? relabel.getInput() : v).getType(),
                                stage);
         }) <= 1;
}

void Stages::visitPinned(RepeatOp repeat) {
  int64_t stage = *repeat.getPinnedTo();
  int64_t level = levelBefore(repeat, stage);
  entries.push_back({repeat, stage, level});
  for (Value result : repeat.getResults())
    levels.insert({result, Level::on(stage, level)});
  // On other stages the in-place tensors pass by.
  for (auto [inout, result] :
       llvm::zip_equal(repeat.getInout(), repeat.getInoutResults())) {
    Level passing = Level::everywhere(program.numStages());
    if (auto it = levels.find(inout); it != levels.end())
      for (int64_t s = 0; s < program.numStages(); ++s)
        passing.set(s, it->second.at(s));
    passing.set(stage, level);
    levels.insert_or_assign(result, std::move(passing));
  }
}

void Stages::visitTransfer(Operation *op) {
  // A transfer is its senders' task and delays its receivers by one level,
  // whichever stages they are.
  int64_t level = 0;
  for (int64_t stage : listed(program.holders(op->getOperand(0).getType()))) {
    int64_t before = levelBefore(op, stage);
    entries.push_back({op, stage, before});
    level = std::max(level, before + 1);
  }
  Level received = Level::everywhere(program.numStages());
  for (int64_t stage = 0; stage < program.numStages(); ++stage)
    received.set(stage, level);
  levels.insert({op->getResult(0), std::move(received)});
}

void Stages::visit(Operation *op) {
  if (op->getNumResults() == 0)
    return;
  auto repeat = dyn_cast<RepeatOp>(op);
  if (repeat && repeat.getPinnedTo() && program.pipeline)
    return visitPinned(repeat);
  auto comm = dyn_cast<CommOpInterface>(op);
  if (comm && program.pipeline && !isFree(op) &&
      program.mesh.find(comm.getAxis()) == program.pipeline)
    return visitTransfer(op);
  Coords on = program.holders(op->getResult(0).getType());
  Level level = on.size() == 1
                    ? Level::on(on.front(), levelBefore(op, on.front()))
                    : Level::everywhere(program.numStages());
  for (int64_t stage : listed(on)) {
    int64_t before = levelBefore(op, stage);
    if (on.size() != 1)
      level.set(stage, before);
    // Views make no task, but carry dependences.
    if (!isSumOfOne(op, stage))
      entries.push_back({op, stage, before});
  }
  for (Value result : op->getResults())
    levels.insert({result, level});
}

Stages::Stages(Program &program) : program(program) {
  for (Operation &op : program.microbatch.getBody().front())
    visit(&op);
  int64_t numStages = program.numStages();
  int64_t last = 0;
  for (const Entry &e : entries)
    if (!isBackward(e.op))
      last = std::max(last, e.level);
  chunks = last / numStages + 1;
  int64_t turn = 2 * (numStages * chunks - 1);
  segments.resize(numStages * chunks * 2);
  for (const Entry &e : entries) {
    bool backward = isBackward(e.op);
    int64_t chunk = backward ? (turn - e.level - e.stage) / numStages
                             : (e.level - e.stage + numStages - 1) / numStages;
    chunk = std::clamp<int64_t>(chunk, 0, chunks - 1);
    segments[(e.stage * chunks + chunk) * 2 + backward].ops.push_back(e.op);
  }
}
