//===- Purpose.cpp - Names of purposes ------------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Purpose.h"
#include "llvm/ADT/STLExtras.h"

using namespace dtrain;

static constexpr llvm::StringLiteral names[] = {
    "data",   "tensor",   "sequence",  "context",
    "expert", "gradient", "parameter", "pipeline"};

llvm::StringRef dtrain::stringifyPurpose(Purpose purpose) {
  return names[static_cast<unsigned>(purpose)];
}

std::optional<Purpose> dtrain::parsePurpose(llvm::StringRef text) {
  const auto *it = llvm::find(names, text);
  if (it == std::end(names))
    return std::nullopt;
  return static_cast<Purpose>(it - std::begin(names));
}
