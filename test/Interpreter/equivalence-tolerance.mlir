// RUN: dtrain-opt %s --dtrain-check-equivalence="tolerance=-1" -verify-diagnostics -o /dev/null

// No two numbers are as close as that: the failure names the result by the
// argument that it replaces, and the first op that differs.
#mesh = #dtrain.mesh<["a" = 2]>
#s = #dtrain.placement<#mesh, [{"a"}]>
// expected-error @+1 {{not equivalent: result #0 (weight) differs by 0.000000e+00 from the sequential one}}
func.func @main(%x: tensor<4xf32, #s> {dtrain.name = "weight"})
    -> (tensor<4xf32, #s> {dtrain.updates = 0 : i64}) {
  // expected-note @+1 {{first here: its value differs by 0.000000e+00}}
  %y = dtrain.elementwise<scale> %x constant 0.5 : (tensor<4xf32, #s>) -> tensor<4xf32, #s>
  return %y : tensor<4xf32, #s>
}
