//===- VirtualMesh.cpp - Tensors on a mesh of devices ---------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Interpreter/VirtualMesh.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>
#include <map>

using namespace dtrain;

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

VirtualMesh::VirtualMesh(llvm::ArrayRef<MeshAxis> axes) : axes(axes) {
  int64_t devices = 1;
  for (const MeshAxis &axis : axes)
    devices *= axis.size;
  active.resize(devices, true);
}

llvm::SmallVector<int64_t> VirtualMesh::coordinatesOf(int64_t device) const {
  llvm::SmallVector<int64_t> coordinates(axes.size());
  for (unsigned a = axes.size(); a > 0; --a) {
    coordinates[a - 1] = device % axes[a - 1].size;
    device /= axes[a - 1].size;
  }
  return coordinates;
}

VirtualMesh VirtualMesh::restrictedTo(unsigned axis, int64_t coordinate) const {
  VirtualMesh part = *this;
  for (int64_t d = 0; d < numDevices(); ++d)
    if (coordinatesOf(d)[axis] != coordinate)
      part.active.reset(d);
  return part;
}

llvm::SmallVector<int64_t> VirtualMesh::groupOf(int64_t device,
                                                unsigned axis) const {
  int64_t stride = 1;
  for (const MeshAxis &minor : getAxes().drop_front(axis + 1))
    stride *= minor.size;
  int64_t first = device - coordinatesOf(device)[axis] * stride;
  llvm::SmallVector<int64_t> group;
  for (int64_t c = 0; c < axes[axis].size; ++c)
    group.push_back(isActive(first + c * stride) ? first + c * stride : -1);
  return group;
}

IndexSets dtrain::indicesOf(const VirtualMesh &mesh,
                            llvm::ArrayRef<int64_t> shape,
                            const TensorState &state, int64_t device) {
  IndexSets sets;
  llvm::SmallVector<int64_t> coordinates = mesh.coordinatesOf(device);
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    sets.push_back(heldIndices(mesh.getAxes(), shape, state, dim, coordinates));
  return sets;
}

static llvm::SmallVector<int64_t> shapeOf(const IndexSets &sets) {
  return llvm::map_to_vector(
      sets, [](const auto &set) { return static_cast<int64_t>(set.size()); });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static double identityOf(ReduceOp op) {
  switch (op) {
  case ReduceOp::Sum:
    return 0;
  case ReduceOp::Max:
    return -std::numeric_limits<double>::infinity();
  case ReduceOp::Min:
    return std::numeric_limits<double>::infinity();
  }
  llvm_unreachable("all reductions are covered");
}

static double combine(ReduceOp op, double a, double b) {
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

/// The coordinate whose block stands for the value where one copy must be
/// taken: the first that holds it.
static int64_t ownerOf(const AxisState &state) {
  return state.on.empty() ? 0 : state.on.front();
}

/// The reduction of the partial axes: they agree, for values of one op.
static ReduceOp reductionOf(const TensorState &state) {
  for (const AxisState &axis : state)
    if (axis.kind == AxisState::Partial)
      return axis.reduce;
  return ReduceOp::Sum;
}

//===----------------------------------------------------------------------===//
// Scatter and gather
//===----------------------------------------------------------------------===//

/// Adds random numbers that cancel over the holders of each partial sum: holder
/// k gains noise k and loses noise k + 1.
static void mixAddends(const VirtualMesh &mesh, DistributedTensor &tensor,
                       std::mt19937_64 &random) {
  std::uniform_real_distribution<double> distribution(-1, 1);
  for (auto [axis, state] : llvm::enumerate(tensor.state)) {
    if (state.kind != AxisState::Partial || state.reduce != ReduceOp::Sum)
      continue;
    Coords holders = state.on;
    for (int64_t c = 0; state.on.empty() && c < mesh.getAxes()[axis].size; ++c)
      holders.push_back(c);
    std::vector<Tensor> noise(holders.size(), Tensor(tensor.shape));
    for (Tensor &n : noise)
      for (int64_t i = 0; i < n.size(); ++i)
        n[i] = distribution(random);
    for (int64_t d = 0; d < mesh.numDevices(); ++d) {
      if (!tensor.blocks[d])
        continue;
      int64_t c = mesh.coordinatesOf(d)[axis];
      size_t k = llvm::find(holders, c) - holders.begin();
      const Tensor &gain = noise[k], &loss = noise[(k + 1) % noise.size()];
      forEachShared(indicesOf(mesh, tensor.shape, tensor.state, d),
                    allIndices(tensor.shape), [&](int64_t to, int64_t from) {
                      (*tensor.blocks[d])[to] += gain[from] - loss[from];
                    });
    }
  }
}

DistributedTensor dtrain::scatter(const VirtualMesh &mesh, const Tensor &global,
                                  const TensorState &state,
                                  std::mt19937_64 *random) {
  DistributedTensor tensor;
  tensor.shape.assign(global.getShape().begin(), global.getShape().end());
  tensor.state = state;
  tensor.blocks.resize(mesh.numDevices());
  for (int64_t d = 0; d < mesh.numDevices(); ++d) {
    llvm::SmallVector<int64_t> at = mesh.coordinatesOf(d);
    if (!mesh.isActive(d) || !holds(state, at))
      continue;
    IndexSets sets = indicesOf(mesh, tensor.shape, state, d);
    Tensor block(shapeOf(sets), identityOf(reductionOf(state)));
    bool owns = llvm::all_of(llvm::enumerate(state), [&](auto axis) {
      return axis.value().kind != AxisState::Partial ||
             at[axis.index()] == ownerOf(axis.value());
    });
    if (owns)
      forEachShared(
          sets, allIndices(tensor.shape),
          [&](int64_t to, int64_t from) { block[to] = global[from]; });
    tensor.blocks[d] = std::move(block);
  }
  if (random)
    mixAddends(mesh, tensor, *random);
  return tensor;
}

/// "(0, 1)"; coordinates that do not matter are negative and printed as "*".
static std::string printCoordinates(llvm::ArrayRef<int64_t> at) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '(';
  llvm::interleaveComma(at, os,
                        [&](int64_t c) { c < 0 ? os << '*' : os << c; });
  os << ')';
  return text;
}

static llvm::Error missingBlock(const VirtualMesh &mesh, int64_t device) {
  return llvm::createStringError("device " +
                                 printCoordinates(mesh.coordinatesOf(device)) +
                                 " does not hold its block");
}

llvm::Expected<Tensor> dtrain::gather(const VirtualMesh &mesh,
                                      const DistributedTensor &tensor,
                                      double tolerance) {
  struct Copy {
    Tensor value;
    std::vector<bool> covered;
  };
  ReduceOp reduction = reductionOf(tensor.state);
  // Copies by their coordinates on the axes along which the tensor is repeated.
  std::map<std::vector<int64_t>, Copy> copies;
  for (int64_t d = 0; d < mesh.numDevices(); ++d) {
    llvm::SmallVector<int64_t> at = mesh.coordinatesOf(d);
    if (!mesh.isActive(d) || !holds(tensor.state, at))
      continue;
    if (!tensor.blocks[d])
      return missingBlock(mesh, d);
    std::vector<int64_t> key;
    for (auto [axis, c] : llvm::zip_equal(tensor.state, at))
      key.push_back(axis.kind == AxisState::Replicated ||
                            axis.kind == AxisState::Pinned
                        ? c
                        : -1);
    Copy &copy = copies[key];
    if (copy.covered.empty()) {
      copy.value = Tensor(tensor.shape, identityOf(reduction));
      copy.covered.assign(copy.value.size(), false);
    }
    forEachShared(allIndices(tensor.shape),
                  indicesOf(mesh, tensor.shape, tensor.state, d),
                  [&](int64_t to, int64_t from) {
                    copy.value[to] = combine(reduction, copy.value[to],
                                             (*tensor.blocks[d])[from]);
                    copy.covered[to] = true;
                  });
  }
  if (copies.empty())
    return llvm::createStringError("no device holds the tensor");
  const Tensor &first = copies.begin()->second.value;
  for (const auto &[at, copy] : copies) {
    if (llvm::is_contained(copy.covered, false))
      return llvm::createStringError(
          "no device of copy " + printCoordinates(at) + " holds some elements");
    double difference = relativeDifference(copy.value, first);
    if (&copy.value != &first && !(difference <= tolerance))
      return llvm::createStringError(llvm::formatv(
          "copies differ by {0:e}: {1} and {2}", difference,
          printCoordinates(copies.begin()->first), printCoordinates(at)));
  }
  return first;
}

//===----------------------------------------------------------------------===//
// Transitions
//===----------------------------------------------------------------------===//

/// Puts together what a group holds: the block where the axis is replicated.
static llvm::Error assemble(const VirtualMesh &mesh,
                            const DistributedTensor &tensor, unsigned axis,
                            llvm::ArrayRef<int64_t> group,
                            const IndexSets &whole, Tensor &block) {
  const AxisState &from = tensor.state[axis];
  ReduceOp op = from.kind == AxisState::Partial ? from.reduce : ReduceOp::Sum;
  block = Tensor(shapeOf(whole), identityOf(op));
  std::vector<bool> covered(block.size(), false);
  for (auto [c, device] : llvm::enumerate(group)) {
    bool isCopy =
        from.kind == AxisState::Replicated || from.kind == AxisState::Pinned;
    if (!holds(tensor.state, mesh.coordinatesOf(device)) ||
        (isCopy && static_cast<int64_t>(c) != ownerOf(from)))
      continue;
    if (!tensor.blocks[device])
      return missingBlock(mesh, device);
    forEachShared(whole, indicesOf(mesh, tensor.shape, tensor.state, device),
                  [&, device = device](int64_t to, int64_t source) {
                    block[to] = combine(op, block[to],
                                        (*tensor.blocks[device])[source]);
                    covered[to] = true;
                  });
  }
  if (llvm::is_contained(covered, false))
    return llvm::createStringError(
        "nobody in the group of device " +
        printCoordinates(mesh.coordinatesOf(group.front())) +
        " holds some elements");
  return llvm::Error::success();
}

/// The block of one device of the group in the new state. A device that has a
/// copy of its own takes from that; the assembled block is what others send.
static Tensor blockIn(const VirtualMesh &mesh, const DistributedTensor &from,
                      const DistributedTensor &to, unsigned axis,
                      int64_t device, const IndexSets &whole,
                      const Tensor &assembled) {
  const AxisState &source = from.state[axis], &target = to.state[axis];
  int64_t c = mesh.coordinatesOf(device)[axis];
  bool toPartial = target.kind == AxisState::Partial;
  IndexSets sets = indicesOf(mesh, to.shape, to.state, device);
  Tensor block(shapeOf(sets), toPartial ? identityOf(target.reduce) : 0);
  auto copyFrom = [&](const Tensor &tensor, const IndexSets &held) {
    forEachShared(sets, held,
                  [&](int64_t t, int64_t s) { block[t] = tensor[s]; });
  };
  bool ownCopy =
      source.kind == AxisState::Replicated ||
      (source.kind == AxisState::Pinned && llvm::is_contained(source.on, c));
  auto copyOwn = [&] {
    copyFrom(*from.blocks[device],
             indicesOf(mesh, from.shape, from.state, device));
  };
  if (!toPartial) {
    if (ownCopy)
      copyOwn();
    else
      copyFrom(assembled, whole);
    return block;
  }
  // To partial: every element comes from one device.
  switch (source.kind) {
  case AxisState::Split:
  case AxisState::Partial:
    if (holds(from.state, mesh.coordinatesOf(device)))
      copyOwn();
    break;
  case AxisState::Replicated:
  case AxisState::Pinned: {
    // The first coordinate that holds both.
    int64_t owner = ownerOf(target);
    if (source.kind == AxisState::Pinned)
      for (int64_t candidate : llvm::reverse(source.on))
        if (target.on.empty() || llvm::is_contained(target.on, candidate))
          owner = candidate;
    if (c == owner)
      copyOwn();
    break;
  }
  }
  return block;
}

llvm::Expected<DistributedTensor> dtrain::move(const VirtualMesh &mesh,
                                               const DistributedTensor &tensor,
                                               unsigned axis,
                                               const AxisState &to) {
  if (!edge(mesh.getAxes(), tensor.shape, tensor.state, axis, to))
    return llvm::createStringError("there is no transition from " +
                                   tensor.state[axis].str() + " to " +
                                   to.str());
  DistributedTensor moved;
  moved.shape = tensor.shape;
  moved.state = tensor.state;
  moved.state[axis] = to;
  moved.blocks.resize(mesh.numDevices());
  TensorState assembledState = tensor.state;
  assembledState[axis] = AxisState::replicated();
  for (int64_t d = 0; d < mesh.numDevices(); ++d) {
    llvm::SmallVector<int64_t> at = mesh.coordinatesOf(d);
    // One pass per group, at its first device; groups that other axes keep away
    // from the tensor hold nothing.
    if (!mesh.isActive(d) || !holds(assembledState, at))
      continue;
    llvm::SmallVector<int64_t> group = mesh.groupOf(d, axis);
    if (llvm::is_contained(group, -1))
      return llvm::createStringError("axis '" + mesh.getAxes()[axis].name +
                                     "' is pinned here");
    if (group.front() != d)
      continue;
    IndexSets whole = indicesOf(mesh, tensor.shape, assembledState, d);
    Tensor block;
    if (llvm::Error error = assemble(mesh, tensor, axis, group, whole, block))
      return error;
    for (int64_t device : group) {
      if (!holds(moved.state, mesh.coordinatesOf(device)))
        continue;
      if (holds(tensor.state, mesh.coordinatesOf(device)) &&
          !tensor.blocks[device])
        return missingBlock(mesh, device);
      moved.blocks[device] =
          blockIn(mesh, tensor, moved, axis, device, whole, block);
    }
  }
  return moved;
}
