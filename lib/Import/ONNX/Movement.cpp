//===- Movement.cpp - Operators that move data ----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Node.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace dtrain;
using namespace dtrain::onnx_import;
using namespace mlir;

/// The operand in another shape, without work where it is constant or empty;
/// `onInts` and `onValue` do it otherwise.
static LogicalResult
importView(Node &n, Tensor &x, ArrayRef<int64_t> shape,
           function_ref<IntConstant::Result(const IntConstant &)> onInts,
           function_ref<FailureOr<Value>(Value)> onValue) {
  if (failed(n.checkShape(shape)))
    return failure();
  if (x.ints)
    if (IntConstant::Result ints = onInts(*x.ints))
      return n.set(0, tensorOf(*ints, x.element));
  if (x.splat || countElements(shape) == 0) {
    Tensor result;
    result.shape.assign(shape.begin(), shape.end());
    result.element = x.element;
    result.splat = x.splat;
    result.opaque = x.opaque;
    return n.set(0, result);
  }
  FailureOr<Value> value = n.value(x);
  return failed(value) ? Failed() : n.set(0, onValue(*value));
}

static LogicalResult importReshapeTo(Node &n, Tensor &x,
                                     ArrayRef<int64_t> shape) {
  if (countElements(shape) != countElements(x.shape)) {
    InFlightDiagnostic error = n.error()
                               << "cannot reshape " << x.getType() << " to ";
    llvm::interleave(shape, error, "x");
    return error;
  }
  return importView(
      n, x, shape, [&](const IntConstant &c) { return c.reshape(shape); },
      [&](Value v) { return n.reshape(v, shape); });
}

void onnx_import::followRebatch(const Importer &importer,
                                ArrayRef<int64_t> input,
                                MutableArrayRef<int64_t> target) {
  if (importer.rebatched && !input.empty() && !target.empty() &&
      input.front() == importer.rebatched->second &&
      target.front() == importer.rebatched->first)
    target.front() = importer.rebatched->second;
}

LogicalResult onnx_import::importIdentity(Node &n) {
  Tensor *x = n.input(0);
  if (!x)
    return failure();
  return importView(
      n, *x, x->shape, [](const IntConstant &c) { return c; },
      [](Value v) { return v; });
}

LogicalResult onnx_import::importReshape(Node &n) {
  Tensor *x = n.input(0);
  FailureOr<Ints> target = x ? n.intsOf(1, "shape") : Failed();
  if (failed(target))
    return failure();
  followRebatch(n.importer, x->shape, *target);
  int64_t known = 1;
  std::optional<unsigned> inferred;
  for (auto [d, extent] : llvm::enumerate(*target)) {
    if (extent == 0 && !n.intAttr("allowzero", 0)) {
      if (d >= x->shape.size())
        return n.error() << "dimension " << d << " copies one that "
                         << x->getType() << " lacks";
      extent = x->shape[d];
    }
    if (extent < -1 || (extent == -1 && inferred))
      return n.error() << "expected extents with at most one -1, found "
                       << extent << " as dimension " << d;
    if (extent == -1) {
      inferred = d;
      continue;
    }
    std::optional<int64_t> product = llvm::checkedMul(known, extent);
    if (!product)
      return n.error() << "expected extents whose product fits 64 bits";
    known = *product;
  }
  if (inferred) {
    int64_t count = x->getNumElements();
    if (known == 0 ? count != 0 : count % known != 0)
      return n.error() << "cannot infer dimension " << *inferred << " of "
                       << x->getType() << " in multiples of " << known;
    (*target)[*inferred] = known == 0 ? 0 : count / known;
  }
  return importReshapeTo(n, *x, *target);
}

LogicalResult onnx_import::importFlatten(Node &n) {
  Tensor *x = n.input(0);
  if (!x)
    return failure();
  int64_t axis = n.intAttr("axis", 1), rank = x->getRank();
  if (axis < 0)
    axis += rank;
  if (axis < 0 || axis > rank)
    return n.error() << "expected an axis of up to " << rank << ", found "
                     << n.intAttr("axis", 1);
  ArrayRef<int64_t> shape = x->shape;
  return importReshapeTo(n, *x,
                         {*countElements(shape.take_front(axis)),
                          *countElements(shape.drop_front(axis))});
}

LogicalResult onnx_import::importTranspose(Node &n) {
  Tensor *x = n.input(0);
  if (!x)
    return failure();
  Ints perm = n.intsAttr("perm"), sorted = perm, shape;
  if (!n.attribute("perm"))
    for (int64_t d = x->getRank(); d-- > 0;)
      perm.push_back(d);
  sorted = perm;
  llvm::sort(sorted);
  for (int64_t d = 0; d < x->getRank(); ++d)
    if (sorted.size() != x->shape.size() || sorted[d] != d)
      return n.error() << "expected a permutation of " << x->getRank()
                       << " dimensions";
  if (perm.size() != x->shape.size())
    return n.error() << "expected a permutation of 0 dimensions";
  for (int64_t d : perm)
    shape.push_back(x->shape[d]);
  return importView(
      n, *x, shape, [&](const IntConstant &c) { return c.transpose(perm); },
      [&](Value v) { return n.transpose(v, perm); });
}

LogicalResult onnx_import::importSqueeze(Node &n) {
  Tensor *x = n.input(0);
  FailureOr<Ints> axes = x ? n.intsOf(1, "axes") : Failed();
  if (failed(axes))
    return failure();
  bool all = axes->empty() && !n.hasInput(1);
  for (int64_t &axis : *axes) {
    FailureOr<int64_t> positive = n.axis(axis, x->getRank());
    if (failed(positive))
      return failure();
    axis = *positive;
    if (x->shape[axis] != 1)
      return n.error() << "expected extent 1 along dimension " << axis << " of "
                       << x->getType();
  }
  Ints shape;
  for (auto [d, extent] : llvm::enumerate(x->shape))
    if (all ? extent != 1 : !llvm::is_contained(*axes, static_cast<int64_t>(d)))
      shape.push_back(extent);
  return importReshapeTo(n, *x, shape);
}

LogicalResult onnx_import::importUnsqueeze(Node &n) {
  Tensor *x = n.input(0);
  FailureOr<Ints> axes = x ? n.intsOf(1, "axes") : Failed();
  if (failed(axes))
    return failure();
  int64_t rank = x->getRank() + static_cast<int64_t>(axes->size());
  Ints shape(rank, 0);
  for (int64_t axis : *axes) {
    FailureOr<int64_t> positive = n.axis(axis, rank);
    if (failed(positive))
      return failure();
    if (shape[*positive] != 0)
      return n.error() << "axis " << axis << " is named twice";
    shape[*positive] = 1;
  }
  const int64_t *next = x->shape.begin();
  SmallVector<bool> added(rank, false);
  for (auto [d, extent] : llvm::enumerate(shape))
    if (extent == 0)
      shape[d] = *next++;
  return importReshapeTo(n, *x, shape);
}

LogicalResult onnx_import::importExpand(Node &n) {
  Tensor *x = n.input(0);
  FailureOr<Ints> target = x ? n.ints(1) : Failed();
  if (failed(target))
    return failure();
  followRebatch(n.importer, x->shape, *target);
  if (!countElements(*target))
    return n.error() << "expected extents whose product fits 64 bits";
  std::optional<Ints> shape = broadcastShapes(x->shape, *target);
  if (!shape) {
    InFlightDiagnostic error = n.error()
                               << x->getType() << " does not broadcast to ";
    llvm::interleave(*target, error, "x");
    return error;
  }
  return importView(
      n, *x, *shape, [&](const IntConstant &c) { return c.expand(*shape); },
      [&](Value v) { return n.expand(v, *shape); });
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

namespace {
struct Part {
  int64_t dim, start, count, step;
};
} // namespace

/// Python's start:end:step on an extent. A negative step may run past 0.
static Part clampPart(int64_t dim, int64_t extent, int64_t start, int64_t end,
                      int64_t step) {
  auto clamp = [&](int64_t bound, int64_t low, int64_t high) {
    bound = bound < 0 ? bound + extent : bound;
    return std::min(std::max(bound, low), high);
  };
  if (step > 0) {
    start = clamp(start, 0, extent);
    end = clamp(end, 0, extent);
    return {dim, start, end <= start ? 0 : (end - start - 1) / step + 1, step};
  }
  start = clamp(start, -1, extent - 1);
  end = clamp(end, -1, extent - 1);
  return {dim, start, end >= start ? 0 : (start - end - 1) / -step + 1, step};
}

static FailureOr<SmallVector<Part>> slicedParts(Node &n, const Tensor &x) {
  FailureOr<Ints> starts = n.intsOf(1, "starts");
  FailureOr<Ints> ends = failed(starts) ? Failed() : n.intsOf(2, "ends");
  FailureOr<Ints> axes = failed(ends) ? Failed() : n.intsOf(3, "axes");
  FailureOr<Ints> steps = failed(axes)    ? Failed()
                          : n.hasInput(4) ? n.ints(4)
                                          : Ints();
  if (failed(steps))
    return failure();
  if (axes->empty())
    for (int64_t d = 0; d < static_cast<int64_t>(starts->size()); ++d)
      axes->push_back(d);
  if (steps->empty())
    steps->assign(starts->size(), 1);
  if (ends->size() != starts->size() || axes->size() != starts->size() ||
      steps->size() != starts->size())
    return n.error() << "expected as many ends, axes and steps as starts ("
                     << starts->size() << "), found " << ends->size() << ", "
                     << axes->size() << " and " << steps->size();
  SmallVector<Part> parts;
  for (auto [start, end, axis, step] :
       llvm::zip_equal(*starts, *ends, *axes, *steps)) {
    FailureOr<int64_t> dim = n.axis(axis, x.getRank());
    if (failed(dim))
      return failure();
    if (step == 0 || step == std::numeric_limits<int64_t>::min())
      return n.error() << "expected a step other than 0, found " << step;
    parts.push_back(clampPart(*dim, x.shape[*dim], start, end, step));
  }
  return parts;
}

LogicalResult onnx_import::importSlice(Node &n) {
  Tensor *x = n.input(0);
  FailureOr<SmallVector<Part>> parts = x ? slicedParts(n, *x) : Failed();
  if (failed(parts))
    return failure();
  Ints shape(x->shape);
  for (const Part &part : *parts)
    shape[part.dim] = part.count;
  return importView(
      n, *x, shape,
      [&](const IntConstant &c) {
        IntConstant::Result result = c;
        for (const Part &part : *parts)
          if (result)
            result = result->slice(part.dim, part.start, part.count, part.step);
        return result;
      },
      [&](Value v) -> FailureOr<Value> {
        FailureOr<Value> result = v;
        for (const Part &part : *parts) {
          if (part.step != 1 && part.count > 1)
            return n.error() << "expected a step of 1, found " << part.step;
          result = n.slice(*result, part.dim, part.start, part.count);
        }
        return result;
      });
}

LogicalResult onnx_import::importSplit(Node &n) {
  Tensor *x = n.input(0);
  FailureOr<Ints> extents = x ? n.intsOf(1, "split") : Failed();
  FailureOr<int64_t> dim =
      failed(extents) ? Failed() : n.axis(n.intAttr("axis", 0), x->getRank());
  if (failed(dim))
    return failure();
  int64_t outputs = n.proto.output_size(), whole = x->shape[*dim];
  if (extents->empty() && outputs > 0) {
    // Equal parts; since opset 18 the last may be smaller.
    int64_t each = (whole - 1) / outputs + 1;
    for (int64_t i = 0; i < outputs; ++i)
      extents->push_back(
          std::min(each, std::max<int64_t>(whole - i * each, 0)));
  }
  int64_t offset = 0;
  for (int64_t extent : *extents)
    offset =
        extent < 0 || extent > whole - offset ? whole + 1 : offset + extent;
  if (static_cast<int64_t>(extents->size()) != outputs || offset != whole)
    return n.error() << "expected " << outputs << " parts that add up to "
                     << whole << " along dimension " << *dim << " of "
                     << x->getType();
  offset = 0;
  for (auto [i, extent] : llvm::enumerate(*extents)) {
    Tensor part;
    part.shape = x->shape;
    part.shape[*dim] = extent;
    part.element = x->element;
    part.splat = x->splat;
    part.opaque = x->opaque;
    if (x->ints)
      part.ints = x->ints->slice(*dim, offset, extent, 1);
    if (!part.isConstant() && !part.isEmpty()) {
      FailureOr<Value> value = n.value(0);
      if (succeeded(value))
        value = n.slice(*value, *dim, offset, extent);
      if (failed(value))
        return failure();
      part.value = *value;
    }
    if (failed(n.set(i, part)))
      return failure();
    offset += extent;
  }
  return success();
}

LogicalResult onnx_import::importConcat(Node &n) {
  SmallVector<Tensor *> parts;
  SmallVector<IntConstant> ints;
  Tensor *first = n.input(0);
  FailureOr<int64_t> dim =
      first ? n.axis(n.intAttr("axis", 0), first->getRank()) : Failed();
  if (failed(dim))
    return failure();
  Ints shape(first->shape);
  shape[*dim] = 0;
  for (unsigned i = 0; i < n.getNumInputs(); ++i) {
    Tensor *part = n.input(i);
    if (!part)
      return failure();
    Ints others(part->shape);
    if (part->getRank() == first->getRank())
      others[*dim] = 0;
    std::optional<int64_t> extent;
    Ints expected(shape);
    expected[*dim] = 0;
    if (others == expected)
      extent = llvm::checkedAdd(shape[*dim], part->shape[*dim]);
    if (!extent)
      return n.error() << "expected operands that differ along dimension "
                       << *dim << " only, found " << first->getType() << " and "
                       << part->getType();
    shape[*dim] = *extent;
    // A past of length 0 disappears.
    if (part->isEmpty())
      continue;
    parts.push_back(part);
    if (part->ints)
      ints.push_back(*part->ints);
  }
  if (parts.empty() || (parts.size() == 1 && !parts.front()->ints)) {
    Tensor &only = parts.empty() ? *first : *parts.front();
    return importView(
        n, only, only.shape, [](const IntConstant &c) { return c; },
        [](Value v) { return v; });
  }
  if (ints.size() == parts.size())
    if (IntConstant::Result result = IntConstant::concat(ints, *dim))
      return n.set(0, tensorOf(*result, first->element));
  if (failed(n.checkShape(shape)))
    return failure();
  // Tables that were not read stay one.
  if (llvm::all_of(parts, [](Tensor *part) { return part->opaque; })) {
    Tensor table;
    table.shape = shape;
    table.element = first->element;
    table.splat = 0.0;
    table.opaque = true;
    return n.set(0, table);
  }
  SmallVector<Value> operands;
  for (Tensor *part : parts) {
    FailureOr<Value> operand = n.value(*part);
    if (failed(operand))
      return failure();
    operands.push_back(*operand);
  }
  Type element = tensorType(operands.front()).getElementType();
  return n.set(0, Value(ConcatOp::create(n.builder(), n.loc,
                                         RankedTensorType::get(shape, element),
                                         operands, static_cast<uint64_t>(*dim),
                                         Origin::forward, OpStateAttr())));
}

LogicalResult onnx_import::importPad(Node &n) {
  Tensor *x = n.input(0);
  FailureOr<Ints> pads = x ? n.intsOf(1, "pads") : Failed();
  if (failed(pads))
    return failure();
  Ints axes;
  if (n.hasInput(3)) {
    FailureOr<Ints> given = n.ints(3);
    if (failed(given))
      return failure();
    axes = *given;
  } else {
    for (int64_t d = 0; d < x->getRank(); ++d)
      axes.push_back(d);
  }
  if (n.stringAttr("mode", "constant") != "constant")
    return n.error() << "expected mode \"constant\", found \""
                     << n.stringAttr("mode", "") << '"';
  double fill = n.floatAttr("value", 0);
  if (n.hasInput(2)) {
    Tensor *value = n.input(2);
    if (!value)
      return failure();
    fill = value->getScalar().value_or(1);
  }
  if (fill != 0)
    return n.error() << "expected padding with the constant 0";
  if (pads->size() != 2 * axes.size())
    return n.error() << "expected " << 2 * axes.size() << " pads, found "
                     << pads->size();
  FailureOr<Value> value = n.value(0);
  if (failed(value))
    return failure();
  Ints shape(x->shape);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    FailureOr<int64_t> dim = n.axis(axis, shape.size());
    if (failed(dim))
      return failure();
    int64_t before = (*pads)[i], after = (*pads)[i + axes.size()];
    if (before < 0 || after < 0)
      return n.error() << "expected pads of 0 or more, found " << before
                       << " and " << after;
    if (before == 0 && after == 0)
      continue;
    std::optional<int64_t> extent = llvm::checkedAdd(before, after);
    extent = extent ? llvm::checkedAdd(*extent, shape[*dim]) : extent;
    if (!extent)
      return n.error() << "expected pads within 64 bits";
    shape[*dim] = *extent;
    if (failed(n.checkShape(shape)))
      return failure();
    value = Value(PadOp::create(
        n.builder(), n.loc,
        RankedTensorType::get(shape, tensorType(*value).getElementType()),
        *value, static_cast<uint64_t>(*dim), static_cast<uint64_t>(before),
        Origin::forward, OpStateAttr()));
  }
  return n.set(0, *value);
}

/// Rows at constant, consecutive indices: a slice.
static LogicalResult gatherSlice(Node &n, Tensor &x, int64_t axis,
                                 const IntConstant &indices) {
  int64_t extent = x.shape[axis], count = indices.getNumElements();
  int64_t first = indices.getOffset();
  first = first < 0 ? first + extent : first;
  if (first < 0 || count > extent - first)
    return n.error() << "expected indices below " << extent << ", found "
                     << indices.getOffset();
  Ints shape(x.shape.begin(), x.shape.begin() + axis);
  llvm::append_range(shape, indices.getShape());
  shape.append(x.shape.begin() + axis + 1, x.shape.end());
  return importView(
      n, x, shape, [](const IntConstant &) { return std::nullopt; },
      [&](Value v) -> FailureOr<Value> {
        FailureOr<Value> part = n.slice(v, axis, first, count);
        return failed(part) ? Failed() : n.reshape(*part, shape);
      });
}

LogicalResult onnx_import::importGather(Node &n) {
  Tensor *x = n.input(0);
  Tensor *indices = x ? n.input(1) : nullptr;
  FailureOr<int64_t> axis =
      indices ? n.axis(n.intAttr("axis", 0), x->getRank()) : Failed();
  if (failed(axis))
    return failure();
  if (x->ints && indices->ints)
    if (IntConstant::Result rows = x->ints->gather(*axis, *indices->ints))
      return n.set(0, tensorOf(*rows, x->element));
  const std::optional<IntConstant> &known = indices->ints;
  bool consecutive =
      known && known->isAffine() && !indices->isEmpty() &&
      known->getRank() <= 1 &&
      (indices->getNumElements() == 1 || known->getStrides().front() == 1);
  // Positions of an embedding remain a lookup.
  bool table = x->getRank() == 2 && *axis == 0 && indices->getRank() > 0;
  if (consecutive && (!table || x->isConstant() || x->isEmpty()))
    return gatherSlice(n, *x, *axis, *known);
  if (!table)
    return n.error() << "expected rows of a matrix or constant, consecutive "
                        "indices, found "
                     << x->getType() << " along dimension " << *axis;
  FailureOr<Value> rows = n.value(1);
  FailureOr<Value> source = failed(rows) ? Failed() : n.value(0);
  return failed(source) ? Failed() : n.set(0, n.gather(*rows, *source));
}
