// RUN: dtrain-opt --dtrain-recompute=mode=full -split-input-file -verify-diagnostics %s

func.func private @f(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  return %x, %x : tensor<3xf32>, tensor<3xf32>
}
func.func private @b(%d: tensor<3xf32>, %x: tensor<3xf32>) -> tensor<3xf32> {
  return %d : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  // expected-error @below {{recomputation needs a layer and a backward that no other repeat runs}}
  %y:2 = dtrain.repeat @f 0 to 2 carry(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>)
  %z:2 = dtrain.repeat @f 2 to 4 carry(%y#0) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<2x3xf32>)
  %d = dtrain.repeat @b 0 to 2 reverse carry(%x) stacked(%y#1) origin backward : (tensor<3xf32>, tensor<2x3xf32>) -> tensor<3xf32>
  return %d, %z#0 : tensor<3xf32>, tensor<3xf32>
}

// -----

// expected-warning @below {{nothing to recompute}}
module {
}
