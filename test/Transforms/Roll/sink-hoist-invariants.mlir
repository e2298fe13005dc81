// RUN: dtrain-opt %s --dtrain-sink-invariants | FileCheck %s --check-prefix=SINK
// RUN: dtrain-opt %s --dtrain-sink-invariants --dtrain-hoist-invariants | FileCheck %s --check-prefix=BACK

// The mask is made of constants: it moves into the layer, and out again. What is read from an input stays.
// SINK: func.func private @layer(%[[X:.*]]: tensor<4x4xf32>, %[[Y:.*]]: tensor<4x4xf32>) -> tensor<4x4xf32> {
// SINK: dtrain.iota dim 0
// SINK: %[[M:.*]] = dtrain.elementwise <less_equal>
// SINK: dtrain.elementwise <where> %[[M]], %[[X]], %[[Y]]
// SINK: func.func @main
// SINK-NOT: less_equal
// SINK: dtrain.repeat @layer 0 to 3 carry(%{{.*}}) shared(%{{[a-z0-9]+}}) :

// BACK: func.func private @layer(%[[X:.*]]: tensor<4x4xf32>, %[[Y:.*]]: tensor<4x4xf32>, %[[M:.*]]: tensor<4x4xi1>) -> tensor<4x4xf32> {
// BACK-NEXT: dtrain.elementwise <where> %[[M]], %[[X]], %[[Y]]
// BACK: func.func @main
// BACK: %[[L:.*]] = dtrain.elementwise <less_equal>
// BACK: dtrain.repeat @layer 0 to 3 carry(%{{.*}}) shared(%{{[a-z0-9]+}}, %[[L]]) :
func.func private @layer(%x: tensor<4x4xf32>, %m: tensor<4x4xi1>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = dtrain.elementwise <where> %m, %x, %y : (tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @main(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %row = dtrain.iota dim 0 : () -> tensor<4x4xi64>
  %column = dtrain.iota dim 1 : () -> tensor<4x4xi64>
  %mask = dtrain.elementwise <less_equal> %column, %row : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi1>
  %y = dtrain.elementwise <neg> %i : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = dtrain.repeat @layer 0 to 3 carry(%x) shared(%mask, %y) : (tensor<4x4xf32>, tensor<4x4xi1>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
