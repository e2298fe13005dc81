//===- Checks.h - Checks of figures before they are used --------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A figure nobody has filled in is zero; dividing by it, or adding it up,
/// would turn ignorance into an answer. These checks turn it into an error
/// instead.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_MODEL_CHECKS_H
#define DTRAIN_LIB_MODEL_CHECKS_H

#include "dtrain/Model/Machine.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

namespace dtrain {

inline llvm::Error makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

/// A figure of machine or stack `owner` that must be more than zero.
template <typename Q>
llvm::Error requirePositive(llvm::StringRef owner, llvm::StringRef what,
                            const Sourced<Q> &figure) {
  double value = figure.value.base();
  if (std::isfinite(value) && value > 0)
    return llvm::Error::success();
  return makeError("'" + owner + "': expected a positive " + what + ", found " +
                   figure.value.str());
}

/// That a figure was given at all: one without a source is nobody's.
template <typename T>
llvm::Error requireGiven(llvm::StringRef owner, llvm::StringRef what,
                         const Sourced<T> &figure) {
  if (!figure.source.empty())
    return llvm::Error::success();
  return makeError("'" + owner + "' states no " + what);
}

/// A figure of machine or stack `owner` that may be zero, if it says so.
template <typename Q>
llvm::Error requireNonNegative(llvm::StringRef owner, llvm::StringRef what,
                               const Sourced<Q> &figure) {
  if (llvm::Error e = requireGiven(owner, what, figure))
    return e;
  double value = figure.value.base();
  if (std::isfinite(value) && value >= 0)
    return llvm::Error::success();
  return makeError("'" + owner + "': expected a non-negative " + what +
                   ", found " + figure.value.str());
}

/// An amount of work: finite and not negative.
template <typename Q>
llvm::Error requireAmount(llvm::StringRef what, Q amount) {
  double value = amount.base();
  if (std::isfinite(value) && value >= 0)
    return llvm::Error::success();
  return makeError("expected a finite, non-negative " + what + ", found " +
                   amount.str());
}

/// A count or extent of at least one.
inline llvm::Error requireCount(llvm::StringRef what, int64_t count) {
  if (count >= 1)
    return llvm::Error::success();
  return makeError("expected " + what + " >= 1, found " + llvm::Twine(count));
}

} // namespace dtrain

#endif // DTRAIN_LIB_MODEL_CHECKS_H
