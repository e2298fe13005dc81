//===- MLP.cpp - The graph of a multi-layer perceptron --------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "llvm/ADT/Twine.h"

using namespace dtrain;
using namespace llvm;

void dtrain::buildMLP(GraphBuilder &b, const NetworkSpec &spec) {
  int64_t h = spec.hidden;
  Value x =
      b.addInput("input", onnx::TensorProto::FLOAT, {StringRef("batch"), h});
  for (int64_t i = 0; i < spec.layers; ++i) {
    GraphBuilder::Scope layer(b, "layers." + Twine(i));
    Value y = buildLinear(b, "linear", x, h, h, /*bias=*/true);
    if (i + 1 == spec.layers)
      b.addOutput("logits", "Relu", y, {StringRef("batch"), h});
    else
      x = b.add("Relu", y);
  }
}
