// RUN: dtrain-opt %s --dtrain-verify-import | FileCheck %s

// CHECK: module attributes {dtrain.phase = #dtrain.phase<import>}
func.func @main(%x: tensor<4xf32> {dtrain.role = #dtrain.role<input>}) -> tensor<f32> {
  %0 = dtrain.reduce<sum> %x rule("n -> ()") : (tensor<4xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
