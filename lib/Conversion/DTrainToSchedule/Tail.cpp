//===- Tail.cpp - What runs as one after the micro-batches ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <tuple>

using namespace mlir;
using namespace dtrain;
using namespace dtrain::conversion;
using namespace dtrain::schedule;

namespace {
/// What ops must share to run as one. Ops of one depth do not wait for one
/// another.
struct GroupKey {
  unsigned depth;
  StringRef name;
  unsigned kind, origin;
  unsigned purpose;
  std::vector<std::string> axes;
  Coords between;

  bool operator<(const GroupKey &o) const {
    return std::tie(depth, name, kind, origin, purpose, axes, between) <
           std::tie(o.depth, o.name, o.kind, o.origin, o.purpose, o.axes,
                    o.between);
  }
};

struct Group {
  Operation *first = nullptr;
  TaskWork work;
  TaskComm comm;
  bool isComm = false;
  unsigned index = 0;
  llvm::SmallDenseSet<unsigned> after; // in order of creation

  void add(Attribute payload) {
    if (auto attr = dyn_cast<CommAttr>(payload)) {
      Bytes tensor = comm.tensor, sent = comm.sent;
      comm = attr.getValue();
      comm.tensor += tensor;
      comm.sent += sent;
      isComm = true;
      return;
    }
    TaskWork before = work;
    work = cast<WorkAttr>(payload).getValue();
    work.contract += before.contract;
    work.flops += before.flops;
    work.read += before.read;
    work.written += before.written;
    work.elements += before.elements;
  }
  Attribute payload(MLIRContext *context) const {
    return isComm ? Attribute(CommAttr::get(context, comm))
                  : Attribute(WorkAttr::get(context, work));
  }
};
} // namespace

static GroupKey keyOf(Operation *op, Attribute payload, unsigned depth) {
  GroupKey key{depth, op->getName().getStringRef(), 0, 0, 0, {}, {}};
  if (auto comm = dyn_cast<CommAttr>(payload)) {
    key.purpose = static_cast<unsigned>(comm.getValue().purpose);
    key.axes = comm.getValue().axes;
    key.between = comm.getValue().between;
    key.origin = static_cast<unsigned>(cast<CommOpInterface>(op).getOrigin());
    return key;
  }
  const TaskWork &work = cast<WorkAttr>(payload).getValue();
  key.kind = static_cast<unsigned>(work.cls) << 8 |
             static_cast<unsigned>(work.precision);
  key.origin = static_cast<unsigned>(cast<RuleOpInterface>(op).getOrigin());
  return key;
}

FailureOr<std::vector<TailGroup>> conversion::groupTail(
    ArrayRef<Operation *> ops,
    llvm::function_ref<FailureOr<Attribute>(Operation *)> payloadOf) {
  struct Known {
    unsigned depth = 0;
    llvm::SmallDenseSet<unsigned> groups;
  };
  DenseMap<Value, Known> values;
  // Sorted by depth: a group waits for groups before it only.
  std::map<GroupKey, Group> groups;
  for (Operation *op : ops) {
    Known known;
    for (Value v : op->getOperands())
      if (auto it = values.find(v); it != values.end()) {
        known.depth = std::max(known.depth, it->second.depth);
        known.groups.insert(it->second.groups.begin(), it->second.groups.end());
      }
    FailureOr<Attribute> payload = payloadOf(op);
    if (failed(payload))
      return failure();
    auto work = dyn_cast_if_present<WorkAttr>(*payload);
    if (work && work.getValue().cls != OpClass::Optimizer &&
        work.getValue().cls != OpClass::MemoryBound)
      return op->emitOpError("cannot be scheduled after the micro-batches");
    if (*payload) {
      auto [it, isNew] = groups.try_emplace(keyOf(op, *payload, known.depth));
      Group &group = it->second;
      if (isNew) {
        group.first = op;
        group.index = groups.size() - 1;
      }
      group.add(*payload);
      group.after.insert(known.groups.begin(), known.groups.end());
      known.groups.clear();
      known.groups.insert(group.index);
      ++known.depth;
    }
    for (Value v : op->getResults())
      values[v] = known;
  }
  std::vector<TailGroup> result;
  DenseMap<unsigned, unsigned> place;
  for (auto &[key, group] : groups) {
    place[group.index] = result.size();
    TailGroup tail{group.first, group.payload(group.first->getContext()), {}};
    for (unsigned before : group.after)
      tail.after.push_back(place.lookup(before));
    llvm::sort(tail.after);
    result.push_back(std::move(tail));
  }
  return result;
}
