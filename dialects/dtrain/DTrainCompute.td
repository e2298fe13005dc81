//===- DTrainCompute.td - What compute ops are made of -------*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Classes of ops with a rule, for this dialect and for others that extend it.
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_DTRAINCOMPUTE_TD
#define DTRAIN_DTRAINCOMPUTE_TD

include "dtrain/DTrainAttrs.td"
include "dtrain/DTrainInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

defvar T = AnyRankedTensor;
/// An op with a backward.
defvar Differentiable = DeclareOpInterfaceMethods<DifferentiableOpInterface>;

/// A compute op of any dialect. `ruleString` is its rule where all instances
/// share one; else the op defines `getRule()`.
class DTrain_RuleOp<Dialect dialect, string m, string ruleString, dag args, dag outs,
                    list<Trait> traits = [], code extra = "">
    : Op<dialect, m, !listconcat([Pure, RuleOpInterface], traits)> {
  let arguments = !con(args, (ins
      DefaultValuedAttr<DTrain_OriginAttr, "::dtrain::Origin::forward">:$origin,
      OptionalAttr<DTrain_OpStateAttr>:$state));
  let results = outs;
  defvar shared = [{
    ::dtrain::Rule getRule() {
      static const ::dtrain::Rule rule = ::dtrain::parseRuleOrDie(getRuleText());
      return rule;
    }
  }];
  let extraClassDeclaration = [{
    static ::llvm::StringRef getRuleText() { return "}] # ruleString # [{"; }
  }] # !if(!empty(ruleString), [{ ::dtrain::Rule getRule(); }], shared) # extra;
  string rule = ruleString;
  string tail = "(`origin` `` $origin^)? (`state` $state^)? attr-dict `:` functional-type(operands, results)";
  let assemblyFormat = "operands " # tail;
}
class OpClassIs<string c> {
  code decl = [{ ::dtrain::OpClass getOpClass() { return ::dtrain::OpClass::}] # c # [{; } }];
}
/// An op whose rule has a `stat` factor.
class Expandable<code more = ""> {
  code decl = more # [{
    ::llvm::LogicalResult expand(::mlir::OpBuilder &builder,
                                 ::llvm::SmallVectorImpl<::mlir::Value> &results);
  }];
}
defvar Attention = DeclareOpInterfaceMethods<AttentionOpInterface>;

#endif // DTRAIN_DTRAINCOMPUTE_TD
