//===- FindRepeatsTest.cpp - Repeated stretches of a sequence -------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Support/FindRepeats.h"
#include <gtest/gtest.h>

using namespace dtrain;

/// An op whose operands are `distances` ops earlier (0: from outside).
static SequenceOp op(unsigned signature,
                     std::initializer_list<int64_t> distances = {}) {
  SequenceOp result;
  result.signature = signature;
  for (int64_t distance : distances)
    result.operands.push_back({distance, 0});
  return result;
}

/// `count` layers of three ops; the last adds to the layer's input.
static void addLayers(std::vector<SequenceOp> &ops, unsigned count,
                      bool inputIsOutside) {
  for (unsigned i = 0; i < count; ++i) {
    bool outside = inputIsOutside && i == 0;
    ops.push_back(op(1, {outside ? 0 : 1, 0}));
    ops.push_back(op(2, {1}));
    ops.push_back(op(3, {outside ? 0 : 3, 1}));
  }
}

TEST(FindRepeatsTest, NothingInNothing) {
  EXPECT_TRUE(findRuns({}).empty());
  EXPECT_TRUE(findRuns({op(1)}).empty());
  EXPECT_TRUE(findRuns({op(1), op(2), op(3)}).empty());
}

TEST(FindRepeatsTest, LayersBetweenOthers) {
  std::vector<SequenceOp> ops{op(7), op(8)};
  addLayers(ops, 4, /*inputIsOutside=*/false);
  ops.push_back(op(9, {1}));
  llvm::SmallVector<RepeatedRun> runs = findRuns(ops);
  ASSERT_FALSE(runs.empty());
  EXPECT_EQ(runs.front(), (RepeatedRun{2, 12, 3}));
}

TEST(FindRepeatsTest, TheFirstLayersInputIsOutside) {
  std::vector<SequenceOp> ops;
  addLayers(ops, 2, /*inputIsOutside=*/true);
  llvm::SmallVector<RepeatedRun> runs = findRuns(ops);
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs.front(), (RepeatedRun{0, 6, 3}));
}

// Twice the period fits as well, but the shorter one repeats more.
TEST(FindRepeatsTest, ShorterPeriodsFirst) {
  std::vector<SequenceOp> ops;
  addLayers(ops, 8, true);
  llvm::SmallVector<RepeatedRun> runs = findRuns(ops);
  ASSERT_FALSE(runs.empty());
  EXPECT_EQ(runs.front().period, 3);
  EXPECT_EQ(runs.front().length, 24);
}

// Layers that alternate have the period of both.
TEST(FindRepeatsTest, AlternatingLayers) {
  std::vector<SequenceOp> ops;
  for (unsigned i = 0; i < 6; ++i) {
    ops.push_back(op(1, {i == 0 ? 0 : 1}));
    ops.push_back(op(i % 2 ? 2 : 3, {1}));
  }
  llvm::SmallVector<RepeatedRun> runs = findRuns(ops);
  ASSERT_FALSE(runs.empty());
  EXPECT_EQ(runs.front(), (RepeatedRun{0, 12, 4}));
}

// Something that all layers read, computed once before them, is ever farther.
TEST(FindRepeatsTest, SharedProducers) {
  std::vector<SequenceOp> ops{op(5), op(6)};
  for (int64_t i = 0; i < 3; ++i)
    ops.push_back(op(1, {1, 2 + i}));
  llvm::SmallVector<RepeatedRun> runs = findRuns(ops);
  ASSERT_FALSE(runs.empty());
  EXPECT_EQ(runs.front(), (RepeatedRun{2, 3, 1}));
}

// Equal ops wired otherwise do not repeat.
TEST(FindRepeatsTest, OtherWiring) {
  std::vector<SequenceOp> ops{op(5), op(1, {1}), op(2, {1}), op(1, {1}),
                              op(2, {2})};
  EXPECT_TRUE(findRuns(ops).empty());
}

// Another result of the same op is another value.
TEST(FindRepeatsTest, OtherResults) {
  std::vector<SequenceOp> ops{op(5), op(1, {1}), op(1, {1}), op(1, {1})};
  ops[2].operands[0].result = 1;
  EXPECT_TRUE(findRuns(ops).empty());
}
