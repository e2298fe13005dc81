//===- AxisStateTest.cpp - Validity, local shapes and digits --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VirtualTensor.h"
#include "gtest/gtest.h"

using namespace dtrain;
using namespace dtrain::test;

namespace {

using S = AxisState;
using Shape = llvm::SmallVector<int64_t>;

TEST(AxisState, Spelling) {
  EXPECT_EQ(S().str(), "R");
  EXPECT_EQ(S::split(1, 64).str(), "S(1,64)");
  EXPECT_EQ(S::partial().str(), "P(sum)");
  EXPECT_EQ(S::partial(ReduceOp::Max).str(), "P(max)");
  EXPECT_EQ(S::partial(ReduceOp::Min, {7, 0, 7}).str(), "P(min,{0,7})");
  EXPECT_EQ(S::pinned({3}).str(), "N({3})");
  EXPECT_EQ(S::pinned({2, 1}).str(), "N({1,2})");
  // One value, one spelling.
  EXPECT_EQ(S::partial(ReduceOp::Sum, {3}), S::pinned({3}));
  EXPECT_EQ(S::pinned({}), S());
  EXPECT_EQ(S::pinned({0, 1}).canonical(2), S());
  EXPECT_EQ(S::pinned({0, 1}).canonical(3), S::pinned({0, 1}));
  EXPECT_EQ(S::partial(ReduceOp::Sum, {0, 1}).canonical(2), S::partial());
  EXPECT_EQ(S::partial(ReduceOp::Sum, {0, 1}).canonical(3),
            S::partial(ReduceOp::Sum, {0, 1}));
  EXPECT_EQ(S::split(0, 4).canonical(1), S());
  EXPECT_EQ(S::split(0, 4).canonical(2), S::split(0, 4));
  EXPECT_NE(S::split(0, 4), S::split(0, 2));
  EXPECT_NE(S::partial(), S::partial(ReduceOp::Max));
  EXPECT_EQ(S::pinned({1, 2}).numHolders(8), 2);
  EXPECT_EQ(S::partial().numHolders(8), 8);
}

TEST(AxisState, EveryErrorOfVerification) {
  const llvm::SmallVector<MeshAxis> mesh{{"tp", 2}, {"dp", 4}, {"one", 1}};
  auto error = [&](const TensorState &state, const Shape &shape = {8, 6}) {
    return llvm::toString(verifyTensorState(mesh, shape, state));
  };
  EXPECT_EQ(error({S(), S(), S()}), "");
  EXPECT_EQ(error({S::split(0, 1), S::split(0, 2), S()}), "");
  EXPECT_EQ(error({S::split(0, 4), S::split(0, 1), S()}), "");
  EXPECT_EQ(error({S::split(1, 3), S::split(0, 1), S()}), "");
  EXPECT_EQ(error({S(), S::split(0, 2), S()}, {7}), "") << "7 = 2 + 2 + 2 + 1";
  EXPECT_EQ(error({S::partial(), S::partial(ReduceOp::Sum, {0, 2}), S()}), "");
  EXPECT_EQ(error({S::pinned({1}), S::pinned({1, 2, 3}), S()}), "");

  EXPECT_EQ(error({S(), S()}), "expected 3 axis states, found 2");
  EXPECT_EQ(error({S(), S(), S::split(0, 1)}),
            "axis 'one' has size 1: expected R, found S(0,1)");
  EXPECT_EQ(error({S::split(2, 1), S(), S()}),
            "axis 'tp': expected a dimension below 2, found 2");
  EXPECT_EQ(error({S::split(0, 0), S(), S()}),
            "axis 'tp': expected a positive stride, found 0");
  EXPECT_EQ(error({S::pinned({2}), S(), S()}),
            "axis 'tp': expected coordinates below 2, found 2");
  EXPECT_EQ(error({S::pinned({-1}), S(), S()}),
            "axis 'tp': expected coordinates below 2, found -1");
  EXPECT_EQ(error({S::pinned({0, 1}), S(), S()}),
            "axis 'tp': expected R, found N({0,1})");
  EXPECT_EQ(error({S::partial(ReduceOp::Sum, {0, 1}), S(), S()}),
            "axis 'tp': expected P(sum), found P(sum,{0,1})");
  S oneCoordinate = S::partial();
  oneCoordinate.on = {1};
  EXPECT_EQ(error({oneCoordinate, S(), S()}),
            "axis 'tp': expected N({1}), found P(sum,{1})");
  S unsorted = S::pinned({1, 2});
  unsorted.on = {2, 1};
  EXPECT_EQ(error({S(), unsorted, S()}),
            "axis 'dp': expected ascending coordinates, found N({2,1})");
  EXPECT_EQ(error({S::partial(), S::partial(ReduceOp::Max), S()}),
            "axis 'dp': expected the reduction 'sum' of the other partial "
            "axes, found 'max'");

  auto digits = [](int64_t extent, llvm::StringRef found) {
    return ("dimension 0 of extent " + llvm::Twine(extent) +
            ": expected strides that nest (each times its axis's size divides "
            "the one before, the first the extent) or one uneven axis without "
            "empty coordinates, found " +
            found)
        .str();
  };
  EXPECT_EQ(error({S::split(0, 4), S::split(0, 2), S()}),
            digits(8, "'tp' of size 2 with stride 4, 'dp' of size 4 with "
                      "stride 2"));
  EXPECT_EQ(error({S::split(0, 2), S::split(0, 2), S()}),
            digits(8, "'tp' of size 2 with stride 2, 'dp' of size 4 with "
                      "stride 2"));
  EXPECT_EQ(error({S::split(0, 8), S(), S()}),
            digits(8, "'tp' of size 2 with stride 8"));
  EXPECT_EQ(error({S::split(0, 3), S(), S()}),
            digits(8, "'tp' of size 2 with stride 3"));
  // Uneven: 5 over 4 in blocks of 2 leaves the last empty; 7 over 4 twice.
  EXPECT_EQ(error({S(), S::split(0, 2), S()}, {5}),
            digits(5, "'dp' of size 4 with stride 2"));
  EXPECT_EQ(error({S::split(0, 1), S::split(0, 2), S()}, {7}),
            digits(7, "'dp' of size 4 with stride 2, 'tp' of size 2 with "
                      "stride 1"));
  EXPECT_EQ(error({S(), S::split(0, INT64_MAX), S()}),
            digits(8, "'dp' of size 4 with stride 9223372036854775807"));

  EXPECT_EQ(llvm::toString(verifyTensorState(MeshAxis{"a", 0}, {8}, {S()})),
            "axis 'a': expected a positive size, found 0");
  llvm::SmallVector<MeshAxis> many(33, MeshAxis{"a", 2});
  EXPECT_EQ(llvm::toString(verifyTensorState(many, {8}, TensorState(33))),
            "expected at most 32 mesh axes, found 33");
}

TEST(AxisState, LocalShapes) {
  const llvm::SmallVector<MeshAxis> mesh{{"tp", 2}, {"cp", 2}};
  // Striped: 4 local blocks, each split by cp.
  TensorState striped{S(), S::split(0, 2)};
  EXPECT_EQ(localShape(mesh, {16, 3}, striped), (Shape{8, 3}));
  EXPECT_EQ(heldIndices(mesh, {16, 3}, striped, 0, {0, 1}),
            (Shape{2, 3, 6, 7, 10, 11, 14, 15}));
  EXPECT_EQ(heldIndices(mesh, {16, 3}, striped, 1, {0, 1}), (Shape{0, 1, 2}));
  TensorState both{S::split(0, 1), S::split(0, 4)};
  EXPECT_EQ(localExtent(mesh, {16}, both, 0), 4);
  EXPECT_EQ(heldIndices(mesh, {16}, both, 0, {1, 0}), (Shape{1, 3, 9, 11}));
  // Uneven: the first coordinate holds more.
  TensorState uneven{S::split(0, 4), S()};
  EXPECT_EQ(localExtent(mesh, {7}, uneven, 0), 4);
  EXPECT_EQ(heldIndices(mesh, {7}, uneven, 0, {1, 0}), (Shape{4, 5, 6}));

  TensorState sparse{S::pinned({1}), S()};
  EXPECT_FALSE(holds(sparse, {0, 1}));
  EXPECT_TRUE(holds(sparse, {1, 1}));
  EXPECT_TRUE(holds({S::split(0, 1), S::partial()}, {1, 0}));
}

/// Local extents and held indices agree, and the devices of a split tile it.
TEST(AxisState, RandomStatesTile) {
  Random random(3);
  for (int trial = 0; trial < 3000; ++trial) {
    auto mesh = randomMesh(random);
    auto shape = randomShape(random);
    TensorState state = randomState(random, mesh, shape);
    for (unsigned d = 0; d < shape.size(); ++d) {
      llvm::SmallVector<int64_t> count(shape[d], 0), at(mesh.size(), 0);
      int64_t largest = 0, devices = 1;
      for (const MeshAxis &axis : mesh)
        devices *= axis.size;
      int64_t copies = devices;
      for (unsigned a = 0; a < mesh.size(); ++a)
        if (state[a].kind == S::Split && state[a].dim == d)
          copies /= mesh[a].size;
      for (int64_t device = 0; device < devices; ++device) {
        int64_t rest = device;
        for (unsigned a = 0; a < mesh.size(); rest /= mesh[a++].size)
          at[a] = rest % mesh[a].size;
        auto held = heldIndices(mesh, shape, state, d, at);
        EXPECT_FALSE(held.empty());
        largest = std::max<int64_t>(largest, held.size());
        for (int64_t i : held)
          ++count[i];
      }
      EXPECT_EQ(largest, localExtent(mesh, shape, state, d));
      for (int64_t c : count)
        EXPECT_EQ(c, copies);
    }
  }
}

std::string digitsText(llvm::ArrayRef<MeshAxis> mesh, const Digits &digits) {
  std::string text;
  for (const Digit &digit : digits)
    text +=
        (digit.axis < 0 ? std::to_string(digit.gap) : mesh[digit.axis].name) +
        " ";
  return text;
}

TEST(Digits, ClosedForms) {
  const llvm::SmallVector<MeshAxis> mesh{{"tp", 2}, {"cp", 4}, {"one", 1}};
  auto strides = [&](int64_t extent, const Digits &digits) {
    TensorState state(3);
    llvm::cantFail(applyDigits(mesh, extent, 1, digits, state));
    return state[0].str() + " " + state[1].str() + " " + state[2].str();
  };
  EXPECT_EQ(strides(64, {{0}}), "S(1,32) R R");
  EXPECT_EQ(strides(64, {{0}, {1}}), "S(1,32) S(1,8) R");
  EXPECT_EQ(strides(64, {{1}, {0}}), "S(1,8) S(1,16) R");
  EXPECT_EQ(strides(64, {{-1, 4}, {1}}), "R S(1,4) R");
  EXPECT_EQ(strides(64, {{0}, {-1, 4}, {1}}), "S(1,32) S(1,2) R");
  EXPECT_EQ(strides(64, {{2}, {0}}), "S(1,32) R R") << "size 1 is dropped";
  EXPECT_EQ(strides(7, {{1}}), "R S(1,2) R") << "uneven";
  EXPECT_EQ(strides(7, {{-1, 1}, {1}, {2}}), "R S(1,2) R");

  TensorState state{S::split(1, 32), S::split(1, 2), S()};
  EXPECT_EQ(digitsText(mesh, digitsOf(mesh, {3, 64}, state, 1)), "tp 4 cp ");
  EXPECT_EQ(digitsText(mesh, digitsOf(mesh, {3, 64}, state, 0)), "");
}

TEST(Digits, EveryError) {
  const llvm::SmallVector<MeshAxis> mesh{{"tp", 2}, {"cp", 4}};
  auto error = [&](int64_t extent, const Digits &digits,
                   TensorState state = TensorState(2)) {
    TensorState before = state;
    std::string text =
        llvm::toString(applyDigits(mesh, extent, 0, digits, state));
    EXPECT_TRUE(text.empty() || state == before) << "changed on error";
    return text;
  };
  EXPECT_EQ(error(8, {{2}}), "expected an axis below 2, found 2");
  EXPECT_EQ(error(8, {{-1, 0}, {0}}), "expected a positive digit, found 0");
  EXPECT_EQ(error(8, {{0}, {0}}), "axis 'tp' already has state S(0,4)");
  EXPECT_EQ(error(8, {{0}}, {S::partial(), S()}),
            "axis 'tp' already has state P(sum)");
  EXPECT_EQ(error(6, {{0}, {1}}),
            "dimension 0 of extent 6: 4 does not divide 3");
  EXPECT_EQ(error(6, {{-1, 4}, {0}}),
            "dimension 0 of extent 6: 4 does not divide 6");
  EXPECT_EQ(error(5, {{1}}), "dimension 0 of extent 5: 4 does not divide 5, "
                             "and would leave a coordinate empty");
  EXPECT_EQ(error(8, {{0}}, TensorState(1)), "expected 2 axis states, found 1");
}

TEST(Digits, RandomRoundTrips) {
  Random random(11);
  int split = 0;
  for (int trial = 0; trial < 20000; ++trial) {
    auto mesh = randomMesh(random);
    auto shape = randomShape(random);
    TensorState state = randomState(random, mesh, shape), rebuilt = state;
    for (S &s : rebuilt)
      if (s.kind == S::Split)
        s = S();
    for (unsigned d = 0; d < shape.size(); ++d) {
      Digits digits = digitsOf(mesh, shape, state, d);
      split += !digits.empty();
      for (size_t i = 0; i < digits.size(); ++i) {
        bool isGap = digits[i].axis < 0;
        EXPECT_TRUE(!isGap || digits[i].gap > 1) << "a gap of 1";
        EXPECT_TRUE(!isGap || i + 1 < digits.size()) << "a trailing gap";
        EXPECT_TRUE(!isGap || digits[i + 1].axis >= 0) << "adjacent gaps";
      }
      llvm::Error e = applyDigits(mesh, shape[d], d, digits, rebuilt);
      ASSERT_FALSE(bool(e)) << llvm::toString(std::move(e));
    }
    EXPECT_EQ(rebuilt, state);
  }
  EXPECT_GT(split, 10000);
}

} // namespace
