//===- Dialect.cpp - Registration of the schedule dialect -----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Schedule.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::schedule;

#include "dtrain/IR/Schedule/ScheduleDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dtrain/IR/Schedule/ScheduleTypes.cpp.inc"

void ScheduleDialect::initialize() {
  registerAttributes();
  addTypes<
#define GET_TYPEDEF_LIST
#include "dtrain/IR/Schedule/ScheduleTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dtrain/IR/Schedule/ScheduleOps.cpp.inc"
      >();
}

LogicalResult ScheduleDialect::verifyOperationAttribute(Operation *op,
                                                        NamedAttribute attr) {
  if (attr.getName() == "schedule.share" && isa<FloatAttr>(attr.getValue()) &&
      isa<TaskOp, CallOp, SegmentOp>(op))
    return success();
  return op->emitError("unknown attribute ")
         << attr.getName() << " of the schedule dialect here";
}
