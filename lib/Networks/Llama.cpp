//===- Llama.cpp - The graph of Llama 2 and 3 -----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "llvm/ADT/Twine.h"

using namespace dtrain;
using namespace llvm;

/// Llama's rms_norm_eps.
static constexpr float kEpsilon = 1e-5f;

namespace {
/// Cosine and sine of every position and feature of a head, [seq, width].
struct Rotary {
  Value cos, sin;
};
} // namespace

/// weight * x / sqrt(mean(x^2) + eps) (Zhang and Sennrich 2019,
/// arXiv:1910.07467), in primitive operators as exported from Hugging Face.
static Value buildRMSNorm(GraphBuilder &b, StringRef name, const Value &x,
                          int64_t width) {
  GraphBuilder::Scope scope(b, name);
  Value square = b.add("Pow", {x, b.getFloat("norm_two", 2.0f)});
  Value mean = b.add("ReduceMean", square,
                     {{"axes", SmallVector<int64_t, 4>{-1}},
                      {"keepdims", static_cast<int64_t>(1)}});
  Value stable = b.add("Add", {mean, b.getFloat("norm_epsilon", kEpsilon)});
  Value scale = b.add("Reciprocal", b.add("Sqrt", stable));
  Value normal = b.add("Mul", {x, scale});
  return b.add("Mul", {b.addWeight("weight", width), normal});
}

/// The first `seq` rows of tables of seq-max rows. They are read through Slice,
/// which tells them from parameters.
static Rotary buildRotaryTables(GraphBuilder &b, const NetworkSpec &spec,
                                const SequenceInfo &sequence) {
  GraphBuilder::Scope scope(b, "rotary_emb");
  int64_t width = spec.hidden / spec.heads;
  Value end = b.add("Unsqueeze", {sequence.length, b.getInts(0)});
  auto table = [&](StringRef name) {
    Value all = b.addWeight(name, {spec.seqMax, width});
    Value rows = b.add("Slice", {all, b.getInts(0), end, b.getInts(0)});
    // ONNX does not infer the length of a Slice with computed bounds.
    b.declareShape(rows, onnx::TensorProto::FLOAT, {StringRef("seq"), width});
    return rows;
  };
  Value cos = table("cos_cached");
  Value sin = table("sin_cached");
  return {cos, sin};
}

/// x * cos + rotate_half(x) * sin for x [batch, heads, seq, width] (Su et al.
/// 2021, arXiv:2104.09864, in the layout of Hugging Face).
static Value buildRotate(GraphBuilder &b, const Value &x, int64_t width,
                         const Rotary &rotary) {
  int64_t half = width / 2;
  Value direct = b.add("Mul", {x, rotary.cos});
  Value axis = b.getInts(3);
  Value low = b.add("Slice", {x, b.getInts(0), b.getInts(half), axis});
  Value high = b.add("Slice", {x, b.getInts(half), b.getInts(width), axis});
  Value turned = b.add("Concat", {b.add("Neg", high), low},
                       {{"axis", static_cast<int64_t>(-1)}});
  return b.add("Add", {direct, b.add("Mul", {turned, rotary.sin})});
}

/// Repeats each of the kv heads of x [batch, kvHeads, seq, width] for the query
/// heads that share it.
static Value buildRepeatHeads(GraphBuilder &b, const Value &x, int64_t heads,
                              int64_t kvHeads, int64_t width) {
  if (heads == kvHeads)
    return x;
  Value apart = b.add("Unsqueeze", {x, b.getInts(2)});
  Value repeated =
      b.add("Expand", {apart, b.getInts({1, 1, heads / kvHeads, 1, 1})});
  return b.add("Reshape", {repeated, b.getInts({0, heads, -1, width})});
}

static Value buildAttention(GraphBuilder &b, const Value &x,
                            const NetworkSpec &spec, const Rotary &rotary,
                            const SequenceInfo &sequence) {
  GraphBuilder::Scope scope(b, "self_attn");
  int64_t h = spec.hidden, heads = spec.heads, kvHeads = spec.kvHeads;
  int64_t width = h / heads, kvWidth = kvHeads * width;
  Value q = buildLinear(b, "q_proj", x, h, h, /*bias=*/false);
  Value k = buildLinear(b, "k_proj", x, h, kvWidth, /*bias=*/false);
  Value v = buildLinear(b, "v_proj", x, h, kvWidth, /*bias=*/false);
  q = buildSplitHeads(b, q, heads, width, {0, 2, 1, 3});
  k = buildSplitHeads(b, k, kvHeads, width, {0, 2, 1, 3});
  v = buildSplitHeads(b, v, kvHeads, width, {0, 2, 1, 3});
  q = buildRotate(b, q, width, rotary);
  k = buildRotate(b, k, width, rotary);
  k = buildRepeatHeads(b, k, heads, kvHeads, width);
  v = buildRepeatHeads(b, v, heads, kvHeads, width);
  Value kT =
      b.add("Transpose", k, {{"perm", SmallVector<int64_t, 4>{0, 1, 3, 2}}});
  Value context = buildAttentionCore(b, q, kT, v, heads, width, sequence);
  return buildLinear(b, "o_proj", context, h, h, /*bias=*/false);
}

/// SwiGLU: down(silu(gate(x)) * up(x)) (Shazeer 2020, arXiv:2002.05202).
static Value buildFeedForward(GraphBuilder &b, const Value &x,
                              const NetworkSpec &spec) {
  GraphBuilder::Scope scope(b, "mlp");
  int64_t h = spec.hidden, f = spec.ffn;
  Value gate = buildLinear(b, "gate_proj", x, h, f, /*bias=*/false);
  Value up = buildLinear(b, "up_proj", x, h, f, /*bias=*/false);
  Value act;
  {
    GraphBuilder::Scope silu(b, "act_fn");
    act = b.add("Mul", {gate, b.add("Sigmoid", gate)});
  }
  return buildLinear(b, "down_proj", b.add("Mul", {act, up}), f, h,
                     /*bias=*/false);
}

static Value buildDecoder(GraphBuilder &b, const NetworkSpec &spec,
                          const Value &ids) {
  GraphBuilder::Scope scope(b, "model");
  int64_t h = spec.hidden;
  SequenceInfo sequence = buildSequenceInfo(b, ids);
  Value x = buildEmbedding(b, "embed_tokens", spec.vocab, h, ids).vectors;
  Rotary rotary = buildRotaryTables(b, spec, sequence);
  for (int64_t i = 0; i < spec.layers; ++i) {
    GraphBuilder::Scope layer(b, "layers." + Twine(i));
    Value normal = buildRMSNorm(b, "input_layernorm", x, h);
    x = b.add("Add", {x, buildAttention(b, normal, spec, rotary, sequence)});
    normal = buildRMSNorm(b, "post_attention_layernorm", x, h);
    x = b.add("Add", {x, buildFeedForward(b, normal, spec)});
  }
  return buildRMSNorm(b, "norm", x, h);
}

void dtrain::buildLlama(GraphBuilder &b, const NetworkSpec &spec) {
  Value ids = b.addInput("input_ids", onnx::TensorProto::INT64,
                         {StringRef("batch"), StringRef("seq")});
  Value x = buildDecoder(b, spec, ids);
  GraphBuilder::Scope head(b, "lm_head");
  Value weight = b.addWeight("weight", {spec.hidden, spec.vocab});
  b.addOutput("logits", "MatMul", {x, weight},
              {StringRef("batch"), StringRef("seq"), spec.vocab});
}
