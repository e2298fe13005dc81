//===- Target.cpp - The target dialect
//--------------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Target/Target.h"
#include "Record.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace dtrain;
using namespace dtrain::target;
using namespace mlir;

#include "dtrain/IR/Target/TargetDialect.cpp.inc"
#include "dtrain/IR/Target/TargetInterfaces.cpp.inc"

//===----------------------------------------------------------------------===//
// Constraints of single records
//===----------------------------------------------------------------------===//

/// The figure named `name`, in base units; the record has been checked.
static double figureOf(ArrayRef<Field> fields, ArrayRef<Attribute> values,
                       StringRef name) {
  for (auto [field, value] : llvm::zip_equal(fields, values))
    if (field.name == name)
      return cast<FigureAttr>(value).getMagnitude().value;
  llvm_unreachable("a field not in the table");
}

static LogicalResult verifyPeaks(EmitError emitError, ArrayRef<Field> fields,
                                 ArrayRef<Attribute> values) {
  // target.peaks C5
  if (llvm::all_of(values, [](Attribute value) { return !value; }))
    return emitError() << "expected at least one peak, found none";
  return success();
}

static LogicalResult verifyAttention(EmitError emitError,
                                     ArrayRef<Field> fields,
                                     ArrayRef<Attribute> values) {
  double last = 0;
  auto heads = cast<ArrayAttr>(values.back());
  for (auto head : heads.getAsRange<NarrowHeadAttr>()) {
    double below = figureOf(head.getFields(), head.getValues(), "below");
    // target.attention C5
    if (below <= last)
      return emitError() << "expected narrow heads in ascending order, found "
                         << printDouble(below) << " after "
                         << printDouble(last);
    last = below;
  }
  return success();
}

static LogicalResult verifyChip(EmitError emitError, ArrayRef<Field> fields,
                                ArrayRef<Attribute> values) {
  double idle = figureOf(fields, values, "idle_power");
  double max = figureOf(fields, values, "max_power");
  // target.chip C5
  if (idle > max)
    return emitError() << "expected an idle power of at most the maximum of "
                       << Power::fromBase(max).str() << ", found "
                       << Power::fromBase(idle).str();
  return success();
}

static LogicalResult verifyStack(EmitError emitError, ArrayRef<Field> fields,
                                 ArrayRef<Attribute> values) {
  double element = figureOf(fields, values, "gradient_element");
  // target.stack C5
  if (element != 2 && element != 4)
    return emitError() << "expected a gradient element of 2 or 4 bytes, found "
                       << Bytes::fromBase(element).str();
  return success();
}

//===----------------------------------------------------------------------===//
// Conversion to the cost model's structs
//===----------------------------------------------------------------------===//

template <typename Q>
static void assignFigure(Sourced<Q> &out, Attribute value) {
  auto figure = cast<FigureAttr>(value);
  out = {Q::fromBase(figure.getMagnitude().value), figure.getBasis(),
         figure.getSource().str()};
}

static void assignFact(Sourced<bool> &out, Attribute value) {
  auto fact = cast<FactAttr>(value);
  out = {fact.getWord() == "yes", fact.getBasis(), fact.getSource().str()};
}

static void assignFact(Sourced<AttentionKernel> &out, Attribute value) {
  auto fact = cast<FactAttr>(value);
  std::optional<AttentionKernel> kernel = parseAttentionKernel(fact.getWord());
  assert(kernel && "the field's words are the kernels' names");
  out = {*kernel, fact.getBasis(), fact.getSource().str()};
}

static void assignPeak(StringRef name, SmallVectorImpl<PeakRate> &out,
                       Attribute value) {
  if (!value)
    return;
  std::optional<Precision> precision = parsePrecision(name);
  assert(precision && "the field's name is the precision's");
  PeakRate &peak = out.emplace_back();
  peak.precision = *precision;
  cast<PeakAttr>(value).assignTo(peak);
}

#define GET_ATTRDEF_CLASSES
#include "dtrain/IR/Target/TargetAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "dtrain/IR/Target/TargetOps.cpp.inc"

Machine dtrain::toModel(MachineAttr description, StringRef name) {
  Machine machine;
  description.assignTo(machine);
  machine.name = name.str();
  return machine;
}

Stack dtrain::toModel(StackAttr description, StringRef name) {
  Stack stack;
  description.assignTo(stack);
  stack.name = name.str();
  return stack;
}

//===----------------------------------------------------------------------===//
// The dialect
//===----------------------------------------------------------------------===//

void TargetDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dtrain/IR/Target/TargetAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dtrain/IR/Target/TargetOps.cpp.inc"
      >();
}
