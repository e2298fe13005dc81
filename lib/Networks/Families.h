//===- Families.h - One graph per network family ----------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// The graph of each family, and the blocks that families share. Every layer of
/// a graph is the same sequence of operators; what does not depend on the layer
/// (positions, causal mask, rotary tables) is computed once before the first.
/// `spec` has passed resolveNetwork.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_NETWORKS_FAMILIES_H
#define DTRAIN_LIB_NETWORKS_FAMILIES_H

#include "GraphBuilder.h"
#include "dtrain/Networks/Network.h"

namespace dtrain {

void buildGPT(GraphBuilder &b, const NetworkSpec &spec);
void buildLlama(GraphBuilder &b, const NetworkSpec &spec);
void buildMLP(GraphBuilder &b, const NetworkSpec &spec);

/// What all layers of a decoder read besides the residual stream.
struct SequenceInfo {
  /// int64 scalar: the length of the sequence in tokens.
  Value length;
  /// int64 [seq]: 0, 1, …
  Value positions;
  /// bool [seq, seq]: may the query of that row see the key of that column?
  Value causalMask;
};

/// Shape, Gather and Range of the second dimension of `ids` [batch, seq], and
/// the mask key <= query.
SequenceInfo buildSequenceInfo(GraphBuilder &b, const Value &ids);

/// A table of vectors and those that were looked up in it.
struct Embedding {
  Value table, vectors;
};

/// Gather of the rows `ids` from a parameter `<name>.weight` [rows, width].
Embedding buildEmbedding(GraphBuilder &b, llvm::StringRef name, int64_t rows,
                         int64_t width, const Value &ids);

/// MatMul of `x` [..., in] with the parameter `<name>.weight` [in, out], and
/// Add of `<name>.bias` [out] if asked for.
Value buildLinear(GraphBuilder &b, llvm::StringRef name, const Value &x,
                  int64_t in, int64_t out, bool bias);

/// Reshape of `x` [batch, seq, heads * width] to [batch, seq, heads, width] and
/// Transpose by `perm`.
Value buildSplitHeads(GraphBuilder &b, const Value &x, int64_t heads,
                      int64_t width, llvm::ArrayRef<int64_t> perm);

/// Causal attention of q [batch, heads, seq, width], keys transposed to
/// [batch, heads, width, seq] and v like q; heads merged to
/// [batch, seq, heads * width].
Value buildAttentionCore(GraphBuilder &b, const Value &q, const Value &kT,
                         const Value &v, int64_t heads, int64_t width,
                         const SequenceInfo &sequence);

} // namespace dtrain

#endif // DTRAIN_LIB_NETWORKS_FAMILIES_H
