// RUN: dtrain-opt --dtrain-fuse --split-input-file %s | FileCheck %s

// x * cos + rotate_half(x) * sin, whose tables are one half beside itself.

// CHECK-LABEL: func.func @halves
// CHECK-NEXT: %[[Y:.*]] = dtrain.rotary %arg0, %arg1, %arg2 : (tensor<2x3x6x4xf32>, tensor<6x2xf32>, tensor<6x2xf32>)
// CHECK-NEXT: return %[[Y]]
func.func @halves(%x: tensor<2x3x6x4xf32>, %c: tensor<6x2xf32>, %s: tensor<6x2xf32>) -> tensor<2x3x6x4xf32> {
  %cos = dtrain.concat %c, %c dim 1 : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x4xf32>
  %sin = dtrain.concat %s, %s dim 1 : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x4xf32>
  %direct = dtrain.elementwise<mul> %x, %cos : (tensor<2x3x6x4xf32>, tensor<6x4xf32>) -> tensor<2x3x6x4xf32>
  %low = dtrain.slice %x dim 3 offset 0 : (tensor<2x3x6x4xf32>) -> tensor<2x3x6x2xf32>
  %high = dtrain.slice %x dim 3 offset 2 : (tensor<2x3x6x4xf32>) -> tensor<2x3x6x2xf32>
  %neg = dtrain.elementwise<neg> %high : (tensor<2x3x6x2xf32>) -> tensor<2x3x6x2xf32>
  %turned = dtrain.concat %neg, %low dim 3 : (tensor<2x3x6x2xf32>, tensor<2x3x6x2xf32>) -> tensor<2x3x6x4xf32>
  %crossed = dtrain.elementwise<mul> %sin, %turned : (tensor<6x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x6x4xf32>
  %y = dtrain.elementwise<add> %crossed, %direct : (tensor<2x3x6x4xf32>, tensor<2x3x6x4xf32>) -> tensor<2x3x6x4xf32>
  return %y : tensor<2x3x6x4xf32>
}

// -----

// Positions before heads, tables with unit dimensions, of which the first rows
// count.

// CHECK-LABEL: func.func @layout
// CHECK-DAG: %[[C:.*]] = dtrain.slice %arg1 dim 0 offset 0 : (tensor<9x2xf32>) -> tensor<6x2xf32>
// CHECK-DAG: %[[S:.*]] = dtrain.slice %arg2 dim 0 offset 0 : (tensor<9x2xf32>) -> tensor<6x2xf32>
// CHECK-DAG: %[[T:.*]] = dtrain.move %arg0 rule("a b c d -> a c b d")
// CHECK: %[[R:.*]] = dtrain.rotary %[[T]], %[[C]], %[[S]]
// CHECK-NEXT: %[[Y:.*]] = dtrain.move %[[R]] rule("a b c d -> a c b d")
// CHECK-NEXT: return %[[Y]]
func.func @layout(%x: tensor<2x6x3x4xf32>, %c: tensor<9x2xf32>, %s: tensor<9x2xf32>) -> tensor<2x6x3x4xf32> {
  %cc = dtrain.concat %c, %c dim 1 : (tensor<9x2xf32>, tensor<9x2xf32>) -> tensor<9x4xf32>
  %ss = dtrain.concat %s, %s dim 1 : (tensor<9x2xf32>, tensor<9x2xf32>) -> tensor<9x4xf32>
  %c6 = dtrain.slice %cc dim 0 offset 0 : (tensor<9x4xf32>) -> tensor<6x4xf32>
  %s6 = dtrain.slice %ss dim 0 offset 0 : (tensor<9x4xf32>) -> tensor<6x4xf32>
  %cos = dtrain.move %c6 rule("s d -> 1 s 1 d") : (tensor<6x4xf32>) -> tensor<1x6x1x4xf32>
  %sin = dtrain.move %s6 rule("s d -> 1 s 1 d") : (tensor<6x4xf32>) -> tensor<1x6x1x4xf32>
  %direct = dtrain.elementwise<mul> %x, %cos : (tensor<2x6x3x4xf32>, tensor<1x6x1x4xf32>) -> tensor<2x6x3x4xf32>
  %low = dtrain.slice %x dim 3 offset 0 : (tensor<2x6x3x4xf32>) -> tensor<2x6x3x2xf32>
  %high = dtrain.slice %x dim 3 offset 2 : (tensor<2x6x3x4xf32>) -> tensor<2x6x3x2xf32>
  %neg = dtrain.elementwise<neg> %high : (tensor<2x6x3x2xf32>) -> tensor<2x6x3x2xf32>
  %turned = dtrain.concat %neg, %low dim 3 : (tensor<2x6x3x2xf32>, tensor<2x6x3x2xf32>) -> tensor<2x6x3x4xf32>
  %crossed = dtrain.elementwise<mul> %turned, %sin : (tensor<2x6x3x4xf32>, tensor<1x6x1x4xf32>) -> tensor<2x6x3x4xf32>
  %y = dtrain.elementwise<add> %direct, %crossed : (tensor<2x6x3x4xf32>, tensor<2x6x3x4xf32>) -> tensor<2x6x3x4xf32>
  return %y : tensor<2x6x3x4xf32>
}

// -----

// The halves computed apart; only the first four of six elements are rotated.

// CHECK-LABEL: func.func @apart
// CHECK-NEXT: %[[Y:.*]] = dtrain.rotary %arg0, %arg1, %arg2 : (tensor<3x5x6xf32>, tensor<5x2xf32>, tensor<5x2xf32>)
// CHECK-NEXT: return %[[Y]]
func.func @apart(%x: tensor<3x5x6xf32>, %c: tensor<5x2xf32>, %s: tensor<5x2xf32>) -> tensor<3x5x6xf32> {
  %part = dtrain.slice %x dim 2 offset 0 : (tensor<3x5x6xf32>) -> tensor<3x5x4xf32>
  %rest = dtrain.slice %x dim 2 offset 4 : (tensor<3x5x6xf32>) -> tensor<3x5x2xf32>
  %low = dtrain.slice %part dim 2 offset 0 : (tensor<3x5x4xf32>) -> tensor<3x5x2xf32>
  %high = dtrain.slice %part dim 2 offset 2 : (tensor<3x5x4xf32>) -> tensor<3x5x2xf32>
  %a = dtrain.elementwise<mul> %low, %c : (tensor<3x5x2xf32>, tensor<5x2xf32>) -> tensor<3x5x2xf32>
  %b = dtrain.elementwise<mul> %high, %s : (tensor<3x5x2xf32>, tensor<5x2xf32>) -> tensor<3x5x2xf32>
  %first = dtrain.elementwise<sub> %a, %b : (tensor<3x5x2xf32>, tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
  %d = dtrain.elementwise<mul> %s, %low : (tensor<5x2xf32>, tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
  %e = dtrain.elementwise<mul> %c, %high : (tensor<5x2xf32>, tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
  %second = dtrain.elementwise<add> %d, %e : (tensor<3x5x2xf32>, tensor<3x5x2xf32>) -> tensor<3x5x2xf32>
  %turned = dtrain.concat %first, %second dim 2 : (tensor<3x5x2xf32>, tensor<3x5x2xf32>) -> tensor<3x5x4xf32>
  %y = dtrain.concat %turned, %rest dim 2 : (tensor<3x5x4xf32>, tensor<3x5x2xf32>) -> tensor<3x5x6xf32>
  return %y : tensor<3x5x6xf32>
}

// -----

// Tables whose halves are not known to be the same, and halves exchanged without
// the sign.

// CHECK-LABEL: func.func @kept
// CHECK-NOT: dtrain.rotary
// CHECK: return
func.func @kept(%x: tensor<3x6x4xf32>, %cos: tensor<6x4xf32>, %sin: tensor<6x4xf32>, %c: tensor<6x2xf32>) -> (tensor<3x6x4xf32>, tensor<3x6x4xf32>) {
  %direct = dtrain.elementwise<mul> %x, %cos : (tensor<3x6x4xf32>, tensor<6x4xf32>) -> tensor<3x6x4xf32>
  %low = dtrain.slice %x dim 2 offset 0 : (tensor<3x6x4xf32>) -> tensor<3x6x2xf32>
  %high = dtrain.slice %x dim 2 offset 2 : (tensor<3x6x4xf32>) -> tensor<3x6x2xf32>
  %neg = dtrain.elementwise<neg> %high : (tensor<3x6x2xf32>) -> tensor<3x6x2xf32>
  %turned = dtrain.concat %neg, %low dim 2 : (tensor<3x6x2xf32>, tensor<3x6x2xf32>) -> tensor<3x6x4xf32>
  %crossed = dtrain.elementwise<mul> %turned, %sin : (tensor<3x6x4xf32>, tensor<6x4xf32>) -> tensor<3x6x4xf32>
  %y0 = dtrain.elementwise<add> %direct, %crossed : (tensor<3x6x4xf32>, tensor<3x6x4xf32>) -> tensor<3x6x4xf32>
  %cc = dtrain.concat %c, %c dim 1 : (tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<6x4xf32>
  %direct1 = dtrain.elementwise<mul> %x, %cc : (tensor<3x6x4xf32>, tensor<6x4xf32>) -> tensor<3x6x4xf32>
  %turned1 = dtrain.concat %high, %low dim 2 : (tensor<3x6x2xf32>, tensor<3x6x2xf32>) -> tensor<3x6x4xf32>
  %crossed1 = dtrain.elementwise<mul> %turned1, %cc : (tensor<3x6x4xf32>, tensor<6x4xf32>) -> tensor<3x6x4xf32>
  %y1 = dtrain.elementwise<add> %direct1, %crossed1 : (tensor<3x6x4xf32>, tensor<3x6x4xf32>) -> tensor<3x6x4xf32>
  return %y0, %y1 : tensor<3x6x4xf32>, tensor<3x6x4xf32>
}
