//===- Record.cpp - Parsing, printing and checking of records -------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Record.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace dtrain;
using namespace dtrain::target;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// More of anything is a slip of the pen; 64-bit integers hold its products.
static constexpr double kMostCount = 1e9;

/// What is wrong with a value of that range; empty if nothing is.
static StringRef expectedOf(Range range, double value) {
  switch (range) {
  case Range::NonNegative:
    return value >= 0 ? "" : "a number that is not negative";
  case Range::Positive:
    return value > 0 ? "" : "a number above zero";
  case Range::Share:
    return value >= 0 && value <= 1 ? "" : "a share from 0 to 1";
  case Range::Efficiency:
    return value > 0 && value <= 1 ? "" : "an efficiency above 0 and up to 1";
  case Range::AtLeastOne:
    return value >= 1 ? "" : "a ratio of at least 1";
  case Range::AtLeastTwo:
    return value >= 2 ? "" : "a ratio of at least 2";
  case Range::Count:
    return value >= 1 && value <= kMostCount && std::floor(value) == value
               ? ""
               : "a whole number from 1 to 1e9";
  }
  llvm_unreachable("a range not listed");
}

/// (C2), (C3) and (C4) of a figure. `given` is how it stands in the file, empty
/// where it stands in none.
static LogicalResult verifyFigure(EmitError emitError, const Field &field,
                                  FigureAttr figure, StringRef given) {
  Magnitude magnitude = figure.getMagnitude();
  // C2
  if (!(magnitude.dim == field.dim)) {
    std::string text = magnitude.str();
    llvm::Expected<double> mismatch =
        toBaseUnits(1, StringRef(text).split(' ').second, field.dim);
    return emitError() << (mismatch ? std::string("mismatched unit")
                                    : llvm::toString(mismatch.takeError()));
  }
  // C3
  if (figure.getConvention() != field.convention) {
    if (field.convention == Convention::None)
      return emitError() << "expected no '"
                         << stringifyConvention(figure.getConvention())
                         << "': only peaks and links carry such a word";
    return emitError() << "expected '" << stringifyConvention(field.convention)
                       << "' after the unit: a "
                       << (field.convention == Convention::Dense ? "peak"
                                                                 : "link")
                       << " says what it counts";
  }
  // C4
  StringRef expected = expectedOf(field.range, magnitude.value);
  if (!expected.empty())
    return emitError() << "expected " << expected << ", found "
                       << (given.empty() ? magnitude.str() : given.str());
  return success();
}

/// The constraints of one value that is present.
static LogicalResult verifyField(EmitError emitError, const Field &field,
                                 Attribute value, StringRef given) {
  switch (field.kind) {
  case Field::Kind::Figure:
    if (auto figure = dyn_cast<FigureAttr>(value))
      return verifyFigure(emitError, field, figure, given);
    return emitError() << "expected a figure, found " << value;
  case Field::Kind::Fact: {
    auto fact = dyn_cast<FactAttr>(value);
    if (!fact)
      return emitError() << "expected a fact, found " << value;
    // C4
    if (!llvm::is_contained(field.words, fact.getWord().getValue()))
      return emitError() << "expected one of " << llvm::join(field.words, ", ")
                         << ", found '" << fact.getWord().getValue() << "'";
    return success();
  }
  case Field::Kind::Text: {
    auto text = dyn_cast<StringAttr>(value);
    if (!text || text.empty())
      return emitError() << "expected a text that is not empty, found "
                         << value;
    return success();
  }
  case Field::Kind::Record:
    if (field.isOne(value))
      return success();
    return emitError() << "expected a #target." << field.recordName
                       << ", found " << value;
  case Field::Kind::List: {
    auto list = dyn_cast<ArrayAttr>(value);
    if (!list || !llvm::all_of(list, field.isOne))
      return emitError() << "expected a list of #target." << field.recordName
                         << ", found " << value;
    return success();
  }
  }
  llvm_unreachable("a kind not listed");
}

/// Calls `verifyField` with messages that start with the field's path.
static LogicalResult verifyNamedField(EmitError emitError, StringRef recordName,
                                      const Field &field, Attribute value,
                                      StringRef given = "") {
  auto emitNamed = [&]() -> InFlightDiagnostic {
    InFlightDiagnostic diag = emitError();
    diag << recordName << '.' << field.name << ": ";
    return diag;
  };
  return verifyField(emitNamed, field, value, given);
}

size_t RecordCheck::indexOf(StringRef name) const {
  for (auto [index, field] : llvm::enumerate(fields))
    if (field.name == name)
      return index;
  llvm_unreachable("a field not in the table");
}

double RecordCheck::figureOf(StringRef name) const {
  return cast<FigureAttr>(valueOf(name)).getMagnitude().value;
}

static std::string printedFigure(Attribute value) {
  auto figure = dyn_cast_or_null<FigureAttr>(value);
  return figure ? figure.getMagnitude().str() : "";
}

LogicalResult target::verifyRecord(EmitError emitError, StringRef recordName,
                                   ArrayRef<Field> fields,
                                   FurtherConstraints further,
                                   ArrayRef<Attribute> values) {
  // C1
  if (values.size() != fields.size())
    return emitError() << "expected " << fields.size() << " fields of #target."
                       << recordName << ", found " << values.size();
  SmallVector<StringRef> missing;
  for (auto [field, value] : llvm::zip_equal(fields, values))
    if (!value && !field.optional)
      missing.push_back(field.name);
  if (!missing.empty())
    return emitError() << "missing field" << (missing.size() > 1 ? "s" : "")
                       << " of #target." << recordName << ": "
                       << llvm::join(missing, ", ");
  for (auto [field, value] : llvm::zip_equal(fields, values))
    if (value && failed(verifyNamedField(emitError, recordName, field, value)))
      return failure();
  if (!further)
    return success();
  return further({fields, values, [&](size_t) { return emitError(); },
                  [&](size_t index) { return printedFigure(values[index]); }});
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static Attribute parseValue(AsmParser &parser, const Field &field) {
  switch (field.kind) {
  case Field::Kind::Figure:
    return parseFigure(parser, &field);
  case Field::Kind::Fact:
    return FactAttr::parse(parser, Type());
  case Field::Kind::Text: {
    std::string text;
    if (parser.parseString(&text))
      return {};
    return StringAttr::get(parser.getContext(), text);
  }
  case Field::Kind::Record:
    return field.parseOne(parser);
  case Field::Kind::List: {
    SmallVector<Attribute> elements;
    auto parseElement = [&]() -> ParseResult {
      elements.push_back(field.parseOne(parser));
      return success(elements.back() != nullptr);
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                       parseElement))
      return {};
    return ArrayAttr::get(parser.getContext(), elements);
  }
  }
  llvm_unreachable("a kind not listed");
}

ParseResult target::parseFields(AsmParser &parser, StringRef recordName,
                                ArrayRef<Field> fields,
                                FurtherConstraints further,
                                SmallVectorImpl<Attribute> &values) {
  values.assign(fields.size(), Attribute());
  SMLoc start = parser.getCurrentLocation();
  SmallVector<SMLoc> places(fields.size(), start);
  auto parseOneField = [&]() -> ParseResult {
    SMLoc nameLoc = parser.getCurrentLocation();
    StringRef name;
    if (failed(parser.parseOptionalKeyword(&name)))
      return parser.emitError(nameLoc, "expected a field of #target.")
             << recordName;
    const Field *field =
        llvm::find_if(fields, [&](const Field &f) { return f.name == name; });
    // C1
    if (field == fields.end()) {
      SmallVector<StringRef> names;
      for (const Field &f : fields)
        names.push_back(f.name);
      return parser.emitError(nameLoc, "unknown field '")
             << name << "' of #target." << recordName << ": expected one of "
             << llvm::join(names, ", ");
    }
    size_t index = field - fields.begin();
    Attribute &value = values[index];
    if (value)
      return parser.emitError(nameLoc, "duplicate field '")
             << name << "' of #target." << recordName;
    if (parser.parseEqual())
      return failure();
    SMLoc valueLoc = places[index] = parser.getCurrentLocation();
    value = parseValue(parser, *field);
    if (!value)
      return failure();
    // Here rather than at the end, so that the message points at the value.
    return verifyNamedField([&] { return parser.emitError(valueLoc); },
                            recordName, *field, value, figureTextAt(valueLoc));
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater,
                                     parseOneField))
    return failure();
  bool isWhole = llvm::all_of(llvm::zip_equal(fields, values), [](auto pair) {
    return std::get<1>(pair) || std::get<0>(pair).optional;
  });
  if (!further || !isWhole) // what is missing is said when the record is made
    return success();
  auto emitAt = [&](size_t index) {
    InFlightDiagnostic diag = parser.emitError(places[index]);
    diag << recordName << '.' << fields[index].name << ": ";
    return diag;
  };
  return further({fields, values, emitAt,
                  [&](size_t index) { return figureTextAt(places[index]); }});
}

static void printValue(AsmPrinter &printer, const Field &field,
                       Attribute value) {
  switch (field.kind) {
  case Field::Kind::Figure:
    return cast<FigureAttr>(value).print(printer);
  case Field::Kind::Fact:
    return cast<FactAttr>(value).print(printer);
  case Field::Kind::Text:
    return printer.printString(cast<StringAttr>(value).getValue());
  case Field::Kind::Record:
    return printRecord(printer, cast<RecordAttrInterface>(value));
  case Field::Kind::List:
    printer << '[';
    llvm::interleaveComma(cast<ArrayAttr>(value), printer, [&](Attribute a) {
      printRecord(printer, cast<RecordAttrInterface>(a));
    });
    printer << ']';
    return;
  }
}

void target::printRecord(AsmPrinter &printer, RecordAttrInterface record) {
  printer << '<';
  printer.increaseIndent();
  bool first = true;
  for (auto [field, value] :
       llvm::zip_equal(record.getFields(), record.getValues())) {
    if (!value)
      continue;
    if (!first)
      printer << ',';
    first = false;
    printer.printNewline();
    printer << field.name << " = ";
    printValue(printer, field, value);
  }
  printer.decreaseIndent();
  printer << '>';
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

FailureOr<Attribute> target::queryRecord(RecordAttrInterface record,
                                         DataLayoutEntryKey key) {
  auto name = dyn_cast<StringAttr>(key);
  if (!name)
    return failure();
  for (auto [field, value] :
       llvm::zip_equal(record.getFields(), record.getValues()))
    if (value && field.name == name.getValue())
      return value;
  return failure();
}

static void visit(const Twine &path, Attribute value,
                  llvm::function_ref<void(const Entry &)> fn) {
  if (auto record = dyn_cast<RecordAttrInterface>(value)) {
    for (auto [field, inner] :
         llvm::zip_equal(record.getFields(), record.getValues()))
      if (inner)
        visit(path.isTriviallyEmpty() ? Twine(field.name)
                                      : path + "." + field.name,
              inner, fn);
    return;
  }
  if (auto list = dyn_cast<ArrayAttr>(value)) {
    for (auto [index, inner] : llvm::enumerate(list))
      visit(path + "." + Twine(index), inner, fn);
    return;
  }
  Entry entry;
  entry.path = path.str();
  if (auto figure = dyn_cast<FigureAttr>(value)) {
    entry.text = figure.getMagnitude().str();
    auto [number, unit] = StringRef(entry.text).split(' ');
    double parsed = 0;
    if (!number.getAsDouble(parsed))
      entry.value = parsed;
    entry.unit = unit.str();
    entry.basis = stringifyBasis(figure.getBasis()).str();
    entry.source = figure.getSource().str();
  } else if (auto fact = dyn_cast<FactAttr>(value)) {
    entry.text = fact.getWord().str();
    entry.basis = stringifyBasis(fact.getBasis()).str();
    entry.source = fact.getSource().str();
  } else {
    entry.text = cast<StringAttr>(value).str();
  }
  fn(entry);
}

void target::forEachEntry(RecordAttrInterface record,
                          llvm::function_ref<void(const Entry &)> fn) {
  visit(Twine(), record, fn);
}
