//===- Attention.cpp - Fused attention operators of ONNX Runtime ----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Node.h"
#include <cmath>

using namespace dtrain;
using namespace dtrain::onnx_import;
using namespace mlir;

/// Where the tensor named by operand `i` must be absent or of length 0.
static LogicalResult checkEmpty(Node &n, unsigned i) {
  if (!n.hasInput(i))
    return success();
  Tensor *past = n.input(i);
  if (!past)
    return failure();
  if (past->isEmpty())
    return success();
  return n.error() << "expected a past of length 0 in training, found "
                   << past->getType() << " ('" << n.proto.input(i)
                   << "'; bind its symbolic length to 0)";
}

static LogicalResult checkAbsent(Node &n, unsigned i, StringRef what) {
  if (!n.hasInput(i))
    return success();
  return n.error() << what << " is not supported";
}

/// A positive attribute.
static FailureOr<int64_t> heads(Node &n, StringRef name) {
  int64_t count = n.intAttr(name, 0);
  if (count <= 0)
    return n.error() << "expected a positive " << name << ", found " << count;
  return count;
}

/// The factor of the scores; `scale` is 1/sqrt(width) unless given.
static double scaleOf(Node &n, int64_t width) {
  double scale = n.floatAttr("scale", 0);
  return scale != 0 ? scale : 1 / std::sqrt(static_cast<double>(width));
}

/// Splits the last dimension of [b, s, …] in heads, groups of `perGroup` each:
/// [b, g, r, s, d] for queries, [b, g, s, d] for keys and values.
static FailureOr<Value> splitHeads(Node &n, Value x, int64_t groups,
                                   int64_t perGroup, bool isQuery) {
  ArrayRef<int64_t> shape = tensorType(x).getShape();
  if (shape.size() != 3 || shape[2] % (groups * perGroup) != 0)
    return n.error() << "expected [batch, sequence, width] with a width in "
                        "multiples of "
                     << groups * perGroup << " heads, found " << x.getType();
  int64_t width = shape[2] / (groups * perGroup);
  if (isQuery)
    return n.move("b s (g r d) -> b g r s d", x,
                  {shape[0], groups, perGroup, shape[1], width});
  return n.move("b s (g d) -> b g s d", x, {shape[0], groups, shape[1], width});
}

static FailureOr<Value> mergeHeads(Node &n, Value x) {
  ArrayRef<int64_t> s = tensorType(x).getShape();
  return n.move("b g r s d -> b s (g r d)", x,
                {s[0], s[3], s[1] * s[2] * s[4]});
}

/// Attention over split heads, and its result merged.
static LogicalResult finishAttention(Node &n, Value q, Value k, Value v,
                                     bool causal) {
  double scale = scaleOf(n, tensorType(q).getShape().back());
  FailureOr<Value> output = n.attention(q, k, v, causal, scale);
  return failed(output) ? Failed() : n.set(0, mergeHeads(n, *output));
}

/// Heads [b, h, s, d] of a packed projection of `count` heads in all, from
/// `first`; grouped for queries.
static FailureOr<Value> takeHeads(Node &n, Value packed, int64_t first,
                                  int64_t groups, int64_t perGroup,
                                  bool isQuery) {
  FailureOr<Value> part = n.slice(packed, 1, first, groups * perGroup);
  if (failed(part) || !isQuery)
    return part;
  ArrayRef<int64_t> s = tensorType(*part).getShape();
  return n.move("b (g r) s d -> b g r s d", *part,
                {s[0], groups, perGroup, s[2], s[3]});
}

LogicalResult onnx_import::importAttention(Node &n) {
  // input, weight, bias, mask, past, attention bias, past length
  FailureOr<int64_t> count = heads(n, "num_heads");
  if (failed(count) || failed(checkEmpty(n, 4)) ||
      failed(checkAbsent(n, 5, "an attention bias")))
    return failure();
  if (!n.intsAttr("qkv_hidden_sizes").empty())
    return n.error() << "qkv_hidden_sizes is not supported";
  if (n.intAttr("do_rotary", 0))
    return n.error() << "do_rotary is not supported";
  SmallVector<Value> operands;
  for (unsigned i = 0; i < 3; ++i) {
    if (i == 2 && !n.hasInput(2))
      break;
    FailureOr<Value> operand = n.value(i);
    if (failed(operand))
      return failure();
    operands.push_back(*operand);
  }
  FailureOr<Value> qkv = n.dot(operands.size() == 3 ? "b m k, k n, n -> b m n"
                                                    : "b m k, k n -> b m n",
                               operands);
  if (failed(qkv))
    return failure();
  ArrayRef<int64_t> shape = tensorType(*qkv).getShape();
  if (shape[2] % (3 * *count) != 0)
    return n.error() << "expected a packed width in multiples of 3 x " << *count
                     << " heads, found " << shape[2];
  int64_t width = shape[2] / (3 * *count);
  Ints apart{3, shape[0], *count, shape[1], width};
  FailureOr<Value> parts = n.move("b s (q g e) -> q b g s e", *qkv, apart);
  SmallVector<Value> qkvParts;
  for (int64_t i = 0; i < 3 && succeeded(parts); ++i) {
    FailureOr<Value> part = n.slice(*parts, 0, i, 1);
    if (succeeded(part))
      part = i == 0 ? n.move("1 b g s e -> b g 1 s e", *part,
                             {shape[0], *count, 1, shape[1], width})
                    : n.move("1 b g s e -> b g s e", *part,
                             {shape[0], *count, shape[1], width});
    if (failed(part))
      return failure();
    qkvParts.push_back(*part);
  }
  if (failed(parts))
    return failure();
  return finishAttention(n, qkvParts[0], qkvParts[1], qkvParts[2],
                         n.intAttr("unidirectional", 0));
}

/// The first rows of a rotary table, as many as the sequence has: the values
/// do not matter.
static FailureOr<Value> rotaryTable(Node &n, unsigned i, int64_t length) {
  Tensor *table = n.input(i);
  if (!table)
    return failure();
  if (table->getRank() != 2 || table->shape[0] < length)
    return n.error() << "expected a table of at least " << length
                     << " positions, found " << table->getType();
  if (table->isConstant())
    return n.constant(0, table->element, {length, table->shape[1]});
  FailureOr<Value> value = n.value(*table);
  return failed(value) ? Failed() : n.slice(*value, 0, 0, length);
}

static FailureOr<Value> rotate(Node &n, Value x, unsigned cosIndex) {
  ArrayRef<int64_t> shape = tensorType(x).getShape();
  int64_t length = shape[shape.size() - 2];
  FailureOr<Value> cos = rotaryTable(n, cosIndex, length);
  FailureOr<Value> sin =
      failed(cos) ? Failed() : rotaryTable(n, cosIndex + 1, length);
  if (failed(sin))
    return failure();
  bool interleaved =
      n.intAttr("rotary_interleaved", 0) || n.intAttr("interleaved", 0);
  return n.rotary(x, *cos, *sin, interleaved);
}

LogicalResult onnx_import::importGroupQueryAttention(Node &n) {
  // query, key, value, past key, past value, lengths, total length, cos, sin,
  // positions, attention bias, head sink
  FailureOr<int64_t> count = heads(n, "num_heads");
  FailureOr<int64_t> groups =
      failed(count) ? Failed() : heads(n, "kv_num_heads");
  if (failed(groups) || failed(checkEmpty(n, 3)) || failed(checkEmpty(n, 4)) ||
      failed(checkAbsent(n, 10, "an attention bias")) ||
      failed(checkAbsent(n, 11, "a head sink")))
    return failure();
  if (*count % *groups != 0)
    return n.error() << "expected kv_num_heads to divide num_heads, found "
                     << *groups << " and " << *count;
  if (n.intAttr("local_window_size", -1) > 0)
    return n.error() << "local_window_size is not supported";
  if (n.floatAttr("softcap", 0) != 0)
    return n.error() << "softcap is not supported";
  FailureOr<Value> q = n.value(0), k, v;
  if (failed(q))
    return failure();
  int64_t perGroup = *count / *groups;
  if (n.hasInput(1)) {
    k = n.value(1);
    v = failed(k) ? Failed() : n.value(2);
    if (failed(v))
      return failure();
    q = splitHeads(n, *q, *groups, perGroup, true);
    k = failed(q) ? Failed() : splitHeads(n, *k, *groups, 1, false);
    v = failed(k) ? Failed() : splitHeads(n, *v, *groups, 1, false);
  } else {
    FailureOr<Value> packed = splitHeads(n, *q, *count + 2 * *groups, 1, false);
    if (failed(packed))
      return failure();
    q = takeHeads(n, *packed, 0, *groups, perGroup, true);
    k = takeHeads(n, *packed, *count, *groups, 1, false);
    v = takeHeads(n, *packed, *count + *groups, *groups, 1, false);
  }
  if (failed(q) || failed(k) || failed(v))
    return failure();
  if (n.intAttr("do_rotary", 0)) {
    q = rotate(n, *q, 7);
    k = failed(q) ? Failed() : rotate(n, *k, 7);
    if (failed(k))
      return failure();
  }
  return finishAttention(n, *q, *k, *v, /*causal=*/true);
}

LogicalResult onnx_import::importMultiHeadAttention(Node &n) {
  // query, key, value, bias, padding mask, attention bias, past key, past value
  FailureOr<int64_t> count = heads(n, "num_heads");
  if (failed(count) || failed(checkAbsent(n, 3, "a packed bias")) ||
      failed(checkAbsent(n, 5, "an attention bias")) ||
      failed(checkEmpty(n, 6)) || failed(checkEmpty(n, 7)))
    return failure();
  if (!n.hasInput(1) || !n.hasInput(2))
    return n.error() << "packed queries, keys and values are not supported";
  SmallVector<Value> parts;
  for (unsigned i = 0; i < 3; ++i) {
    FailureOr<Value> part = n.value(i);
    if (succeeded(part))
      part = splitHeads(n, *part, *count, 1, i == 0);
    if (failed(part))
      return failure();
    parts.push_back(*part);
  }
  return finishAttention(n, parts[0], parts[1], parts[2],
                         n.intAttr("unidirectional", 0));
}

LogicalResult onnx_import::importRotary(Node &n) {
  // input, positions, cos, sin
  FailureOr<Value> x = n.value(0);
  Tensor *cos = succeeded(x) ? n.input(2) : nullptr;
  if (!cos)
    return failure();
  if (n.floatAttr("scale", 1) != 1)
    return n.error() << "scale is not supported";
  ArrayRef<int64_t> shape = tensorType(*x).getShape();
  if (shape.size() == 4) {
    FailureOr<Value> turned = rotate(n, *x, 2);
    return n.set(0, turned);
  }
  int64_t count = n.intAttr("num_heads", 0);
  if (shape.size() != 3 || cos->getRank() != 2)
    return n.error() << "expected [batch, sequence, width] and a table of rank "
                        "2, found "
                     << x->getType() << " and " << cos->getType();
  // Without num_heads the table is as wide as half a head.
  if (count <= 0 && cos->shape[1] > 0)
    count = shape[2] / (2 * cos->shape[1]);
  if (count <= 0)
    return n.error() << "expected num_heads or a table at most half as wide as "
                        "the operand, found "
                     << cos->getType();
  FailureOr<Value> turned = splitHeads(n, *x, count, 1, false);
  if (succeeded(turned))
    turned = rotate(n, *turned, 2);
  if (failed(turned))
    return failure();
  return n.set(0, n.move("b g s d -> b s (g d)", *turned, shape));
}
