//===- EstimateOptions.h - The command line of dtrain estimate --*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_TOOLS_DRIVER_ESTIMATEOPTIONS_H
#define DTRAIN_LIB_TOOLS_DRIVER_ESTIMATEOPTIONS_H

#include "dtrain/Tools/Driver/Estimate.h"

namespace dtrain {

/// Prints the options if the arguments ask for them.
bool printEstimateHelp(llvm::ArrayRef<const char *> args);

} // namespace dtrain

#endif // DTRAIN_LIB_TOOLS_DRIVER_ESTIMATEOPTIONS_H
