//===----------------------------------------------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// The two operations that name a description.

#ifndef DTRAIN_TARGET_OPS_TD
#define DTRAIN_TARGET_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "target/TargetAttrs.td"

class Target_DescriptionOp<string mnemonic, Attr record>
    : Op<Target_Dialect, mnemonic, [Symbol, HasParent<"::mlir::ModuleOp">]> {
  let arguments = (ins SymbolNameAttr:$sym_name, record:$description);
  let assemblyFormat = "$sym_name $description attr-dict";
}

def Target_MachineOp : Target_DescriptionOp<"machine", Target_MachineAttr> {
  let summary = "A named machine";
  let description = [{
    ```mlir
    target.machine @"h100-dgx-ib" <chip = <…>, node = <…>, network = <…>, site = <…>, finance = <…>>
    ```
    Constraints:
    - (C1) it stands at the top level of a module.
  }];
}

def Target_StackOp : Target_DescriptionOp<"stack", Target_StackAttr> {
  let summary = "A named software stack";
  let description = [{
    ```mlir
    target.stack @"megatron-core" <attention = <flash, …>, …>
    ```
    Constraints:
    - (C1) it stands at the top level of a module.
  }];
}

#endif // DTRAIN_TARGET_OPS_TD
