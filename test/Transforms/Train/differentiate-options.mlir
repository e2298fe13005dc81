// RUN: not dtrain-opt --dtrain-differentiate=micro-batches=0 %S/../Inputs/gpt-tiny.mlir 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not dtrain-opt --dtrain-differentiate=gradient-type=f64 %S/../Inputs/gpt-tiny.mlir 2>&1 | FileCheck %s --check-prefix=TYPE

// NONE: error: expected at least one micro-batch, found 0
// TYPE: Cannot find option named 'f64'
