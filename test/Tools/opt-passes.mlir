// RUN: dtrain-opt --cse --canonicalize %s | FileCheck %s
// RUN: dtrain-opt --inline --symbol-dce %s | FileCheck %s --check-prefix=INLINE
// RUN: not dtrain-opt --no-such-pass %s 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// UNKNOWN: Unknown command line argument '--no-such-pass'

// CHECK: func.func private @identity
// INLINE-NOT: @identity
func.func private @identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @main
// CHECK: call @identity
// INLINE-LABEL: func.func @main
// INLINE-NOT: call
// INLINE: return %arg0
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @identity(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
