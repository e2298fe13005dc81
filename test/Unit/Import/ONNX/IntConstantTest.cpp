//===- IntConstantTest.cpp - The evaluator against plain loops ------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntConstant.h"
#include "llvm/ADT/STLExtras.h"
#include <gtest/gtest.h>
#include <limits>
#include <random>

using namespace dtrain::onnx_import;
using namespace llvm;

using Ints = SmallVector<int64_t>;
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

/// The values, asserting that there are some.
static Ints valuesOf(const IntConstant::Result &c) {
  EXPECT_TRUE(c);
  std::optional<Ints> values = c ? c->getValues() : std::nullopt;
  EXPECT_TRUE(values);
  return values.value_or(Ints());
}

TEST(IntConstantTest, CountsElementsWithinSixtyFourBits) {
  EXPECT_EQ(countElements({}), 1);
  EXPECT_EQ(countElements({3, 4}), 12);
  EXPECT_EQ(countElements({3, 0}), 0);
  EXPECT_EQ(countElements({3, -1}), std::nullopt);
  EXPECT_EQ(countElements({kMax, 2}), std::nullopt);
  EXPECT_EQ(countElements({kMax, 2, 0}), std::nullopt);
}

TEST(IntConstantTest, BroadcastsFromTheRight) {
  EXPECT_EQ(broadcastShapes({4, 1, 3}, {2, 1}), Ints({4, 2, 3}));
  EXPECT_EQ(broadcastShapes({}, {5}), Ints({5}));
  EXPECT_EQ(broadcastShapes({2}, {3}), std::nullopt);
}

TEST(IntConstantTest, FindsSequences) {
  auto sequence = IntConstant::get({2, 3}, {7, 9, 11, 17, 19, 21});
  ASSERT_TRUE(sequence && sequence->isAffine());
  EXPECT_EQ(sequence->getOffset(), 7);
  EXPECT_EQ(Ints(sequence->getStrides()), Ints({10, 2}));
  auto irregular = IntConstant::list({1, 2, 4});
  ASSERT_TRUE(irregular);
  EXPECT_FALSE(irregular->isAffine());
  EXPECT_EQ(valuesOf(irregular), Ints({1, 2, 4}));
}

TEST(IntConstantTest, RangeIsPythons) {
  EXPECT_EQ(valuesOf(IntConstant::range(2, 9, 3)), Ints({2, 5, 8}));
  EXPECT_EQ(valuesOf(IntConstant::range(5, 0, -2)), Ints({5, 3, 1}));
  EXPECT_EQ(valuesOf(IntConstant::range(5, 5, 1)), Ints());
  EXPECT_FALSE(IntConstant::range(0, 5, 0));
  EXPECT_FALSE(IntConstant::range(kMin, kMax, 1));
  EXPECT_FALSE(IntConstant::range(0, 5, kMin));
}

TEST(IntConstantTest, NeverMaterialisesALongSequence) {
  auto row = IntConstant::range(0, int64_t(1) << 40, 1);
  ASSERT_TRUE(row);
  EXPECT_FALSE(row->getValues());
  auto two = IntConstant::splat({}, 2);
  auto twice = IntConstant::binary(IntConstant::Binary::Mul, *two, *row);
  ASSERT_TRUE(twice && twice->isAffine());
  EXPECT_EQ(twice->getStrides().front(), 2);
  auto column = row->reshape({int64_t(1) << 40, 1});
  ASSERT_TRUE(column);
  // 2**80 elements.
  EXPECT_FALSE(
      IntConstant::binary(IntConstant::Binary::LessEqual, *row, *column));
}

TEST(IntConstantTest, OverflowIsUnknown) {
  auto big = IntConstant::splat({2}, kMax);
  auto one = IntConstant::splat({}, 1), zero = IntConstant::splat({}, 0);
  auto least = IntConstant::splat({}, kMin), minus = IntConstant::splat({}, -1);
  using Binary = IntConstant::Binary;
  EXPECT_FALSE(IntConstant::binary(Binary::Add, *big, *one));
  EXPECT_FALSE(IntConstant::binary(Binary::Mul, *big, *big));
  EXPECT_FALSE(IntConstant::binary(Binary::Div, *one, *zero));
  EXPECT_FALSE(IntConstant::binary(Binary::Mod, *one, *zero));
  EXPECT_FALSE(IntConstant::binary(Binary::Div, *least, *minus));
  EXPECT_FALSE(big->reduce(IntConstant::Reduce::Sum, {0}, false));
  EXPECT_FALSE(IntConstant::affine({3}, 1, {kMax}));
}

TEST(IntConstantTest, DivisionAndRemainderAreOnnxs) {
  auto a = IntConstant::list({7, -7, 7, -7}),
       b = IntConstant::list({2, 2, -2, -2});
  using Binary = IntConstant::Binary;
  EXPECT_EQ(valuesOf(IntConstant::binary(Binary::Div, *a, *b)),
            Ints({3, -3, -3, 3}));
  EXPECT_EQ(valuesOf(IntConstant::binary(Binary::Mod, *a, *b)),
            Ints({1, 1, -1, -1}));
}

TEST(IntConstantTest, GatherChecksIndices) {
  auto x = IntConstant::list({10, 20, 40});
  EXPECT_EQ(valuesOf(x->gather(0, *IntConstant::list({-1, 0, 0}))),
            Ints({40, 10, 10}));
  EXPECT_FALSE(x->gather(0, *IntConstant::list({3})));
  EXPECT_FALSE(x->gather(0, *IntConstant::list({-4})));
}

//===----------------------------------------------------------------------===//
// Affine and listed values give the same
//===----------------------------------------------------------------------===//

namespace {
/// A constant with its values beside it.
struct Sample {
  IntConstant constant;
  Ints shape, values;
};
} // namespace

static bool step(Ints &index, ArrayRef<int64_t> shape) {
  for (unsigned d = shape.size(); d-- > 0;) {
    if (++index[d] < shape[d])
      return true;
    index[d] = 0;
  }
  return false;
}

static int64_t pick(ArrayRef<int64_t> values, ArrayRef<int64_t> shape,
                    ArrayRef<int64_t> index) {
  int64_t linear = 0;
  for (auto [extent, i] : zip_equal(shape, index))
    linear = linear * extent + (extent == 1 ? 0 : i);
  return values[linear];
}

static Sample sample(std::mt19937 &random, ArrayRef<int64_t> shape) {
  auto number = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  bool regular = number(0, 1);
  Ints strides, values, index(shape.size(), 0);
  for (size_t d = 0; d < shape.size(); ++d)
    strides.push_back(number(-2, 2));
  int64_t offset = number(-3, 3);
  do {
    int64_t value = offset;
    for (auto [stride, i] : zip_equal(strides, index))
      value += stride * i;
    values.push_back(regular ? value : number(-3, 3));
  } while (step(index, shape));
  return {*IntConstant::get(shape, values), Ints(shape), values};
}

TEST(IntConstantTest, RandomOperationsMatchPlainLoops) {
  std::mt19937 random(20240611);
  using Binary = IntConstant::Binary;
  const Binary kinds[] = {
      Binary::Add,   Binary::Sub,  Binary::Mul,       Binary::Min, Binary::Max,
      Binary::Equal, Binary::Less, Binary::LessEqual, Binary::And, Binary::Or};
  for (int trial = 0; trial < 2000; ++trial) {
    Ints full;
    for (int d = 0; d < 3; ++d)
      full.push_back(1 + random() % 3);
    auto thin = [&] {
      Ints shape(full);
      for (int64_t &extent : shape)
        if (random() % 3 == 0)
          extent = 1;
      return shape;
    };
    Sample a = sample(random, thin()), b = sample(random, thin());
    Binary kind = kinds[random() % std::size(kinds)];
    auto result = IntConstant::binary(kind, a.constant, b.constant);
    ASSERT_TRUE(result);
    Ints index(3, 0), expected, actual;
    do {
      int64_t x = pick(a.values, a.shape, index);
      int64_t y = pick(b.values, b.shape, index);
      const int64_t table[] = {x + y,          x - y,  x * y, std::min(x, y),
                               std::max(x, y), x == y, x < y, x <= y,
                               x && y,         x || y};
      expected.push_back(table[llvm::find(kinds, kind) - std::begin(kinds)]);
    } while (step(index, result->getShape()));
    ASSERT_EQ(valuesOf(result), expected) << "trial " << trial;

    // Movement of one operand.
    unsigned dim = random() % 3;
    int64_t extent = a.shape[dim], start = random() % extent;
    int64_t count = 1 + random() % (extent - start);
    auto part = a.constant.slice(dim, start, count, 1);
    auto turned = a.constant.transpose({2, 0, 1});
    auto flat = a.constant.reshape(static_cast<int64_t>(a.values.size()));
    auto both = IntConstant::concat({a.constant, a.constant}, dim);
    auto sum = a.constant.reduce(IntConstant::Reduce::Sum,
                                 static_cast<int64_t>(dim), true);
    ASSERT_TRUE(part && turned && flat && both && sum);
    EXPECT_EQ(valuesOf(flat), a.values);
    Ints sums(sum->getNumElements(), 0);
    index.assign(3, 0);
    do {
      int64_t value = pick(a.values, a.shape, index);
      EXPECT_EQ(turned->at({index[2], index[0], index[1]}), value);
      EXPECT_EQ(both->at(index), value);
      Ints second(index);
      second[dim] += extent;
      EXPECT_EQ(both->at(second), value);
      if (index[dim] >= start && index[dim] < start + count) {
        Ints inside(index);
        inside[dim] -= start;
        EXPECT_EQ(part->at(inside), value);
      }
      int64_t linear = 0;
      for (unsigned d = 0; d < 3; ++d)
        linear = d == dim ? linear : linear * a.shape[d] + index[d];
      sums[linear] += value;
    } while (step(index, a.shape));
    EXPECT_EQ(valuesOf(sum), sums);
  }
}
