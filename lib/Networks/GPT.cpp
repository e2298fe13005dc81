//===- GPT.cpp - The graph of GPT-2 and its descendants -------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "llvm/ADT/Twine.h"
#include <cmath>

using namespace dtrain;
using namespace llvm;

/// GPT-2's layer_norm_epsilon.
static constexpr float kEpsilon = 1e-5f;

static Value buildLayerNorm(GraphBuilder &b, StringRef name, const Value &x,
                            int64_t width) {
  GraphBuilder::Scope scope(b, name);
  Value weight = b.addWeight("weight", width);
  Value bias = b.addWeight("bias", width);
  return b.add("LayerNormalization", {x, weight, bias},
               {{"axis", static_cast<int64_t>(-1)}, {"epsilon", kEpsilon}});
}

/// GELU in the tanh form, 0.5x(1 + tanh(sqrt(2/pi)(x + 0.044715x^3)))
/// (Hendrycks and Gimpel 2016, arXiv:1606.08415), spelled as exporters do.
static Value buildGELU(GraphBuilder &b, const Value &x) {
  GraphBuilder::Scope scope(b, "act");
  Value half = b.add("Mul", {x, b.getFloat("gelu_half", 0.5f)});
  Value cube = b.add("Pow", {x, b.getFloat("gelu_three", 3.0f)});
  Value cubic = b.add("Mul", {cube, b.getFloat("gelu_cubic", 0.044715f)});
  Value sum = b.add("Add", {x, cubic});
  Value inner = b.add(
      "Mul",
      {sum, b.getFloat("gelu_sqrt_2_over_pi",
                       static_cast<float>(std::sqrt(2 * numbers::inv_pi)))});
  Value tanh = b.add("Tanh", inner);
  Value gate = b.add("Add", {tanh, b.getFloat("gelu_one", 1.0f)});
  return b.add("Mul", {half, gate});
}

static Value buildAttention(GraphBuilder &b, const Value &x,
                            const NetworkSpec &spec,
                            const SequenceInfo &sequence) {
  GraphBuilder::Scope scope(b, "attn");
  int64_t h = spec.hidden, width = h / spec.heads;
  // The columns of the fused weight are (3, heads, width).
  Value qkv = buildLinear(b, "c_attn", x, h, 3 * h, /*bias=*/true);
  SmallVector<Value, 3> parts =
      b.addMultiple("Split", {qkv, b.getInts({h, h, h})}, 3,
                    {{"axis", static_cast<int64_t>(2)}});
  Value q = buildSplitHeads(b, parts[0], spec.heads, width, {0, 2, 1, 3});
  Value kT = buildSplitHeads(b, parts[1], spec.heads, width, {0, 2, 3, 1});
  Value v = buildSplitHeads(b, parts[2], spec.heads, width, {0, 2, 1, 3});
  Value context = buildAttentionCore(b, q, kT, v, spec.heads, width, sequence);
  return buildLinear(b, "c_proj", context, h, h, /*bias=*/true);
}

static Value buildFeedForward(GraphBuilder &b, const Value &x,
                              const NetworkSpec &spec) {
  GraphBuilder::Scope scope(b, "mlp");
  Value up = buildLinear(b, "c_fc", x, spec.hidden, spec.ffn, /*bias=*/true);
  return buildLinear(b, "c_proj", buildGELU(b, up), spec.ffn, spec.hidden,
                     /*bias=*/true);
}

void dtrain::buildGPT(GraphBuilder &b, const NetworkSpec &spec) {
  int64_t h = spec.hidden;
  Value ids = b.addInput("input_ids", onnx::TensorProto::INT64,
                         {StringRef("batch"), StringRef("seq")});
  SequenceInfo sequence = buildSequenceInfo(b, ids);
  Embedding tokens = buildEmbedding(b, "wte", spec.vocab, h, ids);
  Embedding places =
      buildEmbedding(b, "wpe", spec.seqMax, h, sequence.positions);
  Value x = b.add("Add", {tokens.vectors, places.vectors});
  for (int64_t i = 0; i < spec.layers; ++i) {
    GraphBuilder::Scope layer(b, "h." + Twine(i));
    x = b.add("Add", {x, buildAttention(b, buildLayerNorm(b, "ln_1", x, h),
                                        spec, sequence)});
    x = b.add("Add",
              {x, buildFeedForward(b, buildLayerNorm(b, "ln_2", x, h), spec)});
  }
  x = buildLayerNorm(b, "ln_f", x, h);
  // The head is the token embedding again.
  GraphBuilder::Scope head(b, "lm_head");
  Value weight = b.add("Transpose", tokens.table,
                       {{"perm", SmallVector<int64_t, 4>{1, 0}}});
  b.addOutput("logits", "MatMul", {x, weight},
              {StringRef("batch"), StringRef("seq"), spec.vocab});
}
