// RUN: dtrain-opt %s -split-input-file -verify-diagnostics

func.func private @body(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @repeat_c1(%x: tensor<4xf32>, %w: tensor<3x4xf32>) {
  // expected-error@+1 {{C1: expected 0 <= from < to, found 3 to 3}}
  %0 = dtrain.repeat @body 3 to 3 carry(%x) stacked(%w) : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @repeat_c2_missing(%x: tensor<4xf32>) {
  // expected-error@+1 {{C2: expected a function with one block, found @nowhere}}
  %0 = dtrain.repeat @nowhere 0 to 3 carry(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @body(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @repeat_c2(%x: tensor<4xf32>) {
  // expected-error@+1 {{C2: @body takes 2 arguments and gives 1 results; the segments give 1 and 1}}
  %0 = dtrain.repeat @body 0 to 3 carry(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @body(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @repeat_c3(%x: tensor<4xf32>, %w: tensor<2x4xf32>) {
  // expected-error@+1 {{C3: operand #1: 'tensor<2x4xf32>' does not fit 'tensor<4xf32>' of @body over 0 to 3}}
  %0 = dtrain.repeat @body 0 to 3 carry(%x) stacked(%w) : (tensor<4xf32>, tensor<2x4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func private @body(%x: tensor<4xf32>, %w: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @repeat_c4(%x: tensor<4xf32>, %w: tensor<3x4xf32>) {
  // expected-error@+1 {{C4: result #0: 'tensor<5xf32>' does not fit 'tensor<4xf32>' of @body over 0 to 3}}
  %0 = dtrain.repeat @body 0 to 3 carry(%x) stacked(%w) : (tensor<4xf32>, tensor<3x4xf32>) -> tensor<5xf32>
  return
}

// -----

#mesh = #dtrain.mesh<["pp" = 2]>
#p = #dtrain.placement<#mesh, [{}], pinned = {"pp" = [0]}>
#r = #dtrain.placement<#mesh, [{}]>
func.func private @body(%x: tensor<4xf32, #r>) -> tensor<4xf32, #r> {
  return %x : tensor<4xf32, #r>
}
func.func @repeat_c5(%x: tensor<4xf32, #p>) {
  // expected-error@+1 {{C5: the mesh has no coordinate 2 of axis "pp"}}
  %0 = dtrain.repeat @body 0 to 3 carry(%x) pinned "pp" = 2 : (tensor<4xf32, #p>) -> tensor<4xf32, #p>
  return
}

// -----

func.func @seed_c1(%x: tensor<4xf32>) {
  // expected-error@+1 {{C1: expected a dimension below 1, found 1}}
  dtrain.seed %x over "dp" split 1 level 0 because "test" : tensor<4xf32>
  return
}

// -----

#mesh = #dtrain.mesh<["dp" = 2]>
#p = #dtrain.placement<#mesh, [{"dp"}]>
func.func @reshard_c1(%x: tensor<4xf32, #p>) {
  // expected-error@+1 {{C1: expected one shape, one element type and placements on one mesh}}
  %0 = dtrain.reshard %x : tensor<4xf32, #p> -> tensor<4xf32>
  return
}

// -----

#mesh = #dtrain.mesh<["dp" = 2, "tp" = 2]>
#p = #dtrain.placement<#mesh, [{"dp"}], partial = {"tp" = sum}>
#r = #dtrain.placement<#mesh, [{}]>
func.func @comm_c1(%x: tensor<4xf32, #p>) {
  // expected-error@+1 {{C1: axis "tp" changes from P(sum) to R, only "dp" may}}
  %0 = dtrain.comm.all_gather %x over "dp" : tensor<4xf32, #p> -> tensor<4xf32, #r>
  return
}

// -----

#mesh = #dtrain.mesh<["dp" = 2, "tp" = 2]>
#p = #dtrain.placement<#mesh, [{"dp"}]>
#r = #dtrain.placement<#mesh, [{}]>
func.func @comm_c1_axis(%x: tensor<4xf32, #p>) {
  // expected-error@+1 {{C1: axis "ep" is not in the mesh}}
  %0 = dtrain.comm.all_gather %x over "ep" : tensor<4xf32, #p> -> tensor<4xf32, #r>
  return
}

// -----

#mesh = #dtrain.mesh<["dp" = 2]>
#p = #dtrain.placement<#mesh, [{"dp"}]>
#r = #dtrain.placement<#mesh, [{}]>
func.func @comm_c2(%x: tensor<4xf32, #p>) {
  // expected-error@+1 {{C2: S(0,2) to R is all_gather}}
  %0 = dtrain.comm.all_reduce %x over "dp" : tensor<4xf32, #p> -> tensor<4xf32, #r>
  return
}

// -----

func.func @result_tie(%x: tensor<4xf32>) -> (tensor<4xf32> {dtrain.updates = 3 : i64}) {
  return %x : tensor<4xf32>
}
// expected-error@-3 {{result #0: dtrain.updates = 3 does not name an argument of the result's type}}

// -----

// expected-error@+1 {{unknown attribute "dtrain.color" of the dtrain dialect here}}
module attributes {dtrain.color = 1 : i64} {
}
