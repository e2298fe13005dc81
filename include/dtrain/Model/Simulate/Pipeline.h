//===- Pipeline.h - Micro-batches through pipeline stages -------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A step of pipeline parallelism: p stages of v chunks each, through which m
/// micro-batches pass forward and then backward. Chunk c of stage s is *virtual
/// stage* c*p + s; micro-batches visit the virtual stages in ascending order
/// forward, in descending order backward. Each stage does one event at a time,
/// in the order that a must-happen-before comparator gives it.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_SIMULATE_PIPELINE_H
#define DTRAIN_MODEL_SIMULATE_PIPELINE_H

#include "dtrain/Support/Quantity.h"
#include "llvm/ADT/ArrayRef.h"
#include <vector>

namespace dtrain {

struct PipelineShape {
  int64_t stages = 1, chunks = 1, microBatches = 1;
  int64_t virtualStages() const { return stages * chunks; }
  /// Events of one stage: each micro-batch forward and backward in each chunk.
  int64_t eventsPerStage() const { return 2 * chunks * microBatches; }
};

/// One micro-batch in one chunk of a stage, in one direction.
struct StageEvent {
  int64_t microBatch = 0, chunk = 0;
  bool backward = false;
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

/// All forward passes, chunk by chunk, then all backward passes.
const PipelineOrder &gpipeOrder();
/// One chunk: p - 1 - stage forward passes, then one forward and one backward
/// in turn (PipeDream-flush).
const PipelineOrder &oneForwardOneBackwardOrder();
/// Several chunks in turn, p micro-batches at a time, as in Megatron; the
/// number of micro-batches must be a multiple of p.
const PipelineOrder &interleavedOrder();
/// "gpipe", "1f1b" or "interleaved"; an error names them.
llvm::Expected<const PipelineOrder *> findPipelineOrder(llvm::StringRef name);

struct PipelineProblem {
  PipelineShape shape;
  /// Duration of one micro-batch, per virtual stage.
  std::vector<Time> forward, backward;
  /// From virtual stage k to k + 1, and back; one less than virtual stages. A
  /// transfer occupies no stage, and transfers do not hinder one another.
  std::vector<Time> forwardTransfer, backwardTransfer;
  const PipelineOrder *order = nullptr;

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

struct PipelineSolution {
  PipelineShape shape;
  /// What each stage does in turn, one stage after the other.
  std::vector<StageEvent> sequence;
  llvm::ArrayRef<StageEvent> sequenceOf(int64_t stage) const {
    return llvm::ArrayRef(sequence).slice(stage * shape.eventsPerStage(),
                                          shape.eventsPerStage());
  }
  /// Per event; see `index`.
  std::vector<Time> starts, ends;
  Time makespan;
  std::vector<StageUse> use; // per stage
  /// Most micro-batches whose forward has begun and whose backward has not
  /// ended, per virtual stage; and most of all chunks of a stage together.
  std::vector<int64_t> inFlight, inFlightOfStage;

  size_t index(int64_t virtualStage, const StageEvent &event) const {
    return (virtualStage * 2 + event.backward) * shape.microBatches +
           event.microBatch;
  }

  /// Tests the solution: durations are right, no stage does two events at once,
  /// every event waits for its transfer, and each stage keeps the order.
  llvm::Error verify(const PipelineProblem &problem) const;
};

/// Starts each event as early as order and dependences allow; O(events). Fails
/// where `problem.check()` does, or where the order lets stages wait for one
/// another.
llvm::Expected<PipelineSolution> solve(const PipelineProblem &problem);

} // namespace dtrain

#endif // DTRAIN_MODEL_SIMULATE_PIPELINE_H
