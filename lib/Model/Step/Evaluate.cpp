//===- Evaluate.cpp - A step under one scale ------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Checks.h"
#include "dtrain/Model/Step/Price.h"
#include "llvm/ADT/STLExtras.h"

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

static GemmShape gemmOf(const StepWork &work, const Scale &scale) {
  auto side = [&](unsigned i) { return localProduct(work.gemm[i], scale); };
  return {side(0), side(1), side(2), side(3)};
}

static AttentionShape attentionOf(const StepWork &work, const Scale &scale) {
  const AttentionExtents &a = work.attention;
  auto side = [&](unsigned i) { return localProduct(a.sides[i], scale); };
  AttentionShape shape;
  shape.batch = side(0);
  shape.kvHeads = side(1);
  shape.heads = shape.kvHeads * side(2);
  shape.queryLength = side(3);
  shape.keyLength = side(4);
  shape.headDim = side(5);
  shape.valueDim = side(6);
  shape.causal = a.causal;
  return shape;
}

/// Mean over busiest; one where nothing is done.
static Ratio shareOf(double mean, double busiest) {
  return Ratio::fromBase(busiest == 0 ? 1 : mean / busiest);
}

EvaluatedPayload dtrain::evaluateWork(const StepWork &work,
                                      const Scale &scale) {
  EvaluatedPayload result;
  OpWork &w = result.work;
  w.cls = work.cls;
  w.precision = work.precision;
  w.flops = work.flops.local(scale);
  w.read = work.read.local(scale);
  w.written = work.written.local(scale);
  w.gemm = gemmOf(work, scale);
  w.attention = attentionOf(work, scale);
  w.elements = toDouble(work.elements.local(scale));
  w.kernels = work.kernels;
  w.grouped = work.grouped;
  w.dropout = work.dropout;
  result.contract = work.contract.total(scale);
  result.meanFlops = shareOf(work.flops.mean(scale).base(), w.flops.base());
  result.meanBytes =
      shareOf((work.read.mean(scale) + work.written.mean(scale)).base(),
              (w.read + w.written).base());
  return result;
}

namespace {
/// Evaluates the communications of one mesh.
class CommEvaluator {
public:
  CommEvaluator(const StepProblem &problem, const Scale &scale,
                int64_t devicesPerNode)
      : problem(problem), scale(scale), devicesPerNode(devicesPerNode) {
    for (const MeshAxis &axis : llvm::reverse(problem.axes))
      fastestFirst.push_back(scale.degree(axis.name));
  }
  Expected<EvaluatedPayload> evaluate(const StepComm &comm) const;

private:
  CommGroups groupsOf(const StepComm &comm) const;

  const StepProblem &problem;
  const Scale &scale;
  int64_t devicesPerNode;
  llvm::SmallVector<int64_t> fastestFirst;
};
} // namespace

CommGroups CommEvaluator::groupsOf(const StepComm &comm) const {
  CommGroups groups;
  for (auto [i, axis] : llvm::enumerate(llvm::reverse(problem.axes)))
    if (llvm::is_contained(comm.axes, axis.name))
      groups.axes.push_back(i);
  groups.between = comm.between;
  groups.oneWay = comm.kind == CollectiveKind::Send;
  return groups;
}

Expected<EvaluatedPayload> CommEvaluator::evaluate(const StepComm &comm) const {
  EvaluatedPayload result;
  result.tensor = comm.tensor.local(scale);
  result.meanBytes =
      shareOf(comm.tensor.mean(scale).base(), result.tensor.base());
  // An axis of one coordinate has nobody to communicate with.
  int64_t ranks = 1;
  for (const std::string &axis : comm.axes)
    ranks *= scale.degree(axis);
  if (ranks == 1)
    return result;
  Expected<GroupLayout> layout =
      layoutOf(fastestFirst, groupsOf(comm), devicesPerNode);
  if (!layout)
    return layout.takeError();
  result.layout = *layout;
  Expected<Bytes> sent = sentPerDevice(comm.kind, result.tensor, layout->ranks);
  if (!sent)
    return sent.takeError();
  result.sent = *sent;
  return result;
}

static EvaluatedSpace evaluateSpace(const StepSpace &space,
                                    const Scale &scale) {
  EvaluatedSpace result;
  result.saved = space.saved.local(scale);
  result.workspace = space.workspace.local(scale);
  result.logits = toDouble(space.logits.local(scale));
  result.scores = toDouble(space.scores.local(scale));
  result.dropped = toDouble(space.dropped.local(scale));
  result.layerScores = toDouble(space.layerScores.local(scale));
  result.weights = toDouble(space.weights.local(scale));
  return result;
}

static EvaluatedState evaluateState(const StepState &state,
                                    const Scale &scale) {
  return {state.parameters.local(scale), state.gradients.local(scale),
          state.optimizer.local(scale), state.inputs.local(scale)};
}

/// The undivided product; nothing for no extents.
static int64_t countOf(llvm::ArrayRef<Extent> extents, const Scale &scale) {
  int64_t count = extents.empty() ? 0 : 1;
  for (const Extent &extent : extents)
    count *= scale.whole(extent);
  return count;
}

Expected<EvaluatedStep> dtrain::evaluate(const StepProblem &problem,
                                         Scale scale, int64_t devicesPerNode) {
  EvaluatedStep step;
  step.problem = &problem;
  step.devicesPerNode = devicesPerNode;
  step.shape = problem.shape;
  step.shape.microBatches = scale.sizes.lookup(kMicroBatches);
  for (const MeshAxis &axis : problem.axes)
    step.devices *= scale.degree(axis.name);
  step.samples = countOf(problem.model.samples, scale);
  step.tokens = countOf(problem.model.tokens, scale);
  CommEvaluator comms(problem, scale, devicesPerNode);
  step.payloads.reserve(problem.payloads.size());
  for (const Payload &payload : problem.payloads) {
    if (const auto *work = std::get_if<StepWork>(&payload)) {
      step.payloads.push_back(evaluateWork(*work, scale));
      continue;
    }
    if (const auto *comm = std::get_if<StepComm>(&payload)) {
      Expected<EvaluatedPayload> result = comms.evaluate(*comm);
      if (!result)
        return result.takeError();
      step.payloads.push_back(std::move(*result));
      continue;
    }
    EvaluatedPayload result;
    result.tensor = std::get<StepTransfer>(payload).bytes.local(scale);
    step.payloads.push_back(std::move(result));
  }
  for (const DeviceClass &c : problem.classes) {
    step.states.push_back(evaluateState(c.state, scale));
    step.spaces.emplace_back();
    for (const StepSegment &segment : c.segments)
      step.spaces.back().push_back(evaluateSpace(segment.space, scale));
  }
  step.scale = std::move(scale);
  return step;
}
