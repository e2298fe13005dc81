// RUN: dtrain-opt --dtrain-differentiate -split-input-file -verify-diagnostics %s

// expected-error @below {{expected a function @main, the forward program}}
module {
}

// -----

// expected-error @below {{expected @main to have a body of one block}}
func.func private @main(tensor<3xf32>) -> tensor<f32>

// -----

// expected-error @below {{expected @main to return one scalar, the loss, found 'tensor<3xf32>'}}
func.func @main(%w: tensor<3xf32> {dtrain.role = #dtrain.role<parameter>}) -> tensor<3xf32> {
  return %w : tensor<3xf32>
}

// -----

// expected-error @below {{argument #1: expected the role parameter, input or label, found none}}
func.func @main(%w: tensor<f32> {dtrain.role = #dtrain.role<parameter>}, %x: tensor<f32>) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @below {{argument #0: expected the role parameter, input or label, found moment}}
func.func @main(%w: tensor<f32> {dtrain.role = #dtrain.role<moment>}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @below {{argument #1: two parameters are named "w"}}
func.func @main(%w: tensor<f32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "w"},
                %v: tensor<f32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "w"}) -> tensor<f32> {
  return %w : tensor<f32>
}

// -----

// expected-error @below {{expected no function @microbatch before differentiation}}
func.func @main(%w: tensor<f32> {dtrain.role = #dtrain.role<parameter>}) -> tensor<f32> {
  return %w : tensor<f32>
}
func.func private @microbatch()

// -----

func.func @main(%w: tensor<3xf32> {dtrain.role = #dtrain.role<parameter>}) -> tensor<f32> {
  // expected-error @below {{'dtrain.custom' op has no backward, and a trainable parameter reaches the loss through it}}
  %y = dtrain.custom "mystery"(%w) rule("n -> n | flops 1 n") : (tensor<3xf32>) -> tensor<3xf32>
  %loss = dtrain.reduce<sum> %y rule("n -> ()") : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @main(%w: tensor<3xf32> {dtrain.role = #dtrain.role<parameter>}, %x: tensor<3xf32> {dtrain.role = #dtrain.role<input>}) -> tensor<f32> {
  // expected-error @below {{'silu_grad' has no backward}}
  %y = dtrain.elementwise<silu_grad> %w, %x : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>
  %loss = dtrain.reduce<sum> %y rule("n -> ()") : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @main(%w: tensor<2x3xf32> {dtrain.role = #dtrain.role<parameter>}, %y: tensor<2xi64> {dtrain.role = #dtrain.role<label>}) -> tensor<f32> {
  // expected-error @below {{has no gradient through its log of the sum of exponentials}}
  %l, %lse = dtrain.cross_entropy %w, %y : (tensor<2x3xf32>, tensor<2xi64>) -> (tensor<2xf32>, tensor<2xf32>)
  %s = dtrain.elementwise<add> %l, %lse : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %loss = dtrain.reduce<sum> %s rule("n -> ()") : (tensor<2xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @main(%x: tensor<2x4xf32> {dtrain.role = #dtrain.role<input>}, %c: tensor<2x2xf32> {dtrain.role = #dtrain.role<parameter>}) -> tensor<f32> {
  // expected-error @below {{has no gradient in its tables}}
  %r = dtrain.rotary %x, %c, %c : (tensor<2x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x4xf32>
  %loss = dtrain.reduce<sum> %r rule("b n -> ()") : (tensor<2x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @main(%w: tensor<f32> {dtrain.role = #dtrain.role<parameter>}, %x: tensor<f32> {dtrain.role = #dtrain.role<input>}) -> tensor<f32> {
  // expected-error @below {{no trainable parameter reaches the loss}}
  return %x : tensor<f32>
}

// -----

func.func private @rows(%x: tensor<f32>, %w: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  return %x, %w : tensor<f32>, tensor<f32>
}
func.func @main(%w: tensor<2xf32> {dtrain.role = #dtrain.role<parameter>}, %v: tensor<f32> {dtrain.role = #dtrain.role<parameter>}) -> tensor<f32> {
  // expected-error @below {{has no backward: it replaces rows of its operands}}
  %r:2 = dtrain.repeat @rows 0 to 2 carry(%v) inout(%w) : (tensor<f32>, tensor<2xf32>) -> (tensor<f32>, tensor<2xf32>)
  return %r#0 : tensor<f32>
}

// -----

func.func @main(%w: tensor<f32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "w"},
                // expected-warning @below {{parameter "idle" does not reach the loss: it is not trained}}
                %v: tensor<3xf32> {dtrain.role = #dtrain.role<parameter>, dtrain.name = "idle"}) -> tensor<f32> {
  %y = dtrain.elementwise<exp> %w : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}

// -----

func.func private @again(%x: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{runs @again, which contains it}}
  %y = dtrain.repeat @again 0 to 2 carry(%x) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
func.func @main(%w: tensor<f32> {dtrain.role = #dtrain.role<parameter>}) -> tensor<f32> {
  %y = dtrain.repeat @again 0 to 2 carry(%w) : (tensor<f32>) -> tensor<f32>
  return %y : tensor<f32>
}
