// RUN: dtrain-opt %s -split-input-file -verify-diagnostics

func.func @dot_c1(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{C1: expected two or three operands, found 1}}
  %0 = dtrain.dot %a rule("m k -> m") : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @dot_c2(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) {
  // expected-error@+1 {{C2: expected a rule of 2 operands and one result without clauses}}
  %0 = dtrain.dot %a, %b rule("m k, k n -> m n | whole k") : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @dot_c3(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>, %c: tensor<5xf32>) {
  // expected-error@+1 {{C3: factor 'z' of the result is in neither operand 0 nor 1}}
  %0 = dtrain.dot %a, %b, %c rule("m k, k n, z -> m n z")
      : (tensor<4x8xf32>, tensor<8x2xf32>, tensor<5xf32>) -> tensor<4x2x5xf32>
  return
}

// -----

func.func @rule_shapes(%a: tensor<4x8xf32>, %b: tensor<9x2xf32>) {
  // expected-error@+1 {{rule: }}
  %0 = dtrain.dot %a, %b rule("m k, k n -> m n") : (tensor<4x8xf32>, tensor<9x2xf32>) -> tensor<4x2xf32>
  return
}

// -----

func.func @rule_attribute(%a: tensor<4xf32>) {
  // expected-error@+1 {{unknown attribute '"origni"'}}
  %0 = dtrain.elementwise<exp> %a {origni = 1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @rule_dynamic(%a: tensor<?xf32>) {
  // expected-error@+1 {{expected static shapes}}
  %0 = dtrain.elementwise<exp> %a : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @elementwise_operands(%a: tensor<4xf32>) {
  // expected-error@+1 {{rule: expected 2 operands, found 1}}
  %0 = dtrain.elementwise<add> %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @elementwise_c1(%a: tensor<4xf32>) {
  // expected-error@+1 {{C1: 'scale' needs a constant}}
  %0 = dtrain.elementwise<scale> %a : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @reduce_c1(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{C1: expected a rule of one operand and one result whose factors are the operand's}}
  %0 = dtrain.reduce<sum> %a rule("m k -> m z") : (tensor<4x8xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @move_c1(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{C1: expected a rule of one operand and one result that keeps every factor}}
  %0 = dtrain.move %a rule("m k -> m") : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @normalize_c1(%a: tensor<4x8xf32>, %g: tensor<8xf32>) {
  // expected-error@+1 {{C1: 'rms' has no bias}}
  %0 = dtrain.normalize<rms> %a, %g, %g epsilon 1.0e-5
      : (tensor<4x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @rotary_c1(%a: tensor<4x8xf32>, %t: tensor<4x5xf32>) {
  // expected-error@+1 {{C1: tables of 5 angles need at least 10 elements per row, found 8}}
  %0 = dtrain.rotary %a, %t, %t : (tensor<4x8xf32>, tensor<4x5xf32>, tensor<4x5xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @concat_c1(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{C1: the operands add up to 16 along dimension 1, the result has 17}}
  %0 = dtrain.concat %a, %a dim 1 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x17xf32>
  return
}

// -----

func.func @slice_c1(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{C1: dimension 1 at offset 6}}
  %0 = dtrain.slice %a dim 1 offset 6 : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @pad_c1(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{C1: dimension 1 at offset 6}}
  %0 = dtrain.pad %a dim 1 offset 6 : (tensor<4x8xf32>) -> tensor<4x12xf32>
  return
}

// -----

func.func @iota_c1() {
  // expected-error@+1 {{C1: expected a dimension below 1, found 1}}
  %0 = dtrain.iota dim 1 : () -> tensor<4xi64>
  return
}

// -----

func.func @update_operands(%a: tensor<4xf32>) {
  // expected-error@+1 {{rule: expected 4 operands, found 3}}
  %0:3 = dtrain.update<adamw> %a, %a, %a learning_rate 1.0e-3
      : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @custom_c1(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{C1: the rule must state 'flops': work is given, never guessed}}
  %0 = dtrain.custom "mystery"(%a) rule("m k -> m") : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @slice_c1_dimension(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{'dtrain.slice' op C1: expected a dimension below 2, found 9223372036854775807}}
  %0 = dtrain.slice %a dim 9223372036854775807 offset 0 : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @slice_c1_negative_dimension(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{'dtrain.slice' op C1: expected a dimension below 2, found -1}}
  %0 = dtrain.slice %a dim -1 offset 0 : (tensor<4x8xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @concat_c1_dimension(%a: tensor<4x8xf32>) {
  // expected-error@+1 {{'dtrain.concat' op C1: expected a dimension below 2, found 2}}
  %0 = dtrain.concat %a, %a dim 2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  return
}
