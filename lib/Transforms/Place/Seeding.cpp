//===- Seeding.cpp - What the seed passes share ---------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Seeding.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dtrain;

FailureOr<MeshAttr> dtrain::meshOf(ModuleOp module, StringRef option) {
  MLIRContext *ctx = module.getContext();
  auto present = module->getAttrOfType<MeshAttr>(kMeshAttr);
  if (option.empty()) {
    if (present)
      return present;
    return module.emitError(
        "no mesh: expected the option mesh=\"pp=2,dp=4,tp=8\" or the attribute "
        "dtrain.mesh");
  }
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (StringRef part : llvm::split(option, ',')) {
    auto [name, number] = part.split('=');
    int64_t size;
    if (name.trim().empty() || number.trim().getAsInteger(10, size) || size < 1)
      return module.emitError("mesh: expected <axis>=<positive size>, found '")
             << part << "'";
    if (size == 1)
      continue;
    names.push_back(StringAttr::get(ctx, name.trim()));
    sizes.push_back(size);
  }
  if (failed(
          MeshAttr::verify([&] { return module.emitError(); }, names, sizes)))
    return failure();
  MeshAttr mesh = MeshAttr::get(ctx, names, sizes);
  if (present && present != mesh)
    return module.emitError("mesh: expected ")
           << present << " of the module, found " << mesh;
  module->setAttr(kMeshAttr, mesh);
  return mesh;
}

FailureOr<std::optional<SeedAxis>>
dtrain::seedAxisOf(ModuleOp module, StringRef option, StringRef axis) {
  FailureOr<MeshAttr> mesh = meshOf(module, option);
  if (failed(mesh))
    return failure();
  std::optional<unsigned> index = mesh->find(axis);
  if (!index)
    return std::optional<SeedAxis>();
  return std::optional<SeedAxis>(SeedAxis{*mesh, *index});
}

FailureOr<func::FuncOp> dtrain::microbatchOf(ModuleOp module) {
  auto func = module.lookupSymbol<func::FuncOp>("microbatch");
  if (!func || func.isExternal())
    return module.emitError(
        "expected a training step with a function @microbatch (phase train)");
  return func;
}

void dtrain::addState(RuleOpInterface op, const SeedAxis &axis,
                      const OpAxisState &state, int64_t level) {
  Rule rule = llvm::cantFail(bindRule(op)).rule;
  auto mine = OpStateAttr::get(axis.mesh, rule,
                               OpIntent{axis.index, state, level, level});
  OpStateAttr present = op.getStateAttr();
  if (!present) {
    op.setStateAttr(mine);
    return;
  }
  // Entries are kept as they are written: what is wrong with one of them is
  // reported by propagation.
  SmallVector<PlacedOpAxis> axes(present.getAxes());
  SmallVector<int64_t> coords(present.getCoords());
  for (PlacedOpAxis a : mine.getAxes()) {
    if (llvm::any_of(axes, [&](auto &o) { return o.axis == a.axis; }))
      continue;
    a.first = coords.size();
    axes.push_back(a);
    llvm::append_range(coords, mine.getCoords());
  }
  llvm::sort(axes, [&](const PlacedOpAxis &a, const PlacedOpAxis &b) {
    unsigned last = axis.mesh.getNames().size();
    return axis.mesh.find(a.axis).value_or(last) <
           axis.mesh.find(b.axis).value_or(last);
  });
  op.setStateAttr(OpStateAttr::get(op.getContext(), axes, coords));
}

int64_t dtrain::nearestDivisor(int64_t extent, int64_t degree) {
  for (int64_t d = 0; d < std::max(extent, degree); ++d)
    for (int64_t candidate : {degree - d, degree + d})
      if (candidate >= 1 && candidate <= extent && extent % candidate == 0)
        return candidate;
  return 1;
}

LogicalResult dtrain::checkDivides(Operation *op, StringRef what,
                                   int64_t extent, const SeedAxis &axis) {
  if (extent % axis.size() == 0)
    return success();
  return op->emitError() << extent << ' ' << what << " are not divisible by "
                         << axis.name() << " = " << axis.size()
                         << "; the nearest feasible degree is "
                         << nearestDivisor(extent, axis.size());
}
