//===- Attributes.cpp - Text form of what the schedule dialect holds ------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Schedule.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace dtrain;
using namespace dtrain::schedule;

#define GET_ATTRDEF_CLASSES
#include "dtrain/IR/Schedule/ScheduleAttrs.cpp.inc"

void ScheduleDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dtrain/IR/Schedule/ScheduleAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Values of fields: `print` writes what `parse` reads
//===----------------------------------------------------------------------===//

static StringRef stringify(ResidualDropout dropout) {
  switch (dropout) {
  case ResidualDropout::None:
    return "none";
  case ResidualDropout::Forward:
    return "forward";
  case ResidualDropout::Backward:
    return "backward";
  }
  llvm_unreachable("all kinds are covered");
}
static StringRef stringify(OpClass c) { return stringifyOpClass(c); }
static StringRef stringify(Precision p) { return stringifyPrecision(p); }
static StringRef stringify(CollectiveKind k) {
  return stringifyCollectiveKind(k);
}
static StringRef stringify(Purpose p) { return stringifyPurpose(p); }

/// Reads one of the words of an enum with cases 0 to `last`.
template <typename E>
static ParseResult parseWord(AsmParser &p, E &value, E last) {
  SMLoc loc = p.getCurrentLocation();
  StringRef word;
  if (failed(p.parseOptionalKeyword(&word)))
    word = "";
  SmallVector<StringRef> words;
  for (unsigned i = 0; i <= static_cast<unsigned>(last); ++i) {
    value = static_cast<E>(i);
    if (stringify(value) == word)
      return success();
    words.push_back(stringify(value));
  }
  return p.emitError(loc, "expected one of ")
         << llvm::join(words, ", ") << ", found '" << word << "'";
}
static ParseResult parse(AsmParser &p, OpClass &v) {
  return parseWord(p, v, OpClass::Move);
}
static ParseResult parse(AsmParser &p, Precision &v) {
  return parseWord(p, v, Precision::INT8);
}
static ParseResult parse(AsmParser &p, CollectiveKind &v) {
  return parseWord(p, v, CollectiveKind::Send);
}
static ParseResult parse(AsmParser &p, ResidualDropout &v) {
  return parseWord(p, v, ResidualDropout::Backward);
}
static ParseResult parse(AsmParser &p, Purpose &v) {
  return parseWord(p, v, Purpose::Pipeline);
}
template <typename E>
static std::enable_if_t<std::is_enum_v<E>> print(AsmPrinter &p, E v) {
  p << stringify(v);
}

/// Every number that the dialect holds counts or measures something.
static ParseResult requireAmount(AsmParser &p, SMLoc loc, double number) {
  if (number >= 0 && std::isfinite(number))
    return success();
  return p.emitError(loc, "expected a finite number that is not negative, "
                          "found ")
         << printDouble(number);
}

static ParseResult parse(AsmParser &p, double &v) {
  SMLoc loc = p.getCurrentLocation();
  return failure(p.parseFloat(v) || requireAmount(p, loc, v));
}
static void print(AsmPrinter &p, double v) { p << printDouble(v); }
static ParseResult parse(AsmParser &p, int64_t &v) {
  SMLoc loc = p.getCurrentLocation();
  if (p.parseInteger(v))
    return failure();
  if (v < 0)
    return p.emitError(loc, "expected a whole number that is not negative, "
                            "found ")
           << v;
  return success();
}
static void print(AsmPrinter &p, int64_t v) { p << v; }
static ParseResult parse(AsmParser &p, bool &v) {
  v = true;
  return p.parseKeyword("true");
}
static void print(AsmPrinter &p, bool) { p << "true"; }
static ParseResult parse(AsmParser &p, std::string &v) {
  return p.parseString(&v);
}
static void print(AsmPrinter &p, const std::string &v) { p.printString(v); }

template <int... E> static ParseResult parse(AsmParser &p, Quantity<E...> &v) {
  SMLoc loc = p.getCurrentLocation();
  double number = 0;
  StringRef unit;
  if (p.parseFloat(number) || p.parseKeyword(&unit))
    return failure();
  llvm::Expected<Quantity<E...>> value = Quantity<E...>::get(number, unit);
  if (!value)
    return p.emitError(loc) << llvm::toString(value.takeError());
  v = *value;
  return requireAmount(p, loc, v.base());
}
template <int... E> static void print(AsmPrinter &p, Quantity<E...> v) {
  p << v.str();
}

static ParseResult parse(AsmParser &p, std::vector<std::string> &v) {
  return p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return p.parseString(&v.emplace_back());
  });
}
static void print(AsmPrinter &p, const std::vector<std::string> &v) {
  p << '[';
  llvm::interleaveComma(v, p, [&](const std::string &s) { p.printString(s); });
  p << ']';
}

static ParseResult parse(AsmParser &p, Coords &v) {
  return p.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                   [&] { return parse(p, v.emplace_back()); });
}
static void print(AsmPrinter &p, ArrayRef<int64_t> v) {
  p << '[';
  llvm::interleaveComma(v, p);
  p << ']';
}

/// Reads exactly the given extents.
static ParseResult parseExtents(AsmParser &p, ArrayRef<int64_t *> extents) {
  SMLoc loc = p.getCurrentLocation();
  Coords list;
  if (parse(p, list))
    return failure();
  if (list.size() != extents.size())
    return p.emitError(loc) << "expected " << extents.size()
                            << " extents, found " << list.size();
  for (auto [target, extent] : llvm::zip(extents, list))
    *target = extent;
  return success();
}
static ParseResult parse(AsmParser &p, GemmShape &v) {
  return parseExtents(p, {&v.batch, &v.m, &v.n, &v.k});
}
static void print(AsmPrinter &p, const GemmShape &v) {
  print(p, ArrayRef<int64_t>{v.batch, v.m, v.n, v.k});
}
static ParseResult parse(AsmParser &p, AttentionShape &v) {
  if (parseExtents(p, {&v.batch, &v.heads, &v.kvHeads, &v.queryLength,
                       &v.keyLength, &v.headDim, &v.valueDim}))
    return failure();
  v.causal = succeeded(p.parseOptionalKeyword("causal"));
  return success();
}
static void print(AsmPrinter &p, const AttentionShape &v) {
  print(p, ArrayRef<int64_t>{v.batch, v.heads, v.kvHeads, v.queryLength,
                             v.keyLength, v.headDim, v.valueDim});
  if (v.causal)
    p << " causal";
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// Reads `<name = value, …>`, the names in the order of the fields.
template <typename T>
static LogicalResult parseFields(AsmParser &p, T &record) {
  if (p.parseLess())
    return failure();
  if (succeeded(p.parseOptionalGreater()))
    return success();
  StringRef name;
  SMLoc loc = p.getCurrentLocation();
  if (p.parseKeyword(&name))
    return failure();
  bool more = true, ok = true;
  std::string expected;
  auto readField = [&](auto field) {
    if (!ok || !more)
      return;
    if (name != field.name) {
      expected += (expected.empty() ? "" : ", ") + std::string(field.name);
      return;
    }
    expected.clear();
    ok = succeeded(p.parseEqual()) && succeeded(parse(p, record.*field.member));
    more = ok && succeeded(p.parseOptionalComma());
    if (more) {
      loc = p.getCurrentLocation();
      ok = succeeded(p.parseKeyword(&name));
    }
  };
  std::apply([&](auto... f) { (readField(f), ...); }, fieldsOf(&record));
  if (!ok)
    return failure();
  if (more)
    return p.emitError(loc, "expected ")
           << (expected.empty() ? "'>'" : "one of " + expected) << ", found '"
           << name << "'";
  return p.parseGreater();
}

template <typename T> static void printFields(AsmPrinter &p, const T &record) {
  const T defaults{};
  bool first = true;
  auto printField = [&](auto field) {
    const auto &value = record.*field.member;
    // What the record is about is always said.
    using V = std::decay_t<decltype(value)>;
    constexpr bool isSubject =
        std::is_same_v<V, OpClass> || std::is_same_v<V, CollectiveKind>;
    if (!isSubject && key::keyOf(value) == key::keyOf(defaults.*field.member))
      return;
    p << (first ? "" : ", ") << field.name << " = ";
    first = false;
    print(p, value);
  };
  p << '<';
  std::apply([&](auto... f) { (printField(f), ...); }, fieldsOf(&record));
  p << '>';
}

template <typename AttrT, typename T>
static Attribute parseRecord(AsmParser &p, T record = {}) {
  if (failed(parseFields(p, record)))
    return {};
  return AttrT::get(p.getContext(), record);
}

#define DTRAIN_SCHEDULE_RECORD(NAME, STRUCT)                                   \
  Attribute NAME##Attr::parse(AsmParser &p, Type) {                            \
    return parseRecord<NAME##Attr, STRUCT>(p);                                 \
  }                                                                            \
  void NAME##Attr::print(AsmPrinter &p) const { printFields(p, getValue()); }

DTRAIN_SCHEDULE_RECORD(Work, TaskWork)
DTRAIN_SCHEDULE_RECORD(Comm, TaskComm)
DTRAIN_SCHEDULE_RECORD(Cost, TaskCost)
DTRAIN_SCHEDULE_RECORD(At, Interval)
DTRAIN_SCHEDULE_RECORD(Span, schedule::Span)
DTRAIN_SCHEDULE_RECORD(Space, schedule::Space)
DTRAIN_SCHEDULE_RECORD(State, State)
DTRAIN_SCHEDULE_RECORD(Footprint, Footprint)
DTRAIN_SCHEDULE_RECORD(Breakdown, Breakdown)
DTRAIN_SCHEDULE_RECORD(Model, ModelFacts)

#undef DTRAIN_SCHEDULE_RECORD
