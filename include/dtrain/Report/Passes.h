//===- Passes.h - Reporting on a solved plan --------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_REPORT_PASSES_H
#define DTRAIN_REPORT_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace dtrain {

#define GEN_PASS_DECL
#include "dtrain/Report/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "dtrain/Report/Passes.h.inc"

} // namespace dtrain

#endif // DTRAIN_REPORT_PASSES_H
