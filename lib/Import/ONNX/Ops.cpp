//===- Ops.cpp - The supported operators ----------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Node.h"

using namespace dtrain;
using namespace dtrain::onnx_import;
using namespace mlir;

namespace {
/// Operand positions, as bits.
constexpr unsigned at(std::initializer_list<unsigned> positions) {
  unsigned bits = 0;
  for (unsigned i : positions)
    bits |= 1u << i;
  return bits;
}
} // namespace

static llvm::StringMap<OpInfo> makeTable() {
  llvm::StringMap<OpInfo> table;
  auto standard = [&](std::initializer_list<StringRef> names, OpInfo info) {
    for (StringRef name : names)
      table[("." + name).str()] = info;
  };
  // Additive and multiplicative operands are biases and scales.
  standard({"Add", "Sub", "Mul", "Div", "Sum"},
           {importElementwise, 0, at({0, 1})});
  standard({"Mod", "Pow", "Equal", "Less", "LessOrEqual", "Greater",
            "GreaterOrEqual", "And", "Or", "Not", "Neg", "Exp", "Log", "Sqrt",
            "Reciprocal", "Tanh", "Sigmoid", "Relu", "Erf"},
           {importElementwise});
  table[".Sum"].handler = importVariadic;
  standard({"Max", "Min"}, {importVariadic});
  standard({"Clip"}, {importClip});
  standard({"Gelu"}, {importGelu});
  standard({"Sin", "Cos"}, {importTable});
  standard({"Where"}, {importWhere});

  standard({"Constant"}, {importConstant});
  standard({"ConstantOfShape"}, {importConstantOfShape});
  standard({"Range"}, {importRange});
  standard({"Shape"}, {importShape});
  standard({"Size"}, {importSize});
  standard({"Trilu"}, {importTrilu});

  auto view = [&](StringRef name, Handler handler) {
    standard({name}, {handler, 0, 0, /*isView=*/true});
  };
  view("Identity", importIdentity);
  view("Cast", importCast);
  view("Reshape", importReshape);
  view("Flatten", importFlatten);
  view("Transpose", importTranspose);
  view("Squeeze", importSqueeze);
  view("Unsqueeze", importUnsqueeze);
  // Dropout belongs to the software stack.
  standard({"Dropout"}, {importIdentity, 0, 0, /*isView=*/true, at({1, 2})});
  standard({"Expand"}, {importExpand});
  standard({"Slice"}, {importSlice});
  standard({"Split"}, {importSplit});
  standard({"Concat"}, {importConcat});
  standard({"Pad"}, {importPad});
  standard({"Gather"}, {importGather, at({0})});

  standard({"MatMul"}, {importMatMul, at({0, 1})});
  standard({"Gemm"}, {importGemm, at({0, 1, 2})});
  standard({"Einsum"}, {importEinsum, at({0, 1})});
  standard({"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd"},
           {importReduce});
  standard({"Softmax", "LogSoftmax"}, {importSoftmax});
  standard({"LayerNormalization"}, {importNorm, at({1, 2})});
  standard({"RMSNormalization", "SimplifiedLayerNormalization"},
           {importNorm, at({1})});
  standard({"SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"},
           {importLoss});

  auto microsoft = [&](StringRef name, OpInfo info) {
    table[("com.microsoft." + name).str()] = info;
  };
  microsoft("SimplifiedLayerNormalization", {importNorm, at({1})});
  microsoft("SkipLayerNormalization", {importSkipNorm, at({2, 3, 4})});
  microsoft("SkipSimplifiedLayerNormalization", {importSkipNorm, at({2, 3})});
  microsoft("EmbedLayerNormalization",
            {importEmbedNorm, at({2, 3, 4, 5, 6}), 0, false, at({7})});
  microsoft("Gelu", {importBiasGelu});
  microsoft("BiasGelu", {importBiasGelu, at({1})});
  microsoft("FastGelu", {importBiasGelu, at({1})});
  // Padding masks, lengths and positions are not read.
  microsoft("Attention", {importAttention, at({1, 2}), 0, false, at({3, 6})});
  microsoft("GroupQueryAttention",
            {importGroupQueryAttention, 0, 0, false, at({5, 6, 9})});
  microsoft("MultiHeadAttention",
            {importMultiHeadAttention, 0, 0, false, at({4})});
  microsoft("RotaryEmbedding", {importRotary, 0, 0, false, at({1})});
  return table;
}

const OpInfo *onnx_import::findOp(StringRef domain, StringRef type) {
  static const llvm::StringMap<OpInfo> table = makeTable();
  if (domain == "ai.onnx")
    domain = "";
  auto it = table.find((domain + "." + type).str());
  return it == table.end() ? nullptr : &it->second;
}
