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

/// The position of the `index`-th forward or backward of `count` each, when
/// `warmup` forwards come first and then one forward and one backward in turn:
/// forwards stand at 0 … warmup-1 and then at every second place; backwards
/// fill the places between, and once forwards are done, the rest.
static int64_t alternate(int64_t count, int64_t warmup, int64_t index,
                         bool backward) {
  if (!backward)
    return index < warmup ? index : warmup + 2 * (index - warmup);
  return index < count - warmup ? warmup + 2 * index + 1 : count + index;
}

namespace {
class GPipe : public PipelineOrder {
  llvm::StringRef name() const override { return "gpipe"; }
  Error check(const PipelineShape &) const override { return Error::success(); }
  int64_t position(const PipelineShape &shape, int64_t,
                   const StageEvent &event) const override {
    int64_t m = shape.microBatches;
    if (!event.backward)
      return event.chunk * m + event.microBatch;
    return (2 * shape.chunks - 1 - event.chunk) * m + event.microBatch;
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
    return alternate(shape.microBatches, warmup, event.microBatch,
                     event.backward);
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
    int64_t turn = event.backward ? v - 1 - event.chunk : event.chunk;
    int64_t index =
        (event.microBatch / p * v + turn) * p + event.microBatch % p;
    return alternate(count, warmup, index, event.backward);
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
