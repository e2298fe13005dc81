// RUN: dtrain-opt --dtrain-differentiate --dtrain-apply-optimizer --dtrain-recompute=mode=full %S/../Inputs/gpt-tiny.mlir > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=COUNT < %t
// RUN: dtrain-opt --dtrain-differentiate --dtrain-recompute=mode=none %S/../Inputs/gpt-tiny.mlir | FileCheck %s --check-prefix=NONE
// RUN: dtrain-opt --dtrain-differentiate --dtrain-recompute=mode=full -split-input-file %s | FileCheck %s --check-prefix=CARRY
// RUN: not dtrain-opt --dtrain-recompute=mode=selective %S/../Inputs/gpt-tiny.mlir 2>&1 | FileCheck %s --check-prefix=SELECTIVE
// RUN: dtrain-opt --dtrain-recompute=mode=full %S/../Inputs/gpt-tiny.mlir 2>&1 | FileCheck %s --check-prefix=NOTHING

// Only the layer's input is saved.
// CHECK-LABEL: func.func private @layer(
// CHECK: return %{{.*}}, %arg0 : tensor<4x6x8xf32>, tensor<4x6x8xf32>

// The layer runs again, in full, on its saved input; backward uses what it gives.
// CHECK-LABEL: func.func private @layer_backward(
// CHECK: %[[N1:.*]] = dtrain.normalize <layer> {{.*}} origin recompute
// CHECK: %[[QKV:.*]] = dtrain.dot %[[N1]], {{.*}} origin recompute
// CHECK: %[[Q:.*]] = dtrain.move {{.*}} rule("1 b s (g r d) -> b g r s d") origin recompute
// CHECK: %[[O:.*]], %[[LSE:.*]] = dtrain.attention %[[Q]], {{.*}} origin recompute
// CHECK: %[[ACT:.*]] = dtrain.elementwise <gelu_tanh> {{.*}} origin recompute
// CHECK: %[[OUT:.*]] = dtrain.dot %[[ACT]], {{.*}} origin recompute
// CHECK: dtrain.elementwise <add> %{{.*}}, %[[OUT]] origin recompute
// CHECK-NOT: recompute
// CHECK: dtrain.dot %[[ACT]], %arg0 rule("b s k, b s n -> k n") origin backward
// CHECK: dtrain.attention_grad %{{.*}}, %[[Q]], %{{.*}}, %{{.*}}, %[[O]], %[[LSE]] {{.*}} origin backward

// CHECK-LABEL: func.func private @microbatch(
// CHECK: %[[F:.*]]:2 = dtrain.repeat @layer 0 to 4
// CHECK: dtrain.repeat @layer_backward 0 to 4 reverse carry(%{{.*}}) stacked({{.*}}%[[F]]#1{{.*}}) inout(

// Forward, again, and twice that.
// COUNT-LABEL: func.func private @layer_backward(
// COUNT-COUNT-4: dtrain.dot {{.*}} origin recompute
// COUNT-COUNT-8: dtrain.dot {{.*}} origin backward
// COUNT-LABEL: func.func private @microbatch(

// NONE-NOT: origin recompute
// NONE: %{{.*}}:10 = dtrain.repeat @layer

// SELECTIVE: error: recomputation 'selective' is not available: expected 'none' or 'full'
// NOTHING: warning: nothing to recompute: no repeated layer saves values for its backward

// Backward needs only the exponential, recomputing it needs the input, which is
// saved instead, and the row of the bias.
// CARRY-LABEL: func.func private @body(
// CARRY: return %{{.*}}, %arg0 : tensor<3xf32>, tensor<3xf32>
// CARRY-LABEL: func.func private @body_backward(
// CARRY-SAME: %[[D:arg0]]: tensor<3xf32>, %[[X:arg1]]: tensor<3xf32>, %[[B:arg2]]: tensor<3xf32>, %[[ACC:arg3]]: tensor<3xf32>
// CARRY: %[[S:.*]] = dtrain.elementwise <add> %[[X]], %[[B]] origin recompute
// CARRY: %[[E:.*]] = dtrain.elementwise <exp> %[[S]] origin recompute
// CARRY: dtrain.elementwise <mul> %[[D]], %[[E]] origin backward
func.func private @body(%x: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
  %s = dtrain.elementwise<add> %x, %b : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %e = dtrain.elementwise<exp> %s : (tensor<3xf32>) -> tensor<3xf32>
  return %e : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32> {dtrain.role = #dtrain.role<input>, dtrain.name = "x"},
                %b: tensor<2x3xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "b"}) -> tensor<f32> {
  %y = dtrain.repeat @body 0 to 2 carry(%x) stacked(%b) : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  %loss = dtrain.reduce<sum> %y rule("n -> ()") : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
