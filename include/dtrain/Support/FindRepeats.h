//===- FindRepeats.h - Repeated stretches of a sequence of ops --*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Candidates for rolling: stretches of a sequence in which each op looks like
/// the one a period earlier. That two ops look alike is necessary for them to
/// be one op of a repeated layer; who uses this verifies the rest.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_SUPPORT_FINDREPEATS_H
#define DTRAIN_SUPPORT_FINDREPEATS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>

namespace dtrain {

/// Where an operand of an op in a sequence comes from.
struct SequenceOperand {
  /// How many ops earlier its producer is; 0 if the producer is not in the
  /// sequence.
  int64_t distance = 0;
  /// Which of the producer's results it is.
  unsigned result = 0;
};

/// One op: equal signatures mean equal kinds, attributes and types.
struct SequenceOp {
  unsigned signature = 0;
  llvm::SmallVector<SequenceOperand, 3> operands;
};

/// Ops [start, start + length), each of which but the first `period` looks like
/// the one `period` earlier.
struct RepeatedRun {
  int64_t start, length, period;
  bool operator==(const RepeatedRun &o) const {
    return start == o.start && length == o.length && period == o.period;
  }
};

/// The maximal runs of at least two periods, longest first; of equally long
/// ones those with shorter periods, then earlier ones first. At most `limit`
/// for each of the most frequent periods, so that the time is
/// O(ops * distinct periods). Two operands look alike if they are as far from
/// their producers, have the same producer, or both come from outside; an
/// operand from before the run also looks like one from the period before,
/// since the first repetition gets its input from elsewhere.
llvm::SmallVector<RepeatedRun> findRuns(llvm::ArrayRef<SequenceOp> ops,
                                        unsigned limit = 4);

} // namespace dtrain

#endif // DTRAIN_SUPPORT_FINDREPEATS_H
