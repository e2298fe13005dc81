// RUN: dtrain-opt %s --dtrain-pipeline="to=schedule mesh=dp=1 micro-batches=2" | FileCheck %s
// RUN: dtrain-opt %s --dtrain-pipeline="to=schedule mesh=pp=3 micro-batches=2" | FileCheck %s --check-prefix=STAGES

// Nothing asks for the gradient of the input: the last trip, of the first layer, has one product instead of two.
// CHECK: schedule.body @layer_backward_last
// CHECK: "dtrain.dot"
// CHECK-NOT: "dtrain.dot"
// CHECK: schedule.body @layer_backward {
// CHECK-COUNT-2: "dtrain.dot"
// CHECK-NOT: "dtrain.dot"
// CHECK: schedule.body @layer {

// What one layer gives is kept once, for its own gradient and as the input of the next: two rows of 16 bytes between
// three layers. The model's input is held anyway, the last layer's output is the logits; and 8 bytes are of the loss.
// CHECK: schedule.segment forward {{.*}} space <saved = "4.0 B batch + 4.0 B batch n4.2", workspace = {{.*}}, logits = "1.0 batch n4.2">
// CHECK: schedule.call @layer times 3

// The weights of the three layers are of one shape.
// CHECK: schedule.segment backward {{.*}} weights = "1.0 n4
// CHECK: %[[OTHERS:.*]] = schedule.call @layer_backward times 2
// CHECK: schedule.call @layer_backward_last times 1 after(%[[OTHERS]])

// With a layer per stage, only the first stage leaves the gradient out.
// STAGES: rank_class @stage0
// STAGES-NOT: schedule.call @layer_backward times
// STAGES: schedule.call @layer_backward_last times 1
// STAGES: rank_class @stage1
// STAGES-NOT: layer_backward_last
// STAGES: schedule.call @layer_backward times 1
// STAGES-NOT: layer_backward_last

module attributes {dtrain.phase = #dtrain.phase<import>} {
  func.func private @layer(%x: tensor<2x4xf32>, %w: tensor<4x4xf32>, %b: tensor<4xf32>) -> tensor<2x4xf32> {
    %0 = dtrain.dot %x, %w, %b rule("m k, k n, n -> m n") : (tensor<2x4xf32>, tensor<4x4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
    %1 = dtrain.elementwise <relu> %0 : (tensor<2x4xf32>) -> tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
  func.func @main(%w: tensor<3x4x4xf32> {dtrain.name = "w", dtrain.role = #dtrain.role<parameter>},
                  %b: tensor<3x4xf32> {dtrain.name = "b", dtrain.role = #dtrain.role<parameter>},
                  %x: tensor<2x4xf32> {dtrain.name = "x", dtrain.role = #dtrain.role<input>},
                  %y: tensor<2xi64> {dtrain.name = "y", dtrain.role = #dtrain.role<label>}) -> tensor<f32> {
    %0 = dtrain.repeat @layer 0 to 3 carry(%x) stacked(%w, %b) : (tensor<2x4xf32>, tensor<3x4x4xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %loss, %lse = dtrain.cross_entropy %0, %y : (tensor<2x4xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<2xf32>)
    %1 = dtrain.reduce <sum> %loss rule("a -> ()") : (tensor<2xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}
