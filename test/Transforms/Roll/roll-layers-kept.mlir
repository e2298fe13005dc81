// RUN: dtrain-opt --dtrain-roll-layers --split-input-file --verify-diagnostics %s | FileCheck %s

// What is no repeated layer stays. (Rolling emits a remark, which would be
// unexpected here.)

// One layer.
// CHECK-LABEL: func.func @one
// CHECK-NOT: dtrain.repeat
func.func @one(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = dtrain.dot %x, %w rule("b k, k n -> b n") : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = dtrain.elementwise<relu> %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func.func @nothing
// CHECK-NEXT: return
func.func @nothing() {
  return
}

// -----

// Layers of different widths.
// CHECK-LABEL: func.func @shapes
// CHECK-NOT: dtrain.repeat
func.func @shapes(%x: tensor<4x8xf32>, %w0: tensor<8x6xf32>, %w1: tensor<6x5xf32>) -> tensor<4x5xf32> {
  %0 = dtrain.dot %x, %w0 rule("b k, k n -> b n") : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  %1 = dtrain.dot %0, %w1 rule("b k, k n -> b n") : (tensor<4x6xf32>, tensor<6x5xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// -----

// Layers of different constants.
// CHECK-LABEL: func.func @attributes
// CHECK-NOT: dtrain.repeat
func.func @attributes(%x: tensor<4x8xf32>, %w0: tensor<8xf32>, %w1: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = dtrain.normalize<rms> %x, %w0 epsilon 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = dtrain.normalize<rms> %0, %w1 epsilon 1.0e-6 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// The same function twice, without weights: no layer.
// CHECK-LABEL: func.func @chain
// CHECK-NOT: dtrain.repeat
func.func @chain(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = dtrain.elementwise<tanh> %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = dtrain.elementwise<tanh> %0 : (tensor<8xf32>) -> tensor<8xf32>
  %2 = dtrain.elementwise<tanh> %1 : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// What the first computes inside is a result.
// CHECK-LABEL: func.func @escapes
// CHECK-NOT: dtrain.repeat
func.func @escapes(%x: tensor<4x8xf32>, %w0: tensor<8x8xf32>, %w1: tensor<8x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = dtrain.dot %x, %w0 rule("b k, k n -> b n") : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = dtrain.elementwise<tanh> %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = dtrain.dot %1, %w1 rule("b k, k n -> b n") : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = dtrain.elementwise<tanh> %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3, %0 : tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// Weights of different roles cannot be one argument, but can be one stack.
// CHECK-LABEL: func.func @main(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x8xf32> {{.*}}, %{{.*}}: tensor<8x8xf32> {
// CHECK: dtrain.concat
// CHECK: dtrain.repeat @layer 0 to 2
func.func @main(%x: tensor<4x8xf32>, %w0: tensor<8x8xf32> {dtrain.role = #dtrain.role<parameter>}, %w1: tensor<8x8xf32> {dtrain.role = #dtrain.role<input>}) -> tensor<4x8xf32> {
  // expected-remark@+1 {{rolled 2 layers of 1 ops into @layer}}
  %0 = dtrain.dot %x, %w0 rule("b k, k n -> b n") : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = dtrain.dot %0, %w1 rule("b k, k n -> b n") : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
