//===- IntConstant.cpp - Integer tensors known at import ------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntConstant.h"
#include "WireReader.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace dtrain::onnx_import;
using namespace llvm;

std::optional<int64_t>
dtrain::onnx_import::countElements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  // An extent of 0 does not excuse the others: they multiply elsewhere.
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    if (MulOverflow(count, extent, count))
      return std::nullopt;
  }
  return empty ? 0 : count;
}

std::optional<SmallVector<int64_t>>
dtrain::onnx_import::broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  SmallVector<int64_t> shape(a);
  for (unsigned i = 0; i < b.size(); ++i) {
    int64_t &extent = shape[a.size() - b.size() + i];
    if (extent != b[i] && extent != 1 && b[i] != 1)
      return std::nullopt;
    if (extent == 1)
      extent = b[i];
  }
  return shape;
}

/// Steps a row-major index; false after the last.
static bool increment(MutableArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  for (unsigned d = shape.size(); d-- > 0;) {
    if (++index[d] < shape[d])
      return true;
    index[d] = 0;
  }
  return false;
}

IntConstant::Result IntConstant::affine(ArrayRef<int64_t> shape, int64_t offset,
                                        ArrayRef<int64_t> strides) {
  std::optional<int64_t> count = countElements(shape);
  if (!count)
    return std::nullopt;
  IntConstant c;
  c.shape.assign(shape.begin(), shape.end());
  c.strides.assign(strides.begin(), strides.end());
  c.offset = *count ? offset : 0;
  // Both extremes fit, hence every element does.
  std::optional<int64_t> low = c.offset, high = c.offset;
  for (auto [extent, stride] : zip_equal(c.shape, c.strides)) {
    if (extent <= 1 || !*count)
      stride = 0;
    std::optional<int64_t> reach =
        stride ? checkedMul(stride, extent - 1) : std::optional<int64_t>(0);
    if (!reach || !low || !high)
      return std::nullopt;
    (*reach < 0 ? low : high) = checkedAdd(*(*reach < 0 ? low : high), *reach);
  }
  if (!low || !high)
    return std::nullopt;
  return c;
}

IntConstant::Result IntConstant::splat(ArrayRef<int64_t> shape, int64_t value) {
  return affine(shape, value, SmallVector<int64_t>(shape.size(), 0));
}

IntConstant::Result IntConstant::list(ArrayRef<int64_t> values) {
  return get(static_cast<int64_t>(values.size()), values);
}

IntConstant::Result IntConstant::get(ArrayRef<int64_t> shape,
                                     ArrayRef<int64_t> values) {
  if (values.empty())
    return splat(shape, 0);
  // The strides that the first elements suggest; then whether all agree.
  SmallVector<int64_t> strides(shape.size(), 0);
  int64_t step = 1;
  bool fits = true;
  for (unsigned d = shape.size(); d-- > 0; step *= shape[d]) {
    if (shape[d] == 1)
      continue;
    std::optional<int64_t> stride = checkedSub(values[step], values[0]);
    fits &= stride.has_value();
    strides[d] = stride.value_or(0);
  }
  Result c = fits ? affine(shape, values[0], strides) : std::nullopt;
  if (c) {
    SmallVector<int64_t> index(shape.size(), 0);
    for (int64_t value : values) {
      if (c->at(index) != value) {
        c.reset();
        break;
      }
      increment(index, shape);
    }
  }
  if (c)
    return c;
  IntConstant explicitly;
  explicitly.shape.assign(shape.begin(), shape.end());
  explicitly.values.assign(values.begin(), values.end());
  return explicitly;
}

IntConstant::Result IntConstant::range(int64_t start, int64_t limit,
                                       int64_t step) {
  if (step == 0)
    return std::nullopt;
  std::optional<int64_t> span = checkedSub(limit, start);
  // The last is negated below.
  if (!span || *span == std::numeric_limits<int64_t>::min() ||
      step == std::numeric_limits<int64_t>::min())
    return std::nullopt;
  if (step < 0) {
    span = -*span;
  }
  int64_t size = step < 0 ? -step : step;
  int64_t count = *span <= 0 ? 0 : (*span - 1) / size + 1;
  return affine(count, start, step);
}

std::optional<int64_t> IntConstant::getSplat() const {
  if (!isAffine() || any_of(strides, [](int64_t s) { return s != 0; }))
    return std::nullopt;
  return offset;
}

int64_t IntConstant::at(Index index) const {
  if (isAffine()) {
    int64_t value = offset;
    for (auto [stride, i] : zip_equal(strides, index))
      value += stride * i;
    return value;
  }
  int64_t linear = 0;
  for (auto [extent, i] : zip_equal(shape, index))
    linear = linear * extent + i;
  return values[linear];
}

int64_t IntConstant::atBroadcast(Index index) const {
  SmallVector<int64_t> own(index.take_back(shape.size()));
  for (auto [i, extent] : zip_equal(own, shape))
    if (extent == 1)
      i = 0;
  return at(own);
}

IntConstant::Result
IntConstant::generate(ArrayRef<int64_t> shape,
                      function_ref<std::optional<int64_t>(Index)> element) {
  std::optional<int64_t> count = countElements(shape);
  if (!count || *count > kMaxConstantElements)
    return std::nullopt;
  SmallVector<int64_t> values, index(shape.size(), 0);
  for (int64_t i = 0; i < *count; ++i, increment(index, shape)) {
    std::optional<int64_t> value = element(index);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return get(shape, values);
}

std::optional<SmallVector<int64_t>> IntConstant::getValues() const {
  if (!isAffine())
    return values;
  if (getNumElements() > kMaxConstantElements)
    return std::nullopt;
  SmallVector<int64_t> all, index(shape.size(), 0);
  for (int64_t i = 0, e = getNumElements(); i < e; ++i, increment(index, shape))
    all.push_back(at(index));
  return all;
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

static std::optional<int64_t> apply(IntConstant::Binary kind, int64_t a,
                                    int64_t b) {
  switch (kind) {
  case IntConstant::Binary::Add:
    return checkedAdd(a, b);
  case IntConstant::Binary::Sub:
    return checkedSub(a, b);
  case IntConstant::Binary::Mul:
    return checkedMul(a, b);
  case IntConstant::Binary::Div:
  case IntConstant::Binary::Mod: {
    if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1))
      return std::nullopt;
    if (kind == IntConstant::Binary::Div)
      return a / b;
    int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  case IntConstant::Binary::Min:
    return std::min(a, b);
  case IntConstant::Binary::Max:
    return std::max(a, b);
  case IntConstant::Binary::Equal:
    return a == b;
  case IntConstant::Binary::Less:
    return a < b;
  case IntConstant::Binary::LessEqual:
    return a <= b;
  case IntConstant::Binary::And:
    return a && b;
  case IntConstant::Binary::Or:
    return a || b;
  }
  llvm_unreachable("every function is applied");
}

IntConstant::Result IntConstant::binary(Binary kind, const IntConstant &a,
                                        const IntConstant &b) {
  std::optional<SmallVector<int64_t>> shape = broadcastShapes(a.shape, b.shape);
  if (!shape)
    return std::nullopt;
  Result x = a.expand(*shape), y = b.expand(*shape);
  if (!x || !y)
    return std::nullopt;
  std::optional<int64_t> sx = x->getSplat(), sy = y->getSplat();
  if (sx && sy) {
    std::optional<int64_t> value = apply(kind, *sx, *sy);
    return value ? splat(*shape, *value) : std::nullopt;
  }
  bool sum = kind == Binary::Add || kind == Binary::Sub;
  if (x->isAffine() && y->isAffine() &&
      (sum || (kind == Binary::Mul && (sx || sy)))) {
    // One of the factors of a product is the same everywhere.
    if (kind == Binary::Mul && sx)
      std::swap(x, y);
    auto combine = [&](int64_t s, int64_t t) {
      return sum ? apply(kind, s, t) : checkedMul(s, y->offset);
    };
    std::optional<int64_t> offset = apply(kind, x->offset, y->offset);
    SmallVector<int64_t> strides;
    for (auto [s, t] : zip_equal(x->strides, y->strides)) {
      std::optional<int64_t> stride = combine(s, t);
      if (!stride)
        return std::nullopt;
      strides.push_back(*stride);
    }
    return offset ? affine(*shape, *offset, strides) : std::nullopt;
  }
  return generate(*shape,
                  [&](Index i) { return apply(kind, x->at(i), y->at(i)); });
}

IntConstant::Result IntConstant::where(const IntConstant &condition,
                                       const IntConstant &a,
                                       const IntConstant &b) {
  std::optional<SmallVector<int64_t>> shape = broadcastShapes(a.shape, b.shape);
  if (shape)
    shape = broadcastShapes(*shape, condition.shape);
  if (!shape)
    return std::nullopt;
  if (std::optional<int64_t> always = condition.getSplat())
    return (*always ? a : b).expand(*shape);
  return generate(*shape, [&](Index i) -> std::optional<int64_t> {
    return condition.atBroadcast(i) ? a.atBroadcast(i) : b.atBroadcast(i);
  });
}

IntConstant::Result
IntConstant::map(function_ref<std::optional<int64_t>(int64_t)> fn) const {
  if (std::optional<int64_t> value = getSplat()) {
    std::optional<int64_t> mapped = fn(*value);
    return mapped ? splat(shape, *mapped) : std::nullopt;
  }
  return generate(shape, [&](Index i) { return fn(at(i)); });
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

IntConstant::Result IntConstant::reshape(ArrayRef<int64_t> newShape) const {
  if (!isAffine())
    return get(newShape, values);
  auto notUnit = [](int64_t extent) { return extent != 1; };
  if (getSplat())
    return splat(newShape, offset);
  if (equal(make_filter_range(shape, notUnit),
            make_filter_range(newShape, notUnit))) {
    SmallVector<int64_t> kept, newStrides;
    for (auto [extent, stride] : zip_equal(shape, strides))
      if (extent != 1)
        kept.push_back(stride);
    auto *next = kept.begin();
    for (int64_t extent : newShape)
      newStrides.push_back(extent == 1 ? 0 : *next++);
    return affine(newShape, offset, newStrides);
  }
  std::optional<SmallVector<int64_t>> all = getValues();
  return all ? get(newShape, *all) : std::nullopt;
}

IntConstant::Result IntConstant::transpose(ArrayRef<int64_t> perm) const {
  SmallVector<int64_t> newShape, newStrides;
  for (int64_t d : perm) {
    newShape.push_back(shape[d]);
    if (isAffine())
      newStrides.push_back(strides[d]);
  }
  if (isAffine())
    return affine(newShape, offset, newStrides);
  return generate(newShape, [&](Index i) -> std::optional<int64_t> {
    SmallVector<int64_t> from(perm.size());
    for (auto [to, d] : enumerate(perm))
      from[d] = i[to];
    return at(from);
  });
}

IntConstant::Result IntConstant::expand(ArrayRef<int64_t> newShape) const {
  if (newShape == ArrayRef(shape))
    return *this;
  if (!isAffine())
    return generate(newShape, [&](Index i) -> std::optional<int64_t> {
      return atBroadcast(i);
    });
  SmallVector<int64_t> newStrides(newShape.size() - shape.size(), 0);
  append_range(newStrides, strides); // those of unit extents are 0
  return affine(newShape, offset, newStrides);
}

IntConstant::Result IntConstant::slice(unsigned dim, int64_t start,
                                       int64_t count, int64_t step) const {
  SmallVector<int64_t> newShape(shape);
  newShape[dim] = count;
  if (count == 0)
    return splat(newShape, 0);
  if (isAffine()) {
    SmallVector<int64_t> newStrides(strides);
    std::optional<int64_t> first = checkedMulAdd(strides[dim], start, offset);
    std::optional<int64_t> stride = checkedMul(strides[dim], step);
    if (!first || !stride)
      return std::nullopt;
    newStrides[dim] = *stride;
    return affine(newShape, *first, newStrides);
  }
  return generate(newShape, [&](Index i) -> std::optional<int64_t> {
    SmallVector<int64_t> from(i);
    from[dim] = start + i[dim] * step;
    return at(from);
  });
}

IntConstant::Result IntConstant::gather(unsigned axis,
                                        const IntConstant &indices) const {
  SmallVector<int64_t> newShape(shape.begin(), shape.begin() + axis);
  append_range(newShape, indices.shape);
  newShape.append(shape.begin() + axis + 1, shape.end());
  return generate(newShape, [&](Index i) -> std::optional<int64_t> {
    int64_t row = indices.at(i.slice(axis, indices.getRank()));
    if (row < -shape[axis] || row >= shape[axis])
      return std::nullopt;
    SmallVector<int64_t> from(i.take_front(axis));
    from.push_back(row < 0 ? row + shape[axis] : row);
    append_range(from, i.drop_front(axis + indices.getRank()));
    return at(from);
  });
}

IntConstant::Result IntConstant::concat(ArrayRef<IntConstant> parts,
                                        unsigned axis) {
  SmallVector<int64_t> newShape(parts.front().shape);
  newShape[axis] = 0;
  for (const IntConstant &part : parts) {
    std::optional<int64_t> extent =
        checkedAdd(newShape[axis], part.shape[axis]);
    if (!extent)
      return std::nullopt;
    newShape[axis] = *extent;
  }
  return generate(newShape, [&](Index i) -> std::optional<int64_t> {
    SmallVector<int64_t> from(i);
    const IntConstant *part = parts.begin();
    for (; from[axis] >= part->shape[axis]; ++part)
      from[axis] -= part->shape[axis];
    return part->at(from);
  });
}

IntConstant::Result IntConstant::reduce(Reduce kind, ArrayRef<int64_t> axes,
                                        bool keepDims) const {
  std::optional<SmallVector<int64_t>> all = getValues();
  SmallVector<int64_t> kept(shape);
  for (int64_t axis : axes)
    kept[axis] = 1;
  if (!all || all->empty())
    return std::nullopt;
  SmallVector<std::optional<int64_t>> sums(*countElements(kept));
  SmallVector<int64_t> index(shape.size(), 0);
  for (int64_t value : *all) {
    int64_t linear = 0;
    for (unsigned d = 0; d < kept.size(); ++d)
      linear = linear * kept[d] + (kept[d] == 1 ? 0 : index[d]);
    increment(index, shape);
    if (!sums[linear]) {
      sums[linear] = value;
      continue;
    }
    int64_t old = *sums[linear];
    sums[linear] = kind == Reduce::Prod  ? checkedMul(old, value)
                   : kind == Reduce::Sum ? checkedAdd(old, value)
                   : kind == Reduce::Min ? std::min(old, value)
                                         : std::max(old, value);
    if (!sums[linear])
      return std::nullopt;
  }
  SmallVector<int64_t> results;
  for (std::optional<int64_t> sum : sums)
    results.push_back(*sum);
  SmallVector<int64_t> newShape;
  for (auto [d, extent] : enumerate(kept))
    if (keepDims || !is_contained(axes, static_cast<int64_t>(d)))
      newShape.push_back(extent);
  return get(newShape, results);
}
