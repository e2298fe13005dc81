//===- TestModel.td - Ops that dtrain does not know ----------*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An attention, a normalisation and a loss of another dialect, with letters of
// their own. A model written with them must train, be placed, be proved and
// cost what one of dtrain's ops does.
//
//===----------------------------------------------------------------------===//

#ifndef TESTMODEL_TD
#define TESTMODEL_TD

include "dtrain/DTrainCompute.td"

def TestModel_Dialect : Dialect {
  let name = "testmodel";
  let cppNamespace = "::testmodel";
  let dependentDialects = ["::dtrain::DTrainDialect"];
  let extraClassDeclaration = [{
    /// Makes the interpreter know the kernels.
    void registerKernels();
  }];
}

class TestModel_Op<string m, string ruleString, dag args, dag outs, list<Trait> traits = [], code extra = "">
    : DTrain_RuleOp<TestModel_Dialect, m, ruleString, args, outs, traits, extra>;

def TestModel_AttendOp : TestModel_Op<"attend",
    "n h m q c, n h k c, n h k v -> n h m q v, n h m q | whole c v | stat k"
    " | contract 2 n h m q k c + 2 n h m q k v | flops 2 n h m q k c + 2 n h m q k v + 5 n h m q k",
    (ins T:$query, T:$key, T:$value, F64Attr:$scale), (outs T:$output, T:$lse), [Differentiable, Attention],
    Expandable<OpClassIs<"Attention">.decl>.decl> {
  let assemblyFormat = "operands `scale` $scale " # tail;
}
def TestModel_AttendGradOp : TestModel_Op<"attend_grad",
    "n h m q v, n h m q c, n h k c, n h k v, n h m q v, n h m q -> n h m q c, n h k c, n h k v"
    " | whole c v | sum 0 | contract 4 n h m q k c + 4 n h m q k v | flops 6 n h m q k c + 4 n h m q k v",
    (ins T:$grad, T:$query, T:$key, T:$value, T:$output, T:$lse, F64Attr:$scale),
    (outs T:$grad_query, T:$grad_key, T:$grad_value), [Attention], OpClassIs<"AttentionBackward">.decl> {
  let assemblyFormat = "operands `scale` $scale " # tail;
}

def TestModel_StandardizeOp : TestModel_Op<"standardize", "... w, w, w -> ... w | stat w | flops 8 ... w",
    (ins T:$input, T:$scale, T:$bias, F64Attr:$epsilon), (outs T:$result), [Differentiable], Expandable<>.decl> {
  let assemblyFormat = "operands `epsilon` $epsilon " # tail;
}
def TestModel_StandardizeGradOp : TestModel_Op<"standardize_grad",
    "... w, ... w, w -> ... w, w, w | stat w | sum 0 | flops 12 ... w",
    (ins T:$grad, T:$input, T:$scale, F64Attr:$epsilon), (outs T:$grad_input, T:$grad_scale, T:$grad_bias), [],
    Expandable<>.decl> {
  let assemblyFormat = "operands `epsilon` $epsilon " # tail;
}

def TestModel_SurpriseOp : TestModel_Op<"surprise", "i... w, i... -> i..., i... | stat w | flops 5 i... w | index 1 w",
    (ins T:$logits, T:$labels), (outs T:$loss, T:$lse), [Differentiable],
    Expandable<OpClassIs<"Loss">.decl>.decl>;
def TestModel_SurpriseGradOp : TestModel_Op<"surprise_grad",
    "i..., i... w, i..., i... -> i... w | sum 0 | flops 4 i... w | index 2 w",
    (ins T:$grad, T:$logits, T:$labels, T:$lse), (outs T:$result), [], OpClassIs<"LossBackward">.decl>;

// Ops that break a promise.
def TestModel_NamelessOp : TestModel_Op<"nameless", "n -> n | flops 1 n", (ins T:$input), (outs T:$result), [],
    OpClassIs<"Attention">.decl> {
  let summary = "An attention that does not say what its factors are";
}
def TestModel_UnexpandedOp : TestModel_Op<"unexpanded", "n w, n -> n | stat w | flops 1 n w | index 1 w",
    (ins T:$logits, T:$labels), (outs T:$result)> {
  let summary = "A lookup whose rule says `stat`, without an expansion or a kernel";
}

#endif // TESTMODEL_TD
