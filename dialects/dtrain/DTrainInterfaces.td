//===- DTrainInterfaces.td - What every op answers -----------*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_DTRAININTERFACES_TD
#define DTRAIN_DTRAININTERFACES_TD

include "mlir/IR/OpBase.td"

def RuleOpInterface : OpInterface<"RuleOpInterface"> {
  let cppNamespace = "::dtrain";
  let description = [{
    An op whose meaning for shapes, placement, work and linearity is one rule.
    Every pass that is not a kernel asks this interface and nothing else.
  }];
  let methods = [
    InterfaceMethod<"The rule, possibly with runs.", "::dtrain::Rule", "getRule">,
    InterfaceMethod<"Whether operands broadcast as elementwise ops do.",
                    "bool", "broadcasts", (ins), "", "return false;">,
    InterfaceMethod<"How the cost model classifies the op.",
                    "::dtrain::OpClass", "getOpClass", (ins), "",
                    "return ::dtrain::OpClass::MemoryBound;">,
    InterfaceMethod<"The part of the step it belongs to.", "::dtrain::Origin", "getOrigin">,
    InterfaceMethod<"Sets the origin.", "void", "setOrigin", (ins "::dtrain::Origin":$origin)>,
    InterfaceMethod<"Its placement, between place and communicate.",
                    "::dtrain::OpStateAttr", "getStateAttr">,
    InterfaceMethod<"Sets the placement.", "void", "setStateAttr",
                    (ins "::dtrain::OpStateAttr":$state)>,
    InterfaceMethod<"Removes the placement.", "::mlir::Attribute", "removeStateAttr">,
    InterfaceMethod<[{
        Builds ops that compute the same and that may split the factors which
        the rule calls `stat`, and gives their results. Every op with such a
        factor has it.
      }], "::llvm::LogicalResult", "expand",
      (ins "::mlir::OpBuilder &":$builder,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$results), "",
      "return ::mlir::failure();">,
    StaticInterfaceMethod<"The rule's text where all instances share it, else empty.",
                          "::llvm::StringRef", "getRuleText">,
  ];
  let extraSharedClassDeclaration = [{
    /// The rule with runs replaced and sizes bound from the operand and result
    /// types. The verifier has seen that it binds.
    ::dtrain::BoundRule getBoundRule() {
      return ::llvm::cantFail(::dtrain::bindRule($_op));
    }
  }];
  let verify = [{ return ::dtrain::verifyRuleOp($_op); }];
}

def AttentionOpInterface : OpInterface<"AttentionOpInterface"> {
  let cppNamespace = "::dtrain";
  let description = [{
    The core of an attention, forward or backward: which factors of its rule are
    what. An op of class `Attention` or `AttentionBackward` has it.
  }];
  let methods = [
    InterfaceMethod<"The factors by what they are, in the op's rule.",
                    "::dtrain::AttentionFactors", "getAttentionFactors">,
    InterfaceMethod<"Whether a query sees no key after it.", "bool", "isCausal">,
  ];
  let verify = [{ return ::dtrain::verifyAttentionOp($_op); }];
}

def UpdateOpInterface : OpInterface<"UpdateOpInterface"> {
  let cppNamespace = "::dtrain";
  let description = [{
    An optimizer's step: its results replace a parameter and what belongs to it,
    the parameter (or its master copy) first.
  }];
  let methods = [
    InterfaceMethod<"The operand that is the parameter's gradient.",
                    "::mlir::OpOperand &", "getGradientOperand">,
  ];
}

def DifferentiableOpInterface : OpInterface<"DifferentiableOpInterface"> {
  let cppNamespace = "::dtrain";
  let description = [{
    An op with a backward. `buildBackward` receives one gradient per result
    (null where none flows) and sets one gradient per operand, leaving null what
    is not wanted or not differentiable. A gradient has its operand's shape.
  }];
  let methods = [
    InterfaceMethod<"Builds the backward ops.", "::llvm::LogicalResult", "buildBackward",
      (ins "::mlir::OpBuilder &":$builder, "::llvm::ArrayRef<::mlir::Value>":$resultGrads,
           "::llvm::ArrayRef<bool>":$wanted,
           "::llvm::SmallVectorImpl<::mlir::Value> &":$operandGrads)>,
  ];
}

def CommOpInterface : OpInterface<"CommOpInterface"> {
  let cppNamespace = "::dtrain";
  let description = [{
    A communication: one operand, one result, types that differ in the state of
    exactly one mesh axis.
  }];
  let methods = [
    InterfaceMethod<"The mesh axis.", "::llvm::StringRef", "getAxis">,
    InterfaceMethod<"Why it exists, for remarks.", "std::optional<::llvm::StringRef>", "getWhy">,
    InterfaceMethod<"The part of the step it belongs to.", "::dtrain::Origin", "getOrigin">,
    InterfaceMethod<"Sets the origin.", "void", "setOrigin", (ins "::dtrain::Origin":$origin)>,
    StaticInterfaceMethod<"The transitions this op performs.",
      "::llvm::ArrayRef<::dtrain::Transition>", "getTransitions">,
  ];
  let verify = [{ return ::dtrain::verifyCommOp($_op); }];
}

#endif // DTRAIN_DTRAININTERFACES_TD
