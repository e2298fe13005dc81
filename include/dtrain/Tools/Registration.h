//===- Registration.h - What every dtrain tool knows ------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The dialects and passes of dtrain in one place, so that the optimizer, the
/// language server and the driver always agree. Only the upstream dialects that
/// dtrain programs use are registered: each one costs start-up time.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TOOLS_REGISTRATION_H
#define DTRAIN_TOOLS_REGISTRATION_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace dtrain {

/// Adds dtrain's dialects and the upstream ones they stand on.
void registerAllDialects(mlir::DialectRegistry &registry);

/// Adds dtrain's passes and pipelines and the upstream passes that keep its
/// programs valid (canonicalize, cse, inline, symbol-dce).
void registerAllPasses();

} // namespace dtrain

#endif // DTRAIN_TOOLS_REGISTRATION_H
