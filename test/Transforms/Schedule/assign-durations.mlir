// Links of 100 GB/s in an otherwise ideal machine, and a stack that hides some of what they carry.
// RUN: sed -e 's/link_bandwidth = <1.0e30 Bps/link_bandwidth = <100.0 GBps/' %models/hardware/test-ideal.mlir > %t-machine.mlir
// RUN: sed -e 's/exposed_forward = <1.0/exposed_forward = <0.75/' -e 's/tensor_exposed_backward = <1.0/tensor_exposed_backward = <0.25/' \
// RUN:   -e 's/gradient_hides = <0.0/gradient_hides = <0.5/' -e 's/pipeline_exposed = <1.0/pipeline_exposed = <0.5/' \
// RUN:   -e 's/data_hides = <0.0/data_hides = <0.25/' -e 's/data_exposed = <1.0/data_exposed = <0.125/' \
// RUN:   -e 's/overlap_data_parallel = <no/overlap_data_parallel = <yes/' -e 's/host_per_op = <0.0 s/host_per_op = <10.0 us/' \
// RUN:   -e 's/optimizer_host = <0.0 s/optimizer_host = <2.0 ms/' -e 's/attention = <flash/attention = <unfused/' \
// RUN:   -e 's/dropout = <no/dropout = <yes/' %models/stacks/test-ideal.mlir > %t-stack.mlir
// RUN: dtrain-opt %s --schedule-assign-durations="target=%t-machine.mlir stack=%t-stack.mlir" | FileCheck %s
// RUN: dtrain-opt %s --schedule-assign-durations="target=%t-machine.mlir stack=%t-stack.mlir overlap-dp=no" \
// RUN:   | FileCheck %s --check-prefix=APART

// CHECK: schedule.plan {{.*}} target "test-ideal" stack "test-ideal"
// What the stack hides by purpose: forward, and so recomputation, exposes a share.
// CHECK-SAME: figures = #schedule.figures<optimizer_host = 2.0 ms, per_logit = 6.0 B, per_score = 5.0 B, per_dropped = 1.0 B>
// CHECK-SAME: #schedule.hiding<purpose = data, pass = forward, least = 0.125, hides = 0.25>
// CHECK-SAME: #schedule.hiding<purpose = tensor, pass = forward, visible = 0.75, least = 0.75, hides = 0.5>
// CHECK-SAME: #schedule.hiding<purpose = tensor, pass = backward, least = 0.25, hides = 0.5>
// CHECK-SAME: #schedule.hiding<purpose = gradient, pass = backward, least = 0.125, hides = 0.25>
// CHECK-SAME: #schedule.hiding<purpose = pipeline, pass = forward, visible = 0.5, least = 0.5>
// APART: #schedule.hiding<purpose = gradient, pass = backward, least = 1.0, hides = 0.0>
schedule.plan @p order("1f1b") micro_batches 2 chunks 1 mesh <["pp" = 2, "dp" = 2, "tp" = 8]> pipeline "pp" model <name = "m"> attributes {sizes = {n = 100}} {
  schedule.body @backward {
    // 1e11 FLOP at 100 TFLOP/s.
    // CHECK: "dx" {{.*}} cost <device = 1.0 ms, host = 10.0 us, flops = 100.0 GFLOP>
    %dx = schedule.task "dx" #schedule.work<class = contraction, flops = 0.1 TFLOP, gemm = [1, 1000, 1000, 50000]> origin backward
    // An all_reduce of 8 ranks sends 7/4 of 400 MB, which takes 7 ms.
    // CHECK: "ar" {{.*}} cost <device = 7.0 ms, host = 10.0 us, link = 667.572021484375 MiB>
    %ar = schedule.task "ar" after(%dx) #schedule.comm<kind = all_reduce, purpose = tensor, axes = ["tp"], tensor = 400.0 MB> origin backward
    // The same over a size: 8 devices divide 100 unevenly. Time is the fullest's, 13 of 100 rows, energy the mean, 12.5.
    // CHECK: "uneven" {{.*}} cost <device = 130.0 us, host = 10.0 us, flops = 12.5 GFLOP>
    %0 = schedule.task "uneven" #schedule.work<class = contraction, flops = "2.0 FLOP n/tp 500 1000000", gemm = [1, "n/tp", 500, 1000000]> origin backward
  }
  schedule.rank_class @s0 stage 0 devices 16 state <> {
    schedule.segment forward chunk 0 count 2 space <logits = 100.0, scores = 10.0, dropped = 1398.0, layer_scores = 4.0> {
      %a = schedule.task "a" #schedule.work<class = attention, attention = [1, 1, 1, 2, 2, 8, 8]>
      // CHECK: "send" {{.*}} cost <device = 1.0 ms, host = 10.0 us, network = 95.367431640625 MiB>
      %send = schedule.task "send" after(%a) #schedule.comm<kind = send, purpose = pipeline, axes = ["pp"], tensor = 100.0 MB, between = [0, 1]>
    }
    schedule.segment backward chunk 0 count 2 space <> {
      %0 = schedule.call @backward times 2
    }
    schedule.segment tail chunk 0 count 1 space <> {
      // Two ranks send 1.2 GB.
      // CHECK: "sync" {{.*}} cost <device = 12.0 ms, host = 10.0 us, {{link|network}} = {{.*}}> {during = "backward"}
      %sync = schedule.task "sync" #schedule.comm<kind = all_reduce, purpose = gradient, axes = ["dp"], tensor = 1.2 GB> origin backward {during = "backward"}
      %update = schedule.task "update" after(%sync) #schedule.work<class = optimizer, precision = fp32, elements = 1.0> origin update
    }
  }
  schedule.rank_class @s1 stage 1 devices 16 state <> {
    schedule.segment forward chunk 0 count 2 space <> {
    }
    schedule.segment backward chunk 0 count 2 space <> {
    }
  }
}
