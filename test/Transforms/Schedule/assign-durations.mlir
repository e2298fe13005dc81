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
schedule.plan @p order("1f1b") micro_batches 2 chunks 1 mesh <["pp" = 2, "dp" = 2, "tp" = 8]> pipeline "pp" model <name = "m"> {
  schedule.body @backward {
    // 1e11 FLOP at 100 TFLOP/s.
    // CHECK: "dx" {{.*}} cost <device = 1.0 ms, host = 10.0 us, flops = 100.0 GFLOP>
    %dx = schedule.task "dx" #schedule.work<class = contraction, flops = 0.1 TFLOP, gemm = [1, 1000, 1000, 50000]> origin backward
    // An all_reduce of 8 ranks sends 7/4 of 400 MB, which takes 7 ms; half of the 8 ms of weight gradients before the
    // task that needs the result hide it.
    // CHECK: "hidden" {{.*}} cost <device = 7.0 ms, host = 10.0 us, exposed = 3.0 ms>
    %ar = schedule.task "hidden" after(%dx) #schedule.comm<kind = all_reduce, axes = ["tp"], tensor = 400.0 MB, sent = 700.0 MB> origin backward
    %dw = schedule.task "dw" #schedule.work<class = contraction, flops = 0.8 TFLOP, gemm = [1, 1000, 1000, 400000], weight_gradient = true> origin backward
    %dn = schedule.task "dn" after(%ar) #schedule.work<class = memory_bound, read = 64.0 MB, written = 32.0 MB> origin backward
    // What comes too late hides nothing.
    // CHECK: "seen" {{.*}} cost <device = 7.0 ms, host = 10.0 us, exposed = 7.0 ms>
    %seen = schedule.task "seen" after(%dn) #schedule.comm<kind = all_reduce, axes = ["tp"], tensor = 400.0 MB, sent = 700.0 MB> origin backward
    %dm = schedule.task "dm" after(%seen) #schedule.work<class = contraction, flops = 0.8 TFLOP, gemm = [1, 1000, 1000, 400000], weight_gradient = true> origin backward
    // Forward, and so recomputation, exposes a share.
    // CHECK: "again" {{.*}} cost <device = 7.0 ms, host = 10.0 us, exposed = 5.25 ms>
    %again = schedule.task "again" after(%dm) #schedule.comm<kind = all_reduce, axes = ["tp"], tensor = 400.0 MB, sent = 700.0 MB> origin recompute
  }
  // CHECK: @s0
  schedule.rank_class @s0 stage 0 devices 16 state <> {
    // Unfused attention keeps two 2-byte forms of its scores and a mask; logits are kept at 6 bytes.
    // CHECK: segment forward {{.*}} space <logits = 100.0, scores = 10.0, dropped = 1398.0, layer_scores = 4.0,
    // CHECK-SAME: stack_saved = 2.0 KiB, stack_workspace = 20.0 B>
    schedule.segment forward chunk 0 count 2 space <logits = 100.0, scores = 10.0, dropped = 1398.0, layer_scores = 4.0> {
      %a = schedule.task "a" #schedule.work<class = attention, attention = [1, 1, 1, 2, 2, 8, 8]>
      // CHECK: "send" {{.*}} cost <device = 1.0 ms, host = 10.0 us, exposed = 500.0 us>
      %send = schedule.task "send" after(%a) #schedule.comm<kind = send, axes = ["pp"], tensor = 100.0 MB, sent = 100.0 MB, between = [0, 1]>
    }
    schedule.segment backward chunk 0 count 2 space <> {
      %0 = schedule.call @backward times 2
    }
    schedule.segment tail chunk 0 count 1 space <> {
      // Two ranks send 1.2 GB: 12 ms, of which a quarter of twice 17 ms of compute and 15.25 ms of exposed
      // communication hides all but an eighth.
      // CHECK: "sync" {{.*}} cost <device = 12.0 ms, exposed = 1.5 ms>
      // APART: "sync" {{.*}} cost <device = 12.0 ms, exposed = 12.0 ms>
      %sync = schedule.task "sync" #schedule.comm<kind = all_reduce, axes = ["dp"], tensor = 1.2 GB, sent = 1.2 GB> origin backward
      // What the stages share waits for all of them.
      // CHECK: "tied" {{.*}} cost <device = 2.0 ms, exposed = 2.0 ms>
      %tied = schedule.task "tied" #schedule.comm<kind = all_reduce, axes = ["pp"], tensor = 200.0 MB, sent = 200.0 MB> origin backward
      // The optimizer costs the host what the stack says, once.
      // CHECK: "update" {{.*}} cost <device = {{.*}}, host = 2.0 ms
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
