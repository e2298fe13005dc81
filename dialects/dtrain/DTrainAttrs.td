//===- DTrainAttrs.td - Mesh, placement, rule, op state ------*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_DTRAINATTRS_TD
#define DTRAIN_DTRAINATTRS_TD

include "dtrain/DTrainBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/IR/OpAsmInterface.td"

class DTrain_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<DTrain_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def DTrain_MeshAttr : DTrain_Attr<"Mesh", "mesh", [OpAsmAttrInterface]> {
  let summary = "A mesh of devices with named axes";
  let description = [{
    `#dtrain.mesh<["pp" = 2, "dp" = 4, "tp" = 8]>`: the axes, slowest to fastest
    varying in the numbering of devices. Axes of size 1 are left out.

    Constraints:
    - C1: axis names are unique and not empty.
    - C2: every size is at least 2.
    - C3: the number of devices fits 32 bits.
  }];
  let parameters = (ins ArrayRefParameter<"::mlir::StringAttr">:$names,
                        ArrayRefParameter<"int64_t">:$sizes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::llvm::SmallVector<::dtrain::MeshAxis> getAxes() const;
    std::optional<unsigned> find(::llvm::StringRef name) const;
    int64_t getNumDevices() const;
    ::mlir::OpAsmAliasResult getAlias(::llvm::raw_ostream &os) const {
      os << "mesh";
      return ::mlir::OpAsmAliasResult::OverridableAlias;
    }
  }];
}

def DTrain_PlacementAttr : DTrain_Attr<"Placement", "placement",
    [OpAsmAttrInterface, DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "The state of every mesh axis for one tensor";
  let description = [{
    `#dtrain.placement<#mesh, [{"dp"}, {4, "cp"}, {} ], partial = {"tp" = sum},
    pinned = {"pp" = [0, 7]}>`

    For each dimension the *digits*, major to minor: axes that split it and
    gaps (local extents between them); `{4, "cp"}` is four local blocks, each
    split by cp. Partial axes hold addends (or maxima), on the coordinates
    listed or on all; pinned axes hold the tensor on the coordinates listed. An
    axis not named is replicated. Strides follow with the tensor's shape
    (`stateOf`).

    Constraints:
    - C1: every axis is in the mesh and has one state.
    - C2: the dimensions match the tensor's rank.
    - C3: gaps are at least 2, never adjacent, never last (one spelling only).
    - C4: coordinates are in range, ascending and not all of the axis.
    - C5: the digits divide the dimension; an axis alone may split unevenly if
      no coordinate is left empty.
  }];
  let parameters = (ins "::dtrain::MeshAttr":$mesh, "unsigned":$rank,
                        ArrayRefParameter<"::dtrain::PlacedDigit">:$digits,
                        ArrayRefParameter<"::dtrain::PlacedAxis">:$axes,
                        ArrayRefParameter<"int64_t">:$coords);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The canonical placement of a tensor of that shape in that state.
    static PlacementAttr get(::dtrain::MeshAttr mesh, ::llvm::ArrayRef<int64_t> shape,
                             const ::dtrain::TensorState &state);
    /// The state per mesh axis; the shape must be one that the placement fits.
    ::dtrain::TensorState getState(::llvm::ArrayRef<int64_t> shape) const;
    ::mlir::OpAsmAliasResult getAlias(::llvm::raw_ostream &os) const {
      os << "p";
      return ::mlir::OpAsmAliasResult::OverridableAlias;
    }
  }];
}

def DTrain_RuleAttr : DTrain_Attr<"Rule", "rule"> {
  let summary = "A parsed rule";
  let description = [{
    `#dtrain.rule<"b m k, k n -> b m n | sum 0*1">`. Stored parsed, printed
    canonically. The grammar is that of `include/dtrain/Model/Rule.h`.
  }];
  let parameters = (ins AttrParameter<"::dtrain::Rule", "", "const ::dtrain::Rule &">:$value);
  let hasCustomAssemblyFormat = 1;
}

def DTrain_OpStateAttr : DTrain_Attr<"OpState", "opstate"> {
  let summary = "The state of mesh axes for one op, between place and communicate";
  let description = [{
    `#dtrain.opstate<{"dp" = factor("b", 4), "tp" = linear(0), "pp" = pinned([1])}>`:
    an axis not named is replicated. It is recoverable from the op's types once
    every operand satisfies the rule, so it lives in IR only until then.

    Before propagation it is an intent, and an axis not named is undecided. Like
    a `dtrain.seed` it has a level, `"tp" = factor("s", 3) level 1 visible 2`:
    the op is fixed when propagation comes to that level, and the ops around it
    see that from level 2 on. A level not written is 0, a visible level not
    written is the level.

    Constraints:
    - C1: an axis is named once.
    - C2: a state is not visible before its level.
  }];
  let parameters = (ins ArrayRefParameter<"::dtrain::PlacedOpAxis">:$axes,
                        ArrayRefParameter<"int64_t">:$coords);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static OpStateAttr get(::dtrain::MeshAttr mesh, const ::dtrain::Rule &rule,
                           const ::dtrain::OpState &state);
    static OpStateAttr get(::dtrain::MeshAttr mesh, const ::dtrain::Rule &rule,
                           ::llvm::ArrayRef<::dtrain::OpIntent> intents);
    /// The states of the axes named, with their levels; errors as `getState`.
    ::llvm::Expected<::llvm::SmallVector<::dtrain::OpIntent>>
    getIntents(::dtrain::MeshAttr mesh, const ::dtrain::Rule &rule) const;
    /// The state per axis of `mesh`; an error if the rule has no such factor.
    ::llvm::Expected<::dtrain::OpState> getState(::dtrain::MeshAttr mesh,
                                                 const ::dtrain::Rule &rule) const;
  }];
}

#endif // DTRAIN_DTRAINATTRS_TD
