// RUN: dtrain-opt --dtrain-set-precision=precision=bf16 %S/../Inputs/gpt-tiny.mlir | FileCheck %s
// RUN: dtrain-opt --dtrain-set-precision=precision=fp16 %S/../Inputs/gpt-tiny.mlir | FileCheck %s --check-prefix=HALF
// RUN: dtrain-opt --dtrain-set-precision=precision=bf16 %S/../Inputs/gpt-tiny.mlir \
// RUN:   | dtrain-opt --dtrain-set-precision=precision=fp32 | FileCheck %s --check-prefix=SINGLE
// RUN: not dtrain-opt --dtrain-set-precision=precision=fp8 %S/../Inputs/gpt-tiny.mlir 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// The log of the sum of exponentials and the losses stay f32.
// CHECK-LABEL: func.func private @layer
// CHECK-SAME: tensor<4x6x8xbf16>
// CHECK: dtrain.attention
// CHECK-SAME: -> (tensor<4x4x1x6x2xbf16>, tensor<4x4x1x6xf32>)
// CHECK: return %{{.*}} : tensor<4x6x8xbf16>

// CHECK-LABEL: func.func @main
// CHECK-SAME: tensor<12x8xbf16> {dtrain.name = "wte"
// CHECK-SAME: tensor<4x6xi64> {dtrain.name = "input_ids"
// CHECK-SAME: -> tensor<f32>
// CHECK: dtrain.iota dim 0 : () -> tensor<6xi64>
// CHECK: dtrain.repeat @layer
// CHECK-SAME: -> tensor<4x6x8xbf16>
// CHECK: dtrain.cross_entropy
// CHECK-SAME: -> (tensor<4x6xf32>, tensor<4x6xf32>)
// CHECK: dtrain.reduce
// CHECK-SAME: (tensor<4x6xf32>) -> tensor<f32>

// HALF-LABEL: func.func private @layer
// HALF-SAME: tensor<4x6x8xf16>
// HALF-NOT: bf16

// SINGLE-NOT: bf16
// SINGLE: -> (tensor<4x4x1x6x2xf32>, tensor<4x4x1x6xf32>)

// UNKNOWN: Cannot find option named 'fp8'
