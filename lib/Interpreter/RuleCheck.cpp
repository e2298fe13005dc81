//===- RuleCheck.cpp - Does an op do what its rule says? ------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Interpreter/RuleCheck.h"
#include "dtrain/IR/DTrain/Questions.h"
#include "dtrain/Interpreter/Inputs.h"
#include "dtrain/Interpreter/Interpreter.h"
#include "dtrain/Interpreter/Kernel.h"
#include "dtrain/Interpreter/MeshInterpreter.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

using namespace dtrain;

/// A random element; `list` is not empty.
template <typename T>
static const T &pick(llvm::ArrayRef<T> list, std::mt19937_64 &random) {
  return list[std::uniform_int_distribution<size_t>(0,
                                                    list.size() - 1)(random)];
}
static bool chance(double probability, std::mt19937_64 &random) {
  return std::bernoulli_distribution(probability)(random);
}

/// A random, non-empty set of coordinates.
static Coords randomCoords(int64_t n, std::mt19937_64 &random) {
  Coords on;
  for (int64_t c = 0; c < n; ++c)
    if (chance(0.5, random))
      on.push_back(c);
  if (on.empty())
    on.push_back(std::uniform_int_distribution<int64_t>(0, n - 1)(random));
  return on;
}

/// All ways to split a factor over an axis of `n`.
static llvm::SmallVector<OpAxisState> splitsOf(const BoundRule &rule,
                                               int64_t n) {
  llvm::SmallVector<OpAxisState> splits;
  for (FactorId f = 0; f < rule.sizes.size(); ++f)
    for (int64_t stride = 1; stride <= rule.sizes[f]; ++stride)
      if (maySplit(rule, f, stride, n))
        splits.push_back(OpAxisState::split(f, stride));
  return splits;
}

static OpAxisState randomAxisState(const BoundRule &rule, int64_t n,
                                   std::mt19937_64 &random) {
  double draw = std::uniform_real_distribution<double>(0, 1)(random);
  if (draw < 0.5) {
    llvm::SmallVector<OpAxisState> splits = splitsOf(rule, n);
    if (!splits.empty())
      return pick<OpAxisState>(splits, random);
  } else if (draw < 0.75) {
    unsigned groups = rule.rule.linearGroups().size();
    if (groups != 0) {
      unsigned g =
          std::uniform_int_distribution<unsigned>(0, groups - 1)(random);
      Coords on = chance(0.5, random) ? randomCoords(n, random) : Coords();
      // On all coordinates and on one there is another spelling.
      bool subset = on.size() > 1 && static_cast<int64_t>(on.size()) < n;
      return OpAxisState::linear(g, subset ? on : Coords());
    }
  } else if (draw < 0.9) {
    Coords on = randomCoords(n, random);
    if (static_cast<int64_t>(on.size()) < n)
      return OpAxisState::pinned(on);
  }
  return OpAxisState::replicated();
}

/// The states of all operands, then of all results.
static llvm::SmallVector<TensorState> statesUnder(llvm::ArrayRef<MeshAxis> mesh,
                                                  const BoundRule &rule,
                                                  const OpState &state) {
  llvm::SmallVector<TensorState> states;
  for (unsigned i = 0; i < rule.rule.operands.size(); ++i) {
    TensorState &s = states.emplace_back();
    for (auto [axis, op] : llvm::zip_equal(mesh, state))
      s.push_back(need(rule, i, op).canonical(axis.size));
  }
  for (unsigned j = 0; j < rule.rule.results.size(); ++j) {
    TensorState &s = states.emplace_back();
    for (auto [axis, op] : llvm::zip_equal(mesh, state))
      s.push_back(gives(rule, j, op).canonical(axis.size));
  }
  return states;
}

static bool isValid(llvm::ArrayRef<MeshAxis> mesh, const BoundRule &rule,
                    const OpState &state) {
  auto fits = [&](const RuleTerm &term, const TensorState &s) {
    llvm::Error error = verifyTensorState(mesh, rule.shapeOf(term), s);
    bool ok = !error;
    llvm::consumeError(std::move(error));
    return ok;
  };
  llvm::SmallVector<TensorState> states = statesUnder(mesh, rule, state);
  unsigned i = 0;
  return llvm::all_of(
             rule.rule.operands,
             [&](const RuleTerm &t) { return fits(t, states[i++]); }) &&
         llvm::all_of(rule.rule.results,
                      [&](const RuleTerm &t) { return fits(t, states[i++]); });
}

OpState dtrain::randomOpState(llvm::ArrayRef<MeshAxis> mesh,
                              const BoundRule &rule, std::mt19937_64 &random) {
  for (unsigned attempt = 0; attempt < 20; ++attempt) {
    OpState state;
    for (const MeshAxis &axis : mesh)
      state.push_back(randomAxisState(rule, axis.size, random));
    if (isValid(mesh, rule, state))
      return state;
  }
  return OpState(mesh.size());
}

/// "tp: F(n, 2), dp: L(0)".
static std::string print(llvm::ArrayRef<MeshAxis> mesh, const BoundRule &rule,
                         const OpState &state) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto coords = [&](const OpAxisState &s) {
    os << '{';
    llvm::interleave(s.on, os, ",");
    os << '}';
  };
  llvm::interleaveComma(llvm::zip_equal(mesh, state), os, [&](auto pair) {
    auto [axis, s] = pair;
    os << axis.name << '=' << axis.size << ": ";
    switch (s.kind) {
    case OpAxisState::Replicated:
      os << 'R';
      break;
    case OpAxisState::Factor:
      os << "F(" << rule.rule.factors[s.factor].name << ',' << s.stride << ')';
      break;
    case OpAxisState::Linear:
      os << "L(" << s.group << ',';
      coords(s);
      os << ')';
      break;
    case OpAxisState::Pinned:
      os << "N(";
      coords(s);
      os << ')';
      break;
    }
  });
  return text;
}

/// The op state must follow from the types that it gives rise to.
static llvm::Error checkInference(llvm::ArrayRef<MeshAxis> mesh,
                                  const BoundRule &rule, const OpState &state,
                                  llvm::ArrayRef<TensorState> states) {
  unsigned operands = rule.rule.operands.size();
  for (auto [a, axis] : llvm::enumerate(mesh)) {
    llvm::SmallVector<AxisState> onAxis;
    for (const TensorState &s : states)
      onAxis.push_back(s[a]);
    auto all = llvm::ArrayRef<AxisState>(onAxis);
    std::optional<OpAxisState> found = inferState(
        rule, all.take_front(operands), all.drop_front(operands), axis.size);
    if (!found || *found != state[a])
      return llvm::createStringError(
          "\"" + rule.rule.str() + "\": " + print(mesh, rule, state) +
          ": the state of axis " + axis.name + " does not follow from " +
          "operand and result states");
  }
  return llvm::Error::success();
}

/// The results of the op's kernel with nothing split.
static llvm::Expected<llvm::SmallVector<Tensor>>
runWhole(mlir::Operation *op, const BoundRule &rule,
         llvm::ArrayRef<Tensor> operands) {
  llvm::SmallVector<const Tensor *> whole;
  for (const Tensor &t : operands)
    whole.push_back(&t);
  return runKernel({op, rule, allIndices(rule.sizes), whole});
}

llvm::Error dtrain::checkRule(mlir::Operation *op, const BoundRule &rule,
                              llvm::ArrayRef<MeshAxis> axes,
                              const OpState &state,
                              llvm::ArrayRef<Tensor> operands,
                              std::mt19937_64 &random) {
  llvm::Expected<llvm::SmallVector<Tensor>> expected =
      runWhole(op, rule, operands);
  if (!expected)
    return expected.takeError();

  llvm::SmallVector<TensorState> states = statesUnder(axes, rule, state);
  if (llvm::Error error = checkInference(axes, rule, state, states))
    return error;
  auto fail = [&](const llvm::Twine &what) {
    return llvm::createStringError("\"" + rule.rule.str() + "\": " +
                                   print(axes, rule, state) + ": " + what);
  };
  VirtualMesh mesh(axes);
  std::vector<DistributedTensor> distributed;
  for (auto [i, t] : llvm::enumerate(operands))
    distributed.push_back(scatter(mesh, t, states[i], &random));
  llvm::SmallVector<const DistributedTensor *> pointers;
  for (const DistributedTensor &t : distributed)
    pointers.push_back(&t);
  llvm::Expected<std::vector<DistributedTensor>> results =
      runOnMesh(mesh, op, rule, state, pointers);
  if (!results)
    return fail(llvm::toString(results.takeError()));
  for (auto [j, result] : llvm::enumerate(*results)) {
    llvm::Expected<Tensor> global = gather(mesh, result);
    if (!global)
      return fail("result #" + llvm::Twine(j) + ": " +
                  llvm::toString(global.takeError()));
    double difference = relativeDifference(*global, (*expected)[j]);
    if (!(difference <= 1e-9))
      return fail("result #" + llvm::Twine(j) + " differs by " +
                  llvm::formatv("{0:e}", difference).str());
  }
  return llvm::Error::success();
}

/// Each element of a result must be one of a copied operand's, or zero.
static llvm::Error checkCopy(const BoundRule &rule,
                             llvm::ArrayRef<Tensor> operands,
                             llvm::ArrayRef<Tensor> results) {
  if (rule.rule.copy.empty())
    return llvm::Error::success();
  std::set<double> elements = {0};
  for (unsigned i : rule.rule.copy)
    for (int64_t k = 0; k < operands[i].size(); ++k)
      elements.insert(operands[i][k]);
  for (auto [j, result] : llvm::enumerate(results))
    for (int64_t k = 0; k < result.size(); ++k)
      if (!elements.count(result[k]))
        return llvm::createStringError("\"" + rule.rule.str() + "\": result #" +
                                       llvm::Twine(j) +
                                       " has an element of no copied operand");
  return llvm::Error::success();
}

/// An op with a `stat` factor has an expansion that computes the same.
static llvm::Error checkExpansion(mlir::Operation *op, const BoundRule &rule,
                                  llvm::ArrayRef<Tensor> operands,
                                  llvm::ArrayRef<Tensor> expected) {
  if (llvm::none_of(rule.rule.factors, [](const Rule::Factor &f) {
        return f.kind == FactorKind::Stat;
      }))
    return llvm::Error::success();
  auto fail = [&](const llvm::Twine &what) {
    return llvm::createStringError("\"" + rule.rule.str() + "\": " + what);
  };
  mlir::OpBuilder b(op->getContext());
  mlir::OwningOpRef<mlir::func::FuncOp> func(mlir::func::FuncOp::create(
      op->getLoc(), "expansion",
      b.getFunctionType(op->getOperandTypes(), op->getResultTypes())));
  mlir::Block *block = func->addEntryBlock();
  b.setInsertionPointToEnd(block);
  mlir::IRMapping map;
  map.map(op->getOperands(), block->getArguments());
  mlir::Operation *clone = b.clone(*op, map);
  mlir::func::ReturnOp::create(b, op->getLoc(), clone->getResults());
  if (failed(expandOp(llvm::cast<RuleOpInterface>(clone))))
    return fail("the rule has a `stat` factor and the op no expansion");
  if (block->getTerminator()->getOperandTypes() != op->getResultTypes())
    return fail("the expansion has results of other types");
  mlir::FailureOr<llvm::SmallVector<Tensor>> found =
      interpret(func.get(), operands);
  if (failed(found))
    return fail("the expansion cannot be interpreted");
  for (auto [j, result] : llvm::enumerate(*found)) {
    double difference = relativeDifference(result, expected[j]);
    if (!(difference <= 1e-9))
      return fail("result #" + llvm::Twine(j) +
                  " of the expansion differs by " +
                  llvm::formatv("{0:e}", difference).str());
  }
  return llvm::Error::success();
}

llvm::Error dtrain::checkRule(mlir::Operation *op, const BoundRule &rule,
                              unsigned trials, std::mt19937_64 &random) {
  const llvm::SmallVector<MeshAxis> meshes[] = {
      {{"a", 2}},           {{"a", 3}},
      {{"a", 2}, {"b", 2}}, {{"a", 2}, {"b", 3}},
      {{"a", 4}, {"b", 2}}, {{"a", 2}, {"b", 2}, {"c", 2}}};
  for (unsigned trial = 0; trial < trials; ++trial) {
    llvm::ArrayRef<MeshAxis> mesh =
        pick<llvm::SmallVector<MeshAxis>>(meshes, random);
    llvm::SmallVector<Tensor> operands;
    for (mlir::OpOperand &operand : op->getOpOperands())
      operands.push_back(randomTensor(tensorType(operand.get()).getShape(),
                                      domainOf(operand), random));
    OpState state = randomOpState(mesh, rule, random);
    if (llvm::Error error = checkRule(op, rule, mesh, state, operands, random))
      return error;
    llvm::Expected<llvm::SmallVector<Tensor>> results =
        runWhole(op, rule, operands);
    if (!results)
      return results.takeError();
    if (llvm::Error error = checkCopy(rule, operands, *results))
      return error;
    if (llvm::Error error = checkExpansion(op, rule, operands, *results))
      return error;
  }
  return llvm::Error::success();
}
