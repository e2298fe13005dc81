// A layer may have the name that the last trip of another's backward would take.
// RUN: dtrain-opt %s --dtrain-pipeline="to=schedule mesh=dp=1" | FileCheck %s

// CHECK-DAG: schedule.body @layer_backward_last {
// CHECK-DAG: schedule.body @layer_backward_last_ {
// CHECK: schedule.call @layer_backward_last times 2
// CHECK: schedule.call @layer_backward times 2
// CHECK: schedule.call @layer_backward_last_ times 1

module attributes {dtrain.phase = #dtrain.phase<import>} {
  func.func private @layer(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
    %0 = dtrain.dot %x, %w rule("m k, k n -> m n") : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    return %0 : tensor<2x4xf32>
  }
  func.func private @layer_backward_last(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>) -> tensor<2x4xf32> {
    %0 = dtrain.dot %x, %w rule("m k, k n -> m n") : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %1 = dtrain.elementwise <relu> %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
  func.func @main(%w: tensor<3x4x4xf32> {dtrain.name = "w", dtrain.role = #dtrain.role<parameter>},
                  %v: tensor<2x4x4xf32> {dtrain.name = "v", dtrain.role = #dtrain.role<parameter>},
                  %x: tensor<2x4xf32> {dtrain.name = "x", dtrain.role = #dtrain.role<input>},
                  %y: tensor<2xi64> {dtrain.name = "y", dtrain.role = #dtrain.role<label>}) -> tensor<f32> {
    %0 = dtrain.repeat @layer 0 to 3 carry(%x) stacked(%w) : (tensor<2x4xf32>, tensor<3x4x4xf32>) -> tensor<2x4xf32>
    %1 = dtrain.repeat @layer_backward_last 0 to 2 carry(%0) stacked(%v) : (tensor<2x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4xf32>
    %loss, %lse = dtrain.cross_entropy %1, %y : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<2xf32>)
    %2 = dtrain.reduce <sum> %loss rule("a -> ()") : (tensor<2xf32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
}
