// RUN: dtrain-opt %s -split-input-file -verify-diagnostics

// expected-error@+1 {{mesh C1: axis names must be unique and not empty, found "dp"}}
#mesh_c1 = #dtrain.mesh<["dp" = 2, "dp" = 4]>

// -----

// expected-error@+1 {{mesh C2: axis "dp": expected a size of at least 2, found 1}}
#mesh_c2 = #dtrain.mesh<["dp" = 1]>

// -----

// expected-error@+1 {{mesh C3: the number of devices must fit 32 bits}}
#mesh_c3 = #dtrain.mesh<["dp" = 65536, "tp" = 65536]>

// -----

#mesh = #dtrain.mesh<["dp" = 2, "tp" = 4]>
// expected-error@+1 {{placement C1: axis "cp" is not in the mesh}}
#placement_c1 = #dtrain.placement<#mesh, [{"cp"}]>

// -----

#mesh = #dtrain.mesh<["dp" = 2, "tp" = 4]>
// expected-error@+1 {{placement C1: axis "dp" has more than one state}}
#placement_c1_twice = #dtrain.placement<#mesh, [{"dp"}], pinned = {"dp" = [0]}>

// -----

#mesh = #dtrain.mesh<["dp" = 2, "tp" = 4]>
#p = #dtrain.placement<#mesh, [{"dp"}]>
// expected-error@+1 {{placement C2: expected a tensor of rank 1, found rank 2}}
func.func private @placement_c2(tensor<4x4xf32, #p>)

// -----

#mesh = #dtrain.mesh<["dp" = 2, "tp" = 4]>
// expected-error@+1 {{placement C3: dimension 0: a gap of 3 is not canonical}}
#placement_c3 = #dtrain.placement<#mesh, [{"dp", 3}]>

// -----

#mesh = #dtrain.mesh<["dp" = 2, "tp" = 4]>
// expected-error@+1 {{placement C4: axis "tp": expected ascending coordinates below 4, some but not all of them}}
#placement_c4 = #dtrain.placement<#mesh, [{}], pinned = {"tp" = [3, 1]}>

// -----

#mesh = #dtrain.mesh<["dp" = 2, "tp" = 4]>
// expected-error@+1 {{placement C4: axis "dp": expected ascending coordinates below 2, some but not all of them}}
#placement_c4_all = #dtrain.placement<#mesh, [{}], pinned = {"dp" = [0, 1]}>

// -----

#mesh = #dtrain.mesh<["dp" = 2, "tp" = 4]>
#p = #dtrain.placement<#mesh, [{"dp", "tp"}]>
// expected-error@+1 {{placement C5}}
func.func private @placement_c5(tensor<12xf32, #p>)

// -----

// expected-error@+1 {{rule: }}
#rule = #dtrain.rule<"b m k, k n -> b m n | sum 0*7">

// -----

// expected-error@+1 {{expected 'factor' or 'linear' or 'pinned'}}
#opstate = #dtrain.opstate<{"dp" = sideways(0)}>

// -----

// expected-error@+1 {{op state C1: axis "tp" has more than one state}}
#opstate_c1 = #dtrain.opstate<{"tp" = factor("k", 1), "tp" = linear(0)}>

// -----

// expected-error@+1 {{op state C2: axis "tp": expected a visible level of at least 2, found 1}}
#opstate_c2 = #dtrain.opstate<{"tp" = factor("k", 1) level 2 visible 1}>

// -----

// expected-error@+1 {{argument #0: expected dtrain.role}}
func.func private @argument_attribute(tensor<4xf32> {dtrain.roll = 1 : i64})
