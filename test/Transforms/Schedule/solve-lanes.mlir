// RUN: dtrain-opt %s --schedule-solve --schedule-verify=solution=true --schedule-annotate | FileCheck %s

// Independent work hides a communication, all but a quarter of it here, and what waits for it goes on when it is
// ready; the next communication over the same links waits for the first to end.
// CHECK-LABEL: schedule.plan
// CHECK-SAME: at <duration = 59.0 s>
schedule.plan @p order("1f1b") micro_batches 2 chunks 1 mesh <["tp" = 2]> model <name = "lanes"> attributes {
    hidings = [#schedule.hiding<purpose = tensor, pass = forward, least = 0.25>, #schedule.hiding<purpose = gradient, pass = backward, least = 0.25>],
    figures = #schedule.figures<optimizer_host = 3.0 s>} {
  // CHECK: schedule.body @layer span <compute = 5.0 s, recompute = 1.0 s, exposed = 3.0 s, host = 500.0 ms>
  schedule.body @layer {
    // CHECK: "a" {{.*}} at <duration = 1.0 s> {schedule.share =
    %a = schedule.task "a" #schedule.work<class = memory_bound> origin recompute cost <device = 1.0 s, host = 0.5 s>
    // CHECK: "ar" {{.*}} at <start = 1.0 s, duration = 4.0 s, ready = 4.0 s>
    %ar = schedule.task "ar" after(%a) #schedule.comm<kind = all_reduce, purpose = tensor, axes = ["tp"]> cost <device = 4.0 s>
    // CHECK: "b" {{.*}} at <start = 1.0 s, duration = 2.0 s>
    %b = schedule.task "b" after(%a) #schedule.work<class = memory_bound> cost <device = 2.0 s>
    // CHECK: "ar2" {{.*}} at <start = 5.0 s, duration = 1.0 s, ready = 1.0 s>
    %ar2 = schedule.task "ar2" after(%b) #schedule.comm<kind = all_reduce, purpose = tensor, axes = ["tp"]> cost <device = 1.0 s>
    // CHECK: "c" {{.*}} at <start = 6.0 s, duration = 2.0 s>
    %c = schedule.task "c" after(%ar, %ar2) #schedule.work<class = memory_bound> cost <device = 2.0 s>
  }
  // Recomputation is compute. Twice: three layers of 8 s and a host that needs a second more than the forward; then a
  // quarter of 8 s of synchronisation, which 24 s of backward hide, and the update of 2 s with its host.
  // CHECK: breakdown <compute = 32.0 s, exposed_communication = 20.0 s, optimizer = 5.0 s, host = 2.0 s>
  schedule.rank_class @s0 stage 0 devices 2 state <inputs = 1.0 MiB> {
    // CHECK: segment forward {{.*}} span <compute = 1.0 s, host = 2.0 s>
    schedule.segment forward chunk 0 count 2 space <> {
      %0 = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 1.0 s, host = 2.0 s>
    }
    // CHECK: segment backward {{.*}} span <compute = 15.0 s, recompute = 3.0 s, exposed = 9.0 s, host = 1.5 s>
    schedule.segment backward chunk 0 count 2 space <> {
      // CHECK: schedule.call @layer times 3 at <duration = 24.0 s>
      %0 = schedule.call @layer times 3
    }
    // CHECK: segment tail {{.*}} span <compute = 2.0 s, exposed = 2.0 s, host = 3.0 s>
    schedule.segment tail chunk 0 count 1 space <> {
      %0 = schedule.task "sync" #schedule.comm<kind = all_reduce, purpose = gradient, axes = ["tp"]> origin backward cost <device = 8.0 s> {during = "backward"}
      %1 = schedule.task "update" after(%0) #schedule.work<class = optimizer> origin update cost <device = 2.0 s>
    }
  }
}
