// RUN: dtrain-opt --dtrain-fuse --split-input-file --verify-diagnostics %s | FileCheck %s

// What is not provably attention stays, and a remark says why.

// CHECK-LABEL: func.func @banded
// CHECK-NOT: dtrain.attention
func.func @banded(%q: tensor<2x4x6x2xf32>, %k: tensor<2x4x6x2xf32>, %v: tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32> {
  %scores = dtrain.dot %q, %k rule("b h s d, b h t d -> b h s t") : (tensor<2x4x6x2xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x6xf32>
  %queries = dtrain.iota dim 0 : () -> tensor<6x1xi64>
  %later = dtrain.elementwise<offset> %queries constant 1.0 : (tensor<6x1xi64>) -> tensor<6x1xi64>
  %keys = dtrain.iota dim 1 : () -> tensor<1x6xi64>
  %mask = dtrain.elementwise<less_equal> %keys, %later : (tensor<1x6xi64>, tensor<6x1xi64>) -> tensor<6x6xi1>
  %hidden = dtrain.constant -1.0e+30 : () -> tensor<f32>
  %masked = dtrain.elementwise<where> %mask, %scores, %hidden : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  // expected-remark@+1 {{not fused to an attention: its mask is not causal}}
  %p = dtrain.softmax %masked : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %c = dtrain.dot %p, %v rule("b h s t, b h t d -> b h s d") : (tensor<2x4x6x6xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32>
  return %c : tensor<2x4x6x2xf32>
}

// -----

// CHECK-LABEL: func.func @transposed_mask
// CHECK-NOT: dtrain.attention
func.func @transposed_mask(%q: tensor<2x4x6x2xf32>, %k: tensor<2x4x6x2xf32>, %v: tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32> {
  %scores = dtrain.dot %q, %k rule("b h s d, b h t d -> b h s t") : (tensor<2x4x6x2xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x6xf32>
  %queries = dtrain.iota dim 0 : () -> tensor<6x1xi64>
  %keys = dtrain.iota dim 1 : () -> tensor<1x6xi64>
  %mask = dtrain.elementwise<less_equal> %queries, %keys : (tensor<6x1xi64>, tensor<1x6xi64>) -> tensor<6x6xi1>
  %hidden = dtrain.constant -1.0e+30 : () -> tensor<f32>
  %masked = dtrain.elementwise<where> %mask, %scores, %hidden : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  // expected-remark@+1 {{not fused to an attention: its mask is not causal}}
  %p = dtrain.softmax %masked : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %c = dtrain.dot %p, %v rule("b h s t, b h t d -> b h s d") : (tensor<2x4x6x6xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32>
  return %c : tensor<2x4x6x2xf32>
}

// -----

// A padding mask: an input.
// CHECK-LABEL: func.func @padding
// CHECK-NOT: dtrain.attention
func.func @padding(%q: tensor<2x4x6x2xf32>, %k: tensor<2x4x6x2xf32>, %v: tensor<2x4x6x2xf32>, %mask: tensor<2x1x1x6xi1>) -> tensor<2x4x6x2xf32> {
  %scores = dtrain.dot %q, %k rule("b h s d, b h t d -> b h s t") : (tensor<2x4x6x2xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x6xf32>
  %hidden = dtrain.constant -1.0e+30 : () -> tensor<f32>
  %masked = dtrain.elementwise<where> %mask, %scores, %hidden : (tensor<2x1x1x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  // expected-remark@+1 {{not fused to an attention: its mask is not known to be causal}}
  %p = dtrain.softmax %masked : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %c = dtrain.dot %p, %v rule("b h s t, b h t d -> b h s d") : (tensor<2x4x6x6xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32>
  return %c : tensor<2x4x6x2xf32>
}

// -----

// A mask that only dims.
// CHECK-LABEL: func.func @soft
// CHECK-NOT: dtrain.attention
func.func @soft(%q: tensor<2x4x6x2xf32>, %k: tensor<2x4x6x2xf32>, %v: tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32> {
  %scores = dtrain.dot %q, %k rule("b h s d, b h t d -> b h s t") : (tensor<2x4x6x2xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x6xf32>
  %queries = dtrain.iota dim 0 : () -> tensor<6x1xi64>
  %keys = dtrain.iota dim 1 : () -> tensor<1x6xi64>
  %mask = dtrain.elementwise<less_equal> %keys, %queries : (tensor<1x6xi64>, tensor<6x1xi64>) -> tensor<6x6xi1>
  %hidden = dtrain.constant -4.0 : () -> tensor<f32>
  %masked = dtrain.elementwise<where> %mask, %scores, %hidden : (tensor<6x6xi1>, tensor<2x4x6x6xf32>, tensor<f32>) -> tensor<2x4x6x6xf32>
  // expected-remark@+1 {{not fused to an attention: its mask does not hide scores}}
  %p = dtrain.softmax %masked : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %c = dtrain.dot %p, %v rule("b h s t, b h t d -> b h s d") : (tensor<2x4x6x6xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32>
  return %c : tensor<2x4x6x2xf32>
}

// -----

// The weights are a result too.
// CHECK-LABEL: func.func @weights
// CHECK-NOT: dtrain.attention
func.func @weights(%q: tensor<2x4x6x2xf32>, %k: tensor<2x4x6x2xf32>, %v: tensor<2x4x6x2xf32>) -> (tensor<2x4x6x2xf32>, tensor<2x4x6x6xf32>) {
  %scores = dtrain.dot %q, %k rule("b h s d, b h t d -> b h s t") : (tensor<2x4x6x2xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x6xf32>
  %p = dtrain.softmax %scores : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %c = dtrain.dot %p, %v rule("b h s t, b h t d -> b h s d") : (tensor<2x4x6x6xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32>
  return %c, %p : tensor<2x4x6x2xf32>, tensor<2x4x6x6xf32>
}

// -----

// The contraction with values is over the queries.
// CHECK-LABEL: func.func @over_queries
// CHECK-NOT: dtrain.attention
func.func @over_queries(%q: tensor<2x4x6x2xf32>, %k: tensor<2x4x6x2xf32>, %v: tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32> {
  %scores = dtrain.dot %q, %k rule("b h s d, b h t d -> b h s t") : (tensor<2x4x6x2xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x6xf32>
  // expected-remark@+1 {{not fused to an attention: its keys and values have different factors}}
  %p = dtrain.softmax %scores : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %c = dtrain.dot %p, %v rule("b h s t, b h s d -> b h t d") : (tensor<2x4x6x6xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32>
  return %c : tensor<2x4x6x2xf32>
}

// -----

// Keys per head, values shared by all.
// CHECK-LABEL: func.func @shared_values
// CHECK-NOT: dtrain.attention
func.func @shared_values(%q: tensor<2x4x6x2xf32>, %k: tensor<2x4x6x2xf32>, %v: tensor<2x6x2xf32>) -> tensor<2x4x6x2xf32> {
  %scores = dtrain.dot %q, %k rule("b h s d, b h t d -> b h s t") : (tensor<2x4x6x2xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x6xf32>
  // expected-remark@+1 {{not fused to an attention: its keys and values have different factors}}
  %p = dtrain.softmax %scores : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %c = dtrain.dot %p, %v rule("b h s t, b t d -> b h s d") : (tensor<2x4x6x6xf32>, tensor<2x6x2xf32>) -> tensor<2x4x6x2xf32>
  return %c : tensor<2x4x6x2xf32>
}
