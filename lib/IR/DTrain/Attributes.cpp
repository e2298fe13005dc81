//===- Attributes.cpp - Mesh, placement, rule and op state ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/DTrain.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtrain;

#define GET_ATTRDEF_CLASSES
#include "dtrain/IR/DTrain/DTrainAttrs.cpp.inc"

void DTrainDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dtrain/IR/DTrain/DTrainAttrs.cpp.inc"
      >();
}

/// Reads one of the keywords.
static ParseResult parseOneOf(AsmParser &p, StringRef &keyword,
                              ArrayRef<StringRef> allowed) {
  if (succeeded(p.parseOptionalKeyword(&keyword, allowed)))
    return success();
  InFlightDiagnostic diag = p.emitError(p.getCurrentLocation()) << "expected ";
  llvm::interleave(
      allowed, [&](StringRef k) { diag << '\'' << k << '\''; },
      [&] { diag << " or "; });
  return diag;
}

/// Reads `[0, 7]` into `coords`.
static ParseResult parseCoords(AsmParser &p, SmallVectorImpl<int64_t> &coords) {
  return p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
    return p.parseInteger(coords.emplace_back());
  });
}

//===----------------------------------------------------------------------===//
// Mesh
//===----------------------------------------------------------------------===//

Attribute MeshAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  auto axis = [&]() -> ParseResult {
    std::string name;
    if (p.parseString(&name) || p.parseEqual() ||
        p.parseInteger(sizes.emplace_back()))
      return failure();
    names.push_back(StringAttr::get(p.getContext(), name));
    return success();
  };
  if (p.parseLess() ||
      p.parseCommaSeparatedList(AsmParser::Delimiter::Square, axis) ||
      p.parseGreater())
    return {};
  return getChecked([&] { return p.emitError(loc); }, p.getContext(), names,
                    sizes);
}

void MeshAttr::print(AsmPrinter &p) const {
  p << "<[";
  llvm::interleaveComma(llvm::zip(getNames(), getSizes()), p, [&](auto axis) {
    p << '"' << std::get<0>(axis).getValue() << "\" = " << std::get<1>(axis);
  });
  p << "]>";
}

LogicalResult MeshAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<StringAttr> names,
                               ArrayRef<int64_t> sizes) {
  int64_t devices = 1;
  for (auto [i, name] : llvm::enumerate(names)) {
    if (name.getValue().empty() ||
        llvm::is_contained(names.take_front(i), name)) // C1
      return emitError()
             << "mesh C1: axis names must be unique and not empty, found \""
             << name.getValue() << "\"";
    if (sizes[i] < 2) // C2
      return emitError() << "mesh C2: axis \"" << name.getValue()
                         << "\": expected a size of at least 2, found "
                         << sizes[i];
    if (sizes[i] > std::numeric_limits<int32_t>::max() / devices) // C3
      return emitError() << "mesh C3: the number of devices must fit 32 bits";
    devices *= sizes[i];
  }
  return success();
}

SmallVector<MeshAxis> MeshAttr::getAxes() const {
  SmallVector<MeshAxis> axes;
  for (auto [name, size] : llvm::zip(getNames(), getSizes()))
    axes.push_back({name.str(), size});
  return axes;
}

std::optional<unsigned> MeshAttr::find(StringRef name) const {
  for (auto [i, n] : llvm::enumerate(getNames()))
    if (n.getValue() == name)
      return i;
  return std::nullopt;
}

int64_t MeshAttr::getNumDevices() const {
  int64_t n = 1;
  for (int64_t size : getSizes())
    n *= size;
  return n;
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

/// Reads the digits of one dimension: `{4, "cp"}`.
static ParseResult parseDigits(AsmParser &p, MeshAttr mesh, unsigned dim,
                               SmallVectorImpl<PlacedDigit> &digits) {
  return p.parseCommaSeparatedList(
      AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        int64_t gap;
        OptionalParseResult isGap = p.parseOptionalInteger(gap);
        if (isGap.has_value()) {
          digits.push_back({dim, -1, gap});
          return *isGap;
        }
        SMLoc loc = p.getCurrentLocation();
        std::string name;
        if (p.parseString(&name))
          return failure();
        std::optional<unsigned> axis = mesh.find(name);
        if (!axis)
          return p.emitError(loc)
                 << "placement C1: axis \"" << name << "\" is not in the mesh";
        digits.push_back({dim, static_cast<int>(*axis), 0});
        return success();
      });
}

/// Reads `partial = {"tp" = sum, "pp" = sum on [0, 7]}` or
/// `pinned = {"pp" = [0]}` after the keyword.
static ParseResult parseAxes(AsmParser &p, MeshAttr mesh, bool partial,
                             SmallVectorImpl<PlacedAxis> &axes,
                             SmallVectorImpl<int64_t> &coords) {
  auto entry = [&]() -> ParseResult {
    SMLoc loc = p.getCurrentLocation();
    std::string name;
    if (p.parseString(&name) || p.parseEqual())
      return failure();
    std::optional<unsigned> axis = mesh.find(name);
    if (!axis)
      return p.emitError(loc)
             << "placement C1: axis \"" << name << "\" is not in the mesh";
    PlacedAxis place{*axis, partial, ReduceOp::Sum,
                     static_cast<unsigned>(coords.size()), 0};
    if (partial) {
      StringRef op;
      if (parseOneOf(p, op, {"sum", "max", "min"}))
        return failure();
      place.reduce = op == "sum"   ? ReduceOp::Sum
                     : op == "max" ? ReduceOp::Max
                                   : ReduceOp::Min;
      if (succeeded(p.parseOptionalKeyword("on")) && parseCoords(p, coords))
        return failure();
    } else if (parseCoords(p, coords)) {
      return failure();
    }
    place.count = coords.size() - place.first;
    axes.push_back(place);
    return success();
  };
  return failure(p.parseEqual() || p.parseCommaSeparatedList(
                                       AsmParser::Delimiter::Braces, entry));
}

Attribute PlacementAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  MeshAttr mesh;
  SmallVector<PlacedDigit> digits;
  SmallVector<PlacedAxis> axes;
  SmallVector<int64_t> coords;
  unsigned rank = 0;
  if (p.parseLess() || p.parseAttribute(mesh) || p.parseComma() ||
      p.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] {
        return parseDigits(p, mesh, rank++, digits);
      }))
    return {};
  while (succeeded(p.parseOptionalComma())) {
    StringRef keyword;
    if (parseOneOf(p, keyword, {"partial", "pinned"}) ||
        parseAxes(p, mesh, keyword == "partial", axes, coords))
      return {};
  }
  if (p.parseGreater())
    return {};
  // One spelling: axes by index, coordinates in the same order.
  SmallVector<PlacedAxis> sorted(axes);
  llvm::sort(sorted, [](auto &a, auto &b) { return a.axis < b.axis; });
  SmallVector<int64_t> sortedCoords;
  for (PlacedAxis &a : sorted) {
    unsigned first = sortedCoords.size();
    llvm::append_range(sortedCoords, ArrayRef(coords).slice(a.first, a.count));
    a.first = first;
  }
  return getChecked([&] { return p.emitError(loc); }, p.getContext(), mesh,
                    rank, digits, sorted, sortedCoords);
}

void PlacementAttr::print(AsmPrinter &p) const {
  p << "<" << getMesh() << ", [";
  auto quote = [&](unsigned axis) {
    p << '"' << getMesh().getNames()[axis].getValue() << '"';
  };
  for (unsigned dim = 0; dim < getRank(); ++dim) {
    p << (dim ? ", {" : "{");
    auto mine = llvm::make_filter_range(getDigits(),
                                        [&](auto d) { return d.dim == dim; });
    llvm::interleaveComma(mine, p, [&](PlacedDigit d) {
      if (d.axis < 0)
        p << d.gap;
      else
        quote(d.axis);
    });
    p << "}";
  }
  p << "]";
  for (bool partial : {true, false}) {
    auto mine = llvm::make_filter_range(
        getAxes(), [&](auto a) { return a.partial == partial; });
    if (mine.empty())
      continue;
    p << (partial ? ", partial = {" : ", pinned = {");
    llvm::interleaveComma(mine, p, [&](PlacedAxis a) {
      quote(a.axis);
      p << " = ";
      if (partial)
        p << stringifyReduceOp(a.reduce) << (a.count ? " on " : "");
      if (a.count || !partial) {
        p << '[';
        llvm::interleaveComma(getCoords().slice(a.first, a.count), p);
        p << ']';
      }
    });
    p << "}";
  }
  p << ">";
}

LogicalResult
PlacementAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                      MeshAttr mesh, unsigned rank,
                      ArrayRef<PlacedDigit> digits, ArrayRef<PlacedAxis> axes,
                      ArrayRef<int64_t> coords) {
  SmallVector<bool> seen(mesh.getNames().size());
  auto use = [&](unsigned axis) -> LogicalResult { // C1
    if (seen[axis])
      return emitError() << "placement C1: axis " << mesh.getNames()[axis]
                         << " has more than one state";
    seen[axis] = true;
    return success();
  };
  for (auto [i, d] : llvm::enumerate(digits)) {
    if (d.axis >= 0) {
      if (failed(use(d.axis)))
        return failure();
      continue;
    }
    bool last = i + 1 == digits.size() || digits[i + 1].dim != d.dim;
    if (d.gap < 2 || last || digits[i + 1].axis < 0) // C3
      return emitError()
             << "placement C3: dimension " << d.dim << ": a gap of " << d.gap
             << " is not canonical (at least 2, never adjacent, never last)";
  }
  for (const PlacedAxis &a : axes) {
    if (failed(use(a.axis)))
      return failure();
    ArrayRef<int64_t> on = coords.slice(a.first, a.count);
    int64_t size = mesh.getSizes()[a.axis];
    bool ascending = true;
    for (size_t i = 1; i < on.size(); ++i)
      ascending &= on[i - 1] < on[i];
    if ((!a.partial && on.empty()) || !ascending ||
        static_cast<int64_t>(on.size()) >= size ||
        (!on.empty() && (on.front() < 0 || on.back() >= size))) // C4
      return emitError() << "placement C4: axis " << mesh.getNames()[a.axis]
                         << ": expected ascending coordinates below " << size
                         << ", some but not all of them";
  }
  return success();
}

/// Sets the splits that the digits of all dimensions say.
static llvm::Error applyAllDigits(PlacementAttr placement,
                                  ArrayRef<MeshAxis> mesh,
                                  ArrayRef<int64_t> shape, TensorState &state) {
  for (unsigned dim = 0; dim < placement.getRank(); ++dim) {
    Digits mine;
    for (const PlacedDigit &d : placement.getDigits())
      if (d.dim == dim)
        mine.push_back({d.axis, d.gap});
    if (llvm::Error e = applyDigits(mesh, shape[dim], dim, mine, state))
      return e;
  }
  return llvm::Error::success();
}

LogicalResult PlacementAttr::verifyEncoding(
    ArrayRef<int64_t> shape, Type,
    function_ref<InFlightDiagnostic()> emitError) const {
  if (shape.size() != getRank()) // C2
    return emitError() << "placement C2: expected a tensor of rank "
                       << getRank() << ", found rank " << shape.size();
  if (ShapedType::isDynamicShape(shape)) // C5
    return emitError() << "placement C5: expected a static shape";
  SmallVector<MeshAxis> mesh = getMesh().getAxes();
  TensorState state(mesh.size());
  if (llvm::Error e = applyAllDigits(*this, mesh, shape, state))
    return emitError() << "placement C5: " << llvm::toString(std::move(e));
  if (llvm::Error e = verifyTensorState(mesh, shape, state))
    return emitError() << "placement C5: " << llvm::toString(std::move(e));
  return success();
}

PlacementAttr PlacementAttr::get(MeshAttr mesh, ArrayRef<int64_t> shape,
                                 const TensorState &state) {
  SmallVector<MeshAxis> meshAxes = mesh.getAxes();
  SmallVector<PlacedDigit> digits;
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    for (const Digit &d : digitsOf(meshAxes, shape, state, dim))
      digits.push_back({dim, d.axis, d.gap});
  SmallVector<PlacedAxis> axes;
  SmallVector<int64_t> coords;
  for (auto [i, s] : llvm::enumerate(state)) {
    if (s.kind != AxisState::Partial && s.kind != AxisState::Pinned)
      continue;
    axes.push_back({static_cast<unsigned>(i), s.kind == AxisState::Partial,
                    s.reduce, static_cast<unsigned>(coords.size()),
                    static_cast<unsigned>(s.on.size())});
    llvm::append_range(coords, s.on);
  }
  return get(mesh.getContext(), mesh, shape.size(), digits, axes, coords);
}

TensorState PlacementAttr::getState(ArrayRef<int64_t> shape) const {
  SmallVector<MeshAxis> mesh = getMesh().getAxes();
  TensorState state(mesh.size());
  llvm::cantFail(applyAllDigits(*this, mesh, shape, state));
  for (const PlacedAxis &a : getAxes()) {
    Coords on(getCoords().slice(a.first, a.count));
    state[a.axis] =
        a.partial ? AxisState::partial(a.reduce, on) : AxisState::pinned(on);
  }
  return state;
}

//===----------------------------------------------------------------------===//
// Rule
//===----------------------------------------------------------------------===//

Attribute RuleAttr::parse(AsmParser &p, Type) {
  std::string text;
  if (p.parseLess())
    return {};
  SMLoc loc = p.getCurrentLocation();
  if (p.parseString(&text) || p.parseGreater())
    return {};
  llvm::Expected<Rule> rule = Rule::parse(text);
  if (!rule) {
    p.emitError(loc) << "rule: " << llvm::toString(rule.takeError());
    return {};
  }
  return get(p.getContext(), *rule);
}

void RuleAttr::print(AsmPrinter &p) const {
  p << "<\"" << getValue().str() << "\">";
}

//===----------------------------------------------------------------------===//
// Op state
//===----------------------------------------------------------------------===//

Attribute OpStateAttr::parse(AsmParser &p, Type) {
  SMLoc loc = p.getCurrentLocation();
  SmallVector<PlacedOpAxis> axes;
  SmallVector<int64_t> coords;
  auto entry = [&]() -> ParseResult {
    std::string axis, factor;
    StringRef kind;
    PlacedOpAxis a{};
    a.first = coords.size();
    if (p.parseString(&axis) || p.parseEqual() ||
        parseOneOf(p, kind, {"factor", "linear", "pinned"}) || p.parseLParen())
      return failure();
    a.axis = StringAttr::get(p.getContext(), axis);
    if (kind == "factor") {
      a.kind = OpAxisState::Factor;
      if (p.parseString(&factor) || p.parseComma() || p.parseInteger(a.stride))
        return failure();
      a.factor = StringAttr::get(p.getContext(), factor);
    } else if (kind == "linear") {
      a.kind = OpAxisState::Linear;
      if (p.parseInteger(a.group) ||
          (succeeded(p.parseOptionalKeyword("on")) && parseCoords(p, coords)))
        return failure();
    } else {
      a.kind = OpAxisState::Pinned;
      if (parseCoords(p, coords))
        return failure();
    }
    a.count = coords.size() - a.first;
    if (p.parseRParen() ||
        (succeeded(p.parseOptionalKeyword("level")) && p.parseInteger(a.level)))
      return failure();
    a.visible = a.level;
    if (succeeded(p.parseOptionalKeyword("visible")) &&
        p.parseInteger(a.visible))
      return failure();
    axes.push_back(a);
    return success();
  };
  if (p.parseLess() ||
      p.parseCommaSeparatedList(AsmParser::Delimiter::Braces, entry) ||
      p.parseGreater())
    return {};
  return getChecked([&] { return p.emitError(loc); }, p.getContext(), axes,
                    coords);
}

void OpStateAttr::print(AsmPrinter &p) const {
  p << "<{";
  llvm::interleaveComma(getAxes(), p, [&](const PlacedOpAxis &a) {
    auto list = [&] {
      p << '[';
      llvm::interleaveComma(getCoords().slice(a.first, a.count), p);
      p << ']';
    };
    p << '"' << a.axis.getValue() << "\" = ";
    if (a.kind == OpAxisState::Factor) {
      p << "factor(\"" << a.factor.getValue() << "\", " << a.stride;
    } else if (a.kind == OpAxisState::Linear) {
      p << "linear(" << a.group;
      if (a.count) {
        p << " on ";
        list();
      }
    } else {
      p << "pinned(";
      list();
    }
    p << ")";
    if (a.level != 0)
      p << " level " << a.level;
    if (a.visible != a.level)
      p << " visible " << a.visible;
  });
  p << "}>";
}

LogicalResult OpStateAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  ArrayRef<PlacedOpAxis> axes,
                                  ArrayRef<int64_t>) {
  for (auto [i, a] : llvm::enumerate(axes)) {
    if (llvm::any_of(axes.take_front(i), [&, name = a.axis](const auto &o) {
          return o.axis == name;
        })) // C1
      return emitError() << "op state C1: axis " << a.axis
                         << " has more than one state";
    if (a.visible < a.level) // C2
      return emitError() << "op state C2: axis " << a.axis
                         << ": expected a visible level of at least " << a.level
                         << ", found " << a.visible;
  }
  return success();
}

OpStateAttr OpStateAttr::get(MeshAttr mesh, const Rule &rule,
                             ArrayRef<OpIntent> intents) {
  MLIRContext *ctx = mesh.getContext();
  SmallVector<PlacedOpAxis> axes;
  SmallVector<int64_t> coords;
  for (const OpIntent &intent : intents) {
    const OpAxisState &s = intent.state;
    if (s.kind == OpAxisState::Replicated)
      continue;
    StringAttr factor;
    if (s.kind == OpAxisState::Factor)
      factor = StringAttr::get(ctx, rule.factors[s.factor].name);
    axes.push_back({mesh.getNames()[intent.axis], s.kind, factor, s.stride,
                    s.group, static_cast<unsigned>(coords.size()),
                    static_cast<unsigned>(s.on.size()), intent.level,
                    intent.visible});
    llvm::append_range(coords, s.on);
  }
  return get(ctx, axes, coords);
}

OpStateAttr OpStateAttr::get(MeshAttr mesh, const Rule &rule,
                             const dtrain::OpState &state) {
  SmallVector<OpIntent> intents;
  for (auto [axis, s] : llvm::enumerate(state))
    intents.push_back({static_cast<unsigned>(axis), s});
  return get(mesh, rule, intents);
}

/// A linear state names one of the rule's groups; coordinates ascend on their
/// axis; strides are positive.
static llvm::Error checkEntry(const PlacedOpAxis &a, ArrayRef<int64_t> on,
                              int64_t size, const Rule &rule) {
  auto fail = [&](const Twine &what) {
    return llvm::createStringError("op state: axis \"" + a.axis.getValue() +
                                   "\": " + what);
  };
  for (auto [i, coordinate] : llvm::enumerate(on))
    if (coordinate < 0 || coordinate >= size ||
        (i > 0 && on[i - 1] >= coordinate))
      return fail("expected ascending coordinates below " + Twine(size));
  switch (a.kind) {
  case OpAxisState::Linear:
    if (a.group >= rule.linearGroups().size())
      return fail("the rule '" + rule.str() + "' has no linear group " +
                  Twine(a.group));
    break;
  case OpAxisState::Pinned:
    if (on.empty())
      return fail("expected a coordinate");
    break;
  default:
    if (a.stride < 1)
      return fail("expected a positive stride, found " + Twine(a.stride));
  }
  return llvm::Error::success();
}

llvm::Expected<SmallVector<OpIntent>>
OpStateAttr::getIntents(MeshAttr mesh, const Rule &rule) const {
  SmallVector<OpIntent> intents;
  for (const PlacedOpAxis &a : getAxes()) {
    std::optional<unsigned> axis = mesh.find(a.axis);
    if (!axis)
      return llvm::createStringError("op state: axis \"%s\" is not in the mesh",
                                     a.axis.str().c_str());
    Coords on(getCoords().slice(a.first, a.count));
    if (llvm::Error e = checkEntry(a, on, mesh.getSizes()[*axis], rule))
      return e;
    OpAxisState s;
    if (a.kind == OpAxisState::Linear) {
      s = OpAxisState::linear(a.group, on);
    } else if (a.kind == OpAxisState::Pinned) {
      s = OpAxisState::pinned(on);
    } else if (std::optional<FactorId> f = rule.find(a.factor)) {
      s = OpAxisState::split(*f, a.stride);
    } else {
      return llvm::createStringError(
          "op state: the rule '%s' has no factor \"%s\"", rule.str().c_str(),
          a.factor.str().c_str());
    }
    intents.push_back({*axis, s, a.level, a.visible});
  }
  return intents;
}

llvm::Expected<dtrain::OpState> OpStateAttr::getState(MeshAttr mesh,
                                                      const Rule &rule) const {
  auto intents = getIntents(mesh, rule);
  if (!intents)
    return intents.takeError();
  dtrain::OpState state(mesh.getNames().size());
  for (const OpIntent &intent : *intents)
    state[intent.axis] = intent.state;
  return state;
}
