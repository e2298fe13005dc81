// RUN: dtrain-opt %s --dtrain-check-equivalence -split-input-file -verify-diagnostics -o /dev/null
// RUN: not dtrain-opt %s --dtrain-check-rules -split-input-file -o /dev/null 2>&1 | FileCheck %s --check-prefix=RULES

// Programs that would take all memory or days are refused before they run.

#mesh = #dtrain.mesh<["a" = 2]>
#r = #dtrain.placement<#mesh, [{}, {}]>
// expected-error @+1 {{too large to run: it takes}}
func.func @main(%x: tensor<1000000x1000000xf32, #r>) -> tensor<1000000x1000000xf32, #r> {
  // RULES: error: too large to run: it takes 3.6e+14 elements and multiply-adds, expected at most 4.0e+08; make it smaller or raise the option 'limit'
  %y = dtrain.elementwise<exp> %x : (tensor<1000000x1000000xf32, #r>) -> tensor<1000000x1000000xf32, #r>
  return %y : tensor<1000000x1000000xf32, #r>
}

// -----

// A contraction of few elements with many multiply-adds.
#mesh = #dtrain.mesh<["a" = 2]>
#r = #dtrain.placement<#mesh, [{}, {}]>
// expected-error @+1 {{too large to run: it takes 3.}}
func.func @main(%x: tensor<1000x1000xf32, #r>) -> tensor<1000x1000xf32, #r> {
  %y = dtrain.dot %x, %x rule("a b, b c -> a c") : (tensor<1000x1000xf32, #r>, tensor<1000x1000xf32, #r>) -> tensor<1000x1000xf32, #r>
  return %y : tensor<1000x1000xf32, #r>
}

// -----

// Many devices of a small program.
#mesh = #dtrain.mesh<["a" = 1000000000]>
#r = #dtrain.placement<#mesh, [{}]>
// expected-error @+1 {{too large to run: it takes}}
func.func @main(%x: tensor<8xf32, #r>) -> tensor<8xf32, #r> {
  return %x : tensor<8xf32, #r>
}

// -----

// Many trips of a small body.
#mesh = #dtrain.mesh<["a" = 2]>
#r = #dtrain.placement<#mesh, [{}]>
func.func private @body(%x: tensor<8xf32, #r>) -> tensor<8xf32, #r> {
  %y = dtrain.elementwise<exp> %x : (tensor<8xf32, #r>) -> tensor<8xf32, #r>
  return %y : tensor<8xf32, #r>
}
// expected-error @+1 {{too large to run: it takes}}
func.func @main(%x: tensor<8xf32, #r>) -> tensor<8xf32, #r> {
  %y = dtrain.repeat @body 0 to 1000000000 carry(%x) : (tensor<8xf32, #r>) -> tensor<8xf32, #r>
  return %y : tensor<8xf32, #r>
}
