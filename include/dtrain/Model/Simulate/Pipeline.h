//===- Pipeline.h - Micro-batches through pipeline stages -------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A step of pipeline parallelism: p stages of v chunks each, through which m
/// micro-batches pass. Chunk c of stage s is *virtual stage* c*p + s. What a
/// stage does for one micro-batch in one chunk is a number of *events*, one of
/// each kind: forward and backward; or backward in two parts; or reading a
/// batch first. Each stage does one event at a time, in the order that a
/// must-happen-before comparator gives it.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_SIMULATE_PIPELINE_H
#define DTRAIN_MODEL_SIMULATE_PIPELINE_H

#include "dtrain/Support/Quantity.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <string>
#include <vector>

namespace dtrain {

/// How micro-batches visit the virtual stages in events of one kind: each waits
/// for the one on the virtual stage before, on the one after, or on none.
enum class Flow : uint8_t { Ascending, Descending, Local };
llvm::StringRef stringifyFlow(Flow flow);

struct EventKind {
  std::string name;
  Flow flow = Flow::Ascending;
  /// On the way back: done after a stage's turn forward, in the chunks'
  /// descending order.
  bool returns = false;
  /// The kind, earlier in the list, whose event of the same micro-batch and
  /// virtual stage it waits for; -1 for none.
  int after = -1;
  bool operator==(const EventKind &o) const {
    return name == o.name && flow == o.flow && returns == o.returns &&
           after == o.after;
  }
};
using EventKinds = llvm::SmallVector<EventKind, 2>;
/// "forward", ascending; "backward", descending, after it.
EventKinds forwardAndBackward();
/// At least one kind; those that return follow the others; names differ;
/// `after` is earlier in the list.
llvm::Error checkKinds(llvm::ArrayRef<EventKind> kinds);

struct PipelineShape {
  int64_t stages = 1, chunks = 1, microBatches = 1;
  EventKinds kinds = forwardAndBackward();
  int64_t virtualStages() const { return stages * chunks; }
  int64_t numKinds() const { return kinds.size(); }
  /// Kinds before the way back.
  int64_t numOutward() const;
  /// Each micro-batch, once of each kind, in each chunk.
  int64_t eventsPerStage() const { return numKinds() * chunks * microBatches; }
};

/// One micro-batch in one chunk of a stage; `kind` is an index into the
/// shape's.
struct StageEvent {
  int64_t microBatch = 0, chunk = 0;
  unsigned kind = 0;
};

/// The order in which a stage does its events. The comparator must be a strict
/// total order; it is stated by the position of each event, so that sorting is
/// placing.
class PipelineOrder {
public:
  virtual ~PipelineOrder() = default;
  virtual llvm::StringRef name() const = 0;
  /// Whether the order is defined for this shape.
  virtual llvm::Error check(const PipelineShape &shape) const = 0;
  /// The event's place among those of `stage`, from zero.
  virtual int64_t position(const PipelineShape &shape, int64_t stage,
                           const StageEvent &event) const = 0;
  /// The comparator.
  bool mustHappenBefore(const PipelineShape &shape, int64_t stage,
                        const StageEvent &a, const StageEvent &b) const {
    return position(shape, stage, a) < position(shape, stage, b);
  }
};

/// All events outward, chunk by chunk, then those of the way back, kind by
/// kind.
const PipelineOrder &gpipeOrder();
/// One chunk: p - 1 - stage micro-batches outward, then one outward and one
/// back in turn (PipeDream-flush).
const PipelineOrder &oneForwardOneBackwardOrder();
/// Several chunks in turn, p micro-batches at a time, as in Megatron; the
/// number of micro-batches must be a multiple of p.
const PipelineOrder &interleavedOrder();
/// "gpipe", "1f1b" or "interleaved"; an error names them.
llvm::Expected<const PipelineOrder *> findPipelineOrder(llvm::StringRef name);

struct PipelineProblem {
  PipelineShape shape;
  /// Duration of one event, [kind][virtual stage].
  std::vector<std::vector<Time>> durations;
  /// [kind][boundary]: between virtual stages k and k + 1 in the direction of
  /// the kind's flow; one less than virtual stages, and none of a local kind. A
  /// transfer occupies no stage, and transfers do not hinder one another.
  std::vector<std::vector<Time>> transfers;
  const PipelineOrder *order = nullptr;

  /// Zeroes of the shape's sizes.
  void resize();
  /// Counts and durations are well formed and the order fits the shape.
  llvm::Error check() const;
};

/// Where one stage's time goes: busy + transfer + bubble = makespan.
struct StageUse {
  Time busy;
  /// Waiting while the awaited transfer is in flight.
  Time transfer;
  /// Waiting for anything else.
  Time bubble;
};

/// What does not depend on durations: what each stage does in turn, and an
/// order in which all events can be started. Made once, it solves any number of
/// problems of its shape and order.
class PipelineGraph {
public:
  /// Fails where the shape or the order is ill-formed, or where the order lets
  /// stages wait for one another. O(events).
  static llvm::Expected<std::shared_ptr<const PipelineGraph>>
  get(const PipelineShape &shape, const PipelineOrder &order);

  const PipelineShape &shape() const { return theShape; }
  llvm::ArrayRef<StageEvent> sequenceOf(int64_t stage) const {
    return llvm::ArrayRef(sequence).slice(stage * theShape.eventsPerStage(),
                                          theShape.eventsPerStage());
  }
  size_t index(int64_t virtualStage, const StageEvent &event) const {
    return (virtualStage * theShape.numKinds() + event.kind) *
               theShape.microBatches +
           event.microBatch;
  }

private:
  friend struct PipelineSolution;
  friend class Simulation;
  friend class GraphBuilder;
  /// An event that can start once the nodes before it have.
  struct Node {
    uint32_t index;
    /// Events waited for, by `index`; -1 for none. What `flow` waits for has to
    /// travel.
    int32_t flow, after;
    uint32_t virtualStage;
    uint32_t stage;
    uint32_t kind;
  };
  PipelineShape theShape;
  std::vector<StageEvent> sequence;
  std::vector<Node> nodes;
};

struct PipelineSolution {
  std::shared_ptr<const PipelineGraph> graph;
  /// Per event; see PipelineGraph::index.
  std::vector<Time> starts, ends;
  Time makespan;
  std::vector<StageUse> use; // per stage

  size_t index(int64_t virtualStage, const StageEvent &event) const {
    return graph->index(virtualStage, event);
  }
  /// When a stage has done its last event of a kind.
  Time lastEnd(int64_t stage, unsigned kind) const;
  /// Most micro-batches of a virtual stage whose first event has begun and
  /// whose last has not ended.
  int64_t inFlight(int64_t virtualStage) const;
  /// The same over all chunks of a stage.
  int64_t inFlightOfStage(int64_t stage) const;

  /// Tests the solution: durations are right, no stage does two events at once,
  /// every event waits for its transfer, and each stage keeps the order.
  llvm::Error verify(const PipelineProblem &problem) const;
};

/// Starts each event as early as order and dependences allow; O(events). Fails
/// where `problem.check()` or `PipelineGraph::get` does.
llvm::Expected<PipelineSolution> solve(const PipelineProblem &problem);
/// The same on a graph of the problem's shape and order.
llvm::Expected<PipelineSolution>
solve(const PipelineProblem &problem,
      std::shared_ptr<const PipelineGraph> graph);

} // namespace dtrain

#endif // DTRAIN_MODEL_SIMULATE_PIPELINE_H
