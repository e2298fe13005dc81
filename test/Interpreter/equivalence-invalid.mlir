// RUN: dtrain-opt %s --dtrain-check-equivalence -split-input-file -verify-diagnostics -o /dev/null

// expected-error @+1 {{expected a function @main to check}}
module {
}

// -----

// expected-error @+1 {{nothing here has a placement: there is no mesh to run it on}}
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

#mesh = #dtrain.mesh<["a" = 2]>
#r = #dtrain.placement<#mesh, [{}]>
func.func @main(%x: tensor<2xf32, #r>) -> tensor<2xf32, #r> {
  // expected-error @+1 {{cannot be interpreted: 'dtrain.custom' has no kernel}}
  %y = dtrain.custom "mine"(%x) rule("a -> a | flops 1 a") : (tensor<2xf32, #r>) -> tensor<2xf32, #r>
  return %y : tensor<2xf32, #r>
}

// -----

// Two replicated operands cannot give a partial product without a split factor.
#mesh = #dtrain.mesh<["a" = 2]>
#p = #dtrain.placement<#mesh, [{}], partial = {"a" = sum}>
func.func @main(%x: tensor<2xf32, #p>) -> tensor<2xf32, #p> {
  // expected-error @+1 {{no state of axis 'a' explains operands P(sum) and results P(sum) of "x0 -> x0 | flops 8 x0"}}
  %y = dtrain.elementwise<exp> %x : (tensor<2xf32, #p>) -> tensor<2xf32, #p>
  return %y : tensor<2xf32, #p>
}

// -----

#mesh = #dtrain.mesh<["a" = 2]>
#r = #dtrain.placement<#mesh, [{}]>
#s = #dtrain.placement<#mesh, [{"a"}]>
func.func @main(%x: tensor<2xf32, #r>) -> tensor<2xf32, #s> {
  // expected-error @+1 {{result #0: on axis 'a' it is R, expected S(0,1)}}
  %y = dtrain.elementwise<exp> %x state <{}> : (tensor<2xf32, #r>) -> tensor<2xf32, #s>
  return %y : tensor<2xf32, #s>
}

// -----

// Indices may be computed: they are looked at when they are used.
#mesh = #dtrain.mesh<["a" = 2]>
#r = #dtrain.placement<#mesh, [{}]>
#t = #dtrain.placement<#mesh, [{}, {}]>
func.func @main(%i: tensor<1xi64, #r>, %table: tensor<4x2xf32, #t>) -> tensor<1x2xf32, #t> {
  %j = dtrain.elementwise<offset> %i constant 4.0 : (tensor<1xi64, #r>) -> tensor<1xi64, #r>
  // expected-error-re @+1 {{cannot be interpreted: index {{[45]}} is not one of the 4 of 'v'}}
  %y = dtrain.gather %j, %table : (tensor<1xi64, #r>, tensor<4x2xf32, #t>) -> tensor<1x2xf32, #t>
  return %y : tensor<1x2xf32, #t>
}

// -----

// Layer 1 is on stage 1, not on stage 0.
#mesh = #dtrain.mesh<["pp" = 2]>
#p = #dtrain.placement<#mesh, [{}], pinned = {"pp" = [0]}>
#w = #dtrain.placement<#mesh, [{"pp"}, {}]>
func.func private @layer(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<3xf32> {
  %y = dtrain.elementwise<mul> %x, %w : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  return %y : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32, #p>, %w: tensor<2x3xf32, #w>) -> tensor<3xf32, #p> {
  // expected-error @+1 {{operand #1: device #0 does not hold row 1}}
  %y = dtrain.repeat @layer 1 to 2 carry(%x) stacked(%w) pinned "pp" = 0
      : (tensor<3xf32, #p>, tensor<2x3xf32, #w>) -> tensor<3xf32, #p>
  return %y : tensor<3xf32, #p>
}

// -----

// The carry is on stage 0, the body on stage 1.
#mesh = #dtrain.mesh<["pp" = 2]>
#p0 = #dtrain.placement<#mesh, [{}], pinned = {"pp" = [0]}>
#p1 = #dtrain.placement<#mesh, [{}], pinned = {"pp" = [1]}>
func.func private @layer(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32, #p0>) -> tensor<3xf32, #p1> {
  // expected-error @+1 {{operand #0: on axis 'pp' it is N({0}), expected N({1})}}
  %y = dtrain.repeat @layer 0 to 2 carry(%x) pinned "pp" = 1 : (tensor<3xf32, #p0>) -> tensor<3xf32, #p1>
  return %y : tensor<3xf32, #p1>
}

// -----

// A result is only where its body ran.
#mesh = #dtrain.mesh<["pp" = 2]>
#p0 = #dtrain.placement<#mesh, [{}], pinned = {"pp" = [0]}>
#r = #dtrain.placement<#mesh, [{}]>
func.func private @layer(%x: tensor<3xf32>) -> tensor<3xf32> {
  return %x : tensor<3xf32>
}
func.func @main(%x: tensor<3xf32, #p0>) -> tensor<3xf32, #r> {
  // expected-error @+1 {{result #0: on axis 'pp' it is N({0}), expected R}}
  %y = dtrain.repeat @layer 0 to 2 carry(%x) pinned "pp" = 0 : (tensor<3xf32, #p0>) -> tensor<3xf32, #r>
  return %y : tensor<3xf32, #r>
}

// -----

// The body is placed otherwise than what it is given.
#mesh = #dtrain.mesh<["tp" = 2]>
#r = #dtrain.placement<#mesh, [{}]>
#s = #dtrain.placement<#mesh, [{"tp"}]>
func.func private @layer(%x: tensor<4xf32, #s>) -> tensor<4xf32, #s> {
  return %x : tensor<4xf32, #s>
}
func.func @main(%x: tensor<4xf32, #r>) -> tensor<4xf32, #r> {
  // expected-error @+1 {{operand #0: on axis 'tp' it is R, expected S(0,2)}}
  %y = dtrain.repeat @layer 0 to 2 carry(%x) : (tensor<4xf32, #r>) -> tensor<4xf32, #r>
  return %y : tensor<4xf32, #r>
}

// -----

// Every device needs the row, but an axis that is not pinned splits the rows.
#mesh = #dtrain.mesh<["dp" = 2]>
#r = #dtrain.placement<#mesh, [{}]>
#w = #dtrain.placement<#mesh, [{"dp"}, {}]>
func.func private @layer(%x: tensor<3xf32, #r>, %w: tensor<3xf32, #r>) -> tensor<3xf32, #r> {
  return %x : tensor<3xf32, #r>
}
func.func @main(%x: tensor<3xf32, #r>, %w: tensor<2x3xf32, #w>) -> tensor<3xf32, #r> {
  // expected-error @+1 {{operand #1: on axis 'dp' it is S(0,1), expected R}}
  %y = dtrain.repeat @layer 0 to 2 carry(%x) stacked(%w)
      : (tensor<3xf32, #r>, tensor<2x3xf32, #w>) -> tensor<3xf32, #r>
  return %y : tensor<3xf32, #r>
}

// -----

#mesh = #dtrain.mesh<["a" = 2]>
#r = #dtrain.placement<#mesh, [{}]>
func.func private @again(%x: tensor<3xf32, #r>) -> tensor<3xf32, #r> {
  // expected-error @+1 {{repeats @again, which leads back here}}
  %y = dtrain.repeat @again 0 to 2 carry(%x) : (tensor<3xf32, #r>) -> tensor<3xf32, #r>
  return %y : tensor<3xf32, #r>
}
func.func @main(%x: tensor<3xf32, #r>) -> tensor<3xf32, #r> {
  %y = dtrain.repeat @again 0 to 2 carry(%x) : (tensor<3xf32, #r>) -> tensor<3xf32, #r>
  return %y : tensor<3xf32, #r>
}

// -----

#mesh = #dtrain.mesh<["a" = 2]>
#r = #dtrain.placement<#mesh, [{}]>
func.func private @other(tensor<3xf32, #r>) -> tensor<3xf32, #r>
func.func @main(%x: tensor<3xf32, #r>) -> tensor<3xf32, #r> {
  // expected-error @+1 {{'func.call' cannot be interpreted}}
  %y = func.call @other(%x) : (tensor<3xf32, #r>) -> tensor<3xf32, #r>
  return %y : tensor<3xf32, #r>
}
