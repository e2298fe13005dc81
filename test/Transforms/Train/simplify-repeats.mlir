// RUN: dtrain-opt --dtrain-simplify-repeats -split-input-file %s | FileCheck %s

// An output without uses goes, with what made it, and so do the operands that
// only it read.
// CHECK-LABEL: func.func private @body(
// CHECK-SAME: %{{.*}}: tensor<3xf32>, %{{.*}}: tensor<3xf32>) -> tensor<3xf32>
// CHECK-NOT: exp
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:arg0]]: tensor<3xf32>, %[[W:arg1]]
// CHECK: %[[R:.*]] = dtrain.repeat @body 0 to 2 carry(%[[X]]) stacked(%[[W]]) :
// CHECK: return %[[R]]
func.func private @body(%x: tensor<3xf32>, %w: tensor<3xf32>, %v: tensor<3xf32>, %s: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %y = dtrain.elementwise<mul> %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %e = dtrain.elementwise<exp> %v : (tensor<3xf32>) -> tensor<3xf32>
  %o = dtrain.elementwise<add> %e, %s : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %y, %o : tensor<3xf32>, tensor<3xf32>
}
func.func @main(%x: tensor<3xf32>, %w: tensor<2x3xf32>, %v: tensor<2x3xf32>, %s: tensor<3xf32>) -> tensor<3xf32> {
  %r:2 = dtrain.repeat @body 0 to 2 carry(%x) stacked(%w, %v) shared(%s)
      : (tensor<3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>)
  return %r#0 : tensor<3xf32>
}

// -----

// A body that another repeat runs too stays as it is.
// CHECK-LABEL: func.func @main(
// CHECK-COUNT-2: dtrain.repeat @body 0 to 2 carry(%{{.*}}) stacked(%{{.*}})
func.func private @body(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %y = dtrain.elementwise<exp> %x : (tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32>, %w: tensor<2x3xf32>) -> tensor<3xf32> {
  %r = dtrain.repeat @body 0 to 2 carry(%x) stacked(%w) : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  %q = dtrain.repeat @body 0 to 2 carry(%r) stacked(%w) : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  return %q : tensor<3xf32>
}
