// RUN: dtrain-opt --dtrain-differentiate -split-input-file %s | FileCheck %s

#param = #dtrain.role<parameter>
#input = #dtrain.role<input>

// A shared weight sums its gradients over the iterations in a carry, from zero;
// nothing is stacked but the input of each iteration.
// CHECK-LABEL: func.func private @body(
// CHECK: return %{{.*}}, %arg0 : tensor<2x3xf32>, tensor<2x3xf32>
// CHECK-LABEL: func.func private @body_backward(
// CHECK-SAME: %[[DX:arg0]]: tensor<2x3xf32>, %[[SUM:arg1]]: tensor<3x3xf32>, %[[SAVED:arg2]]: tensor<2x3xf32>, %[[W:arg3]]: tensor<3x3xf32>)
// CHECK: %[[NEXT:.*]] = dtrain.dot %[[DX]], %[[W]]
// CHECK: %[[DW:.*]] = dtrain.dot %[[SAVED]], %[[DX]]
// CHECK: %[[S:.*]] = dtrain.elementwise <add> %[[SUM]], %[[DW]]
// CHECK: return %[[NEXT]], %[[S]]
// CHECK-LABEL: func.func private @microbatch(
// CHECK: %[[F:.*]]:2 = dtrain.repeat @body 0 to 5
// CHECK: %[[Z:.*]] = dtrain.constant 0.000000e+00 origin backward : () -> tensor<3x3xf32>
// CHECK: %[[B:.*]]:2 = dtrain.repeat @body_backward 0 to 5 reverse carry(%{{.*}}, %[[Z]]) stacked(%[[F]]#1) shared(%{{.*}}) origin backward
// CHECK: dtrain.elementwise <add> %{{.*}}, %[[B]]#1 origin backward
func.func private @body(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>) -> tensor<2x3xf32> {
  %y = dtrain.dot %x, %w rule("b k, k n -> b n") : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
func.func @main(%x: tensor<2x3xf32> {dtrain.role = #input, dtrain.name = "x"},
                %w: tensor<3x3xf32> {dtrain.role = #param, dtrain.name = "w"}) -> tensor<f32> {
  %y = dtrain.repeat @body 0 to 5 carry(%x) shared(%w) : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %loss = dtrain.reduce<sum> %y rule("b n -> ()") : (tensor<2x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#param = #dtrain.role<parameter>
#input = #dtrain.role<input>

// Stacked rows that are inputs: a repeat without trainable stacked operands
// after one that has them; both run one body, which becomes two. A value that
// follows from constants is derived again.
// CHECK-LABEL: func.func private @body(
// CHECK-LABEL: func.func private @body_backward(
// CHECK-SAME: tensor<3xf32>, %{{.*}}: tensor<3xf32>
// CHECK: %[[C:.*]] = dtrain.constant 2.000000e+00 origin backward
// CHECK: %[[E:.*]] = dtrain.elementwise <exp> %[[C]] origin backward
// CHECK: dtrain.elementwise <mul> %{{.*}}, %[[E]] origin backward
// CHECK-LABEL: func.func private @body_0(
// CHECK-LABEL: func.func private @body_0_backward(
// CHECK-SAME: %{{.*}}: tensor<3xf32>, %{{.*}}: tensor<3xf32>) -> tensor<3xf32>
// CHECK-LABEL: func.func private @microbatch(
// CHECK: dtrain.repeat @body 0 to 2
// CHECK: dtrain.repeat @body_0 0 to 4
// CHECK: dtrain.repeat @body_0_backward 0 to 4 reverse carry(%{{[a-z0-9_]*}}) stacked(%{{[a-z0-9_]*}}) origin backward
// CHECK: dtrain.repeat @body_backward 0 to 2 reverse carry(%{{.*}}) stacked(%{{.*}}) inout(%{{.*}}) origin backward
func.func private @body(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %two = dtrain.constant 2.0 : () -> tensor<3xf32>
  %e = dtrain.elementwise<exp> %two : (tensor<3xf32>) -> tensor<3xf32>
  %s = dtrain.elementwise<mul> %x, %e : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %y = dtrain.elementwise<mul> %s, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32> {dtrain.role = #param, dtrain.name = "x"},
                %rows: tensor<4x3xf32> {dtrain.role = #input, dtrain.name = "rows"},
                %w: tensor<2x3xf32> {dtrain.role = #param, dtrain.name = "w"}) -> tensor<f32> {
  %y = dtrain.repeat @body 0 to 2 carry(%x) stacked(%w) : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  %z = dtrain.repeat @body 0 to 4 carry(%y) stacked(%rows) : (tensor<3xf32>, tensor<4x3xf32>) -> tensor<3xf32>
  %loss = dtrain.reduce<sum> %z rule("n -> ()") : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#param = #dtrain.role<parameter>
#input = #dtrain.role<input>

// One stacked parameter over two ranges: the second repeat adds to what the
// first left.
// CHECK-LABEL: func.func private @microbatch(
// CHECK-SAME: %{{.*}}: tensor<f32>, %[[ACC:arg1]]: tensor<4x3xf32>
// CHECK: %[[B1:.*]]:2 = dtrain.repeat @{{.*}}_backward 2 to 4 reverse {{.*}} inout(%[[ACC]])
// CHECK: %[[B0:.*]]:2 = dtrain.repeat @{{.*}}_backward 0 to 2 reverse {{.*}} inout(%[[B1]]#1)
// CHECK: return %{{.*}}, %[[B0]]#1
func.func private @body(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %y = dtrain.elementwise<mul> %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32> {dtrain.role = #input, dtrain.name = "x"},
                %w: tensor<4x3xf32> {dtrain.role = #param, dtrain.name = "w"}) -> tensor<f32> {
  %y = dtrain.repeat @body 0 to 2 carry(%x) stacked(%w) : (tensor<3xf32>, tensor<4x3xf32>) -> tensor<3xf32>
  %z = dtrain.repeat @body 2 to 4 carry(%y) stacked(%w) : (tensor<3xf32>, tensor<4x3xf32>) -> tensor<3xf32>
  %loss = dtrain.reduce<sum> %z rule("n -> ()") : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#param = #dtrain.role<parameter>
#input = #dtrain.role<input>

// A repeat in a repeat: what the inner one saves, the outer one saves again, and
// the accumulator's row is lent to the inner backward.
// CHECK-LABEL: func.func private @outer(
// CHECK: %[[I:.*]]:2 = dtrain.repeat @inner 0 to 3
// CHECK: return %[[I]]#0, %[[I]]#1
// CHECK-LABEL: func.func private @outer_backward(
// CHECK-SAME: %[[DX:arg0]]: tensor<3xf32>, %[[W:arg1]]: tensor<3x3xf32>, %[[SAVED:arg2]]: tensor<3x3xf32>, %[[ACC:arg3]]: tensor<3x3xf32>
// CHECK: %[[B:.*]]:2 = dtrain.repeat @inner_backward 0 to 3 reverse carry(%[[DX]]) stacked(%[[W]], %[[SAVED]]) inout(%[[ACC]]) origin backward
// CHECK: return %[[B]]#0, %[[B]]#1
func.func private @inner(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %y = dtrain.elementwise<mul> %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func private @outer(%x: tensor<3xf32>, %w: tensor<3x3xf32>) -> tensor<3xf32> {
  %y = dtrain.repeat @inner 0 to 3 carry(%x) stacked(%w) : (tensor<3xf32>, tensor<3x3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32> {dtrain.role = #input, dtrain.name = "x"},
                %w: tensor<2x3x3xf32> {dtrain.role = #param, dtrain.name = "w"}) -> tensor<f32> {
  %z = dtrain.repeat @outer 0 to 2 carry(%x) stacked(%w) : (tensor<3xf32>, tensor<2x3x3xf32>) -> tensor<3xf32>
  %loss = dtrain.reduce<sum> %z rule("n -> ()") : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#param = #dtrain.role<parameter>
#input = #dtrain.role<input>

// Two carries, of which only the second reaches the loss in the end, but the
// first through it; a counter that does not depend on parameters has no
// gradient; an output of the forward repeat passes its gradient by rows.
// CHECK-LABEL: func.func private @body_backward(
// CHECK-SAME: %[[DA:arg0]]: tensor<3xf32>, %[[DS:arg1]]: tensor<3xf32>, %{{.*}}: tensor<3xf32>, %{{.*}}: tensor<3xf32>, %[[DOUT:arg4]]: tensor<3xf32>, %{{.*}}: tensor<3xf32>)
// CHECK-LABEL: func.func private @microbatch(
// CHECK: %[[Z:.*]] = dtrain.constant 0.000000e+00 origin backward : () -> tensor<3xf32>
// CHECK: dtrain.repeat @body_backward 0 to 4 reverse carry(%[[Z]], %{{[a-z0-9]*}}) stacked(
func.func private @body(%a: tensor<3xf32>, %s: tensor<3xf32>, %n: tensor<3xf32>, %w: tensor<3xf32>)
    -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %a1 = dtrain.elementwise<mul> %a, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %s1 = dtrain.elementwise<add> %s, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %n1 = dtrain.elementwise<offset> %n constant 1.0 : (tensor<3xf32>) -> tensor<3xf32>
  return %a1, %s1, %n1, %a1 : tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>
}
func.func @main(%x: tensor<3xf32> {dtrain.role = #input, dtrain.name = "x"},
                %w: tensor<4x3xf32> {dtrain.role = #param, dtrain.name = "w"}) -> tensor<f32> {
  %r:4 = dtrain.repeat @body 0 to 4 carry(%x, %x, %x) stacked(%w)
      : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4x3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<4x3xf32>)
  %outs = dtrain.reduce<sum> %r#3 rule("l n -> n") : (tensor<4x3xf32>) -> tensor<3xf32>
  %t = dtrain.elementwise<add> %r#1, %outs : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %u = dtrain.elementwise<mul> %t, %r#2 : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %loss = dtrain.reduce<sum> %u rule("n -> ()") : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
