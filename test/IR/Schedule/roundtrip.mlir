// RUN: dtrain-opt %s | dtrain-opt | FileCheck %s

#mesh = #dtrain.mesh<["pp" = 2, "tp" = 4]>

// CHECK-LABEL: schedule.plan @step order("1f1b") micro_batches 8 chunks 1 mesh #mesh pipeline "pp"
// CHECK-SAME: model <name = "toy", parameters = 100, layers = 2, samples = 8, tokens = 64> target "box" stack "plain" at <duration = 2.0 s>
schedule.plan @step order("1f1b") micro_batches 8 chunks 1 mesh #mesh pipeline "pp"
    model <name = "toy", parameters = 100, layers = 2, samples = 8, tokens = 64>
    target "box" stack "plain" at <duration = 2.0 s> {
  // CHECK: schedule.body @layer span <compute = 3.0 ms, recompute = 1.0 ms, exposed = 500.0 us, host = 2.0 ms> {
  schedule.body @layer span <compute = 3.0 ms, recompute = 1.0 ms, exposed = 500.0 us, host = 2.0 ms> {
    // CHECK: %[[A:.*]] = schedule.task "a" #schedule.work<class = contraction, precision = fp16, contract = 8.0 GFLOP, flops = 2.0 GFLOP,
    // CHECK-SAME: read = 1.5 MiB, written = 512.0 KiB, gemm = [1, 2048, 512, 1024]>
    %a = schedule.task "a" #schedule.work<class = contraction, precision = fp16, contract = 8.0 GFLOP, flops = 2.0 GFLOP,
        read = 1.5 MiB, written = 512.0 KiB, gemm = [1, 2048, 512, 1024]>
    // CHECK: %[[B:.*]] = schedule.task "b" after(%[[A]]) #schedule.comm<kind = all_reduce, purpose = gradient, axes = ["pp", "tp"], tensor = 1.0 MiB, sent = 1.5 MiB> origin backward
    // CHECK-SAME: cost <device = 1.0 ms, host = 12.0 us, exposed = 500.0 us> at <start = 1.0 ms, duration = 1.0 ms, exposed = 500.0 us>
    %b = schedule.task "b" after(%a) #schedule.comm<kind = all_reduce, purpose = gradient, axes = ["pp", "tp"], tensor = 1.0 MiB, sent = 1.5 MiB>
        origin backward cost <device = 1.0 ms, host = 12.0 us, exposed = 500.0 us> at <start = 1.0 ms, duration = 1.0 ms, exposed = 500.0 us>
    // CHECK: schedule.task "c" after(%[[A]], %[[B]]) #schedule.work<class = attention, attention = [1, 8, 2, 64, 64, 16, 16] causal, kernels = 2>
    %c = schedule.task "c" after(%a, %b) #schedule.work<class = attention, attention = [1, 8, 2, 64, 64, 16, 16] causal, kernels = 2>
    // CHECK: schedule.task "d" #schedule.work<class = memory_bound, elements = 3.0, grouped = true, dropout = backward, weight_gradient = true> origin update
    %d = schedule.task "d" #schedule.work<class = memory_bound, elements = 3.0, grouped = true, dropout = backward, weight_gradient = true> origin update
  }
  // CHECK: schedule.rank_class @first stage 0 devices 4 state <parameters = 2.0 GiB, gradients = 4.0 GiB, optimizer = 12.0 GiB, inputs = 1.0 MiB>
  // CHECK-SAME: footprint <parameters = 2.0 GiB, activations = 1.0 GiB, workspace = 1.0 MiB>
  // CHECK-SAME: breakdown <compute = 1.0 s, exposed_communication = 250.0 ms, bubble = 250.0 ms, optimizer = 250.0 ms, input = 125.0 ms, host = 125.0 ms> {
  schedule.rank_class @first stage 0 devices 4 state <parameters = 2.0 GiB, gradients = 4.0 GiB, optimizer = 12.0 GiB, inputs = 1.0 MiB>
      footprint <parameters = 2.0 GiB, activations = 1.0 GiB, workspace = 1.0 MiB>
      breakdown <compute = 1.0 s, exposed_communication = 250.0 ms, bubble = 250.0 ms, optimizer = 250.0 ms, input = 125.0 ms, host = 125.0 ms> {
    // CHECK: schedule.segment forward chunk 0 count 8 space <saved = 1.0 MiB, workspace = 2.0 MiB, logits = 5.0, scores = 6.0, dropped = 7.0,
    // CHECK-SAME: layer_scores = 8.0, weights = 9.0, stack_saved = 1.0 KiB, stack_workspace = 2.0 KiB>
    schedule.segment forward chunk 0 count 8 space <saved = 1.0 MiB, workspace = 2.0 MiB, logits = 5.0, scores = 6.0, dropped = 7.0,
        layer_scores = 8.0, weights = 9.0, stack_saved = 1.0 KiB, stack_workspace = 2.0 KiB> {
      // CHECK: %[[CALL:.*]] = schedule.call @layer times 3 at <start = 1.0 ms, duration = 9.0 ms>
      %call = schedule.call @layer times 3 at <start = 1.0 ms, duration = 9.0 ms>
      // CHECK: schedule.task "send" after(%[[CALL]]) #schedule.comm<kind = send, axes = ["pp"], tensor = 1.0 MiB, sent = 1.0 MiB, between = [0, 1]>
      %send = schedule.task "send" after(%call) #schedule.comm<kind = send, axes = ["pp"], tensor = 1.0 MiB, sent = 1.0 MiB, between = [0, 1]>
    }
    // CHECK: schedule.segment backward chunk 0 count 8 space <> {
    schedule.segment backward chunk 0 count 8 space <> {
    }
    // CHECK: schedule.segment tail chunk 0 count 1 space <> attributes {schedule.share = 1.000000e-01 : f64} {
    schedule.segment tail chunk 0 count 1 space <> attributes {schedule.share = 0.1} {
    }
  }
  // CHECK: schedule.rank_class @last stage 1 devices 4 state <> {
  schedule.rank_class @last stage 1 devices 4 state <> {
    schedule.segment forward chunk 0 count 8 space <> {
    }
    schedule.segment backward chunk 0 count 8 space <> {
    }
  }
}
