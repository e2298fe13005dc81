// RUN: dtrain-opt --dtrain-verify-train -split-input-file -verify-diagnostics %s

// expected-error @below {{expected a function @main, the step}}
module {
}

// -----

// Every problem is reported.
func.func private @microbatch(%l: tensor<f32>, %x: tensor<3xf32>) -> tensor<f32> {
  return %l : tensor<f32>
}
// expected-error @below {{argument #0: expected the role parameter, master, moment, input or label, found none}}
// expected-error @below {{argument #1: no result replaces this moment}}
// expected-error @below {{argument #2: expected 2 micro-batches, found 'tensor<4x3xf32>'}}
// expected-error @below {{argument #3: expected the role parameter, master, moment, input or label, found accumulator}}
// expected-error @below {{result #1: expected a scalar loss or a replaced argument, found 'tensor<3xf32>'}}
// expected-error @below {{expected one result that replaces no argument, the loss, found 2}}
func.func @main(%l: tensor<f32>, %m: tensor<3xf32> {dtrain.role = #dtrain.role<moment>},
                %x: tensor<4x3xf32> {dtrain.role = #dtrain.role<input>},
                %a: tensor<3xf32> {dtrain.role = #dtrain.role<accumulator>}) -> (tensor<f32>, tensor<3xf32>) {
  %r = dtrain.repeat @microbatch 0 to 2 carry(%l) stacked(%x) : (tensor<f32>, tensor<4x3xf32>) -> tensor<f32>
  return %r, %a : tensor<f32>, tensor<3xf32>
}

// -----

// expected-error @below {{expected one dtrain.repeat @microbatch, found 0}}
// expected-error @below {{expected one result that replaces no argument, the loss, found 0}}
// expected-error @below {{result #1: argument #0 is replaced twice}}
func.func @main(%w: tensor<f32> {dtrain.role = #dtrain.role<parameter>})
    -> (tensor<f32> {dtrain.updates = 0}, tensor<f32> {dtrain.updates = 0}) {
  return %w, %w : tensor<f32>, tensor<f32>
}

// -----

#mesh = #dtrain.mesh<["dp" = 2]>
#split = #dtrain.placement<#mesh, [{"dp"}]>
func.func private @callee(%w: tensor<f32>) -> tensor<f32> {
  return %w : tensor<f32>
}
// expected-error @below {{expected no placement before the place phase, found 'tensor<4xf32}}
func.func private @placed(%w: tensor<4xf32, #split>) -> tensor<4xf32, #split> {
  return %w : tensor<4xf32, #split>
}
func.func private @microbatch(%l: tensor<f32>, %w: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{expected compute ops and repeats only, found 'func.call'}}
  %c = call @callee(%w) : (tensor<f32>) -> tensor<f32>
  // expected-error @below {{'dtrain.constant' has origin update}}
  %d = dtrain.constant 0.0 origin update : () -> tensor<f32>
  // expected-error @below {{expected no state before the place phase}}
  %e = dtrain.elementwise<exp> %d state <{}> : (tensor<f32>) -> tensor<f32>
  return %e : tensor<f32>
}
func.func @main(%l: tensor<f32> {dtrain.role = #dtrain.role<parameter>}) -> tensor<f32> {
  // expected-error @below {{expected micro-batches from 0, found from 1}}
  %r = dtrain.repeat @microbatch 1 to 2 carry(%l) shared(%l) : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}
