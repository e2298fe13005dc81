//===- OpClass.cpp - Names of op classes ----------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/OpClass.h"

using namespace dtrain;

static constexpr llvm::StringLiteral names[] = {
    "contraction",   "attention",  "attention_backward", "memory_bound", "loss",
    "loss_backward", "accumulate", "optimizer",          "move"};

llvm::StringRef dtrain::stringifyOpClass(OpClass c) {
  return names[static_cast<unsigned>(c)];
}
