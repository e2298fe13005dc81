// RUN: dtrain-opt --dtrain-fuse --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @bias
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>, %[[W:[a-z0-9]+]]: tensor<4x5xf32> {{.*}}, %[[B:[a-z0-9]+]]: tensor<5xf32>
// CHECK-NEXT: %[[Y:.*]] = dtrain.dot %[[X]], %[[W]], %[[B]] rule("b m k, k n, n -> b m n")
// CHECK-NEXT: return %[[Y]]
func.func @bias(%x: tensor<2x3x4xf32>, %w: tensor<4x5xf32> {dtrain.role = #dtrain.role<parameter>}, %b: tensor<5xf32> {dtrain.role = #dtrain.role<parameter>}) -> tensor<2x3x5xf32> {
  %0 = dtrain.dot %x, %w rule("b m k, k n -> b m n") : (tensor<2x3x4xf32>, tensor<4x5xf32>) -> tensor<2x3x5xf32>
  %1 = dtrain.elementwise<add> %b, %0 : (tensor<5xf32>, tensor<2x3x5xf32>) -> tensor<2x3x5xf32>
  return %1 : tensor<2x3x5xf32>
}

// -----

// The bias has unit dimensions in front; the weight is transposed.

// CHECK-LABEL: func.func @views
// CHECK-NEXT: dtrain.dot %arg0, %arg1, %arg2 rule("a b, c b, c -> a c")
// CHECK-NEXT: return
func.func @views(%x: tensor<3x4xf32>, %w: tensor<5x4xf32> {dtrain.role = #dtrain.role<parameter>}, %b: tensor<5xf32> {dtrain.role = #dtrain.role<parameter>}) -> tensor<3x5xf32> {
  %t = dtrain.move %w rule("n k -> k n") : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %0 = dtrain.dot %x, %t rule("m k, k n -> m n") : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %row = dtrain.move %b rule("n -> 1 n") : (tensor<5xf32>) -> tensor<1x5xf32>
  %1 = dtrain.elementwise<add> %0, %row : (tensor<3x5xf32>, tensor<1x5xf32>) -> tensor<3x5xf32>
  return %1 : tensor<3x5xf32>
}

// -----

// Not a bias: an activation; a column; the result of a contraction that is used
// twice; a second addend.

// CHECK-LABEL: func.func @kept
// CHECK-COUNT-4: dtrain.elementwise{{ ?}}<add>
// CHECK: return
func.func @kept(%x: tensor<4x4xf32>, %w: tensor<4x4xf32> {dtrain.role = #dtrain.role<parameter>}, %a: tensor<4xf32> {dtrain.role = #dtrain.role<input>}, %b: tensor<4xf32> {dtrain.role = #dtrain.role<parameter>}) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = dtrain.dot %x, %w rule("m k, k n -> m n") : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = dtrain.elementwise<add> %0, %a : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %2 = dtrain.dot %x, %w rule("m k, n k -> m n") : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %column = dtrain.move %b rule("m -> m 1") : (tensor<4xf32>) -> tensor<4x1xf32>
  %3 = dtrain.elementwise<add> %2, %column : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %4 = dtrain.dot %x, %w rule("k m, k n -> m n") : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = dtrain.elementwise<add> %4, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %6 = dtrain.dot %x, %w, %a rule("k m, n k, n -> m n") : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %7 = dtrain.elementwise<add> %6, %b : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return %1, %3, %4, %5, %7 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
