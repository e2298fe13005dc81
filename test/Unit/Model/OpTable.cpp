//===- OpTable.cpp - The rules of the op table, with sizes ----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"

using namespace dtrain;
using namespace dtrain::test;

const std::vector<OpTableEntry> &dtrain::test::opTable() {
  static const std::vector<OpTableEntry> table = {
      {"dot",
       "b m k, b k n -> b m n | sum 0*1 | contract 2 b m n k",
       {{4, 12, 24}, {4, 24, 8}}},
      {"gemm",
       "m k, k n, n -> m n | sum 0*1 + 2 | contract 2 m k n",
       {{12, 24}, {24, 8}, {8}}},
      {"conv 1-d",
       "b (g c) (x u), (g o) c k -> b (g o) x | whole u k | "
       "window 0.2 x 1 1 | sum 0*1 | contract 2 b g o x c k",
       {{4, 12, 32}, {8, 6, 3}},
       {{"u", 2}}},
      {"conv 2-d",
       "b (g c) (x u) (y v), (g o) c k l -> b (g o) x y | whole u v k l | "
       "window 0.2 x 1 1 | window 0.3 y 2 2 | sum 0*1 | "
       "contract 2 b g o x y c k l",
       {{4, 12, 32, 16}, {8, 6, 3, 5}},
       {{"u", 2}, {"v", 1}}},
      {"conv data gradient",
       "b (g o) x, (g o) c k -> b (g c) (x u) | whole k u | window 0.2 x 1 1 "
       "| sum 0*1 | contract 2 b g o x c k",
       {{4, 8, 16}, {8, 6, 3}},
       {{"g", 2}, {"u", 2}}},
      {"conv weight gradient",
       "b (g c) (x u), b (g o) x -> (g o) c k | whole u k | window 0.2 x 1 1 "
       "| sum 0*1 | contract 2 b g o x c k",
       {{4, 12, 32}, {4, 8, 16}},
       {{"g", 2}, {"k", 3}}},
      {"attention",
       "b g r s d, b g t d, b g t e -> b g r s e, b g r s | whole d e | stat t "
       "| contract 2 b g r s t d + 2 b g r s t e | flops 2 b g r s t d + 2 b g "
       "r s t e + 5 b g r s t",
       {{4, 2, 3, 12, 8}, {4, 2, 24, 8}, {4, 2, 24, 16}}},
      {"attention gradient",
       "b g r s d, b g t d, b g t e, b g r s e, b g r s, b g r s e -> b g r s "
       "d, b g t d, b g t e | whole d e | sum 5 | contract 4 b g r s t d + 4 b "
       "g r s t e | flops 6 b g r s t d + 4 b g r s t e",
       {{4, 2, 3, 12, 8},
        {4, 2, 24, 8},
        {4, 2, 24, 16},
        {4, 2, 3, 12, 16},
        {4, 2, 3, 12},
        {4, 2, 3, 12, 16}}},
      {"unary", "... -> ... | flops 4 ...", {{4, 12, 8}}},
      {"linear unary", "... -> ... | sum 0", {{4, 12, 8}}},
      {"elementwise gradient", "..., ... -> ... | sum 0", {{4, 8}, {4, 8}}},
      {"add", "..., ... -> ... | sum 0 + 1", {{4, 12, 8}, {8}}, {}, true},
      {"add scalar", "..., () -> ... | sum 0 + 1", {{4, 12, 8}, {}}},
      {"mul", "..., ... -> ... | sum 0*1", {{4, 12, 8}, {12, 1}}, {}, true},
      {"div", "..., ... -> ... | sum 0", {{4, 8}, {4, 8}}},
      {"max2", "..., ... -> ...", {{4, 8}, {4, 8}}},
      {"where", "..., ..., ... -> ... | sum 1 + 2", {{4, 8}, {4, 8}, {4, 8}}},
      {"reduce sum", "b n -> b | sum 0", {{12, 8}}},
      {"reduce to a scalar", "... -> () | sum 0", {{12, 8}}},
      {"reduce max", "b n -> b | max n", {{12, 8}}},
      {"reduce min", "b n -> b | min n", {{12, 8}}},
      {"softmax", "... n -> ... n | stat n | flops 5 ... n", {{4, 12, 8}}},
      {"softmax gradient",
       "... n, ... n -> ... n | stat n | sum 0 | flops 4 ... n",
       {{4, 8}, {4, 8}}},
      {"layer norm",
       "... d, d, d -> ... d, ..., ... | stat d | flops 8 ... d",
       {{4, 12, 8}, {8}, {8}}},
      {"layer norm gradient",
       "... d, ... d, d, ..., ... -> ... d, d, d | stat d | sum 0",
       {{4, 12, 8}, {4, 12, 8}, {8}, {4, 12}, {4, 12}}},
      {"rms norm",
       "... d, d -> ... d | stat d | flops 5 ... d",
       {{4, 12, 8}, {8}}},
      {"batch norm",
       "b c x..., c, c -> b c x... | stat b x... | flops 8 b c x...",
       {{4, 12, 8, 6}, {12}, {12}}},
      {"group norm",
       "b (g c) x, (g c), (g c) -> b (g c) x | stat c x",
       {{4, 12, 8}, {12}, {12}},
       {{"g", 4}}},
      {"gather",
       "i..., v d -> i... d | sum 1 | flops 0 | touch 1: i... d | copy 1 | "
       "index 0 v",
       {{4, 12}, {24, 8}}},
      {"scatter add",
       "i..., i... d -> v d | sum 1",
       {{4, 12}, {4, 12, 8}},
       {{"v", 24}}},
      {"scatter with base",
       "v d, i, i d -> v d | sum 0 + 2",
       {{24, 8}, {12}, {12, 8}}},
      {"pick",
       "b v, b -> b | sum 0 | touch 0: b | copy 0 | index 1 v",
       {{12, 24}, {12}}},
      {"move: split heads",
       "b s (g r e) -> b g r s e | sum 0 | flops 0",
       {{4, 12, 96}},
       {{"g", 4}, {"r", 2}}},
      {"move: merge", "b s d -> (b s) d | sum 0 | flops 0", {{4, 12, 8}}},
      {"move: expand", "b -> b n | sum 0 | flops 0", {{12}}, {{"n", 8}}},
      {"move: insert a unit dimension",
       "b n -> b 1 n | sum 0 | flops 0",
       {{12, 8}}},
      {"concat",
       "a n1, a n2 -> a m | whole n1 n2 m | sum 0 + 1",
       {{12, 4}, {12, 8}},
       {{"m", 12}}},
      {"slice", "a n -> a m | whole n m | sum 0", {{12, 8}}, {{"m", 6}}},
      {"pool max", "b c (x u) -> b c x | whole u", {{4, 12, 32}}, {{"u", 2}}},
      {"pool average, overlapping",
       "b c (x u) -> b c x | whole u | window 0.2 x 0 1 | sum 0",
       {{4, 12, 32}},
       {{"u", 2}}},
      {"resize",
       "b c x -> b c (x u) | whole u | sum 0",
       {{4, 12, 8}},
       {{"u", 2}}},
      {"dropout", "... -> ... | sum 0 | flops 2 ...", {{4, 12}}},
      {"cross-entropy",
       "b... v, b... -> b... | stat v | flops 5 b... v",
       {{4, 12, 24}, {4, 12}}},
      {"top-k", "b n -> b k, b k | whole n k", {{12, 24}}, {{"k", 2}}},
      {"route",
       "g s e -> g s k, g s k, g s k, g s k | whole s e k | flops 5 g s e",
       {{4, 12, 8}},
       {{"k", 2}}},
      {"route gradient",
       "g s e, g s k, g s k, g s k -> g s e | whole e k | sum 3",
       {{4, 12, 8}, {4, 12, 2}, {4, 12, 2}, {4, 12, 2}}},
      {"dispatch",
       "g s d, g s k, g s k, g s k -> g e c d | sum 0*3 | flops 0 | touch 0: g "
       "s "
       "k d",
       {{4, 12, 8}, {4, 12, 2}, {4, 12, 2}, {4, 12, 2}},
       {{"e", 8}, {"c", 6}}},
      {"combine",
       "g e c d, g s k, g s k, g s k -> g s d | sum 0*3 | flops 2 g s k d",
       {{4, 8, 6, 16}, {4, 12, 2}, {4, 12, 2}, {4, 12, 2}}},
      {"combine weight gradient",
       "g s d, g e c d, g s k, g s k -> g s k | sum 0*1",
       {{4, 12, 16}, {4, 8, 6, 16}, {4, 12, 2}, {4, 12, 2}}},
      {"experts",
       "g e c d, e d f -> g e c f | sum 0*1 | contract 2 g e c d f",
       {{4, 8, 6, 16}, {8, 16, 32}}},
      {"cumulative sum",
       "b n -> b m | whole m | stat n",
       {{12, 8}},
       {{"m", 8}}},
      {"lstm cell",
       "b q h, b h -> b h, b h | whole q | flops 10 b h",
       {{12, 4, 8}, {12, 8}}},
      {"adam",
       "..., ..., ..., ..., () -> ..., ..., ..., () | keep 3 | flops 12 ...",
       {{12, 8}, {12, 8}, {12, 8}, {12, 8}, {}}},
      {"constant", "-> ... | flops 0", {}, {}, false, {{12, 8}}},
  };
  return table;
}

BoundRule dtrain::test::bindEntry(const OpTableEntry &entry) {
  Rule rule = llvm::cantFail(Rule::parse(entry.rule));
  rule = llvm::cantFail(
      rule.instantiate(entry.operands, entry.broadcast, entry.results));
  if (!entry.results.empty())
    return llvm::cantFail(BoundRule::bind(rule, entry.operands, entry.results));
  llvm::StringMap<int64_t> given;
  for (auto [name, size] : entry.given)
    given[name] = size;
  return llvm::cantFail(BoundRule::bind(rule, entry.operands, given));
}
