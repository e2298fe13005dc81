//===----------------------------------------------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Records: attributes that are lists of named fields. A record is declared by
// its fields alone; parser, printer, verifier, query and the conversion to the
// cost model's struct are written once, over the table generated here.

#ifndef DTRAIN_TARGET_FIELDS_TD
#define DTRAIN_TARGET_FIELDS_TD

include "mlir/IR/Interfaces.td"
include "mlir/Interfaces/DataLayoutInterfaces.td"
include "target/TargetDialect.td"

def Target_RecordInterface : AttrInterface<"RecordAttrInterface"> {
  let cppNamespace = "::dtrain::target";
  let description = "A list of named fields, for code that treats all alike.";
  let methods = [
    InterfaceMethod<"The table of fields.",
      "::llvm::ArrayRef<::dtrain::target::Field>", "getFields">,
    InterfaceMethod<"The values, in the table's order; null where an optional one is absent.",
      "::llvm::ArrayRef<::mlir::Attribute>", "getValues">,
  ];
}

/// A field: its name in the text, the member of the model's struct it fills,
/// what it means.
class Field<string n, string m, string d> {
  string name = n;
  string member = m;
  string doc = d;
  string entry = ?;   // of the C++ table
  string assign = ?;  // statement that moves `value` into the member
  string shape = ?;   // for the documentation
}

/// A quantity of the named type of Quantity.h, within a range.
class Figure<string n, string m, string quantity, string range, string d,
             string convention = "None"> : Field<n, m, d> {
  let entry = "Field::figure<::dtrain::" # quantity # ">(\"" # n # "\", Range::"
              # range # ", Convention::" # convention # ")";
  let assign = "assignFigure<::dtrain::" # quantity # ">(out." # m # ", value)";
  let shape = quantity # ", " # range
              # !if(!eq(convention, "None"), "", ", " # convention);
}

/// One of some words.
class Fact<string n, string m, list<string> words, string d> : Field<n, m, d> {
  let entry = "Field::fact(\"" # n # "\", {\"" # !interleave(words, "\", \"") # "\"})";
  let assign = "assignFact(out." # m # ", value)";
  let shape = !interleave(words, " or ");
}
class Flag<string n, string m, string d> : Fact<n, m, ["no", "yes"], d>;

/// A text, such as a product's name.
class Text<string n, string m, string d> : Field<n, m, d> {
  let entry = "Field::text(\"" # n # "\")";
  let assign = "out." # m # " = ::llvm::cast<::mlir::StringAttr>(value).str()";
  let shape = "text";
}

/// Another record.
class Nested<string n, string m, string attr, string d> : Field<n, m, d> {
  let entry = "Field::record<" # attr # "Attr>(\"" # n # "\")";
  let assign = "::llvm::cast<" # attr # "Attr>(value).assignTo(out." # m # ")";
  let shape = "`" # attr # "Attr`";
}

/// Another record that may be left out: what it describes is then not there.
class OptionalNested<string n, string m, string attr, string d> : Field<n, m, d> {
  let entry = "Field::record<" # attr # "Attr>(\"" # n # "\").orAbsent()";
  let assign = "if (value) ::llvm::cast<" # attr # "Attr>(value).assignTo(out." # m # ".emplace())";
  let shape = "`" # attr # "Attr`, optional";
}

/// A list of records, possibly empty.
class NestedList<string n, string m, string attr, string d> : Field<n, m, d> {
  let entry = "Field::list<" # attr # "Attr>(\"" # n # "\")";
  let assign = "for (::mlir::Attribute element : ::llvm::cast<::mlir::ArrayAttr>(value)) "
               # "::llvm::cast<" # attr # "Attr>(element).assignTo(out." # m # ".emplace_back())";
  let shape = "list of `" # attr # "Attr`";
}

/// The peak of one element type, which a chip may lack.
class Peak<string n, string d> : Field<n, "", d> {
  let entry = "Field::record<PeakAttr>(\"" # n # "\").orAbsent()";
  let assign = "assignPeak(\"" # n # "\", out, value)";
  let shape = "`PeakAttr`, optional";
}

/// `model` is the struct the record fills. `unnamed` lists its members that
/// are no fields (a name that the operation holds). `extra` is a C++ function
/// that verifies (C5) and further constraints of a `RecordCheck`.
class Target_Record<string name, string mnem, string model, list<Field> fields,
                    string text, list<string> unnamed = [], string extra = "",
                    list<string> constraints = []>
    : Target_Attr<name, mnem,
        [DeclareAttrInterfaceMethods<DLTIQueryInterface>,
         Target_RecordInterface]> {
  let description = text # "\nFields:\n\n"
    # !foldl("", fields, acc, f, acc # "- `" # f.name # "` (" # f.shape # "): " # f.doc # "\n")
    # !if(!empty(constraints), "", "\nConstraints, after (C1) to (C4):\n\n"
        # !interleave(!foreach(c, constraints, "- " # c), "\n") # "\n");
  let parameters = (ins
    ArrayRefParameter<"::mlir::Attribute", "field values in the table's order">:$values);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    ::llvm::ArrayRef<::dtrain::target::Field> getFields() const;
    /// Fills the cost model's struct.
    void assignTo(}] # model # [{ &out) const;
  }];
  // Binding the members by structure makes a field that is missing here, or one
  // too many, an error of compilation.
  defvar members = !listconcat(unnamed,
    !foldl([]<string>, fields, acc, f, !if(!empty(f.member), acc, !listconcat(acc, [f.member]))));
  defvar bindAll = !if(!empty(members), "",
    "[[maybe_unused]] const auto &[" # !interleave(!foreach(m, members, m # "_"), ", ") # "] = out;\n");
  defvar further = !if(!empty(extra), "nullptr", extra);
  defvar assignAll = !foldl("", fields, acc, f,
    acc # "value = getValues()[next++];\n" # f.assign # ";\n");
  let extraClassDefinition = [{
    static ::llvm::ArrayRef<::dtrain::target::Field> fieldsOf$cppClass() {
      static const Field table[] = {
        }] # !interleave(!foreach(f, fields, f.entry), ",\n        ") # [{};
      return table;
    }
    ::llvm::ArrayRef<::dtrain::target::Field> $cppClass::getFields() const {
      return fieldsOf$cppClass();
    }
    ::mlir::Attribute $cppClass::parse(::mlir::AsmParser &parser, ::mlir::Type) {
      return parseRecord<$cppClass>(parser, "}] # mnem # [{", fieldsOf$cppClass(), }] # further # [{);
    }
    void $cppClass::print(::mlir::AsmPrinter &printer) const {
      printRecord(printer, *this);
    }
    ::llvm::LogicalResult $cppClass::verify(
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
        ::llvm::ArrayRef<::mlir::Attribute> values) {
      return verifyRecord(emitError, "}] # mnem # [{", fieldsOf$cppClass(), }] # further # [{, values);
    }
    ::mlir::FailureOr<::mlir::Attribute> $cppClass::query(::mlir::DataLayoutEntryKey key) const {
      return queryRecord(*this, key);
    }
    void $cppClass::assignTo(}] # model # [{ &out) const {
      }] # bindAll # [{
      size_t next = 0;
      ::mlir::Attribute value;
      }] # assignAll # [{
    }
  }];
}

#endif // DTRAIN_TARGET_FIELDS_TD
