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

static LogicalResult verifyPeaks(const RecordCheck &record) {
  // target.peaks C5
  if (llvm::all_of(record.values, [](Attribute value) { return !value; }))
    return record.emitAtField(0) << "expected at least one peak, found none";
  return success();
}

static double figureOf(RecordAttrInterface record, StringRef name) {
  RecordCheck check{record.getFields(), record.getValues(), nullptr, nullptr};
  return check.figureOf(name);
}

static LogicalResult verifyAttention(const RecordCheck &record) {
  double last = 0;
  auto heads = cast<ArrayAttr>(record.valueOf("narrow_heads"));
  for (auto head : heads.getAsRange<RecordAttrInterface>()) {
    double below = figureOf(head, "below");
    // target.attention C5
    if (below <= last)
      return record.emit("narrow_heads")
             << "expected narrow heads in ascending order, found "
             << printDouble(below) << " after " << printDouble(last);
    last = below;
  }
  double efficiency = record.figureOf("efficiency");
  double backward = record.figureOf("backward_efficiency");
  // target.attention C6
  if (efficiency * backward > 1)
    return record.emit("backward_efficiency")
           << "expected an efficiency of backward up to 1, found "
           << record.givenOf("backward_efficiency") << " times the forward's "
           << record.givenOf("efficiency");
  return success();
}

static LogicalResult verifyChip(const RecordCheck &record) {
  // target.chip C5
  if (record.figureOf("idle_power") > record.figureOf("max_power"))
    return record.emit("idle_power")
           << "expected at most the maximum power of "
           << record.givenOf("max_power") << ", found "
           << record.givenOf("idle_power");
  double efficiency =
      figureOf(cast<RecordAttrInterface>(record.valueOf("contraction")),
               "compute_efficiency");
  auto peaks = cast<RecordAttrInterface>(record.valueOf("peaks"));
  for (auto [field, value] :
       llvm::zip_equal(peaks.getFields(), peaks.getValues())) {
    if (!value)
      continue;
    double own = figureOf(cast<RecordAttrInterface>(value), "efficiency");
    // target.chip C6
    if (own * efficiency > 1)
      return record.emit("peaks")
             << "expected an efficiency of contractions in " << field.name
             << " up to 1, found " << printDouble(own)
             << " times the compute efficiency of " << printDouble(efficiency);
  }
  return success();
}

static LogicalResult verifyStack(const RecordCheck &record) {
  double element = record.figureOf("gradient_element");
  // target.stack C5
  if (element != 2 && element != 4)
    return record.emit("gradient_element")
           << "expected a gradient element of 2 or 4 bytes, found "
           << record.givenOf("gradient_element");
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
