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
    // CHECK: %[[B:.*]] = schedule.task "b" after(%[[A]]) #schedule.comm<kind = all_reduce, purpose = gradient, axes = ["pp", "tp"], tensor = 1.0 MiB> origin backward
    // CHECK-SAME: cost <device = 1.0 ms, host = 12.0 us, link = 1.5 MiB> at <start = 1.0 ms, duration = 1.0 ms, ready = 500.0 us>
    %b = schedule.task "b" after(%a) #schedule.comm<kind = all_reduce, purpose = gradient, axes = ["pp", "tp"], tensor = 1.0 MiB>
        origin backward cost <device = 1.0 ms, host = 12.0 us, link = 1.5 MiB> at <start = 1.0 ms, duration = 1.0 ms, ready = 500.0 us>
    // CHECK: schedule.task "c" after(%[[A]], %[[B]]) #schedule.work<class = attention, attention = [1, 2, 4, 64, 64, 16, 16] causal, kernels = 2>
    %c = schedule.task "c" after(%a, %b) #schedule.work<class = attention, attention = [1, 2, 4, 64, 64, 16, 16] causal, kernels = 2>
    // CHECK: schedule.task "d" #schedule.work<class = memory_bound, elements = 3.0, grouped = true, dropout = backward> origin update
    %d = schedule.task "d" #schedule.work<class = memory_bound, elements = 3.0, grouped = true, dropout = backward> origin update
  }
  // CHECK: schedule.rank_class @first stage 0 devices 4 state <parameters = 2.0 GiB, gradients = 4.0 GiB, optimizer = 12.0 GiB, inputs = 1.0 MiB>
  // CHECK-SAME: footprint <parameters = 2.0 GiB, activations = 1.0 GiB, workspace = 1.0 MiB>
  // CHECK-SAME: breakdown <compute = 1.0 s, exposed_communication = 250.0 ms, bubble = 250.0 ms, optimizer = 250.0 ms, input = 125.0 ms, host = 125.0 ms> {
  schedule.rank_class @first stage 0 devices 4 state <parameters = 2.0 GiB, gradients = 4.0 GiB, optimizer = 12.0 GiB, inputs = 1.0 MiB>
      footprint <parameters = 2.0 GiB, activations = 1.0 GiB, workspace = 1.0 MiB>
      breakdown <compute = 1.0 s, exposed_communication = 250.0 ms, bubble = 250.0 ms, optimizer = 250.0 ms, input = 125.0 ms, host = 125.0 ms> {
    // CHECK: schedule.segment forward chunk 0 count 8 space <saved = 1.0 MiB, workspace = 2.0 MiB, logits = 5.0, scores = 6.0, dropped = 7.0,
    // CHECK-SAME: layer_scores = 8.0, weights = 9.0>
    schedule.segment forward chunk 0 count 8 space <saved = 1.0 MiB, workspace = 2.0 MiB, logits = 5.0, scores = 6.0, dropped = 7.0,
        layer_scores = 8.0, weights = 9.0> {
      // CHECK: %[[CALL:.*]] = schedule.call @layer times 3 at <start = 1.0 ms, duration = 9.0 ms>
      %call = schedule.call @layer times 3 at <start = 1.0 ms, duration = 9.0 ms>
      // CHECK: schedule.task "send" after(%[[CALL]]) #schedule.comm<kind = send, axes = ["pp"], tensor = 1.0 MiB, between = [0, 1]>
      %send = schedule.task "send" after(%call) #schedule.comm<kind = send, axes = ["pp"], tensor = 1.0 MiB, between = [0, 1]>
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

// Amounts over sizes, kinds of event, resources, and what a priced plan holds of its stack.
// CHECK-LABEL: schedule.plan @open order("gpipe") micro_batches 2 chunks 1
// CHECK-SAME: samples = "micro_batches batch"> attributes {divisions = ["seq/tp"], figures = #schedule.figures<optimizer_host = 1.0 ms, per_logit = 6.0 B>,
// CHECK-SAME: fixed = ["hidden"], hidings = [#schedule.hiding<purpose = tensor, pass = backward, least = 0.25, hides = 0.5>],
// CHECK-SAME: kinds = [#schedule.event_kind<name = "forward">, #schedule.event_kind<name = "backward_input", flow = descending, returns = true, after = 0>, #schedule.event_kind<name = "backward_weight", flow = local, returns = true, after = 1>],
// CHECK-SAME: optimizer = "adamw", products = {both = ["batch", "seq"]}, recompute = "full", resources = [#schedule.resource<name = "storage", capacity = 2, bandwidth = 2.0 GBps>],
// CHECK-SAME: sizes = {batch = 4 : i64, both = 32 : i64, hidden = 16 : i64, seq = 8 : i64}}
schedule.plan @open order("gpipe") micro_batches 2 chunks 1 mesh <["tp" = 2]> model <name = "open", samples = "micro_batches batch"> attributes {
    kinds = [#schedule.event_kind<name = "forward">, #schedule.event_kind<name = "backward_input", flow = descending, returns = true, after = 0>,
             #schedule.event_kind<name = "backward_weight", flow = local, returns = true, after = 1>],
    sizes = {batch = 4, both = 32, hidden = 16, seq = 8}, fixed = ["hidden"], products = {both = ["batch", "seq"]}, divisions = ["seq/tp"],
    resources = [#schedule.resource<name = "storage", capacity = 2, bandwidth = 2.0 GBps>], optimizer = "adamw", recompute = "full",
    figures = #schedule.figures<optimizer_host = 1.0 ms, per_logit = 6.0 B>,
    hidings = [#schedule.hiding<purpose = tensor, pass = backward, least = 0.25, hides = 0.5>]} {
  // CHECK: schedule.body @layer {
  schedule.body @layer {
    // CHECK: schedule.task "gather" #schedule.comm<kind = all_gather, purpose = parameter, axes = ["tp"], tensor = "2.0 B hidden hidden"> {ahead = 1 : i64}
    %0 = schedule.task "gather" #schedule.comm<kind = all_gather, purpose = parameter, axes = ["tp"], tensor = "2.0 B hidden hidden"> {ahead = 1}
    // CHECK: flops = "2.0 FLOP batch seq/tp hidden hidden + 3.0 FLOP batch", gemm = [1, "batch seq/tp", hidden, hidden]>
    %1 = schedule.task "dot" after(%0) #schedule.work<class = contraction, flops = "2.0 FLOP batch seq/tp hidden hidden + 3.0 FLOP batch", gemm = [1, "batch seq/tp", hidden, hidden]>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <parameters = "2.0 B hidden hidden"> {
    // CHECK: schedule.segment read chunk 0 count 1 space <> {
    schedule.segment read chunk 0 count 1 space <> {
      // CHECK: schedule.task "dataset" #schedule.transfer<resource = "storage", bytes = 1.0 GiB>
      %0 = schedule.task "dataset" #schedule.transfer<resource = "storage", bytes = 1.0 GiB>
    }
    // CHECK: space <saved = "2.0 B batch seq", workspace = ["1.0 B batch", "4.0 B seq"]>
    schedule.segment forward chunk 0 count 2 space <saved = "2.0 B batch seq", workspace = ["1.0 B batch", "4.0 B seq"]> {}
    schedule.segment backward_input chunk 0 count 2 space <> {}
    schedule.segment backward_weight chunk 0 count 2 space <> {}
    schedule.segment tail chunk 0 count 1 space <> {
      // CHECK: {during = "backward_weight"}
      %0 = schedule.task "sync" #schedule.comm<kind = all_reduce, purpose = gradient, axes = ["tp"]> {during = "backward_weight"}
    }
  }
}
