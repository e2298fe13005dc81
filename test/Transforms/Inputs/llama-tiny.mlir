// A Llama of four layers in import-phase form: batch 4, sequence 6, vocabulary
// 12, hidden 8, 4 heads that share 2 key and value heads, feed-forward 16; RMS
// norms, rotary positions from shared tables, SwiGLU, an untied head. The tables
// are those of the angle 2 atan(t) at t = position / 10, which needs no cosine.
module attributes {dtrain.phase = #dtrain.phase<import>} {
  func.func private @layer(
      %x: tensor<4x6x8xf32>, %n1_w: tensor<8xf32>, %q_w: tensor<8x8xf32>,
      %k_w: tensor<8x4xf32>, %v_w: tensor<8x4xf32>, %o_w: tensor<8x8xf32>,
      %n2_w: tensor<8xf32>, %gate_w: tensor<8x16xf32>, %up_w: tensor<8x16xf32>,
      %down_w: tensor<16x8xf32>, %cos: tensor<6x1xf32>, %sin: tensor<6x1xf32>) -> tensor<4x6x8xf32> {
    %n1 = dtrain.normalize<rms> %x, %n1_w epsilon 1.0e-5
        : (tensor<4x6x8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32> loc("layers/input_layernorm")
    %q0 = dtrain.dot %n1, %q_w rule("b s k, k n -> b s n")
        : (tensor<4x6x8xf32>, tensor<8x8xf32>) -> tensor<4x6x8xf32> loc("layers/q_proj")
    %k0 = dtrain.dot %n1, %k_w rule("b s k, k n -> b s n")
        : (tensor<4x6x8xf32>, tensor<8x4xf32>) -> tensor<4x6x4xf32> loc("layers/k_proj")
    %v0 = dtrain.dot %n1, %v_w rule("b s k, k n -> b s n")
        : (tensor<4x6x8xf32>, tensor<8x4xf32>) -> tensor<4x6x4xf32> loc("layers/v_proj")
    %q1 = dtrain.move %q0 rule("b s (g r d) -> b g r s d") : (tensor<4x6x8xf32>) -> tensor<4x2x2x6x2xf32>
    %k1 = dtrain.move %k0 rule("b t (g d) -> b g t d") : (tensor<4x6x4xf32>) -> tensor<4x2x6x2xf32>
    %v = dtrain.move %v0 rule("b t (g e) -> b g t e") : (tensor<4x6x4xf32>) -> tensor<4x2x6x2xf32>
    %q = dtrain.rotary %q1, %cos, %sin
        : (tensor<4x2x2x6x2xf32>, tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<4x2x2x6x2xf32> loc("layers/q_rotary")
    %k = dtrain.rotary %k1, %cos, %sin
        : (tensor<4x2x6x2xf32>, tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<4x2x6x2xf32> loc("layers/k_rotary")
    %o, %lse = dtrain.attention %q, %k, %v causal scale 0.70710678118654757
        : (tensor<4x2x2x6x2xf32>, tensor<4x2x6x2xf32>, tensor<4x2x6x2xf32>)
        -> (tensor<4x2x2x6x2xf32>, tensor<4x2x2x6xf32>) loc("layers/attention")
    %context = dtrain.move %o rule("b g r s e -> b s (g r e)") : (tensor<4x2x2x6x2xf32>) -> tensor<4x6x8xf32>
    %proj = dtrain.dot %context, %o_w rule("b s k, k n -> b s n")
        : (tensor<4x6x8xf32>, tensor<8x8xf32>) -> tensor<4x6x8xf32> loc("layers/o_proj")
    %x1 = dtrain.elementwise<add> %x, %proj : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
    %n2 = dtrain.normalize<rms> %x1, %n2_w epsilon 1.0e-5
        : (tensor<4x6x8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32> loc("layers/post_attention_layernorm")
    %gate = dtrain.dot %n2, %gate_w rule("b s k, k n -> b s n")
        : (tensor<4x6x8xf32>, tensor<8x16xf32>) -> tensor<4x6x16xf32> loc("layers/gate_proj")
    %up = dtrain.dot %n2, %up_w rule("b s k, k n -> b s n")
        : (tensor<4x6x8xf32>, tensor<8x16xf32>) -> tensor<4x6x16xf32> loc("layers/up_proj")
    %act = dtrain.elementwise<swiglu> %gate, %up
        : (tensor<4x6x16xf32>, tensor<4x6x16xf32>) -> tensor<4x6x16xf32> loc("layers/act")
    %down = dtrain.dot %act, %down_w rule("b s k, k n -> b s n")
        : (tensor<4x6x16xf32>, tensor<16x8xf32>) -> tensor<4x6x8xf32> loc("layers/down_proj")
    %x2 = dtrain.elementwise<add> %x1, %down : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
    return %x2 : tensor<4x6x8xf32>
  }

  func.func @main(
      %embed: tensor<12x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "embed_tokens"},
      %n1_w: tensor<4x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.input_layernorm"},
      %q_w: tensor<4x8x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.q_proj"},
      %k_w: tensor<4x8x4xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.k_proj"},
      %v_w: tensor<4x8x4xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.v_proj"},
      %o_w: tensor<4x8x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.o_proj"},
      %n2_w: tensor<4x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.post_attention_layernorm"},
      %gate_w: tensor<4x8x16xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.gate_proj"},
      %up_w: tensor<4x8x16xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.up_proj"},
      %down_w: tensor<4x16x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.down_proj"},
      %norm_w: tensor<8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "norm"},
      %head: tensor<8x12xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "lm_head"},
      %ids: tensor<4x6xi64> {dtrain.role = #dtrain.role<input>, dtrain.name = "input_ids"},
      %labels: tensor<4x6xi64> {dtrain.role = #dtrain.role<label>, dtrain.name = "labels"})
      -> tensor<f32> {
    %position = dtrain.iota dim 0 : () -> tensor<6x1xf32>
    %t = dtrain.elementwise<scale> %position constant 0.1 : (tensor<6x1xf32>) -> tensor<6x1xf32>
    %square = dtrain.elementwise<mul> %t, %t : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xf32>
    %whole = dtrain.elementwise<offset> %square constant 1.0 : (tensor<6x1xf32>) -> tensor<6x1xf32>
    %minus = dtrain.elementwise<neg> %square : (tensor<6x1xf32>) -> tensor<6x1xf32>
    %part = dtrain.elementwise<offset> %minus constant 1.0 : (tensor<6x1xf32>) -> tensor<6x1xf32>
    %cos = dtrain.elementwise<div> %part, %whole : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xf32>
    %twice = dtrain.elementwise<scale> %t constant 2.0 : (tensor<6x1xf32>) -> tensor<6x1xf32>
    %sin = dtrain.elementwise<div> %twice, %whole : (tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<6x1xf32>
    %x = dtrain.gather %ids, %embed : (tensor<4x6xi64>, tensor<12x8xf32>) -> tensor<4x6x8xf32> loc("embed_tokens")
    %y = dtrain.repeat @layer 0 to 4 carry(%x)
        stacked(%n1_w, %q_w, %k_w, %v_w, %o_w, %n2_w, %gate_w, %up_w, %down_w) shared(%cos, %sin)
        : (tensor<4x6x8xf32>, tensor<4x8xf32>, tensor<4x8x8xf32>, tensor<4x8x4xf32>, tensor<4x8x4xf32>,
           tensor<4x8x8xf32>, tensor<4x8xf32>, tensor<4x8x16xf32>, tensor<4x8x16xf32>, tensor<4x16x8xf32>,
           tensor<6x1xf32>, tensor<6x1xf32>) -> tensor<4x6x8xf32>
    %n = dtrain.normalize<rms> %y, %norm_w epsilon 1.0e-5
        : (tensor<4x6x8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32> loc("norm")
    %logits = dtrain.dot %n, %head rule("b s k, k v -> b s v")
        : (tensor<4x6x8xf32>, tensor<8x12xf32>) -> tensor<4x6x12xf32> loc("lm_head")
    %losses, %lse = dtrain.cross_entropy %logits, %labels
        : (tensor<4x6x12xf32>, tensor<4x6xi64>) -> (tensor<4x6xf32>, tensor<4x6xf32>) loc("loss")
    %sum = dtrain.reduce<sum> %losses rule("b s -> ()") : (tensor<4x6xf32>) -> tensor<f32>
    %loss = dtrain.elementwise<scale> %sum constant 0.041666666666666664 : (tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
