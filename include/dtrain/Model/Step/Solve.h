//===- Solve.h - A step's times, memory and activity ------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_STEP_SOLVE_H
#define DTRAIN_MODEL_STEP_SOLVE_H

#include "dtrain/Model/Energy/Energy.h"
#include "dtrain/Model/Step/Price.h"
#include <algorithm>
#include <map>

namespace dtrain {

/// Where the time of a body or a segment goes: compute + exposed = duration on
/// the device, and `host` what launching takes meanwhile. `recompute` is a part
/// of compute.
struct Span {
  Time compute, recompute, exposed, host;
  /// Of a body whose tasks run ahead: what the first trip waits for them.
  Time fill;
  Time device() const { return compute + exposed; }
  /// The device waits for the host where that is slower.
  Time duration() const { return std::max(device(), host); }
};

/// When an op of a scope runs, from the start of its scope.
struct Interval {
  Time start, duration;
  /// Of a communication: from the start until who first waits for it may go
  /// on.
  Time ready;
};

/// The solution of one scope: an interval for each op, and the span.
struct ScopeSolution {
  std::vector<Interval> ops;
  Span span;
};

/// Memory in use at its peak.
struct Footprint {
  Bytes parameters, gradients, optimizer, activations, workspace;
  Bytes total() const {
    return parameters + gradients + optimizer + activations + workspace;
  }
};

/// Where the step's time goes for a class of devices.
struct Breakdown {
  Time compute, exposedCommunication, bubble, optimizer, input, host;
  Time total() const {
    return compute + exposedCommunication + bubble + optimizer + input + host;
  }
  /// What the class does itself.
  Time busy() const {
    return compute + exposedCommunication + optimizer + input + host;
  }
};

/// A solved step. Queries answer about classes by index.
class StepSolution {
public:
  Time step;
  std::vector<ScopeSolution> bodies;
  /// Per class, per segment.
  std::vector<std::vector<ScopeSolution>> segments;
  PipelineProblem pipelineProblem;
  PipelineSolution pipeline;

  /// When a stage has done its last event of a kind, from the step's start.
  Time lastEnd(int64_t stage, unsigned kind) const {
    return before + pipeline.lastEnd(stage, kind);
  }
  const Footprint &peak(unsigned deviceClass) const {
    return footprints[deviceClass];
  }
  const Breakdown &breakdown(unsigned deviceClass) const {
    return breakdowns[deviceClass];
  }

  /// What segments before the events take, on the class where they take
  /// longest.
  Time before;
  std::vector<Footprint> footprints;
  std::vector<Breakdown> breakdowns;
};

/// Solves a priced step; O(tasks + events). `graph`, if given, is that of the
/// step's shape and order.
llvm::Expected<StepSolution>
solve(const EvaluatedStep &step, const StepPrices &prices,
      std::shared_ptr<const PipelineGraph> graph = nullptr);

/// Tests a solution, which may lack its pipeline's events, by the conditions
/// that it has to meet: starts, by resources and dependences; spans, by what
/// their tasks take; events, by their order and transfers; memory, by
/// allocating and releasing it event by event; breakdowns, by their sum.
llvm::Error verify(const EvaluatedStep &step, const StepPrices &prices,
                   const StepSolution &solution);

/// How often a class runs a segment in one step.
double runsOf(const EvaluatedStep &step, const StepSegment &segment);

/// What one device does in a scope or a step.
struct Activity {
  /// By the MFU convention and over all devices, without and with
  /// recomputation.
  Flops model, hardware;
  /// Of one device, the mean: executed FLOPs and memory traffic, bytes sent
  /// inside nodes and between them.
  std::map<Precision, Flops> flops;
  Bytes traffic, link, network;
  /// FLOPs of contractions, over all devices, by the type that they are in.
  std::map<Precision, Flops> contracted;
  /// Sent by the busiest device, by axes ("tp", or "dp+cp" of one collective
  /// over both).
  std::map<std::string, Bytes> sent;
  double tasks = 0;
  void add(const Activity &o, double times);
};
/// Totals of a step over all its devices.
struct StepTotals {
  Flops model, hardware;
  /// The matrix unit's type of most contraction FLOPs.
  Precision mainPrecision = Precision::BF16;
  StepActivity activity;
  std::vector<std::pair<std::string, Bytes>> sent; // by the busiest class
  /// The class that is busiest, and the one that is fullest.
  unsigned critical = 0, fullest = 0;
  double tasks = 0;
};
StepTotals totalsOf(const EvaluatedStep &step, const StepPrices &prices,
                    const StepSolution &solution);

} // namespace dtrain

#endif // DTRAIN_MODEL_STEP_SOLVE_H
