//===- StepProblem.cpp - One training step as a problem -------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Step/StepProblem.h"
#include "../Checks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace dtrain;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

int64_t StepProblem::numDevices() const {
  int64_t devices = 1;
  for (const MeshAxis &axis : axes)
    devices *= axis.size;
  return devices;
}

Scale StepProblem::scale() const {
  Scale scale;
  for (const StepSize &size : sizes)
    scale.sizes[size.name] = size.value;
  scale.sizes[kMicroBatches] = shape.microBatches;
  for (const MeshAxis &axis : axes)
    scale.degrees[axis.name] = axis.size;
  return scale;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

namespace {
/// Looks at every name and index of a problem once.
class Checker {
public:
  explicit Checker(const StepProblem &problem)
      : problem(problem), scale(problem.scale()) {}
  Error run();

private:
  Error checkDeclarations();
  Error checkExtent(const Extent &extent);
  Error checkSum(const Sum &sum);
  template <typename Q> Error checkPeak(const Peak<Q> &peak) {
    for (const Amount<Q> &moment : peak.moments)
      if (Error e = checkSum(moment))
        return e;
    return Error::success();
  }
  Error checkPayload(const Payload &payload);
  Error checkWork(const StepWork &work);
  Error checkComm(const StepComm &comm);
  Error checkScope(StringRef name, llvm::ArrayRef<StepOp> ops, bool isBody);
  Error checkClass(const DeviceClass &c);
  Error checkSpace(const StepSpace &space);

  template <typename... Sums> Error checkSums(const Sums &...sums) {
    Error error = Error::success();
    auto check = [&](const Sum &sum) {
      if (!error)
        error = checkSum(sum);
    };
    (check(sums), ...);
    return error;
  }

  const StepProblem &problem;
  Scale scale;
};
} // namespace

Error Checker::checkExtent(const Extent &extent) {
  if (!extent.size.empty() && !scale.sizes.count(extent.size))
    return makeError("expected a size of the step, found '" + extent.size +
                     "'");
  for (const std::string &axis : extent.axes)
    if (!scale.degrees.count(axis))
      return makeError("expected an axis of the mesh, found '" + axis + "'");
  return Error::success();
}

Error Checker::checkSum(const Sum &sum) {
  for (const Product &term : sum.terms) {
    if (Error e = requireAmount("amount", Ratio::fromBase(term.coef)))
      return e;
    for (const Extent &extent : term.extents)
      if (Error e = checkExtent(extent))
        return e;
  }
  return Error::success();
}

Error Checker::checkWork(const StepWork &work) {
  if (Error e = checkSums(work.contract, work.flops, work.read, work.written,
                          work.elements))
    return e;
  for (const Extents &side :
       llvm::concat<const Extents>(work.gemm, work.attention.sides))
    for (const Extent &extent : side)
      if (Error e = checkExtent(extent))
        return e;
  if (work.kernels < 0)
    return makeError("expected a number of kernels that is not negative, "
                     "found " +
                     Twine(work.kernels));
  return Error::success();
}

Error Checker::checkComm(const StepComm &comm) {
  if (Error e = checkSum(comm.tensor))
    return e;
  if (comm.axes.empty())
    return makeError("expected an axis of a communication, found none");
  for (const std::string &axis : comm.axes)
    if (!scale.degrees.count(axis))
      return makeError("expected an axis of the mesh, found '" + axis + "'");
  int64_t ranks = 1;
  for (const std::string &axis : comm.axes)
    ranks *= scale.degree(axis);
  for (int64_t coordinate : comm.between)
    if (coordinate < 0 || coordinate >= ranks)
      return makeError("expected coordinates below " + Twine(ranks) + " on '" +
                       comm.axisNames() + "', found " + Twine(coordinate));
  if (comm.kind == CollectiveKind::Send && comm.between.size() != 2)
    return makeError("expected a send between two coordinates");
  return Error::success();
}

Error Checker::checkPayload(const Payload &payload) {
  if (const auto *work = std::get_if<StepWork>(&payload))
    return checkWork(*work);
  if (const auto *comm = std::get_if<StepComm>(&payload))
    return checkComm(*comm);
  const auto &transfer = std::get<StepTransfer>(payload);
  if (llvm::none_of(problem.resources, [&](const StepResource &r) {
        return r.name == transfer.resource;
      }))
    return makeError("expected a resource of the step, found '" +
                     transfer.resource + "'");
  return checkSum(transfer.bytes);
}

Error Checker::checkScope(StringRef name, llvm::ArrayRef<StepOp> ops,
                          bool isBody) {
  for (auto [i, op] : llvm::enumerate(ops)) {
    for (unsigned before : op.after)
      if (before >= i)
        return makeError("expected op " + Twine(i) + " of '" + name +
                         "' to come after earlier ones, found " +
                         Twine(before));
    if (const StepCall *call = op.call()) {
      if (isBody || call->body >= problem.bodies.size() || call->times < 1)
        return makeError("expected a call of one of " +
                         Twine(problem.bodies.size()) +
                         " bodies from a segment, at least once");
      continue;
    }
    const StepTask &task = *op.task();
    if (task.payload >= problem.payloads.size() || task.ahead < 0 ||
        (task.ahead > 0 && !isBody) || task.during >= problem.shape.numKinds())
      return makeError("task '" + task.name + "' of '" + name +
                       "' is ill-formed");
  }
  return Error::success();
}

Error Checker::checkSpace(const StepSpace &space) {
  if (Error e = checkSums(space.saved, space.logits, space.scores,
                          space.dropped, space.weights))
    return e;
  if (Error e = checkPeak(space.workspace))
    return e;
  return checkPeak(space.layerScores);
}

Error Checker::checkClass(const DeviceClass &c) {
  std::vector<bool> seen(problem.shape.chunks * problem.shape.numKinds());
  for (const StepSegment &segment : c.segments) {
    if (Error e = checkScope(segment.name, segment.ops, /*isBody=*/false))
      return e;
    if (Error e = checkSpace(segment.space))
      return e;
    if (segment.kind < 0)
      continue;
    size_t place = segment.chunk * problem.shape.numKinds() + segment.kind;
    if (segment.kind >= problem.shape.numKinds() || segment.chunk < 0 ||
        segment.chunk >= problem.shape.chunks || seen[place])
      return makeError("expected one segment for each kind of event and chunk "
                       "of class '" +
                       c.name + "', found '" + segment.name + "' of chunk " +
                       Twine(segment.chunk) + " besides");
    seen[place] = true;
  }
  if (!llvm::all_of(seen, [](bool b) { return b; }))
    return makeError("expected a segment for each kind of event and chunk of "
                     "class '" +
                     c.name + "'");
  return checkSums(c.state.parameters, c.state.gradients, c.state.optimizer,
                   c.state.inputs);
}

Error Checker::checkDeclarations() {
  for (const MeshAxis &axis : problem.axes)
    if (Error e =
            requireCount("the size of axis '" + axis.name + "'", axis.size))
      return e;
  for (const StepSize &size : problem.sizes)
    if (Error e = requireCount("size '" + size.name + "'", size.value))
      return e;
  for (const SizeRelation &relation : problem.relations)
    for (const std::string &name : llvm::concat<const std::string>(
             relation.parts, llvm::ArrayRef(relation.whole)))
      if (!scale.sizes.count(name))
        return makeError("expected a size of the step, found '" + name + "'");
  for (const DivisionGuard &guard : problem.guards)
    if (Error e = checkExtent(guard.extent))
      return e;
  for (const StepResource &r : problem.resources) {
    if (Error e = requireCount("the capacity of '" + r.name + "'", r.capacity))
      return e;
    if (!(r.bandwidth.base() > 0 && std::isfinite(r.bandwidth.base())))
      return makeError("expected a positive bandwidth of '" + r.name +
                       "', found " + r.bandwidth.str());
    if (Error e = requireAmount("latency of '" + r.name + "'", r.latency))
      return e;
  }
  if (!problem.order)
    return makeError("expected a pipeline order, found none");
  if (Error e = checkKinds(problem.shape.kinds))
    return e;
  if (Error e = problem.order->check(problem.shape))
    return e;
  for (const Extent &extent :
       llvm::concat<const Extent>(problem.model.samples, problem.model.tokens))
    if (Error e = checkExtent(extent))
      return e;
  return Error::success();
}

Error Checker::run() {
  if (Error e = checkDeclarations())
    return e;
  for (const Payload &payload : problem.payloads)
    if (Error e = checkPayload(payload))
      return e;
  for (const StepBody &body : problem.bodies)
    if (Error e = checkScope(body.name, body.ops, /*isBody=*/true))
      return e;
  if (static_cast<int64_t>(problem.classes.size()) != problem.shape.stages)
    return makeError("expected a class for each of " +
                     Twine(problem.shape.stages) + " stages, found " +
                     Twine(problem.classes.size()));
  for (auto [i, c] : llvm::enumerate(problem.classes)) {
    if (c.stage != static_cast<int64_t>(i))
      return makeError("expected the class of stage " + Twine(i) +
                       ", found that of stage " + Twine(c.stage));
    if (Error e = checkClass(c))
      return e;
  }
  return Error::success();
}

Error StepProblem::check() const { return Checker(*this).run(); }

//===----------------------------------------------------------------------===//
// Other sizes and degrees
//===----------------------------------------------------------------------===//

static int64_t productOf(const SizeRelation &relation, const Scale &scale) {
  int64_t product = 1;
  for (const std::string &part : relation.parts)
    product *= scale.sizes.lookup(part);
  return product;
}

static Error applyDegrees(const StepProblem &problem, const Rescale &changes,
                          Scale &scale) {
  for (const auto &change : changes.degrees) {
    StringRef axis = change.first();
    auto it = scale.degrees.find(axis);
    if (it == scale.degrees.end())
      return makeError("expected an axis that the step was placed on, found '" +
                       axis + "'");
    if (Error e =
            requireCount("the degree of '" + axis.str() + "'", change.second))
      return e;
    if (axis == problem.classAxis && change.second != it->second)
      return makeError("axis '" + axis +
                       "' has one class of devices for each "
                       "of " +
                       Twine(it->second) + " coordinates: another degree is " +
                       "another plan");
    it->second = change.second;
  }
  return Error::success();
}

static Error applySizes(const StepProblem &problem, const Rescale &changes,
                        Scale &scale) {
  for (const auto &change : changes.sizes) {
    StringRef name = change.first();
    auto it = scale.sizes.find(name);
    if (it == scale.sizes.end())
      return makeError("expected a size of the step, found '" + name + "'");
    if (Error e = requireCount("size '" + name.str() + "'", change.second))
      return e;
    for (const StepSize &size : problem.sizes)
      if (size.name == name && size.isFixed && change.second != size.value)
        return makeError("size '" + name +
                         "' shapes parameters: another value "
                         "is another model");
    it->second = change.second;
  }
  // Products follow their parts, as often as products have products as parts.
  for (size_t i = 0; i < problem.relations.size(); ++i)
    for (const SizeRelation &relation : problem.relations)
      if (!changes.sizes.count(relation.whole))
        scale.sizes[relation.whole] = productOf(relation, scale);
  return Error::success();
}

Expected<Scale> dtrain::rescale(const StepProblem &problem,
                                const Rescale &changes) {
  Scale scale = problem.scale();
  if (Error e = applyDegrees(problem, changes, scale))
    return e;
  if (Error e = applySizes(problem, changes, scale))
    return e;
  for (const SizeRelation &relation : problem.relations)
    if (int64_t product = productOf(relation, scale);
        scale.sizes.lookup(relation.whole) != product)
      return makeError(
          "expected size '" + relation.whole + "' to be the product of " +
          llvm::join(relation.parts, " and ") + ", " + Twine(product) +
          ", found " + Twine(scale.sizes.lookup(relation.whole)));
  for (const StepSize &size : problem.sizes)
    if (size.isFixed && scale.sizes.lookup(size.name) != size.value)
      return makeError("size '" + size.name +
                       "' shapes parameters: another "
                       "value is another model");
  for (const DivisionGuard &guard : problem.guards) {
    int64_t whole = scale.whole(guard.extent),
            degree = scale.degreeOf(guard.extent);
    if (whole % degree != 0)
      return makeError("size '" + guard.extent.size + "' of " + Twine(whole) +
                       " is not divisible by " +
                       llvm::join(guard.extent.axes, " * ") + " = " +
                       Twine(degree) + ", which the plan relies on");
  }
  return scale;
}
