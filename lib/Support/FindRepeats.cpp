//===- FindRepeats.cpp - Repeated stretches of a sequence of ops ----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Support/FindRepeats.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include <tuple>

using namespace dtrain;
using namespace llvm;

/// Periods tried: those that most pairs of neighbours suggest. Layers suggest
/// few; a graph in which hundreds occur has none that matters.
static constexpr unsigned kMaxPeriods = 128;

/// `sinceStart` is how many ops the run has before the earlier one.
static bool looksAlike(const SequenceOperand &earlier,
                       const SequenceOperand &later, int64_t period,
                       int64_t sinceStart) {
  if (earlier.distance == later.distance ||
      earlier.distance + period == later.distance)
    return earlier.result == later.result || earlier.distance == 0;
  // The first repetition's input.
  bool isBefore = earlier.distance == 0 || earlier.distance > sinceStart;
  return isBefore && later.distance != 0 && later.distance < 2 * period;
}

static bool looksAlike(const SequenceOp &earlier, const SequenceOp &later,
                       int64_t period, int64_t sinceStart) {
  if (earlier.signature != later.signature ||
      earlier.operands.size() != later.operands.size())
    return false;
  for (auto [a, b] : zip(earlier.operands, later.operands))
    if (!looksAlike(a, b, period, sinceStart))
      return false;
  return true;
}

/// Distances between neighbours of equal signature, most frequent first.
static SmallVector<int64_t> candidatePeriods(ArrayRef<SequenceOp> ops) {
  DenseMap<unsigned, int64_t> last;
  DenseMap<int64_t, int64_t> counts;
  for (auto [i, op] : enumerate(ops)) {
    auto [it, inserted] =
        last.try_emplace(op.signature, static_cast<int64_t>(i));
    if (!inserted) {
      ++counts[static_cast<int64_t>(i) - it->second];
      it->second = static_cast<int64_t>(i);
    }
  }
  SmallVector<std::pair<int64_t, int64_t>> order;
  for (auto [period, count] : counts)
    order.push_back({-count, period});
  sort(order);
  SmallVector<int64_t> periods;
  for (auto [count, period] : ArrayRef(order).take_front(kMaxPeriods))
    periods.push_back(period);
  return periods;
}

SmallVector<RepeatedRun> dtrain::findRuns(ArrayRef<SequenceOp> ops,
                                          unsigned limit) {
  auto rank = [](const RepeatedRun &run) {
    return std::tuple(-run.length, run.period, run.start);
  };
  auto before = [&](const RepeatedRun &a, const RepeatedRun &b) {
    return rank(a) < rank(b);
  };
  SmallVector<RepeatedRun> runs;
  int64_t count = static_cast<int64_t>(ops.size());
  for (int64_t period : candidatePeriods(ops)) {
    SmallVector<RepeatedRun> own;
    int64_t matched = 0;
    for (int64_t i = 0; i + period <= count; ++i) {
      if (i + period < count &&
          looksAlike(ops[i], ops[i + period], period, matched)) {
        ++matched;
        continue;
      }
      if (matched >= period)
        own.push_back({i - matched, matched + period, period});
      matched = 0;
    }
    sort(own, before);
    append_range(runs, ArrayRef(own).take_front(limit));
  }
  sort(runs, before);
  return runs;
}
