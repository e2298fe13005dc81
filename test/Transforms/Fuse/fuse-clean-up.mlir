// RUN: dtrain-opt --dtrain-fuse --split-input-file %s | FileCheck %s

// Moves are one where one rule can say it, and none where it says nothing.

// CHECK-LABEL: func.func @moves
// CHECK-NEXT: %[[M:.*]] = dtrain.move %arg0 rule("a b (c d) -> a c b d") : (tensor<2x6x8xf32>) -> tensor<2x4x6x2xf32>
// CHECK-NEXT: %[[A:.*]] = dtrain.move %arg1 rule("(a b) -> a b") : (tensor<24xf32>) -> tensor<6x4xf32>
// CHECK-NEXT: return %[[M]], %arg0, %[[A]]
func.func @moves(%x: tensor<2x6x8xf32>, %y: tensor<24xf32>) -> (tensor<2x4x6x2xf32>, tensor<2x6x8xf32>, tensor<6x4xf32>) {
  %0 = dtrain.move %x rule("b s (h d) -> b s h d") : (tensor<2x6x8xf32>) -> tensor<2x6x4x2xf32>
  %1 = dtrain.move %0 rule("b s h d -> b h s d") : (tensor<2x6x4x2xf32>) -> tensor<2x4x6x2xf32>
  %2 = dtrain.move %1 rule("b h s d -> b s (h d)") : (tensor<2x4x6x2xf32>) -> tensor<2x6x8xf32>
  %3 = dtrain.move %y rule("(a b) -> a b") : (tensor<24xf32>) -> tensor<6x4xf32>
  return %1, %2, %3 : tensor<2x4x6x2xf32>, tensor<2x6x8xf32>, tensor<6x4xf32>
}

// -----

// 6 x 4 elements transposed, then read as 3 x 8: no factors refine both.

// CHECK-LABEL: func.func @two_moves
// CHECK-COUNT-2: dtrain.move
// CHECK: return
func.func @two_moves(%x: tensor<6x4xf32>) -> tensor<3x8xf32> {
  %0 = dtrain.move %x rule("a b -> (b a)") : (tensor<6x4xf32>) -> tensor<24xf32>
  %1 = dtrain.move %0 rule("(a b) -> a b") : (tensor<24xf32>) -> tensor<3x8xf32>
  return %1 : tensor<3x8xf32>
}

// -----

// Split, swapped and merged: neither shape tells how 8 was split, so that two
// moves stay; so do a broadcast and a merge around a dimension.

// CHECK-LABEL: func.func @sizes_unsaid
// CHECK-NEXT: %[[A:.*]] = dtrain.move %arg0 rule("a b (c d) -> a c b d") : (tensor<2x6x8xf32>) -> tensor<2x4x6x2xf32>
// CHECK-NEXT: %[[B:.*]] = dtrain.move %[[A]] rule("a b c d -> a (b c d)") : (tensor<2x4x6x2xf32>) -> tensor<2x48xf32>
// CHECK-NEXT: %[[C:.*]] = dtrain.move %arg0
// CHECK-SAME: -> tensor<5x2x6x8x3xf32>
// CHECK-NEXT: %[[D:.*]] = dtrain.move %[[C]]
// CHECK-SAME: -> tensor<1440xf32>
// CHECK-NEXT: return %[[B]], %[[D]]
func.func @sizes_unsaid(%x: tensor<2x6x8xf32>) -> (tensor<2x48xf32>, tensor<1440xf32>) {
  %0 = dtrain.move %x rule("a b (c d) -> a b c d") : (tensor<2x6x8xf32>) -> tensor<2x6x4x2xf32>
  %1 = dtrain.move %0 rule("a b c d -> a c b d") : (tensor<2x6x4x2xf32>) -> tensor<2x4x6x2xf32>
  %2 = dtrain.move %1 rule("a b c d -> a (b c d)") : (tensor<2x4x6x2xf32>) -> tensor<2x48xf32>
  %3 = dtrain.move %x rule("a b c -> d a b c") : (tensor<2x6x8xf32>) -> tensor<5x2x6x8xf32>
  %4 = dtrain.move %3 rule("d a b c -> d a b c e") : (tensor<5x2x6x8xf32>) -> tensor<5x2x6x8x3xf32>
  %5 = dtrain.move %4 rule("d a b c e -> (d a b c e)") : (tensor<5x2x6x8x3xf32>) -> tensor<1440xf32>
  return %2, %5 : tensor<2x48xf32>, tensor<1440xf32>
}

// -----

// CHECK-LABEL: func.func @constants
// CHECK-NEXT: %[[A:.*]] = dtrain.elementwise{{ ?}}<scale> %arg0 constant 1.500000e+00
// CHECK-NEXT: %[[B:.*]] = dtrain.elementwise{{ ?}}<offset> %arg0 constant -2.000000e+00
// CHECK-NEXT: return %[[A]], %[[B]], %arg0
func.func @constants(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %three = dtrain.constant 3.0 : () -> tensor<f32>
  %two = dtrain.constant 2.0 : () -> tensor<1x1xf32>
  %0 = dtrain.elementwise<mul> %three, %x : (tensor<f32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = dtrain.elementwise<div> %0, %two : (tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
  %2 = dtrain.elementwise<offset> %x constant 1.0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %3 = dtrain.elementwise<sub> %2, %three : (tensor<2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %4 = dtrain.elementwise<scale> %x constant 1.0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %1, %3, %4 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// Contents that import did not read are not zeros; a constant that makes the
// result larger is not a factor.

// CHECK-LABEL: func.func @unknown
// CHECK: dtrain.elementwise{{ ?}}<mul>
// CHECK: dtrain.elementwise{{ ?}}<mul>
// CHECK: return
func.func @unknown(%x: tensor<2x4xf32>, %row: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %table = dtrain.constant 0.0 : () -> tensor<2x4xf32>
  %twos = dtrain.constant 2.0 : () -> tensor<2x1xf32>
  %0 = dtrain.elementwise<mul> %x, %table : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = dtrain.elementwise<mul> %row, %twos : (tensor<4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  return %0, %1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// A cast to more precision and back is none; one to less is.

// CHECK-LABEL: func.func @casts
// CHECK-NEXT: %[[N:.*]] = dtrain.elementwise{{ ?}}<cast> %arg0 : (tensor<4xf32>) -> tensor<4xbf16>
// CHECK-NEXT: %[[W:.*]] = dtrain.elementwise{{ ?}}<cast> %[[N]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-NEXT: return %[[W]], %arg1
func.func @casts(%x: tensor<4xf32>, %y: tensor<4xbf16>) -> (tensor<4xf32>, tensor<4xbf16>) {
  %0 = dtrain.elementwise<cast> %x : (tensor<4xf32>) -> tensor<4xbf16>
  %1 = dtrain.elementwise<cast> %0 : (tensor<4xbf16>) -> tensor<4xf32>
  %2 = dtrain.elementwise<cast> %y : (tensor<4xbf16>) -> tensor<4xf32>
  %3 = dtrain.elementwise<cast> %2 : (tensor<4xf32>) -> tensor<4xbf16>
  return %1, %3 : tensor<4xf32>, tensor<4xbf16>
}

// -----

// Parts of a projection that are not equal stay slices, as do those of an
// activation.

// CHECK-LABEL: func.func @parts
// CHECK-NOT: dtrain.move
// CHECK-COUNT-3: dtrain.slice
// CHECK-NOT: dtrain.move
// CHECK: return
func.func @parts(%x: tensor<2x4xf32>, %w: tensor<4x6xf32>) -> (tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  %0 = dtrain.dot %x, %w rule("m k, k n -> m n") : (tensor<2x4xf32>, tensor<4x6xf32>) -> tensor<2x6xf32>
  %1 = dtrain.slice %0 dim 1 offset 0 : (tensor<2x6xf32>) -> tensor<2x4xf32>
  %2 = dtrain.slice %0 dim 1 offset 3 : (tensor<2x6xf32>) -> tensor<2x2xf32>
  %3 = dtrain.slice %x dim 1 offset 2 : (tensor<2x4xf32>) -> tensor<2x2xf32>
  return %1, %2, %3 : tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}

// -----

// CHECK-LABEL: func.func @loss
// CHECK-NEXT: %[[L:.*]], %{{.*}} = dtrain.cross_entropy %arg0, %arg1
// CHECK-NEXT: return %[[L]]
func.func @loss(%logits: tensor<3x5xf32>, %labels: tensor<3xi64>) -> tensor<3xf32> {
  %0 = dtrain.softmax %logits : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %1 = dtrain.elementwise<log> %0 : (tensor<3x5xf32>) -> tensor<3x5xf32>
  %2 = dtrain.pick %1, %labels : (tensor<3x5xf32>, tensor<3xi64>) -> tensor<3xf32>
  %3 = dtrain.elementwise<neg> %2 : (tensor<3xf32>) -> tensor<3xf32>
  return %3 : tensor<3xf32>
}
