//===- ScheduleSupport.h - What the attributes hold -------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The structs whose text form the `schedule` dialect's attributes are. Each
/// lists its fields once, in `visitFields`; parsing, printing, equality and
/// hashing follow from that.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_IR_SCHEDULE_SCHEDULESUPPORT_H
#define DTRAIN_IR_SCHEDULE_SCHEDULESUPPORT_H

#include "dtrain/Model/Collective/Collective.h"
#include "dtrain/Model/Compute/Compute.h"
#include "dtrain/Model/Purpose.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <tuple>

namespace dtrain {
namespace schedule {

/// What one device computes in one task. All amounts are those of the busiest
/// device but `contract`: FLOPs by the MFU convention of all devices together.
struct TaskWork : OpWork {
  Flops contract;
  /// A contraction of backward that no further backward op of its segment
  /// needs: it may hide communication.
  bool weightGradient = false;
};

/// What a task costs on the target. Of a communication, `device` is its time on
/// the link and `exposed` the part of it that its dependents wait for.
struct TaskCost : OpCost {
  Time exposed;
  TaskCost() = default;
  TaskCost(const OpCost &cost) : OpCost(cost) {}
};

/// One communication, once.
struct TaskComm {
  CollectiveKind kind = CollectiveKind::AllReduce;
  Purpose purpose = Purpose::Data;
  /// The mesh axes that it runs over, in mesh order: devices communicate that
  /// differ in their coordinates on these only.
  std::vector<std::string> axes;
  /// The local block where the axes are replicated; what the busiest device
  /// sends.
  Bytes tensor, sent;
  /// The coordinates that take part, all if none are listed; of a send, from
  /// and to. Of several axes the last one's vary fastest.
  Coords between;
  /// "dp", or "dp+cp" over several axes.
  std::string axisNames() const { return llvm::join(axes, "+"); }
};

struct Interval {
  Time start, duration;
  /// Of a communication: from the start until dependents may start; at most
  /// the duration.
  Time exposed;
};

/// Where the time of a body or a segment goes: compute + exposed = duration on
/// the device, and `host` what launching takes meanwhile. `recompute` is a part
/// of compute.
struct Span {
  Time compute, recompute, exposed, host;
  Time device() const { return compute + exposed; }
  /// The device waits for the host where that is slower.
  Time duration() const { return std::max(device(), host); }
  Span &operator+=(const Span &o) {
    compute += o.compute;
    recompute += o.recompute;
    exposed += o.exposed;
    host += o.host;
    return *this;
  }
};

/// Memory of a segment for one micro-batch. A stack decides what some elements
/// take: `stackSaved` and `stackWorkspace` say so once it is known.
struct Space {
  /// Kept from the forward segment to the backward one; most alive at once
  /// within the segment.
  Bytes saved, workspace;
  /// Kept besides: logits, attention scores, elements that dropout acted on.
  double logits = 0, scores = 0, dropped = 0;
  /// Alive at once besides: attention scores of one layer; weights of linear
  /// layers, one of each shape.
  double layerScores = 0, weights = 0;
  Bytes stackSaved, stackWorkspace;
};

/// Bytes that a device holds throughout the step.
struct State {
  Bytes parameters, gradients, optimizer, inputs;
};

struct Footprint {
  Bytes parameters, gradients, optimizer, activations, workspace;
  Bytes total() const {
    return parameters + gradients + optimizer + activations + workspace;
  }
};

struct Breakdown {
  Time compute, exposedCommunication, bubble, optimizer, input, host;
  Time total() const {
    return compute + exposedCommunication + bubble + optimizer + input + host;
  }
};

struct ModelFacts {
  std::string name;
  /// Trainable elements; layers; samples and tokens of one step, over all
  /// devices. No tokens: not a sequence model.
  int64_t parameters = 0, layers = 0, samples = 0, tokens = 0;
};

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

/// A named member of a struct or of its base.
template <typename C, typename M> struct Field {
  const char *name;
  M C::*member;
};
template <typename C, typename M> Field(const char *, M C::*) -> Field<C, M>;

/// The fields of each struct, in textual order.
inline auto fieldsOf(const TaskCost *) {
  return std::make_tuple(
      Field{"device", &TaskCost::device}, Field{"host", &TaskCost::host},
      Field{"flops", &TaskCost::flops}, Field{"traffic", &TaskCost::traffic},
      Field{"exposed", &TaskCost::exposed});
}
inline auto fieldsOf(const TaskWork *) {
  return std::make_tuple(
      Field{"class", &TaskWork::cls}, Field{"precision", &TaskWork::precision},
      Field{"contract", &TaskWork::contract}, Field{"flops", &TaskWork::flops},
      Field{"read", &TaskWork::read}, Field{"written", &TaskWork::written},
      Field{"gemm", &TaskWork::gemm}, Field{"attention", &TaskWork::attention},
      Field{"elements", &TaskWork::elements},
      Field{"kernels", &TaskWork::kernels},
      Field{"grouped", &TaskWork::grouped},
      Field{"dropout", &TaskWork::dropout},
      Field{"weight_gradient", &TaskWork::weightGradient});
}
inline auto fieldsOf(const TaskComm *) {
  return std::make_tuple(
      Field{"kind", &TaskComm::kind}, Field{"purpose", &TaskComm::purpose},
      Field{"axes", &TaskComm::axes}, Field{"tensor", &TaskComm::tensor},
      Field{"sent", &TaskComm::sent}, Field{"between", &TaskComm::between});
}
inline auto fieldsOf(const Interval *) {
  return std::make_tuple(Field{"start", &Interval::start},
                         Field{"duration", &Interval::duration},
                         Field{"exposed", &Interval::exposed});
}
inline auto fieldsOf(const Span *) {
  return std::make_tuple(
      Field{"compute", &Span::compute}, Field{"recompute", &Span::recompute},
      Field{"exposed", &Span::exposed}, Field{"host", &Span::host});
}
inline auto fieldsOf(const Space *) {
  return std::make_tuple(
      Field{"saved", &Space::saved}, Field{"workspace", &Space::workspace},
      Field{"logits", &Space::logits}, Field{"scores", &Space::scores},
      Field{"dropped", &Space::dropped},
      Field{"layer_scores", &Space::layerScores},
      Field{"weights", &Space::weights},
      Field{"stack_saved", &Space::stackSaved},
      Field{"stack_workspace", &Space::stackWorkspace});
}
inline auto fieldsOf(const State *) {
  return std::make_tuple(Field{"parameters", &State::parameters},
                         Field{"gradients", &State::gradients},
                         Field{"optimizer", &State::optimizer},
                         Field{"inputs", &State::inputs});
}
inline auto fieldsOf(const Footprint *) {
  return std::make_tuple(Field{"parameters", &Footprint::parameters},
                         Field{"gradients", &Footprint::gradients},
                         Field{"optimizer", &Footprint::optimizer},
                         Field{"activations", &Footprint::activations},
                         Field{"workspace", &Footprint::workspace});
}
inline auto fieldsOf(const Breakdown *) {
  return std::make_tuple(
      Field{"compute", &Breakdown::compute},
      Field{"exposed_communication", &Breakdown::exposedCommunication},
      Field{"bubble", &Breakdown::bubble},
      Field{"optimizer", &Breakdown::optimizer},
      Field{"input", &Breakdown::input}, Field{"host", &Breakdown::host});
}
inline auto fieldsOf(const ModelFacts *) {
  return std::make_tuple(Field{"name", &ModelFacts::name},
                         Field{"parameters", &ModelFacts::parameters},
                         Field{"layers", &ModelFacts::layers},
                         Field{"samples", &ModelFacts::samples},
                         Field{"tokens", &ModelFacts::tokens});
}

namespace key {
inline auto keyOf(const GemmShape &g) {
  return std::make_tuple(g.batch, g.m, g.n, g.k);
}
inline auto keyOf(const AttentionShape &a) {
  return std::make_tuple(a.batch, a.heads, a.kvHeads, a.queryLength,
                         a.keyLength, a.headDim, a.valueDim, a.causal);
}
inline uint64_t keyOf(double value) { return llvm::bit_cast<uint64_t>(value); }
inline llvm::ArrayRef<int64_t> keyOf(const Coords &coords) { return coords; }
inline llvm::ArrayRef<std::string> keyOf(const std::vector<std::string> &list) {
  return list;
}
template <typename T> const T &keyOf(const T &value) { return value; }
} // namespace key

/// Every struct above with fields compares and hashes by them.
template <typename T, typename = decltype(fieldsOf(static_cast<T *>(nullptr)))>
bool operator==(const T &a, const T &b) {
  return std::apply(
      [&](auto... f) {
        return ((key::keyOf(a.*f.member) == key::keyOf(b.*f.member)) && ...);
      },
      fieldsOf(&a));
}
template <typename T, typename = decltype(fieldsOf(static_cast<T *>(nullptr)))>
llvm::hash_code hash_value(const T &v) {
  return std::apply(
      [&](auto... f) { return llvm::hash_combine(key::keyOf(v.*f.member)...); },
      fieldsOf(&v));
}

} // namespace schedule
} // namespace dtrain

#endif // DTRAIN_IR_SCHEDULE_SCHEDULESUPPORT_H
