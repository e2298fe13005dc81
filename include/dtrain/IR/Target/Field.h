//===- Field.h - Figures and the fields of records --------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// What a field of a machine or stack description may hold. The tables of
/// fields are generated from dialects/target/TargetAttrs.td.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_IR_TARGET_FIELD_H
#define DTRAIN_IR_TARGET_FIELD_H

#include "dtrain/Model/Machine.h"
#include "mlir/IR/Attributes.h"
#include "mlir/IR/OpImplementation.h"

namespace dtrain {

llvm::StringRef stringifyBasis(Basis basis);
std::optional<Basis> parseBasis(llvm::StringRef text);

namespace target {

/// What a peak or a bandwidth counts. `Sparse` and `Duplex` figures are read
/// only to be refused: twice the rate under another name.
enum class Convention : uint8_t { None, Dense, OneWay, Sparse, Duplex };
llvm::StringRef stringifyConvention(Convention convention);

/// A quantity whose dimension is known at run time only; `value` is in base
/// units.
struct Magnitude {
  double value = 0;
  Dimension dim{0, 0, 0, 0, 0, 0};
  bool operator==(const Magnitude &o) const;
  std::string str() const { return printQuantity(value, dim); }
};
llvm::hash_code hash_value(const Magnitude &m);

/// The dimension of a quantity type.
template <int T, int B, int F, int J, int D, int C>
constexpr Dimension dimensionOf(Quantity<T, B, F, J, D, C>) {
  return Dimension{T, B, F, J, D, C};
}

/// The values a figure may take, in base units.
enum class Range : uint8_t {
  NonNegative,
  Positive,
  Share,      // 0 to 1
  Efficiency, // above 0, up to 1
  AtLeastOne,
  AtLeastTwo,
  Count, // a whole number from 1 to 1e9
};

/// One field of a record.
struct Field {
  enum class Kind : uint8_t { Figure, Fact, Text, Record, List };
  llvm::StringRef name;
  Kind kind;
  bool optional = false;
  /// Of a figure.
  Dimension dim{0, 0, 0, 0, 0, 0};
  Range range = Range::NonNegative;
  Convention convention = Convention::None;
  /// Of a fact: the words to choose from.
  llvm::SmallVector<llvm::StringRef, 3> words;
  /// Of a record, and of the elements of a list.
  llvm::StringRef recordName;
  mlir::Attribute (*parseOne)(mlir::AsmParser &) = nullptr;
  bool (*isOne)(mlir::Attribute) = nullptr;

  Field(llvm::StringRef name, Kind kind) : name(name), kind(kind) {}
  Field orAbsent() && {
    optional = true;
    return std::move(*this);
  }
  template <typename Q>
  static Field figure(llvm::StringRef name, Range range,
                      Convention convention) {
    Field f(name, Kind::Figure);
    f.dim = dimensionOf(Q());
    f.range = range;
    f.convention = convention;
    return f;
  }
  static Field fact(llvm::StringRef name,
                    std::initializer_list<llvm::StringRef> words) {
    Field f(name, Kind::Fact);
    f.words.assign(words);
    return f;
  }
  static Field text(llvm::StringRef name) { return Field(name, Kind::Text); }
  template <typename AttrT>
  static Field record(llvm::StringRef name, Kind kind = Kind::Record) {
    Field f(name, kind);
    f.recordName = AttrT::getMnemonic();
    f.isOne = [](mlir::Attribute a) { return llvm::isa<AttrT>(a); };
    f.parseOne = [](mlir::AsmParser &parser) -> mlir::Attribute {
      AttrT attr;
      if (parser.parseCustomAttributeWithFallback(attr))
        return {};
      return attr;
    };
    return f;
  }
  template <typename AttrT> static Field list(llvm::StringRef name) {
    return record<AttrT>(name, Kind::List);
  }
};

} // namespace target
} // namespace dtrain

#endif // DTRAIN_IR_TARGET_FIELD_H
