// RUN: dtrain-opt %s -split-input-file -verify-diagnostics --dtrain-propagate-placement

module attributes {dtrain.mesh = #dtrain.mesh<["tp" = 2]>} {
  func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    // expected-note@+1 {{the other seed}}
    dtrain.seed %x over "tp" split 0 level 1 because "rows" : tensor<4x8xf32>
    // expected-error@+1 {{contradicts another seed of level 1 on axis "tp"}}
    dtrain.seed %x over "tp" split 1 level 1 because "columns" : tensor<4x8xf32>
    return %x : tensor<4x8xf32>
  }
}

// -----

module attributes {dtrain.mesh = #dtrain.mesh<["tp" = 2]>} {
  func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    dtrain.seed %x over "tp" split 0 level 1 because "rows" : tensor<4x8xf32>
    // expected-remark@+1 {{columns: no effect: the value is S(0,2) on axis "tp" already}}
    dtrain.seed %x over "tp" split 1 level 2 because "columns" : tensor<4x8xf32>
    // expected-remark@+1 {{the state of level 2 on axis "tp" has no effect: a lower level decided the op}}
    %y = dtrain.elementwise<neg> %x state <{"tp" = factor("x1", 4) level 2}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
}

// -----

module attributes {dtrain.mesh = #dtrain.mesh<["dp" = 4, "tp" = 2]>} {
  func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    dtrain.seed %x over "dp" split 0 level 0 because "rows" : tensor<4x8xf32>
    // expected-remark@+1 {{the state of level 1 on axis "tp" has no effect: lower levels left no room}}
    %y = dtrain.elementwise<neg> %x state <{"tp" = factor("x0", 2) level 1}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
}

// -----

module attributes {dtrain.mesh = #dtrain.mesh<["dp" = 4, "tp" = 2]>} {
  func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    // expected-error@+1 {{state: the op cannot be so on axis "tp"}}
    %y = dtrain.elementwise<neg> %x state <{"dp" = factor("x0", 1), "tp" = factor("x0", 2) level 1}>
        : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %y : tensor<4x8xf32>
  }
}

// -----

module attributes {dtrain.mesh = #dtrain.mesh<["tp" = 2]>} {
  func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    // expected-error@+1 {{axis "cp" is not in the mesh}}
    dtrain.seed %x over "cp" split 0 level 0 because "rows" : tensor<4x8xf32>
    return %x : tensor<4x8xf32>
  }
}

// -----

module attributes {dtrain.mesh = #dtrain.mesh<["pp" = 2]>} {
  func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{the value lies in the body of a repeat that is pinned on axis "pp", where it has no state}}
    dtrain.seed %x over "pp" split 0 level 0 because "rows" : tensor<4xf32>
    return %x : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = dtrain.repeat @body 0 to 2 carry(%x) pinned "pp" = 0 : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}

// -----

module attributes {dtrain.mesh = #dtrain.mesh<["pp" = 2]>} {
  func.func private @body(%x: tensor<4xf32>) -> tensor<4xf32> {
    // expected-error@+1 {{state: the op lies in the body of a repeat that is pinned on axis "pp", where it has no state}}
    %y = dtrain.elementwise<neg> %x state <{"pp" = factor("x0", 2)}> : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = dtrain.repeat @body 0 to 2 carry(%x) pinned "pp" = 0 : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
