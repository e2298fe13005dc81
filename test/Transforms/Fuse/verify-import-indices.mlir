// RUN: dtrain-opt %s -split-input-file -verify-diagnostics --dtrain-verify-import

// Indices that are known are within the table, whichever op looks them up.

func.func @main(%ids: tensor<2x8xi64> {dtrain.name = "ids", dtrain.role = #dtrain.role<input>},
                %wpe: tensor<4x3xf32> {dtrain.name = "wpe", dtrain.role = #dtrain.role<parameter>}) -> tensor<f32> {
  %p = dtrain.iota dim 0 : () -> tensor<8xi64>
  // expected-error @+1 {{'dtrain.gather' looks up indices 0 to 7 in 'wpe', expected 0 to 3: it has 4 rows}}
  %0 = dtrain.gather %p, %wpe : (tensor<8xi64>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %l = dtrain.reduce<sum> %0 rule("a b -> ()") : (tensor<8x3xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// A part of the positions, moved on by an offset; a table without a name.

func.func @main(%wpe: tensor<8x3xf32> {dtrain.name = "wpe", dtrain.role = #dtrain.role<parameter>}) -> tensor<f32> {
  %p = dtrain.iota dim 0 : () -> tensor<16xi64>
  %q = dtrain.slice %p dim 0 offset 2 : (tensor<16xi64>) -> tensor<4xi64>
  %r = dtrain.elementwise<offset> %q constant 3.0 : (tensor<4xi64>) -> tensor<4xi64>
  %0 = dtrain.elementwise<neg> %wpe : (tensor<8x3xf32>) -> tensor<8x3xf32>
  // expected-error @+1 {{'dtrain.gather' looks up indices 5 to 8 in a table of type tensor<8x3xf32>, expected 0 to 7: it has 8 rows}}
  %1 = dtrain.gather %r, %0 : (tensor<4xi64>, tensor<8x3xf32>) -> tensor<4x3xf32>
  %l = dtrain.reduce<sum> %1 rule("a b -> ()") : (tensor<4x3xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

func.func @main(%x: tensor<4x3xf32> {dtrain.name = "x", dtrain.role = #dtrain.role<parameter>}) -> tensor<f32> {
  %c = dtrain.constant -1.0 : () -> tensor<4xi64>
  // expected-error @+1 {{'dtrain.pick' looks up indices -1 to -1 in 'x', expected 0 to 2: it has 3 rows}}
  %0 = dtrain.pick %x, %c : (tensor<4x3xf32>, tensor<4xi64>) -> tensor<4xf32>
  %l = dtrain.reduce<sum> %0 rule("a -> ()") : (tensor<4xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// What the repeat shares with its body is known there.

func.func private @layer(%x: tensor<8x3xf32>, %t: tensor<4x3xf32>, %p: tensor<8xi64>) -> tensor<8x3xf32> {
  // expected-error @+1 {{'dtrain.gather' looks up indices 0 to 7 in a table of type tensor<4x3xf32>, expected 0 to 3: it has 4 rows}}
  %0 = dtrain.gather %p, %t : (tensor<8xi64>, tensor<4x3xf32>) -> tensor<8x3xf32>
  %1 = dtrain.elementwise<add> %x, %0 : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  return %1 : tensor<8x3xf32>
}
func.func @main(%x: tensor<8x3xf32> {dtrain.name = "x", dtrain.role = #dtrain.role<input>},
                %w: tensor<2x4x3xf32> {dtrain.name = "w", dtrain.role = #dtrain.role<parameter>}) -> tensor<f32> {
  %p = dtrain.iota dim 0 : () -> tensor<8xi64>
  %0 = dtrain.repeat @layer 0 to 2 carry(%x) stacked(%w) shared(%p) : (tensor<8x3xf32>, tensor<2x4x3xf32>, tensor<8xi64>) -> tensor<8x3xf32>
  %l = dtrain.reduce<sum> %0 rule("a b -> ()") : (tensor<8x3xf32>) -> tensor<f32>
  return %l : tensor<f32>
}

// -----

// The whole table, no more; and indices that nobody knows.

func.func @main(%ids: tensor<5xi64> {dtrain.name = "ids", dtrain.role = #dtrain.role<input>},
                %wpe: tensor<8x3xf32> {dtrain.name = "wpe", dtrain.role = #dtrain.role<parameter>}) -> tensor<f32> {
  %p = dtrain.iota dim 0 : () -> tensor<8xi64>
  %0 = dtrain.gather %p, %wpe : (tensor<8xi64>, tensor<8x3xf32>) -> tensor<8x3xf32>
  %1 = dtrain.gather %ids, %0 : (tensor<5xi64>, tensor<8x3xf32>) -> tensor<5x3xf32>
  %l = dtrain.reduce<sum> %1 rule("a b -> ()") : (tensor<5x3xf32>) -> tensor<f32>
  return %l : tensor<f32>
}
