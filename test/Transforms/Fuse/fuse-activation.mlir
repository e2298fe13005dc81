// RUN: dtrain-opt --dtrain-fuse --split-input-file %s | FileCheck %s

// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))), as GPT-2 is exported.

// CHECK-LABEL: func.func @gelu_tanh
// CHECK-NEXT: %[[Y:.*]] = dtrain.elementwise{{ ?}}<gelu_tanh> %arg0
// CHECK-NEXT: return %[[Y]]
func.func @gelu_tanh(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %half = dtrain.elementwise<scale> %x constant 0.5 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %cube = dtrain.elementwise<power> %x constant 3.0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %cubic = dtrain.elementwise<scale> %cube constant 0.044715 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %sum = dtrain.elementwise<add> %x, %cubic : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %inner = dtrain.elementwise<scale> %sum constant 0.79788456080286541 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %tanh = dtrain.elementwise<tanh> %inner : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %gate = dtrain.elementwise<offset> %tanh constant 1.0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = dtrain.elementwise<mul> %half, %gate : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// The same with products for powers, x in front of the sum, constants as
// tensors; x itself is a product.

// CHECK-LABEL: func.func @gelu_products
// CHECK-NEXT: %[[X:.*]] = dtrain.elementwise{{ ?}}<mul> %arg0, %arg1
// CHECK-NEXT: %[[Y:.*]] = dtrain.elementwise{{ ?}}<gelu_tanh> %[[X]]
// CHECK-NEXT: return %[[Y]]
func.func @gelu_products(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %x = dtrain.elementwise<mul> %a, %b : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = dtrain.constant 0.044715 : () -> tensor<1xf32>
  %cx = dtrain.elementwise<mul> %x, %c : (tensor<2x4xf32>, tensor<1xf32>) -> tensor<2x4xf32>
  %cxx = dtrain.elementwise<mul> %cx, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %sum = dtrain.elementwise<offset> %cxx constant 1.0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %s = dtrain.constant 0.79788456080286541 : () -> tensor<f32>
  %sx = dtrain.elementwise<mul> %s, %x : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %inner = dtrain.elementwise<mul> %sx, %sum : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %tanh = dtrain.elementwise<tanh> %inner : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %gate = dtrain.elementwise<offset> %tanh constant 1.0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = dtrain.elementwise<mul> %gate, %x : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = dtrain.elementwise<scale> %0 constant 0.5 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// x * (1 + erf(x / sqrt(2))) / 2.

// CHECK-LABEL: func.func @gelu_erf
// CHECK-NEXT: %[[Y:.*]] = dtrain.elementwise{{ ?}}<gelu> %arg0
// CHECK-NEXT: return %[[Y]]
func.func @gelu_erf(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %root = dtrain.constant 1.4142135623730951 : () -> tensor<f32>
  %0 = dtrain.elementwise<div> %x, %root : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %1 = dtrain.elementwise<erf> %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = dtrain.elementwise<offset> %1 constant 1.0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = dtrain.elementwise<mul> %x, %2 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = dtrain.elementwise<scale> %3 constant 0.5 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %4 : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @swiglu
// CHECK-NEXT: %[[Y:.*]] = dtrain.elementwise{{ ?}}<swiglu> %arg0, %arg1
// CHECK-NEXT: %[[Z:.*]] = dtrain.elementwise{{ ?}}<silu> %arg1
// CHECK-NEXT: return %[[Y]], %[[Z]]
func.func @swiglu(%g: tensor<2x4xf32>, %u: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %0 = dtrain.elementwise<sigmoid> %g : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = dtrain.elementwise<mul> %0, %g : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = dtrain.elementwise<mul> %u, %1 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = dtrain.elementwise<sigmoid> %u : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %4 = dtrain.elementwise<mul> %u, %3 : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %2, %4 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// Other functions stay: a GELU with another cubic term, one of two tensors, x
// times the sigmoid of 1.702 x, a gate of another shape, a gate used twice.

// CHECK-LABEL: func.func @kept
// CHECK-NOT: gelu
// CHECK-NOT: swiglu
// CHECK: dtrain.elementwise{{ ?}}<silu>
// CHECK-NOT: swiglu
// CHECK-NOT: gelu
// CHECK: return
func.func @kept(%x: tensor<2x4xf32>, %z: tensor<2x4xf32>, %row: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %cube = dtrain.elementwise<power> %x constant 3.0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %cubic = dtrain.elementwise<scale> %cube constant 0.05 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %sum = dtrain.elementwise<add> %x, %cubic : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %inner = dtrain.elementwise<scale> %sum constant 0.79788456080286541 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %tanh = dtrain.elementwise<tanh> %inner : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %gate = dtrain.elementwise<offset> %tanh constant 1.0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %0 = dtrain.elementwise<mul> %x, %gate : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = dtrain.elementwise<scale> %0 constant 0.5 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %a = dtrain.elementwise<scale> %x constant 0.70710678118654757 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %b = dtrain.elementwise<erf> %a : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %c = dtrain.elementwise<offset> %b constant 1.0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %d = dtrain.elementwise<mul> %z, %c : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %2 = dtrain.elementwise<scale> %d constant 0.5 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %e = dtrain.elementwise<scale> %x constant 1.702 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %f = dtrain.elementwise<sigmoid> %e : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = dtrain.elementwise<mul> %x, %f : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %g = dtrain.elementwise<sigmoid> %row : (tensor<4xf32>) -> tensor<4xf32>
  %h = dtrain.elementwise<mul> %row, %g : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = dtrain.elementwise<mul> %x, %h : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %i = dtrain.elementwise<mul> %z, %h : (tensor<2x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  return %1, %2, %3, %4, %i : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}
