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

def Schedule_WorkAttr : Schedule_Record<"Work", "work", "::dtrain::StepWork"> {
  let summary = "What one device computes in one task";
  let description = [{
    `#schedule.work<class = contraction, precision = bf16, flops = "2 FLOP
    batch/dp seq ffn/tp hidden", read = …, written = …, gemm = [1, "batch/dp seq",
    "ffn/tp", hidden]>`. An amount is a quantity, or in quotes a sum of products:
    of a quantity and the plan's sizes, each divided by mesh axes. All are those
    of the busiest device, but `contract`: the FLOPs by the MFU convention that
    all devices of the mesh do together. `gemm` lists batch, m, n and k;
    `attention` sequences, key-value heads, query heads for each of them, queries,
    keys, and the widths of a head of queries and of values.
  }];
}
def Schedule_CommAttr : Schedule_Record<"Comm", "comm", "::dtrain::StepComm"> {
  let summary = "One communication over a set of mesh axes";
  let description = [{
    `#schedule.comm<kind = all_reduce, purpose = gradient, axes = ["dp", "cp"],
    tensor = 50.0 MB>`: devices that differ in their coordinates on `axes` only
    communicate; `purpose` is what for, `data` if not said. `tensor` is the local
    block where the axes are replicated. `between` lists the coordinates that take
    part, where not all do; of a send, from and to. Over several axes coordinates
    count their devices, the last axis fastest.
  }];
}
def Schedule_TransferAttr : Schedule_Record<"Transfer", "transfer", "::dtrain::StepTransfer"> {
  let summary = "Bytes through a resource of the plan";
  let description = [{
    `#schedule.transfer<resource = "storage", bytes = "4.0 B batch/dp seq">` takes
    the resource's latency and its bandwidth's time.
  }];
}
def Schedule_ResourceAttr : Schedule_Record<"Resource", "resource", "::dtrain::StepResource"> {
  let summary = "Storage, a server: something that transfers go through";
  let description = [{
    `#schedule.resource<name = "storage", capacity = 1, bandwidth = 2.0 GBps,
    latency = 1.0 ms>` carries `capacity` transfers at a time. The compute stream,
    the links inside nodes and the network between them (`compute`, `link`,
    `network`) are there without being declared.
  }];
}
def Schedule_EventKindAttr : Schedule_Record<"EventKind", "event_kind", "::dtrain::EventKind"> {
  let summary = "What every micro-batch does once in every chunk of layers";
  let description = [{
    `#schedule.event_kind<name = "backward", flow = descending, returns = true,
    after = 0>`: micro-batches visit the chunks in ascending or descending order,
    or each by itself (`local`); kinds that return follow those that do not. Of one
    micro-batch and chunk it waits for the kind at place `after`.
  }];
}
def Schedule_FiguresAttr : Schedule_Record<"Figures", "figures", "::dtrain::StackFigures"> {
  let summary = "What a priced plan holds of its stack besides costs";
}
def Schedule_HidingAttr : Schedule_Record<"Hiding", "hiding", "::dtrain::PurposeHiding"> {
  let summary = "What a stack hides of communications of one purpose";
  let description = [{
    `#schedule.hiding<purpose = tensor, pass = backward, least = 0.15, hides =
    0.85>`: see `dtrain::Hiding`.
  }];
}
def Schedule_CostAttr : Schedule_Record<"Cost", "cost", "::dtrain::PayloadCost"> {
  let summary = "What a task costs on the target";
}
def Schedule_AtAttr : Schedule_Record<"At", "at", "::dtrain::Interval"> {
  let summary = "When a task runs, from the start of its body or segment";
  let description = [{
    `ready`, of a communication, is the time from its start until who first waits
    for it may go on: a stack may feed it to its consumer piece by piece, and what
    runs beside it hides it.
  }];
}
def Schedule_SpanAttr : Schedule_Record<"Span", "span", "::dtrain::Span"> {
  let summary = "Where the time of a body or of a segment goes, for one micro-batch";
}
def Schedule_SpaceAttr : Schedule_Record<"Space", "space", "::dtrain::StepSpace"> {
  let summary = "Memory that a segment needs for one micro-batch";
  let description = [{
    `workspace` and `layer_scores` are the most of what different moments need: a
    list of amounts.
  }];
}
def Schedule_StateAttr : Schedule_Record<"State", "state", "::dtrain::StepState"> {
  let summary = "Memory that a device holds throughout the step";
}
def Schedule_FootprintAttr : Schedule_Record<"Footprint", "footprint", "::dtrain::Footprint"> {
  let summary = "Memory in use at its peak";
}
def Schedule_BreakdownAttr : Schedule_Record<"Breakdown", "breakdown", "::dtrain::Breakdown"> {
  let summary = "Where the step's time goes for a class of devices";
}
def Schedule_ModelAttr : Schedule_Record<"Model", "model", "::dtrain::ModelFacts"> {
  let summary = "What is trained, and on how much in one step";
}

#endif // DTRAIN_SCHEDULEATTRS_TD
