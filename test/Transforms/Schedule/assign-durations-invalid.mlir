// RUN: dtrain-opt %s -split-input-file -verify-diagnostics --schedule-assign-durations="target=test-ideal stack=test-ideal"
// RUN: not dtrain-opt %s -split-input-file --schedule-assign-durations 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not dtrain-opt %s -split-input-file --schedule-assign-durations="target=nope" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not dtrain-opt %s -split-input-file --schedule-assign-durations="target=test-ideal stack=nope" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=STACK
// RUN: not dtrain-opt %s -split-input-file --schedule-assign-durations="target=test-ideal overlap-dp=perhaps" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=OVERLAP

// NONE: error: expected a target; there is no default
// TARGET: error: {{.*}}nope
// STACK: error: {{.*}}nope
// OVERLAP: error: expected overlap-dp stack, yes or no, found 'perhaps'

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 1 space <> {
      // expected-error @below {{'test-ideal' has no peak rate for fp64; expected one of}}
      %a = schedule.task "a" #schedule.work<class = contraction, precision = fp64, flops = 16.0 FLOP, gemm = [1, 2, 2, 2]>
    }
    schedule.segment backward chunk 0 count 1 space <> {
    }
  }
}

// -----

schedule.plan @p order("1f1b") micro_batches 1 chunks 1 mesh <["tp" = 2]> model <name = "m"> {
  schedule.rank_class @s0 stage 0 devices 2 state <> {
    schedule.segment forward chunk 0 count 1 space <> {
      // expected-error @below {{expected 2*batch*m*n*k = 16.0 FLOP of a contraction, found 15.0 FLOP}}
      %a = schedule.task "a" #schedule.work<class = contraction, flops = 15.0 FLOP, gemm = [1, 2, 2, 2]>
    }
    schedule.segment backward chunk 0 count 1 space <> {
    }
  }
}

// -----

// expected-error @below {{expected a schedule.plan, found none}}
module {}

// -----

module {
  // expected-error @below {{expected only a schedule.plan in the module}}
  func.func private @f()
}
