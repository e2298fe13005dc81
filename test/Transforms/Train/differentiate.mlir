// RUN: dtrain-opt --dtrain-set-precision=precision=bf16 --dtrain-differentiate=micro-batches=8 %S/../Inputs/gpt-tiny.mlir > %t
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=DOTS < %t
// RUN: dtrain-opt --dtrain-differentiate=gradient-type=bf16 %S/../Inputs/gpt-tiny.mlir | FileCheck %s --check-prefix=NARROW
// RUN: dtrain-opt --dtrain-differentiate --mlir-print-debuginfo %S/../Inputs/gpt-tiny.mlir | FileCheck %s --check-prefix=NAMES
// RUN: dtrain-opt --dtrain-differentiate %S/../Inputs/llama-tiny.mlir | FileCheck %s --check-prefix=LLAMA

// The forward layer returns what backward needs, each once: query, key and value
// are views of one value; the context is a view of attention's output.
// CHECK-LABEL: func.func private @layer(
// CHECK: %[[N1:.*]] = dtrain.normalize <layer> %[[X:arg0]]
// CHECK: %[[QKV:.*]] = dtrain.dot %[[N1]]
// CHECK: %[[O:.*]], %[[LSE:.*]] = dtrain.attention
// CHECK: %[[X1:.*]] = dtrain.elementwise <add> %[[X]]
// CHECK: %[[N2:.*]] = dtrain.normalize <layer> %[[X1]]
// CHECK: %[[FC:.*]] = dtrain.dot %[[N2]]
// CHECK: %[[ACT:.*]] = dtrain.elementwise <gelu_tanh> %[[FC]]
// CHECK: %[[X2:.*]] = dtrain.elementwise <add> %[[X1]]
// CHECK: return %[[X2]], %[[ACT]], %[[FC]], %[[N2]], %[[X1]], %[[O]], %[[QKV]], %[[LSE]], %[[N1]], %[[X]] :

// CHECK-LABEL: func.func private @layer_backward(
// CHECK-SAME: %[[DX:arg0]]: tensor<4x6x8xbf16>, %[[W:arg1]]: tensor<16x8xbf16>
// CHECK: %[[DACT:.*]] = dtrain.dot %[[DX]], %[[W]] rule("b s n, k n -> b s k") origin backward
// CHECK: %[[DW:.*]] = dtrain.dot %{{.*}}, %[[DX]] rule("b s k, b s n -> k n") origin backward
// CHECK-SAME: -> tensor<16x8xf32>
// A parameter's gradient is accumulated, in f32, as soon as it is there.
// CHECK: %[[DB:.*]] = dtrain.reduce <sum> %[[DX]] rule("b s n -> n") origin backward
// CHECK-SAME: -> tensor<8xf32>
// CHECK: %[[SUM:.*]] = dtrain.elementwise <add> %{{.*}}, %[[DW]] origin backward
// CHECK-SAME: -> tensor<16x8xf32>
// CHECK: dtrain.elementwise <gelu_tanh_grad> %[[DACT]]
// Views are derived again.
// CHECK: %[[PARTS:.*]] = dtrain.move %{{.*}} rule("b s (c h) -> c b s h") origin backward
// CHECK: dtrain.slice %[[PARTS]] dim 0 offset 0
// CHECK: %[[DQ:.*]], %[[DK:.*]], %[[DV:.*]] = dtrain.attention_grad
// The gradients of the slices of one tensor are put together.
// CHECK: dtrain.concat
// CHECK: return
// CHECK-SAME: %[[SUM]]

// CHECK-LABEL: func.func private @microbatch(
// CHECK-SAME: %[[LOSS:arg0]]: tensor<f32>
// CHECK-SAME: %[[DWTE:arg1]]: tensor<12x8xf32> {dtrain.name = "wte", dtrain.role = #dtrain.role<accumulator>}
// CHECK-SAME: %[[IDS:[a-z0-9]*]]: tensor<4x6xi64> {dtrain.name = "input_ids", dtrain.role = #dtrain.role<input>}
// CHECK-SAME: %[[WTE:[a-z0-9]*]]: tensor<12x8xbf16> {dtrain.name = "wte", dtrain.role = #dtrain.role<parameter>}
// CHECK: %[[FWD:.*]]:10 = dtrain.repeat @layer 0 to 4
// The loss is the mean over the micro-batches.
// CHECK: %[[PART:.*]] = dtrain.elementwise <scale> %{{.*}} constant 1.250000e-01 : (tensor<f32>)
// CHECK: %[[TOTAL:.*]] = dtrain.elementwise <add> %[[LOSS]], %[[PART]] :
// CHECK: dtrain.constant 1.250000e-01 origin backward
// CHECK: %[[DHEAD:.*]] = dtrain.dot %{{.*}} rule("b s k, b s v -> v k") origin backward
// CHECK-SAME: -> tensor<12x8xf32>
// CHECK: %[[BWD:.*]]:13 = dtrain.repeat @layer_backward 0 to 4 reverse carry(%{{.*}}) stacked({{.*}}, %[[FWD]]#1, %[[FWD]]#2, {{.*}}%[[FWD]]#9) inout({{.*}}) origin backward
// The embedding's two gradients are one before they are accumulated; the
// positions, broadcast over the batch, are summed over it.
// CHECK: dtrain.reduce <sum> %[[BWD]]#0 rule("x0 x1 x2 -> x1 x2") origin backward
// CHECK: %[[DEMB:.*]] = dtrain.scatter_add %[[IDS]], %[[BWD]]#0 origin backward
// CHECK: %[[TIED:.*]] = dtrain.elementwise <add> %[[DHEAD]], %[[DEMB]] origin backward
// CHECK: %[[ACC:.*]] = dtrain.elementwise <add> %[[DWTE]], %[[TIED]] origin backward
// CHECK: return %[[TOTAL]], %[[ACC]], %{{.*}}, %[[BWD]]#1,

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[ALLIDS:[a-z0-9]*]]: tensor<8x4x6xi64> {dtrain.name = "input_ids"
// CHECK: dtrain.constant 0.000000e+00 : () -> tensor<f32>
// CHECK: dtrain.constant 0.000000e+00 origin backward : () -> tensor<12x8xf32>
// CHECK: dtrain.repeat @microbatch 0 to 8 carry({{.*}}) stacked(%[[ALLIDS]], %{{.*}}) shared(

// Backward has twice the contractions of forward.
// DOTS-LABEL: func.func private @layer(
// DOTS-COUNT-4: dtrain.dot
// DOTS-NOT: dtrain.dot
// DOTS-LABEL: func.func private @layer_backward(
// DOTS-COUNT-8: dtrain.dot
// DOTS-NOT: dtrain.dot
// DOTS-LABEL: func.func private @microbatch(
// DOTS-COUNT-1: dtrain.dot {{.*}} : (
// DOTS-COUNT-2: dtrain.dot {{.*}} origin backward
// DOTS-NOT: dtrain.dot

// NARROW-LABEL: func.func private @layer_backward(
// NARROW: dtrain.dot {{.*}} rule("b s k, b s n -> k n") origin backward {{.*}} -> tensor<16x8xf32>
// NARROW-LABEL: func.func private @microbatch(
// NARROW-SAME: tensor<12x8xbf16> {dtrain.name = "wte", dtrain.role = #dtrain.role<accumulator>}

// Backward ops carry the name of their forward op.
// NAMES-DAG: dtrain.elementwise <gelu_tanh> {{.*}} loc(#[[ACT:loc[0-9]*]])
// NAMES-DAG: dtrain.elementwise <gelu_tanh_grad> {{.*}} loc(#[[ACT]])
// NAMES-DAG: #[[ACT]] = loc("h/mlp/act"

// LLAMA-LABEL: func.func private @layer_backward(
// LLAMA: dtrain.elementwise <swiglu_grad>
// LLAMA: dtrain.attention_grad
// LLAMA-COUNT-2: dtrain.rotary {{.*}} inverse origin backward
// LLAMA: dtrain.normalize_grad <rms>
// The rotary tables have no gradient: they are shared only.
// LLAMA-LABEL: func.func private @microbatch(
// LLAMA: dtrain.repeat @layer_backward {{.*}} shared(%{{[a-z0-9]*}}, %{{[a-z0-9]*}}) origin backward
