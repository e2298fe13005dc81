// RUN: dtrain-opt %s -split-input-file -verify-diagnostics --dtrain-verify-communicate
// RUN: not dtrain-opt %s -split-input-file --mlir-print-op-on-diagnostic=false --dtrain-verify-place 2>&1 | FileCheck %s
// CHECK: error: 'dtrain.dot' op has no state

#mesh = #dtrain.mesh<["tp" = 2]>
#r = #dtrain.placement<#mesh, [{}, {}]>
#s = #dtrain.placement<#mesh, [{}, {"tp"}]>
module attributes {dtrain.mesh = #mesh} {
  func.func @reduced_factor(%a: tensor<4x8xf32, #s>, %b: tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r> {
    // expected-error@+1 {{no state on axis "tp" explains operands (S(1,4), R) and results (R) under its rule}}
    %0 = dtrain.dot %a, %b rule("m k, k n -> m n") : (tensor<4x8xf32, #s>, tensor<8x2xf32, #r>) -> tensor<4x2xf32, #r>
    return %0 : tensor<4x2xf32, #r>
  }
}

// -----

#mesh = #dtrain.mesh<["tp" = 2]>
#r = #dtrain.placement<#mesh, [{}, {}]>
module attributes {dtrain.mesh = #mesh} {
  // expected-error@+1 {{expected a placement on #dtrain.mesh<["tp" = 2]>, found 'tensor<4x8xf32>'}}
  func.func @unplaced(%a: tensor<4x8xf32>) {
    return
  }
}

// -----

#mesh = #dtrain.mesh<["tp" = 2]>
#r = #dtrain.placement<#mesh, [{}]>
#s = #dtrain.placement<#mesh, [{"tp"}]>
module attributes {dtrain.mesh = #mesh} {
  func.func @left_over(%a: tensor<4xf32, #s>) -> tensor<4xf32, #r> {
    // expected-error@+1 {{is not lowered}}
    %0 = dtrain.reshard %a : tensor<4xf32, #s> -> tensor<4xf32, #r>
    return %0 : tensor<4xf32, #r>
  }
}

// -----

#mesh = #dtrain.mesh<["pp" = 2]>
#r = #dtrain.placement<#mesh, [{}]>
#p = #dtrain.placement<#mesh, [{}], pinned = {"pp" = [1]}>
module attributes {dtrain.mesh = #mesh} {
  func.func private @body(%x: tensor<4xf32, #r>) -> tensor<4xf32, #r> {
    return %x : tensor<4xf32, #r>
  }
  func.func @elsewhere(%x: tensor<4xf32, #p>) -> tensor<4xf32, #p> {
    // expected-error@+1 {{operand #0: expected N({0}) on axis "pp", found N({1})}}
    %0 = dtrain.repeat @body 0 to 2 carry(%x) pinned "pp" = 0 : (tensor<4xf32, #p>) -> tensor<4xf32, #p>
    return %0 : tensor<4xf32, #p>
  }
}

// -----

// expected-error@+1 {{expected the attribute dtrain.mesh}}
module {
}
