//===- DTrainBase.td - The dtrain dialect and its enums ------*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_DTRAINBASE_TD
#define DTRAIN_DTRAINBASE_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"

def DTrain_Dialect : Dialect {
  let name = "dtrain";
  let cppNamespace = "::dtrain";
  let summary = "A training step and its placement on a mesh of devices";
  let description = [{
    A training step is a `func.func` over ranked tensors with static, *global*
    shapes. Each compute op states one rule (`RuleOpInterface`); each tensor
    carries its placement on the mesh as its encoding (`#dtrain.placement`).

    Function arguments carry `dtrain.role` (what they are to the step) and
    `dtrain.name`; results carry `dtrain.updates`, the index of the argument
    they replace. The module carries `dtrain.phase`, the last phase whose
    contract it was verified to meet.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let hasOperationAttrVerify = 1;
  let dependentDialects = ["::mlir::func::FuncDialect"];
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerOps();
    void registerControlOps();
  }];
}

class DTrain_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::dtrain";
  let genSpecializedAttr = 0;
}
class DTrain_EnumAttr<EnumAttrInfo info, string mnemonic>
    : EnumAttr<DTrain_Dialect, info, mnemonic>;

def DTrain_Origin : DTrain_Enum<"Origin", "the part of the step an op belongs to", [
    I32EnumAttrCase<"forward", 0>, I32EnumAttrCase<"backward", 1>,
    I32EnumAttrCase<"recompute", 2>, I32EnumAttrCase<"update", 3>]>;
def DTrain_OriginAttr : DTrain_EnumAttr<DTrain_Origin, "origin">;

def DTrain_Role : DTrain_Enum<"Role", "what an argument is to the training step", [
    I32EnumAttrCase<"parameter", 0>, I32EnumAttrCase<"master", 1>,
    I32EnumAttrCase<"moment", 2>, I32EnumAttrCase<"accumulator", 3>,
    I32EnumAttrCase<"input", 4>, I32EnumAttrCase<"label", 5>]>;
def DTrain_RoleAttr : DTrain_EnumAttr<DTrain_Role, "role"> {
  let assemblyFormat = "`<` $value `>`";
}

def DTrain_Phase : DTrain_Enum<"Phase", "the last phase whose contract the module meets", [
    I32EnumAttrCase<"import", 0>, I32EnumAttrCase<"train", 1>,
    I32EnumAttrCase<"place", 2>, I32EnumAttrCase<"communicate", 3>,
    I32EnumAttrCase<"schedule", 4>, I32EnumAttrCase<"solve", 5>]>;
def DTrain_PhaseAttr : DTrain_EnumAttr<DTrain_Phase, "phase"> {
  let assemblyFormat = "`<` $value `>`";
}

def DTrain_Elementwise : DTrain_Enum<"Elementwise", "a function applied to each element", [
    // One operand.
    I32EnumAttrCase<"neg", 0>, I32EnumAttrCase<"exp", 1>, I32EnumAttrCase<"log", 2>,
    I32EnumAttrCase<"sqrt", 3>, I32EnumAttrCase<"rsqrt", 4>,
    I32EnumAttrCase<"reciprocal", 5>, I32EnumAttrCase<"tanh", 6>,
    I32EnumAttrCase<"sigmoid", 7>, I32EnumAttrCase<"relu", 8>,
    I32EnumAttrCase<"erf", 9>, I32EnumAttrCase<"gelu", 10>,
    I32EnumAttrCase<"gelu_tanh", 11>, I32EnumAttrCase<"silu", 12>,
    I32EnumAttrCase<"cast", 13>, I32EnumAttrCase<"scale", 14>,
    I32EnumAttrCase<"offset", 15>, I32EnumAttrCase<"power", 16>,
    I32EnumAttrCase<"logical_not", 17>,
    // Two operands.
    I32EnumAttrCase<"add", 32>, I32EnumAttrCase<"sub", 33>, I32EnumAttrCase<"mul", 34>,
    I32EnumAttrCase<"div", 35>, I32EnumAttrCase<"max", 36>, I32EnumAttrCase<"min", 37>,
    I32EnumAttrCase<"swiglu", 38>, I32EnumAttrCase<"less_equal", 39>,
    I32EnumAttrCase<"less", 40>, I32EnumAttrCase<"equal", 41>,
    I32EnumAttrCase<"logical_and", 42>, I32EnumAttrCase<"logical_or", 43>,
    // Gradients: the first operand is the result's gradient, the second the
    // operand or, for relu, tanh and sigmoid, the result.
    I32EnumAttrCase<"relu_grad", 64>, I32EnumAttrCase<"tanh_grad", 65>,
    I32EnumAttrCase<"sigmoid_grad", 66>, I32EnumAttrCase<"gelu_grad", 67>,
    I32EnumAttrCase<"gelu_tanh_grad", 68>, I32EnumAttrCase<"silu_grad", 69>,
    I32EnumAttrCase<"erf_grad", 70>, I32EnumAttrCase<"power_grad", 71>,
    // Three operands.
    I32EnumAttrCase<"where", 96>, I32EnumAttrCase<"swiglu_grad", 97>]>;
def DTrain_ElementwiseAttr : DTrain_EnumAttr<DTrain_Elementwise, "elementwise_kind"> {
  let assemblyFormat = "`<` $value `>`";
}

def DTrain_Reduction : DTrain_Enum<"Reduction", "how elements combine", [
    I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>]>;
def DTrain_ReductionAttr : DTrain_EnumAttr<DTrain_Reduction, "reduction"> {
  let assemblyFormat = "`<` $value `>`";
}

def DTrain_Norm : DTrain_Enum<"Norm", "which normalisation", [
    I32EnumAttrCase<"layer", 0>, I32EnumAttrCase<"rms", 1>]>;
def DTrain_NormAttr : DTrain_EnumAttr<DTrain_Norm, "norm"> {
  let assemblyFormat = "`<` $value `>`";
}

def DTrain_Optimizer : DTrain_Enum<"Optimizer", "which optimizer", [
    I32EnumAttrCase<"adamw", 0>, I32EnumAttrCase<"sgd", 1>]>;
def DTrain_OptimizerAttr : DTrain_EnumAttr<DTrain_Optimizer, "optimizer"> {
  let assemblyFormat = "`<` $value `>`";
}

#endif // DTRAIN_DTRAINBASE_TD
