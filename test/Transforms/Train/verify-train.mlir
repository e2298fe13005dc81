// RUN: dtrain-opt --dtrain-set-precision --dtrain-differentiate=micro-batches=3 --dtrain-apply-optimizer --dtrain-recompute=mode=full --dtrain-verify-train %S/../Inputs/gpt-tiny.mlir | FileCheck %s
// RUN: dtrain-opt --dtrain-differentiate --dtrain-apply-optimizer=optimizer=sgd --dtrain-verify-train %S/../Inputs/llama-tiny.mlir | FileCheck %s

// CHECK: module attributes {dtrain.phase = #dtrain.phase<train>}
