//===- DTrainControl.td - repeat, reshard and communications -*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_DTRAINCONTROL_TD
#define DTRAIN_DTRAINCONTROL_TD

include "dtrain/DTrainAttrs.td"
include "dtrain/DTrainInterfaces.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def DTrain_RepeatOp : Op<DTrain_Dialect, "repeat", [Pure, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a function for every index of a range";
  let description = [{
    ```mlir
    %x1, %g1, %saved = dtrain.repeat @layer 0 to 12 carry(%x) stacked(%w) inout(%g)
        shared(%cos) pinned "pp" = 0 : (…) -> (…)
    ```
    Depth as a count. The callee is a private function over
    `(carry…, stacked rows…, inout rows…, shared…)` that returns
    `(carry…, inout rows…, outputs…)`; iteration i passes row i of each stacked
    and inout operand. Results: the last carries, the inout tensors with their
    rows replaced, and the outputs stacked over the iterations, row 0 belonging
    to index `from`. `reverse` runs from `to - 1` down to `from`; rows keep their
    place.

    A stacked operand either spans all indices (row i) or, when its first extent
    is the trip count, just the range (row i - from). With `pinned "axis" = c`
    the body runs on coordinate c of that mesh axis only and its types never
    mention the axis: a pipeline is one pinned repeat per stage and chunk.

    Constraints:
    - C1: 0 <= from < to.
    - C2: the callee is a function with one block whose arguments and results
      are those of the segments, in number.
    - C3: carried and shared operands have the shape and element type of the
      callee's argument; stacked and inout ones that of a row below a leading
      extent that covers the range.
    - C4: results have the shapes that the segments give.
    - C5: a pinned axis is in the mesh (where there is one) and the coordinate in
      range.
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee, I64Attr:$from, I64Attr:$to,
    Variadic<AnyRankedTensor>:$carry, Variadic<AnyRankedTensor>:$stacked,
    Variadic<AnyRankedTensor>:$inout, Variadic<AnyRankedTensor>:$shared, UnitAttr:$reverse,
    OptionalAttr<StrAttr>:$pinned_axis, OptionalAttr<I64Attr>:$pinned_to,
    DefaultValuedAttr<DTrain_OriginAttr, "::dtrain::Origin::forward">:$origin);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $callee $from `to` $to (`reverse` $reverse^)? (`carry` `(` $carry^ `)`)? (`stacked` `(` $stacked^ `)`)?
    (`inout` `(` $inout^ `)`)? (`shared` `(` $shared^ `)`)? (`pinned` $pinned_axis^ `=` $pinned_to)?
    (`origin` `` $origin^)? attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    int64_t getTripCount() { return getTo() - getFrom(); }
    /// The body; null if the symbol does not resolve.
    ::mlir::func::FuncOp getBody();
    /// Results by segment.
    ::mlir::ResultRange getCarryResults() { return getResults().take_front(getCarry().size()); }
    ::mlir::ResultRange getInoutResults() {
      return getResults().slice(getCarry().size(), getInout().size());
    }
    ::mlir::ResultRange getOutputs() {
      return getResults().drop_front(getCarry().size() + getInout().size());
    }
    /// The operand, and the argument of the body, that carry or inout result
    /// `result` continues; none for an output.
    std::optional<unsigned> getTiedOperand(unsigned result) {
      unsigned carries = getCarry().size();
      if (result >= carries + getInout().size())
        return std::nullopt;
      return result < carries ? result : result + getStacked().size();
    }
    /// The row of a stacked or inout operand that iteration `index` passes.
    int64_t rowOf(::mlir::Value stacked, int64_t index);
  }];
}

def DTrain_SeedOp : Op<DTrain_Dialect, "seed"> {
  let summary = "An intent of placement: this value, on this axis, is split so";
  let description = [{
    `dtrain.seed %ids over "dp" split 0 level 0 because "data-parallel" : …`. The
    split is relative: the axis becomes the minor digit of what the dimension has
    when its level starts. Seed passes write it; propagation consumes it. Intents
    for ops are `state` attributes, which have levels too.

    Constraints:
    - C1: the dimension is in range.
  }];
  let arguments = (ins AnyRankedTensor:$value, StrAttr:$axis, I64Attr:$dim, I64Attr:$level, StrAttr:$why);
  let assemblyFormat = "$value `over` $axis `split` $dim `level` $level `because` $why attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def DTrain_ReshardOp : Op<DTrain_Dialect, "reshard", [Pure]> {
  let summary = "The same tensor in another placement, not yet lowered";
  let description = [{
    Constraints:
    - C1: operand and result have the same shape and element type, and
      placements on the same mesh.
  }];
  let arguments = (ins AnyRankedTensor:$input, OptionalAttr<StrAttr>:$why,
    DefaultValuedAttr<DTrain_OriginAttr, "::dtrain::Origin::forward">:$origin);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input (`because` $why^)? (`origin` `` $origin^)? attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}

class DTrain_CommOp<string m, list<string> transitions, string text>
    : Op<DTrain_Dialect, "comm." # m, [Pure, CommOpInterface]> {
  let summary = text;
  let description = [{
    Constraints:
    - C1: operand and result have the same shape and element type, and
      placements on the same mesh that differ in the state of `axis` only.
    - C2: the change is one that this op performs.
  }];
  let arguments = (ins AnyRankedTensor:$input, StrAttr:$axis, OptionalAttr<StrAttr>:$why,
    DefaultValuedAttr<DTrain_OriginAttr, "::dtrain::Origin::forward">:$origin);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `over` $axis (`because` $why^)? (`origin` `` $origin^)? attr-dict `:` type($input) `->` type($result)";
  let cppNamespace = "::dtrain::comm";
  let extraClassDeclaration = [{
    static ::llvm::ArrayRef<::dtrain::Transition> getTransitions() {
      static const ::dtrain::Transition list[] = {}] #
        !interleave(!foreach(t, transitions, "::dtrain::Transition::" # t), ", ") # [{};
      return list;
    }
  }];
}

def DTrain_AllReduceOp : DTrain_CommOp<"all_reduce", ["AllReduce"], "partial to replicated">;
def DTrain_AllGatherOp : DTrain_CommOp<"all_gather", ["AllGather"], "split to replicated">;
def DTrain_ReduceScatterOp : DTrain_CommOp<"reduce_scatter", ["ReduceScatter"], "partial to split">;
def DTrain_AllToAllOp : DTrain_CommOp<"all_to_all", ["AllToAll"], "split to another split">;
def DTrain_BroadcastOp : DTrain_CommOp<"broadcast", ["Broadcast"], "pinned to replicated or to more coordinates">;
def DTrain_CommReduceOp : DTrain_CommOp<"reduce", ["Reduce"], "partial to pinned">;
def DTrain_CommGatherOp : DTrain_CommOp<"gather", ["Gather"], "split to pinned">;
def DTrain_CommScatterOp : DTrain_CommOp<"scatter", ["Scatter"], "pinned to split">;
def DTrain_SendOp : DTrain_CommOp<"send", ["Send"], "pinned to another coordinate">;
def DTrain_RelabelOp : DTrain_CommOp<"relabel", ["Slice", "Mask", "Drop", "Pad", "ZeroElsewhere"],
    "the free transitions: no byte moves">;

#endif // DTRAIN_DTRAINCONTROL_TD
