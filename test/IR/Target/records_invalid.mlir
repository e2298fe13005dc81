// RUN: dtrain-opt %s -split-input-file -verify-diagnostics

// target.peak C1
// expected-error@+2 {{unknown field 'colour' of #target.peak: expected one of rate, efficiency, energy}}
func.func private @peak_c1() attributes {
  a = #target.peak<colour = "red">}

// -----

// target.peaks C1
// expected-error@+2 {{unknown field 'colour' of #target.peaks: expected one of fp64, fp32, tf32, bf16, fp16, fp8, fp4, int8}}
func.func private @peaks_c1() attributes {
  a = #target.peaks<colour = "red">}

// -----

// target.contraction C1
// expected-error@+2 {{unknown field 'colour' of #target.contraction: expected one of compute_efficiency, memory_efficiency, launch}}
func.func private @contraction_c1() attributes {
  a = #target.contraction<colour = "red">}

// -----

// target.narrow_head C1
// expected-error@+2 {{unknown field 'colour' of #target.narrow_head: expected one of below, slowdown}}
func.func private @narrow_head_c1() attributes {
  a = #target.narrow_head<colour = "red">}

// -----

// target.attention C1
// expected-error@+2 {{unknown field 'colour' of #target.attention: expected one of efficiency}}
func.func private @attention_c1() attributes {
  a = #target.attention<colour = "red">}

// -----

// target.memory_bound C1
// expected-error@+2 {{unknown field 'colour' of #target.memory_bound: expected one of efficiency, launch}}
func.func private @memory_bound_c1() attributes {
  a = #target.memory_bound<colour = "red">}

// -----

// target.chip C1
// expected-error@+2 {{unknown field 'colour' of #target.chip: expected one of name, peaks}}
func.func private @chip_c1() attributes {
  a = #target.chip<colour = "red">}

// -----

// target.collective C1
// expected-error@+2 {{unknown field 'colour' of #target.collective: expected one of a0, a1, c0, c1, b1, b2, g_squared}}
func.func private @collective_c1() attributes {
  a = #target.collective<colour = "red">}

// -----

// target.switch_reduction C1
// expected-error@+2 {{unknown field 'colour' of #target.switch_reduction: expected one of latency, efficiency, minimum_ranks}}
func.func private @switch_reduction_c1() attributes {
  a = #target.switch_reduction<colour = "red">}

// -----

// target.node C1
// expected-error@+2 {{unknown field 'colour' of #target.node: expected one of devices}}
func.func private @node_c1() attributes {
  a = #target.node<colour = "red">}

// -----

// target.network C1
// expected-error@+2 {{unknown field 'colour' of #target.network: expected one of node_bandwidth}}
func.func private @network_c1() attributes {
  a = #target.network<colour = "red">}

// -----

// target.site C1
// expected-error@+2 {{unknown field 'colour' of #target.site: expected one of pue}}
func.func private @site_c1() attributes {
  a = #target.site<colour = "red">}

// -----

// target.finance C1
// expected-error@+2 {{unknown field 'colour' of #target.finance: expected one of life}}
func.func private @finance_c1() attributes {
  a = #target.finance<colour = "red">}

// -----

// target.machine C1
// expected-error@+2 {{unknown field 'colour' of #target.machine: expected one of chip, node, network, site, finance}}
func.func private @machine_c1() attributes {
  a = #target.machine<colour = "red">}

// -----

// target.stack C1
// expected-error@+2 {{unknown field 'colour' of #target.stack: expected one of attention}}
func.func private @stack_c1() attributes {
  a = #target.stack<colour = "red">}

// -----

// target.finance C1
// expected-error@+2 {{duplicate field 'life' of #target.finance}}
func.func private @finance_c1() attributes {
  a = #target.finance<life = <4.0 year, datasheet, "s">, life = <4.0 year, datasheet, "s">>}

// -----

// target.finance C1
// expected-error@+2 {{missing fields of #target.finance: maintenance, utilization}}
func.func private @finance_c1() attributes {
  a = #target.finance<life = <4.0 year, datasheet, "s">, interest = <0.1, datasheet, "s">>}

// -----

// target.memory_bound C1
// expected-error@+2 {{missing field of #target.memory_bound: launch}}
func.func private @memory_bound_c1() attributes {
  a = #target.memory_bound<efficiency = <0.8, datasheet, "s">>}

// -----

// target.machine C1
// expected-error@+2 {{missing fields of #target.machine: chip, node, network, site, finance}}
func.func private @machine_c1() attributes {
  a = #target.machine<>}

// -----

// target.chip C1
// expected-error@+2 {{expected a field of #target.chip}}
func.func private @chip_c1() attributes {
  a = #target.chip<"name" = "x">}

// -----

// target.chip C1
// expected-error@+2 {{expected '='}}
func.func private @chip_c1() attributes {
  a = #target.chip<name "x">}

// -----

// target.peak C2
// expected-error@+2 {{rate: mismatched unit 'GBps': expected one of PFLOPps, TFLOPps, GFLOPps, FLOPps}}
func.func private @peak_c2() attributes {
  a = #target.peak<rate = <312.0 GBps dense, datasheet, "s">>}

// -----

// target.contraction C2
// expected-error@+2 {{launch: mismatched unit 'W': expected one of year, day, h, s, ms, us, ns}}
func.func private @contraction_c2() attributes {
  a = #target.contraction<launch = <6.0 W, datasheet, "s">>}

// -----

// target.narrow_head C2
// expected-error@+2 {{below: mismatched unit 'B': expected one of no unit}}
func.func private @narrow_head_c2() attributes {
  a = #target.narrow_head<below = <64.0 B, datasheet, "s">>}

// -----

// target.attention C2
// expected-error@+2 {{launch: mismatched unit '': expected one of year}}
func.func private @attention_c2() attributes {
  a = #target.attention<launch = <40.0, datasheet, "s">>}

// -----

// target.memory_bound C2
// expected-error@+2 {{launch: mismatched unit 'GiB'}}
func.func private @memory_bound_c2() attributes {
  a = #target.memory_bound<launch = <2.0 GiB, datasheet, "s">>}

// -----

// target.chip C2
// expected-error@+2 {{memory_capacity: mismatched unit 'GBps': expected one of TiB, GiB, MiB, KiB, TB, GB, MB, kB, B}}
func.func private @chip_c2() attributes {
  a = #target.chip<memory_capacity = <80.0 GBps, datasheet, "s">>}

// -----

// target.chip C2
// expected-error@+2 {{memory_bandwidth: unknown unit 'TBs': expected one of TBps, GBps, MBps, kBps, Bps, Gbitps}}
func.func private @chip_c2() attributes {
  a = #target.chip<memory_bandwidth = <2.0 TBs, datasheet, "s">>}

// -----

// target.collective C2
// expected-error@+2 {{a0: mismatched unit 'Hz'}}
func.func private @collective_c2() attributes {
  a = #target.collective<a0 = <10.3 Hz, datasheet, "s">>}

// -----

// target.switch_reduction C2
// expected-error@+2 {{latency: mismatched unit ''}}
func.func private @switch_reduction_c2() attributes {
  a = #target.switch_reduction<latency = <40.7, datasheet, "s">>}

// -----

// target.node C2
// expected-error@+2 {{link_bandwidth: mismatched unit 'GB'}}
func.func private @node_c2() attributes {
  a = #target.node<link_bandwidth = <300.0 GB one_way, datasheet, "s">>}

// -----

// target.network C2
// expected-error@+2 {{energy: mismatched unit 'pJ': expected one of J_per_B, pJ_per_bit, pJ_per_B}}
func.func private @network_c2() attributes {
  a = #target.network<energy = <1.0 pJ, datasheet, "s">>}

// -----

// target.site C2
// expected-error@+2 {{electricity_price: mismatched unit 'USD': expected one of USD_per_kWh, USD_per_J}}
func.func private @site_c2() attributes {
  a = #target.site<electricity_price = <0.08 USD, datasheet, "s">>}

// -----

// target.finance C2
// expected-error@+2 {{life: mismatched unit ''}}
func.func private @finance_c2() attributes {
  a = #target.finance<life = <4.0, datasheet, "s">>}

// -----

// target.stack C2
// expected-error@+2 {{gradient_element: mismatched unit ''}}
func.func private @stack_c2() attributes {
  a = #target.stack<gradient_element = <2.0, datasheet, "s">>}

// -----

// target.peak C3
// expected-error@+2 {{peak.rate: expected 'dense' after the unit: a peak says what it counts}}
func.func private @peak_c3() attributes {
  a = #target.peak<rate = <312.0 TFLOPps, datasheet, "s">>}

// -----

// target.peak C3
// expected-error@+2 {{peak.rate: expected 'dense' after the unit}}
func.func private @peak_c3() attributes {
  a = #target.peak<rate = <312.0 TFLOPps one_way, datasheet, "s">>}

// -----

// target.peak C3
// expected-error@+2 {{expected a dense peak, found a sparse one}}
func.func private @peak_c3() attributes {
  a = #target.peak<rate = <624.0 TFLOPps sparse, datasheet, "s">>}

// -----

// target.node C3
// expected-error@+2 {{node.link_bandwidth: expected 'one_way' after the unit: a link says what it counts}}
func.func private @node_c3() attributes {
  a = #target.node<link_bandwidth = <300.0 GBps, datasheet, "s">>}

// -----

// target.node C3
// expected-error@+2 {{expected a one-way bandwidth, found a duplex one}}
func.func private @node_c3() attributes {
  a = #target.node<link_bandwidth = <600.0 GBps duplex, datasheet, "s">>}

// -----

// target.network C3
// expected-error@+2 {{network.node_bandwidth: expected 'one_way' after the unit}}
func.func private @network_c3() attributes {
  a = #target.network<node_bandwidth = <200.0 GBps dense, datasheet, "s">>}

// -----

// target.chip C3
// expected-error@+2 {{chip.memory_bandwidth: expected no 'one_way': only peaks and links carry such a word}}
func.func private @chip_c3() attributes {
  a = #target.chip<memory_bandwidth = <2039.0 GBps one_way, datasheet, "s">>}

// -----

// target.peak C4
// expected-error@+2 {{peak.rate: expected a number above zero, found 0.0 TFLOPps}}
func.func private @peak_c4() attributes {
  a = #target.peak<rate = <0.0 TFLOPps dense, datasheet, "s">>}

// -----

// target.contraction C4
// expected-error@+2 {{contraction.compute_efficiency: expected an efficiency above 0 and up to 1, found 1.5}}
func.func private @contraction_c4() attributes {
  a = #target.contraction<compute_efficiency = <1.5, datasheet, "s">>}

// -----

// target.contraction C4
// expected-error@+2 {{contraction.memory_efficiency: expected an efficiency above 0 and up to 1, found 0.0}}
func.func private @contraction_c4() attributes {
  a = #target.contraction<memory_efficiency = <0.0, datasheet, "s">>}

// -----

// target.narrow_head C4
// expected-error@+2 {{narrow_head.slowdown: expected a ratio of at least 1, found 0.5}}
func.func private @narrow_head_c4() attributes {
  a = #target.narrow_head<slowdown = <0.5, datasheet, "s">>}

// -----

// target.narrow_head C4
// expected-error@+2 {{narrow_head.below: expected a whole number from 1 to 1e9, found 64.5}}
func.func private @narrow_head_c4() attributes {
  a = #target.narrow_head<below = <64.5, datasheet, "s">>}

// -----

// target.attention C4
// expected-error@+2 {{attention.backward_flops: expected a ratio of at least 2, found 1.5}}
func.func private @attention_c4() attributes {
  a = #target.attention<backward_flops = <1.5, datasheet, "s">>}

// -----

// target.memory_bound C4
// expected-error@+2 {{memory_bound.efficiency: expected an efficiency above 0 and up to 1, found 80.0}}
func.func private @memory_bound_c4() attributes {
  a = #target.memory_bound<efficiency = <80.0, datasheet, "s">>}

// -----

// target.chip C4
// expected-error@+2 {{chip.memory_capacity: expected a number above zero, found 0.0 GiB}}
func.func private @chip_c4() attributes {
  a = #target.chip<memory_capacity = <0.0 GiB, datasheet, "s">>}

// -----

// target.collective C4
// expected-error@+2 {{collective.b1: expected an efficiency above 0 and up to 1}}
func.func private @collective_c4() attributes {
  a = #target.collective<b1 = <0.0, datasheet, "s">>}

// -----

// target.switch_reduction C4
// expected-error@+2 {{switch_reduction.minimum_ranks: expected a whole number from 1 to 1e9}}
func.func private @switch_reduction_c4() attributes {
  a = #target.switch_reduction<minimum_ranks = <0.0, datasheet, "s">>}

// -----

// target.node C4
// expected-error@+2 {{node.devices: expected a whole number from 1 to 1e9, found 7.5}}
func.func private @node_c4() attributes {
  a = #target.node<devices = <7.5, datasheet, "s">>}

// -----

// target.network C4
// expected-error@+2 {{network.interfaces: expected a whole number from 1 to 1e9}}
func.func private @network_c4() attributes {
  a = #target.network<interfaces = <0.0, datasheet, "s">>}

// -----

// target.site C4
// expected-error@+2 {{site.pue: expected a ratio of at least 1, found 0.9}}
func.func private @site_c4() attributes {
  a = #target.site<pue = <0.9, datasheet, "s">>}

// -----

// target.finance C4
// expected-error@+2 {{finance.utilization: expected an efficiency above 0 and up to 1, found 1.1}}
func.func private @finance_c4() attributes {
  a = #target.finance<utilization = <1.1, datasheet, "s">>}

// -----

// target.stack C4
// expected-error@+2 {{stack.pipeline_exposed: expected a share from 0 to 1, found 1.5}}
func.func private @stack_c4() attributes {
  a = #target.stack<pipeline_exposed = <1.5, datasheet, "s">>}

// -----

// target.stack C4
// expected-error@+2 {{stack.attention: expected one of unfused, flash, portable_flash, found 'triton'}}
func.func private @stack_c4() attributes {
  a = #target.stack<attention = <triton, datasheet, "s">>}

// -----

// target.stack C4
// expected-error@+2 {{stack.dropout: expected one of no, yes, found 'maybe'}}
func.func private @stack_c4() attributes {
  a = #target.stack<dropout = <maybe, datasheet, "s">>}

// -----

// target.chip C4
// expected-error@+2 {{chip.name: expected a text that is not empty}}
func.func private @chip_c4() attributes {
  a = #target.chip<name = "">}

// -----

// target.attention kind
// expected-error@+2 {{expected '['}}
func.func private @attention_kind() attributes {
  a = #target.attention<narrow_heads = 3>}

// -----

// target.chip kind
// expected-error@+2 {{invalid kind of attribute specified}}
func.func private @chip_kind() attributes {
  a = #target.chip<contraction = #target.memory_bound<efficiency = <1.0, datasheet, "s">, launch = <1.0 s, datasheet, "s">>>}

// -----

// target.peaks C5
// expected-error@+2 {{expected at least one peak, found none}}
func.func private @peaks_c5() attributes {
  a = #target.peaks<>}

// -----

// target.attention C5
// expected-error@+2 {{expected narrow heads in ascending order, found 64.0 after 128.0}}
func.func private @attention_c5() attributes {
  a = #target.attention<efficiency = <1.0, datasheet, "s">, overhead_tokens = <1.0, datasheet, "s">, backward_flops = <2.0, datasheet, "s">, backward_efficiency = <1.0, datasheet, "s">, launch = <1.0 s, datasheet, "s">, narrow_heads = [<below = <128.0, datasheet, "s">, slowdown = <1.5, datasheet, "s">>, <below = <64.0, datasheet, "s">, slowdown = <1.5, datasheet, "s">>]>}

// -----

// target.attention C6
func.func private @attention_c6() attributes {
  a = #target.attention<efficiency = <0.75, datasheet, "s">, overhead_tokens = <1.0, datasheet, "s">, backward_flops = <2.0, datasheet, "s">,
    // expected-error@+1 {{attention.backward_efficiency: expected an efficiency of backward up to 1, found 1.50 times the forward's 0.75}}
    backward_efficiency = <1.50, datasheet, "s">, launch = <1.0 s, datasheet, "s">, narrow_heads = []>}

// -----

// target.chip C5
// The message stands at the figure, with the numbers as they were given.
func.func private @chip_c5() attributes {
  a = #target.chip<name = "x", peaks = <bf16 = <rate = <1.0 TFLOPps dense, datasheet, "s">, efficiency = <1.0, datasheet, "s">, energy = <1.0, datasheet, "s">>>,
    memory_capacity = <1.0 B, datasheet, "s">, memory_bandwidth = <1.0 Bps, datasheet, "s">,
    contraction = <compute_efficiency = <1.0, datasheet, "s">, memory_efficiency = <1.0, datasheet, "s">, launch = <1.0 s, datasheet, "s">>,
    attention = <efficiency = <1.0, datasheet, "s">, overhead_tokens = <1.0, datasheet, "s">, backward_flops = <2.0, datasheet, "s">, backward_efficiency = <1.0, datasheet, "s">, launch = <1.0 s, datasheet, "s">, narrow_heads = []>,
    memory_bound = <efficiency = <1.0, datasheet, "s">, launch = <0.0 s, datasheet, "s">>, energy_per_flop = <1.0 pJ_per_FLOP, datasheet, "s">,
    energy_per_memory_byte = <1.0 pJ_per_B, datasheet, "s">,
    // expected-error@+1 {{chip.idle_power: expected at most the maximum power of 0.4 kW, found 500000.0 mW}}
    idle_power = <500000.0 mW, datasheet, "s">, max_power = <0.4 kW, datasheet, "s">,
    embodied = <1.0 kgCO2e, datasheet, "s">, price = <1.0 USD, datasheet, "s">>}

// -----

// target.chip C6
// expected-error@+2 {{chip.peaks: expected an efficiency of contractions in bf16 up to 1, found 1.5 times the compute efficiency of 1.0}}
func.func private @chip_c6() attributes {
  a = #target.chip<name = "x", peaks = <bf16 = <rate = <1.0 TFLOPps dense, datasheet, "s">, efficiency = <1.5, datasheet, "s">, energy = <1.0, datasheet, "s">>>,
    memory_capacity = <1.0 B, datasheet, "s">, memory_bandwidth = <1.0 Bps, datasheet, "s">,
    contraction = <compute_efficiency = <1.0, datasheet, "s">, memory_efficiency = <1.0, datasheet, "s">, launch = <1.0 s, datasheet, "s">>,
    attention = <efficiency = <1.0, datasheet, "s">, overhead_tokens = <1.0, datasheet, "s">, backward_flops = <2.0, datasheet, "s">, backward_efficiency = <1.0, datasheet, "s">, launch = <1.0 s, datasheet, "s">, narrow_heads = []>,
    memory_bound = <efficiency = <1.0, datasheet, "s">, launch = <0.0 s, datasheet, "s">>, energy_per_flop = <1.0 pJ_per_FLOP, datasheet, "s">,
    energy_per_memory_byte = <1.0 pJ_per_B, datasheet, "s">, idle_power = <100.0 W, datasheet, "s">, max_power = <400.0 W, datasheet, "s">,
    embodied = <1.0 kgCO2e, datasheet, "s">, price = <1.0 USD, datasheet, "s">>}

// -----

// target.stack C5
func.func private @stack_c5() attributes {
  a = #target.stack<
  attention = <flash, assumed, "s">,
  dropout = <no, assumed, "s">,
  overlap_data_parallel = <no, assumed, "s">,
  fused_gradient_accumulation = <yes, assumed, "s">,
  // expected-error@+1 {{stack.gradient_element: expected a gradient element of 2 or 4 bytes, found 0.003 kB}}
  gradient_element = <0.003 kB, assumed, "s">,
  optimizer_traffic = <40.0 B, assumed, "s">,
  optimizer_host = <0.0 s, assumed, "s">,
  loss_forward = <12.0 B, assumed, "s">,
  loss_backward = <8.0 B, assumed, "s">,
  softmax_forward = <4.0 B, assumed, "s">,
  softmax_backward = <6.0 B, assumed, "s">,
  dropout_forward = <5.0 B, assumed, "s">,
  dropout_backward = <5.0 B, assumed, "s">,
  dropout_mask = <1.0 B, assumed, "s">,
  residual_dropout_forward = <1.0 B, assumed, "s">,
  residual_dropout_backward = <5.0 B, assumed, "s">,
  cast_traffic = <3.0 B, assumed, "s">,
  grouped_slowdown = <1.0, assumed, "s">,
  loss_saved = <6.0 B, assumed, "s">,
  workspace = <0.0 B, assumed, "s">,
  weight_workspace = <0.0 B, assumed, "s">,
  host_per_op = <0.0 s, assumed, "s">,
  host_ops_per_kernel = <1.0, assumed, "s">,
  tensor_exposed_forward = <1.0, assumed, "s">,
  tensor_exposed_backward = <1.0, assumed, "s">,
  sequence_exposed_backward = <1.0, assumed, "s">,
  weight_gradient_hides = <0.0, assumed, "s">,
  data_hides = <0.0, assumed, "s">,
  data_exposed = <1.0, assumed, "s">,
  data_interference = <0.0, assumed, "s">,
  pipeline_exposed = <1.0, assumed, "s">>}

// -----

// target.stack op C1
func.func @stack_op_c1() {
  // expected-error@+1 {{expects parent op 'builtin.module'}}
  target.stack @x <
  attention = <flash, assumed, "s">,
  dropout = <no, assumed, "s">,
  overlap_data_parallel = <no, assumed, "s">,
  fused_gradient_accumulation = <yes, assumed, "s">,
  gradient_element = <4.0 B, assumed, "s">,
  optimizer_traffic = <40.0 B, assumed, "s">,
  optimizer_host = <0.0 s, assumed, "s">,
  loss_forward = <12.0 B, assumed, "s">,
  loss_backward = <8.0 B, assumed, "s">,
  softmax_forward = <4.0 B, assumed, "s">,
  softmax_backward = <6.0 B, assumed, "s">,
  dropout_forward = <5.0 B, assumed, "s">,
  dropout_backward = <5.0 B, assumed, "s">,
  dropout_mask = <1.0 B, assumed, "s">,
  residual_dropout_forward = <1.0 B, assumed, "s">,
  residual_dropout_backward = <5.0 B, assumed, "s">,
  cast_traffic = <3.0 B, assumed, "s">,
  grouped_slowdown = <1.0, assumed, "s">,
  loss_saved = <6.0 B, assumed, "s">,
  workspace = <0.0 B, assumed, "s">,
  weight_workspace = <0.0 B, assumed, "s">,
  host_per_op = <0.0 s, assumed, "s">,
  host_ops_per_kernel = <1.0, assumed, "s">,
  tensor_exposed_forward = <1.0, assumed, "s">,
  tensor_exposed_backward = <1.0, assumed, "s">,
  sequence_exposed_backward = <1.0, assumed, "s">,
  weight_gradient_hides = <0.0, assumed, "s">,
  data_hides = <0.0, assumed, "s">,
  data_exposed = <1.0, assumed, "s">,
  data_interference = <0.0, assumed, "s">,
  pipeline_exposed = <1.0, assumed, "s">>
  return
}

// -----

// target.stack op C1
// expected-error@+1 {{expected valid '@'-identifier for symbol name}}
target.stack <
  attention = <flash, assumed, "s">,
  dropout = <no, assumed, "s">,
  overlap_data_parallel = <no, assumed, "s">,
  fused_gradient_accumulation = <yes, assumed, "s">,
  gradient_element = <4.0 B, assumed, "s">,
  optimizer_traffic = <40.0 B, assumed, "s">,
  optimizer_host = <0.0 s, assumed, "s">,
  loss_forward = <12.0 B, assumed, "s">,
  loss_backward = <8.0 B, assumed, "s">,
  softmax_forward = <4.0 B, assumed, "s">,
  softmax_backward = <6.0 B, assumed, "s">,
  dropout_forward = <5.0 B, assumed, "s">,
  dropout_backward = <5.0 B, assumed, "s">,
  dropout_mask = <1.0 B, assumed, "s">,
  residual_dropout_forward = <1.0 B, assumed, "s">,
  residual_dropout_backward = <5.0 B, assumed, "s">,
  cast_traffic = <3.0 B, assumed, "s">,
  grouped_slowdown = <1.0, assumed, "s">,
  loss_saved = <6.0 B, assumed, "s">,
  workspace = <0.0 B, assumed, "s">,
  weight_workspace = <0.0 B, assumed, "s">,
  host_per_op = <0.0 s, assumed, "s">,
  host_ops_per_kernel = <1.0, assumed, "s">,
  tensor_exposed_forward = <1.0, assumed, "s">,
  tensor_exposed_backward = <1.0, assumed, "s">,
  sequence_exposed_backward = <1.0, assumed, "s">,
  weight_gradient_hides = <0.0, assumed, "s">,
  data_hides = <0.0, assumed, "s">,
  data_exposed = <1.0, assumed, "s">,
  data_interference = <0.0, assumed, "s">,
  pipeline_exposed = <1.0, assumed, "s">>

// -----

// target.machine op C1
func.func @machine_op_c1() {
  // expected-error@+1 {{expects parent op 'builtin.module'}}
  target.machine @x <
  chip = <
    name = "ideal",
    peaks = <
      fp32 = <
        rate = <100.0 TFLOPps dense, assumed, "s">,
        efficiency = <1.0, assumed, "s">,
        energy = <1.0, assumed, "s">>,
      tf32 = <
        rate = <100.0 TFLOPps dense, assumed, "s">,
        efficiency = <1.0, assumed, "s">,
        energy = <1.0, assumed, "s">>,
      bf16 = <
        rate = <100.0 TFLOPps dense, assumed, "s">,
        efficiency = <1.0, assumed, "s">,
        energy = <1.0, assumed, "s">>,
      fp16 = <
        rate = <100.0 TFLOPps dense, assumed, "s">,
        efficiency = <1.0, assumed, "s">,
        energy = <1.0, assumed, "s">>,
      fp8 = <
        rate = <100.0 TFLOPps dense, assumed, "s">,
        efficiency = <1.0, assumed, "s">,
        energy = <1.0, assumed, "s">>>,
    memory_capacity = <1024.0 TiB, assumed, "s">,
    memory_bandwidth = <1.0e30 Bps, assumed, "s">,
    contraction = <
      compute_efficiency = <1.0, assumed, "s">,
      memory_efficiency = <1.0, assumed, "s">,
      launch = <0.0 s, assumed, "s">>,
    attention = <
      efficiency = <1.0, assumed, "s">,
      overhead_tokens = <0.0, assumed, "s">,
      backward_flops = <2.0, assumed, "s">,
      backward_efficiency = <1.0, assumed, "s">,
      launch = <0.0 s, assumed, "s">,
      narrow_heads = []>,
    portable_attention = <
      efficiency = <1.0, assumed, "s">,
      overhead_tokens = <0.0, assumed, "s">,
      backward_flops = <2.0, assumed, "s">,
      backward_efficiency = <1.0, assumed, "s">,
      launch = <0.0 s, assumed, "s">,
      narrow_heads = []>,
    memory_bound = <
      efficiency = <1.0, assumed, "s">,
      launch = <0.0 s, assumed, "s">>,
    energy_per_flop = <1.0 pJ_per_FLOP, assumed, "s">,
    energy_per_memory_byte = <1.0 pJ_per_B, assumed, "s">,
    idle_power = <100.0 W, assumed, "s">,
    max_power = <500.0 W, assumed, "s">,
    embodied = <100.0 kgCO2e, assumed, "s">,
    price = <10000.0 USD, assumed, "s">>,
  node = <
    devices = <8.0, assumed, "s">,
    link_bandwidth = <1.0e30 Bps one_way, assumed, "s">,
    collective = <
      a0 = <0.0 s, assumed, "s">,
      a1 = <0.0 s, assumed, "s">,
      c0 = <0.0 s, assumed, "s">,
      c1 = <0.0 s, assumed, "s">,
      b1 = <1.0, assumed, "s">,
      b2 = <1.0, assumed, "s">,
      g_squared = <0.0 s, assumed, "s">>,
    link_energy = <1.0 pJ_per_B, assumed, "s">,
    host_power = <800.0 W, assumed, "s">,
    host_embodied = <800.0 kgCO2e, assumed, "s">,
    host_price = <80000.0 USD, assumed, "s">>,
  network = <
    node_bandwidth = <1.0e30 Bps one_way, assumed, "s">,
    interfaces = <8.0, assumed, "s">,
    efficiency = <1.0, assumed, "s">,
    latency = <0.0 s, assumed, "s">,
    latency_per_node = <0.0 s, assumed, "s">,
    energy = <1.0 pJ_per_B, assumed, "s">,
    price_per_node = <8000.0 USD, assumed, "s">,
    embodied_per_node = <80.0 kgCO2e, assumed, "s">>,
  site = <
    pue = <1.0, assumed, "s">,
    grid_intensity = <0.1 kgCO2e_per_kWh, assumed, "s">,
    electricity_price = <0.1 USD_per_kWh, assumed, "s">,
    facility_price = <10.0 USD_per_W, assumed, "s">,
    facility_life = <10.0 year, assumed, "s">>,
  finance = <
    life = <4.0 year, assumed, "s">,
    interest = <0.0, assumed, "s">,
    maintenance = <0.0, assumed, "s">,
    utilization = <1.0, assumed, "s">>>
  return
}

// -----

// target.machine op: its description is a machine.
// expected-error@+1 {{invalid kind of attribute specified}}
target.machine @x #target.memory_bound<efficiency = <1.0, datasheet, "s">, launch = <0.0 s, datasheet, "s">>
