//===- consumer.cpp - A program that knows LLVM alone asks the model ------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Built outside dtrain's tree against component Model of the installed
/// package: a linear layer's contraction is split over an axis, and the path
/// that makes its partial result whole is searched.
///
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Rule.h"
#include "dtrain/Support/Quantity.h"
#include "llvm/Support/raw_ostream.h"

using namespace dtrain;

int main() {
  llvm::ExitOnError orExit("consumer: ");
  Rule rule = orExit(Rule::parse("m k, k n -> m n | sum 0*1"));
  BoundRule bound = orExit(BoundRule::bind(rule, {{8, 64}, {64, 16}}));
  AxisState given =
      gives(bound, 0, OpAxisState::split(*rule.find("k"), /*stride=*/16));

  std::vector<MeshAxis> mesh = {{"tp", 4}};
  ReshardPath path = orExit(
      findPath(mesh, bound.resultShape(0), {given}, {AxisState::replicated()}));
  Bytes sent = Bytes::fromBase(path.front().cost.sentElements * 2);
  llvm::outs() << given.str() << " becomes R by "
               << stringifyTransition(path.front().cost.transition) << ", "
               << sent.str() << " of bf16 sent per device\n";
  // A ring sends 2 (n - 1) / n of the 8 x 16 elements.
  return path.size() == 1 && sent == Bytes::fromBase(2.0 * 3 / 4 * 8 * 16 * 2)
             ? 0
             : 1;
}
