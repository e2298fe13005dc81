//===- Blocks.cpp - Blocks that network families share --------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include <cmath>
#include <limits>

using namespace dtrain;
using namespace llvm;

SequenceInfo dtrain::buildSequenceInfo(GraphBuilder &b, const Value &ids) {
  SequenceInfo info;
  Value shape = b.add("Shape", ids);
  info.length = b.add("Gather", {shape, b.getInt(1)},
                      {{"axis", static_cast<int64_t>(0)}});
  info.positions = b.add("Range", {b.getInt(0), info.length, b.getInt(1)});
  // ONNX does not infer how many numbers a Range of computed bounds has.
  b.declareShape(info.positions, onnx::TensorProto::INT64, {StringRef("seq")});
  Value keys = b.add("Unsqueeze", {info.positions, b.getInts(0)});
  Value queries = b.add("Unsqueeze", {info.positions, b.getInts(1)});
  info.causalMask = b.add("LessOrEqual", {keys, queries});
  return info;
}

Embedding dtrain::buildEmbedding(GraphBuilder &b, StringRef name, int64_t rows,
                                 int64_t width, const Value &ids) {
  GraphBuilder::Scope scope(b, name);
  Value table = b.addWeight("weight", {rows, width});
  Value vectors =
      b.add("Gather", {table, ids}, {{"axis", static_cast<int64_t>(0)}});
  return {table, vectors};
}

Value dtrain::buildLinear(GraphBuilder &b, StringRef name, const Value &x,
                          int64_t in, int64_t out, bool bias) {
  GraphBuilder::Scope scope(b, name);
  Value y = b.add("MatMul", {x, b.addWeight("weight", {in, out})});
  return bias ? b.add("Add", {y, b.addWeight("bias", out)}) : y;
}

Value dtrain::buildSplitHeads(GraphBuilder &b, const Value &x, int64_t heads,
                              int64_t width, ArrayRef<int64_t> perm) {
  // A 0 in the shape of Reshape copies the dimension: batch and seq.
  Value split = b.add("Reshape", {x, b.getInts({0, 0, heads, width})});
  return b.add("Transpose", split, {{"perm", SmallVector<int64_t, 4>(perm)}});
}

Value dtrain::buildAttentionCore(GraphBuilder &b, const Value &q,
                                 const Value &kT, const Value &v, int64_t heads,
                                 int64_t width, const SequenceInfo &sequence) {
  Value scores = b.add("MatMul", {q, kT});
  Value scale =
      b.getFloat("attention_scale", static_cast<float>(1 / std::sqrt(width)));
  Value scaled = b.add("Mul", {scores, scale});
  // The lowest finite number rather than -inf, as exporters do, so that a row
  // which sees nothing stays finite.
  Value hidden =
      b.getFloat("attention_hidden", std::numeric_limits<float>::lowest());
  Value masked = b.add("Where", {sequence.causalMask, scaled, hidden});
  Value weights =
      b.add("Softmax", masked, {{"axis", static_cast<int64_t>(-1)}});
  Value context = b.add("MatMul", {weights, v});
  Value merged = b.add("Transpose", context,
                       {{"perm", SmallVector<int64_t, 4>{0, 2, 1, 3}}});
  return b.add("Reshape", {merged, b.getInts({0, 0, heads * width})});
}
