// RUN: dtrain-opt %s | FileCheck %s
// RUN: dtrain-opt %s | dtrain-opt | FileCheck %s
// RUN: dtrain-opt %models/hardware/a100-80gb-dgx-ib.mlir | FileCheck %s --check-prefix=A100
// RUN: dtrain-opt %models/hardware/h100-dgx-ib.mlir | FileCheck %s --check-prefix=H100
// RUN: dtrain-opt %models/hardware/test-ideal.mlir | FileCheck %s --check-prefix=IDEAL
// RUN: dtrain-opt %models/stacks/megatron-2021.mlir | FileCheck %s --check-prefix=STACK

// Figures print with the largest unit that reads back to the same value.
// CHECK-LABEL: @figures
// CHECK-SAME: a = #target.figure<3.35 TBps, datasheet, "s">
// CHECK-SAME: b = #target.figure<80.0 GiB, measured, "s">
// CHECK-SAME: c = #target.figure<0.385, derived, "say \22x\22">
// CHECK-SAME: d = #target.figure<1.979 PFLOPps dense, assumed, "s">
// CHECK-SAME: e = #target.figure<450.0 GBps one_way, datasheet, "s">
// CHECK-SAME: f = #target.figure<0.0 s, assumed, "s">
// CHECK-SAME: g = #target.figure<1.0e+30 Bps, assumed, "s">
// CHECK-SAME: h = #target.figure<700.0 W, datasheet, "s">
// CHECK-SAME: i = #target.fact<flash, assumed, "s">
func.func private @figures() attributes {
  a = #target.figure<3350 GBps, datasheet, "s">,
  b = #target.figure<80 GiB, measured, "s">,
  c = #target.figure<0.385, derived, "say \22x\22">,
  d = #target.figure<1979 TFLOPps dense, assumed, "s">,
  e = #target.figure<450.0 GBps one_way, datasheet, "s">,
  f = #target.figure<0.0 ms, assumed, "s">,
  g = #target.figure<1.0e30 Bps, assumed, "s">,
  h = #target.figure<700W, datasheet, "s">,
  i = #target.fact<flash, assumed, "s">}

// Fields may come in any order; they print in the record's.
// CHECK-LABEL: @finance
// CHECK-SAME: #target.finance<
// CHECK-NEXT: life = <4.0 year, assumed, "s">,
// CHECK-NEXT: interest = <0.08, assumed, "s">,
// CHECK-NEXT: maintenance = <0.05, assumed, "s">,
// CHECK-NEXT: utilization = <0.9, assumed, "s">>
func.func private @finance() attributes {
  a = #target.finance<utilization = <0.9, assumed, "s">, maintenance = <0.05, assumed, "s">,
                      interest = <0.08, assumed, "s">, life = <4.0 year, assumed, "s">>}

// An optional peak is absent; nested records and lists.
// CHECK-LABEL: @peaks
// CHECK-SAME: #target.peaks<
// CHECK-NEXT: bf16 = <
// CHECK-NEXT: rate = <100.0 TFLOPps dense, assumed, "s">,
// CHECK-NEXT: efficiency = <1.0, assumed, "s">,
// CHECK-NEXT: energy = <1.0, assumed, "s">>>
func.func private @peaks() attributes {
  a = #target.peaks<bf16 = <rate = <100.0 TFLOPps dense, assumed, "s">, efficiency = <1.0, assumed, "s">,
                            energy = <1.0, assumed, "s">>>}

// A100: target.machine @"a100-80gb-dgx-ib" <
// A100: bf16 = <
// A100-NEXT: rate = <312.0 TFLOPps dense, datasheet
// A100-NOT: fp8 =
// A100: memory_capacity = <80.0 GiB, datasheet
// A100: narrow_heads = [<
// A100: link_bandwidth = <300.0 GBps one_way
// A100-NOT: switch_reduction

// H100: target.machine @"h100-dgx-ib" <
// H100: fp8 = <
// H100-NEXT: rate = <1.979 PFLOPps dense, datasheet
// H100: switch_reduction = <

// IDEAL: target.machine @"test-ideal" <
// IDEAL: narrow_heads = []

// STACK: target.stack @"megatron-2021" <
// STACK: attention = <unfused, derived
