//===- Programs.cpp - Small training steps to run -------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "dtrain/Tools/Registration.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace dtrain;

OwningOpRef<ModuleOp> dtrain::readProgram(MLIRContext &context,
                                          StringRef name) {
  context.loadDialect<DTrainDialect, func::FuncDialect>();
  return parseSourceFile<ModuleOp>(
      (DTRAIN_TEST_PROGRAMS "/" + name + ".mlir").str(), &context);
}

LogicalResult dtrain::runPasses(ModuleOp module, StringRef pipeline) {
  [[maybe_unused]] static const bool registered = [] {
    registerAllPasses();
    return true;
  }();
  PassManager pm(module.getContext());
  if (failed(parsePassPipeline(pipeline, pm)))
    return failure();
  return pm.run(module);
}

func::FuncOp dtrain::mainOf(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("main");
}

void dtrain::unrollLayers(ModuleOp module) {
  func::FuncOp main = mainOf(module);
  RepeatOp repeat = *main.getOps<RepeatOp>().begin();
  Block &body = repeat.getBody().front();
  unsigned carries = repeat.getCarry().size(),
           stacked = repeat.getStacked().size();
  OpBuilder b(repeat);
  SmallVector<Value> carry(repeat.getCarry());
  for (int64_t layer = 0, layers = repeat.getTo(); layer < layers; ++layer) {
    IRMapping map;
    for (auto [i, argument] : llvm::enumerate(body.getArguments())) {
      Value outside = repeat.getOperand(i);
      if (i < carries) {
        map.map(argument, carry[i]);
      } else if (i < carries + stacked) {
        // The layer's own parameter goes before its stacked one, which is
        // erased below.
        unsigned at = cast<BlockArgument>(outside).getArgNumber();
        auto name = main.getArgAttrOfType<StringAttr>(at, kNameAttr);
        DictionaryAttr attrs = b.getDictionaryAttr(
            {b.getNamedAttr(kRoleAttr, main.getArgAttr(at, kRoleAttr)),
             b.getNamedAttr(kNameAttr, b.getStringAttr(name.getValue() + "." +
                                                       Twine(layer)))});
        (void)main.insertArgument(at, argument.getType(), attrs, main.getLoc());
        map.map(argument, main.getArgument(at));
      } else {
        map.map(argument, outside);
      }
    }
    for (Operation &op : body.without_terminator())
      b.clone(op, map);
    for (auto [slot, value] :
         llvm::zip(carry, body.getTerminator()->getOperands()))
      slot = map.lookup(value);
  }
  func::FuncOp callee = repeat.getBody();
  SmallVector<unsigned> old;
  for (Value v : repeat.getStacked())
    old.push_back(cast<BlockArgument>(v).getArgNumber());
  repeat.getResults().take_front(carries).replaceAllUsesWith(carry);
  repeat.erase();
  llvm::sort(old, std::greater<>());
  for (unsigned at : old)
    (void)main.eraseArgument(at);
  callee.erase();
}
