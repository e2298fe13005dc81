//===- Record.h - Code that treats all records alike ------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Parser, printer, verifier and query of every record attribute. The generated
/// definitions call these.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_IR_TARGET_RECORD_H
#define DTRAIN_LIB_IR_TARGET_RECORD_H

#include "dtrain/IR/Target/Target.h"

namespace dtrain::target {

using EmitError = llvm::function_ref<mlir::InFlightDiagnostic()>;

/// Reads `<name = value, …>` into `values`, in the table's order. Reports the
/// first wrong field at its place.
mlir::ParseResult parseFields(mlir::AsmParser &parser,
                              llvm::StringRef recordName,
                              llvm::ArrayRef<Field> fields,
                              llvm::SmallVectorImpl<mlir::Attribute> &values);

template <typename AttrT>
mlir::Attribute parseRecord(mlir::AsmParser &parser, llvm::StringRef recordName,
                            llvm::ArrayRef<Field> fields) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::SmallVector<mlir::Attribute> values;
  if (parseFields(parser, recordName, fields, values))
    return {};
  return AttrT::getChecked([&] { return parser.emitError(loc); },
                           parser.getContext(), values);
}

/// Prints one field a line.
void printRecord(mlir::AsmPrinter &printer, RecordAttrInterface record);

/// Constraints (C1) to (C4) of every record.
llvm::LogicalResult verifyRecord(EmitError emitError,
                                 llvm::StringRef recordName,
                                 llvm::ArrayRef<Field> fields,
                                 llvm::ArrayRef<mlir::Attribute> values);

/// The value of the field named by `key`; fails if there is none.
mlir::FailureOr<mlir::Attribute> queryRecord(RecordAttrInterface record,
                                             mlir::DataLayoutEntryKey key);

/// Reads `<number unit convention, basis, "source">`. With a field, the unit
/// is checked against its dimension; without, the unit decides it.
mlir::Attribute parseFigure(mlir::AsmParser &parser, const Field *field);

} // namespace dtrain::target

#endif // DTRAIN_LIB_IR_TARGET_RECORD_H
