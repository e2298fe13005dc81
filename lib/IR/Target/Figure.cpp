//===- Figure.cpp - Quantities with a source
//--------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Record.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace dtrain;
using namespace dtrain::target;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral kBases[] = {"datasheet", "measured",
                                                 "derived", "assumed"};
/// In the order of Convention.
static constexpr llvm::StringLiteral kConventions[] = {"", "dense", "one_way",
                                                       "sparse", "duplex"};

StringRef dtrain::stringifyBasis(Basis basis) {
  return kBases[static_cast<unsigned>(basis)];
}

std::optional<Basis> dtrain::parseBasis(StringRef text) {
  const auto *it = llvm::find(kBases, text);
  if (it == std::end(kBases))
    return std::nullopt;
  return static_cast<Basis>(it - std::begin(kBases));
}

StringRef target::stringifyConvention(Convention convention) {
  return kConventions[static_cast<unsigned>(convention)];
}

static Convention parseConvention(StringRef text) {
  const auto *it = llvm::find(kConventions, text);
  if (it == std::end(kConventions))
    return Convention::None;
  return static_cast<Convention>(it - std::begin(kConventions));
}

bool Magnitude::operator==(const Magnitude &o) const {
  // Of the bits, so that equal values have equal hashes.
  return llvm::bit_cast<uint64_t>(value) == llvm::bit_cast<uint64_t>(o.value) &&
         dim == o.dim;
}

llvm::hash_code target::hash_value(const Magnitude &m) {
  return llvm::hash_combine(llvm::bit_cast<uint64_t>(m.value), m.dim.time,
                            m.dim.byte, m.dim.flop, m.dim.energy, m.dim.money,
                            m.dim.carbon);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// The number at `loc` as it stands in the file: MLIR's lexer takes some apart.
static StringRef numberAt(SMLoc loc) {
  const char *begin = loc.getPointer(), *end = begin;
  for (; llvm::isAlnum(*end) || *end == '.' || *end == '-' || *end == '+';
       ++end) {
    bool isSign = *end == '-' || *end == '+';
    if (isSign && end != begin && end[-1] != 'e' && end[-1] != 'E')
      break;
  }
  return StringRef(begin, end - begin);
}

std::string target::figureTextAt(SMLoc loc) {
  const char *at = loc.getPointer();
  if (*at != '<')
    return "";
  for (++at; llvm::isSpace(*at); ++at)
    ;
  StringRef number = numberAt(SMLoc::getFromPointer(at));
  if (number.empty() || !llvm::isDigit(number.front()))
    return "";
  for (at = number.end(); llvm::isSpace(*at); ++at)
    ;
  const char *end = at;
  for (; llvm::isAlnum(*end) || *end == '_'; ++end)
    ;
  StringRef unit(at, end - at);
  return (number + (unit.empty() ? "" : " ") + unit).str();
}

/// Reads a decimal number that is not negative.
static ParseResult parseNumber(AsmParser &parser, double &value) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef text = numberAt(loc);
  StringRef digits = text.take_while(llvm::isDigit);
  StringRef rest = text.drop_front(digits.size());
  if (text.starts_with("-"))
    return parser.emitError(loc, "expected a number that is not negative, "
                                 "found '")
           << text << "'";
  if (digits.empty())
    return parser.emitError(loc, "expected a number");
  if (digits == "0" && rest.starts_with_insensitive("x"))
    return parser.emitError(loc, "expected a decimal number, found '")
           << text << "'";
  StringRef exponent = rest.drop_front(rest.empty() ? 0 : 1);
  if (rest.starts_with_insensitive("e") &&
      !exponent.ltrim("+-").take_while(llvm::isDigit).empty())
    return parser.emitError(loc,
                            "expected a point before the exponent: write '")
           << digits << ".0e" << exponent << "' for '" << text << "'";
  if (rest.starts_with(".")) {
    if (parser.parseFloat(value))
      return failure();
    // A number that is too small for a double must not pass as nothing.
    StringRef mantissa =
        text.take_until([](char c) { return c == 'e' || c == 'E'; });
    if (value == 0 && mantissa.find_first_of("123456789") != StringRef::npos)
      return parser.emitError(loc, "expected a number that a double can hold, "
                                   "found '")
             << text << "'";
    return success();
  }
  llvm::APInt integer;
  OptionalParseResult result = parser.parseOptionalDecimalInteger(integer);
  if (!result.has_value() || failed(*result))
    return failure();
  value = integer.roundToDouble();
  return success();
}

/// Reads `, basis, "source"`.
static ParseResult parseProvenance(AsmParser &parser, Basis &basis,
                                   StringAttr &source) {
  if (parser.parseComma())
    return failure();
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  if (failed(parser.parseOptionalKeyword(&word)))
    word = "";
  std::optional<Basis> parsed = parseBasis(word);
  if (!parsed)
    return parser.emitError(loc, "expected how the value is known, one of ")
           << llvm::join(llvm::ArrayRef(kBases), ", ")
           << (word.empty() ? std::string() : (", found '" + word + "'").str());
  basis = *parsed;
  loc = parser.getCurrentLocation();
  std::string text;
  if (failed(parser.parseOptionalComma()) ||
      failed(parser.parseOptionalString(&text)))
    return parser.emitError(loc, "expected ', \"source\"': where the value "
                                 "comes from, or why it is assumed");
  source = StringAttr::get(parser.getContext(), text);
  return success();
}

Attribute target::parseFigure(AsmParser &parser, const Field *field) {
  double number = 0;
  if (parser.parseLess())
    return {};
  SMLoc loc = parser.getCurrentLocation();
  if (parseNumber(parser, number))
    return {};

  StringRef unit, word;
  Convention convention = Convention::None;
  SMLoc unitLoc = loc;
  while (convention == Convention::None) {
    SMLoc wordLoc = parser.getCurrentLocation();
    if (failed(parser.parseOptionalKeyword(&word)))
      break;
    convention = parseConvention(word);
    if (convention != Convention::None)
      break;
    if (!unit.empty()) {
      parser.emitError(wordLoc, "expected 'dense', 'one_way' or ',' after the "
                                "unit, found '")
          << word << "'";
      return {};
    }
    unit = word;
    unitLoc = wordLoc;
  }
  SMLoc slashLoc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalSlash())) {
    parser.emitError(slashLoc, "expected a unit that is one identifier, such "
                               "as GBps or USD_per_kWh, found '/'");
    return {};
  }

  // target.figure C2
  std::optional<Dimension> dim = field ? field->dim : dimensionOfUnit(unit);
  if (!dim) {
    parser.emitError(unitLoc, "unknown unit '") << unit << "'";
    return {};
  }
  llvm::Expected<double> value = toBaseUnits(number, unit, *dim);
  if (!value) {
    InFlightDiagnostic diag = parser.emitError(unitLoc);
    if (field)
      diag << field->name << ": ";
    diag << llvm::toString(value.takeError());
    return {};
  }

  Basis basis;
  StringAttr source;
  if (parseProvenance(parser, basis, source) || parser.parseGreater())
    return {};
  return FigureAttr::getChecked([&] { return parser.emitError(loc); },
                                parser.getContext(), Magnitude{*value, *dim},
                                convention, basis, source);
}

Attribute FigureAttr::parse(AsmParser &parser, Type) {
  return parseFigure(parser, nullptr);
}

static void printProvenance(AsmPrinter &printer, Basis basis,
                            StringAttr source) {
  printer << ", " << stringifyBasis(basis) << ", ";
  printer.printString(source.getValue());
  printer << '>';
}

void FigureAttr::print(AsmPrinter &printer) const {
  printer << '<' << getMagnitude().str();
  if (getConvention() != Convention::None)
    printer << ' ' << stringifyConvention(getConvention());
  printProvenance(printer, getBasis(), getSource());
}

Attribute FactAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef word;
  Basis basis;
  StringAttr source;
  if (parser.parseLess() || parser.parseKeyword(&word) ||
      parseProvenance(parser, basis, source) || parser.parseGreater())
    return {};
  return FactAttr::getChecked(
      [&] { return parser.emitError(loc); }, parser.getContext(),
      StringAttr::get(parser.getContext(), word), basis, source);
}

void FactAttr::print(AsmPrinter &printer) const {
  printer << '<' << getWord().getValue();
  printProvenance(printer, getBasis(), getSource());
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

static LogicalResult verifySource(EmitError emitError, StringAttr source) {
  if (!source || source.getValue().trim().empty())
    return emitError() << "expected a source that is not empty: where the "
                          "value comes from, or why it is assumed";
  return success();
}

LogicalResult FigureAttr::verify(EmitError emitError, Magnitude magnitude,
                                 Convention convention, Basis basis,
                                 StringAttr source) {
  // target.figure C1
  if (!std::isfinite(magnitude.value) || std::signbit(magnitude.value))
    return emitError() << "expected a finite number that is not negative";
  // target.figure C3
  if (failed(verifySource(emitError, source)))
    return failure();
  // target.figure C4
  std::string half = printQuantity(magnitude.value / 2, magnitude.dim);
  if (convention == Convention::Sparse)
    return emitError() << "expected a dense peak, found a sparse one: write "
                          "the rate without sparsity and 'dense' ("
                       << half << " dense, if sparsity doubles it)";
  if (convention == Convention::Duplex)
    return emitError() << "expected a one-way bandwidth, found a duplex one: "
                          "write the bandwidth of one direction and 'one_way' ("
                       << half << " one_way, if both are alike)";
  return success();
}

// target.fact C1
LogicalResult FactAttr::verify(EmitError emitError, StringAttr word,
                               Basis basis, StringAttr source) {
  return verifySource(emitError, source);
}
