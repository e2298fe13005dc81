//===- CollectiveTest.cpp - Time and bytes of a communication -------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Collective/Collective.h"
#include "../A100.h"
#include "dtrain/Model/Collective/Overlap.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace dtrain;
using namespace dtrain::test;

namespace {
double us(llvm::Expected<Time> time) {
  return llvm::cantFail(std::move(time)).base() * 1e6;
}
Bytes bytes(double value) { return Bytes::fromBase(value); }
} // namespace

TEST(CollectiveTest, MeasuredCollectivesOfA100) {
  struct Row {
    CollectiveKind kind;
    int64_t ranks;
    double bytes, us;
  };
  // collectives.csv (aiconfigurator, NCCL 2.27.3, A100-SXM4-80GB, one node).
  const Row rows[] = {{CollectiveKind::AllGather, 4, 65536, 15.38},
                      {CollectiveKind::AllGather, 4, 1048576, 22.53},
                      {CollectiveKind::AllGather, 4, 268435456, 1106.4},
                      {CollectiveKind::AllReduce, 4, 65536, 17.8},
                      {CollectiveKind::AllReduce, 4, 1048576, 29.78},
                      {CollectiveKind::AllReduce, 4, 16777216, 183.5},
                      {CollectiveKind::AllReduce, 4, 268435456, 1926.6},
                      {CollectiveKind::AllGather, 8, 1048576, 26.79},
                      {CollectiveKind::AllGather, 8, 268435456, 1216.8},
                      {CollectiveKind::AllReduce, 8, 1048576, 38.85},
                      {CollectiveKind::AllReduce, 8, 16777216, 216.5},
                      {CollectiveKind::AllReduce, 8, 268435456, 2182.5}};
  double sum = 0;
  for (const Row &row : rows) {
    double predicted = us(collectiveTime(a100(), row.kind, bytes(row.bytes),
                                         {row.ranks, row.ranks, 1}));
    sum += std::abs(predicted / row.us - 1);
    EXPECT_NEAR(predicted / row.us, 1, .25)
        << stringifyCollectiveKind(row.kind).str() << " " << row.ranks << " "
        << row.bytes;
  }
  // The fit's mean error over all rows is 8.5 %, its 95th percentile 22 %.
  EXPECT_LT(sum / std::size(rows), .10);
}

TEST(CollectiveTest, TakesTheFasterProtocol) {
  GroupLayout eight{8, 8, 1};
  double small = 4096, large = 1e9;
  EXPECT_NEAR(us(collectiveTime(a100(), CollectiveKind::AllReduce, bytes(small),
                                {2, 2, 1})),
              10.3 + .707 * 2 + small / (.221 * 300e3), 1e-9);
  double wire = 1.75 * large / 300e3;
  EXPECT_NEAR(us(collectiveTime(a100(), CollectiveKind::AllReduce, bytes(large),
                                eight)),
              17.9 + .095 * 14 + wire / .726 + 4.9 * std::sqrt(wire), 1e-6);
}

TEST(CollectiveTest, SwitchReductionWhereTheNodeHasIt) {
  Machine m = a100();
  GroupLayout eight{8, 8, 1};
  double ring =
      us(collectiveTime(m, CollectiveKind::AllReduce, bytes(1e9), eight));
  m.node.switchReduction = {given<Time>(40.7e-6), given<Ratio>(.61),
                            given<Ratio>(4)};
  double wire = 1e9 / 300e3;
  double inSwitch = 40.7 + wire / .61 + 4.9 * std::sqrt(wire);
  EXPECT_LT(inSwitch, ring);
  EXPECT_NEAR(
      us(collectiveTime(m, CollectiveKind::AllReduce, bytes(1e9), eight)),
      inSwitch, 1e-6);
  // Not for other kinds, nor for groups smaller than it serves.
  EXPECT_EQ(
      us(collectiveTime(m, CollectiveKind::AllGather, bytes(1e9), eight)),
      us(collectiveTime(a100(), CollectiveKind::AllGather, bytes(1e9), eight)));
  EXPECT_EQ(
      us(collectiveTime(m, CollectiveKind::AllReduce, bytes(1e9), {2, 2, 4})),
      us(collectiveTime(a100(), CollectiveKind::AllReduce, bytes(1e9),
                        {2, 2, 4})));
}

TEST(CollectiveTest, AcrossNodesTheGroupsShareTheNetwork) {
  Machine m = a100();
  // 4 nodes, two groups of the axis in each: beta = .85 * 200 GB/s / 2.
  GroupLayout layout{16, 4, 2};
  double wire = 2.0 * 15 / 16 * 1e9 / (.85 * 200e3 / 2);
  EXPECT_NEAR(
      us(collectiveTime(m, CollectiveKind::AllReduce, bytes(1e9), layout)),
      10.3 + 2 * 2 * 10 + .707 * 2 * 3 + wire + 4.9 * std::sqrt(wire), 1e-6);
  wire = 15.0 / 16 * 1e9 / (.85 * 200e3 / 2);
  EXPECT_NEAR(
      us(collectiveTime(m, CollectiveKind::ReduceScatter, bytes(1e9), layout)),
      10.3 + 10 + .6 * 3 + .707 * 3 + wire + 4.9 * std::sqrt(wire), 1e-6);
  // One rank of the only group in each node has one interface, not all eight.
  wire = 3.0 / 4 * 1e9 / (.85 * 200e3 / 8);
  EXPECT_NEAR(
      us(collectiveTime(m, CollectiveKind::AllGather, bytes(1e9), {4, 1, 1})),
      10.3 + 10 + .6 * 3 + wire + 4.9 * std::sqrt(wire), 1e-6);
}

TEST(CollectiveTest, AllToAllPaysForWhatLeavesTheNode) {
  // 16 ranks on two nodes, each holding 1/16 of 16e8 bytes, half of which leave
  // through its eighth of the network.
  double wire = 1e8 * 8 / 16 / (.85 * 200e3 / 8);
  EXPECT_NEAR(us(collectiveTime(a100(), CollectiveKind::AllToAll, bytes(16e8),
                                {16, 8, 1})),
              10 + .6 + 10.3 + .707 * 7 + wire + 4.9 * std::sqrt(wire), 1e-6);
}

TEST(CollectiveTest, Transfers) {
  EXPECT_NEAR(
      us(collectiveTime(a100(), CollectiveKind::Send, bytes(1e8), {2, 2, 4})),
      10.3 + 1e8 / (.726 * 300e3), 1e-9);
  EXPECT_NEAR(
      us(collectiveTime(a100(), CollectiveKind::Send, bytes(1e8), {2, 1, 8})),
      10 + 1e8 / (.85 * 200e3 / 8), 1e-9);
}

TEST(CollectiveTest, BytesSentByTheBusiestDevice) {
  auto sent = [](CollectiveKind kind, int64_t n) {
    return llvm::cantFail(sentPerDevice(kind, bytes(64), n)).base();
  };
  EXPECT_EQ(sent(CollectiveKind::AllReduce, 8), 2 * 7 * 8);
  EXPECT_EQ(sent(CollectiveKind::AllGather, 8), 7 * 8);
  EXPECT_EQ(sent(CollectiveKind::ReduceScatter, 8), 7 * 8);
  EXPECT_EQ(sent(CollectiveKind::AllToAll, 8), 7);
  EXPECT_EQ(sent(CollectiveKind::Broadcast, 8), 64);
  EXPECT_EQ(sent(CollectiveKind::Reduce, 8), 64);
  EXPECT_EQ(sent(CollectiveKind::Gather, 8), 8);
  EXPECT_EQ(sent(CollectiveKind::Scatter, 8), 7 * 8);
  EXPECT_EQ(sent(CollectiveKind::Send, 2), 64);
  EXPECT_EQ(sent(CollectiveKind::AllReduce, 1), 0);
}

TEST(CollectiveTest, ReduceScatterAndAllGatherMakeAnAllReduceOnTheWire) {
  for (int64_t n : {2, 3, 8, 64}) {
    double parts =
        llvm::cantFail(
            sentPerDevice(CollectiveKind::ReduceScatter, bytes(1e6), n))
            .base() +
        llvm::cantFail(sentPerDevice(CollectiveKind::AllGather, bytes(1e6), n))
            .base();
    EXPECT_DOUBLE_EQ(
        llvm::cantFail(sentPerDevice(CollectiveKind::AllReduce, bytes(1e6), n))
            .base(),
        parts);
  }
}

TEST(CollectiveTest, RejectsBadInput) {
  Machine m = a100();
  GroupLayout eight{8, 8, 1};
  EXPECT_PRED2(
      contains,
      messageOf(collectiveTime(m, CollectiveKind::AllReduce, bytes(-1), eight)),
      "expected a finite, non-negative tensor size");
  EXPECT_EQ(messageOf(collectiveTime(m, CollectiveKind::AllReduce, bytes(1),
                                     {0, 1, 1})),
            "expected ranks of a group >= 1, found 0");
  EXPECT_EQ(messageOf(collectiveTime(m, CollectiveKind::AllReduce, bytes(1),
                                     {4, 8, 1})),
            "expected at most 4 ranks of a group in a node, found 8");
  EXPECT_EQ(
      us(collectiveTime(m, CollectiveKind::AllReduce, bytes(1e9), {1, 1, 8})),
      0);
  m.network = {};
  EXPECT_PRED2(contains,
               messageOf(collectiveTime(m, CollectiveKind::AllReduce, bytes(1),
                                        {16, 8, 1})),
               "expected a positive network bandwidth of a node");
  EXPECT_GT(us(collectiveTime(m, CollectiveKind::AllReduce, bytes(1), eight)),
            0);
  m.node.linkBandwidth = {};
  EXPECT_PRED2(
      contains,
      messageOf(collectiveTime(m, CollectiveKind::AllReduce, bytes(1), eight)),
      "expected a positive scale-up link bandwidth");
}

/// What is left to wait for of 100 us beside so much compute.
static double left(const Stack &stack, Purpose purpose, bool backward,
                   double beside) {
  Hiding hiding = llvm::cantFail(hidingOf(stack, purpose, backward));
  return hiding
             .left(Time::fromBase(1e-4), Time::fromBase(beside * 1e-6), Time())
             .base() *
         1e6;
}

TEST(OverlapTest, WhatAStackHides) {
  Stack core = megatronCore(), old = megatron2021();
  EXPECT_DOUBLE_EQ(left(core, Purpose::Tensor, false, 0), 35);
  EXPECT_DOUBLE_EQ(left(core, Purpose::Tensor, true, 40), 100 - .85 * 40);
  EXPECT_DOUBLE_EQ(left(core, Purpose::Sequence, true, 400), 35);
  // Hidden 80 of 100, a quarter of which is lost to interference.
  EXPECT_DOUBLE_EQ(left(core, Purpose::Gradient, true, 100), 20 + .25 * 80);
  EXPECT_DOUBLE_EQ(left(core, Purpose::Gradient, true, 1000), 10 + .25 * 90);
  EXPECT_DOUBLE_EQ(left(old, Purpose::Gradient, true, 1000), 100);
  EXPECT_EQ(messageOf(hidingOf(old, Purpose::Tensor, true)),
            "'megatron-2021' states no share of weight gradients that hide");
  core.dataHides = given<Ratio>(1.5);
  EXPECT_EQ(messageOf(hidingOf(core, Purpose::Parameter, false)),
            "'megatron-core': expected a share of compute that hides "
            "collectives between 0 and 1, found " +
                Ratio::fromBase(1.5).str());
}
