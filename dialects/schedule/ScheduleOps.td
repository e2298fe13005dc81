//===- ScheduleOps.td - Plan, class, segment, body, task -----*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_SCHEDULEOPS_TD
#define DTRAIN_SCHEDULEOPS_TD

include "schedule/ScheduleAttrs.td"
include "dtrain/DTrainAttrs.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"

class Schedule_Op<string m, list<Trait> traits = []> : Op<Schedule_Dialect, m, traits> {
  let hasVerifier = 1;
}
/// An op that is a scope of its own, with one block and no terminator.
class Schedule_ScopeOp<string m, list<Trait> traits = []>
    : Schedule_Op<m, !listconcat([IsolatedFromAbove, NoTerminator, SingleBlock], traits)> {
  let regions = (region SizedRegion<1>:$contents);
}

def Schedule_PlanOp : Schedule_ScopeOp<"plan", [Symbol, SymbolTable]> {
  let summary = "One training step on one mesh";
  let description = [{
    ```mlir
    schedule.plan @step order("1f1b") micro_batches 96 chunks 1 mesh #mesh pipeline "pp"
        model #schedule.model<…> attributes {sizes = {batch = 16, seq = 2048}} {
      bodies, then one rank class per stage
    }
    ```
    `kinds` lists the kinds of event that a micro-batch goes through, forward and
    backward if none are. Amounts are over `sizes`; those in `fixed` shape
    parameters; one in `products` is the product of others; `divisions` is what
    placement relied on: extents that their axes divide. `target` and `stack` name
    the descriptions that the costs were made with, `figures` and `hidings` are the
    stack's; `at` is the step's interval once it is solved.

    Constraints:
    - C1: micro_batches and chunks are at least 1; the order is known.
    - C2: the pipeline axis is in the mesh.
    - C3: only bodies and rank classes; the classes are those of the stages 0, 1,
      … of the pipeline axis, in this order (of stage 0 alone without one).
    - C4: the order is defined for this number of stages, chunks and
      micro-batches, and the kinds of event are well formed.
    - C5: sizes are whole numbers of at least 1; fixed, products and divisions name
      sizes; resources have a capacity and a bandwidth.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$order, I64Attr:$micro_batches,
    I64Attr:$chunks, DTrain_MeshAttr:$mesh, OptionalAttr<StrAttr>:$pipeline,
    Schedule_ModelAttr:$model, OptionalAttr<StrAttr>:$target, OptionalAttr<StrAttr>:$stack,
    OptionalAttr<Schedule_AtAttr>:$at,
    OptionalAttr<TypedArrayAttrBase<Schedule_EventKindAttr, "kinds of event">>:$kinds,
    OptionalAttr<DictionaryAttr>:$sizes, OptionalAttr<StrArrayAttr>:$fixed,
    OptionalAttr<DictionaryAttr>:$products, OptionalAttr<StrArrayAttr>:$divisions,
    OptionalAttr<TypedArrayAttrBase<Schedule_ResourceAttr, "resources">>:$resources,
    OptionalAttr<Schedule_FiguresAttr>:$figures,
    OptionalAttr<TypedArrayAttrBase<Schedule_HidingAttr, "hidings">>:$hidings,
    OptionalAttr<StrAttr>:$optimizer, OptionalAttr<StrAttr>:$recompute);
  let assemblyFormat = [{
    $sym_name `order` `(` $order `)` `micro_batches` $micro_batches `chunks` $chunks `mesh` $mesh
    (`pipeline` $pipeline^)? `model` $model (`target` $target^)? (`stack` $stack^)? (`at` $at^)?
    attr-dict-with-keyword $contents
  }];
  let extraClassDeclaration = [{
    /// The order; the verifier has seen that it is known.
    const ::dtrain::PipelineOrder &getPipelineOrder();
    int64_t getNumStages();
    /// Stages, chunks, micro-batches and kinds of event.
    ::dtrain::PipelineShape getShape();
    /// Sizes and degrees.
    ::dtrain::Scale getScale();
  }];
}

def Schedule_BodyOp : Schedule_ScopeOp<"body", [Symbol, HasParent<"PlanOp">]> {
  let summary = "The tasks of one layer, once";
  let description = [{
    Constraints:
    - C1: only tasks.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<Schedule_SpanAttr>:$span);
  let assemblyFormat = "$sym_name (`span` $span^)? attr-dict-with-keyword $contents";
}

def Schedule_RankClassOp : Schedule_ScopeOp<"rank_class", [Symbol, HasParent<"PlanOp">]> {
  let summary = "The devices of one pipeline stage, which all do the same";
  let description = [{
    `state` is what a device holds throughout the step. Once solved, `footprint`
    is its memory at the peak and `breakdown` where its time goes.

    Constraints:
    - C1: only segments: for every chunk one of each kind of event, and others
      that run once.
    - C2: devices times the number of stages is that of the mesh.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$stage, I64Attr:$devices,
    Schedule_StateAttr:$state, OptionalAttr<Schedule_FootprintAttr>:$footprint,
    OptionalAttr<Schedule_BreakdownAttr>:$breakdown);
  let assemblyFormat = [{
    $sym_name `stage` $stage `devices` $devices `state` $state (`footprint` $footprint^)?
    (`breakdown` $breakdown^)? attr-dict-with-keyword $contents
  }];
}

def Schedule_SegmentOp : Schedule_ScopeOp<"segment", [HasParent<"RankClassOp">]> {
  let summary = "What a class does in an event, or once";
  let description = [{
    A segment that is named like a kind of event is what the class does for one
    micro-batch in one chunk. Others run before all events or after them, as they
    stand before the segments of events or after: the tail synchronises gradients
    and updates parameters. After the events, all classes begin what they compute in
    a segment together, once the last of them has what it waits for.

    Constraints:
    - C1: only tasks and calls.
    - C2: the chunk is one of the plan's; that of a segment that is no event is 0.
    - C3: count is the number of micro-batches; of a segment that is no event it is
      at least 1.
  }];
  let arguments = (ins StrAttr:$name, I64Attr:$chunk, I64Attr:$count,
    Schedule_SpaceAttr:$space, OptionalAttr<Schedule_SpanAttr>:$span);
  let assemblyFormat = [{
    custom<Keyword>($name) `chunk` $chunk `count` $count `space` $space (`span` $span^)? attr-dict-with-keyword $contents
  }];
  let extraClassDeclaration = [{
    /// The kind of event, as an index into the plan's; -1 for none.
    int getEventKind();
  }];
}

def Schedule_TaskOp : Schedule_Op<"task", [ParentOneOf<["BodyOp", "SegmentOp"]>]> {
  let summary = "Work on the compute stream, or a communication or transfer beside it";
  let description = [{
    ```mlir
    %1 = schedule.task "dtrain.dot" after(%0) #schedule.work<…> origin backward
        cost #schedule.cost<…> at #schedule.at<…>
    ```
    Work runs on the compute stream, a communication on the links inside nodes or,
    where it crosses them, on the network, a transfer on its resource, each in the order written; nothing else makes a task
    wait but what it comes after. `{ahead = 1}` in a body does a task for the next
    trip: who comes after it waits for the one done a trip before. `{during =
    "backward"}` in a segment after the events says that what it waits for appears
    piece by piece during events of that kind, beside which it may run.

    Constraints:
    - C1: the payload is #schedule.work, #schedule.comm or #schedule.transfer, of
      amounts that are not negative; work counts at most the FLOPs that its shape
      has on all devices of the mesh.
    - C2: the axes of a communication are in the plan's mesh, in its order, each
      once and at least one; its coordinates are in range; a send is between
      two.
    - C3: `at` only with `cost`, whose duration it has.
    - C4: the resource of a transfer is the plan's.
    - C5: `ahead` is positive and in a body; `during` names a kind of event, in a
      segment that is none.
  }];
  let arguments = (ins StrAttr:$name, Variadic<Schedule_EventType>:$after, AnyAttr:$payload,
    DefaultValuedAttr<DTrain_OriginAttr, "::dtrain::Origin::forward">:$origin,
    OptionalAttr<Schedule_CostAttr>:$cost, OptionalAttr<Schedule_AtAttr>:$at,
    OptionalAttr<I64Attr>:$ahead, OptionalAttr<StrAttr>:$during);
  let results = (outs Schedule_EventType:$done);
  let assemblyFormat = [{
    $name (`after` `(` $after^ `)`)? $payload (`origin` `` $origin^)? (`cost` $cost^)? (`at` $at^)? attr-dict
  }];
  let extraClassDeclaration = [{
    /// One of the three is not null.
    ::dtrain::schedule::WorkAttr getWork() { return ::llvm::dyn_cast<WorkAttr>(getPayload()); }
    ::dtrain::schedule::CommAttr getComm() { return ::llvm::dyn_cast<CommAttr>(getPayload()); }
    ::dtrain::schedule::TransferAttr getTransfer() { return ::llvm::dyn_cast<TransferAttr>(getPayload()); }
  }];
}

def Schedule_CallOp : Schedule_Op<"call", [ParentOneOf<["SegmentOp"]>,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a body a number of times, on what its tasks use";
  let description = [{
    Constraints:
    - C1: times is at least 1.
    - C2: the callee is a body of the plan.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, I64Attr:$times, Variadic<Schedule_EventType>:$after,
    OptionalAttr<Schedule_AtAttr>:$at);
  let results = (outs Schedule_EventType:$done);
  let assemblyFormat = "$callee `times` $times (`after` `(` $after^ `)`)? (`at` $at^)? attr-dict";
  let extraClassDeclaration = [{
    /// The body; null if the symbol does not resolve.
    ::dtrain::schedule::BodyOp getBody();
  }];
}

#endif // DTRAIN_SCHEDULEOPS_TD
