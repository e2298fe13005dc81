// RUN: dtrain-opt %s --dtrain-check-equivalence -split-input-file -verify-diagnostics -o /dev/null

// Megatron's pair of layers under data parallelism: one all_reduce of the local
// block of 2x4 f32, of which a ring of two sends all once.
#mesh = #dtrain.mesh<["dp" = 2, "tp" = 2]>
#rows = #dtrain.placement<#mesh, [{"dp"}, {}]>
// expected-remark-re @+2 {{equivalence: 1 results equal, max difference {{.*}}}}
// expected-remark @+1 {{traffic: 1 all_reduce over "tp", 32.0 B sent per device}}
func.func @main(
    %x: tensor<4x4xf32, #rows>,
    %w1: tensor<4x8xf32, #dtrain.placement<#mesh, [{}, {"tp"}]>>,
    %w2: tensor<8x4xf32, #dtrain.placement<#mesh, [{"tp"}, {}]>>) -> tensor<4x4xf32, #rows> {
  %h = dtrain.dot %x, %w1 rule("b k, k n -> b n")
      : (tensor<4x4xf32, #rows>, tensor<4x8xf32, #dtrain.placement<#mesh, [{}, {"tp"}]>>)
      -> tensor<4x8xf32, #dtrain.placement<#mesh, [{"dp"}, {"tp"}]>>
  %a = dtrain.elementwise<gelu> %h
      : (tensor<4x8xf32, #dtrain.placement<#mesh, [{"dp"}, {"tp"}]>>)
      -> tensor<4x8xf32, #dtrain.placement<#mesh, [{"dp"}, {"tp"}]>>
  %p = dtrain.dot %a, %w2 rule("b k, k n -> b n")
      : (tensor<4x8xf32, #dtrain.placement<#mesh, [{"dp"}, {"tp"}]>>,
         tensor<8x4xf32, #dtrain.placement<#mesh, [{"tp"}, {}]>>)
      -> tensor<4x4xf32, #dtrain.placement<#mesh, [{"dp"}, {}], partial = {"tp" = sum}>>
  %y = dtrain.comm.all_reduce %p over "tp"
      : tensor<4x4xf32, #dtrain.placement<#mesh, [{"dp"}, {}], partial = {"tp" = sum}>>
      -> tensor<4x4xf32, #rows>
  return %y : tensor<4x4xf32, #rows>
}

// -----

// Vocabulary parallelism: each device answers for its rows of the table.
#mesh = #dtrain.mesh<["tp" = 2]>
// expected-remark-re @+2 {{equivalence: 2 results equal, max difference {{.*}}}}
// expected-remark @+1 {{traffic: 1 reduce_scatter over "tp", 24.0 B sent per device}}
func.func @main(%ids: tensor<4xi64, #dtrain.placement<#mesh, [{}]>>,
                %table: tensor<6x3xf32, #dtrain.placement<#mesh, [{"tp"}, {}]>>)
    -> (tensor<4x3xf32, #dtrain.placement<#mesh, [{"tp"}, {}]>>,
        tensor<6x3xf32, #dtrain.placement<#mesh, [{"tp"}, {}]>>) {
  %p = dtrain.gather %ids, %table
      : (tensor<4xi64, #dtrain.placement<#mesh, [{}]>>, tensor<6x3xf32, #dtrain.placement<#mesh, [{"tp"}, {}]>>)
      -> tensor<4x3xf32, #dtrain.placement<#mesh, [{}, {}], partial = {"tp" = sum}>>
  %r = dtrain.comm.reduce_scatter %p over "tp"
      : tensor<4x3xf32, #dtrain.placement<#mesh, [{}, {}], partial = {"tp" = sum}>>
      -> tensor<4x3xf32, #dtrain.placement<#mesh, [{"tp"}, {}]>>
  %ones = dtrain.constant 1.0 : () -> tensor<4x3xf32, #dtrain.placement<#mesh, [{}, {}]>>
  %g = dtrain.scatter_add %ids, %ones
      : (tensor<4xi64, #dtrain.placement<#mesh, [{}]>>, tensor<4x3xf32, #dtrain.placement<#mesh, [{}, {}]>>)
      -> tensor<6x3xf32, #dtrain.placement<#mesh, [{"tp"}, {}]>>
  return %r, %g : tensor<4x3xf32, #dtrain.placement<#mesh, [{"tp"}, {}]>>,
                  tensor<6x3xf32, #dtrain.placement<#mesh, [{"tp"}, {}]>>
}

// -----

// A pipeline of two stages with interleaved layers (stage 0 has layers 0 and 2):
// three sends forward and three back, of 2x3 f32 each; saved values and
// gradients stay on their stages.
#mesh = #dtrain.mesh<["pp" = 2]>
#p0 = #dtrain.placement<#mesh, [{}, {}], pinned = {"pp" = [0]}>
#p1 = #dtrain.placement<#mesh, [{}, {}], pinned = {"pp" = [1]}>
#s0 = #dtrain.placement<#mesh, [{}, {}, {}], pinned = {"pp" = [0]}>
#s1 = #dtrain.placement<#mesh, [{}, {}, {}], pinned = {"pp" = [1]}>
#w = #dtrain.placement<#mesh, [{2, "pp"}, {}, {}]>
func.func private @layer(%x: tensor<2x3xf32>, %w: tensor<3x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %y = dtrain.dot %x, %w rule("b k, k n -> b n") : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  return %y, %x : tensor<2x3xf32>, tensor<2x3xf32>
}
func.func private @back(%g: tensor<2x3xf32>, %w: tensor<3x3xf32>, %x: tensor<2x3xf32>, %acc: tensor<3x3xf32>)
    -> (tensor<2x3xf32>, tensor<3x3xf32>) {
  %dx = dtrain.dot %g, %w rule("b n, k n -> b k") : (tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<2x3xf32>
  %dw = dtrain.dot %x, %g, %acc rule("b k, b n, k n -> k n")
      : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %dx, %dw : tensor<2x3xf32>, tensor<3x3xf32>
}
// expected-remark-re @+2 {{equivalence: 3 results equal, max difference {{.*}}}}
// expected-remark @+1 {{traffic: 6 send over "pp", 144.0 B sent per device}}
func.func @main(%x: tensor<2x3xf32, #p0>, %w: tensor<4x3x3xf32, #w>, %acc: tensor<4x3x3xf32, #w>)
    -> (tensor<2x3xf32, #p1>, tensor<2x3xf32, #p0>, tensor<4x3x3xf32, #w>) {
  %y0, %x0 = dtrain.repeat @layer 0 to 1 carry(%x) stacked(%w) pinned "pp" = 0
      : (tensor<2x3xf32, #p0>, tensor<4x3x3xf32, #w>) -> (tensor<2x3xf32, #p0>, tensor<1x2x3xf32, #s0>)
  %m0 = dtrain.comm.send %y0 over "pp" : tensor<2x3xf32, #p0> -> tensor<2x3xf32, #p1>
  %y1, %x1 = dtrain.repeat @layer 1 to 2 carry(%m0) stacked(%w) pinned "pp" = 1
      : (tensor<2x3xf32, #p1>, tensor<4x3x3xf32, #w>) -> (tensor<2x3xf32, #p1>, tensor<1x2x3xf32, #s1>)
  %m1 = dtrain.comm.send %y1 over "pp" : tensor<2x3xf32, #p1> -> tensor<2x3xf32, #p0>
  %y2, %x2 = dtrain.repeat @layer 2 to 3 carry(%m1) stacked(%w) pinned "pp" = 0
      : (tensor<2x3xf32, #p0>, tensor<4x3x3xf32, #w>) -> (tensor<2x3xf32, #p0>, tensor<1x2x3xf32, #s0>)
  %m2 = dtrain.comm.send %y2 over "pp" : tensor<2x3xf32, #p0> -> tensor<2x3xf32, #p1>
  %y3, %x3 = dtrain.repeat @layer 3 to 4 carry(%m2) stacked(%w) pinned "pp" = 1
      : (tensor<2x3xf32, #p1>, tensor<4x3x3xf32, #w>) -> (tensor<2x3xf32, #p1>, tensor<1x2x3xf32, #s1>)
  %d3, %a3 = dtrain.repeat @back 3 to 4 reverse carry(%y3) stacked(%w, %x3) inout(%acc) pinned "pp" = 1
      : (tensor<2x3xf32, #p1>, tensor<4x3x3xf32, #w>, tensor<1x2x3xf32, #s1>, tensor<4x3x3xf32, #w>)
      -> (tensor<2x3xf32, #p1>, tensor<4x3x3xf32, #w>)
  %n2 = dtrain.comm.send %d3 over "pp" : tensor<2x3xf32, #p1> -> tensor<2x3xf32, #p0>
  %d2, %a2 = dtrain.repeat @back 2 to 3 reverse carry(%n2) stacked(%w, %x2) inout(%a3) pinned "pp" = 0
      : (tensor<2x3xf32, #p0>, tensor<4x3x3xf32, #w>, tensor<1x2x3xf32, #s0>, tensor<4x3x3xf32, #w>)
      -> (tensor<2x3xf32, #p0>, tensor<4x3x3xf32, #w>)
  %n1 = dtrain.comm.send %d2 over "pp" : tensor<2x3xf32, #p0> -> tensor<2x3xf32, #p1>
  %d1, %a1 = dtrain.repeat @back 1 to 2 reverse carry(%n1) stacked(%w, %x1) inout(%a2) pinned "pp" = 1
      : (tensor<2x3xf32, #p1>, tensor<4x3x3xf32, #w>, tensor<1x2x3xf32, #s1>, tensor<4x3x3xf32, #w>)
      -> (tensor<2x3xf32, #p1>, tensor<4x3x3xf32, #w>)
  %n0 = dtrain.comm.send %d1 over "pp" : tensor<2x3xf32, #p1> -> tensor<2x3xf32, #p0>
  %d0, %a0 = dtrain.repeat @back 0 to 1 reverse carry(%n0) stacked(%w, %x0) inout(%a1) pinned "pp" = 0
      : (tensor<2x3xf32, #p0>, tensor<4x3x3xf32, #w>, tensor<1x2x3xf32, #s0>, tensor<4x3x3xf32, #w>)
      -> (tensor<2x3xf32, #p0>, tensor<4x3x3xf32, #w>)
  return %y3, %d0, %a0 : tensor<2x3xf32, #p1>, tensor<2x3xf32, #p0>, tensor<4x3x3xf32, #w>
}

// -----

// A repeat of several layers whose rows are split inside; stacked outputs.
#mesh = #dtrain.mesh<["tp" = 2]>
#x = #dtrain.placement<#mesh, [{}, {"tp"}]>
#xs = #dtrain.placement<#mesh, [{}, {}, {"tp"}]>
func.func private @layer(%x: tensor<2x4xf32, #x>, %s: tensor<4xf32, #dtrain.placement<#mesh, [{"tp"}]>>)
    -> (tensor<2x4xf32, #x>, tensor<2x4xf32, #x>) {
  %y = dtrain.elementwise<mul> %x, %s
      : (tensor<2x4xf32, #x>, tensor<4xf32, #dtrain.placement<#mesh, [{"tp"}]>>) -> tensor<2x4xf32, #x>
  return %y, %x : tensor<2x4xf32, #x>, tensor<2x4xf32, #x>
}
// expected-remark-re @+1 {{equivalence: 2 results equal, max difference {{.*}}}}
func.func @main(%x: tensor<2x4xf32, #x>, %s: tensor<5x4xf32, #dtrain.placement<#mesh, [{}, {"tp"}]>>)
    -> (tensor<2x4xf32, #x>, tensor<3x2x4xf32, #xs>) {
  %y, %xs = dtrain.repeat @layer 1 to 4 carry(%x) stacked(%s)
      : (tensor<2x4xf32, #x>, tensor<5x4xf32, #dtrain.placement<#mesh, [{}, {"tp"}]>>)
      -> (tensor<2x4xf32, #x>, tensor<3x2x4xf32, #xs>)
  return %y, %xs : tensor<2x4xf32, #x>, tensor<3x2x4xf32, #xs>
}

// -----

// Before communicate: an op state says how the op runs, and its operands are
// moved on the cheapest path. Axis b goes from columns to rows; the rows are
// taken by axis a, which is gathered first. The reshard then is a free slice.
#mesh = #dtrain.mesh<["a" = 2, "b" = 2]>
module attributes {dtrain.phase = #dtrain.phase<place>} {
// expected-remark-re @+3 {{equivalence: 1 results equal, max difference {{.*}}}}
// expected-remark @+2 {{traffic: 1 all_gather over "a", 16.0 B sent per device}}
// expected-remark @+1 {{traffic: 1 all_to_all over "b", 16.0 B sent per device}}
func.func @main(%x: tensor<4x4xf32, #dtrain.placement<#mesh, [{"a"}, {"b"}]>>)
    -> tensor<4x4xf32, #dtrain.placement<#mesh, [{"b"}, {"a"}]>> {
  %y = dtrain.elementwise<exp> %x state <{"b" = factor("x0", 2)}>
      : (tensor<4x4xf32, #dtrain.placement<#mesh, [{"a"}, {"b"}]>>)
      -> tensor<4x4xf32, #dtrain.placement<#mesh, [{"b"}, {}]>>
  %z = dtrain.reshard %y
      : tensor<4x4xf32, #dtrain.placement<#mesh, [{"b"}, {}]>>
      -> tensor<4x4xf32, #dtrain.placement<#mesh, [{"b"}, {"a"}]>>
  return %z : tensor<4x4xf32, #dtrain.placement<#mesh, [{"b"}, {"a"}]>>
}
}
