// Tasks that are alike are priced once; the answer is the same without.
// RUN: dtrain-opt %S/../Inputs/gpt-tiny.mlir -o %t.mlir --dtrain-pipeline="to=schedule mesh=pp=2,dp=2,tp=2 micro-batches=4"
// RUN: dtrain-opt %t.mlir --schedule-assign-durations="target=a100-80gb-dgx-ib" --schedule-solve -o %t-with.mlir
// RUN: dtrain-opt %t.mlir --schedule-assign-durations="target=a100-80gb-dgx-ib reuse=false" --schedule-solve -o %t-without.mlir
// RUN: cmp %t-with.mlir %t-without.mlir
// RUN: dtrain-opt %t-with.mlir --schedule-report=format=operators -o /dev/null | FileCheck %s

// Four layers of one body, on two stages, for four micro-batches and on eight devices.
// CHECK: {{^}}dtrain.attention attention 8 {{.*}}
// CHECK: all devices: {{[0-9][0-9][0-9][0-9]}} tasks, {{[0-9][0-9]}} of them priced, 98.
