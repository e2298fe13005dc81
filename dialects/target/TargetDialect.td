//===----------------------------------------------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The dialect, and the two attributes every description is made of.

#ifndef DTRAIN_TARGET_DIALECT_TD
#define DTRAIN_TARGET_DIALECT_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/DialectBase.td"

def Target_Dialect : Dialect {
  let name = "target";
  let cppNamespace = "::dtrain::target";
  let summary = "Machines and software stacks, each figure with unit and source";
  let description = [{
    A `target.machine` describes the hardware a training job runs on, a
    `target.stack` the software. Both are plain data: records of named fields.
    A field is a figure (a quantity with a unit), a fact (a word), a text, or a
    record. Every figure and fact says how it is known (`datasheet`,
    `measured`, `derived`, `assumed`) and from where; what no source gives is
    `assumed` and says why. There are no defaults: a field that is not written
    is an error.

    The records mirror `dtrain/Model/Machine.h` field for field, which is
    checked when dtrain is compiled. They answer `#dlti` queries by key path:
    `["chip", "memory_bandwidth"]` of a machine is a `#target.figure`.

    Every record has the constraints
    - (C1) each field is given exactly once, and no others;
    - (C2) a figure has the dimension of its field;
    - (C3) a peak is `dense` and a link is `one_way`, and they say so; other
      figures carry neither word;
    - (C4) a figure lies in the range of its field, a fact is one of its words;

    and further ones from (C5) on, listed with it. A range is one of
    *non-negative*, *positive*, *share* (0 to 1), *efficiency* (above 0, up to
    1), *at least 1*, *at least 2*, and *count* (a whole number from 1 to 1e9).
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Target_Attr<string name, string mnem, list<Trait> traits = []>
    : AttrDef<Target_Dialect, name, traits> {
  let mnemonic = mnem;
}

def Target_FigureAttr : Target_Attr<"Figure", "figure"> {
  let summary = "A quantity with its unit, basis and source";
  let description = [{
    ```mlir
    #target.figure<700.0 W, datasheet, "H100 SXM5 datasheet">
    #target.figure<989.5 TFLOPps dense, datasheet, "…">
    #target.figure<450.0 GBps one_way, datasheet, "…">
    ```
    The number is decimal; 1e9 is written `1.0e9`. Units are identifiers, as in
    `GBps` or `USD_per_kWh`; a ratio has none. A `sparse` peak and a `duplex`
    bandwidth are understood, so that they can be refused.

    Constraints:
    - (C1) the number is finite and not negative;
    - (C2) the unit is known;
    - (C3) the source says something;
    - (C4) a peak is not `sparse`, a link is not `duplex`.
  }];
  let parameters = (ins
    AttrParameter<"::dtrain::target::Magnitude", "value in base units, with its dimension">:$magnitude,
    AttrParameter<"::dtrain::target::Convention", "what a peak or a bandwidth counts">:$convention,
    AttrParameter<"::dtrain::Basis", "how the value is known">:$basis,
    "::mlir::StringAttr":$source);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Target_FactAttr : Target_Attr<"Fact", "fact"> {
  let summary = "A choice between words, with its basis and source";
  let description = [{
    ```mlir
    #target.fact<flash, assumed, "…">
    ```
    Constraints:
    - (C1) the source says something.
  }];
  let parameters = (ins
    "::mlir::StringAttr":$word,
    AttrParameter<"::dtrain::Basis", "how the fact is known">:$basis,
    "::mlir::StringAttr":$source);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // DTRAIN_TARGET_DIALECT_TD
