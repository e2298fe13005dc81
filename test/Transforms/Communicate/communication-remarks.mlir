// Each collective says why it exists: what made the value partial, and who needs it whole.

// RUN: dtrain-opt %S/../Inputs/gpt-tiny.mlir --dtrain-differentiate=micro-batches=2 --dtrain-apply-optimizer \
// RUN:   --dtrain-seed-data-parallel=mesh=tp=2 --dtrain-seed-tensor-parallel --dtrain-propagate-placement \
// RUN:   --dtrain-materialize-reshards --dtrain-lower-reshards \
// RUN:   --remarks-filter=communicate --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s
// CHECK: remark: {{.*}} Reason="tp: dot 'h/attn/c_proj' gives P(sum), elementwise needs R", axis=tp, elements=1.920000e+02, transition=all_reduce
// CHECK: remark: {{.*}} Reason="tp: gather 'wte' gives P(sum), elementwise needs R", axis=tp

// RUN: dtrain-opt %S/../Inputs/gpt-tiny.mlir --dtrain-differentiate=micro-batches=2 --dtrain-apply-optimizer \
// RUN:   --dtrain-seed-data-parallel=mesh=tp=2 --dtrain-seed-tensor-parallel --dtrain-propagate-placement \
// RUN:   --dtrain-materialize-reshards --dtrain-lower-reshards -o /dev/null 2>&1 | count 0
