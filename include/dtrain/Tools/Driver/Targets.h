//===- Targets.h - The subcommand dtrain targets ----------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TOOLS_DRIVER_TARGETS_H
#define DTRAIN_TOOLS_DRIVER_TARGETS_H

#include "llvm/ADT/ArrayRef.h"

namespace dtrain {

/// `dtrain targets [NAME]`: the machines and stacks that are known, or every
/// figure of one with its basis and source. Returns the exit status: 0, or 1
/// after one "error: …" on standard error.
int runTargetsCommand(llvm::ArrayRef<const char *> args);

} // namespace dtrain

#endif // DTRAIN_TOOLS_DRIVER_TARGETS_H
