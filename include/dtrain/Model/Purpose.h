//===- Purpose.h - What a split or a communication is for -------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_PURPOSE_H
#define DTRAIN_MODEL_PURPOSE_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>

namespace dtrain {

/// What a split, and a communication that follows from it, is for. It decides
/// which of a stack's figures say what may hide the communication.
enum class Purpose : uint8_t {
  Data,      ///< samples, and what sums over them
  Tensor,    ///< parts of a layer's matrices
  Sequence,  ///< positions, between the parts that `Tensor` splits
  Context,   ///< positions, in the whole layer
  Expert,    ///< experts, and the tokens on their way to them
  Gradient,  ///< gradients of parameters, summed or held in parts
  Parameter, ///< parameters and optimizer states, held in parts
  Pipeline,  ///< stages
};
llvm::StringRef stringifyPurpose(Purpose purpose);
std::optional<Purpose> parsePurpose(llvm::StringRef text);

} // namespace dtrain

#endif // DTRAIN_MODEL_PURPOSE_H
