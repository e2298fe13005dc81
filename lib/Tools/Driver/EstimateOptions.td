//===- EstimateOptions.td - Options of dtrain estimate -----*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

include "llvm/Option/OptParser.td"

// `--name VALUE` and `--name=VALUE`.
multiclass Valued<string name, string metaVar, string help> {
  def NAME : Separate<["--"], name>, MetaVarName<metaVar>, HelpText<help>;
  def NAME #_eq : Joined<["--"], name #"=">, Alias<!cast<Separate>(NAME)>;
}

defm target : Valued<"target", "<name|file>", "The machine; there is no default">;
defm target_path : Valued<"target-path", "<dir>",
    "Folder searched before the shipped descriptions; may be repeated">;
defm devices : Valued<"devices", "<count>",
    "Accelerators; the product of the degrees">;
defm parallel : Valued<"parallel", "<axis=degree,…>",
    "Degrees of tp, cp, ep, dp, pp, and vpp chunks per stage; unnamed ones are 1">;
defm order : Valued<"order", "<axis,…>",
    "Axes by how fast they vary over devices (default: tp,cp,ep,dp,pp)">;
defm global_batch : Valued<"global-batch", "<samples>", "Samples in one step">;
defm micro_batch : Valued<"micro-batch", "<samples>",
    "Samples of one micro-batch on one data-parallel rank">;
defm bind : Valued<"bind", "<name=size>",
    "Size of a symbolic dimension of the model; may be repeated">;
defm batch_dim : Valued<"batch-dim", "<name>",
    "The model's symbolic batch dimension (default: the first dimension of the first input)">;
def rebatch : Flag<["--"], "rebatch">,
    HelpText<"Replace a batch that the model fixes to a number">;
defm stack : Valued<"stack", "<name|file>",
    "The software stack (default: megatron-core)">;
defm overlap_dp : Valued<"overlap-dp", "<yes|no>",
    "Whether gradient synchronisation overlaps backward (default: the stack's)">;
defm recompute : Valued<"recompute", "<none|selective|full>",
    "What backward computes again (default: none)">;
defm schedule : Valued<"schedule", "<gpipe|1f1b|interleaved>",
    "Order of the micro-batches (default: 1f1b; interleaved with vpp)">;
defm precision : Valued<"precision", "<bf16|fp16|fp32>",
    "Type to compute in (default: bf16)">;
defm optimizer : Valued<"optimizer", "<adamw|sgd>", "The optimizer (default: adamw)">;
def sequence_parallel : Flag<["--"], "sequence-parallel">,
    HelpText<"Sequence parallelism on the tensor-parallel axis (not built yet)">;
defm zero : Valued<"zero", "<0..3>", "Stage of ZeRO (default: 0; others are not built yet)">;
defm tokens : Valued<"tokens", "<count>", "Tokens of the whole run, as 300e9">;
defm steps : Valued<"steps", "<count>", "Steps of the whole run">;
defm to : Valued<"to", "<phase>",
    "Stop after import, train, place, communicate, schedule or solve and print the program">;
defm format : Valued<"format", "<format>",
    "text, json, csv, operators, chrome-trace or mlir (default: text)">;

def output : Separate<["-"], "o">, MetaVarName<"<file>">,
    HelpText<"The file to write; - is standard output (default)">;
def output_long : Separate<["--"], "output">, Alias<output>;
def output_eq : Joined<["--"], "output=">, Alias<output>;

def help : Flag<["--"], "help">, HelpText<"Print this text">;
def help_short : Flag<["-"], "h">, Alias<help>;
