//===- ModelOptions.td - Options of dtrain model -----------*- tablegen -*-===//
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

defm preset : Valued<"preset", "<name>",
    "A published network of that family, see below; excludes the sizes">;
defm layers : Valued<"layers", "<count>",
    "Number of layers, all alike (all families)">;
defm hidden : Valued<"hidden", "<elements>",
    "Width of the residual stream in elements; for mlp of every layer (all families)">;
defm heads : Valued<"heads", "<count>",
    "Number of query heads; divides --hidden (gpt, llama)">;
defm kv_heads : Valued<"kv-heads", "<count>",
    "Number of key and value heads; divides --heads (llama; default: --heads)">;
defm ffn : Valued<"ffn", "<elements>",
    "Width of the feed-forward block in elements (llama; gpt, default: 4 x --hidden)">;
defm vocab : Valued<"vocab", "<tokens>",
    "Size of the vocabulary in tokens (gpt, llama)">;
defm seq_max : Valued<"seq-max", "<tokens>",
    "Longest sequence in tokens: rows of the table of positions (gpt, llama)">;

def output : Separate<["-"], "o">, MetaVarName<"<file>">,
    HelpText<"The ONNX file to write; - is standard output">;
def output_long : Separate<["--"], "output">, Alias<output>;
def output_eq : Joined<["--"], "output=">, Alias<output>;

def help : Flag<["--"], "help">, HelpText<"Print this text">;
def help_short : Flag<["-"], "h">, Alias<help>;
