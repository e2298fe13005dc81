//===- Network.h - Weightless ONNX networks of any size ---------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Forward graphs of well-known network families, written as ONNX without
/// weights: every parameter is a ConstantOfShape node with a constant shape, so
/// a trillion parameters fit in under a megabyte and any ONNX tool accepts the
/// file.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_NETWORKS_NETWORK_H
#define DTRAIN_NETWORKS_NETWORK_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace dtrain {

/// What a network is made of.
enum class NetworkFamily {
  /// GPT-2: learned positions, LayerNormalization, GELU, tied embedding.
  GPT,
  /// Llama: RMSNorm, rotary positions, SwiGLU, grouped-query attention.
  Llama,
  /// A stack of MatMul, Add and Relu.
  MLP
};

/// The name as on the command line: "gpt", "llama" or "mlp".
llvm::StringRef toString(NetworkFamily family);
/// The family of that name, or nothing.
std::optional<NetworkFamily> parseNetworkFamily(llvm::StringRef name);
/// All families, in the order in which help lists them.
llvm::ArrayRef<NetworkFamily> getNetworkFamilies();

/// The sizes of a network; all are counts of elements or of layers. A size that
/// the family does not use is 0.
struct NetworkSpec {
  NetworkFamily family = NetworkFamily::GPT;
  /// The name of the ONNX graph.
  std::string name;
  int64_t layers = 0;
  /// Width of the residual stream; for mlp of every layer.
  int64_t hidden = 0;
  /// Query heads; each is hidden / heads wide.
  int64_t heads = 0;
  /// Heads of keys and values (llama); 0: as many as query heads.
  int64_t kvHeads = 0;
  /// Width inside the feed-forward block; 0: 4 x hidden (gpt only).
  int64_t ffn = 0;
  /// Rows of the embedding and of the language-model head.
  int64_t vocab = 0;
  /// Rows of the table of positions: the longest sequence in tokens.
  int64_t seqMax = 0;
};

/// One size of NetworkSpec as the command line names it.
struct NetworkSize {
  /// Without dashes, e.g. "kv-heads".
  llvm::StringLiteral name;
  int64_t NetworkSpec::*member;

  /// Whether the family has that size at all, and whether it has no default.
  bool isUsedBy(NetworkFamily family) const { return used & bit(family); }
  bool isRequiredBy(NetworkFamily family) const {
    return required & bit(family);
  }

  static constexpr unsigned bit(NetworkFamily family) {
    return 1u << static_cast<unsigned>(family);
  }
  /// Sets of families, one `bit` each.
  unsigned used, required;
};

/// Every size, in the order in which help lists them.
llvm::ArrayRef<NetworkSize> getNetworkSizes();

/// A published network.
struct NetworkPreset {
  llvm::StringLiteral name;
  NetworkFamily family;
  int64_t layers, hidden, heads, kvHeads, ffn, vocab, seqMax;
  /// Where the sizes are published.
  llvm::StringLiteral source;

  NetworkSpec getSpec() const;
};

/// Every preset, smallest first within a family.
llvm::ArrayRef<NetworkPreset> getNetworkPresets();
/// The preset of that name, or null.
const NetworkPreset *findNetworkPreset(llvm::StringRef name);

/// Fills the family's defaults in and checks the sizes: each used one positive
/// and each unused one 0, heads dividing hidden, kv-heads dividing heads, an
/// even head width where positions are rotary, and a parameter count within 64
/// bits.
llvm::Error resolveNetwork(NetworkSpec &spec);

/// The number of trainable parameters, in closed form:
/// gpt 12Lh^2 + 13Lh + (V+s)h + 2h when ffn = 4h; fails where resolveNetwork
/// does.
llvm::Expected<int64_t> countParameters(NetworkSpec spec);

/// The serialized ONNX model (IR 8, opset 17, standard operators only), with
/// the symbolic dimensions "batch" and "seq"; the output "logits" comes last in
/// the graph. The same spec gives the same bytes. Fails where resolveNetwork
/// does.
llvm::Expected<std::string> writeNetwork(NetworkSpec spec);

} // namespace dtrain

#endif // DTRAIN_NETWORKS_NETWORK_H
