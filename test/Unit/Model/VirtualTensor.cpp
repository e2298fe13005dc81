//===- VirtualTensor.cpp - A tensor on a virtual mesh ---------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VirtualTensor.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace dtrain;
using namespace dtrain::test;

int64_t dtrain::test::uniform(Random &random, int64_t lo, int64_t hi) {
  return lo + static_cast<int64_t>(random() % (hi - lo + 1));
}

double dtrain::test::identityOf(ReduceOp op) {
  switch (op) {
  case ReduceOp::Sum:
    return 0;
  case ReduceOp::Max:
    return -HUGE_VAL;
  case ReduceOp::Min:
    return HUGE_VAL;
  }
  llvm_unreachable("all reductions are covered");
}

double dtrain::test::reduce(ReduceOp op, double a, double b) {
  switch (op) {
  case ReduceOp::Sum:
    return a + b;
  case ReduceOp::Max:
    return std::max(a, b);
  case ReduceOp::Min:
    return std::min(a, b);
  }
  llvm_unreachable("all reductions are covered");
}

static bool isIn(const Coords &on, int64_t coordinate) {
  return on.empty() || llvm::is_contained(on, coordinate);
}

/// Calls `visit(position, global index)` for every element of a block.
template <typename Fn>
static void forEachElement(const VirtualTensor::Block &block, Fn visit) {
  llvm::SmallVector<size_t> at(block.indices.size(), 0);
  llvm::SmallVector<int64_t> global(block.indices.size());
  for (size_t position = 0; position < block.values.size(); ++position) {
    for (size_t d = 0; d < at.size(); ++d)
      global[d] = block.indices[d][at[d]];
    visit(position, llvm::ArrayRef<int64_t>(global));
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < block.indices[d].size())
        break;
      at[d] = 0;
    }
  }
}

/// The position of a global index in a block, if the block holds it.
static std::optional<size_t> positionIn(const VirtualTensor::Block &block,
                                        llvm::ArrayRef<int64_t> global) {
  size_t position = 0;
  for (size_t d = 0; d < global.size(); ++d) {
    const auto &held = block.indices[d];
    const auto *it = llvm::lower_bound(held, global[d]);
    if (it == held.end() || *it != global[d])
      return std::nullopt;
    position = position * held.size() + (it - held.begin());
  }
  return position;
}

static size_t linearIndex(llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<int64_t> index) {
  size_t linear = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    linear = linear * shape[d] + index[d];
  return linear;
}

VirtualTensor::VirtualTensor(llvm::ArrayRef<MeshAxis> mesh,
                             llvm::ArrayRef<int64_t> shape,
                             const TensorState &state)
    : mesh(mesh), shape(shape), placement(state) {
  size_t numDevices = 1;
  for (const MeshAxis &axis : mesh)
    numDevices *= axis.size;
  blocks.resize(numDevices);
}

llvm::SmallVector<int64_t> VirtualTensor::coordinates(size_t device) const {
  llvm::SmallVector<int64_t> at(mesh.size());
  for (size_t a = mesh.size(); a-- > 0; device /= mesh[a].size)
    at[a] = device % mesh[a].size;
  return at;
}

size_t VirtualTensor::stride(unsigned axis) const {
  size_t product = 1;
  for (size_t a = axis + 1; a < mesh.size(); ++a)
    product *= mesh[a].size;
  return product;
}

VirtualTensor::Block
VirtualTensor::emptyBlock(const TensorState &state,
                          llvm::ArrayRef<int64_t> device) const {
  Block block;
  size_t elements = 1;
  for (unsigned d = 0; d < shape.size(); ++d) {
    block.indices.push_back(heldIndices(mesh, shape, state, d, device));
    elements *= block.indices.back().size();
  }
  block.values.assign(elements, 0);
  return block;
}

/// What coordinate `c` of a Partial axis contributes: a weight for sums (the
/// weights of an element add up to 1), a distance from the extremum otherwise
/// (zero at one coordinate at least).
static double contribution(const AxisState &state, int64_t axisSize, int64_t c,
                           uint64_t salt) {
  Coords on = state.on;
  if (on.empty())
    for (int64_t i = 0; i < axisSize; ++i)
      on.push_back(i);
  size_t rank = llvm::find(on, c) - on.begin();
  size_t special = salt % on.size();
  auto ordinary = [&](size_t i) {
    return static_cast<double>((salt / 7 + i * i * 5) % 4);
  };
  if (rank != special)
    return ordinary(rank);
  if (state.reduce != ReduceOp::Sum)
    return 0;
  double rest = 1;
  for (size_t i = 0; i < on.size(); ++i)
    if (i != special)
      rest -= ordinary(i);
  return rest;
}

VirtualTensor VirtualTensor::place(llvm::ArrayRef<MeshAxis> mesh,
                                   llvm::ArrayRef<int64_t> shape,
                                   const TensorState &state,
                                   llvm::ArrayRef<double> global,
                                   Random &random) {
  VirtualTensor tensor(mesh, shape, state);
  llvm::SmallVector<uint64_t> salts;
  for (size_t a = 0; a < mesh.size(); ++a)
    salts.push_back(random() % (1u << 20));
  for (size_t device = 0; device < tensor.blocks.size(); ++device) {
    auto at = tensor.coordinates(device);
    if (!holds(state, at))
      continue;
    Block block = tensor.emptyBlock(state, at);
    forEachElement(block, [&](size_t position, llvm::ArrayRef<int64_t> index) {
      size_t linear = linearIndex(shape, index);
      double value = global[linear];
      for (size_t a = 0; a < mesh.size(); ++a) {
        if (state[a].kind != AxisState::Partial)
          continue;
        double part =
            contribution(state[a], mesh[a].size, at[a], salts[a] + 13 * linear);
        if (state[a].reduce == ReduceOp::Sum)
          value *= part;
        else
          value += state[a].reduce == ReduceOp::Max ? -part : part;
      }
      block.values[position] = value;
    });
    tensor.blocks[device] = std::move(block);
  }
  return tensor;
}

std::optional<int64_t> VirtualTensor::owner(const AxisState &from,
                                            const AxisState &to) {
  auto firstIn = [](const Coords &a, const Coords &b) {
    return *llvm::find_if(a, [&](int64_t c) { return isIn(b, c); });
  };
  if (from.kind == AxisState::Replicated)
    return to.on.empty() ? 0 : to.on.front();
  if (from.kind == AxisState::Pinned)
    return firstIn(from.on, to.on);
  return std::nullopt;
}

std::string VirtualTensor::move(unsigned axis, const AxisState &to,
                                bool isFree) {
  TensorState after = placement;
  after[axis] = to;
  for (size_t device = 0; device < blocks.size(); ++device) {
    auto at = coordinates(device);
    if (at[axis] != 0)
      continue;
    // The whole group is idle where another axis says so.
    TensorState others = placement;
    others[axis] = AxisState::replicated();
    if (!holds(others, at))
      continue;
    if (std::string e = moveGroup(device, axis, to, after, isFree); !e.empty())
      return e;
  }
  placement = after;
  return {};
}

/// `first` is the group's device at coordinate 0.
std::string VirtualTensor::moveGroup(size_t first, unsigned axis,
                                     const AxisState &to,
                                     const TensorState &after, bool isFree) {
  const AxisState &from = placement[axis];
  int64_t n = mesh[axis].size;
  auto device = [&](int64_t c) { return first + c * stride(axis); };
  // A Partial is combined before anyone reads it, unless it stays one.
  std::optional<Block> combined;
  if (from.kind == AxisState::Partial && to.kind != AxisState::Partial) {
    if (isFree)
      return "a reduction cannot be free";
    for (int64_t c = 0; c < n; ++c) {
      const auto &part = blocks[device(c)];
      if (!part)
        continue;
      if (!combined) {
        combined = part;
        continue;
      }
      for (auto [into, value] : llvm::zip(combined->values, part->values))
        into = reduce(from.reduce, into, value);
    }
  }

  std::vector<std::optional<Block>> moved(n);
  for (int64_t c = 0; c < n; ++c) {
    if (!isIn(to.on, c))
      continue;
    auto at = coordinates(device(c));
    Block block = emptyBlock(after, at);
    llvm::SmallVector<const Block *> sources;
    bool contributes = true;
    if (to.kind == AxisState::Partial) {
      // Everyone keeps what is its own, or nothing.
      std::optional<int64_t> keeper = owner(from, to);
      contributes = !keeper || *keeper == c;
      if (contributes && blocks[device(c)])
        sources.push_back(&*blocks[device(c)]);
    } else if (combined) {
      sources.push_back(&*combined);
    } else {
      for (int64_t s = 0; s < n; ++s)
        if (blocks[device(s)] && (!isFree || s == c))
          sources.push_back(&*blocks[device(s)]);
    }
    bool hole = false;
    forEachElement(block, [&](size_t position, llvm::ArrayRef<int64_t> index) {
      for (const Block *source : sources)
        if (std::optional<size_t> p = positionIn(*source, index)) {
          block.values[position] = source->values[*p];
          return;
        }
      if (to.kind == AxisState::Partial)
        block.values[position] = identityOf(to.reduce);
      else
        hole = true;
    });
    if (hole)
      return llvm::formatv("coordinate {0} of axis {1} lacks elements after "
                           "{2} -> {3}",
                           c, mesh[axis].name, from.str(), to.str());
    moved[c] = std::move(block);
  }
  for (int64_t c = 0; c < n; ++c)
    blocks[device(c)] = std::move(moved[c]);
  return {};
}

std::string VirtualTensor::compare(llvm::ArrayRef<double> global) const {
  for (size_t first = 0; first < blocks.size(); ++first) {
    auto at = coordinates(first);
    if (holds(placement, at) != blocks[first].has_value())
      return llvm::formatv("device {0}: wrong about holding", first);
    if (!blocks[first])
      continue;
    for (unsigned d = 0; d < shape.size(); ++d)
      if (blocks[first]->indices[d] !=
          heldIndices(mesh, shape, placement, d, at))
        return llvm::formatv("device {0}: wrong indices of dimension {1}",
                             first, d);
    // Reduce over the devices that differ in partial axes only.
    std::optional<ReduceOp> op;
    llvm::SmallVector<size_t> group{first};
    bool isFirst = true;
    for (unsigned a = 0; a < mesh.size(); ++a) {
      const AxisState &s = placement[a];
      if (s.kind != AxisState::Partial)
        continue;
      op = s.reduce;
      isFirst &= at[a] == (s.on.empty() ? 0 : s.on.front());
      llvm::SmallVector<size_t> wider;
      for (size_t device : group)
        for (int64_t c = 0; c < mesh[a].size; ++c)
          if (isIn(s.on, c))
            wider.push_back(device + (c - at[a]) * stride(a));
      group = std::move(wider);
    }
    if (!isFirst)
      continue;
    std::string error;
    forEachElement(*blocks[first], [&](size_t position,
                                       llvm::ArrayRef<int64_t> index) {
      double value = blocks[first]->values[position];
      if (op) {
        value = identityOf(*op);
        for (size_t device : group)
          value = reduce(*op, value, blocks[device]->values[position]);
      }
      double expected = global[linearIndex(shape, index)];
      if (value != expected && error.empty())
        error = llvm::formatv("device {0}, position {1}: expected {2}, found "
                              "{3}",
                              first, position, expected, value);
    });
    if (!error.empty())
      return error;
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Random placements
//===----------------------------------------------------------------------===//

llvm::SmallVector<MeshAxis> dtrain::test::randomMesh(Random &random) {
  llvm::SmallVector<MeshAxis> mesh;
  for (int64_t a = 0, e = uniform(random, 1, 3); a < e; ++a)
    mesh.push_back(
        {std::string(1, 'a' + a), uniform(random, 2, e == 3 ? 3 : 4)});
  return mesh;
}

llvm::SmallVector<int64_t> dtrain::test::randomShape(Random &random) {
  static const int64_t extents[] = {2, 4, 6, 8, 12, 16, 3, 5, 7, 10};
  llvm::SmallVector<int64_t> shape;
  int64_t elements = 1;
  for (int64_t d = 0, e = uniform(random, 1, 3); d < e; ++d) {
    int64_t extent = extents[uniform(random, 0, std::size(extents) - 1)];
    if (elements * extent > 192)
      break;
    shape.push_back(extent);
    elements *= extent;
  }
  return shape;
}

TensorState dtrain::test::randomState(Random &random,
                                      llvm::ArrayRef<MeshAxis> mesh,
                                      llvm::ArrayRef<int64_t> shape,
                                      ReduceOp op) {
  TensorState state(mesh.size());
  llvm::SmallVector<unsigned> order;
  for (unsigned a = 0; a < mesh.size(); ++a)
    order.insert(order.begin() + uniform(random, 0, a), a);
  auto randomSubset = [&](int64_t n) {
    Coords on;
    for (int64_t c = 0; c < n; ++c)
      if (random() % 2)
        on.push_back(c);
    if (on.empty())
      on.push_back(uniform(random, 0, n - 1));
    return on;
  };
  for (unsigned a : order) {
    int64_t n = mesh[a].size;
    int64_t kind = uniform(random, 0, 9);
    if (kind < 5 && !shape.empty()) {
      // All valid strides of one dimension, even or not.
      unsigned d = uniform(random, 0, shape.size() - 1);
      llvm::SmallVector<AxisState> valid;
      for (int64_t stride = 1; stride <= shape[d]; ++stride) {
        state[a] = AxisState::split(d, stride);
        if (hasValidDigits(mesh, shape[d], state, d))
          valid.push_back(state[a]);
      }
      state[a] = valid.empty() ? AxisState::replicated()
                               : valid[uniform(random, 0, valid.size() - 1)];
    } else if (kind < 6) {
      state[a] = AxisState::pinned(randomSubset(n)).canonical(n);
    } else if (kind < 7) {
      state[a] = AxisState::partial(op, randomSubset(n)).canonical(n);
    } else if (kind < 8) {
      state[a] = AxisState::partial(op);
    }
  }
  return state;
}
