//===- DTrainOps.td - Compute ops ----------------------------*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_DTRAINOPS_TD
#define DTRAIN_DTRAINOPS_TD

include "dtrain/DTrainCompute.td"
include "mlir/IR/BuiltinAttributes.td"

/// A compute op of this dialect.
class DTrain_ComputeOp<string m, string ruleString, dag args, dag outs,
                       list<Trait> traits = [], code extra = "">
    : DTrain_RuleOp<DTrain_Dialect, m, ruleString, args, outs, traits, extra>;

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

def DTrain_DotOp : DTrain_ComputeOp<"dot", "", (ins Variadic<T>:$inputs, DTrain_RuleAttr:$einsum),
    (outs T:$result), [Differentiable], OpClassIs<"Contraction">.decl> {
  let summary = "General contraction, with an optional addend";
  let description = [{
    `%y = dtrain.dot %x, %w, %b rule("b s k, k n, n -> b s n") : …`: any einsum of
    two operands; a third is added (a bias). That it is linear (`sum 0*1`, with an
    addend `sum 0*1+2`) and its multiply-adds (`contract 2 <all factors>`) follow.

    Constraints:
    - C1: two or three operands.
    - C2: the rule has one result, no declared factor kinds and no clauses.
    - C3: every factor of the result is in operand 0 or 1.
  }];
  let assemblyFormat = "operands `rule` `(` custom<RuleText>($einsum) `)` " # tail;
  let hasVerifier = 1;
}

def DTrain_AttentionOp : DTrain_ComputeOp<"attention",
    "b g r s d, b g t d, b g t e -> b g r s e, b g r s | whole d e | stat t"
    " | contract 2 b g r s t d + 2 b g r s t e | flops 2 b g r s t d + 2 b g r s t e + 5 b g r s t",
    (ins T:$query, T:$key, T:$value, UnitAttr:$causal, F64Attr:$scale),
    (outs T:$output, T:$lse), [Differentiable, Attention], Expandable<OpClassIs<"Attention">.decl>.decl> {
  let summary = "Scaled dot-product attention, heads = (g r), key/value heads = g";
  let description = [{
    output = softmax(scale * query key^T) value over keys t; with `causal`, key t
    is visible to query s if t <= s (global indices). `lse` is the logarithm of
    the sum of exponentials, kept for backward. Grouped-query attention has
    r > 1; multi-query g = 1.
  }];
  let assemblyFormat = "operands (`causal` $causal^)? `scale` $scale " # tail;
}

def DTrain_AttentionGradOp : DTrain_ComputeOp<"attention_grad",
    "b g r s e, b g r s d, b g t d, b g t e, b g r s e, b g r s -> b g r s d, b g t d, b g t e"
    " | whole d e | sum 0 | contract 4 b g r s t d + 4 b g r s t e"
    " | flops 6 b g r s t d + 4 b g r s t e",
    (ins T:$grad, T:$query, T:$key, T:$value, T:$output, T:$lse, UnitAttr:$causal, F64Attr:$scale),
    (outs T:$grad_query, T:$grad_key, T:$grad_value), [Attention], OpClassIs<"AttentionBackward">.decl> {
  let summary = "Gradients of attention in query, key and value";
  let description = [{
    Given lse, the keys are an ordinary factor: reduced for the query's gradient,
    parallel for the others.
  }];
  let assemblyFormat = "operands (`causal` $causal^)? `scale` $scale " # tail;
}

//===----------------------------------------------------------------------===//
// Elementwise, reductions, normalisations
//===----------------------------------------------------------------------===//

def DTrain_ElementwiseOp : DTrain_ComputeOp<"elementwise", "",
    (ins DTrain_ElementwiseAttr:$kind, Variadic<T>:$inputs, OptionalAttr<F64Attr>:$constant),
    (outs Variadic<T>:$results), [Differentiable], [{
      bool broadcasts() { return true; }
      ::dtrain::OpClass getOpClass() { return ::dtrain::OpClass::MemoryBound; }
    }]> {
  let summary = "A function of each element, with broadcasting";
  let description = [{
    `%c = dtrain.elementwise<add> %a, %b : …`. Operands are right-aligned; a
    dimension of size 1 is broadcast. `scale`, `offset`, `power` and
    `power_grad` take `constant`.

    Constraints:
    - C1: `constant` exactly where the kind takes it.
  }];
  let assemblyFormat = "$kind operands (`constant` $constant^)? " # tail;
  let hasVerifier = 1;
}

def DTrain_ReductionOp : DTrain_ComputeOp<"reduce", "",
    (ins DTrain_ReductionAttr:$kind, T:$input, DTrain_RuleAttr:$einsum), (outs T:$result), [Differentiable]> {
  let summary = "Sum or maximum over the factors that the result lacks";
  let description = [{
    `%s = dtrain.reduce<sum> %x rule("b s n -> n") : …`

    Constraints:
    - C1: one operand, one result, no clauses, and the result's factors are a
      subset of the operand's.
  }];
  let assemblyFormat = "$kind operands `rule` `(` custom<RuleText>($einsum) `)` " # tail;
  let hasVerifier = 1;
}

def DTrain_SoftmaxOp : DTrain_ComputeOp<"softmax", "... n -> ... n | stat n | flops 5 ... n",
    (ins T:$input), (outs T:$result), [Differentiable], Expandable<>.decl> {
  let summary = "Softmax over the last dimension";
}
def DTrain_SoftmaxGradOp : DTrain_ComputeOp<"softmax_grad",
    "... n, ... n -> ... n | stat n | sum 0 | flops 4 ... n", (ins T:$grad, T:$output), (outs T:$result), [],
    Expandable<>.decl> {
  let summary = "Gradient of softmax, from its result";
}

def DTrain_NormalizeOp : DTrain_ComputeOp<"normalize", "",
    (ins DTrain_NormAttr:$kind, T:$input, T:$scale, Optional<T>:$bias, F64Attr:$epsilon),
    (outs T:$result), [Differentiable], Expandable<>.decl> {
  let summary = "Layer or RMS normalisation over the last dimension";
  let description = [{
    layer: (x - mean) / sqrt(var + epsilon) * scale + bias; rms: x /
    sqrt(mean(x^2) + epsilon) * scale.

    Constraints:
    - C1: `rms` has no bias.
  }];
  let assemblyFormat = "$kind operands `epsilon` $epsilon " # tail;
  let hasVerifier = 1;
}
def DTrain_NormalizeGradOp : DTrain_ComputeOp<"normalize_grad", "",
    (ins DTrain_NormAttr:$kind, T:$grad, T:$input, T:$scale, F64Attr:$epsilon),
    (outs T:$grad_input, T:$grad_scale, Optional<T>:$grad_bias), [], Expandable<>.decl> {
  let summary = "Gradients of normalisation in input, scale and bias";
  let assemblyFormat = "$kind operands `epsilon` $epsilon " # tail;
}

def DTrain_RotaryOp : DTrain_ComputeOp<"rotary",
    "... s d, s c, s c -> ... s d | whole d c | sum 0 | flops 3 ... s d",
    (ins T:$input, T:$cos, T:$sin, UnitAttr:$interleaved, UnitAttr:$inverse), (outs T:$result), [Differentiable]> {
  let summary = "Rotary position embedding";
  let description = [{
    Rotates pairs of the last dimension by the position's angle. The pairs are
    (i, i + c) or, `interleaved`, (2i, 2i + 1), where c is the extent of the
    tables; elements beyond 2c pass through. `inverse` rotates backwards, which is
    the gradient.

    Constraints:
    - C1: 2c <= d.
  }];
  let assemblyFormat = "operands (`interleaved` $interleaved^)? (`inverse` $inverse^)? " # tail;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Lookup and loss
//===----------------------------------------------------------------------===//

def DTrain_GatherOp : DTrain_ComputeOp<"gather",
    "i..., v d -> i... d | sum 1 | flops 0 | touch 1: i... d | copy 1 | index 0 v", (ins T:$indices, T:$table),
    (outs T:$result), [Differentiable]> {
  let summary = "Rows of a table (embedding lookup)";
}
def DTrain_ScatterAddOp : DTrain_ComputeOp<"scatter_add",
    "i..., i... d -> v d | sum 1 | flops 1 i... d | index 0 v", (ins T:$indices, T:$updates), (outs T:$result)> {
  let summary = "Adds rows into a table of zeros: the gradient of gather";
}
def DTrain_PickOp : DTrain_ComputeOp<"pick",
    "... v, ... -> ... | sum 0 | flops 0 | touch 0: ... | copy 0 | index 1 v", (ins T:$input, T:$indices), (outs T:$result)> {
  let summary = "One element of each row";
}
def DTrain_CrossEntropyOp : DTrain_ComputeOp<"cross_entropy",
    "... v, ... -> ..., ... | stat v | flops 5 ... v | index 1 v",
    (ins T:$logits, T:$labels), (outs T:$loss, T:$lse), [Differentiable], Expandable<OpClassIs<"Loss">.decl>.decl> {
  let summary = "Negative log-likelihood of the labels, and the log of the sum of exponentials";
}
def DTrain_CrossEntropyGradOp : DTrain_ComputeOp<"cross_entropy_grad",
    "..., ... v, ..., ... -> ... v | sum 0 | flops 4 ... v | index 2 v",
    (ins T:$grad, T:$logits, T:$labels, T:$lse), (outs T:$result), [], OpClassIs<"LossBackward">.decl> {
  let summary = "grad * (exp(logits - lse) - one_hot(labels))";
}
def DTrain_SumExpOp : DTrain_ComputeOp<"sum_exp", "... v, ... -> ... | flops 4 ... v",
    (ins T:$input, T:$max), (outs T:$result), [], OpClassIs<"Loss">.decl> {
  let summary = "Sum of exp(input - max) over the last dimension: a piece of cross-entropy's expansion";
}

//===----------------------------------------------------------------------===//
// Data movement and constants
//===----------------------------------------------------------------------===//

def DTrain_MoveOp : DTrain_ComputeOp<"move", "", (ins T:$input, DTrain_RuleAttr:$einsum), (outs T:$result),
    [Differentiable], OpClassIs<"Move">.decl> {
  let summary = "Reshape, transpose, expand: any bijection of factors";
  let description = [{
    `%h = dtrain.move %x rule("b s (g e) -> b g s e") : …`. Factors only in the
    result are generated (expand).

    Constraints:
    - C1: one operand, one result, no clauses, and every factor of the operand is
      in the result.
  }];
  let assemblyFormat = "operands `rule` `(` custom<RuleText>($einsum) `)` " # tail;
  let hasVerifier = 1;
}
def DTrain_ConcatOp : DTrain_ComputeOp<"concat", "", (ins Variadic<T>:$inputs, I64Attr:$dim),
    (outs T:$result), [Differentiable]> {
  let summary = "Concatenation along one dimension";
  let description = [{
    Constraints:
    - C1: at least one operand; `dim` is in range; the extents along it add up.
  }];
  let assemblyFormat = "operands `dim` $dim " # tail;
  let hasVerifier = 1;
}
def DTrain_SliceOp : DTrain_ComputeOp<"slice", "", (ins T:$input, I64Attr:$dim, I64Attr:$offset),
    (outs T:$result), [Differentiable], OpClassIs<"Move">.decl> {
  let summary = "A contiguous part of one dimension, as long as the result's";
  let description = [{
    Constraints:
    - C1: `dim` is in range; 0 <= offset and offset + extent <= the operand's.
  }];
  let assemblyFormat = "operands `dim` $dim `offset` $offset " # tail;
  let hasVerifier = 1;
}
def DTrain_PadOp : DTrain_ComputeOp<"pad", "", (ins T:$input, I64Attr:$dim, I64Attr:$offset),
    (outs T:$result), [Differentiable]> {
  let summary = "Zeros around a part of one dimension: the gradient of slice";
  let description = [{
    Constraints:
    - C1: `dim` is in range; 0 <= offset and offset + extent <= the result's.
  }];
  let assemblyFormat = "operands `dim` $dim `offset` $offset " # tail;
  let hasVerifier = 1;
}
def DTrain_ConstantOp : DTrain_ComputeOp<"constant", "", (ins F64Attr:$value), (outs T:$result), [],
    OpClassIs<"Move">.decl> {
  let summary = "A tensor with one value everywhere";
  let assemblyFormat = "$value " # tail;
}
def DTrain_IotaOp : DTrain_ComputeOp<"iota", "", (ins I64Attr:$dim), (outs T:$result), [],
    OpClassIs<"Move">.decl> {
  let summary = "The index along one dimension";
  let description = [{
    Constraints:
    - C1: `dim` is in range.
  }];
  let assemblyFormat = "`dim` $dim " # tail;
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Optimizer, custom
//===----------------------------------------------------------------------===//

def DTrain_UpdateOp : DTrain_ComputeOp<"update", "",
    (ins DTrain_OptimizerAttr:$kind, Variadic<T>:$inputs, F64Attr:$learning_rate),
    (outs Variadic<T>:$results), [UpdateOpInterface], [{
      /// A stack states the traffic of mixed-precision Adam; others are bound
      /// by memory.
      ::dtrain::OpClass getOpClass() {
        return getKind() == ::dtrain::Optimizer::adamw ? ::dtrain::OpClass::Optimizer
                                                       : ::dtrain::OpClass::MemoryBound;
      }
      ::mlir::OpOperand &getGradientOperand() {
        return getOperation()->getOpOperand(getNumOperands() - 1);
      }
    }]> {
  let summary = "One optimizer step on one parameter";
  let description = [{
    adamw: (master, m, v, gradient) -> (master, m, v), with beta = (0.9, 0.999),
    epsilon 1e-8, weight decay 0.01, first step (bias corrections 1 - beta).
    sgd: (master, momentum, gradient) -> (master, momentum), momentum 0.9.
  }];
  let assemblyFormat = "$kind operands `learning_rate` $learning_rate " # tail;
}
def DTrain_CustomOp : DTrain_ComputeOp<"custom", "",
    (ins StrAttr:$name, Variadic<T>:$inputs, DTrain_RuleAttr:$einsum), (outs Variadic<T>:$results)> {
  let summary = "An op modelled by its user: an explicit rule with its own flops clause";
  let description = [{
    Constraints:
    - C1: the rule states `flops`: work is given, never guessed.
  }];
  let assemblyFormat = "$name `(` operands `)` `rule` `(` custom<RuleText>($einsum) `)` " # tail;
  let hasVerifier = 1;
}

#endif // DTRAIN_DTRAINOPS_TD
