//===- A100.h - The machine and stack of the cost model's tests -*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TEST_UNIT_MODEL_A100_H
#define DTRAIN_TEST_UNIT_MODEL_A100_H

#include "dtrain/Model/Machine.h"

namespace dtrain::test {

template <typename Q> Sourced<Q> given(double base) {
  return {Q::fromBase(base), Basis::Assumed, "test"};
}

/// An A100 SXM 80 GB with the calibration of docs/calibration.md, Contractions,
/// Attention, Collectives, in nodes of eight with eight 25 GB/s interfaces.
Machine a100();
/// Like megatron-2021 (docs/calibration.md, Stacks): unfused, with dropout,
/// fp16 gradients.
Stack megatron2021();
/// Like megatron-core (docs/calibration.md, Stacks): fused attention, fp32
/// gradients accumulated in the epilogue.
Stack megatronCore();

/// The message of a failed Expected; fails the test if there is a value.
template <typename T> std::string messageOf(llvm::Expected<T> value) {
  return value ? "(a value)" : llvm::toString(value.takeError());
}

/// Whether `text` contains `part`, for EXPECT_PRED2, which prints both.
inline bool contains(const std::string &text, const std::string &part) {
  return text.find(part) != std::string::npos;
}

} // namespace dtrain::test

#endif // DTRAIN_TEST_UNIT_MODEL_A100_H
