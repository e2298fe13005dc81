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
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::conversion;

bool Stages::isBackward(Operation *op) const {
  Origin origin = Origin::forward;
  if (auto rule = dyn_cast<RuleOpInterface>(op))
    origin = rule.getOrigin();
  else if (auto comm = dyn_cast<CommOpInterface>(op))
    origin = comm.getOrigin();
  else if (auto repeat = dyn_cast<RepeatOp>(op))
    origin = repeat.getOrigin();
  return origin != Origin::forward;
}

/// The level of the operands on a stage; zero where nothing precedes.
static int64_t
levelBefore(Operation *op, int64_t stage,
            const DenseMap<Value, SmallVector<int64_t>> &levels) {
  int64_t level = 0;
  for (Value v : op->getOperands())
    if (auto it = levels.find(v); it != levels.end())
      level = std::max(level, it->second[stage]);
  return level;
}

bool Stages::isSumOfOne(Operation *op, int64_t stage) const {
  auto add = dyn_cast<ElementwiseOp>(op);
  if (!add || add.getKind() != Elementwise::add || !program.pipeline)
    return false;
  return llvm::count_if(add.getInputs(), [&](Value v) {
           auto relabel = v.getDefiningOp<comm::RelabelOp>();
           return program.holds((relabel ? relabel.getInput() : v).getType(),
                                stage);
         }) <= 1;
}

void Stages::levelOf(Operation *op) {
  int64_t numStages = program.numStages();
  auto repeat = dyn_cast<RepeatOp>(op);
  bool isPinned = repeat && repeat.getPinnedTo() && program.pipeline;
  auto comm = dyn_cast<CommOpInterface>(op);
  bool crosses = comm && program.pipeline && !isFree(op) &&
                 program.mesh.find(comm.getAxis()) == program.pipeline;
  for (Value result : op->getResults())
    levels[result].assign(numStages, 0);
  // A transfer delays its receivers by one level, whichever stage they are.
  int64_t sent = 0;
  if (crosses)
    for (int64_t stage = 0; stage < numStages; ++stage)
      if (program.holds(op->getOperand(0).getType(), stage))
        sent = std::max(sent, levelBefore(op, stage, levels) + 1);
  for (int64_t stage = 0; stage < numStages; ++stage) {
    if (isPinned && static_cast<int64_t>(*repeat.getPinnedTo()) != stage) {
      // Elsewhere the in-place tensors pass by.
      for (auto [i, inout] : llvm::enumerate(repeat.getInout()))
        if (auto it = levels.find(inout); it != levels.end()) {
          int64_t level = it->second[stage];
          levels[repeat.getInoutResults()[i]][stage] = level;
        }
      continue;
    }
    int64_t level = levelBefore(op, stage, levels);
    auto held = [&](Value v) { return program.holds(v.getType(), stage); };
    for (Value result : op->getResults())
      levels[result][stage] = crosses ? sent : level;
    if (isSumOfOne(op, stage))
      continue;
    // A transfer is its sender's task. Views make none, but carry dependences.
    if (repeat || (crosses ? held(op->getOperand(0))
                           : llvm::any_of(op->getResults(), held)))
      entries.push_back({op, stage, level});
  }
}

Stages::Stages(Program &program) : program(program) {
  for (Operation &op : program.microbatch.getBody().front())
    levelOf(&op);
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
