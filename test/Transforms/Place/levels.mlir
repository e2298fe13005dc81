// Intents take effect level by level, those of ops and of values alike, whatever other axes exist.

// Megatron's sequence parallelism on top of tensor parallelism (level 0): four seeds of level 1, two in a layer and two
// in its backward, make a reduce_scatter and an all_gather of each all_reduce, on one axis and on two.

// DEFINE: %{mesh} =
// DEFINE: %{seeded} = dtrain-opt %S/../Inputs/gpt-tiny.mlir --dtrain-differentiate --dtrain-apply-optimizer \
// DEFINE:   --dtrain-seed-data-parallel=mesh=%{mesh} --dtrain-seed-tensor-parallel \
// DEFINE:   | sed -E 's/^( *)(%%[0-9]+) = dtrain.elementwise <add> %%arg0, .* -> (tensor<4x6x8xf32>)$/&\n\1dtrain.seed %%arg0 over "tp" split 1 level 1 because "sequence" : \3\n\1dtrain.seed \2 over "tp" split 1 level 1 because "sequence" : \3/'
// DEFINE: %{communicate} = dtrain-opt --dtrain-propagate-placement --dtrain-verify-place --dtrain-materialize-reshards \
// DEFINE:   --dtrain-lower-reshards --dtrain-verify-communicate

// REDEFINE: %{mesh} = tp=2
// RUN: %{seeded} | FileCheck %s --check-prefix=SEEDS
// RUN: %{seeded} | %{communicate} | FileCheck %s --check-prefix=SEQUENCE
// REDEFINE: %{mesh} = dp=2,tp=2
// RUN: %{seeded} | %{communicate} | FileCheck %s --check-prefix=SEQUENCE
// REDEFINE: %{mesh} = tp=2,dp=2
// RUN: %{seeded} | %{communicate} | FileCheck %s --check-prefix=SEQUENCE

// SEEDS-COUNT-4: dtrain.seed
// SEEDS-NOT:     dtrain.seed

// SEQUENCE-LABEL: func.func private @layer(
// SEQUENCE-NOT:   dtrain.comm.all_to_all
// SEQUENCE-NOT:   dtrain.comm.all_reduce
// SEQUENCE:       dtrain.comm.all_gather {{.*}} over "tp"
// SEQUENCE:       dtrain.attention
// SEQUENCE:       dtrain.comm.reduce_scatter {{.*}} over "tp"
// SEQUENCE:       dtrain.comm.all_gather {{.*}} over "tp"
// SEQUENCE:       dtrain.comm.reduce_scatter {{.*}} over "tp"
// SEQUENCE-LABEL: func.func private @layer_backward(
// SEQUENCE-NOT:   dtrain.comm.all_to_all
// SEQUENCE-NOT:   dtrain.comm.all_reduce
// SEQUENCE:       dtrain.comm.reduce_scatter {{.*}} over "tp"
// SEQUENCE-NOT:   dtrain.comm.all_reduce
// SEQUENCE:       dtrain.comm.reduce_scatter {{.*}} over "tp"
// SEQUENCE-LABEL: func.func private @microbatch(

// The same with states of ops, written by hand.

// RUN: dtrain-opt %s -split-input-file --dtrain-propagate-placement | FileCheck %s

// The product contracts what tp splits, on level 0; the addition takes rows, on level 1.
// CHECK-LABEL: func.func @main
// CHECK:         dtrain.dot {{.*}} state <{"tp" = factor("k", 4)}>
// CHECK:         dtrain.elementwise <add> {{.*}} state <{"tp" = factor("x0", 2)}>
// CHECK:         dtrain.elementwise <neg> {{.*}} state <{"tp" = factor("x0", 2)}>
module attributes {dtrain.mesh = #dtrain.mesh<["tp" = 2]>} {
  func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %u: tensor<4x8xf32>) -> tensor<4x8xf32> {
    dtrain.seed %w over "tp" split 0 level 0 because "test" : tensor<8x8xf32>
    %y = dtrain.dot %x, %w rule("m k, k n -> m n") : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %z = dtrain.elementwise<add> %u, %y state <{"tp" = factor("x0", 2) level 1}>
        : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %r = dtrain.elementwise<neg> %z : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }
}

// -----

// With the levels exchanged, the addition asks first, and the product makes the rows that it wants.
// CHECK-LABEL: func.func @main
// CHECK:         dtrain.dot {{.*}} state <{"tp" = factor("m", 2)}>
// CHECK:         dtrain.elementwise <add> {{.*}} state <{"tp" = factor("x0", 2)}>
module attributes {dtrain.mesh = #dtrain.mesh<["tp" = 2]>} {
  func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %u: tensor<4x8xf32>) -> tensor<4x8xf32> {
    dtrain.seed %w over "tp" split 0 level 1 because "test" : tensor<8x8xf32>
    %y = dtrain.dot %x, %w rule("m k, k n -> m n") : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
    %z = dtrain.elementwise<add> %u, %y state <{"tp" = factor("x0", 2)}>
        : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %z : tensor<4x8xf32>
  }
}

// -----

// Ulysses in small: the op in the middle takes another factor, and its neighbours do not see it before level 9; they
// keep what the input gives them. A level that only dp has changes nothing on cp.
// CHECK-LABEL: func.func @main
// CHECK:         dtrain.elementwise <neg> {{.*}} state <{"cp" = factor("x0", 2)}>
// CHECK:         dtrain.elementwise <exp> {{.*}} state <{"cp" = factor("x1", 4)}>
// CHECK:         dtrain.elementwise <neg> {{.*}} state <{"cp" = factor("x0", 2)}>
// CHECK:         dtrain.elementwise <add> {{.*}} state <{"cp" = factor("x0", 2)}>
module attributes {dtrain.mesh = #dtrain.mesh<["dp" = 2, "cp" = 2]>} {
  func.func @main(%x: tensor<4x8xf32>, %other: tensor<6xf32>) -> tensor<4x8xf32> {
    dtrain.seed %other over "dp" split 0 level -4 because "test" : tensor<6xf32>
    dtrain.seed %x over "cp" split 0 level 0 because "test" : tensor<4x8xf32>
    %a = dtrain.elementwise<neg> %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %b = dtrain.elementwise<exp> %a state <{"cp" = factor("x1", 4) level -1 visible 9}>
        : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %c = dtrain.elementwise<neg> %b : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %d = dtrain.elementwise<add> %a, %c : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %d : tensor<4x8xf32>
  }
}

// -----

// Seen at once, it decides all of them.
// CHECK-LABEL: func.func @main
// CHECK:         dtrain.elementwise <neg> {{.*}} state <{"cp" = factor("x1", 4)}>
// CHECK:         dtrain.elementwise <exp> {{.*}} state <{"cp" = factor("x1", 4)}>
// CHECK:         dtrain.elementwise <neg> {{.*}} state <{"cp" = factor("x1", 4)}>
// CHECK:         dtrain.elementwise <add> {{.*}} state <{"cp" = factor("x1", 4)}>
module attributes {dtrain.mesh = #dtrain.mesh<["cp" = 2]>} {
  func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    dtrain.seed %x over "cp" split 0 level 0 because "test" : tensor<4x8xf32>
    %a = dtrain.elementwise<neg> %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %b = dtrain.elementwise<exp> %a state <{"cp" = factor("x1", 4) level -1}>
        : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %c = dtrain.elementwise<neg> %b : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %d = dtrain.elementwise<add> %a, %c : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    return %d : tensor<4x8xf32>
  }
}
