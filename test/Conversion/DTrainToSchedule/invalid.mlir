// RUN: dtrain-opt %s -split-input-file -verify-diagnostics --convert-dtrain-to-schedule

// expected-error @below {{expected a module of phase communicate, found none}}
module {}

// -----

// expected-error @below {{expected a module of phase communicate, found place}}
module attributes {dtrain.phase = #dtrain.phase<place>} {}

// -----

// expected-error @below {{expected the attribute dtrain.mesh}}
module attributes {dtrain.phase = #dtrain.phase<communicate>} {}

// -----

// expected-error @below {{expected a function @main with a body}}
module attributes {dtrain.phase = #dtrain.phase<communicate>, dtrain.mesh = #dtrain.mesh<[]>} {}

// -----

module attributes {dtrain.phase = #dtrain.phase<communicate>, dtrain.mesh = #dtrain.mesh<[]>} {
  // expected-error @below {{expected a repeat over the micro-batches in @main, found none}}
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
}

// -----

module attributes {dtrain.phase = #dtrain.phase<communicate>, dtrain.mesh = #dtrain.mesh<[]>} {
  func.func private @microbatch(%l: tensor<f32>, %x: tensor<4xf32>) -> tensor<f32> {
    return %l : tensor<f32>
  }
  func.func @main(%l: tensor<f32>, %x: tensor<2x4xf32>) -> tensor<f32> {
    %0 = dtrain.repeat @microbatch 0 to 2 carry(%l) stacked(%x) : (tensor<f32>, tensor<2x4xf32>) -> tensor<f32>
    // expected-error @below {{expected one repeat in @main, that over the micro-batches}}
    %1 = dtrain.repeat @microbatch 0 to 2 carry(%0) stacked(%x) : (tensor<f32>, tensor<2x4xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}

// -----

// An operand that its op cannot take: the contraction of a split dimension with a whole one.
#mesh = #dtrain.mesh<["tp" = 2]>
#split = #dtrain.placement<#mesh, [{}, {"tp"}]>
#whole = #dtrain.placement<#mesh, [{}, {}]>
module attributes {dtrain.phase = #dtrain.phase<communicate>, dtrain.mesh = #mesh} {
  func.func private @microbatch(%l: tensor<f32>, %x: tensor<4x8xf32, #split>, %w: tensor<8x8xf32, #whole>) -> tensor<f32> {
    // expected-error @below {{its operands do not fit its rule on axis 'tp'; expected a module of phase communicate}}
    %y = dtrain.dot %x, %w rule("b k, k n -> b n") : (tensor<4x8xf32, #split>, tensor<8x8xf32, #whole>) -> tensor<4x8xf32, #whole>
    return %l : tensor<f32>
  }
  func.func @main(%l: tensor<f32>, %x: tensor<2x4x8xf32>, %w: tensor<8x8xf32, #whole>) -> tensor<f32> {
    %0 = dtrain.repeat @microbatch 0 to 2 carry(%l) stacked(%x) shared(%w) : (tensor<f32>, tensor<2x4x8xf32>, tensor<8x8xf32, #whole>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

#mesh = #dtrain.mesh<["tp" = 2]>
#split = #dtrain.placement<#mesh, [{"tp"}]>
#whole = #dtrain.placement<#mesh, [{}]>
module attributes {dtrain.phase = #dtrain.phase<communicate>, dtrain.mesh = #mesh} {
  func.func private @microbatch(%l: tensor<f32>, %x: tensor<4xf32, #split>) -> tensor<f32> {
    // expected-error @below {{cannot be scheduled: expected a compute op or a communication}}
    %y = dtrain.reshard %x : tensor<4xf32, #split> -> tensor<4xf32, #whole>
    return %l : tensor<f32>
  }
  func.func @main(%l: tensor<f32>, %x: tensor<2x4xf32>) -> tensor<f32> {
    %0 = dtrain.repeat @microbatch 0 to 2 carry(%l) stacked(%x) : (tensor<f32>, tensor<2x4xf32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}

// -----

module attributes {dtrain.phase = #dtrain.phase<communicate>, dtrain.mesh = #dtrain.mesh<[]>} {
  func.func private @microbatch(%l: tensor<f32>, %x: tensor<4x4xf32>) -> tensor<f32> {
    return %l : tensor<f32>
  }
  func.func @main(%l: tensor<f32>, %x: tensor<2x4x4xf32>, %w: tensor<4x4xf32>) -> tensor<f32> {
    %0 = dtrain.repeat @microbatch 0 to 2 carry(%l) stacked(%x) : (tensor<f32>, tensor<2x4x4xf32>) -> tensor<f32>
    // expected-error @below {{cannot be scheduled after the micro-batches}}
    %y = dtrain.dot %w, %w rule("b k, k n -> b n") : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<f32>
  }
}
