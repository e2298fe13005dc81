//===- AxisState.cpp - What one mesh axis does to one tensor --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/AxisState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <tuple>

using namespace dtrain;

llvm::StringRef dtrain::stringifyReduceOp(ReduceOp op) {
  switch (op) {
  case ReduceOp::Sum:
    return "sum";
  case ReduceOp::Max:
    return "max";
  case ReduceOp::Min:
    return "min";
  }
  llvm_unreachable("all reductions are covered");
}

Coords dtrain::sortedCoords(Coords on) {
  llvm::sort(on);
  on.erase(llvm::unique(on), on.end());
  return on;
}

AxisState AxisState::split(unsigned dim, int64_t stride) {
  AxisState state;
  state.kind = Split;
  state.dim = dim;
  state.stride = stride;
  return state;
}

AxisState AxisState::partial(ReduceOp op, Coords on) {
  on = sortedCoords(std::move(on));
  if (on.size() == 1)
    return pinned(std::move(on));
  AxisState state;
  state.kind = Partial;
  state.reduce = op;
  state.on = std::move(on);
  return state;
}

AxisState AxisState::pinned(Coords on) {
  AxisState state;
  if (on.empty())
    return state;
  state.kind = Pinned;
  state.on = sortedCoords(std::move(on));
  return state;
}

AxisState AxisState::canonical(int64_t axisSize) const {
  if (axisSize == 1)
    return replicated();
  bool all = static_cast<int64_t>(on.size()) == axisSize;
  if (kind == Pinned)
    return all ? replicated() : pinned(on);
  if (kind == Partial)
    return partial(reduce, all ? Coords() : on);
  return *this;
}

bool AxisState::operator==(const AxisState &o) const {
  return kind == o.kind && dim == o.dim && stride == o.stride &&
         reduce == o.reduce && on == o.on;
}

std::string AxisState::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto printOn = [&] {
    os << '{';
    llvm::interleave(on, os, ",");
    os << '}';
  };
  switch (kind) {
  case Replicated:
    os << 'R';
    break;
  case Split:
    os << "S(" << dim << ',' << stride << ')';
    break;
  case Partial:
    os << "P(" << stringifyReduceOp(reduce);
    if (!on.empty()) {
      os << ',';
      printOn();
    }
    os << ')';
    break;
  case Pinned:
    os << "N(";
    printOn();
    os << ')';
    break;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Digits of one dimension
//===----------------------------------------------------------------------===//

namespace {
/// One axis's share of a dimension.
struct SplitAxis {
  unsigned axis;
  int64_t size, stride;
};
} // namespace

/// The axes of size > 1 that split `dim`, major to minor.
static llvm::SmallVector<SplitAxis, 4> splitAxes(llvm::ArrayRef<MeshAxis> mesh,
                                                 const TensorState &state,
                                                 unsigned dim) {
  llvm::SmallVector<SplitAxis, 4> axes;
  for (unsigned a = 0; a < mesh.size(); ++a)
    if (state[a].kind == AxisState::Split && state[a].dim == dim &&
        mesh[a].size > 1)
      axes.push_back({a, mesh[a].size, state[a].stride});
  llvm::sort(axes, [](const SplitAxis &x, const SplitAxis &y) {
    return std::tie(y.stride, x.axis) < std::tie(x.stride, y.axis);
  });
  return axes;
}

bool dtrain::splitsUnevenly(int64_t extent, int64_t stride, int64_t n) {
  return extent % n != 0 && stride == llvm::divideCeilSigned(extent, n) &&
         stride * (n - 1) < extent;
}

bool dtrain::hasValidDigits(llvm::ArrayRef<MeshAxis> mesh, int64_t extent,
                            const TensorState &state, unsigned dim) {
  auto axes = splitAxes(mesh, state, dim);
  if (axes.size() == 1 && splitsUnevenly(extent, axes[0].stride, axes[0].size))
    return true;
  int64_t above = extent;
  for (const SplitAxis &s : axes) {
    if (s.stride <= 0 || above % s.stride != 0 ||
        above / s.stride % s.size != 0)
      return false;
    above = s.stride;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

template <typename... Ts>
static llvm::Error stateError(const char *format, const Ts &...values) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 llvm::formatv(format, values...).str());
}

/// Ranges and canonical spelling of one axis's state.
static llvm::Error verifyAxis(const MeshAxis &axis, size_t rank,
                              const AxisState &state) {
  llvm::StringRef name = axis.name;
  if (axis.size < 1)
    return stateError("axis '{0}': expected a positive size, found {1}", name,
                      axis.size);
  if (state.kind == AxisState::Replicated)
    return llvm::Error::success();
  if (axis.size == 1)
    return stateError("axis '{0}' has size 1: expected R, found {1}", name,
                      state.str());
  if (state.kind == AxisState::Split) {
    if (state.dim >= rank)
      return stateError("axis '{0}': expected a dimension below {1}, found {2}",
                        name, rank, state.dim);
    if (state.stride <= 0)
      return stateError("axis '{0}': expected a positive stride, found {1}",
                        name, state.stride);
    return llvm::Error::success();
  }
  for (int64_t c : state.on)
    if (c < 0 || c >= axis.size)
      return stateError("axis '{0}': expected coordinates below {1}, found {2}",
                        name, axis.size, c);
  if (state.on != sortedCoords(state.on))
    return stateError("axis '{0}': expected ascending coordinates, found {1}",
                      name, state.str());
  AxisState canonical = state.canonical(axis.size);
  if (canonical != state)
    return stateError("axis '{0}': expected {1}, found {2}", name,
                      canonical.str(), state.str());
  return llvm::Error::success();
}

llvm::Error dtrain::verifyTensorState(llvm::ArrayRef<MeshAxis> mesh,
                                      llvm::ArrayRef<int64_t> shape,
                                      const TensorState &state) {
  if (mesh.size() > maxMeshAxes)
    return stateError("expected at most {0} mesh axes, found {1}", maxMeshAxes,
                      mesh.size());
  if (state.size() != mesh.size())
    return stateError("expected {0} axis states, found {1}", mesh.size(),
                      state.size());
  const AxisState *partial = nullptr;
  for (auto [axis, axisState] : llvm::zip(mesh, state)) {
    if (llvm::Error e = verifyAxis(axis, shape.size(), axisState))
      return e;
    if (axisState.kind != AxisState::Partial)
      continue;
    // A sum of maxima is no maximum of sums.
    if (partial && partial->reduce != axisState.reduce)
      return stateError("axis '{0}': expected the reduction '{1}' of the other "
                        "partial axes, found '{2}'",
                        axis.name, stringifyReduceOp(partial->reduce),
                        stringifyReduceOp(axisState.reduce));
    partial = &axisState;
  }
  for (unsigned d = 0; d < shape.size(); ++d) {
    auto axes = splitAxes(mesh, state, d);
    if (axes.empty() || hasValidDigits(mesh, shape[d], state, d))
      continue;
    std::string found;
    llvm::raw_string_ostream os(found);
    llvm::interleaveComma(axes, os, [&](const SplitAxis &s) {
      os << '\'' << mesh[s.axis].name << "' of size " << s.size
         << " with stride " << s.stride;
    });
    return stateError(
        "dimension {0} of extent {1}: expected strides that nest (each times "
        "its axis's size divides the one before, the first the extent) or one "
        "uneven axis without empty coordinates, found {2}",
        d, shape[d], found);
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Local shapes
//===----------------------------------------------------------------------===//

int64_t dtrain::localExtent(llvm::ArrayRef<MeshAxis> mesh,
                            llvm::ArrayRef<int64_t> shape,
                            const TensorState &state, unsigned dim) {
  int64_t extent = shape[dim];
  for (unsigned a = 0; a < mesh.size(); ++a) {
    if (state[a].kind != AxisState::Split || state[a].dim != dim)
      continue;
    // An axis that does not divide is alone on the dimension.
    if (shape[dim] % mesh[a].size != 0)
      return state[a].stride;
    extent /= mesh[a].size;
  }
  return extent;
}

llvm::SmallVector<int64_t> dtrain::localShape(llvm::ArrayRef<MeshAxis> mesh,
                                              llvm::ArrayRef<int64_t> shape,
                                              const TensorState &state) {
  llvm::SmallVector<int64_t> local;
  for (unsigned d = 0; d < shape.size(); ++d)
    local.push_back(localExtent(mesh, shape, state, d));
  return local;
}

llvm::SmallVector<int64_t> dtrain::heldIndices(llvm::ArrayRef<MeshAxis> mesh,
                                               llvm::ArrayRef<int64_t> shape,
                                               const TensorState &state,
                                               unsigned dim,
                                               llvm::ArrayRef<int64_t> device) {
  auto axes = splitAxes(mesh, state, dim);
  llvm::SmallVector<int64_t> held;
  for (int64_t i = 0; i < shape[dim]; ++i)
    if (llvm::all_of(axes, [&](const SplitAxis &s) {
          return i / s.stride % s.size == device[s.axis];
        }))
      held.push_back(i);
  return held;
}

bool dtrain::holds(const TensorState &state, llvm::ArrayRef<int64_t> device) {
  for (auto [axisState, coordinate] : llvm::zip(state, device))
    if (!axisState.on.empty() && !llvm::is_contained(axisState.on, coordinate))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Digits and strides
//===----------------------------------------------------------------------===//

llvm::Error dtrain::applyDigits(llvm::ArrayRef<MeshAxis> mesh, int64_t extent,
                                unsigned dim, const Digits &digits,
                                TensorState &state) {
  if (state.size() != mesh.size())
    return stateError("expected {0} axis states, found {1}", mesh.size(),
                      state.size());
  TensorState updated = state;
  unsigned numFactors = 0;
  for (const Digit &digit : digits) {
    if (digit.axis >= static_cast<int64_t>(mesh.size()))
      return stateError("expected an axis below {0}, found {1}", mesh.size(),
                        digit.axis);
    numFactors += (digit.axis < 0 ? digit.gap : mesh[digit.axis].size) != 1;
  }
  int64_t left = extent;
  for (const Digit &digit : digits) {
    int64_t size = digit.axis < 0 ? digit.gap : mesh[digit.axis].size;
    if (size <= 0)
      return stateError("expected a positive digit, found {0}", size);
    if (digit.axis >= 0 && updated[digit.axis].kind != AxisState::Replicated)
      return stateError("axis '{0}' already has state {1}",
                        mesh[digit.axis].name, updated[digit.axis].str());
    if (size == 1)
      continue;
    if (left % size != 0) {
      bool lone = digit.axis >= 0 && numFactors == 1;
      if (!lone ||
          !splitsUnevenly(extent, llvm::divideCeilSigned(extent, size), size))
        return stateError("dimension {0} of extent {1}: {2} does not divide "
                          "{3}{4}",
                          dim, extent, size, left,
                          lone ? ", and would leave a coordinate empty" : "");
      left = llvm::divideCeilSigned(extent, size);
    } else {
      left /= size;
    }
    if (digit.axis >= 0)
      updated[digit.axis] = AxisState::split(dim, left);
  }
  state = std::move(updated);
  return llvm::Error::success();
}

Digits dtrain::digitsOf(llvm::ArrayRef<MeshAxis> mesh,
                        llvm::ArrayRef<int64_t> shape, const TensorState &state,
                        unsigned dim) {
  Digits digits;
  int64_t above = shape[dim];
  for (const SplitAxis &s : splitAxes(mesh, state, dim)) {
    // An uneven axis has no gap: its stride times its size exceeds the extent.
    if (int64_t gap = above / s.stride / s.size; gap > 1)
      digits.push_back({-1, gap});
    digits.push_back({static_cast<int>(s.axis), 0});
    above = s.stride;
  }
  return digits;
}
