// RUN: dtrain-opt --dtrain-differentiate=micro-batches=2 --dtrain-apply-optimizer="optimizer=adamw learning-rate=0.01" -split-input-file %s | FileCheck %s
// RUN: dtrain-opt --dtrain-set-precision=precision=bf16 --dtrain-differentiate --dtrain-apply-optimizer=optimizer=sgd -split-input-file %s | FileCheck %s --check-prefix=MIXED

#param = #dtrain.role<parameter>
#input = #dtrain.role<input>

// In f32 the parameters themselves are updated; parameters come first, inputs
// last. What is not trained has neither moments nor a result.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[W:arg0]]: tensor<3xf32> {dtrain.name = "w", dtrain.role = #dtrain.role<parameter>}
// CHECK-SAME: %[[IDLE:arg1]]: tensor<3xf32> {dtrain.name = "idle", dtrain.role = #dtrain.role<parameter>}
// CHECK-SAME: %[[V:arg2]]: tensor<3xf32> {dtrain.name = "v", dtrain.role = #dtrain.role<parameter>}
// CHECK-SAME: %[[WM:arg3]]: tensor<3xf32> {dtrain.name = "w.moment1", dtrain.role = #dtrain.role<moment>}
// CHECK-SAME: %[[WV:arg4]]: tensor<3xf32> {dtrain.name = "w.moment2"
// CHECK-SAME: %[[VM:arg5]]: tensor<3xf32> {dtrain.name = "v.moment1"
// CHECK-SAME: %[[VV:arg6]]: tensor<3xf32> {dtrain.name = "v.moment2"
// CHECK-SAME: %[[X:arg7]]: tensor<2x3xf32> {dtrain.name = "x", dtrain.role = #dtrain.role<input>})
// CHECK-SAME: -> (tensor<3xf32> {dtrain.updates = 0 : i64}, tensor<3xf32> {dtrain.updates = 2 : i64}, tensor<3xf32> {dtrain.updates = 3 : i64}, tensor<3xf32> {dtrain.updates = 4 : i64}, tensor<3xf32> {dtrain.updates = 5 : i64}, tensor<3xf32> {dtrain.updates = 6 : i64}, tensor<f32>)
// CHECK: %[[G:.*]]:3 = dtrain.repeat @microbatch 0 to 2
// CHECK: %[[UW:.*]]:3 = dtrain.update <adamw> %[[W]], %[[WM]], %[[WV]], %[[G]]#1 learning_rate 1.000000e-02 origin update
// CHECK: %[[UV:.*]]:3 = dtrain.update <adamw> %[[V]], %[[VM]], %[[VV]], %[[G]]#2 learning_rate 1.000000e-02 origin update
// CHECK: return %[[UW]]#0, %[[UV]]#0, %[[UW]]#1, %[[UW]]#2, %[[UV]]#1, %[[UV]]#2, %[[G]]#0

// Below 32 bits a master copy is updated and cast; SGD has one moment.
// MIXED-LABEL: func.func @main(
// MIXED-SAME: tensor<3xbf16> {dtrain.name = "w"
// MIXED-SAME: %[[MASTER:arg3]]: tensor<3xf32> {dtrain.name = "w.master", dtrain.role = #dtrain.role<master>}
// MIXED-SAME: %[[MOMENTUM:arg5]]: tensor<3xf32> {dtrain.name = "w.momentum", dtrain.role = #dtrain.role<moment>}
// MIXED-SAME: -> (tensor<3xbf16> {dtrain.updates = 0 : i64}, tensor<3xbf16> {dtrain.updates = 2 : i64}, tensor<3xf32> {dtrain.updates = 3 : i64},
// MIXED: %[[U:.*]]:2 = dtrain.update <sgd> %[[MASTER]], %[[MOMENTUM]], %{{.*}}#1 learning_rate 1.000000e-04 origin update
// MIXED: %[[P:.*]] = dtrain.elementwise <cast> %[[U]]#0 origin update : (tensor<3xf32>) -> tensor<3xbf16>
// MIXED: return %[[P]], %{{.*}}, %[[U]]#0, %{{.*}}, %[[U]]#1,
func.func @main(%x: tensor<3xf32> {dtrain.role = #input, dtrain.name = "x"},
                %w: tensor<3xf32> {dtrain.role = #param, dtrain.name = "w"},
                %idle: tensor<3xf32> {dtrain.role = #param, dtrain.name = "idle"},
                %v: tensor<3xf32> {dtrain.role = #param, dtrain.name = "v"}) -> tensor<f32> {
  %y = dtrain.elementwise<mul> %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %z = dtrain.elementwise<mul> %y, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %loss = dtrain.reduce<sum> %z rule("n -> ()") : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#param = #dtrain.role<parameter>

// Parameters without a name have their number.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: "argument0.moment1"
func.func @main(%w: tensor<f32> {dtrain.role = #param}) -> tensor<f32> {
  %y = dtrain.elementwise<exp> %w : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
