// RUN: dtrain-opt %s -split-input-file --schedule-solve --schedule-verify=solution=true | FileCheck %s

// Four even stages, eight micro-batches of 1 s forward and 2 s backward: (p - 1) / (m + p - 1) of the step is bubble.
// Stage 0 holds p micro-batches, the last stage one; while the last backward runs, its 3 MiB come on top.
// CHECK-LABEL: order("1f1b")
// CHECK-SAME: at <duration = 33.0 s>
// CHECK: @s0 {{.*}} footprint <parameters = 1.0 GiB, activations = 4.0 MiB, workspace = 3.0 MiB> breakdown <compute = 24.0 s, bubble = 9.0 s>
// CHECK: @s1 {{.*}} activations = 3.0 MiB
// CHECK: @s2 {{.*}} activations = 2.0 MiB
// CHECK: @s3 {{.*}} activations = 1.0 MiB, workspace = 3.0 MiB> breakdown <compute = 24.0 s, bubble = 9.0 s>
schedule.plan @p order("1f1b") micro_batches 8 chunks 1 mesh <["pp" = 4]> pipeline "pp" model <name = "even"> {
  schedule.rank_class @s0 stage 0 devices 1 state <parameters = 1.0 GiB> {
    schedule.segment forward chunk 0 count 8 space <saved = 1.0 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 1.0 s>
    }
    schedule.segment backward chunk 0 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 2.0 s>
    }
  }
  schedule.rank_class @s1 stage 1 devices 1 state <parameters = 1.0 GiB> {
    schedule.segment forward chunk 0 count 8 space <saved = 1.0 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 1.0 s>
    }
    schedule.segment backward chunk 0 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 2.0 s>
    }
  }
  schedule.rank_class @s2 stage 2 devices 1 state <parameters = 1.0 GiB> {
    schedule.segment forward chunk 0 count 8 space <saved = 1.0 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 1.0 s>
    }
    schedule.segment backward chunk 0 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 2.0 s>
    }
  }
  schedule.rank_class @s3 stage 3 devices 1 state <parameters = 1.0 GiB> {
    schedule.segment forward chunk 0 count 8 space <saved = 1.0 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 1.0 s>
    }
    schedule.segment backward chunk 0 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 2.0 s>
    }
  }
}

// -----

// GPipe takes as long and holds all micro-batches on every stage.
// CHECK-LABEL: order("gpipe")
// CHECK-SAME: at <duration = 33.0 s>
// CHECK: @s0 {{.*}} activations = 8.0 MiB, workspace = 3.0 MiB> breakdown <compute = 24.0 s, bubble = 9.0 s>
// CHECK: @s3 {{.*}} activations = 8.0 MiB
schedule.plan @p order("gpipe") micro_batches 8 chunks 1 mesh <["pp" = 4]> pipeline "pp" model <name = "even"> {
  schedule.rank_class @s0 stage 0 devices 1 state <parameters = 1.0 GiB> {
    schedule.segment forward chunk 0 count 8 space <saved = 1.0 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 1.0 s>
    }
    schedule.segment backward chunk 0 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 2.0 s>
    }
  }
  schedule.rank_class @s1 stage 1 devices 1 state <parameters = 1.0 GiB> {
    schedule.segment forward chunk 0 count 8 space <saved = 1.0 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 1.0 s>
    }
    schedule.segment backward chunk 0 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 2.0 s>
    }
  }
  schedule.rank_class @s2 stage 2 devices 1 state <parameters = 1.0 GiB> {
    schedule.segment forward chunk 0 count 8 space <saved = 1.0 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 1.0 s>
    }
    schedule.segment backward chunk 0 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 2.0 s>
    }
  }
  schedule.rank_class @s3 stage 3 devices 1 state <parameters = 1.0 GiB> {
    schedule.segment forward chunk 0 count 8 space <saved = 1.0 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 1.0 s>
    }
    schedule.segment backward chunk 0 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 2.0 s>
    }
  }
}

// -----

// Two chunks of half the work: half the bubble. The first stage holds v p + p - 1 of its chunks.
// CHECK-LABEL: order("interleaved")
// CHECK-SAME: at <duration = 28.5 s>
// CHECK: @s0 {{.*}} activations = 5.5 MiB, workspace = 3.0 MiB> breakdown <compute = 24.0 s, bubble = 4.5 s>
schedule.plan @p order("interleaved") micro_batches 8 chunks 2 mesh <["pp" = 4]> pipeline "pp" model <name = "even"> {
  schedule.rank_class @s0 stage 0 devices 1 state <parameters = 1.0 GiB> {
    schedule.segment forward chunk 0 count 8 space <saved = 0.5 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 0.5 s>
    }
    schedule.segment backward chunk 0 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 1.0 s>
    }
    schedule.segment forward chunk 1 count 8 space <saved = 0.5 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 0.5 s>
    }
    schedule.segment backward chunk 1 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 1.0 s>
    }
  }
  schedule.rank_class @s1 stage 1 devices 1 state <parameters = 1.0 GiB> {
    schedule.segment forward chunk 0 count 8 space <saved = 0.5 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 0.5 s>
    }
    schedule.segment backward chunk 0 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 1.0 s>
    }
    schedule.segment forward chunk 1 count 8 space <saved = 0.5 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 0.5 s>
    }
    schedule.segment backward chunk 1 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 1.0 s>
    }
  }
  schedule.rank_class @s2 stage 2 devices 1 state <parameters = 1.0 GiB> {
    schedule.segment forward chunk 0 count 8 space <saved = 0.5 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 0.5 s>
    }
    schedule.segment backward chunk 0 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 1.0 s>
    }
    schedule.segment forward chunk 1 count 8 space <saved = 0.5 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 0.5 s>
    }
    schedule.segment backward chunk 1 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 1.0 s>
    }
  }
  schedule.rank_class @s3 stage 3 devices 1 state <parameters = 1.0 GiB> {
    schedule.segment forward chunk 0 count 8 space <saved = 0.5 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 0.5 s>
    }
    schedule.segment backward chunk 0 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 1.0 s>
    }
    schedule.segment forward chunk 1 count 8 space <saved = 0.5 MiB, workspace = 2.0 MiB> {
      %f = schedule.task "f" #schedule.work<class = memory_bound> cost <device = 0.5 s>
    }
    schedule.segment backward chunk 1 count 8 space <workspace = 3.0 MiB> {
      %b = schedule.task "b" #schedule.work<class = memory_bound> origin backward cost <device = 1.0 s>
    }
  }
}
