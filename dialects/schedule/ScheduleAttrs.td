//===- ScheduleAttrs.td - Work, communication, cost, solution -*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_SCHEDULEATTRS_TD
#define DTRAIN_SCHEDULEATTRS_TD

include "schedule/ScheduleBase.td"

/// The text form of a plain struct: `<name = value, …>` in the struct's order,
/// each field at most once and left out where it has its default. Quantities
/// carry a unit, an integral extent has none, a list stands in brackets.
class Schedule_Record<string name, string attrMnemonic, string struct>
    : AttrDef<Schedule_Dialect, name> {
  let mnemonic = attrMnemonic;
  let parameters = (ins AttrParameter<struct, "", "const " # struct # " &">:$value);
  let hasCustomAssemblyFormat = 1;
}

def Schedule_WorkAttr : Schedule_Record<"Work", "work", "::dtrain::schedule::TaskWork"> {
  let summary = "What one device computes in one task";
  let description = [{
    `#schedule.work<class = contraction, precision = bf16, flops = 77.3 GFLOP,
    contract = 618.5 GFLOP, read = …, written = …, gemm = [1, 2048, 1536, 12288]>`.
    All amounts are those of the busiest device, except `contract`: the FLOPs by
    the MFU convention that all devices of the mesh do together.
  }];
}
def Schedule_CommAttr : Schedule_Record<"Comm", "comm", "::dtrain::schedule::TaskComm"> {
  let summary = "One communication over a set of mesh axes";
  let description = [{
    `#schedule.comm<kind = all_reduce, purpose = gradient, axes = ["dp", "cp"],
    tensor = 50.0 MB, sent = 87.5 MB>`: devices that differ in their coordinates
    on `axes` only communicate; `purpose` is what for, `data` if not said.
    `tensor` is the local block where the axes are replicated, `sent` what the
    busiest device sends. `between` lists the coordinates that take part, where
    not all do; of a send, from and to. Over several axes coordinates count
    their devices, the last axis fastest.
  }];
}
def Schedule_CostAttr : Schedule_Record<"Cost", "cost", "::dtrain::schedule::TaskCost"> {
  let summary = "What a task costs on the target";
}
def Schedule_AtAttr : Schedule_Record<"At", "at", "::dtrain::schedule::Interval"> {
  let summary = "When a task runs, from the start of its body or segment";
  let description = [{
    `exposed`, of a communication, is the time from the start until tasks that
    depend on it may start: a stack may feed it to its consumer piece by piece.
  }];
}
def Schedule_SpanAttr : Schedule_Record<"Span", "span", "::dtrain::schedule::Span"> {
  let summary = "Where the time of a body or of a segment goes, for one micro-batch";
}
def Schedule_SpaceAttr : Schedule_Record<"Space", "space", "::dtrain::schedule::Space"> {
  let summary = "Memory that a segment needs for one micro-batch";
}
def Schedule_StateAttr : Schedule_Record<"State", "state", "::dtrain::schedule::State"> {
  let summary = "Memory that a device holds throughout the step";
}
def Schedule_FootprintAttr : Schedule_Record<"Footprint", "footprint", "::dtrain::schedule::Footprint"> {
  let summary = "Memory in use at its peak";
}
def Schedule_BreakdownAttr : Schedule_Record<"Breakdown", "breakdown", "::dtrain::schedule::Breakdown"> {
  let summary = "Where the step's time goes for a class of devices";
}
def Schedule_ModelAttr : Schedule_Record<"Model", "model", "::dtrain::schedule::ModelFacts"> {
  let summary = "What is trained, and on how much in one step";
}

#endif // DTRAIN_SCHEDULEATTRS_TD
