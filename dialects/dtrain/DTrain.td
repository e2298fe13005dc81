//===- DTrain.td - The whole dtrain dialect -----------------*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the dialect's document is generated from.
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_DTRAIN_TD
#define DTRAIN_DTRAIN_TD

include "dtrain/DTrainOps.td"
include "dtrain/DTrainControl.td"

#endif // DTRAIN_DTRAIN_TD
