//===- Program.cpp - A step's parts and what its values are ---------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtrain/IR/DTrain/Questions.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::conversion;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Coords Program::holders(Type type) const {
  if (!pipeline)
    return {};
  return stateOf(cast<RankedTensorType>(type), mesh)[*pipeline].on;
}

bool Program::holds(Type type, int64_t stage) const {
  Coords on = holders(type);
  return on.empty() || llvm::is_contained(on, stage);
}

int64_t Program::numHolders(Operation *op) const {
  // Types inside a layer never mention the pipeline.
  func::FuncOp parent = op->getParentOfType<func::FuncOp>();
  if (!pipeline || (parent != main && parent != microbatch))
    return 1;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  const AxisState state = stateOf(type, mesh)[*pipeline];
  return state.kind == AxisState::Split ? 1 : state.numHolders(numStages());
}

FailureOr<Program> conversion::takeApart(ModuleOp module,
                                         StringRef pipelineAxis) {
  Program program;
  std::optional<Phase> phase = phaseOf(module);
  if (phase != Phase::communicate) {
    InFlightDiagnostic diag =
        module.emitError("expected a module of phase communicate, found ");
    if (phase)
      return diag << stringifyPhase(*phase);
    return diag << "none";
  }
  program.mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
  if (!program.mesh)
    return module.emitError("expected the attribute ") << kMeshAttr;
  program.pipeline = program.mesh.find(pipelineAxis);
  program.main = module.lookupSymbol<func::FuncOp>("main");
  if (!program.main || program.main.isExternal())
    return module.emitError("expected a function @main with a body");
  for (auto repeat : program.main.getBody().front().getOps<RepeatOp>()) {
    if (program.loop)
      return repeat.emitOpError("expected one repeat in @main, that over the "
                                "micro-batches");
    program.loop = repeat;
  }
  if (!program.loop)
    return program.main.emitError(
        "expected a repeat over the micro-batches in @main, found none");
  program.microbatch = program.loop.getBody();
  return program;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

bool conversion::isFree(Operation *op) {
  if (isa<comm::RelabelOp, func::ReturnOp>(op))
    return true;
  return isOfClass(op, OpClass::Move);
}

Value conversion::storageOf(Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    bool inPlace = isFree(op) || isa<comm::AllReduceOp>(op);
    if (!inPlace || op->getNumOperands() != 1 ||
        localBytes(op->getOperand(0).getType()) < localBytes(value.getType()))
      return value;
    value = op->getOperand(0);
  }
  return value;
}

SmallVector<Operation *> conversion::opsOfTrip(RepeatOp repeat) {
  return llvm::map_to_vector(repeat.getBody().front(),
                             [](Operation &op) { return &op; });
}

/// The ops of a body that `values` follow from.
static DenseSet<Operation *> opsBehind(Block &body, ArrayRef<Value> values) {
  DenseSet<Operation *> ops;
  DenseSet<Value> read(values.begin(), values.end());
  for (Operation &op : llvm::reverse(body))
    if (llvm::any_of(op.getResults(),
                     [&](Value v) { return read.contains(v); })) {
      ops.insert(&op);
      read.insert(op.operand_begin(), op.operand_end());
    }
  return ops;
}

SmallVector<Operation *> conversion::opsOfLastTrip(RepeatOp repeat) {
  SmallVector<Operation *> ops = opsOfTrip(repeat);
  SmallVector<Value> unread, read;
  for (auto [i, v] : llvm::enumerate(ops.back()->getOperands())) {
    bool isUnread =
        i < repeat.getCarry().size() && repeat.getResult(i).use_empty();
    (isUnread ? unread : read).push_back(v);
  }
  if (unread.empty())
    return ops;
  // Ops that nothing reads in any trip stay: full recomputation has some.
  Block &body = repeat.getBody().front();
  DenseSet<Operation *> needless = opsBehind(body, unread),
                        needed = opsBehind(body, read);
  llvm::erase_if(ops, [&](Operation *op) {
    return needless.contains(op) && !needed.contains(op);
  });
  return ops;
}

//===----------------------------------------------------------------------===//
// Running sums
//===----------------------------------------------------------------------===//

Accumulations::Accumulations(ModuleOp module, Program &program) {
  visit(program.loop);
  module.walk([&](RepeatOp repeat) {
    if (repeat != program.loop)
      visit(repeat);
  });
}

void Accumulations::visit(RepeatOp repeat) {
  func::FuncOp body = repeat.getBody();
  if (!body || body.isExternal())
    return;
  Operation *ret = body.front().getTerminator();
  for (unsigned returned = 0; returned < repeat.getNumResults(); ++returned) {
    std::optional<unsigned> argument = repeat.getTiedOperand(returned);
    if (!argument)
      break;
    Value sum = body.getArgument(*argument);
    // A value that is also read is carried on for its own sake: the gradient of
    // a residual stream looks like a running sum otherwise.
    if (!sum.hasOneUse())
      continue;
    Operation *user = *sum.getUsers().begin();
    if (addsUp(user) && user->getResult(0) == ret->getOperand(returned))
      ops.insert(user);
  }
}

bool Accumulations::isGradientOnly(Value value) const {
  return !value.use_empty() &&
         llvm::all_of(value.getUsers(), [&](Operation *user) {
           if (ops.contains(user))
             return true;
           bool passes = isFree(user) || isa<CommOpInterface>(user) ||
                         isConversion(user) || addsUp(user);
           return passes && user->getNumResults() == 1 &&
                  isGradientOnly(user->getResult(0));
         });
}
