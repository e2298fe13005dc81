// RUN: dtrain-opt %S/../Inputs/gpt-tiny.mlir -o %t.mlir \
// RUN:   --dtrain-pipeline="mesh=pp=2,dp=2,tp=2 micro-batches=4 name=gpt-tiny target=a100-80gb-dgx-ib recompute=full"
// RUN: dtrain-opt %t.mlir --schedule-report -o /dev/null | FileCheck %s --check-prefix=TEXT
// RUN: dtrain-opt %t.mlir --schedule-report=format=json -o /dev/null | FileCheck %s --check-prefix=JSON
// RUN: dtrain-opt %t.mlir --schedule-report=format=csv -o /dev/null | FileCheck %s --check-prefix=CSV
// RUN: dtrain-opt %t.mlir --schedule-report=format=chrome-trace -o /dev/null | FileCheck %s --check-prefix=TRACE
// RUN: not dtrain-opt %t.mlir --schedule-report=format=pdf 2>&1 | FileCheck %s --check-prefix=FORMAT
// RUN: dtrain-opt %S/../Inputs/gpt-tiny.mlir --dtrain-pipeline="mesh=dp=1 to=schedule" \
// RUN:   | not dtrain-opt --schedule-report 2>&1 | FileCheck %s --check-prefix=UNSOLVED

// A solved plan says all that a report needs but for what the user assumed.
// TEXT: gpt-tiny: 2592 parameters, 4 layers
// TEXT: 8 x a100-80gb-dgx-ib, megatron-core; tp 2, dp 2, pp 2, 4 micro-batches, 1f1b
// JSON: "global_batch": 16
// JSON: "micro_batch": 2
// JSON: "optimizer": "adamw"
// JSON: "precision": "bf16"
// JSON: "recompute": "full"
// CSV: carbon.embodied_kgco2e,
// TRACE: {"displayTimeUnit":"ms","traceEvents":[
// FORMAT: error: expected format text, json, csv, operators or chrome-trace, found 'pdf'
// UNSOLVED: error: {{.*}}expected a solved plan: run schedule-solve first
