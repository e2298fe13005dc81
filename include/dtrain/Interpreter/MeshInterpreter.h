//===- MeshInterpreter.h - A placed program on its mesh ---------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Runs a placed program on every device of its mesh. A device sees local
/// blocks only; what it does not hold it can get by communication alone, so a
/// program that gives the sequential results is placed and communicated
/// correctly.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_INTERPRETER_MESHINTERPRETER_H
#define DTRAIN_INTERPRETER_MESHINTERPRETER_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "dtrain/Interpreter/VirtualMesh.h"
#include "dtrain/Support/Quantity.h"
#include <map>

namespace dtrain {

/// The communication of a run: by mesh axis and transition, how many
/// collectives and the bytes that the busiest device of each sends
/// (docs/reference/axis-states.md), added up. Collectives of different stages
/// of a pipeline all count.
struct TrafficItem {
  int64_t count = 0;
  Bytes sent;
};
using Traffic = std::map<std::pair<std::string, Transition>, TrafficItem>;

/// Sees every op as it is executed, in order, with its results.
using MeshObserver = llvm::function_ref<llvm::LogicalResult(
    const VirtualMesh &mesh, mlir::Operation *op,
    llvm::ArrayRef<DistributedTensor> results)>;

/// The mesh of a placed function: that of the first placed type in it or in
/// what it repeats; null if there is none.
MeshAttr meshOf(mlir::func::FuncOp func);

/// Runs a placed function on its mesh. `arguments` lie as its argument types
/// say. Ops run in their `state` where they have one, else in the state that
/// their types imply. In a module of phase *place*, what does not lie as its
/// consumer needs is moved on the cheapest path, as the next phase would; in
/// any other it is an error. Every failure has been reported at the op where it
/// happened: types that fit no op state, a block that a device does not hold, a
/// boundary of a repeat that changes a placement.
mlir::FailureOr<std::vector<DistributedTensor>>
interpretOnMesh(mlir::func::FuncOp func, MeshAttr mesh,
                llvm::ArrayRef<DistributedTensor> arguments, Traffic &traffic,
                MeshObserver observer = nullptr);

/// Runs one op on the devices of `mesh`, in `state` (one entry per axis), on
/// operands that lie as `need` says.
llvm::Expected<std::vector<DistributedTensor>>
runOnMesh(const VirtualMesh &mesh, mlir::Operation *op, const BoundRule &bound,
          const OpState &state,
          llvm::ArrayRef<const DistributedTensor *> operands);

} // namespace dtrain

#endif // DTRAIN_INTERPRETER_MESHINTERPRETER_H
