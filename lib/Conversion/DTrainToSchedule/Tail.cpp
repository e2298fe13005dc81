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
/// What ops must share to run as one. Communications of one depth do not wait
/// for one another; of work it is left out.
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
  GroupKey key;
  Operation *first = nullptr;
  StepWork work;
  StepComm comm;
  bool isComm = false;
  llvm::SmallDenseSet<unsigned> after;

  void add(Attribute payload);
  Attribute payload(MLIRContext *context) const {
    return isComm ? Attribute(CommAttr::get(context, comm))
                  : Attribute(WorkAttr::get(context, work));
  }
};

class Grouping {
public:
  explicit Grouping(Program &program) : program(program) {}
  /// The group of `op`, which waits for `before`.
  unsigned add(Operation *op, Attribute payload, unsigned depth,
               const llvm::SmallDenseSet<unsigned> &before);
  /// Groups after those that they wait for.
  std::vector<TailGroup> sorted();

private:
  /// Whether `group` waits for `other`, through others or itself.
  bool waitsFor(unsigned group, unsigned other) const;
  unsigned depthOf(unsigned group) const;
  StringRef duringOf(const Group &group) const;

  Program &program;
  std::vector<Group> groups;
  std::map<GroupKey, unsigned> latest;
};
} // namespace

static void addTerms(Sum &to, const Sum &sum) {
  for (const Product &term : sum.terms)
    to.add(term);
}

void Group::add(Attribute payload) {
  if (auto attr = dyn_cast<CommAttr>(payload)) {
    if (isComm)
      addTerms(comm.tensor, attr.getValue().tensor);
    else
      comm = attr.getValue();
    isComm = true;
    return;
  }
  StepWork before = work;
  work = cast<WorkAttr>(payload).getValue();
  addTerms(work.contract, before.contract);
  addTerms(work.flops, before.flops);
  addTerms(work.read, before.read);
  addTerms(work.written, before.written);
  addTerms(work.elements, before.elements);
}

static GroupKey keyOf(Operation *op, Attribute payload, unsigned depth) {
  GroupKey key{0, op->getName().getStringRef(), 0, 0, 0, {}, {}};
  if (auto comm = dyn_cast<CommAttr>(payload)) {
    key.depth = depth;
    key.purpose = static_cast<unsigned>(comm.getValue().purpose);
    key.axes = comm.getValue().axes;
    key.between = comm.getValue().between;
    key.origin = static_cast<unsigned>(cast<CommOpInterface>(op).getOrigin());
    return key;
  }
  const StepWork &work = cast<WorkAttr>(payload).getValue();
  key.kind = static_cast<unsigned>(work.cls) << 8 |
             static_cast<unsigned>(work.precision);
  key.origin = static_cast<unsigned>(cast<RuleOpInterface>(op).getOrigin());
  return key;
}

bool Grouping::waitsFor(unsigned group, unsigned other) const {
  return group == other ||
         llvm::any_of(groups[group].after,
                      [&](unsigned before) { return waitsFor(before, other); });
}

unsigned Grouping::depthOf(unsigned group) const {
  unsigned depth = 0;
  for (unsigned before : groups[group].after)
    depth = std::max(depth, depthOf(before) + 1);
  return depth;
}

unsigned Grouping::add(Operation *op, Attribute payload, unsigned depth,
                       const llvm::SmallDenseSet<unsigned> &before) {
  GroupKey key = keyOf(op, payload, depth);
  auto [it, inserted] = latest.try_emplace(key, groups.size());
  unsigned candidate = it->second;
  bool isNew = inserted;
  // One kernel updates all parameters, once the last is ready; but a group
  // cannot wait for itself.
  if (!isNew && llvm::any_of(before, [&](unsigned b) {
        return waitsFor(b, candidate);
      })) {
    it->second = groups.size();
    isNew = true;
  }
  if (isNew) {
    groups.emplace_back();
    groups.back().key = key;
    groups.back().first = op;
  }
  Group &group = groups[it->second];
  group.add(payload);
  group.after.insert(before.begin(), before.end());
  return it->second;
}

/// What the stages share cannot run beside the events of one of them.
StringRef Grouping::duringOf(const Group &group) const {
  if (!group.isComm)
    return "";
  if (program.pipeline &&
      llvm::is_contained(group.comm.axes,
                         program.mesh.getNames()[*program.pipeline].str()))
    return "";
  if (group.comm.purpose == Purpose::Gradient)
    return "backward";
  return group.comm.purpose == Purpose::Parameter ? "forward" : "";
}

std::vector<TailGroup> Grouping::sorted() {
  std::vector<unsigned> order(groups.size()), place(groups.size());
  for (unsigned i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::sort(order, [&](unsigned a, unsigned b) {
    unsigned depthA = depthOf(a), depthB = depthOf(b);
    if (depthA != depthB)
      return depthA < depthB;
    if (groups[a].key < groups[b].key)
      return true;
    if (groups[b].key < groups[a].key)
      return false;
    return a < b;
  });
  std::vector<TailGroup> result;
  for (unsigned i : order) {
    const Group &group = groups[i];
    place[i] = result.size();
    TailGroup tail{group.first,
                   group.payload(group.first->getContext()),
                   {},
                   duringOf(group)};
    for (unsigned before : group.after)
      tail.after.push_back(place[before]);
    llvm::sort(tail.after);
    result.push_back(std::move(tail));
  }
  return result;
}

FailureOr<std::vector<TailGroup>> conversion::groupTail(
    Program &program, ArrayRef<Operation *> ops,
    llvm::function_ref<FailureOr<Attribute>(Operation *)> payloadOf) {
  struct Known {
    unsigned depth = 0;
    llvm::SmallDenseSet<unsigned> groups;
  };
  DenseMap<Value, Known> values;
  Grouping grouping(program);
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
      unsigned group = grouping.add(op, *payload, known.depth, known.groups);
      known.groups.clear();
      known.groups.insert(group);
      ++known.depth;
    }
    for (Value v : op->getResults())
      values[v] = known;
  }
  return grouping.sorted();
}
