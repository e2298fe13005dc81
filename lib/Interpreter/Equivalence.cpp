//===- Equivalence.cpp - A placed program against one device --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Interpreter/Equivalence.h"
#include "dtrain/Interpreter/Inputs.h"
#include "dtrain/Interpreter/Interpreter.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dtrain;

std::string dtrain::nameOfResult(func::FuncOp func, unsigned result) {
  std::string name = "result #" + std::to_string(result);
  auto argument = func.getResultAttrOfType<IntegerAttr>(result, kUpdatesAttr);
  if (!argument)
    return name;
  auto called = func.getArgAttrOfType<StringAttr>(argument.getInt(), kNameAttr);
  return name + " (" +
         (called ? called.str()
                 : "argument #" + std::to_string(argument.getInt())) +
         ")";
}

/// An infinite difference stands for what cannot be compared.
static std::string describe(double difference) {
  return std::isfinite(difference)
             ? llvm::formatv("differs by {0:e}", difference).str()
             : "is not a number or has another shape";
}

/// Distributes arguments as the function's types say.
static std::vector<DistributedTensor>
scatterArguments(func::FuncOp func, MeshAttr mesh, ArrayRef<Tensor> arguments) {
  VirtualMesh devices(mesh.getAxes());
  std::vector<DistributedTensor> distributed;
  for (auto [value, tensor] : llvm::zip_equal(func.getArguments(), arguments))
    distributed.push_back(
        scatter(devices, tensor, stateOf(tensorType(value), mesh)));
  return distributed;
}

/// Runs a placed function in both ways and attaches to `diag` the first op
/// whose value differs. Both runs visit the same ops in the same order.
static void findFirstDifference(func::FuncOp func, MeshAttr mesh,
                                ArrayRef<Tensor> arguments, double tolerance,
                                InFlightDiagnostic &diag) {
  std::vector<std::vector<Tensor>> expected;
  auto record = [&](Operation *, ArrayRef<const Tensor *>,
                    ArrayRef<Tensor> results) {
    expected.emplace_back(results.begin(), results.end());
    return success();
  };
  if (failed(interpret(func, arguments, record)))
    return;
  size_t visited = 0;
  auto compare = [&](const VirtualMesh &devices, Operation *op,
                     ArrayRef<DistributedTensor> results) -> LogicalResult {
    const std::vector<Tensor> &values = expected[visited++];
    for (auto [found, value] : llvm::zip_equal(results, values)) {
      llvm::Expected<Tensor> global = gather(devices, found, tolerance);
      std::string what;
      if (!global)
        what = llvm::toString(global.takeError());
      else if (double d = relativeDifference(*global, value); !(d <= tolerance))
        what = describe(d);
      if (what.empty())
        continue;
      diag.attachNote(op->getLoc()) << "first here: its value " << what;
      return failure();
    }
    return success();
  };
  Traffic ignored;
  (void)interpretOnMesh(func, mesh, scatterArguments(func, mesh, arguments),
                        ignored, compare);
}

FailureOr<Equivalence> dtrain::checkEquivalence(func::FuncOp original,
                                                func::FuncOp placed,
                                                uint64_t seed,
                                                double tolerance) {
  MeshAttr mesh = meshOf(placed);
  if (!mesh)
    return emitError(placed.getLoc(),
                     "nothing here has a placement: there is no mesh "
                     "to run it on");
  std::mt19937_64 random(seed);
  SmallVector<Tensor> arguments = randomArguments(original, random);
  FailureOr<SmallVector<Tensor>> expected = interpret(original, arguments);
  if (failed(expected))
    return failure();
  if (placed.getNumArguments() != arguments.size() ||
      placed.getNumResults() != expected->size())
    return emitError(placed.getLoc(), "expected ")
           << arguments.size() << " arguments and " << expected->size()
           << " results, as the original has, found "
           << placed.getNumArguments() << " and " << placed.getNumResults();
  for (auto [i, value] : llvm::enumerate(placed.getArguments()))
    if (tensorType(value).getShape() != arguments[i].getShape())
      return emitError(placed.getLoc(), "argument #")
             << i << ": another shape than the original's, " << value.getType();

  Equivalence result;
  FailureOr<std::vector<DistributedTensor>> found = interpretOnMesh(
      placed, mesh, scatterArguments(placed, mesh, arguments), result.traffic);
  if (failed(found))
    return failure();
  VirtualMesh devices(mesh.getAxes());
  for (auto [i, tensor] : llvm::enumerate(*found)) {
    llvm::Expected<Tensor> global = gather(devices, tensor, tolerance);
    std::string what;
    if (!global) {
      what = llvm::toString(global.takeError());
    } else {
      double difference = relativeDifference(*global, (*expected)[i]);
      result.maxDifference = std::max(result.maxDifference, difference);
      if (!(difference <= tolerance))
        what = describe(difference) + " from the sequential one";
    }
    if (!what.empty()) {
      InFlightDiagnostic diag = emitError(placed.getLoc(), "not equivalent: ")
                                << nameOfResult(placed, i) << ' ' << what;
      findFirstDifference(placed, mesh, arguments, tolerance, diag);
      return diag;
    }
    ++result.results;
  }
  return result;
}
