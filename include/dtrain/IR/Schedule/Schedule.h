//===- Schedule.h - The schedule dialect ------------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_IR_SCHEDULE_SCHEDULE_H
#define DTRAIN_IR_SCHEDULE_SCHEDULE_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "dtrain/IR/Schedule/ScheduleSupport.h"
#include "dtrain/Model/Simulate/Pipeline.h"
#include "mlir/IR/RegionKindInterface.h"

#include "dtrain/IR/Schedule/ScheduleDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dtrain/IR/Schedule/ScheduleAttrs.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dtrain/IR/Schedule/ScheduleTypes.h.inc"

#define GET_OP_CLASSES
#include "dtrain/IR/Schedule/ScheduleOps.h.inc"

#endif // DTRAIN_IR_SCHEDULE_SCHEDULE_H
