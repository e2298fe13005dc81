//===- LayoutTest.cpp - How groups of devices lie on the nodes ------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../A100.h"
#include "dtrain/Model/Collective/Collective.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <numeric>
#include <random>

using namespace dtrain;
using namespace dtrain::test;

namespace dtrain {
/// How GoogleTest shows a layout.
std::ostream &operator<<(std::ostream &os, const GroupLayout &layout) {
  return os << layout.ranks << " ranks, " << layout.ranksPerNode
            << " in a node, " << layout.groupsPerNode << " groups";
}
} // namespace dtrain

using Mesh = std::vector<int64_t>;
static GroupLayout layout(const Mesh &mesh, const CommGroups &groups,
                          int64_t node) {
  return llvm::cantFail(layoutOf(mesh, groups, node));
}
static GroupLayout send(const Mesh &mesh, unsigned axis, int64_t from,
                        int64_t to) {
  return layout(mesh, {{axis}, {from, to}, true}, 8);
}

TEST(LayoutTest, AxesInRankOrder) {
  // tp = 8, dp = 4, pp = 2 on nodes of eight.
  EXPECT_EQ(layout({8, 4, 2}, {{0}, {}}, 8), (GroupLayout{8, 8, 1}));
  EXPECT_EQ(layout({8, 4, 2}, {{1}, {}}, 8), (GroupLayout{4, 1, 8}));
  EXPECT_EQ(layout({8, 4, 2}, {{2}, {}}, 8), (GroupLayout{2, 1, 8}));
  // tp = 2: four ranks of each of two dp groups in a node.
  EXPECT_EQ(layout({2, 16}, {{0}, {}}, 8), (GroupLayout{2, 2, 4}));
  EXPECT_EQ(layout({2, 16}, {{1}, {}}, 8), (GroupLayout{16, 4, 2}));
  EXPECT_EQ(layout({2, 16}, {{1}, {}}, 8).nodes(), 4);
  // Wider than a node.
  EXPECT_EQ(layout({16, 2}, {{0}, {}}, 8), (GroupLayout{16, 8, 1}));
  // A domain of 72 does not divide into eights of sixteen.
  EXPECT_EQ(layout({8, 16}, {{1}, {}}, 72), (GroupLayout{16, 9, 8}));
  // tp = 6 on nodes of eight: some groups straddle, two in a node.
  EXPECT_EQ(layout({6, 4}, {{0}, {}}, 8), (GroupLayout{6, 4, 2}));
  // Everything in one node; an axis of one.
  EXPECT_EQ(layout({2, 2}, {{1}, {}}, 8), (GroupLayout{2, 2, 2}));
  EXPECT_EQ(layout({8, 1}, {{1}, {}}, 8), (GroupLayout{1, 1, 8}));
}

TEST(LayoutTest, SetsOfAxes) {
  // tp = 2, cp = 2, dp = 8 on nodes of eight: gradients over cp and dp have
  // four ranks of each of two groups in a node.
  EXPECT_EQ(layout({2, 2, 8}, {{1, 2}, {}}, 8), (GroupLayout{16, 4, 2}));
  EXPECT_EQ(layout({2, 2, 8}, {{2, 1}, {}}, 8), (GroupLayout{16, 4, 2}));
  // tp and dp but not cp, which lies between: 2 * 2 ranks in a node.
  EXPECT_EQ(layout({2, 2, 8}, {{0, 2}, {}}, 8), (GroupLayout{16, 4, 2}));
  // All axes: one group.
  EXPECT_EQ(layout({2, 2, 8}, {{0, 1, 2}, {}}, 8), (GroupLayout{32, 8, 1}));
  // Two axes within the node; two axes beyond it.
  EXPECT_EQ(layout({2, 2, 8}, {{0, 1}, {}}, 8), (GroupLayout{4, 4, 2}));
  EXPECT_EQ(layout({8, 2, 4}, {{1, 2}, {}}, 8), (GroupLayout{8, 1, 8}));
  // tp = 3, cp = 2 and dp = 4 on nodes of eight, group of {cp, dp} with tp = 0:
  // ranks 0 3 | 6 9 | 12 15 | 18 21: at most three in a node (0 3 6).
  EXPECT_EQ(layout({3, 2, 4}, {{1, 2}, {}}, 8), (GroupLayout{8, 3, 3}));
}

TEST(LayoutTest, SomeCoordinates) {
  // Four of eight stages of two devices each: a node holds two neighbours of
  // each of two groups.
  EXPECT_EQ(layout({2, 8}, {{1}, {0, 1, 2, 3}}, 8), (GroupLayout{4, 4, 2}));
  EXPECT_EQ(layout({4, 8}, {{1}, {0, 1, 2, 3}}, 8), (GroupLayout{4, 2, 4}));
  EXPECT_DOUBLE_EQ(layout({4, 8}, {{1}, {0, 1, 2, 3}}, 8).crossingShare(), .5);
  // First and last stage, and three far ones.
  EXPECT_EQ(layout({4, 8}, {{1}, {0, 7}}, 8), (GroupLayout{2, 1, 4}));
  EXPECT_EQ(layout({4, 8}, {{1}, {0, 3, 6}}, 8), (GroupLayout{3, 1, 4}));
  // Two of three stages: the middle node serves both ends of different groups.
  EXPECT_EQ(layout({4, 3, 2}, {{1}, {0, 2}}, 8), (GroupLayout{2, 1, 8}));
  // Of tp = 2 and pp = 4, the devices (tp, pp) = (0, 0), (1, 0), (0, 3): with
  // dp = 2 between, two of them share the node.
  EXPECT_EQ(layout({2, 2, 4}, {{0, 2}, {0, 1, 6}}, 4), (GroupLayout{3, 2, 2}));
}

TEST(LayoutTest, TransfersBetweenStages) {
  EXPECT_EQ(send({8, 4}, 1, 0, 1), (GroupLayout{2, 1, 8}));
  EXPECT_DOUBLE_EQ(send({8, 4}, 1, 0, 1).crossingShare(), 1);
  // Stages of four devices: every second boundary is inside a node, and four
  // devices send across the others.
  EXPECT_FALSE(send({4, 4}, 1, 0, 1).crossesNodes());
  EXPECT_DOUBLE_EQ(send({4, 4}, 1, 0, 1).crossingShare(), 0);
  EXPECT_EQ(send({4, 4}, 1, 1, 2), (GroupLayout{2, 1, 4}));
  EXPECT_EQ(send({4, 4}, 1, 3, 0), (GroupLayout{2, 1, 4}));
  EXPECT_FALSE(send({2, 4}, 1, 3, 0).crossesNodes());
  // The middle node receives from one stage 0 and sends from another: both
  // leave it the whole of its network.
  EXPECT_EQ(send({4, 3, 2}, 1, 0, 2), (GroupLayout{2, 1, 4}));
}

TEST(LayoutTest, LargeMeshes) {
  EXPECT_EQ(layout({8, 1 << 28}, {{1}, {}}, 8), (GroupLayout{1 << 28, 1, 8}));
  EXPECT_EQ(layout({2, 1 << 28}, {{1}, {}}, 8), (GroupLayout{1 << 28, 4, 2}));
  EXPECT_EQ(layout({6, 100'000'000}, {{0}, {}}, 8), (GroupLayout{6, 4, 2}));
  EXPECT_EQ(layout({6, 100'000'000}, {{1}, {}}, 8),
            (GroupLayout{100'000'000, 2, 6}));
  EXPECT_EQ(layout({1 << 15, 1 << 15}, {{1}, {}}, 1 << 30),
            (GroupLayout{1 << 15, 1 << 15, 1 << 15}));
  // Nothing repeats before 8 * 16,777,213 devices.
  EXPECT_PRED2(contains,
               messageOf(layoutOf(Mesh{16'777'213, 100}, {{0}, {}}, 8)),
               "expected mesh axes that divide nodes of 8 devices");
}

/// The layout by looking at every device of the mesh.
static GroupLayout bruteForce(const Mesh &mesh, const CommGroups &groups,
                              int64_t perNode) {
  int64_t total = std::accumulate(mesh.begin(), mesh.end(), int64_t(1),
                                  std::multiplies<int64_t>());
  // By group and node: the coordinates along the set.
  std::map<int64_t, std::map<int64_t, std::vector<int64_t>>> byGroup;
  int64_t ranks = 0;
  for (int64_t rank = 0; rank < total; ++rank) {
    int64_t coordinate = 0, weight = 1, group = 0, stride = 1;
    for (unsigned axis = 0; axis < mesh.size(); stride *= mesh[axis++]) {
      int64_t digit = rank / stride % mesh[axis];
      if (llvm::is_contained(groups.axes, axis)) {
        coordinate += digit * weight;
        weight *= mesh[axis];
      } else {
        group += digit * stride;
      }
    }
    ranks = groups.between.empty() ? weight : groups.between.size();
    if (groups.between.empty() ||
        llvm::is_contained(groups.between, coordinate))
      byGroup[group][rank / perNode].push_back(coordinate);
  }
  GroupLayout worst{ranks, 0, 0};
  std::map<int64_t, int64_t> crossing, all;
  for (auto &[group, nodes] : byGroup)
    for (auto &[node, coordinates] : nodes) {
      ++all[node];
      if (nodes.size() == 1)
        continue;
      worst.ranksPerNode =
          std::max<int64_t>(worst.ranksPerNode, coordinates.size());
      if (!groups.oneWay ||
          llvm::is_contained(coordinates, groups.between.front()))
        ++crossing[node];
    }
  for (auto &[node, count] : crossing)
    worst.groupsPerNode = std::max(worst.groupsPerNode, count);
  if (worst.ranksPerNode > 0)
    return worst;
  GroupLayout inside{ranks, ranks, 1};
  for (auto &[node, count] : all)
    inside.groupsPerNode = std::max(inside.groupsPerNode, count);
  return inside;
}

TEST(LayoutTest, AsFoundDeviceByDevice) {
  std::mt19937_64 random(7);
  auto upTo = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  unsigned crossing = 0;
  for (unsigned trial = 0; trial < 4000; ++trial) {
    Mesh mesh;
    for (int64_t i = 1 + upTo(4); i > 0; --i)
      mesh.push_back(1 + upTo(6));
    CommGroups groups;
    int64_t coordinates = 1;
    for (unsigned axis = 0; axis < mesh.size(); ++axis)
      if (upTo(2)) {
        groups.axes.push_back(axis);
        coordinates *= mesh[axis];
      }
    std::shuffle(groups.axes.begin(), groups.axes.end(), random);
    std::vector<int64_t> order(coordinates);
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    if (upTo(2)) {
      int64_t count = 1 + upTo(coordinates);
      groups.between.assign(order.begin(), order.begin() + count);
      groups.oneWay = count == 2 && upTo(2);
    }
    int64_t node = 1 + upTo(12);
    GroupLayout found = layout(mesh, groups, node);
    ASSERT_EQ(found, bruteForce(mesh, groups, node)) << "trial " << trial;
    crossing += found.crossesNodes();
  }
  EXPECT_GT(crossing, 1000u);
}

TEST(LayoutTest, RejectsBadMeshes) {
  EXPECT_EQ(messageOf(layoutOf({8, 2}, {{2}, {}}, 8)),
            "expected an axis below 2, found 2");
  EXPECT_EQ(messageOf(layoutOf({8, 2}, {{1, 1}, {}}, 8)),
            "expected different axes, found 1 twice");
  EXPECT_EQ(messageOf(layoutOf({8, 0}, {{0}, {}}, 8)),
            "expected mesh axis size >= 1, found 0");
  EXPECT_EQ(messageOf(layoutOf({8, 2}, {{0}, {}}, 0)),
            "expected devices per node >= 1, found 0");
  EXPECT_PRED2(contains,
               messageOf(layoutOf({INT64_MAX, INT64_MAX}, {{0}, {}}, 8)),
               "devices in a mesh, found more");
  EXPECT_EQ(messageOf(layoutOf({8, 2}, {{1}, {0, 2}, true}, 8)),
            "expected different coordinates below 2, found 2");
  EXPECT_EQ(messageOf(layoutOf({8, 2}, {{1}, {1, 1}, true}, 8)),
            "expected different coordinates below 2, found 1");
  EXPECT_EQ(messageOf(layoutOf({8, 2}, {{1}, {1}, true}, 8)),
            "expected a source and a target of a transfer, found 1 "
            "coordinates");
}
