// RUN: dtrain-opt %s -split-input-file --schedule-solve --schedule-verify=solution=true | FileCheck %s

// Three kinds of event: backward in two parts, of which the weights' waits for nobody else. Two stages, two
// micro-batches, 1 s each: forward, input and weights of both take 6 s, and the first stage waits 2 s for the second;
// what is kept lives until the weights' gradient is done.
// CHECK-LABEL: schedule.plan @kinds
// CHECK-SAME: at <duration = 8.0 s>
// CHECK: @s0 {{.*}}activations = 2.0 MiB> breakdown <compute = 6.0 s, bubble = 2.0 s>
// CHECK: @s1 {{.*}}activations = 1.0 MiB> breakdown <compute = 6.0 s, bubble = 2.0 s>
#kinds = [#schedule.event_kind<name = "forward">, #schedule.event_kind<name = "backward_input", flow = descending, returns = true, after = 0>,
          #schedule.event_kind<name = "backward_weight", flow = local, returns = true, after = 1>]
schedule.plan @kinds order("1f1b") micro_batches 2 chunks 1 mesh <["pp" = 2]> pipeline "pp" model <name = "kinds"> attributes {kinds = #kinds} {
  schedule.rank_class @s0 stage 0 devices 1 state <> {
    schedule.segment forward chunk 0 count 2 space <saved = 1.0 MiB> {
      %0 = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 1.0 s>
    }
    schedule.segment backward_input chunk 0 count 2 space <> {
      %0 = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 1.0 s>
    }
    schedule.segment backward_weight chunk 0 count 2 space <> {
      %0 = schedule.task "w" #schedule.work<class = memory_bound> origin backward cost <device = 1.0 s>
    }
  }
  schedule.rank_class @s1 stage 1 devices 1 state <> {
    schedule.segment forward chunk 0 count 2 space <saved = 1.0 MiB> {
      %0 = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 1.0 s>
    }
    schedule.segment backward_input chunk 0 count 2 space <> {
      %0 = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 1.0 s>
    }
    schedule.segment backward_weight chunk 0 count 2 space <> {
      %0 = schedule.task "w" #schedule.work<class = memory_bound> origin backward cost <device = 1.0 s>
    }
  }
}

// -----

// A segment that reads from storage before the events, and one that writes a checkpoint after them: two transfers at a
// time. The second reads while nothing computes.
// CHECK-LABEL: schedule.plan @storage
// CHECK-SAME: at <duration = 10.0 s>
// CHECK: breakdown <compute = 2.0 s, optimizer = 1.0 s, input = 7.0 s>
// CHECK: segment read {{.*}} span <exposed = 4.0 s>
// CHECK: "a" {{.*}} at <duration = 2.0 s, ready = 2.0 s>
// CHECK: "b" {{.*}} at <duration = 2.0 s, ready = 2.0 s>
// CHECK: "c" {{.*}} at <start = 2.0 s, duration = 2.0 s, ready = 2.0 s>
schedule.plan @storage order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "storage"> attributes {
    resources = [#schedule.resource<name = "storage", capacity = 2, bandwidth = 1.0 GBps>]} {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment read chunk 0 count 1 space <> {
      %0 = schedule.task "a" #schedule.transfer<resource = "storage", bytes = 2.0 GB> cost <device = 2.0 s>
      %1 = schedule.task "b" #schedule.transfer<resource = "storage", bytes = 2.0 GB> cost <device = 2.0 s>
      %2 = schedule.task "c" #schedule.transfer<resource = "storage", bytes = 2.0 GB> cost <device = 2.0 s>
    }
    schedule.segment forward chunk 0 count 1 space <> {
      %0 = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 1.0 s>
    }
    schedule.segment backward chunk 0 count 1 space <> {
      %0 = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 1.0 s>
    }
    schedule.segment tail chunk 0 count 1 space <> {
      %0 = schedule.task "u" #schedule.work<class = optimizer> origin update cost <device = 1.0 s>
    }
    schedule.segment checkpoint chunk 0 count 1 space <> {
      %0 = schedule.task "save" #schedule.transfer<resource = "storage", bytes = 3.0 GB> cost <device = 3.0 s>
    }
  }
}

// -----

// Gathered a trip ahead, a layer's weights hide behind the layer before: 3 s once, and then the longer of 3 s of
// communication and 2 s of compute for each of four trips.
// CHECK-LABEL: schedule.plan @prefetch
// CHECK: schedule.body @layer span <compute = 2.0 s, exposed = 1.0 s, fill = 2.0 s>
schedule.plan @prefetch order("1f1b") micro_batches 1 chunks 1 mesh <["dp" = 2]> model <name = "prefetch"> {
  schedule.body @layer {
    %g = schedule.task "gather" #schedule.comm<kind = all_gather, purpose = parameter, axes = ["dp"]> cost <device = 3.0 s> {ahead = 1}
    %c = schedule.task "compute" after(%g) #schedule.work<class = memory_bound> cost <device = 2.0 s>
  }
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 1 space <> {
      // CHECK: schedule.call @layer times 4 at <duration = 14.0 s>
      %0 = schedule.call @layer times 4
    }
    schedule.segment backward chunk 0 count 1 space <> {
    }
  }
}
