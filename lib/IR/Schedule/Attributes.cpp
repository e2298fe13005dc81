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
static StringRef stringify(HidingPass pass) {
  return pass == HidingPass::Forward ? "forward" : "backward";
}
static StringRef stringify(Flow flow) { return stringifyFlow(flow); }
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
static ParseResult parse(AsmParser &p, HidingPass &v) {
  return parseWord(p, v, HidingPass::Backward);
}
static ParseResult parse(AsmParser &p, Flow &v) {
  return parseWord(p, v, Flow::Local);
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
static ParseResult parse(AsmParser &p, int &v) { return p.parseInteger(v); }
static void print(AsmPrinter &p, int v) { p << v; }
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

static ParseResult parse(AsmParser &p, Ratio &v) {
  SMLoc loc = p.getCurrentLocation();
  double number = 0;
  if (p.parseFloat(number))
    return failure();
  v = Ratio::fromBase(number);
  return requireAmount(p, loc, number);
}
static void print(AsmPrinter &p, Ratio v) { p << printDouble(v.base()); }

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

/// A whole number, the name of a size, or a product of them in quotes.
static ParseResult parse(AsmParser &p, Extents &v) {
  SMLoc loc = p.getCurrentLocation();
  int64_t number = 0;
  OptionalParseResult isNumber = p.parseOptionalInteger(number);
  if (isNumber.has_value()) {
    if (failed(*isNumber))
      return failure();
    if (number < 0)
      return p.emitError(loc) << "expected a whole number, found " << number;
    v.assign(1, Extent());
    v.front().value = number;
    return success();
  }
  std::string text;
  StringRef word;
  if (succeeded(p.parseOptionalKeyword(&word)))
    text = word.str();
  else if (p.parseString(&text))
    return failure();
  llvm::Expected<Extents> extents = dtrain::parseExtents(text);
  if (!extents)
    return p.emitError(loc) << llvm::toString(extents.takeError());
  v = std::move(*extents);
  return success();
}
static void print(AsmPrinter &p, const Extents &v) {
  std::string text = printExtents(v);
  bool isPlain = v.size() <= 1 && (v.empty() || v.front().axes.empty());
  if (isPlain && !StringRef(text).contains_insensitive("-"))
    p << text;
  else
    p.printString(text);
}

/// A side that is the number 1 is the empty product.
static ParseResult parseSide(AsmParser &p, Extents &side) {
  if (parse(p, side))
    return failure();
  if (side.size() == 1 && side.front() == Extent())
    side.clear();
  if (side.size() == 1 && side.front().size.empty() && side.front().value < 1)
    return p.emitError(p.getCurrentLocation(), "expected an extent of at least "
                                               "1");
  return success();
}
template <size_t N>
static ParseResult parse(AsmParser &p, std::array<Extents, N> &v) {
  SMLoc loc = p.getCurrentLocation();
  size_t count = 0;
  Extents more;
  if (p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        Extents &side = count < N ? v[count] : more;
        ++count;
        return parseSide(p, side);
      }))
    return failure();
  if (count != N)
    return p.emitError(loc) << "expected " << N << " extents, found " << count;
  return success();
}
template <size_t N>
static void print(AsmPrinter &p, const std::array<Extents, N> &v) {
  p << '[';
  llvm::interleaveComma(v, p, [&](const Extents &side) { ::print(p, side); });
  p << ']';
}
static ParseResult parse(AsmParser &p, AttentionExtents &v) {
  if (parse(p, v.sides))
    return failure();
  v.causal = succeeded(p.parseOptionalKeyword("causal"));
  return success();
}
static void print(AsmPrinter &p, const AttentionExtents &v) {
  print(p, v.sides);
  if (v.causal)
    p << " causal";
}

template <typename Q> struct DimensionOf;
template <int T, int B, int F, int J, int D, int C>
struct DimensionOf<Quantity<T, B, F, J, D, C>> {
  static constexpr Dimension value{T, B, F, J, D, C};
};
/// A quantity, or in quotes a sum of products.
template <typename Q> static ParseResult parse(AsmParser &p, Amount<Q> &v) {
  SMLoc loc = p.getCurrentLocation();
  std::string text;
  if (failed(p.parseOptionalString(&text))) {
    Q value;
    if (parse(p, value))
      return failure();
    v = Amount<Q>(value);
    return success();
  }
  llvm::Expected<Sum> sum = Sum::parse(text, DimensionOf<Q>::value);
  if (!sum)
    return p.emitError(loc) << llvm::toString(sum.takeError());
  v = Amount<Q>(std::move(*sum));
  return success();
}
template <typename Q> static void print(AsmPrinter &p, const Amount<Q> &v) {
  std::string text = v.str(DimensionOf<Q>::value);
  bool isPlain = v.terms.empty() ||
                 (v.terms.size() == 1 && v.terms.front().extents.empty());
  if (isPlain)
    p << text;
  else
    p.printString(text);
}
/// An amount, or a list of them.
template <typename Q> static ParseResult parse(AsmParser &p, Peak<Q> &v) {
  if (failed(p.parseOptionalLSquare()))
    return parse(p, v.moments.emplace_back());
  return failure(p.parseCommaSeparatedList([&] {
    return parse(p, v.moments.emplace_back());
  }) || p.parseRSquare());
}
template <typename Q> static void print(AsmPrinter &p, const Peak<Q> &v) {
  if (v.moments.size() == 1)
    return print(p, v.moments.front());
  p << '[';
  llvm::interleaveComma(v.moments, p,
                        [&](const Amount<Q> &m) { ::print(p, m); });
  p << ']';
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
        std::is_same_v<V, OpClass> || std::is_same_v<V, CollectiveKind> ||
        (std::is_same_v<T, PurposeHiding> && std::is_enum_v<V>);
    if (!isSubject && value == defaults.*field.member)
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

DTRAIN_SCHEDULE_RECORD(Work, StepWork)
DTRAIN_SCHEDULE_RECORD(Comm, StepComm)
DTRAIN_SCHEDULE_RECORD(Transfer, StepTransfer)
DTRAIN_SCHEDULE_RECORD(Resource, StepResource)
DTRAIN_SCHEDULE_RECORD(EventKind, dtrain::EventKind)
DTRAIN_SCHEDULE_RECORD(Figures, StackFigures)
DTRAIN_SCHEDULE_RECORD(Hiding, PurposeHiding)
DTRAIN_SCHEDULE_RECORD(Cost, PayloadCost)
DTRAIN_SCHEDULE_RECORD(At, Interval)
DTRAIN_SCHEDULE_RECORD(Span, dtrain::Span)
DTRAIN_SCHEDULE_RECORD(Space, StepSpace)
DTRAIN_SCHEDULE_RECORD(State, StepState)
DTRAIN_SCHEDULE_RECORD(Footprint, Footprint)
DTRAIN_SCHEDULE_RECORD(Breakdown, Breakdown)
DTRAIN_SCHEDULE_RECORD(Model, ModelFacts)

#undef DTRAIN_SCHEDULE_RECORD
