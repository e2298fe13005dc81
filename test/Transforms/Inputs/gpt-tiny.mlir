// A GPT of four layers in import-phase form: batch 4, sequence 6, vocabulary
// 12, hidden 8, 4 heads, feed-forward 16; learned positions, fused query, key
// and value, biases, the head tied to the token embedding.
module attributes {dtrain.phase = #dtrain.phase<import>} {
  func.func private @layer(
      %x: tensor<4x6x8xf32>, %ln1_w: tensor<8xf32>, %ln1_b: tensor<8xf32>,
      %qkv_w: tensor<8x24xf32>, %qkv_b: tensor<24xf32>,
      %proj_w: tensor<8x8xf32>, %proj_b: tensor<8xf32>,
      %ln2_w: tensor<8xf32>, %ln2_b: tensor<8xf32>,
      %fc_w: tensor<8x16xf32>, %fc_b: tensor<16xf32>,
      %out_w: tensor<16x8xf32>, %out_b: tensor<8xf32>) -> tensor<4x6x8xf32> {
    %n1 = dtrain.normalize<layer> %x, %ln1_w, %ln1_b epsilon 1.0e-5
        : (tensor<4x6x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32> loc("h/ln_1")
    %qkv = dtrain.dot %n1, %qkv_w, %qkv_b rule("b s k, k n, n -> b s n")
        : (tensor<4x6x8xf32>, tensor<8x24xf32>, tensor<24xf32>) -> tensor<4x6x24xf32> loc("h/attn/c_attn")
    %parts = dtrain.move %qkv rule("b s (c h) -> c b s h") : (tensor<4x6x24xf32>) -> tensor<3x4x6x8xf32>
    %q0 = dtrain.slice %parts dim 0 offset 0 : (tensor<3x4x6x8xf32>) -> tensor<1x4x6x8xf32>
    %k0 = dtrain.slice %parts dim 0 offset 1 : (tensor<3x4x6x8xf32>) -> tensor<1x4x6x8xf32>
    %v0 = dtrain.slice %parts dim 0 offset 2 : (tensor<3x4x6x8xf32>) -> tensor<1x4x6x8xf32>
    %q = dtrain.move %q0 rule("1 b s (g r d) -> b g r s d") : (tensor<1x4x6x8xf32>) -> tensor<4x4x1x6x2xf32>
    %k = dtrain.move %k0 rule("1 b t (g d) -> b g t d") : (tensor<1x4x6x8xf32>) -> tensor<4x4x6x2xf32>
    %v = dtrain.move %v0 rule("1 b t (g e) -> b g t e") : (tensor<1x4x6x8xf32>) -> tensor<4x4x6x2xf32>
    %o, %lse = dtrain.attention %q, %k, %v causal scale 0.70710678118654757
        : (tensor<4x4x1x6x2xf32>, tensor<4x4x6x2xf32>, tensor<4x4x6x2xf32>)
        -> (tensor<4x4x1x6x2xf32>, tensor<4x4x1x6xf32>) loc("h/attn/core")
    %context = dtrain.move %o rule("b g r s e -> b s (g r e)") : (tensor<4x4x1x6x2xf32>) -> tensor<4x6x8xf32>
    %proj = dtrain.dot %context, %proj_w, %proj_b rule("b s k, k n, n -> b s n")
        : (tensor<4x6x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32> loc("h/attn/c_proj")
    %x1 = dtrain.elementwise<add> %x, %proj : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
    %n2 = dtrain.normalize<layer> %x1, %ln2_w, %ln2_b epsilon 1.0e-5
        : (tensor<4x6x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32> loc("h/ln_2")
    %fc = dtrain.dot %n2, %fc_w, %fc_b rule("b s k, k n, n -> b s n")
        : (tensor<4x6x8xf32>, tensor<8x16xf32>, tensor<16xf32>) -> tensor<4x6x16xf32> loc("h/mlp/c_fc")
    %act = dtrain.elementwise<gelu_tanh> %fc : (tensor<4x6x16xf32>) -> tensor<4x6x16xf32> loc("h/mlp/act")
    %out = dtrain.dot %act, %out_w, %out_b rule("b s k, k n, n -> b s n")
        : (tensor<4x6x16xf32>, tensor<16x8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32> loc("h/mlp/c_proj")
    %x2 = dtrain.elementwise<add> %x1, %out : (tensor<4x6x8xf32>, tensor<4x6x8xf32>) -> tensor<4x6x8xf32>
    return %x2 : tensor<4x6x8xf32>
  }

  func.func @main(
      %wte: tensor<12x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "wte"},
      %wpe: tensor<10x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "wpe"},
      %ln1_w: tensor<4x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "h.ln_1.weight"},
      %ln1_b: tensor<4x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "h.ln_1.bias"},
      %qkv_w: tensor<4x8x24xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "h.attn.c_attn.weight"},
      %qkv_b: tensor<4x24xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "h.attn.c_attn.bias"},
      %proj_w: tensor<4x8x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "h.attn.c_proj.weight"},
      %proj_b: tensor<4x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "h.attn.c_proj.bias"},
      %ln2_w: tensor<4x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "h.ln_2.weight"},
      %ln2_b: tensor<4x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "h.ln_2.bias"},
      %fc_w: tensor<4x8x16xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "h.mlp.c_fc.weight"},
      %fc_b: tensor<4x16xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "h.mlp.c_fc.bias"},
      %out_w: tensor<4x16x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "h.mlp.c_proj.weight"},
      %out_b: tensor<4x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "h.mlp.c_proj.bias"},
      %lnf_w: tensor<8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "ln_f.weight"},
      %lnf_b: tensor<8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "ln_f.bias"},
      %ids: tensor<4x6xi64> {dtrain.role = #dtrain.role<input>, dtrain.name = "input_ids"},
      %labels: tensor<4x6xi64> {dtrain.role = #dtrain.role<label>, dtrain.name = "labels"})
      -> tensor<f32> {
    %tokens = dtrain.gather %ids, %wte : (tensor<4x6xi64>, tensor<12x8xf32>) -> tensor<4x6x8xf32> loc("wte")
    %positions = dtrain.iota dim 0 : () -> tensor<6xi64>
    %places = dtrain.gather %positions, %wpe : (tensor<6xi64>, tensor<10x8xf32>) -> tensor<6x8xf32> loc("wpe")
    %x = dtrain.elementwise<add> %tokens, %places : (tensor<4x6x8xf32>, tensor<6x8xf32>) -> tensor<4x6x8xf32>
    %y = dtrain.repeat @layer 0 to 4 carry(%x)
        stacked(%ln1_w, %ln1_b, %qkv_w, %qkv_b, %proj_w, %proj_b, %ln2_w, %ln2_b, %fc_w, %fc_b, %out_w, %out_b)
        : (tensor<4x6x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8x24xf32>, tensor<4x24xf32>,
           tensor<4x8x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8x16xf32>,
           tensor<4x16xf32>, tensor<4x16x8xf32>, tensor<4x8xf32>) -> tensor<4x6x8xf32>
    %n = dtrain.normalize<layer> %y, %lnf_w, %lnf_b epsilon 1.0e-5
        : (tensor<4x6x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x6x8xf32> loc("ln_f")
    %logits = dtrain.dot %n, %wte rule("b s k, v k -> b s v")
        : (tensor<4x6x8xf32>, tensor<12x8xf32>) -> tensor<4x6x12xf32> loc("lm_head")
    %losses, %lse = dtrain.cross_entropy %logits, %labels
        : (tensor<4x6x12xf32>, tensor<4x6xi64>) -> (tensor<4x6xf32>, tensor<4x6xf32>) loc("loss")
    %sum = dtrain.reduce<sum> %losses rule("b s -> ()") : (tensor<4x6xf32>) -> tensor<f32>
    %loss = dtrain.elementwise<scale> %sum constant 0.041666666666666664 : (tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
