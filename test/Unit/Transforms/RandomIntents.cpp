//===- RandomIntents.cpp - Strategies that nobody would choose ------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RandomIntents.h"
#include "dtrain/Interpreter/RuleCheck.h"

using namespace mlir;
using namespace dtrain;

namespace {
struct Intents {
  MeshAttr mesh;
  std::mt19937_64 &random;

  int64_t below(int64_t n) { return static_cast<int64_t>(random() % n); }
  int64_t level() { return below(4) - 1; }

  void addState(RuleOpInterface op) {
    BoundRule rule = op.getBoundRule();
    dtrain::OpState state = randomOpState(mesh.getAxes(), rule, random);
    SmallVector<OpIntent> intents;
    for (auto [axis, s] : llvm::enumerate(state)) {
      int64_t from = level(), seen = from + (below(3) == 0 ? 2 : 0);
      intents.push_back({static_cast<unsigned>(axis), s, from, seen});
    }
    op.setStateAttr(OpStateAttr::get(mesh, rule.rule, intents));
  }

  void addSeed(Value value) {
    int64_t rank = tensorType(value).getRank();
    if (rank == 0)
      return;
    OpBuilder b(value.getContext());
    b.setInsertionPointAfterValue(value);
    SeedOp::create(b, value.getLoc(), value,
                   mesh.getNames()[below(mesh.getNames().size())].getValue(),
                   below(rank), level(), "test");
  }
};
} // namespace

void dtrain::test::addRandomIntents(ModuleOp module, ArrayRef<MeshAxis> axes,
                                    std::mt19937_64 &random) {
  SmallVector<StringAttr> names;
  SmallVector<int64_t> sizes;
  for (const MeshAxis &axis : axes) {
    names.push_back(StringAttr::get(module.getContext(), axis.name));
    sizes.push_back(axis.size);
  }
  Intents intents{MeshAttr::get(module.getContext(), names, sizes), random};
  module->setAttr(kMeshAttr, intents.mesh);
  SmallVector<RuleOpInterface> ops;
  for (auto func : module.getOps<func::FuncOp>())
    if (func.getSymName() != "main")
      func.walk([&](RuleOpInterface op) { ops.push_back(op); });
  for (RuleOpInterface op : ops) {
    if (intents.below(8) == 0)
      intents.addState(op);
    if (intents.below(8) == 0)
      intents.addSeed(op->getResult(0));
  }
}
