//===- RuleTest.cpp - Grammar, binding and queries of rules ---------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Rule.h"
#include "OpTable.h"
#include "gtest/gtest.h"

using namespace dtrain;
using namespace dtrain::test;

namespace {

TEST(RuleText, OpTableRoundTrips) {
  for (const OpTableEntry &entry : opTable()) {
    SCOPED_TRACE(entry.name);
    llvm::Expected<Rule> rule = Rule::parse(entry.rule);
    if (!rule) {
      ADD_FAILURE() << llvm::toString(rule.takeError());
      continue;
    }
    EXPECT_EQ(rule->str(), entry.rule);
    llvm::Expected<Rule> again = Rule::parse(rule->str());
    ASSERT_TRUE(bool(again));
    EXPECT_EQ(*again, *rule);
    EXPECT_EQ(hash_value(*again), hash_value(*rule));

    BoundRule bound = bindEntry(entry);
    EXPECT_FALSE(bound.rule.isGeneric());
    again = Rule::parse(bound.rule.str());
    if (!again) {
      ADD_FAILURE() << llvm::toString(again.takeError());
      continue;
    }
    EXPECT_EQ(*again, bound.rule) << bound.rule.str();
  }
}

} // namespace
