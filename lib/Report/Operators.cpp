//===- Operators.cpp - What the step is made of, by kind of task ----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Report/Report.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <tuple>

using namespace mlir;
using namespace dtrain;
using namespace dtrain::schedule;

namespace {
/// Visits the tasks of a scope with how often they run.
class Counter {
public:
  void count(Block &scope, double times);
  std::vector<OperatorUse> sorted();

private:
  void add(TaskOp task, double times);
  std::map<std::pair<std::string, std::string>, OperatorUse> uses;
};
} // namespace

void Counter::add(TaskOp task, double times) {
  std::string kind;
  if (CommAttr comm = task.getComm())
    kind = (stringifyCollectiveKind(comm.getValue().kind) + " " +
            comm.getValue().axisNames())
               .str();
  else
    kind = stringifyOpClass(task.getWork().getValue().cls).str();
  OperatorUse &use = uses[{task.getName().str(), kind}];
  use.name = task.getName().str();
  use.kind = kind;
  use.count += times;
  const TaskCost &cost = task.getCost()->getValue();
  use.flops += cost.flops * times;
  use.bytes +=
      (task.getComm() ? task.getComm().getValue().sent : cost.traffic) * times;
  use.time += cost.device * times;
}

void Counter::count(Block &scope, double times) {
  for (Operation &op : scope)
    if (auto call = dyn_cast<CallOp>(op))
      count(call.getBody().getContents().front(),
            times * static_cast<double>(call.getTimes()));
    else
      add(cast<TaskOp>(op), times);
}

std::vector<OperatorUse> Counter::sorted() {
  std::vector<OperatorUse> list;
  for (auto &[key, use] : uses)
    list.push_back(use);
  llvm::sort(list, [](const OperatorUse &a, const OperatorUse &b) {
    return std::tie(b.time, a.name, a.kind) < std::tie(a.time, b.name, b.kind);
  });
  return list;
}

std::vector<OperatorUse> dtrain::operatorsOf(RankClassOp rankClass) {
  Counter counter;
  for (auto segment : rankClass.getContents().getOps<SegmentOp>())
    counter.count(segment.getContents().front(), segment.getCount());
  return counter.sorted();
}
