// RUN: dtrain-opt --dtrain-set-precision=precision=bf16 -split-input-file -verify-diagnostics %s | FileCheck %s

// A loss that layers carry along is f32 in the caller and in the body, and so
// is a constant added to it; the other carry computes.
// CHECK-LABEL: func.func private @layer
// CHECK-SAME: %{{.*}}: tensor<2x3xbf16>, %{{.*}}: tensor<2xf32>
// CHECK: dtrain.constant 1.000000e+00 : () -> tensor<2xf32>
// CHECK: dtrain.constant 2.000000e+00 : () -> tensor<2x3xbf16>
func.func private @layer(%x: tensor<2x3xf32>, %l: tensor<2xf32>, %y: tensor<2xi64>) -> (tensor<2x3xf32>, tensor<2xf32>) {
  %loss, %lse = dtrain.cross_entropy %x, %y : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<2xf32>)
  %one = dtrain.constant 1.0 : () -> tensor<2xf32>
  %two = dtrain.constant 2.0 : () -> tensor<2x3xf32>
  %a = dtrain.elementwise<add> %loss, %one : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b = dtrain.elementwise<add> %l, %a : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %x1 = dtrain.elementwise<mul> %x, %two : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %x1, %b : tensor<2x3xf32>, tensor<2xf32>
}
// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<2x3xbf16>, %{{.*}}: tensor<2xf32>
func.func @main(%x: tensor<2x3xf32>, %l: tensor<2xf32>, %y: tensor<2xi64>) -> tensor<2xf32> {
  // CHECK: dtrain.repeat @layer
  // CHECK-SAME: -> (tensor<2x3xbf16>, tensor<2xf32>)
  %r:2 = dtrain.repeat @layer 0 to 3 carry(%x, %l) shared(%y)
      : (tensor<2x3xf32>, tensor<2xf32>, tensor<2xi64>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return %r#1 : tensor<2xf32>
}

// -----

// expected-error @below {{the precision is set before differentiation: expected phase import, found train}}
module attributes {dtrain.phase = #dtrain.phase<train>} {
}
