//===- TestModel.h - A dialect that dtrain does not know --------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TESTMODEL_TESTMODEL_H
#define TESTMODEL_TESTMODEL_H

#include "dtrain/IR/DTrain/DTrain.h"

#include "TestModelDialect.h.inc"

#define GET_OP_CLASSES
#include "TestModelOps.h.inc"

#endif // TESTMODEL_TESTMODEL_H
