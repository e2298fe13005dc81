//===- Dialect.cpp - Registration and discardable attributes --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/DTrain/DTrain.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace dtrain;

#include "dtrain/IR/DTrain/DTrainDialect.cpp.inc"
#include "dtrain/IR/DTrain/DTrainEnums.cpp.inc"
#include "dtrain/IR/DTrain/DTrainInterfaces.cpp.inc"

namespace {
/// Every op may be inlined: they are pure.
struct DTrainInliner : public DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool,
                       IRMapping &) const override {
    return true;
  }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override {
    return true;
  }
};
} // namespace

void DTrainDialect::initialize() {
  registerAttributes();
  registerOps();
  addInterfaces<DTrainInliner>();
}

std::optional<Phase> dtrain::phaseOf(ModuleOp module) {
  if (auto phase = module->getAttrOfType<PhaseAttr>(kPhaseAttr))
    return phase.getValue();
  return std::nullopt;
}

void dtrain::setPhase(ModuleOp module, Phase phase) {
  module->setAttr(kPhaseAttr, PhaseAttr::get(module.getContext(), phase));
}

std::optional<Role> dtrain::roleOf(func::FuncOp func, unsigned argument) {
  if (auto role = func.getArgAttrOfType<RoleAttr>(argument, kRoleAttr))
    return role.getValue();
  return std::nullopt;
}

LogicalResult DTrainDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                      unsigned argument,
                                                      NamedAttribute attr) {
  if (attr.getName() == kRoleAttr && isa<RoleAttr>(attr.getValue()))
    return success();
  if (attr.getName() == kNameAttr && isa<StringAttr>(attr.getValue()))
    return success();
  return op->emitError("argument #")
         << argument << ": expected " << kRoleAttr << " = #dtrain.role<…> or "
         << kNameAttr << " = \"…\", found " << attr.getName() << " = "
         << attr.getValue();
}

LogicalResult DTrainDialect::verifyRegionResultAttribute(Operation *op,
                                                         unsigned,
                                                         unsigned result,
                                                         NamedAttribute attr) {
  auto func = dyn_cast<func::FuncOp>(op);
  auto index = dyn_cast<IntegerAttr>(attr.getValue());
  if (!func || attr.getName() != kUpdatesAttr || !index)
    return op->emitError("result #")
           << result << ": expected " << kUpdatesAttr
           << " = <argument index>, found " << attr.getName();
  int64_t argument = index.getInt();
  if (argument < 0 ||
      argument >= static_cast<int64_t>(func.getNumArguments()) ||
      !sameTensor(func.getArgumentTypes()[argument],
                  func.getResultTypes()[result]))
    return op->emitError("result #")
           << result << ": " << kUpdatesAttr << " = " << argument
           << " does not name an argument of the result's type";
  return success();
}

LogicalResult DTrainDialect::verifyOperationAttribute(Operation *op,
                                                      NamedAttribute attr) {
  if (attr.getName() == kPhaseAttr && isa<ModuleOp>(op) &&
      isa<PhaseAttr>(attr.getValue()))
    return success();
  if (attr.getName() == kMeshAttr && isa<ModuleOp>(op) &&
      isa<MeshAttr>(attr.getValue()))
    return success();
  return op->emitError("unknown attribute ")
         << attr.getName() << " of the dtrain dialect here";
}
