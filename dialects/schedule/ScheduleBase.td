//===- ScheduleBase.td - The schedule dialect, enums, types --*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_SCHEDULEBASE_TD
#define DTRAIN_SCHEDULEBASE_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def Schedule_Dialect : Dialect {
  let name = "schedule";
  let cppNamespace = "::dtrain::schedule";
  let summary = "When each device class computes and communicates in one training step";
  let description = [{
    A scheduling *problem* that becomes a *solution* when costs and starts are
    filled in. A plan holds one class per pipeline stage: all devices of a class
    do the same. A class holds segments, the work of one micro-batch in one
    direction, and each segment tasks on lanes. A repeated layer is one body,
    called with a trip count. Nothing here is expanded: a segment stands for its
    `count` micro-batches, a call for its trips.

    `schedule.share` on a task or segment is its part of the step's time, as
    `schedule-annotate` gives it.

    The algorithms are in `lib/Model/Simulate`; the dialect is their text form.
  }];
  let hasOperationAttrVerify = 1;
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = "void registerAttributes();";
  let dependentDialects = ["::dtrain::DTrainDialect"];
}

def Schedule_EventType : TypeDef<Schedule_Dialect, "Event"> {
  let mnemonic = "event";
  let summary = "The end of a task or of a call";
}

#endif // DTRAIN_SCHEDULEBASE_TD
