// What an extension promises is checked as what dtrain promises is.

// RUN: dtrain-test-opt %s -split-input-file -verify-diagnostics -o /dev/null --dtrain-check-rules
// RUN: not dtrain-test-opt %s -split-input-file --dtrain-seed-tensor-parallel=mesh=tp=2 -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=SEED
// SEED: error: 'testmodel.unexpanded' op has a 'stat' factor in its rule and no expansion

func.func @shapes(%logits: tensor<4x6xf32>, %labels: tensor<3xi64>) -> tensor<4xf32> {
  // expected-error @+1 {{'testmodel.surprise' op rule: factor 'i0': expected size 4, found 3}}
  %loss, %lse = testmodel.surprise %logits, %labels : (tensor<4x6xf32>, tensor<3xi64>) -> (tensor<4xf32>, tensor<4xf32>)
  return %loss : tensor<4xf32>
}

// -----

func.func @nameless(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'testmodel.nameless' op is of class attention and does not say what its factors are}}
  %y = testmodel.nameless %x : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

module {
  func.func @unexpanded(%logits: tensor<4x6xf32>, %labels: tensor<4xi64>) -> tensor<4xf32> {
    // expected-error @+1 {{does not do what its rule says: 'testmodel.unexpanded' has no kernel}}
    %y = testmodel.unexpanded %logits, %labels : (tensor<4x6xf32>, tensor<4xi64>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
