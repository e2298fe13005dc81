// RUN: dtrain-opt --dtrain-fuse --split-input-file %s | FileCheck %s

// GPT-2 as exported: one projection cut in three, keys transposed, scores
// scaled and masked by a choice.

// CHECK-LABEL: func.func @gpt
// CHECK-SAME: %[[X:.*]]: tensor<2x6x8xf32>, %[[W:.*]]: tensor<8x24xf32>
// CHECK: %[[QKV:.*]] = dtrain.dot %[[X]], %[[W]]
// CHECK: %[[VIEW:.*]] = dtrain.move %[[QKV]] rule("a b (c d) -> a b c d") {{.*}} -> tensor<2x6x3x8xf32>
// CHECK-DAG: %[[QS:.*]] = dtrain.slice %[[VIEW]] dim 2 offset 0 {{.*}} -> tensor<2x6x1x8xf32>
// CHECK-DAG: %[[KS:.*]] = dtrain.slice %[[VIEW]] dim 2 offset 1 {{.*}} -> tensor<2x6x1x8xf32>
// CHECK-DAG: %[[VS:.*]] = dtrain.slice %[[VIEW]] dim 2 offset 2 {{.*}} -> tensor<2x6x1x8xf32>
// CHECK-DAG: %[[Q:.*]] = dtrain.move %[[QS]] rule("a b 1 (c d) -> a c 1 b d") {{.*}} -> tensor<2x4x1x6x2xf32>
// CHECK-DAG: %[[K:.*]] = dtrain.move %[[KS]] rule("a b 1 (c d) -> a c b d") {{.*}} -> tensor<2x4x6x2xf32>
// CHECK-DAG: %[[V:.*]] = dtrain.move %[[VS]] rule("a b 1 (c d) -> a c b d") {{.*}} -> tensor<2x4x6x2xf32>
// CHECK: %[[O:.*]], %{{.*}} = dtrain.attention %[[Q]], %[[K]], %[[V]] causal scale 5.000000e-01
// CHECK-NEXT: %[[R:.*]] = dtrain.move %[[O]] rule("a b 1 c d -> a c (b d)")
// CHECK-NEXT: return %[[R]]
func.func @gpt(%x: tensor<2x6x8xf32>, %w: tensor<8x24xf32>) -> tensor<2x6x8xf32> {
  %qkv = dtrain.dot %x, %w rule("b s k, k n -> b s n") : (tensor<2x6x8xf32>, tensor<8x24xf32>) -> tensor<2x6x24xf32>
  %q0 = dtrain.slice %qkv dim 2 offset 0 : (tensor<2x6x24xf32>) -> tensor<2x6x8xf32>
  %k0 = dtrain.slice %qkv dim 2 offset 8 : (tensor<2x6x24xf32>) -> tensor<2x6x8xf32>
  %v0 = dtrain.slice %qkv dim 2 offset 16 : (tensor<2x6x24xf32>) -> tensor<2x6x8xf32>
  %q1 = dtrain.move %q0 rule("b s (h d) -> b s h d") : (tensor<2x6x8xf32>) -> tensor<2x6x4x2xf32>
  %q = dtrain.move %q1 rule("b s h d -> b h s d") : (tensor<2x6x4x2xf32>) -> tensor<2x4x6x2xf32>
  %k1 = dtrain.move %k0 rule("b s (h d) -> b s h d") : (tensor<2x6x8xf32>) -> tensor<2x6x4x2xf32>
  %k = dtrain.move %k1 rule("b s h d -> b h d s") : (tensor<2x6x4x2xf32>) -> tensor<2x4x2x6xf32>
  %v1 = dtrain.move %v0 rule("b s (h d) -> b s h d") : (tensor<2x6x8xf32>) -> tensor<2x6x4x2xf32>
  %v = dtrain.move %v1 rule("b s h d -> b h s d") : (tensor<2x6x4x2xf32>) -> tensor<2x4x6x2xf32>
  %scores = dtrain.dot %q, %k rule("b h m k, b h k n -> b h m n") : (tensor<2x4x6x2xf32>, tensor<2x4x2x6xf32>) -> tensor<2x4x6x6xf32>
  %scaled = dtrain.elementwise<scale> %scores constant 0.5 : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %i = dtrain.iota dim 0 : () -> tensor<6xi64>
  %keys = dtrain.move %i rule("s -> 1 s") : (tensor<6xi64>) -> tensor<1x6xi64>
  %queries = dtrain.move %i rule("s -> s 1") : (tensor<6xi64>) -> tensor<6x1xi64>
  %mask = dtrain.elementwise<less_equal> %keys, %queries : (tensor<1x6xi64>, tensor<6x1xi64>) -> tensor<6x6xi1>
  %hidden = dtrain.constant -3.4028234663852886e+38 : () -> tensor<f32>
  %masked = dtrain.elementwise<where> %mask, %scaled, %hidden : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  %p = dtrain.softmax %masked : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %c = dtrain.dot %p, %v rule("b h m k, b h k n -> b h m n") : (tensor<2x4x6x6xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32>
  %c1 = dtrain.move %c rule("b h s d -> b s h d") : (tensor<2x4x6x2xf32>) -> tensor<2x6x4x2xf32>
  %c2 = dtrain.move %c1 rule("b s h d -> b s (h d)") : (tensor<2x6x4x2xf32>) -> tensor<2x6x8xf32>
  return %c2 : tensor<2x6x8xf32>
}

// -----

// Grouped queries: keys and values are repeated for the heads that share them.
// Half of the scale is on the queries, half on the keys; the mask is added.

// CHECK-LABEL: func.func @gqa
// CHECK-SAME: %[[Q0:.*]]: tensor<2x6x16xf32>, %[[K0:.*]]: tensor<2x6x4xf32>, %[[V0:.*]]: tensor<2x6x4xf32>
// CHECK-DAG: %[[Q:.*]] = dtrain.move %[[Q0]] rule("a b (c d e) -> a c d b e") {{.*}} -> tensor<2x2x4x6x2xf32>
// CHECK-DAG: %[[K:.*]] = dtrain.move %[[K0]] rule("a b (c d) -> a c b d") {{.*}} -> tensor<2x2x6x2xf32>
// CHECK-DAG: %[[V:.*]] = dtrain.move %[[V0]] rule("a b (c d) -> a c b d") {{.*}} -> tensor<2x2x6x2xf32>
// CHECK: %[[O:.*]], %{{.*}} = dtrain.attention %[[Q]], %[[K]], %[[V]] causal scale 2.500000e-01
// CHECK-NEXT: %[[R:.*]] = dtrain.move %[[O]] rule("a b c d e -> a d (b c e)")
// CHECK-NEXT: return %[[R]]
func.func @gqa(%q0: tensor<2x6x16xf32>, %k0: tensor<2x6x4xf32>, %v0: tensor<2x6x4xf32>) -> tensor<2x6x16xf32> {
  %q1 = dtrain.move %q0 rule("b s (h d) -> b h s d") : (tensor<2x6x16xf32>) -> tensor<2x8x6x2xf32>
  %q = dtrain.elementwise<scale> %q1 constant 0.5 : (tensor<2x8x6x2xf32>) -> tensor<2x8x6x2xf32>
  %k1 = dtrain.move %k0 rule("b s (g d) -> b g s d") : (tensor<2x6x4xf32>) -> tensor<2x2x6x2xf32>
  %k2 = dtrain.elementwise<scale> %k1 constant 0.5 : (tensor<2x2x6x2xf32>) -> tensor<2x2x6x2xf32>
  %k3 = dtrain.move %k2 rule("b g s d -> b g r s d") : (tensor<2x2x6x2xf32>) -> tensor<2x2x4x6x2xf32>
  %k = dtrain.move %k3 rule("b g r s d -> b (g r) s d") : (tensor<2x2x4x6x2xf32>) -> tensor<2x8x6x2xf32>
  %v1 = dtrain.move %v0 rule("b s (g d) -> b g s d") : (tensor<2x6x4xf32>) -> tensor<2x2x6x2xf32>
  %v2 = dtrain.move %v1 rule("b g s d -> b g r s d") : (tensor<2x2x6x2xf32>) -> tensor<2x2x4x6x2xf32>
  %v = dtrain.move %v2 rule("b g r s d -> b (g r) s d") : (tensor<2x2x4x6x2xf32>) -> tensor<2x8x6x2xf32>
  %kt = dtrain.move %k rule("b h s d -> b h d s") : (tensor<2x8x6x2xf32>) -> tensor<2x8x2x6xf32>
  %scores = dtrain.dot %q, %kt rule("b h m k, b h k n -> b h m n") : (tensor<2x8x6x2xf32>, tensor<2x8x2x6xf32>) -> tensor<2x8x6x6xf32>
  // min(1, keys > queries) * -1e9, over [1, 1, s, t].
  %queries = dtrain.iota dim 2 : () -> tensor<1x1x6x1xi64>
  %keys = dtrain.iota dim 3 : () -> tensor<1x1x1x6xi64>
  %above = dtrain.elementwise<less> %queries, %keys : (tensor<1x1x6x1xi64>, tensor<1x1x1x6xi64>) -> tensor<1x1x6x6xi1>
  %one = dtrain.elementwise<cast> %above : (tensor<1x1x6x6xi1>) -> tensor<1x1x6x6xf32>
  %mask = dtrain.elementwise<scale> %one constant -1.0e+9 : (tensor<1x1x6x6xf32>) -> tensor<1x1x6x6xf32>
  %masked = dtrain.elementwise<add> %mask, %scores : (tensor<1x1x6x6xf32>, tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
  %p = dtrain.softmax %masked : (tensor<2x8x6x6xf32>) -> tensor<2x8x6x6xf32>
  %c = dtrain.dot %p, %v rule("b h m k, b h k n -> b h m n") : (tensor<2x8x6x6xf32>, tensor<2x8x6x2xf32>) -> tensor<2x8x6x2xf32>
  %r = dtrain.move %c rule("b h s d -> b s (h d)") : (tensor<2x8x6x2xf32>) -> tensor<2x6x16xf32>
  return %r : tensor<2x6x16xf32>
}

// -----

// Batch and heads merged (bmm), no mask, values of another width, values first.

// CHECK-LABEL: func.func @bmm
// CHECK-SAME: %[[Q0:.*]]: tensor<6x2x8xf32>
// CHECK: dtrain.move %[[Q0]] rule("a b (c d) -> b c 1 a d")
// CHECK: dtrain.attention {{.*}} scale 1.000000e+00 : (tensor<2x4x1x6x2xf32>, tensor<2x4x5x2xf32>, tensor<2x4x5x3xf32>)
// CHECK-NOT: dtrain.softmax
func.func @bmm(%q0: tensor<6x2x8xf32>, %k0: tensor<5x2x8xf32>, %v0: tensor<5x2x12xf32>) -> tensor<8x3x6xf32> {
  %q = dtrain.move %q0 rule("s b (h d) -> (b h) s d") : (tensor<6x2x8xf32>) -> tensor<8x6x2xf32>
  %k = dtrain.move %k0 rule("s b (h d) -> (b h) s d") : (tensor<5x2x8xf32>) -> tensor<8x5x2xf32>
  %v = dtrain.move %v0 rule("s b (h d) -> (b h) s d") : (tensor<5x2x12xf32>) -> tensor<8x5x3xf32>
  %scores = dtrain.dot %k, %q rule("b t d, b s d -> b s t") : (tensor<8x5x2xf32>, tensor<8x6x2xf32>) -> tensor<8x6x5xf32>
  %p = dtrain.softmax %scores : (tensor<8x6x5xf32>) -> tensor<8x6x5xf32>
  %c = dtrain.dot %v, %p rule("b t e, b s t -> b e s") : (tensor<8x5x3xf32>, tensor<8x6x5xf32>) -> tensor<8x3x6xf32>
  return %c : tensor<8x3x6xf32>
}

// -----

// Half precision with a softmax in single: the statistics stay in single.

// CHECK-LABEL: func.func @casts
// CHECK: dtrain.attention {{.*}} -> (tensor<2x4x1x6x2xbf16>, tensor<2x4x1x6xf32>)
// CHECK-NOT: dtrain.softmax
func.func @casts(%q: tensor<2x4x6x2xbf16>, %k: tensor<2x4x6x2xbf16>, %v: tensor<2x4x6x2xbf16>) -> tensor<2x4x6x2xbf16> {
  %scores = dtrain.dot %q, %k rule("b h s d, b h t d -> b h s t") : (tensor<2x4x6x2xbf16>, tensor<2x4x6x2xbf16>) -> tensor<2x4x6x6xbf16>
  %wide = dtrain.elementwise<cast> %scores : (tensor<2x4x6x6xbf16>) -> tensor<2x4x6x6xf32>
  %p = dtrain.softmax %wide : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %narrow = dtrain.elementwise<cast> %p : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xbf16>
  %c = dtrain.dot %narrow, %v rule("b h s t, b h t d -> b h s d") : (tensor<2x4x6x6xbf16>, tensor<2x4x6x2xbf16>) -> tensor<2x4x6x2xbf16>
  return %c : tensor<2x4x6x2xbf16>
}

// -----

// A batch of one: its dimension is the first all the same.

// CHECK-LABEL: func.func @b1
// CHECK: dtrain.attention {{.*}} : (tensor<1x4x1x6x2xf32>, tensor<1x4x6x2xf32>, tensor<1x4x6x2xf32>)
// CHECK-NOT: dtrain.softmax
func.func @b1(%q: tensor<1x6x8xf32>, %k: tensor<1x6x8xf32>, %v: tensor<1x6x8xf32>) -> tensor<1x4x6x2xf32> {
  %q1 = dtrain.move %q rule("b s (h d) -> b h s d") : (tensor<1x6x8xf32>) -> tensor<1x4x6x2xf32>
  %k1 = dtrain.move %k rule("b s (h d) -> b h s d") : (tensor<1x6x8xf32>) -> tensor<1x4x6x2xf32>
  %v1 = dtrain.move %v rule("b s (h d) -> b h s d") : (tensor<1x6x8xf32>) -> tensor<1x4x6x2xf32>
  %scores = dtrain.dot %q1, %k1 rule("b h s d, b h t d -> b h s t") : (tensor<1x4x6x2xf32>, tensor<1x4x6x2xf32>) -> tensor<1x4x6x6xf32>
  %p = dtrain.softmax %scores : (tensor<1x4x6x6xf32>) -> tensor<1x4x6x6xf32>
  %c = dtrain.dot %p, %v1 rule("b h s t, b h t d -> b h s d") : (tensor<1x4x6x6xf32>, tensor<1x4x6x2xf32>) -> tensor<1x4x6x2xf32>
  return %c : tensor<1x4x6x2xf32>
}

// -----

// Queries, keys and values are one tensor; one head.

// CHECK-LABEL: func.func @one_tensor
// CHECK: dtrain.attention {{.*}} : (tensor<2x1x1x4x4xf32>, tensor<2x1x4x4xf32>, tensor<2x1x4x4xf32>)
// CHECK-NOT: dtrain.softmax
func.func @one_tensor(%x: tensor<2x4x4xf32>) -> tensor<2x4x4xf32> {
  %scores = dtrain.dot %x, %x rule("b s d, b t d -> b s t") : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %p = dtrain.softmax %scores : (tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %c = dtrain.dot %p, %x rule("b s t, b t e -> b s e") : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  return %c : tensor<2x4x4xf32>
}
