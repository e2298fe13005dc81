// RUN: dtrain-opt --dtrain-apply-optimizer -split-input-file -verify-diagnostics %s
// RUN: not dtrain-opt --dtrain-apply-optimizer=learning-rate=0 %S/../Inputs/gpt-tiny.mlir 2>&1 | FileCheck %s --check-prefix=RATE
// RUN: not dtrain-opt --dtrain-apply-optimizer=optimizer=adam %S/../Inputs/gpt-tiny.mlir 2>&1 | FileCheck %s --check-prefix=KIND

// RATE: expected a learning rate above 0, found 0
// KIND: Cannot find option named 'adam'

// expected-error @below {{expected a function @main, as dtrain-differentiate leaves it}}
module {
}

// -----

// expected-error @below {{expected @main to return the loss and the gradients of dtrain.repeat @microbatch}}
func.func @main(%w: tensor<f32> {dtrain.role = #dtrain.role<parameter>}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

func.func private @microbatch(%l: tensor<f32>, %g: tensor<f32> {dtrain.name = "v", dtrain.role = #dtrain.role<accumulator>}) -> (tensor<f32>, tensor<f32>) {
  return %l, %g : tensor<f32>, tensor<f32>
}
// expected-error @below {{gradient #1: no parameter is named "v"}}
func.func @main(%w: tensor<f32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "w"}) -> (tensor<f32>, tensor<f32>) {
  %r:2 = dtrain.repeat @microbatch 0 to 1 carry(%w, %w) : (tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}
