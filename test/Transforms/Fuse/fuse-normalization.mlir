// RUN: dtrain-opt --dtrain-fuse --split-input-file %s | FileCheck %s

// As Llama is exported: the weight times x times 1 / sqrt(mean(x^2) + eps).

// CHECK-LABEL: func.func @rms
// CHECK-NEXT: %[[Y:.*]] = dtrain.normalize{{ ?}}<rms> %arg0, %arg1 epsilon 1.000000e-05
// CHECK-NEXT: return %[[Y]]
func.func @rms(%x: tensor<2x3x4xf32>, %w: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %square = dtrain.elementwise<power> %x constant 2.0 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %sum = dtrain.reduce<sum> %square rule("a b c -> a b 1") : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
  %mean = dtrain.elementwise<scale> %sum constant 0.25 : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %stable = dtrain.elementwise<offset> %mean constant 1.0e-5 : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %root = dtrain.elementwise<sqrt> %stable : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %inverse = dtrain.elementwise<reciprocal> %root : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %normal = dtrain.elementwise<mul> %x, %inverse : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  %y = dtrain.elementwise<mul> %w, %normal : (tensor<4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// x * x, the unit dimension added late, a division, the weight first.

// CHECK-LABEL: func.func @rms_divided
// CHECK-NEXT: %[[Y:.*]] = dtrain.normalize{{ ?}}<rms> %arg0, %arg1 epsilon 9.9999999999999995E-7
// CHECK-NEXT: return %[[Y]]
func.func @rms_divided(%x: tensor<2x3x4xf32>, %w: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %square = dtrain.elementwise<mul> %x, %x : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %sum = dtrain.reduce<sum> %square rule("a b c -> a b") : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  %mean = dtrain.elementwise<scale> %sum constant 0.25 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %eps = dtrain.constant 1.0e-6 : () -> tensor<f32>
  %stable = dtrain.elementwise<add> %eps, %mean : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %root = dtrain.elementwise<power> %stable constant 0.5 : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %column = dtrain.move %root rule("a b -> a b 1") : (tensor<2x3xf32>) -> tensor<2x3x1xf32>
  %scaled = dtrain.elementwise<mul> %x, %w : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %y = dtrain.elementwise<div> %scaled, %column : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// Half precision, normalised in single.

// CHECK-LABEL: func.func @rms_casts
// CHECK-NEXT: %[[Y:.*]] = dtrain.normalize{{ ?}}<rms> %arg0, %arg1
// CHECK-NEXT: return %[[Y]]
func.func @rms_casts(%x: tensor<3x4xbf16>, %w: tensor<4xbf16>) -> tensor<3x4xbf16> {
  %wide = dtrain.elementwise<cast> %x : (tensor<3x4xbf16>) -> tensor<3x4xf32>
  %square = dtrain.elementwise<power> %wide constant 2.0 : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %sum = dtrain.reduce<sum> %square rule("a b -> a 1") : (tensor<3x4xf32>) -> tensor<3x1xf32>
  %mean = dtrain.elementwise<scale> %sum constant 0.25 : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %stable = dtrain.elementwise<offset> %mean constant 1.0e-5 : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %inverse = dtrain.elementwise<rsqrt> %stable : (tensor<3x1xf32>) -> tensor<3x1xf32>
  %normal = dtrain.elementwise<mul> %wide, %inverse : (tensor<3x4xf32>, tensor<3x1xf32>) -> tensor<3x4xf32>
  %narrow = dtrain.elementwise<cast> %normal : (tensor<3x4xf32>) -> tensor<3x4xbf16>
  %y = dtrain.elementwise<mul> %w, %narrow : (tensor<4xbf16>, tensor<3x4xbf16>) -> tensor<3x4xbf16>
  return %y : tensor<3x4xbf16>
}

// -----

// As PyTorch exports layer normalisation below opset 17.

// CHECK-LABEL: func.func @layer
// CHECK-NEXT: %[[Y:.*]] = dtrain.normalize{{ ?}}<layer> %arg0, %arg1, %arg2 epsilon 1.000000e-05
// CHECK-NEXT: return %[[Y]]
func.func @layer(%x: tensor<2x3x4xf32>, %w: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<2x3x4xf32> {
  %sum = dtrain.reduce<sum> %x rule("a b c -> a b 1") : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
  %mean = dtrain.elementwise<scale> %sum constant 0.25 : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %centred = dtrain.elementwise<sub> %x, %mean : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  %square = dtrain.elementwise<power> %centred constant 2.0 : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %sum2 = dtrain.reduce<sum> %square rule("a b c -> a b 1") : (tensor<2x3x4xf32>) -> tensor<2x3x1xf32>
  %variance = dtrain.elementwise<scale> %sum2 constant 0.25 : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %stable = dtrain.elementwise<offset> %variance constant 1.0e-5 : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %root = dtrain.elementwise<sqrt> %stable : (tensor<2x3x1xf32>) -> tensor<2x3x1xf32>
  %normal = dtrain.elementwise<div> %centred, %root : (tensor<2x3x4xf32>, tensor<2x3x1xf32>) -> tensor<2x3x4xf32>
  %scaled = dtrain.elementwise<mul> %normal, %w : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  %y = dtrain.elementwise<add> %scaled, %b : (tensor<2x3x4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
  return %y : tensor<2x3x4xf32>
}

// -----

// Not a norm of rows: the mean over another dimension, of another tensor, half
// the mean, a scale that is no vector, rows along the wrong dimension.

// CHECK-LABEL: func.func @kept
// CHECK-NOT: dtrain.normalize
// CHECK: return
func.func @kept(%x: tensor<4x4xf32>, %z: tensor<4x4xf32>, %w: tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %square = dtrain.elementwise<power> %x constant 2.0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %s0 = dtrain.reduce<sum> %square rule("a b -> 1 b") : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %m0 = dtrain.elementwise<scale> %s0 constant 0.25 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %t0 = dtrain.elementwise<offset> %m0 constant 1.0e-5 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %r0 = dtrain.elementwise<rsqrt> %t0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %n0 = dtrain.elementwise<mul> %x, %r0 : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %y0 = dtrain.elementwise<mul> %n0, %w : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %s1 = dtrain.reduce<sum> %square rule("a b -> a 1") : (tensor<4x4xf32>) -> tensor<4x1xf32>
  %m1 = dtrain.elementwise<scale> %s1 constant 0.25 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %t1 = dtrain.elementwise<offset> %m1 constant 1.0e-5 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %r1 = dtrain.elementwise<rsqrt> %t1 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n1 = dtrain.elementwise<mul> %z, %r1 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %y1 = dtrain.elementwise<mul> %n1, %w : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %m2 = dtrain.elementwise<scale> %s1 constant 0.125 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %t2 = dtrain.elementwise<offset> %m2 constant 1.0e-5 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %r2 = dtrain.elementwise<rsqrt> %t2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %n2 = dtrain.elementwise<mul> %x, %r2 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %y2 = dtrain.elementwise<mul> %n2, %w : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  %n3 = dtrain.elementwise<mul> %x, %r1 : (tensor<4x4xf32>, tensor<4x1xf32>) -> tensor<4x4xf32>
  %y3 = dtrain.elementwise<mul> %n3, %z : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %r4 = dtrain.move %r1 rule("a 1 -> 1 a") : (tensor<4x1xf32>) -> tensor<1x4xf32>
  %n4 = dtrain.elementwise<mul> %x, %r4 : (tensor<4x4xf32>, tensor<1x4xf32>) -> tensor<4x4xf32>
  %y4 = dtrain.elementwise<mul> %n4, %w : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
  return %y0, %y1, %y2, %y3, %y4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
