//===- StepProblem.h - One training step as a problem -----------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a training step does, over sizes, mesh axes and resources, before any
/// machine is chosen: plain data without an IR. It is priced for a machine and
/// a stack (Price.h) and solved (Solve.h) any number of times, under the sizes
/// and degrees it was made for or under others that its guards allow. The
/// `schedule` dialect is its text form.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_STEP_STEPPROBLEM_H
#define DTRAIN_MODEL_STEP_STEPPROBLEM_H

#include "dtrain/Model/AxisState.h"
#include "dtrain/Model/Collective/Collective.h"
#include "dtrain/Model/Compute/Compute.h"
#include "dtrain/Model/Purpose.h"
#include "dtrain/Model/Simulate/Pipeline.h"
#include "dtrain/Model/Step/Amount.h"
#include "llvm/ADT/StringExtras.h"
#include <array>
#include <variant>

namespace dtrain {

//===----------------------------------------------------------------------===//
// Payloads
//===----------------------------------------------------------------------===//

/// The sides of an attention core, each a product of extents.
struct AttentionExtents {
  /// Sequences; key-value heads; query heads for each of them; queries; keys;
  /// widths of one head of queries and keys, and of values.
  std::array<Extents, 7> sides;
  bool causal = false;
  bool operator==(const AttentionExtents &o) const {
    return sides == o.sides && causal == o.causal;
  }
};

/// What one device computes in one task: OpWork before sizes and degrees.
/// Amounts are those of the busiest device, but `contract`: FLOPs by the MFU
/// convention of all devices together.
struct StepWork {
  OpClass cls = OpClass::MemoryBound;
  Precision precision = Precision::BF16;
  Amount<Flops> contract, flops;
  Amount<Bytes> read, written;
  /// Batch, m, n, k.
  std::array<Extents, 4> gemm;
  AttentionExtents attention;
  /// OpWork::elements.
  Amount<Ratio> elements;
  int64_t kernels = 1;
  bool grouped = false;
  ResidualDropout dropout = ResidualDropout::None;
};

/// One communication over a set of axes, once.
struct StepComm {
  CollectiveKind kind = CollectiveKind::AllReduce;
  /// In mesh order.
  std::vector<std::string> axes;
  Purpose purpose = Purpose::Data;
  /// The local block where the axes are replicated.
  Amount<Bytes> tensor;
  /// The coordinates that take part, all if none are listed; of a send, from
  /// and to. Of several axes the last one's vary fastest.
  Coords between;
  /// "dp", or "dp+cp" over several axes.
  std::string axisNames() const { return llvm::join(axes, "+"); }
};

/// Bytes to or from a resource with a bandwidth: storage, a server.
struct StepTransfer {
  std::string resource;
  Amount<Bytes> bytes;
};

using Payload = std::variant<StepWork, StepComm, StepTransfer>;

//===----------------------------------------------------------------------===//
// Tasks
//===----------------------------------------------------------------------===//

/// Which part of the step a task comes from.
enum class TaskOrigin : uint8_t { Forward, Backward, Recompute, Update };

struct StepTask {
  std::string name;
  /// Index into the problem's payloads.
  unsigned payload = 0;
  TaskOrigin origin = TaskOrigin::Forward;
  /// In a body: done for the trip so many ahead, as a prefetch; who comes after
  /// it waits for the one done that many trips before.
  int64_t ahead = 0;
  /// In a segment that runs once: what it waits for appears piece by piece
  /// during events of this kind, beside which it may run; -1 for none.
  int during = -1;
};
struct StepCall {
  unsigned body = 0;
  int64_t times = 1;
};
/// A task or call, and the earlier ones of its scope that it waits for.
struct StepOp {
  std::variant<StepTask, StepCall> what;
  llvm::SmallVector<unsigned, 2> after;

  const StepTask *task() const { return std::get_if<StepTask>(&what); }
  const StepCall *call() const { return std::get_if<StepCall>(&what); }
};

/// The tasks of one layer, once.
struct StepBody {
  std::string name;
  std::vector<StepOp> ops;
};

/// Memory of a segment for one micro-batch. A stack decides what some elements
/// take.
struct StepSpace {
  /// Kept from the event to the last of its micro-batch and chunk; most alive
  /// at once within the segment.
  Amount<Bytes> saved;
  Peak<Bytes> workspace;
  /// Kept besides, in elements: logits, attention scores, those that dropout
  /// acted on.
  Amount<Ratio> logits, scores, dropped;
  /// Alive at once besides, in elements: attention scores of one layer; weights
  /// of linear layers, one of each shape.
  Peak<Ratio> layerScores;
  Amount<Ratio> weights;
};

/// What a class does in an event, or once before or after all of them.
struct StepSegment {
  std::string name;
  /// Index into the problem's kinds of event; -1 for one that runs `count`
  /// times before the events, where it stands before the segments of events, or
  /// after them.
  int kind = -1;
  int64_t chunk = 0, count = 1;
  std::vector<StepOp> ops;
  StepSpace space;
};

/// Bytes that a device holds throughout the step.
struct StepState {
  Amount<Bytes> parameters, gradients, optimizer, inputs;
};

/// The devices at one coordinate of the class axis, which all do the same.
struct DeviceClass {
  std::string name;
  int64_t stage = 0;
  StepState state;
  std::vector<StepSegment> segments;
};

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

/// Something that transfers go through: so many at a time, each latency + bytes
/// / bandwidth long. The compute stream ("compute"), the links inside nodes
/// ("link") and the network between them ("network") are there without being
/// declared.
struct StepResource {
  std::string name;
  int64_t capacity = 1;
  Bandwidth bandwidth;
  Time latency;
};

/// The number of micro-batches is the size "micro_batches".
inline constexpr const char *kMicroBatches = "micro_batches";
struct StepSize {
  std::string name;
  int64_t value = 1;
  /// It shapes parameters: another value is another model.
  bool isFixed = false;
};
/// `whole` is the product of `parts`: a dimension that is read as several.
struct SizeRelation {
  std::string whole;
  llvm::SmallVector<std::string, 2> parts;
};
/// What placement relied on: the axes divide the size without a rest.
struct DivisionGuard {
  Extent extent;
};

struct ModelFacts {
  std::string name;
  /// Trainable elements; layers.
  int64_t parameters = 0, layers = 0;
  /// Samples and tokens of one step, over all devices, as products of sizes. No
  /// tokens: not a sequence model.
  Extents samples, tokens;
};

struct StepProblem {
  std::string name;
  ModelFacts model;
  /// Slowest axis first.
  llvm::SmallVector<MeshAxis, 4> axes;
  std::vector<StepSize> sizes;
  std::vector<SizeRelation> relations;
  std::vector<DivisionGuard> guards;
  std::vector<StepResource> resources;
  /// The axis whose coordinates are the classes; none for one class.
  std::string classAxis;
  PipelineShape shape;
  const PipelineOrder *order = nullptr;
  std::vector<Payload> payloads;
  std::vector<StepBody> bodies;
  std::vector<DeviceClass> classes;
  /// What was chosen on the way here, for the report.
  std::string optimizer, recompute;

  int64_t numDevices() const;
  int64_t devicesOf(const DeviceClass &) const {
    return numDevices() / shape.stages;
  }
  /// The sizes and degrees that it was made for.
  Scale scale() const;

  /// Indices are in range, names are known, every class has one segment of each
  /// kind and chunk, a call comes after no cycle.
  llvm::Error check() const;
};

/// Changes of a problem: sizes and degrees by name.
struct Rescale {
  llvm::StringMap<int64_t> sizes, degrees;
};
/// The problem's scale with `changes`; sizes that are products of changed ones
/// follow. Fails, naming the guard, where the plan is not one for that scale: a
/// size that axes no longer divide, a dimension that is no longer the product
/// of its parts, a class axis of another degree, an unknown name.
llvm::Expected<Scale> rescale(const StepProblem &problem,
                              const Rescale &changes);

} // namespace dtrain

#endif // DTRAIN_MODEL_STEP_STEPPROBLEM_H
