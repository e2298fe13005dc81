// RUN: dtrain-opt --dtrain-fuse=attention=false --verify-diagnostics %s | FileCheck %s

// CHECK-LABEL: func.func @off
// CHECK: dtrain.softmax
// CHECK-NOT: dtrain.attention
func.func @off(%q: tensor<2x4x6x2xf32>, %k: tensor<2x4x6x2xf32>, %v: tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32> {
  %scores = dtrain.dot %q, %k rule("b h s d, b h t d -> b h s t") : (tensor<2x4x6x2xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x6xf32>
  %p = dtrain.softmax %scores : (tensor<2x4x6x6xf32>) -> tensor<2x4x6x6xf32>
  %c = dtrain.dot %p, %v rule("b h s t, b h t d -> b h s d") : (tensor<2x4x6x6xf32>, tensor<2x4x6x2xf32>) -> tensor<2x4x6x2xf32>
  return %c : tensor<2x4x6x2xf32>
}
