// RUN: dtrain-opt %s --dtrain-check-rules="trials=5" -split-input-file -verify-diagnostics -o /dev/null

// expected-remark @+1 {{rules: 2 ops agree with their rules in 5 random states each}}
module {
  func.func @f(%x: tensor<4x6xf32>, %w: tensor<6x3xf32>) -> tensor<4x3xf32> {
    %y = dtrain.dot %x, %w rule("b k, k n -> b n") : (tensor<4x6xf32>, tensor<6x3xf32>) -> tensor<4x3xf32>
    %z = dtrain.softmax %y : (tensor<4x3xf32>) -> tensor<4x3xf32>
    return %z : tensor<4x3xf32>
  }
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{does not do what its rule says: 'dtrain.custom' has no kernel}}
  %y = dtrain.custom "mine"(%x) rule("a -> a | flops 1 a") : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}
