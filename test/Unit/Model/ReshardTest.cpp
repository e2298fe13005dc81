//===- ReshardTest.cpp - Prices and paths of placement changes ------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VirtualTensor.h"
#include "gtest/gtest.h"
#include <map>

using namespace dtrain;
using namespace dtrain::test;

namespace {

using S = AxisState;
constexpr ReduceOp sum = ReduceOp::Sum;

/// The price on one axis of size 8 and a tensor of 16 x 64 = 1024 elements.
std::optional<EdgeCost> price(const S &from, const S &to) {
  static const MeshAxis axis{"a", 8};
  TensorState state{from};
  return edge(axis, {16, 64}, state, 0, to);
}

struct Cell {
  S from, to;
  Transition transition;
  double sent;
  int64_t steps;
};

TEST(Edge, EveryCellOfTheTable) {
  constexpr double B = 1024, L = 128, n = 8;
  S r, s0 = S::split(0, 2), s1 = S::split(1, 8), s1minor = S::split(1, 1),
       p = S::partial(), n3 = S::pinned({3}), n5 = S::pinned({5});
  const Cell cells[] = {
      {r, r, Transition::None, 0, 0},
      {r, s0, Transition::Slice, 0, 0},
      {r, p, Transition::Mask, 0, 0},
      {r, n3, Transition::Drop, 0, 0},
      {s0, r, Transition::AllGather, (n - 1) / n * B, 7},
      {s0, s0, Transition::None, 0, 0},
      {s0, s1, Transition::AllToAll, (n - 1) / (n * n) * B, 7},
      {s1, s1minor, Transition::AllToAll, (n - 1) / (n * n) * B, 7},
      {s0, p, Transition::Pad, 0, 0},
      {s0, n3, Transition::Gather, L, 7},
      {p, r, Transition::AllReduce, 2 * (n - 1) / n * B, 14},
      {p, s0, Transition::ReduceScatter, (n - 1) / n * B, 7},
      {p, p, Transition::None, 0, 0},
      {p, n3, Transition::Reduce, B, 7},
      {n3, r, Transition::Broadcast, B, 7},
      {n3, s0, Transition::Scatter, (n - 1) / n * B, 7},
      {n3, p, Transition::ZeroElsewhere, 0, 0},
      {n3, n3, Transition::None, 0, 0},
      {n3, n5, Transition::Send, B, 1},
  };
  for (const Cell &cell : cells) {
    SCOPED_TRACE(cell.from.str() + " -> " + cell.to.str());
    std::optional<EdgeCost> cost = price(cell.from, cell.to);
    ASSERT_TRUE(cost.has_value());
    EXPECT_EQ(cost->transition, cell.transition);
    EXPECT_DOUBLE_EQ(cost->sentElements, cell.sent);
    EXPECT_EQ(cost->steps, cell.steps);
    EXPECT_EQ(isFree(cost->transition), cell.sent == 0);
  }
}

TEST(Edge, CoordinateSets) {
  constexpr double B = 1024, L = 128;
  S r, s0 = S::split(0, 2), p = S::partial(), p07 = S::partial(sum, {0, 7}),
       p047 = S::partial(sum, {0, 4, 7}), n0 = S::pinned({0}),
       n3 = S::pinned({3}), n07 = S::pinned({0, 7}), n03 = S::pinned({0, 3}),
       n047 = S::pinned({0, 4, 7}), n34 = S::pinned({3, 4});
  const Cell cells[] = {
      // The tied embedding: gradients on both end stages, both keep the weight.
      {p07, n07, Transition::AllReduce, B, 2},
      {p07, r, Transition::AllReduce, 2 * 7.0 / 8 * B, 14},
      {p07, s0, Transition::ReduceScatter, 7.0 / 8 * B, 7},
      {p07, n0, Transition::Reduce, B, 1},
      {p07, n3, Transition::Reduce, B, 2},
      {p047, n07, Transition::AllReduce, 2 * 2.0 / 3 * B, 4},
      {p07, n03, Transition::AllReduce, 2 * 2.0 / 3 * B, 4},
      {p, n07, Transition::AllReduce, 2 * 7.0 / 8 * B, 14},
      {p07, p047, Transition::ZeroElsewhere, 0, 0},
      {p07, p, Transition::ZeroElsewhere, 0, 0},
      {r, p07, Transition::Mask, 0, 0},
      {r, n07, Transition::Drop, 0, 0},
      {n0, p07, Transition::ZeroElsewhere, 0, 0},
      {n03, p07, Transition::ZeroElsewhere, 0, 0},
      {n07, p, Transition::ZeroElsewhere, 0, 0},
      {n07, n0, Transition::Drop, 0, 0},
      {n047, n07, Transition::Drop, 0, 0},
      {n0, n07, Transition::Broadcast, B, 1},
      {n0, n047, Transition::Broadcast, B, 2},
      {n07, r, Transition::Broadcast, B, 3},
      {n07, n3, Transition::Send, B, 1},
      {n07, n03, Transition::Send, B, 1},
      {n0, n34, Transition::Broadcast, B, 2},
      {n07, n34, Transition::Broadcast, B, 1},
      {n07, s0, Transition::Scatter, 3 * L, 3},
      {s0, n07, Transition::Gather, 2 * L, 7},
  };
  for (const Cell &cell : cells) {
    SCOPED_TRACE(cell.from.str() + " -> " + cell.to.str());
    std::optional<EdgeCost> cost = price(cell.from, cell.to);
    ASSERT_TRUE(cost.has_value());
    EXPECT_EQ(cost->transition, cell.transition);
    EXPECT_DOUBLE_EQ(cost->sentElements, cell.sent);
    EXPECT_EQ(cost->steps, cell.steps);
  }
}

TEST(Edge, NoEntry) {
  S p07 = S::partial(sum, {0, 7}), p04 = S::partial(sum, {0, 4});
  EXPECT_FALSE(price(S::partial(), S::partial(ReduceOp::Max)));
  EXPECT_FALSE(price(S::partial(ReduceOp::Max), S::partial()));
  EXPECT_FALSE(price(p07, S::partial(ReduceOp::Max)));
  EXPECT_FALSE(price(S::partial(), p07));
  EXPECT_FALSE(price(p04, p07));
  EXPECT_FALSE(price(S::split(0, 2), p07));
  EXPECT_FALSE(price(S::pinned({3}), p07));
}

TEST(Edge, TransposesCostTheSame) {
  for (int64_t n : {2, 3, 4, 8}) {
    MeshAxis axis{"a", n};
    llvm::SmallVector<int64_t> shape{n * 2, n * 3};
    S r, s0 = S::split(0, 2), s1 = S::split(1, 1), p = S::partial(),
         n0 = S::pinned({0}), n1 = S::pinned({1});
    auto cost = [&](const S &from, const S &to) {
      EdgeCost c = *edge(axis, shape, TensorState{from}, 0, to);
      return std::make_pair(c.sentElements, c.steps);
    };
    EXPECT_EQ(cost(s0, r), cost(p, s0)) << "all_gather, reduce_scatter";
    EXPECT_EQ(cost(n0, r), cost(p, n0)) << "broadcast, reduce";
    EXPECT_EQ(cost(s0, s1), cost(s1, s0)) << "all_to_all";
    EXPECT_EQ(cost(n0, n1), cost(n1, n0)) << "send";
    EXPECT_EQ(cost(r, s0), cost(s0, p)) << "slice, pad";
    auto gather = cost(s0, r), scatter = cost(p, s0), reduce = cost(p, r);
    EXPECT_DOUBLE_EQ(gather.first + scatter.first, reduce.first);
    EXPECT_EQ(gather.second + scatter.second, reduce.second);
  }
}

TEST(Edge, SeesWhatOtherAxesHold) {
  llvm::SmallVector<MeshAxis> mesh{{"a", 2}, {"b", 4}};
  // b split: an all-gather on a moves a quarter of the tensor.
  TensorState state{S::split(0, 4), S::split(1, 2)};
  EXPECT_DOUBLE_EQ(edge(mesh, {8, 8}, state, 0, S())->sentElements, 8);
  state[1] = S();
  EXPECT_DOUBLE_EQ(edge(mesh, {8, 8}, state, 0, S())->sentElements, 32);
  // Uneven: 7 rows over 2 devices, the fuller one holds 4.
  state = {S::split(0, 4), S()};
  EXPECT_DOUBLE_EQ(edge(mesh, {7, 8}, state, 0, S::pinned({1}))->sentElements,
                   32);
}

TEST(Path, SlicesFirst) {
  llvm::SmallVector<MeshAxis> mesh{{"a", 2}, {"b", 4}};
  // R,P -> S,R: slicing along a halves what the all-reduce along b moves.
  TensorState from{S(), S::partial()}, to{S::split(0, 4), S()};
  ReshardPath path = llvm::cantFail(findPath(mesh, {8, 8}, from, to));
  ASSERT_EQ(path.size(), 2u);
  EXPECT_EQ(path[0].axis, 0u);
  EXPECT_EQ(path[0].cost.transition, Transition::Slice);
  EXPECT_EQ(path[1].cost.transition, Transition::AllReduce);
  EXPECT_DOUBLE_EQ(path[1].cost.sentElements, 2 * 3.0 / 4 * 32);
  EXPECT_EQ(path[1].result, to);
  EXPECT_TRUE(llvm::cantFail(findPath(mesh, {8, 8}, to, to)).empty());
}

TEST(Path, DetoursThroughReplicated) {
  // Two axes that change places on two dimensions of just their extents.
  llvm::SmallVector<MeshAxis> mesh{{"a", 2}, {"b", 2}};
  TensorState from{S::split(0, 1), S::split(1, 1)},
      to{S::split(1, 1), S::split(0, 1)};
  ReshardPath path = llvm::cantFail(findPath(mesh, {2, 2}, from, to));
  ASSERT_EQ(path.size(), 3u);
  EXPECT_EQ(path.back().result, to);
  // Partials without a common reduction, or of fewer coordinates.
  MeshAxis axis{"a", 4};
  for (const auto &[source, target] :
       {std::pair(S::partial(ReduceOp::Max), S::partial()),
        std::pair(S::partial(), S::partial(sum, {0, 1})),
        std::pair(S::split(0, 1), S::partial(sum, {0, 1}))}) {
    path = llvm::cantFail(
        findPath(axis, {4}, TensorState{source}, TensorState{target}));
    ASSERT_EQ(path.size(), 2u);
    EXPECT_EQ(path[0].result[0], S());
    EXPECT_EQ(path[1].cost.transition, Transition::Mask);
  }
}

TEST(Path, RefusesInvalidStates) {
  MeshAxis axis{"a", 4};
  TensorState valid{S()}, invalid{S::split(0, 3)};
  EXPECT_TRUE(
      llvm::StringRef(
          llvm::toString(findPath(axis, {8}, valid, invalid).takeError()))
          .contains("dimension 0 of extent 8"));
  EXPECT_TRUE(
      llvm::StringRef(
          llvm::toString(findPath(axis, {8}, invalid, valid).takeError()))
          .contains("dimension 0 of extent 8"));
  llvm::SmallVector<MeshAxis> many(9, MeshAxis{"a", 2});
  EXPECT_EQ(llvm::toString(findPath(many, {8}, TensorState(9),
                                    TensorState(9, S::partial()))
                               .takeError()),
            "expected at most 8 mesh axes that differ in a reshard, found 9");
}

std::string describe(llvm::ArrayRef<MeshAxis> mesh,
                     llvm::ArrayRef<int64_t> shape, const TensorState &from,
                     const TensorState &to) {
  std::string text = "mesh";
  for (const MeshAxis &axis : mesh)
    text += " " + std::to_string(axis.size);
  text += ", shape";
  for (int64_t extent : shape)
    text += " " + std::to_string(extent);
  text += ":";
  for (size_t a = 0; a < mesh.size(); ++a)
    text += " " + from[a].str() + " -> " + to[a].str();
  return text;
}

/// The bytes of changing one axis after another directly, if that is possible.
std::optional<double> directCost(llvm::ArrayRef<MeshAxis> mesh,
                                 llvm::ArrayRef<int64_t> shape,
                                 TensorState state, const TensorState &to,
                                 llvm::ArrayRef<unsigned> order) {
  double sent = 0;
  for (unsigned a : order) {
    std::optional<EdgeCost> cost = edge(mesh, shape, state, a, to[a]);
    if (!cost)
      return std::nullopt;
    sent += cost->sentElements;
    state[a] = to[a];
    for (unsigned d = 0; d < shape.size(); ++d)
      if (!hasValidDigits(mesh, shape[d], state, d))
        return std::nullopt;
  }
  return sent;
}

/// Random placements to random placements, executed on index sets.
TEST(Reshard, RandomExecutionKeepsTheTensor) {
  Random random(20240607);
  std::map<Transition, int> executed;
  int multiAxis = 0, detours = 0;
  constexpr int trials = 25000;
  for (int trial = 0; trial < trials; ++trial) {
    auto mesh = randomMesh(random);
    auto shape = randomShape(random);
    ReduceOp op = trial % 8 == 0   ? ReduceOp::Max
                  : trial % 8 == 1 ? ReduceOp::Min
                                   : ReduceOp::Sum;
    TensorState from = randomState(random, mesh, shape, op);
    TensorState to = randomState(random, mesh, shape, op);
    SCOPED_TRACE(describe(mesh, shape, from, to));
    llvm::Error invalid = verifyTensorState(mesh, shape, from);
    ASSERT_FALSE(bool(invalid)) << llvm::toString(std::move(invalid));

    size_t elements = 1;
    for (int64_t extent : shape)
      elements *= extent;
    std::vector<double> global;
    for (size_t i = 0; i < elements; ++i)
      global.push_back(static_cast<double>(uniform(random, -99, 99)));
    VirtualTensor tensor =
        VirtualTensor::place(mesh, shape, from, global, random);
    ASSERT_EQ(tensor.compare(global), "");

    llvm::Expected<ReshardPath> path = findPath(mesh, shape, from, to);
    ASSERT_TRUE(bool(path)) << llvm::toString(path.takeError());
    size_t differing = 0;
    double sent = 0;
    for (size_t a = 0; a < mesh.size(); ++a)
      differing += from[a] != to[a];
    TensorState state = from;
    for (const ReshardStep &step : *path) {
      state[step.axis] = step.result[step.axis];
      ASSERT_EQ(state, step.result);
      llvm::Error e = verifyTensorState(mesh, shape, state);
      ASSERT_FALSE(bool(e)) << llvm::toString(std::move(e));
      ASSERT_EQ(tensor.move(step.axis, state[step.axis],
                            isFree(step.cost.transition)),
                "");
      ASSERT_EQ(tensor.compare(global), "");
      ++executed[step.cost.transition];
      sent += step.cost.sentElements;
    }
    ASSERT_EQ(tensor.state(), to);
    multiAxis += differing > 1;
    detours += path->size() > differing;

    llvm::SmallVector<unsigned> order;
    for (unsigned a = 0; a < mesh.size(); ++a)
      order.insert(order.begin() + uniform(random, 0, a), a);
    std::optional<double> direct = directCost(mesh, shape, from, to, order);
    if (direct) {
      EXPECT_LE(sent, *direct * (1 + 1e-12));
    }
  }
  // The draw covers the table.
  for (int t = 1; t <= static_cast<int>(Transition::Send); ++t)
    EXPECT_GT(executed[static_cast<Transition>(t)], 100)
        << stringifyTransition(static_cast<Transition>(t)).str();
  EXPECT_GT(multiAxis, trials / 3);
  EXPECT_GT(detours, trials / 100);
}

/// The executor must be able to fail: a wrong path is noticed.
TEST(Reshard, ExecutorNoticesLoss) {
  Random random(1);
  MeshAxis axis{"a", 4};
  std::vector<double> global{1, 2, 3, 4, 5, 6, 7, 8};
  auto place = [&](const S &state) {
    return VirtualTensor::place(axis, {8}, TensorState{state}, global, random);
  };
  EXPECT_NE(place(S::split(0, 2)).move(0, S(), /*isFree=*/true), "");
  EXPECT_NE(place(S::pinned({1})).move(0, S(), /*isFree=*/true), "");
  EXPECT_NE(place(S::partial()).move(0, S(), /*isFree=*/true), "");
  // Padding slices onto some coordinates only loses the others'.
  VirtualTensor lossy = place(S::split(0, 2));
  EXPECT_EQ(lossy.move(0, S::partial(sum, {0, 1}), true), "");
  EXPECT_NE(lossy.compare(global), "");
}

} // namespace
