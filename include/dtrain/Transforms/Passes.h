//===- Passes.h - All passes on the dtrain dialect ------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_PASSES_H
#define DTRAIN_TRANSFORMS_PASSES_H

#include "dtrain/Transforms/Check/Passes.h"
#include "dtrain/Transforms/Communicate/Passes.h"
#include "dtrain/Transforms/Fuse/Passes.h"
#include "dtrain/Transforms/Place/Passes.h"
#include "dtrain/Transforms/Roll/Passes.h"
#include "dtrain/Transforms/Train/Passes.h"

#endif // DTRAIN_TRANSFORMS_PASSES_H
