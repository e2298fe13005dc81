//===- Target.h - The target dialect ----------------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_IR_TARGET_TARGET_H
#define DTRAIN_IR_TARGET_TARGET_H

#include "dtrain/IR/Target/Field.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"

#include "dtrain/IR/Target/TargetDialect.h.inc"
#include "dtrain/IR/Target/TargetInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dtrain/IR/Target/TargetAttrs.h.inc"

#define GET_OP_CLASSES
#include "dtrain/IR/Target/TargetOps.h.inc"

namespace dtrain {

/// The cost model's view of a description; `name` becomes the struct's name.
Machine toModel(target::MachineAttr description, llvm::StringRef name);
Stack toModel(target::StackAttr description, llvm::StringRef name);

namespace target {

/// One figure, fact or text of a description, as a report lists it.
struct Entry {
  std::string path;  // "chip.memory_bandwidth"
  double value = 0;  // in the unit below; 0 for a fact or text
  std::string unit;  // "GBps", empty for a ratio, a fact, a text
  std::string text;  // "2039.0 GBps", "flash"
  std::string basis; // "datasheet"; empty for a text
  std::string source;
};

/// Calls `fn` for every figure, fact and text under `record`, in order.
void forEachEntry(RecordAttrInterface record,
                  llvm::function_ref<void(const Entry &)> fn);

} // namespace target
} // namespace dtrain

#endif // DTRAIN_IR_TARGET_TARGET_H
