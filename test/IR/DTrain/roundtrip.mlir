// RUN: dtrain-opt %s | dtrain-opt | FileCheck %s
// RUN: dtrain-opt %s --emit-bytecode | dtrain-opt | FileCheck %s

// Placements name their mesh, the digits of each dimension, and what is partial or pinned.
// CHECK: #[[MESH:.*]] = #dtrain.mesh<["pp" = 8, "dp" = 2, "tp" = 4]>
#mesh = #dtrain.mesh<["pp" = 8, "dp" = 2, "tp" = 4]>
// CHECK-DAG: #dtrain.placement<#[[MESH]], [{"dp"}, {3, "tp"}], pinned = {"pp" = [0, 7]}>
#split = #dtrain.placement<#mesh, [{"dp"}, {3, "tp"}], pinned = {"pp" = [0, 7]}>
// CHECK-DAG: #dtrain.placement<#[[MESH]], [{}, {}], partial = {"pp" = sum on [0, 7], "tp" = max}>
#partial = #dtrain.placement<#mesh, [{}, {}], partial = {"tp" = max, "pp" = sum on [0, 7]}>

// CHECK-LABEL: func.func @placements(
func.func @placements(%a: tensor<4x24xbf16, #split>, %b: tensor<4x24xf32, #partial>)
    -> (tensor<4x24xbf16, #split>, tensor<4x24xf32, #partial>) {
  return %a, %b : tensor<4x24xbf16, #split>, tensor<4x24xf32, #partial>
}

// CHECK-LABEL: func.func private @layer(
func.func private @layer(%x: tensor<2x6x8xf32>, %g: tensor<8xf32>, %w: tensor<8x8xf32>, %acc: tensor<8xf32>,
                         %cos: tensor<6x2xf32>)
    -> (tensor<2x6x8xf32>, tensor<8xf32>, tensor<2x6x8xf32>) {
  // CHECK: dtrain.normalize <rms> %{{.*}}, %{{.*}} epsilon 1.000000e-05
  %n = dtrain.normalize<rms> %x, %g epsilon 1.0e-5 : (tensor<2x6x8xf32>, tensor<8xf32>) -> tensor<2x6x8xf32>
  // CHECK: dtrain.rotary %{{.*}} interleaved
  %r = dtrain.rotary %n, %cos, %cos interleaved
      : (tensor<2x6x8xf32>, tensor<6x2xf32>, tensor<6x2xf32>) -> tensor<2x6x8xf32>
  // CHECK: dtrain.dot %{{.*}}, %{{.*}} rule("b s k, k n -> b s n")
  %y = dtrain.dot %r, %w rule("b s k, k n -> b s n") : (tensor<2x6x8xf32>, tensor<8x8xf32>) -> tensor<2x6x8xf32>
  // CHECK: dtrain.elementwise <scale> %{{.*}} constant 5.000000e-01
  %z = dtrain.elementwise<scale> %y constant 0.5 : (tensor<2x6x8xf32>) -> tensor<2x6x8xf32>
  return %z, %acc, %y : tensor<2x6x8xf32>, tensor<8xf32>, tensor<2x6x8xf32>
}

// CHECK-LABEL: func.func @main(
// CHECK-SAME: dtrain.name = "h.*.w", dtrain.role = #dtrain.role<parameter>
func.func @main(%x: tensor<2x6x8xf32>, %g: tensor<6x8xf32>,
                %w: tensor<6x8x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "h.*.w"},
                %acc: tensor<6x8xf32>, %cos: tensor<6x2xf32>)
    -> (tensor<6x8xf32> {dtrain.updates = 3 : i64}, tensor<3x2x6x8xf32>) {
  // CHECK: dtrain.repeat @layer 2 to 5 reverse carry(%{{.*}}) stacked(%{{.*}}, %{{.*}}) inout(%{{.*}}) shared(%{{.*}}) pinned "pp" = 1 origin backward
  %0:3 = dtrain.repeat @layer 2 to 5 reverse carry(%x) stacked(%g, %w) inout(%acc) shared(%cos) pinned "pp" = 1
      origin backward
      : (tensor<2x6x8xf32>, tensor<6x8xf32>, tensor<6x8x8xf32>, tensor<6x8xf32>, tensor<6x2xf32>)
      -> (tensor<2x6x8xf32>, tensor<6x8xf32>, tensor<3x2x6x8xf32>)
  return %0#1, %0#2 : tensor<6x8xf32>, tensor<3x2x6x8xf32>
}

// CHECK-LABEL: func.func @lookups(
func.func @lookups(%ids: tensor<2x6xi64>, %table: tensor<50x8xf32>, %logits: tensor<2x6x50xf32>)
    -> (tensor<2x6x8xf32>, tensor<2x6xf32>) {
  // CHECK: dtrain.gather
  %e = dtrain.gather %ids, %table : (tensor<2x6xi64>, tensor<50x8xf32>) -> tensor<2x6x8xf32>
  // CHECK: dtrain.cross_entropy %{{.*}}, %{{.*}} state <{"tp" = factor("v", 13) level -1 visible 2}>
  %loss, %lse = dtrain.cross_entropy %logits, %ids state <{"tp" = factor("v", 13) level -1 visible 2}>
      : (tensor<2x6x50xf32>, tensor<2x6xi64>) -> (tensor<2x6xf32>, tensor<2x6xf32>)
  // CHECK: dtrain.custom "mystery"(%{{.*}}) rule("b s v -> b s | flops 3 b s v")
  %c = dtrain.custom "mystery"(%logits) rule("b s v -> b s | flops 3 b s v") : (tensor<2x6x50xf32>) -> tensor<2x6xf32>
  return %e, %loss : tensor<2x6x8xf32>, tensor<2x6xf32>
}
