//===- OutputFile.h - Writing a result whole or not at all ------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TOOLS_DRIVER_OUTPUTFILE_H
#define DTRAIN_TOOLS_DRIVER_OUTPUTFILE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

namespace dtrain {

/// Makes `contents` the contents of the file at `path`, by way of a temporary
/// file beside it: on failure the file is as it was and nothing is left behind.
/// "-" is standard output; that, a pipe or a device is written in place. The
/// error names the path and the reason.
llvm::Error writeOutputFile(llvm::StringRef path, llvm::StringRef contents);

} // namespace dtrain

#endif // DTRAIN_TOOLS_DRIVER_OUTPUTFILE_H
