//===- Passes.td - Phase import: from primitives to ops ----*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_FUSE_PASSES_TD
#define DTRAIN_TRANSFORMS_FUSE_PASSES_TD

include "mlir/Pass/PassBase.td"

def Fuse : Pass<"dtrain-fuse", "::mlir::ModuleOp"> {
  let summary = "Replace primitives by the ops that they spell";
  let description = [{
    Recognises linear layers with a bias, GELU, SiLU and SwiGLU, layer and RMS
    normalisation, rotary positions, attention (with a causal mask, grouped
    queries and any layout of heads) and cross-entropy, however an exporter
    spelled them, and replaces them by the one op that computes the same.
    Composes moves and merges equal ops on the way. What is not provably the
    same function stays, and a remark says why of a softmax between two
    contractions.

    Constants that import did not read are 0 everywhere (rotary tables): that
    the two halves of such a table are the same follows.
  }];
  let options = [
    Option<"attention", "attention", "bool", "true", "Fuse attention">,
    Option<"normalization", "normalization", "bool", "true", "Fuse layer and RMS normalisation">,
    Option<"activation", "activation", "bool", "true", "Fuse GELU, SiLU and SwiGLU">,
    Option<"bias", "bias", "bool", "true", "Fuse biases into contractions">,
    Option<"rotary", "rotary", "bool", "true", "Fuse rotary positions">,
    Option<"loss", "loss", "bool", "true", "Fuse cross-entropy">,
    Option<"projection", "projection", "bool", "true",
           "Make slices of a contraction's columns in equal parts a view">,
  ];
}

def VerifyImport : Pass<"dtrain-verify-import", "::mlir::ModuleOp"> {
  let summary = "A forward program from named arguments to one scalar loss";
  let description = [{
    Verifies the module, and the contract of the import phase: `@main` has one
    block, arguments with the role of a parameter, an input or a label, and one
    result, the scalar loss; all ops are forward compute ops and repeats. Reports
    every breach; sets `dtrain.phase`.
  }];
}

#endif // DTRAIN_TRANSFORMS_FUSE_PASSES_TD
