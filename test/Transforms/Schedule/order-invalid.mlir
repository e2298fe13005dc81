// RUN: not dtrain-opt %s --schedule-solve 2>&1 | FileCheck %s --check-prefix=SOLVE
// RUN: not dtrain-opt %s --schedule-annotate 2>&1 | FileCheck %s --check-prefix=ANNOTATE

// Each pass says which one comes before it.
// SOLVE: error: {{.*}}expected a cost of every task: run schedule-assign-durations first
// ANNOTATE: error: {{.*}}expected a solved plan: run schedule-solve first
schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 1 space <> {
      %a = schedule.task "a" #schedule.work<class = memory_bound>
    }
    schedule.segment backward chunk 0 count 1 space <> {
    }
  }
}
