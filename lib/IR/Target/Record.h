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
/// Starts a message about the field at that place of the table.
using EmitAtField = llvm::function_ref<mlir::InFlightDiagnostic(size_t field)>;

/// What a record's further constraints look at: the table, the values, which
/// passed (C1) to (C4), and where messages go: to the line of the field, if the
/// record was read from a file.
struct RecordCheck {
  llvm::ArrayRef<Field> fields;
  llvm::ArrayRef<mlir::Attribute> values;
  EmitAtField emitAtField;
  /// The number as it stands in the file, if there is one, else as printed.
  llvm::function_ref<std::string(size_t field)> given;

  size_t indexOf(llvm::StringRef name) const;
  mlir::Attribute valueOf(llvm::StringRef name) const {
    return values[indexOf(name)];
  }
  /// Of the figure named `name`, in base units.
  double figureOf(llvm::StringRef name) const;
  mlir::InFlightDiagnostic emit(llvm::StringRef name) const {
    return emitAtField(indexOf(name));
  }
  std::string givenOf(llvm::StringRef name) const {
    return given(indexOf(name));
  }
};
/// Constraints (C5) and further; null for a record that has none.
using FurtherConstraints = llvm::LogicalResult (*)(const RecordCheck &);

/// Reads `<name = value, …>` into `values`, in the table's order. Reports the
/// first wrong field at its place.
mlir::ParseResult parseFields(mlir::AsmParser &parser,
                              llvm::StringRef recordName,
                              llvm::ArrayRef<Field> fields,
                              FurtherConstraints further,
                              llvm::SmallVectorImpl<mlir::Attribute> &values);

template <typename AttrT>
mlir::Attribute parseRecord(mlir::AsmParser &parser, llvm::StringRef recordName,
                            llvm::ArrayRef<Field> fields,
                            FurtherConstraints further) {
  llvm::SMLoc loc = parser.getCurrentLocation();
  llvm::SmallVector<mlir::Attribute> values;
  if (parseFields(parser, recordName, fields, further, values))
    return {};
  return AttrT::getChecked([&] { return parser.emitError(loc); },
                           parser.getContext(), values);
}

/// Prints one field a line.
void printRecord(mlir::AsmPrinter &printer, RecordAttrInterface record);

/// Constraints (C1) to (C4) of every record, then the further ones.
llvm::LogicalResult verifyRecord(EmitError emitError,
                                 llvm::StringRef recordName,
                                 llvm::ArrayRef<Field> fields,
                                 FurtherConstraints further,
                                 llvm::ArrayRef<mlir::Attribute> values);

/// The value of the field named by `key`; fails if there is none.
mlir::FailureOr<mlir::Attribute> queryRecord(RecordAttrInterface record,
                                             mlir::DataLayoutEntryKey key);

/// Reads `<number unit convention, basis, "source">`. With a field, the unit
/// is checked against its dimension; without, the unit decides it.
mlir::Attribute parseFigure(mlir::AsmParser &parser, const Field *field);

/// "0.5 TBps" of the figure whose `<` is at `loc`, as it stands in the file;
/// empty where none starts there.
std::string figureTextAt(llvm::SMLoc loc);

} // namespace dtrain::target

#endif // DTRAIN_LIB_IR_TARGET_RECORD_H
