// RUN: dtrain-opt --dtrain-differentiate -split-input-file %s | FileCheck %s

#param = #dtrain.role<parameter>
#input = #dtrain.role<input>

// A sum of a broadcast product: the gradient of the vector is summed over what
// it lacks, and the input has none.
// CHECK-LABEL: func.func private @microbatch(
// CHECK-SAME: %[[X:[a-z0-9]*]]: tensor<2x3xf32> {dtrain.name = "x"
// CHECK: %[[G:.*]] = dtrain.move %{{.*}} rule("() -> b n") origin backward
// CHECK-NEXT: %[[P:.*]] = dtrain.elementwise <mul> %[[G]], %[[X]] origin backward
// CHECK-NEXT: %[[S:.*]] = dtrain.reduce <sum> %[[P]] rule("x0 x1 -> 1 x1") origin backward
// CHECK-NEXT: dtrain.elementwise <add> %{{.*}}, %[[S]] origin backward
// CHECK-NEXT: return
func.func @main(%x: tensor<2x3xf32> {dtrain.role = #input, dtrain.name = "x"},
                %w: tensor<1x3xf32> {dtrain.role = #param, dtrain.name = "w"}) -> tensor<f32> {
  %y = dtrain.elementwise<mul> %x, %w : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>
  %loss = dtrain.reduce<sum> %y rule("b n -> ()") : (tensor<2x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#param = #dtrain.role<parameter>
#input = #dtrain.role<input>

// A factor that only the weight has was summed: its gradient is constant along
// it.
// CHECK-LABEL: func.func private @microbatch(
// CHECK: %[[D:.*]] = dtrain.dot %[[X:.*]], %{{.*}} rule("b k, b -> k") origin backward : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<3xf32>
// CHECK-NEXT: dtrain.move %[[D]] rule("k -> k j") origin backward : (tensor<3xf32>) -> tensor<3x5xf32>
func.func @main(%x: tensor<2x3xf32> {dtrain.role = #input, dtrain.name = "x"},
                %w: tensor<3x5xf32> {dtrain.role = #param, dtrain.name = "w"}) -> tensor<f32> {
  %y = dtrain.dot %x, %w rule("b k, k j -> b") : (tensor<2x3xf32>, tensor<3x5xf32>) -> tensor<2xf32>
  %loss = dtrain.reduce<sum> %y rule("b -> ()") : (tensor<2xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#param = #dtrain.role<parameter>
#input = #dtrain.role<input>

// Compound dimensions on both sides keep their sizes.
// CHECK-LABEL: func.func private @microbatch(
// CHECK: dtrain.dot %{{.*}}, %{{.*}} rule("b (g d), b n -> g d n") origin backward : (tensor<2x6xf32>, tensor<2x5xf32>) -> tensor<2x3x5xf32>
func.func @main(%x: tensor<2x6xf32> {dtrain.role = #input, dtrain.name = "x"},
                %w: tensor<2x3x5xf32> {dtrain.role = #param, dtrain.name = "w"}) -> tensor<f32> {
  %y = dtrain.dot %x, %w rule("b (g d), g d n -> b n") : (tensor<2x6xf32>, tensor<2x3x5xf32>) -> tensor<2x5xf32>
  %loss = dtrain.reduce<sum> %y rule("b n -> ()") : (tensor<2x5xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#param = #dtrain.role<parameter>

// expand becomes a sum, a slice a pad, a concatenation slices.
// CHECK-LABEL: func.func private @microbatch(
// CHECK: %[[A:.*]] = dtrain.slice %{{.*}} dim 1 offset 0 origin backward : (tensor<2x7xf32>) -> tensor<2x3xf32>
// CHECK: %[[B:.*]] = dtrain.slice %{{.*}} dim 1 offset 3 origin backward : (tensor<2x7xf32>) -> tensor<2x4xf32>
// CHECK-DAG: dtrain.reduce <sum> %[[A]] rule("r n -> n") origin backward
// CHECK-DAG: dtrain.pad %[[B]] dim 1 offset 1 origin backward : (tensor<2x4xf32>) -> tensor<2x6xf32>
func.func @main(%u: tensor<3xf32> {dtrain.role = #param, dtrain.name = "u"},
                %v: tensor<2x6xf32> {dtrain.role = #param, dtrain.name = "v"}) -> tensor<f32> {
  %a = dtrain.move %u rule("n -> r n") : (tensor<3xf32>) -> tensor<2x3xf32>
  %b = dtrain.slice %v dim 1 offset 1 : (tensor<2x6xf32>) -> tensor<2x4xf32>
  %c = dtrain.concat %a, %b dim 1 : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x7xf32>
  %loss = dtrain.reduce<sum> %c rule("r n -> ()") : (tensor<2x7xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#param = #dtrain.role<parameter>

// Kinds whose gradient takes the result, those that take the operand, and the
// choice of a maximum.
// CHECK-LABEL: func.func private @microbatch(
// CHECK: %[[T:.*]] = dtrain.elementwise <tanh> %[[U:.*]] :
// CHECK: %[[S:.*]] = dtrain.elementwise <silu> %[[T]] :
// CHECK: %[[M:.*]] = dtrain.elementwise <max> %[[S]], %[[U]] :
// CHECK: %[[R:.*]] = dtrain.reduce <max> %[[M]]
// CHECK: %[[SPREAD:.*]] = dtrain.move %[[R]] rule("() -> n") origin backward
// CHECK: %[[TOP:.*]] = dtrain.elementwise <equal> %[[M]], %[[SPREAD]] origin backward : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
// CHECK: dtrain.elementwise <where> %[[TOP]]
// CHECK: %[[C:.*]] = dtrain.elementwise <less_equal> %[[U]], %[[S]] origin backward
// CHECK: %[[G1:.*]] = dtrain.elementwise <where> %[[C]], %[[G:.*]], %[[ZERO:.*]] origin backward
// CHECK: %[[G2:.*]] = dtrain.elementwise <where> %[[C]], %[[ZERO]], %[[G]] origin backward
// CHECK: %[[G3:.*]] = dtrain.elementwise <silu_grad> %[[G1]], %[[T]] origin backward
// CHECK: %[[G4:.*]] = dtrain.elementwise <tanh_grad> %[[G3]], %[[T]] origin backward
// CHECK: dtrain.elementwise <add> %[[G2]], %[[G4]] origin backward
func.func @main(%u: tensor<3xf32> {dtrain.role = #param, dtrain.name = "u"}) -> tensor<f32> {
  %t = dtrain.elementwise<tanh> %u : (tensor<3xf32>) -> tensor<3xf32>
  %s = dtrain.elementwise<silu> %t : (tensor<3xf32>) -> tensor<3xf32>
  %m = dtrain.elementwise<max> %s, %u : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %loss = dtrain.reduce<max> %m rule("n -> ()") : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

#param = #dtrain.role<parameter>
#input = #dtrain.role<input>

// A mask is not differentiated; the masked operand is.
// CHECK-LABEL: func.func private @microbatch(
// CHECK: %[[MASK:.*]] = dtrain.elementwise <less> {{.*}} -> tensor<3x3xi1>
// CHECK: %[[P:.*]] = dtrain.softmax
// CHECK: %[[D:.*]] = dtrain.softmax_grad %{{.*}}, %[[P]] origin backward
// CHECK: dtrain.elementwise <where> %[[MASK]], %[[D]], %{{.*}} origin backward
// CHECK-NOT: <where>
func.func @main(%x: tensor<3x3xf32> {dtrain.role = #input, dtrain.name = "x"},
                %w: tensor<3x3xf32> {dtrain.role = #param, dtrain.name = "w"}) -> tensor<f32> {
  %zero = dtrain.constant 0.0 : () -> tensor<3x3xf32>
  %mask = dtrain.elementwise<less> %x, %zero : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xi1>
  %m = dtrain.elementwise<where> %mask, %w, %zero : (tensor<3x3xi1>, tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %p = dtrain.softmax %m : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %y = dtrain.elementwise<mul> %p, %x : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  %loss = dtrain.reduce<sum> %y rule("b n -> ()") : (tensor<3x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
