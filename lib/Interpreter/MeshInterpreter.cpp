//===- MeshInterpreter.cpp - A placed program on its mesh -----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Interpreter/MeshInterpreter.h"
#include "dtrain/Interpreter/Interpreter.h"
#include "dtrain/Interpreter/Kernel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dtrain;

//===----------------------------------------------------------------------===//
// One op
//===----------------------------------------------------------------------===//

/// Whether a device takes part in an op: a pinned or linear axis may leave it
/// out.
static bool takesPart(const dtrain::OpState &state, ArrayRef<int64_t> device) {
  return llvm::all_of(llvm::zip_equal(state, device), [](auto pair) {
    auto [axis, c] = pair;
    return axis.on.empty() || llvm::is_contained(axis.on, c);
  });
}

/// The op's iteration space as a tensor: its dimensions are the factors.
static TensorState iterationState(const dtrain::OpState &state) {
  return llvm::map_to_vector<4>(state, [](const OpAxisState &axis) {
    return axis.kind == OpAxisState::Factor
               ? AxisState::split(axis.factor, axis.stride)
               : AxisState::replicated();
  });
}

llvm::Expected<std::vector<DistributedTensor>>
dtrain::runOnMesh(const VirtualMesh &mesh, Operation *op,
                  const BoundRule &bound, const dtrain::OpState &state,
                  ArrayRef<const DistributedTensor *> operands) {
  std::vector<DistributedTensor> results(bound.rule.results.size());
  for (auto [j, result] : llvm::enumerate(results)) {
    result.shape = bound.resultShape(j);
    for (auto [axis, s] : llvm::zip_equal(mesh.getAxes(), state))
      result.state.push_back(gives(bound, j, s).canonical(axis.size));
    result.blocks.resize(mesh.numDevices());
  }
  TensorState iteration = iterationState(state);
  for (int64_t d = 0; d < mesh.numDevices(); ++d) {
    if (!mesh.isActive(d) || !takesPart(state, mesh.coordinatesOf(d)))
      continue;
    SmallVector<const Tensor *> blocks;
    for (auto [i, operand] : llvm::enumerate(operands)) {
      if (!operand->blocks[d])
        return llvm::createStringError("device #" + llvm::Twine(d) +
                                       " does not hold operand #" +
                                       llvm::Twine(i));
      blocks.push_back(&*operand->blocks[d]);
    }
    IndexSets index = indicesOf(mesh, bound.sizes, iteration, d);
    llvm::Expected<SmallVector<Tensor>> local =
        runKernel({op, bound, index, blocks});
    if (!local)
      return local.takeError();
    for (auto [result, block] : llvm::zip_equal(results, *local))
      result.blocks[d] = std::move(block);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// A function
//===----------------------------------------------------------------------===//

namespace {

using Results = FailureOr<std::vector<DistributedTensor>>;
using Operands = SmallVector<const DistributedTensor *>;

/// What a run shares.
class MeshInterpreter {
public:
  MeshInterpreter(MeshAttr meshAttr, bool implicit, Traffic &traffic,
                  MeshObserver observer)
      : meshAttr(meshAttr), implicit(implicit), traffic(traffic),
        observer(observer) {}

  Results runFunction(const VirtualMesh &mesh, func::FuncOp func,
                      ArrayRef<DistributedTensor> arguments);

private:
  Results runOp(const VirtualMesh &mesh, Operation *op, Operands operands);
  Results runRuleOp(const VirtualMesh &mesh, Operation *op, Operands operands);
  FailureOr<dtrain::OpState> opStateOf(Operation *op, const BoundRule &bound);
  Results runTransition(const VirtualMesh &mesh, Operation *op,
                        const DistributedTensor &operand);
  Results runRepeat(const VirtualMesh &mesh, RepeatOp op, Operands operands);
  TensorState outside(RepeatOp op, Type inside, bool isRow,
                      const AxisState &onPin);
  AxisState pinOf(RepeatOp op, Value operand, bool isRow);
  /// Brings an operand or result of `op` to where it must lie: an error if it
  /// does not, unless moves are implicit.
  LogicalResult fit(const VirtualMesh &mesh, Operation *op, const Twine &what,
                    DistributedTensor &tensor, Type type,
                    const TensorState &wanted);
  /// Takes the cheapest path to `to`, counting what it sends.
  llvm::Expected<DistributedTensor> reshard(const VirtualMesh &mesh,
                                            const DistributedTensor &tensor,
                                            Type element,
                                            const TensorState &to);
  llvm::Expected<DistributedTensor> step(const VirtualMesh &mesh,
                                         const DistributedTensor &tensor,
                                         Type element, unsigned axis,
                                         const AxisState &to);
  TensorState state(Type type) const {
    return stateOf(cast<RankedTensorType>(type), meshAttr);
  }
  std::optional<unsigned> pinnedAxis(RepeatOp op) const {
    return op.getPinnedAxis() ? meshAttr.find(*op.getPinnedAxis())
                              : std::nullopt;
  }

  MeshAttr meshAttr;
  bool implicit;
  Traffic &traffic;
  MeshObserver observer;
};

} // namespace

llvm::Expected<DistributedTensor>
MeshInterpreter::step(const VirtualMesh &mesh, const DistributedTensor &tensor,
                      Type element, unsigned axis, const AxisState &to) {
  std::optional<EdgeCost> cost =
      edge(mesh.getAxes(), tensor.shape, tensor.state, axis, to);
  if (cost && !isFree(cost->transition)) {
    TrafficItem &item = traffic[{mesh.getAxes()[axis].name, cost->transition}];
    ++item.count;
    item.sent += Bytes::fromBase(cost->sentElements * elementBytes(element));
  }
  return move(mesh, tensor, axis, to);
}

llvm::Expected<DistributedTensor>
MeshInterpreter::reshard(const VirtualMesh &mesh,
                         const DistributedTensor &tensor, Type element,
                         const TensorState &to) {
  llvm::Expected<ReshardPath> path =
      findPath(mesh.getAxes(), tensor.shape, tensor.state, to);
  if (!path)
    return path.takeError();
  DistributedTensor current = tensor;
  for (const ReshardStep &s : *path) {
    llvm::Expected<DistributedTensor> next =
        step(mesh, current, element, s.axis, s.result[s.axis]);
    if (!next)
      return next.takeError();
    current = std::move(*next);
  }
  return current;
}

LogicalResult MeshInterpreter::fit(const VirtualMesh &mesh, Operation *op,
                                   const Twine &what, DistributedTensor &tensor,
                                   Type type, const TensorState &wanted) {
  for (auto [axis, is, needed] :
       llvm::zip_equal(mesh.getAxes(), tensor.state, wanted))
    if (is != needed && !implicit)
      return op->emitError() << what << ": on axis '" << axis.name << "' it is "
                             << is.str() << ", expected " << needed.str();
  if (tensor.state == wanted)
    return success();
  llvm::Expected<DistributedTensor> moved = reshard(
      mesh, tensor, cast<RankedTensorType>(type).getElementType(), wanted);
  if (!moved)
    return op->emitError() << what << ": " << llvm::toString(moved.takeError());
  tensor = std::move(*moved);
  return success();
}

FailureOr<dtrain::OpState> MeshInterpreter::opStateOf(Operation *op,
                                                      const BoundRule &bound) {
  if (OpStateAttr attr = cast<RuleOpInterface>(op).getStateAttr()) {
    llvm::Expected<dtrain::OpState> state = attr.getState(meshAttr, bound.rule);
    if (!state)
      return op->emitError("state: ") << llvm::toString(state.takeError());
    if (llvm::Error e = verifyOpState(op, bound, meshAttr, *state))
      return op->emitError("state: ") << llvm::toString(std::move(e));
    return std::move(*state);
  }
  auto statesOf = [&](TypeRange types) {
    return llvm::map_to_vector(types, [&](Type t) { return state(t); });
  };
  auto complain = [&](unsigned axis, ArrayRef<AxisState> ins,
                      ArrayRef<AxisState> outs) -> LogicalResult {
    InFlightDiagnostic diag = op->emitError("no state of axis '")
                              << meshAttr.getNames()[axis].getValue()
                              << "' explains operands ";
    llvm::interleaveComma(ins, diag,
                          [&](const AxisState &s) { diag << s.str(); });
    diag << " and results ";
    llvm::interleaveComma(outs, diag,
                          [&](const AxisState &s) { diag << s.str(); });
    return diag << " of \"" << bound.rule.str() << '"';
  };
  return inferOpState(meshAttr, bound, statesOf(op->getOperandTypes()),
                      statesOf(op->getResultTypes()), complain);
}

Results MeshInterpreter::runRuleOp(const VirtualMesh &mesh, Operation *op,
                                   Operands operands) {
  llvm::Expected<BoundRule> bound = bindRule(op);
  if (!bound)
    return op->emitError("rule: ") << llvm::toString(bound.takeError());
  FailureOr<dtrain::OpState> opState = opStateOf(op, *bound);
  if (failed(opState))
    return failure();
  std::vector<DistributedTensor> inputs;
  for (auto [i, operand] : llvm::enumerate(operands)) {
    TensorState needed;
    for (auto [axis, s] : llvm::zip_equal(mesh.getAxes(), *opState))
      needed.push_back(need(*bound, i, s).canonical(axis.size));
    inputs.push_back(*operand);
    if (failed(fit(mesh, op, "operand #" + Twine(i), inputs.back(),
                   op->getOperand(i).getType(), needed)))
      return failure();
  }
  Operands pointers;
  for (const DistributedTensor &input : inputs)
    pointers.push_back(&input);
  llvm::Expected<std::vector<DistributedTensor>> results =
      runOnMesh(mesh, op, *bound, *opState, pointers);
  if (!results)
    return op->emitError("cannot be interpreted: ")
           << llvm::toString(results.takeError());
  for (auto [j, value] : llvm::enumerate(op->getResults()))
    if (failed(fit(mesh, op, "result #" + Twine(j), (*results)[j],
                   value.getType(), state(value.getType()))))
      return failure();
  return std::move(*results);
}

Results MeshInterpreter::runTransition(const VirtualMesh &mesh, Operation *op,
                                       const DistributedTensor &operand) {
  RankedTensorType type = tensorType(op->getResult(0));
  TensorState to = state(type);
  auto run = [&]() -> llvm::Expected<DistributedTensor> {
    auto comm = dyn_cast<CommOpInterface>(op);
    if (!comm)
      return reshard(mesh, operand, type.getElementType(), to);
    // The verifier has seen that the axis exists.
    unsigned axis = *meshAttr.find(comm.getAxis());
    return step(mesh, operand, type.getElementType(), axis, to[axis]);
  };
  llvm::Expected<DistributedTensor> result = run();
  if (!result)
    return op->emitError("cannot be interpreted: ")
           << llvm::toString(result.takeError());
  return std::vector<DistributedTensor>{std::move(*result)};
}

Results MeshInterpreter::runOp(const VirtualMesh &mesh, Operation *op,
                               Operands operands) {
  return llvm::TypeSwitch<Operation *, Results>(op)
      .Case<RepeatOp>([&](RepeatOp o) { return runRepeat(mesh, o, operands); })
      .Case<ReshardOp, CommOpInterface>(
          [&](auto) { return runTransition(mesh, op, *operands.front()); })
      .Case<RuleOpInterface>(
          [&](auto) { return runRuleOp(mesh, op, operands); })
      .Default([](Operation *o) {
        return o->emitError("'") << o->getName() << "' cannot be interpreted";
      });
}

Results MeshInterpreter::runFunction(const VirtualMesh &mesh, func::FuncOp func,
                                     ArrayRef<DistributedTensor> arguments) {
  llvm::DenseMap<Value, DistributedTensor> values;
  for (auto [value, tensor] : llvm::zip_equal(func.getArguments(), arguments))
    values[value] = tensor;
  for (Operation &op : func.front().without_terminator()) {
    Operands operands;
    for (Value operand : op.getOperands())
      operands.push_back(&values.find(operand)->second);
    Results results = runOp(mesh, &op, operands);
    if (failed(results) || (observer && failed(observer(mesh, &op, *results))))
      return failure();
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), *results))
      values[value] = std::move(tensor);
  }
  std::vector<DistributedTensor> returned;
  for (Value value : func.front().getTerminator()->getOperands())
    returned.push_back(values.find(value)->second);
  return returned;
}

//===----------------------------------------------------------------------===//
// repeat
//===----------------------------------------------------------------------===//

/// The blocks of one row, on the active devices.
static llvm::Expected<DistributedTensor> rowOf(const VirtualMesh &mesh,
                                               const DistributedTensor &stacked,
                                               const TensorState &rowState,
                                               int64_t row) {
  DistributedTensor result;
  result.shape.assign(std::next(stacked.shape.begin()), stacked.shape.end());
  result.state = rowState;
  result.blocks.resize(mesh.numDevices());
  for (int64_t d = 0; d < mesh.numDevices(); ++d) {
    if (!mesh.isActive(d) || !stacked.blocks[d])
      continue;
    IndexSets sets = indicesOf(mesh, stacked.shape, stacked.state, d);
    auto *it = llvm::find(sets[0], row);
    if (it == sets[0].end())
      return llvm::createStringError("device #" + llvm::Twine(d) +
                                     " does not hold row " + llvm::Twine(row));
    result.blocks[d] = stacked.blocks[d]->getRow(it - sets[0].begin());
  }
  return result;
}

/// Replaces one row on the devices that have computed it.
static llvm::Error setRow(const VirtualMesh &mesh, DistributedTensor &stacked,
                          int64_t row, const DistributedTensor &value) {
  for (int64_t d = 0; d < mesh.numDevices(); ++d) {
    if (!value.blocks[d])
      continue;
    IndexSets sets = indicesOf(mesh, stacked.shape, stacked.state, d);
    auto *it = llvm::find(sets[0], row);
    if (it == sets[0].end())
      return llvm::createStringError("device #" + llvm::Twine(d) +
                                     " does not hold row " + llvm::Twine(row));
    if (!stacked.blocks[d]) {
      SmallVector<int64_t> shape(value.blocks[d]->getShape());
      shape.insert(shape.begin(), sets[0].size());
      stacked.blocks[d] = Tensor(shape);
    }
    stacked.blocks[d]->setRow(it - sets[0].begin(), value.blocks[d].value());
  }
  return llvm::Error::success();
}

/// Where a value of the body lies outside of it: a row's dimensions come after
/// that of the rows, and on the pinned axis it is as told.
TensorState MeshInterpreter::outside(RepeatOp op, Type inside, bool isRow,
                                     const AxisState &onPin) {
  TensorState outer = state(inside);
  for (AxisState &axis : outer)
    if (isRow && axis.kind == AxisState::Split)
      ++axis.dim;
  if (std::optional<unsigned> pinned = pinnedAxis(op))
    outer[*pinned] = onPin;
  return outer;
}

/// What an operand must be on the pinned axis: whatever gives the coordinate
/// whole values or, of stacked ones, whole rows.
AxisState MeshInterpreter::pinOf(RepeatOp op, Value operand, bool isRow) {
  std::optional<unsigned> pinned = pinnedAxis(op);
  if (!pinned)
    return {};
  int64_t c = *op.getPinnedTo();
  AxisState is = state(operand.getType())[*pinned];
  bool there = is.kind == AxisState::Replicated ||
               (is.kind == AxisState::Pinned && llvm::is_contained(is.on, c)) ||
               (is.kind == AxisState::Split && isRow && is.dim == 0);
  return there ? is : AxisState::pinned({c});
}

Results MeshInterpreter::runRepeat(const VirtualMesh &outer, RepeatOp op,
                                   Operands operands) {
  unsigned carries = op.getCarry().size(), stacked = op.getStacked().size(),
           inouts = op.getInout().size();
  auto isRow = [&](unsigned i) {
    return i >= carries && i < carries + stacked + inouts;
  };
  func::FuncOp body = op.getBody();
  std::optional<unsigned> pinned = pinnedAxis(op);
  VirtualMesh mesh =
      pinned ? outer.restrictedTo(*pinned, *op.getPinnedTo()) : outer;

  std::vector<DistributedTensor> inputs;
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    inputs.push_back(*operands[i]);
    TensorState wanted = outside(op, body.getArgumentTypes()[i], isRow(i),
                                 pinOf(op, value, isRow(i)));
    if (failed(fit(outer, op, "operand #" + Twine(i), inputs.back(),
                   value.getType(), wanted)))
      return failure();
  }
  // What the body sees of a carried or shared value: the blocks of the active
  // devices, in the state of its argument.
  auto inBody = [&](DistributedTensor tensor, unsigned argument) {
    tensor.state = state(body.getArgumentTypes()[argument]);
    for (int64_t d = 0; d < mesh.numDevices(); ++d)
      if (!mesh.isActive(d))
        tensor.blocks[d].reset();
    return tensor;
  };
  std::vector<DistributedTensor> results;
  for (auto [i, value] : llvm::enumerate(op.getResults())) {
    if (i < carries) {
      results.push_back(inBody(inputs[i], i));
      continue;
    }
    if (i < carries + inouts) {
      results.push_back(inputs[i + stacked]);
      continue;
    }
    DistributedTensor &output = results.emplace_back();
    output.shape.assign(tensorType(value).getShape().begin(),
                        tensorType(value).getShape().end());
    output.state = outside(op, body.getResultTypes()[i], true, {});
    output.blocks.resize(mesh.numDevices());
  }

  int64_t from = op.getFrom(), trips = op.getTripCount();
  for (int64_t n = 0; n < trips; ++n) {
    int64_t index = op.getReverse() ? from + trips - 1 - n : from + n;
    std::vector<DistributedTensor> arguments;
    for (auto [i, value] : llvm::enumerate(op.getOperands())) {
      if (!isRow(i)) {
        arguments.push_back(i < carries ? results[i] : inBody(inputs[i], i));
        continue;
      }
      bool isInout = i >= carries + stacked;
      llvm::Expected<DistributedTensor> row =
          rowOf(mesh, isInout ? results[i - stacked] : inputs[i],
                state(body.getArgumentTypes()[i]), op.rowOf(value, index));
      if (!row)
        return op.emitError("operand #")
               << i << ": " << llvm::toString(row.takeError());
      arguments.push_back(std::move(*row));
    }
    Results values = runFunction(mesh, body, arguments);
    if (failed(values))
      return failure();
    for (auto [i, value] : llvm::enumerate(*values)) {
      // Carried values and rows go on as the body's arguments lie.
      if (i < carries + inouts) {
        unsigned argument = i < carries ? i : i + stacked;
        if (failed(fit(mesh, op, "result #" + Twine(i) + " of the body", value,
                       body.getResultTypes()[i],
                       state(body.getArgumentTypes()[argument]))))
          return failure();
      }
      if (i < carries) {
        results[i] = std::move(value);
        continue;
      }
      int64_t row = i < carries + inouts
                        ? op.rowOf(op.getInout()[i - carries], index)
                        : index - from;
      if (llvm::Error error = setRow(mesh, results[i], row, value))
        return op.emitError("result #")
               << i << ": " << llvm::toString(std::move(error));
    }
  }
  // A value is where its body ran; rows that others hold stay there.
  for (auto [i, value] : llvm::enumerate(op.getResults())) {
    if (pinned && (i < carries || i >= carries + inouts))
      results[i].state[*pinned] =
          AxisState::pinned({static_cast<int64_t>(*op.getPinnedTo())});
    if (failed(fit(outer, op, "result #" + Twine(i), results[i],
                   value.getType(), state(value.getType()))))
      return failure();
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

MeshAttr dtrain::meshOf(func::FuncOp func) {
  MeshAttr mesh;
  auto look = [&](TypeRange types) {
    for (Type t : types)
      if (PlacementAttr placement = placementOf(t); placement && !mesh)
        mesh = placement.getMesh();
  };
  look(func.getArgumentTypes());
  func->getParentOfType<ModuleOp>().walk([&](Operation *op) {
    look(op->getOperandTypes());
    look(op->getResultTypes());
    return mesh ? WalkResult::interrupt() : WalkResult::advance();
  });
  return mesh;
}

Results dtrain::interpretOnMesh(func::FuncOp func, MeshAttr mesh,
                                ArrayRef<DistributedTensor> arguments,
                                Traffic &traffic, MeshObserver observer) {
  if (failed(verifyInterpretable(func)))
    return failure();
  if (arguments.size() != func.getNumArguments())
    return emitError(func.getLoc(), "expected ")
           << func.getNumArguments() << " arguments, found "
           << arguments.size();
  bool implicit = phaseOf(func->getParentOfType<ModuleOp>()) == Phase::place;
  return MeshInterpreter(mesh, implicit, traffic, observer)
      .runFunction(VirtualMesh(mesh.getAxes()), func, arguments);
}
