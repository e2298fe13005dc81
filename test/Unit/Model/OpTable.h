//===- OpTable.h - The rules of the op table, with sizes --------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Every rule of the op table (docs/reference/ops.md), with operand shapes
/// that exercise it. Shapes avoid equal extents where the rule allows, and are
/// rich in divisors so that strides abound.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TEST_UNIT_MODEL_OPTABLE_H
#define DTRAIN_TEST_UNIT_MODEL_OPTABLE_H

#include "dtrain/Model/Rule.h"

namespace dtrain::test {

struct OpTableEntry {
  const char *name;
  /// The rule's canonical text.
  const char *rule;
  llvm::SmallVector<llvm::SmallVector<int64_t>> operands;
  /// Sizes of factors that no operand determines.
  llvm::SmallVector<std::pair<const char *, int64_t>> given = {};
  bool broadcast = false;
  /// Only for rules without operands.
  llvm::SmallVector<llvm::SmallVector<int64_t>> results = {};
};

const std::vector<OpTableEntry> &opTable();

/// Parses, instantiates and binds an entry; aborts the test binary where that
/// fails.
BoundRule bindEntry(const OpTableEntry &entry);

} // namespace dtrain::test

#endif // DTRAIN_TEST_UNIT_MODEL_OPTABLE_H
