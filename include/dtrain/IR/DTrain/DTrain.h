//===- DTrain.h - The dtrain dialect ----------------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_IR_DTRAIN_DTRAIN_H
#define DTRAIN_IR_DTRAIN_DTRAIN_H

#include "dtrain/IR/DTrain/DTrainSupport.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dtrain/IR/DTrain/DTrainEnums.h.inc"

#include "dtrain/IR/DTrain/DTrainDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dtrain/IR/DTrain/DTrainAttrs.h.inc"

#include "dtrain/IR/DTrain/DTrainInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dtrain/IR/DTrain/DTrainOps.h.inc"

#define GET_OP_CLASSES
#include "dtrain/IR/DTrain/DTrainControl.h.inc"

namespace dtrain {

//===----------------------------------------------------------------------===//
// Names of discardable attributes
//===----------------------------------------------------------------------===//

/// On function arguments: what the argument is, and its name in the model.
inline constexpr llvm::StringLiteral kRoleAttr = "dtrain.role";
inline constexpr llvm::StringLiteral kNameAttr = "dtrain.name";
/// On function results: the index of the argument that the result replaces.
inline constexpr llvm::StringLiteral kUpdatesAttr = "dtrain.updates";
/// On the module, from the first seed pass on: the mesh.
inline constexpr llvm::StringLiteral kMeshAttr = "dtrain.mesh";
/// On the module: the last phase whose contract it meets.
inline constexpr llvm::StringLiteral kPhaseAttr = "dtrain.phase";

/// The phase that the module says it meets, if it does; and saying so.
std::optional<Phase> phaseOf(mlir::ModuleOp module);
void setPhase(mlir::ModuleOp module, Phase phase);

/// The role of an argument of a step, if it has one.
std::optional<Role> roleOf(mlir::func::FuncOp func, unsigned argument);

//===----------------------------------------------------------------------===//
// Types and placements
//===----------------------------------------------------------------------===//

mlir::RankedTensorType tensorType(mlir::Value value);
/// The placement of a tensor type; null where it has none.
PlacementAttr placementOf(mlir::Type type);
/// Whether two types are tensors of one shape and element type, whatever their
/// placements.
bool sameTensor(mlir::Type a, mlir::Type b);
/// The state per mesh axis; all replicated where the type has no placement.
TensorState stateOf(mlir::RankedTensorType type, MeshAttr mesh);
/// The same shape and element type in another state.
mlir::RankedTensorType withState(mlir::RankedTensorType type, MeshAttr mesh,
                                 const TensorState &state);
/// The shape that the fullest device holds.
llvm::SmallVector<int64_t> localShapeOf(mlir::RankedTensorType type);
/// Bytes of one element; sub-byte types count their fraction, i1 one byte.
double elementBytes(mlir::Type elementType);

/// Whether operands and results of the op can be as it needs and gives them in
/// that state.
llvm::Error verifyOpState(mlir::Operation *op, const BoundRule &rule,
                          MeshAttr mesh, const OpState &state);

/// The op's state on every axis, recovered from the states of its operands and
/// results. Where none explains them, `complain` is given the axis and what is
/// there, and its failure returned.
mlir::FailureOr<OpState> inferOpState(
    MeshAttr mesh, const BoundRule &rule, llvm::ArrayRef<TensorState> operands,
    llvm::ArrayRef<TensorState> results,
    llvm::function_ref<mlir::LogicalResult(unsigned axis,
                                           llvm::ArrayRef<AxisState> operands,
                                           llvm::ArrayRef<AxisState> results)>
        complain);
/// The states of values with placements on that mesh.
llvm::SmallVector<TensorState> statesOf(mlir::ValueRange values, MeshAttr mesh);

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

/// Result shapes of `rule` for operands of those types, without placements. An
/// error names the factor or dimension at fault.
llvm::Expected<llvm::SmallVector<llvm::SmallVector<int64_t>>>
inferShapes(const Rule &rule, bool broadcasts, mlir::ValueRange operands);

/// Builders that take result shapes from the rule. Element types follow the
/// first floating operand unless given. They are for programs without
/// placements; the operands must fit the rule (checked with a diagnostic by the
/// importer, by construction elsewhere).
mlir::Value buildMove(mlir::OpBuilder &b, mlir::Location loc,
                      llvm::StringRef einsum, mlir::Value input,
                      llvm::ArrayRef<int64_t> resultShape);
mlir::Value buildReduce(mlir::OpBuilder &b, mlir::Location loc, Reduction kind,
                        llvm::StringRef einsum, mlir::Value input,
                        mlir::Type elementType = {});
mlir::Value buildElementwise(mlir::OpBuilder &b, mlir::Location loc,
                             Elementwise kind, mlir::ValueRange operands,
                             std::optional<double> constant = std::nullopt,
                             mlir::Type elementType = {});
mlir::Value buildConstant(mlir::OpBuilder &b, mlir::Location loc, double value,
                          mlir::RankedTensorType type);

/// How many operands an elementwise kind takes, and whether it takes a
/// constant.
unsigned arityOf(Elementwise kind);
bool takesConstant(Elementwise kind);
/// What a kind gives for one element of each operand, in its first result, over
/// real numbers; true is not zero.
double evaluate(Elementwise kind, llvm::ArrayRef<double> operands,
                double constant = 0);
/// The same of an op. Integers round towards zero where a division or a
/// conversion makes them; a conversion to i1 asks whether the value is not
/// zero.
double evaluate(ElementwiseOp op, llvm::ArrayRef<double> operands);

/// Sets the origin of everything a builder inserts while it lives.
class OriginScope : public mlir::OpBuilder::Listener {
public:
  OriginScope(mlir::OpBuilder &builder, Origin origin);
  ~OriginScope() override;
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint) override;

private:
  mlir::OpBuilder &builder;
  mlir::OpBuilder::Listener *previous;
  Origin origin;
};

} // namespace dtrain

#endif // DTRAIN_IR_DTRAIN_DTRAIN_H
