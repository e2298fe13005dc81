//===- Passes.h - Conversions between dialects ------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_CONVERSION_PASSES_H
#define DTRAIN_CONVERSION_PASSES_H

#include "dtrain/IR/Schedule/Schedule.h"
#include "mlir/Pass/Pass.h"

namespace dtrain {

#define GEN_PASS_DECL
#include "dtrain/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtrain/Conversion/Passes.h.inc"

} // namespace dtrain

#endif // DTRAIN_CONVERSION_PASSES_H
