// RUN: dtrain-opt --dtrain-roll-layers --split-input-file %s 2>%t.remarks | FileCheck %s
// RUN: FileCheck --check-prefix=REMARK %s < %t.remarks

// One stacked parameter per weight, at the place of the first; the tables that
// all layers read are shared.

// REMARK: remark: rolled 3 layers of 2 ops into @layer

// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x8xf32>, %[[B:.*]]: tensor<8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[Y:.*]] = dtrain.dot %[[X]], %[[W]], %[[B]]
// CHECK-NEXT: %[[Z:.*]] = dtrain.elementwise{{ ?}}<relu> %[[Y]]
// CHECK-NEXT: return %[[Z]]
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[IN:.*]]: tensor<4x8xf32> {dtrain.name = "x", dtrain.role = #dtrain.role<input>}
// CHECK-SAME: %[[WS:.*]]: tensor<3x8x8xf32> {dtrain.name = "layers.*.weight", dtrain.role = #dtrain.role<parameter>}
// CHECK-SAME: %[[BS:.*]]: tensor<3x8xf32> {dtrain.name = "layers.*.bias", dtrain.role = #dtrain.role<parameter>}) -> tensor<4x8xf32>
// CHECK-NEXT: %[[R:.*]] = dtrain.repeat @layer 0 to 3 carry(%[[IN]]) stacked(%[[WS]], %[[BS]]) :
// CHECK-NEXT: return %[[R]]
func.func @main(
    %x: tensor<4x8xf32> {dtrain.role = #dtrain.role<input>, dtrain.name = "x"},
    %w0: tensor<8x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.0.weight"},
    %b0: tensor<8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.0.bias"},
    %w1: tensor<8x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.1.weight"},
    %b1: tensor<8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.1.bias"},
    %w2: tensor<8x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.2.weight"},
    %b2: tensor<8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "layers.2.bias"})
    -> tensor<4x8xf32> {
  %0 = dtrain.dot %x, %w0, %b0 rule("b k, k n, n -> b n") : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = dtrain.elementwise<relu> %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = dtrain.dot %1, %w1, %b1 rule("b k, k n, n -> b n") : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %3 = dtrain.elementwise<relu> %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = dtrain.dot %3, %w2, %b2 rule("b k, k n, n -> b n") : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %5 = dtrain.elementwise<relu> %4 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}

// -----

// The residual of layer 0 comes from an op that depends on no contraction, its
// table is computed in the middle of layer 0, and the ops of a layer are in
// another order in the second: two layers all the same.

// REMARK: remark: rolled 2 layers of 4 ops into @layer

// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %[[X:.*]]: tensor<2x4x8xf32>, %[[W:.*]]: tensor<8xf32>, %[[M:.*]]: tensor<8x8xf32>, %[[T:.*]]: tensor<4x4xf32>)
// CHECK-NEXT: %[[N:.*]] = dtrain.normalize{{ ?}}<rms> %[[X]], %[[W]]
// CHECK-NEXT: %[[D:.*]] = dtrain.dot %[[N]], %[[M]]
// CHECK-NEXT: %[[R:.*]] = dtrain.rotary %[[D]], %[[T]], %[[T]]
// CHECK-NEXT: %[[A:.*]] = dtrain.elementwise{{ ?}}<add> %[[X]], %[[R]]
// CHECK-NEXT: return %[[A]]
// CHECK-LABEL: func.func @main
// CHECK-DAG: %[[E:.*]] = dtrain.elementwise{{ ?}}<add>
// CHECK-DAG: %[[TABLE:.*]] = dtrain.slice
// CHECK: %[[L:.*]] = dtrain.repeat @layer 0 to 2 carry(%[[E]]) stacked(%{{.*}}, %{{.*}}) shared(%[[TABLE]])
// CHECK: %[[LAST:.*]] = dtrain.normalize{{ ?}}<rms> %[[L]]
// CHECK: return %[[LAST]]
func.func @main(
    %ids: tensor<2x4xi64> {dtrain.role = #dtrain.role<input>, dtrain.name = "ids"},
    %wte: tensor<16x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "wte"},
    %wpe: tensor<4x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "wpe"},
    %table: tensor<9x4xf32> {dtrain.role = #dtrain.role<input>, dtrain.name = "table"},
    %n0: tensor<8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "n0"},
    %m0: tensor<8x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "m0"},
    %n1: tensor<8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "n1"},
    %m1: tensor<8x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "m1"},
    %nf: tensor<8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "nf"}) -> tensor<2x4x8xf32> {
  %e = dtrain.gather %ids, %wte : (tensor<2x4xi64>, tensor<16x8xf32>) -> tensor<2x4x8xf32>
  %x0 = dtrain.elementwise<add> %e, %wpe : (tensor<2x4x8xf32>, tensor<4x8xf32>) -> tensor<2x4x8xf32>
  %a0 = dtrain.normalize<rms> %x0, %n0 epsilon 1.0e-5 : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %d0 = dtrain.dot %a0, %m0 rule("b s k, k n -> b s n") : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %t = dtrain.slice %table dim 0 offset 0 : (tensor<9x4xf32>) -> tensor<4x4xf32>
  %r0 = dtrain.rotary %d0, %t, %t : (tensor<2x4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x8xf32>
  %x1 = dtrain.elementwise<add> %x0, %r0 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %a1 = dtrain.normalize<rms> %x1, %n1 epsilon 1.0e-5 : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  %d1 = dtrain.dot %a1, %m1 rule("b s k, k n -> b s n") : (tensor<2x4x8xf32>, tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %r1 = dtrain.rotary %d1, %t, %t : (tensor<2x4x8xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<2x4x8xf32>
  %x2 = dtrain.elementwise<add> %x1, %r1 : (tensor<2x4x8xf32>, tensor<2x4x8xf32>) -> tensor<2x4x8xf32>
  %f = dtrain.normalize<rms> %x2, %nf epsilon 1.0e-5 : (tensor<2x4x8xf32>, tensor<8xf32>) -> tensor<2x4x8xf32>
  return %f : tensor<2x4x8xf32>
}

// -----

// One bias serves layers 0 and 2, and is the first layer's scale too: it stays
// one argument, of which both stacks are put together. The weight of a layer is
// moved in the layer.

// REMARK: remark: rolled 3 layers of 3 ops into @layer

// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[S:.*]]: tensor<8xf32>, %[[W:.*]]: tensor<2x4x8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK-DAG: %[[N:.*]] = dtrain.normalize{{ ?}}<rms> %[[X]], %[[S]]
// CHECK-DAG: %[[M:.*]] = dtrain.move %[[W]]
// CHECK: dtrain.dot %[[N]], %[[M]], %[[B]]
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[TIED:[a-z0-9]+]]: tensor<8xf32> {dtrain.name = "tied"
// CHECK-SAME: %[[WS:[a-z0-9]+]]: tensor<3x2x4x8xf32> {dtrain.name = "w*"
// CHECK-SAME: %[[OTHER:[a-z0-9]+]]: tensor<8xf32> {dtrain.name = "b1"
// CHECK-SAME: %[[S1:[a-z0-9]+]]: tensor<8xf32> {dtrain.name = "s1"
// CHECK-SAME: %[[S2:[a-z0-9]+]]: tensor<8xf32> {dtrain.name = "s2"
// CHECK-DAG: %[[T0:.*]] = dtrain.move %[[TIED]] rule("d0 -> 1 d0")
// CHECK-DAG: %[[O1:.*]] = dtrain.move %[[OTHER]] rule("d0 -> 1 d0")
// CHECK-DAG: %[[S1R:.*]] = dtrain.move %[[S1]] rule("d0 -> 1 d0")
// CHECK-DAG: %[[S2R:.*]] = dtrain.move %[[S2]] rule("d0 -> 1 d0")
// CHECK-DAG: %[[SS:.*]] = dtrain.concat %{{.*}}, %[[S1R]], %[[S2R]] dim 0 {{.*}} -> tensor<3x8xf32>
// CHECK-DAG: %[[BS:.*]] = dtrain.concat %{{.*}}, %[[O1]], %{{.*}} dim 0 {{.*}} -> tensor<3x8xf32>
// CHECK: dtrain.repeat @layer 0 to 3 carry(%{{.*}}) stacked(%[[SS]], %[[WS]], %[[BS]])
func.func @main(
    %x: tensor<4x8xf32> {dtrain.role = #dtrain.role<input>, dtrain.name = "x"},
    %tied: tensor<8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "tied"},
    %w0: tensor<2x4x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "w0"},
    %w1: tensor<2x4x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "w1"},
    %b1: tensor<8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "b1"},
    %s1: tensor<8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "s1"},
    %w2: tensor<2x4x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "w2"},
    %s2: tensor<8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "s2"})
    -> tensor<4x8xf32> {
  %m0 = dtrain.move %w0 rule("a b c -> (a b) c") : (tensor<2x4x8xf32>) -> tensor<8x8xf32>
  %m1 = dtrain.move %w1 rule("a b c -> (a b) c") : (tensor<2x4x8xf32>) -> tensor<8x8xf32>
  %m2 = dtrain.move %w2 rule("a b c -> (a b) c") : (tensor<2x4x8xf32>) -> tensor<8x8xf32>
  %n0 = dtrain.normalize<rms> %x, %tied epsilon 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %0 = dtrain.dot %n0, %m0, %tied rule("b k, k n, n -> b n") : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %n1 = dtrain.normalize<rms> %0, %s1 epsilon 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %1 = dtrain.dot %n1, %m1, %b1 rule("b k, k n, n -> b n") : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %n2 = dtrain.normalize<rms> %1, %s2 epsilon 1.0e-5 : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  %2 = dtrain.dot %n2, %m2, %tied rule("b k, k n, n -> b n") : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// A weight that all layers share stays one operand.

// CHECK-LABEL: func.func private @layer(%{{.*}}: tensor<4x8xf32>, %{{.*}}: tensor<8x8xf32>)
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %{{.*}}: tensor<4x8xf32> {{{.*}}}, %[[W:.*]]: tensor<8x8xf32> {
// CHECK: dtrain.repeat @layer 0 to 2 carry(%{{.*}}) shared(%[[W]])
func.func @main(%x: tensor<4x8xf32> {dtrain.name = "x"}, %w: tensor<8x8xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "w"}) -> tensor<4x8xf32> {
  %0 = dtrain.dot %x, %w rule("b k, k n -> b n") : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = dtrain.elementwise<tanh> %0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = dtrain.dot %1, %w rule("b k, k n -> b n") : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %3 = dtrain.elementwise<tanh> %2 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// No contraction, but weights; two values carried (a reversible network).

// CHECK-LABEL: func.func private @layer(
// CHECK-SAME: %[[Y:.*]]: tensor<8xf32>, %[[X:.*]]: tensor<8xf32>, %[[W:.*]]: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT: %[[F:.*]] = dtrain.elementwise{{ ?}}<mul> %[[Y]], %[[W]]
// CHECK-NEXT: %[[X1:.*]] = dtrain.elementwise{{ ?}}<add> %[[X]], %[[F]]
// CHECK-NEXT: %[[G:.*]] = dtrain.elementwise{{ ?}}<tanh> %[[X1]]
// CHECK-NEXT: %[[Y1:.*]] = dtrain.elementwise{{ ?}}<add> %[[Y]], %[[G]]
// CHECK-NEXT: return %[[Y1]], %[[X1]]
// CHECK-LABEL: func.func @main(
// CHECK: %[[R:.*]]:2 = dtrain.repeat @layer 0 to 3 carry(%arg1, %arg0) stacked(%arg2)
// CHECK: dtrain.elementwise{{ ?}}<max> %[[R]]#1, %[[R]]#0
func.func @main(%x: tensor<8xf32> {dtrain.name = "x"}, %y: tensor<8xf32> {dtrain.name = "y"}, %w0: tensor<8xf32> {dtrain.name = "w0"}, %w1: tensor<8xf32> {dtrain.name = "w1"}, %w2: tensor<8xf32> {dtrain.name = "w2"}) -> tensor<8xf32> {
  %f0 = dtrain.elementwise<mul> %y, %w0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %x0 = dtrain.elementwise<add> %x, %f0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %g0 = dtrain.elementwise<tanh> %x0 : (tensor<8xf32>) -> tensor<8xf32>
  %y0 = dtrain.elementwise<add> %y, %g0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %f1 = dtrain.elementwise<mul> %y0, %w1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %x1 = dtrain.elementwise<add> %x0, %f1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %g1 = dtrain.elementwise<tanh> %x1 : (tensor<8xf32>) -> tensor<8xf32>
  %y1 = dtrain.elementwise<add> %y0, %g1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %f2 = dtrain.elementwise<mul> %y1, %w2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %x2 = dtrain.elementwise<add> %x1, %f2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %g2 = dtrain.elementwise<tanh> %x2 : (tensor<8xf32>) -> tensor<8xf32>
  %y2 = dtrain.elementwise<add> %y1, %g2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %f = dtrain.elementwise<max> %x2, %y2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %f : tensor<8xf32>
}
