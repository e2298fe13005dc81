//===- ScheduleSupport.h - What the attributes hold -------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The fields of the structs whose text form the `schedule` dialect's
/// attributes are. Each struct lists its fields once, in textual order;
/// parsing, printing, equality and hashing follow from that.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_IR_SCHEDULE_SCHEDULESUPPORT_H
#define DTRAIN_IR_SCHEDULE_SCHEDULESUPPORT_H

#include "dtrain/Model/Step/Solve.h"
#include <tuple>

namespace dtrain {

/// What a priced plan holds of its stack besides costs: StepPrices.
struct StackFigures {
  Time optimizerHost;
  Bytes perLogit, perScore, perDropped, workspace, perWeight;
};
/// The part of the step that a hiding is of.
enum class HidingPass : uint8_t { Forward, Backward };
/// What a stack hides of communications of one purpose.
struct PurposeHiding : dtrain::Hiding {
  Purpose purpose = Purpose::Data;
  HidingPass pass = HidingPass::Forward;
};

/// A named member of a struct or of its base.
template <typename C, typename M> struct Field {
  const char *name;
  M C::*member;
};
template <typename C, typename M> Field(const char *, M C::*) -> Field<C, M>;

inline auto fieldsOf(const PayloadCost *) {
  return std::make_tuple(Field{"device", &PayloadCost::device},
                         Field{"host", &PayloadCost::host},
                         Field{"flops", &PayloadCost::flops},
                         Field{"traffic", &PayloadCost::traffic},
                         Field{"link", &PayloadCost::link},
                         Field{"network", &PayloadCost::network});
}
inline auto fieldsOf(const StepWork *) {
  return std::make_tuple(
      Field{"class", &StepWork::cls}, Field{"precision", &StepWork::precision},
      Field{"contract", &StepWork::contract}, Field{"flops", &StepWork::flops},
      Field{"read", &StepWork::read}, Field{"written", &StepWork::written},
      Field{"gemm", &StepWork::gemm}, Field{"attention", &StepWork::attention},
      Field{"elements", &StepWork::elements},
      Field{"kernels", &StepWork::kernels},
      Field{"grouped", &StepWork::grouped},
      Field{"dropout", &StepWork::dropout});
}
inline auto fieldsOf(const StepComm *) {
  return std::make_tuple(
      Field{"kind", &StepComm::kind}, Field{"purpose", &StepComm::purpose},
      Field{"axes", &StepComm::axes}, Field{"tensor", &StepComm::tensor},
      Field{"between", &StepComm::between});
}
inline auto fieldsOf(const StepTransfer *) {
  return std::make_tuple(Field{"resource", &StepTransfer::resource},
                         Field{"bytes", &StepTransfer::bytes});
}
inline auto fieldsOf(const StepResource *) {
  return std::make_tuple(Field{"name", &StepResource::name},
                         Field{"capacity", &StepResource::capacity},
                         Field{"bandwidth", &StepResource::bandwidth},
                         Field{"latency", &StepResource::latency});
}
inline auto fieldsOf(const EventKind *) {
  return std::make_tuple(
      Field{"name", &EventKind::name}, Field{"flow", &EventKind::flow},
      Field{"returns", &EventKind::returns}, Field{"after", &EventKind::after});
}
inline auto fieldsOf(const Interval *) {
  return std::make_tuple(Field{"start", &Interval::start},
                         Field{"duration", &Interval::duration},
                         Field{"ready", &Interval::ready});
}
inline auto fieldsOf(const Span *) {
  return std::make_tuple(
      Field{"compute", &Span::compute}, Field{"recompute", &Span::recompute},
      Field{"exposed", &Span::exposed}, Field{"host", &Span::host},
      Field{"fill", &Span::fill});
}
inline auto fieldsOf(const StepSpace *) {
  return std::make_tuple(Field{"saved", &StepSpace::saved},
                         Field{"workspace", &StepSpace::workspace},
                         Field{"logits", &StepSpace::logits},
                         Field{"scores", &StepSpace::scores},
                         Field{"dropped", &StepSpace::dropped},
                         Field{"layer_scores", &StepSpace::layerScores},
                         Field{"weights", &StepSpace::weights});
}
inline auto fieldsOf(const StepState *) {
  return std::make_tuple(Field{"parameters", &StepState::parameters},
                         Field{"gradients", &StepState::gradients},
                         Field{"optimizer", &StepState::optimizer},
                         Field{"inputs", &StepState::inputs});
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
inline auto fieldsOf(const StackFigures *) {
  return std::make_tuple(Field{"optimizer_host", &StackFigures::optimizerHost},
                         Field{"per_logit", &StackFigures::perLogit},
                         Field{"per_score", &StackFigures::perScore},
                         Field{"per_dropped", &StackFigures::perDropped},
                         Field{"workspace", &StackFigures::workspace},
                         Field{"per_weight", &StackFigures::perWeight});
}
inline auto fieldsOf(const PurposeHiding *) {
  return std::make_tuple(Field{"purpose", &PurposeHiding::purpose},
                         Field{"pass", &PurposeHiding::pass},
                         Field{"visible", &PurposeHiding::visible},
                         Field{"least", &PurposeHiding::least},
                         Field{"hides", &PurposeHiding::hides},
                         Field{"interference", &PurposeHiding::interference});
}

namespace key {
inline llvm::ArrayRef<int64_t> keyOf(const Coords &coords) { return coords; }
inline auto keyOf(const Extents &extents) {
  return llvm::hash_combine_range(extents.begin(), extents.end());
}
template <size_t N> auto keyOf(const std::array<Extents, N> &sides) {
  llvm::hash_code code = N;
  for (const Extents &side : sides)
    code = llvm::hash_combine(code, keyOf(side));
  return code;
}
inline auto keyOf(const AttentionExtents &a) {
  return llvm::hash_combine(keyOf(a.sides), a.causal);
}
inline size_t keyOf(const std::vector<std::string> &list) {
  return llvm::hash_combine_range(list.begin(), list.end());
}
template <typename T> const T &keyOf(const T &value) { return value; }
} // namespace key

/// Every struct above with fields compares and hashes by them.
template <typename T, typename = decltype(fieldsOf(static_cast<T *>(nullptr)))>
llvm::hash_code hash_value(const T &v) {
  return std::apply(
      [&](auto... f) { return llvm::hash_combine(key::keyOf(v.*f.member)...); },
      fieldsOf(&v));
}
template <typename T, typename = decltype(fieldsOf(static_cast<T *>(nullptr)))>
bool isEqual(const T &a, const T &b) {
  return std::apply(
      [&](auto... f) { return ((a.*f.member == b.*f.member) && ...); },
      fieldsOf(&a));
}
template <typename T, typename = decltype(fieldsOf(static_cast<T *>(nullptr)))>
bool operator==(const T &a, const T &b) {
  return isEqual(a, b);
}

} // namespace dtrain

#endif // DTRAIN_IR_SCHEDULE_SCHEDULESUPPORT_H
