// RUN: dtrain-opt %s -split-input-file -verify-diagnostics --dtrain-verify-import

// expected-error@+1 {{expected a function @main with one block}}
module {
}

// -----

// expected-error@+1 {{argument #0: expected the role of a parameter, an input or a label}}
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  return %x : tensor<f32>
}

// -----

// expected-error@+1 {{expected one result, the scalar loss, found 1 of type 'tensor<4xf32>'}}
func.func @main(%x: tensor<4xf32> {dtrain.role = #dtrain.role<input>}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32> {dtrain.role = #dtrain.role<input>}) -> tensor<f32> {
  // expected-error@+1 {{expected forward compute ops and repeats only, found 'dtrain.reduce'}}
  %0 = dtrain.reduce<sum> %x rule("n -> ()") origin backward : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
