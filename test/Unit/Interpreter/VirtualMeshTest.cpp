//===- VirtualMeshTest.cpp - Distribution and transitions -----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Interpreter/VirtualMesh.h"
#include "gtest/gtest.h"
#include <set>
#include <utility>

using namespace dtrain;

namespace {
using Mesh = llvm::SmallVector<MeshAxis>;

class VirtualMeshTest : public ::testing::Test {
protected:
  std::mt19937_64 random{42};

  int64_t uniform(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  /// A tensor whose elements are all different.
  Tensor counting(llvm::ArrayRef<int64_t> shape) {
    Tensor t(shape);
    for (int64_t i = 0; i < t.size(); ++i)
      t[i] = 1 + 0.5 * i;
    return t;
  }
  AxisState randomAxis(llvm::ArrayRef<int64_t> shape, int64_t n) {
    Coords on;
    for (int64_t c = 0; c < n; ++c)
      if (uniform(0, 1))
        on.push_back(c);
    switch (uniform(0, 4)) {
    case 0:
      return AxisState::replicated();
    case 1:
      return AxisState::partial(ReduceOp::Sum, on).canonical(n);
    case 2:
      return AxisState::pinned(on).canonical(n);
    default: {
      unsigned dim = uniform(0, shape.size() - 1);
      return AxisState::split(dim, uniform(1, shape[dim]));
    }
    }
  }
  TensorState randomState(const Mesh &mesh, llvm::ArrayRef<int64_t> shape) {
    while (true) {
      TensorState state;
      for (const MeshAxis &axis : mesh)
        state.push_back(randomAxis(shape, axis.size));
      llvm::Error error = verifyTensorState(mesh, shape, state);
      if (!error)
        return state;
      llvm::consumeError(std::move(error));
    }
  }
  static std::string print(const TensorState &state) {
    std::string text;
    for (const AxisState &axis : state)
      text += axis.str() + " ";
    return text;
  }
};
} // namespace

static const Mesh meshes[] = {{{"a", 2}},
                              {{"a", 3}},
                              {{"a", 2}, {"b", 3}},
                              {{"a", 4}, {"b", 2}},
                              {{"a", 2}, {"b", 2}, {"c", 2}}};

TEST_F(VirtualMeshTest, BlocksOfEveryState) {
  Mesh axes = {{"a", 2}};
  VirtualMesh mesh(axes);
  Tensor global = counting({4});
  auto block = [&](AxisState state, int64_t device) {
    return scatter(mesh, global, {std::move(state)}).blocks[device];
  };
  auto equal = [](std::optional<Tensor> t, std::vector<double> expected) {
    if (!t || t->size() != static_cast<int64_t>(expected.size()))
      return false;
    for (int64_t i = 0; i < t->size(); ++i)
      if ((*t)[i] != expected[i])
        return false;
    return true;
  };
  EXPECT_TRUE(equal(block(AxisState::replicated(), 1), {1, 1.5, 2, 2.5}));
  EXPECT_TRUE(equal(block(AxisState::split(0, 2), 1), {2, 2.5}));
  EXPECT_TRUE(equal(block(AxisState::split(0, 1), 1), {1.5, 2.5}));
  EXPECT_TRUE(equal(block(AxisState::partial(), 0), {1, 1.5, 2, 2.5}));
  EXPECT_TRUE(equal(block(AxisState::partial(), 1), {0, 0, 0, 0}));
  EXPECT_TRUE(equal(block(AxisState::pinned({1}), 1), {1, 1.5, 2, 2.5}));
  EXPECT_FALSE(block(AxisState::pinned({1}), 0).has_value());
  EXPECT_EQ((*block(AxisState::partial(ReduceOp::Max), 1))[0],
            -std::numeric_limits<double>::infinity());
}

TEST_F(VirtualMeshTest, RandomReshardsKeepTheTensor) {
  std::set<Transition> seen;
  for (unsigned trial = 0; trial < 3000; ++trial) {
    const Mesh &axes = meshes[uniform(0, std::size(meshes) - 1)];
    llvm::SmallVector<int64_t> shape;
    for (int64_t rank = uniform(1, 3); rank > 0; --rank)
      shape.push_back(uniform(0, 3) ? 4 * uniform(1, 3) : uniform(1, 9));
    TensorState from = randomState(axes, shape), to = randomState(axes, shape);
    VirtualMesh mesh(axes);
    Tensor global = counting(shape);
    DistributedTensor current = scatter(mesh, global, from, &random);
    ReshardPath path = cantFail(findPath(axes, shape, from, to));
    for (const ReshardStep &step : path) {
      seen.insert(step.cost.transition);
      auto next = move(mesh, current, step.axis, step.result[step.axis]);
      ASSERT_TRUE(static_cast<bool>(next))
          << print(from) << "to " << print(to) << toString(next.takeError());
      current = std::move(*next);
    }
    EXPECT_TRUE(current.state == to);
    auto found = gather(mesh, current);
    ASSERT_TRUE(static_cast<bool>(found))
        << print(from) << "to " << print(to) << toString(found.takeError());
    EXPECT_LT(relativeDifference(*found, global), 1e-12)
        << print(from) << "to " << print(to);
  }
  // Every transition of the table.
  EXPECT_EQ(seen.size(), 14u);
}

TEST_F(VirtualMeshTest, CopiesThatDiffer) {
  VirtualMesh mesh(Mesh{{"a", 2}, {"b", 2}});
  DistributedTensor t = scatter(
      mesh, counting({2}), {AxisState::replicated(), AxisState::split(0, 1)});
  (*t.blocks[2])[0] += 1;
  EXPECT_EQ(toString(gather(mesh, t).takeError()),
            "copies differ by 6.666667e-01: (0, *) and (1, *)");
}

TEST_F(VirtualMeshTest, BlocksThatAreMissing) {
  VirtualMesh mesh(Mesh{{"a", 2}});
  DistributedTensor t = scatter(mesh, counting({2}), {AxisState::split(0, 1)});
  t.blocks[1].reset();
  EXPECT_EQ(toString(gather(mesh, t).takeError()),
            "device (1) does not hold its block");
  EXPECT_EQ(toString(move(mesh, t, 0, AxisState::replicated()).takeError()),
            "device (1) does not hold its block");
}

TEST_F(VirtualMeshTest, NoTransition) {
  VirtualMesh mesh(Mesh{{"a", 3}});
  DistributedTensor t =
      scatter(mesh, counting({3}), {AxisState::partial(ReduceOp::Max)});
  EXPECT_EQ(toString(move(mesh, t, 0, AxisState::partial()).takeError()),
            "there is no transition from P(max) to P(sum)");
}

TEST_F(VirtualMeshTest, AxisThatIsPinned) {
  VirtualMesh mesh = VirtualMesh(Mesh{{"a", 2}}).restrictedTo(0, 1);
  DistributedTensor t = scatter(mesh, counting({2}), {AxisState::replicated()});
  EXPECT_FALSE(t.blocks[0].has_value());
  EXPECT_EQ(toString(move(mesh, t, 0, AxisState::split(0, 1)).takeError()),
            "axis 'a' is pinned here");
}
