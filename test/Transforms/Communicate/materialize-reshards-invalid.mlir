// States that someone edited: each is one diagnostic, never a crash.
// RUN: dtrain-opt %s -split-input-file -verify-diagnostics --dtrain-materialize-reshards

#mesh = #dtrain.mesh<["tp" = 2]>
#r = #dtrain.placement<#mesh, [{}, {}]>
module attributes {dtrain.mesh = #mesh, dtrain.phase = #dtrain.phase<place>} {
  func.func @main(%a: tensor<4x8xf32, #r>, %b: tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r> {
    // expected-error@+1 {{state: dimension 1 of extent 8}}
    %0 = dtrain.dot %a, %b rule("m k, k n -> m n") state <{"tp" = factor("k", 7)}> : (tensor<4x8xf32, #r>, tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r>
    return %0 : tensor<4x2xf32, #r>
  }
}

// -----

#mesh = #dtrain.mesh<["tp" = 2]>
#r = #dtrain.placement<#mesh, [{}, {}]>
module attributes {dtrain.mesh = #mesh, dtrain.phase = #dtrain.phase<place>} {
  func.func @main(%a: tensor<4x8xf32, #r>, %b: tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r> {
    // expected-error@+1 {{op state: axis "tp": expected a positive stride, found 0}}
    %0 = dtrain.dot %a, %b rule("m k, k n -> m n") state <{"tp" = factor("k", 0)}> : (tensor<4x8xf32, #r>, tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r>
    return %0 : tensor<4x2xf32, #r>
  }
}

// -----

#mesh = #dtrain.mesh<["tp" = 2]>
#r = #dtrain.placement<#mesh, [{}, {}]>
module attributes {dtrain.mesh = #mesh, dtrain.phase = #dtrain.phase<place>} {
  func.func @main(%a: tensor<4x8xf32, #r>, %b: tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r> {
    // expected-error@+1 {{op state: axis "tp": expected ascending coordinates below 2}}
    %0 = dtrain.dot %a, %b rule("m k, k n -> m n") state <{"tp" = pinned([2])}> : (tensor<4x8xf32, #r>, tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r>
    return %0 : tensor<4x2xf32, #r>
  }
}

// -----

#mesh = #dtrain.mesh<["tp" = 2]>
#r = #dtrain.placement<#mesh, [{}, {}]>
module attributes {dtrain.mesh = #mesh, dtrain.phase = #dtrain.phase<place>} {
  func.func @main(%a: tensor<4x8xf32, #r>, %b: tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r> {
    // expected-error@+1 {{op state: axis "tp": expected a coordinate}}
    %0 = dtrain.dot %a, %b rule("m k, k n -> m n") state <{"tp" = pinned([])}> : (tensor<4x8xf32, #r>, tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r>
    return %0 : tensor<4x2xf32, #r>
  }
}

// -----

#mesh = #dtrain.mesh<["tp" = 2]>
#r = #dtrain.placement<#mesh, [{}, {}]>
module attributes {dtrain.mesh = #mesh, dtrain.phase = #dtrain.phase<place>} {
  func.func @main(%a: tensor<4x8xf32, #r>, %b: tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r> {
    // expected-error@+1 {{has no linear group 7}}
    %0 = dtrain.dot %a, %b rule("m k, k n -> m n") state <{"tp" = linear(7)}> : (tensor<4x8xf32, #r>, tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r>
    return %0 : tensor<4x2xf32, #r>
  }
}

// -----

#mesh = #dtrain.mesh<["tp" = 2]>
#r = #dtrain.placement<#mesh, [{}, {}]>
module attributes {dtrain.mesh = #mesh, dtrain.phase = #dtrain.phase<place>} {
  func.func @main(%a: tensor<4x8xf32, #r>, %b: tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r> {
    // expected-error@+1 {{has no factor "z"}}
    %0 = dtrain.dot %a, %b rule("m k, k n -> m n") state <{"tp" = factor("z", 4)}> : (tensor<4x8xf32, #r>, tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r>
    return %0 : tensor<4x2xf32, #r>
  }
}

// -----

// Both terms of a sum are one group.
#mesh = #dtrain.mesh<["tp" = 2]>
#r = #dtrain.placement<#mesh, [{}]>
module attributes {dtrain.mesh = #mesh, dtrain.phase = #dtrain.phase<place>} {
  func.func @main(%a: tensor<4xf32, #r>) -> tensor<4xf32, #r> {
    // expected-error@+1 {{has no linear group 1}}
    %0 = dtrain.elementwise <add> %a, %a state <{"tp" = linear(1)}> : (tensor<4xf32, #r>, tensor<4xf32, #r>) -> tensor<4xf32, #r>
    return %0 : tensor<4xf32, #r>
  }
}
