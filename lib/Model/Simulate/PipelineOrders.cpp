//===- PipelineOrders.cpp - Orders in which stages do their events --------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Checks.h"
#include "dtrain/Model/Simulate/Pipeline.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace dtrain;
using llvm::Error;
using llvm::Expected;

/// The position of an event of `kind` of the `index`-th of `count` turns, when
/// `warmup` turns outward come first and then one outward and one back in turn.
/// A turn is one event of each kind of its way.
static int64_t alternate(const PipelineShape &shape, int64_t count,
                         int64_t warmup, int64_t index, unsigned kind) {
  int64_t outward = shape.numOutward(), back = shape.numKinds() - outward;
  bool returns = shape.kinds[kind].returns;
  // Turns of both ways done before this one.
  int64_t outwardDone = returns ? std::min(count, warmup + index + 1) : index;
  int64_t backDone = returns ? index : std::max<int64_t>(0, index - warmup);
  return outward * outwardDone + back * backDone +
         (returns ? kind - outward : kind);
}

namespace {
class GPipe : public PipelineOrder {
  llvm::StringRef name() const override { return "gpipe"; }
  Error check(const PipelineShape &) const override { return Error::success(); }
  int64_t position(const PipelineShape &shape, int64_t,
                   const StageEvent &event) const override {
    bool returns = shape.kinds[event.kind].returns;
    int64_t turn = returns ? shape.chunks - 1 - event.chunk : event.chunk;
    return (event.kind * shape.chunks + turn) * shape.microBatches +
           event.microBatch;
  }
};

class OneForwardOneBackward : public PipelineOrder {
  llvm::StringRef name() const override { return "1f1b"; }
  Error check(const PipelineShape &shape) const override {
    if (shape.chunks == 1)
      return Error::success();
    return makeError("expected one chunk per stage in order '1f1b', found " +
                     llvm::Twine(shape.chunks) +
                     "; several are order 'interleaved'");
  }
  int64_t position(const PipelineShape &shape, int64_t stage,
                   const StageEvent &event) const override {
    int64_t warmup = std::min(shape.stages - 1 - stage, shape.microBatches);
    return alternate(shape, shape.microBatches, warmup, event.microBatch,
                     event.kind);
  }
};

/// Megatron-LM's interleaved 1F1B (Narayanan et al., SC'21, section 2.2): the
/// first chunk takes p micro-batches, then the next chunk the same, and so on.
class Interleaved : public PipelineOrder {
  llvm::StringRef name() const override { return "interleaved"; }
  Error check(const PipelineShape &shape) const override {
    if (shape.chunks < 2)
      return makeError("expected at least 2 chunks per stage in order "
                       "'interleaved', found " +
                       llvm::Twine(shape.chunks));
    if (shape.microBatches % shape.stages != 0)
      return makeError("expected the number of micro-batches to be a multiple "
                       "of the " +
                       llvm::Twine(shape.stages) +
                       " stages in order 'interleaved', found " +
                       llvm::Twine(shape.microBatches));
    return Error::success();
  }
  int64_t position(const PipelineShape &shape, int64_t stage,
                   const StageEvent &event) const override {
    int64_t p = shape.stages, v = shape.chunks;
    int64_t count = shape.microBatches * v;
    int64_t warmup = std::min(2 * (p - stage - 1) + (v - 1) * p, count);
    int64_t turn =
        shape.kinds[event.kind].returns ? v - 1 - event.chunk : event.chunk;
    int64_t index =
        (event.microBatch / p * v + turn) * p + event.microBatch % p;
    return alternate(shape, count, warmup, index, event.kind);
  }
};
} // namespace

const PipelineOrder &dtrain::gpipeOrder() {
  static const GPipe order;
  return order;
}
const PipelineOrder &dtrain::oneForwardOneBackwardOrder() {
  static const OneForwardOneBackward order;
  return order;
}
const PipelineOrder &dtrain::interleavedOrder() {
  static const Interleaved order;
  return order;
}

Expected<const PipelineOrder *>
dtrain::findPipelineOrder(llvm::StringRef name) {
  std::string known;
  for (const PipelineOrder *order :
       {&gpipeOrder(), &oneForwardOneBackwardOrder(), &interleavedOrder()}) {
    if (order->name() == name)
      return order;
    known += (known.empty() ? "'" : ", '") + order->name().str() + "'";
  }
  return makeError("expected a pipeline order of " + known + ", found '" +
                   name + "'");
}
