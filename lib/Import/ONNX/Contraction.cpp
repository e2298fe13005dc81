//===- Contraction.cpp - Contractions, reductions, normalisations ---------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Node.h"
#include "llvm/ADT/StringExtras.h"

using namespace dtrain;
using namespace dtrain::onnx_import;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Contractions
//===----------------------------------------------------------------------===//

/// Batch dimension `d` of a product, shared by both operands: b, h, b2, b3, …
static std::string batchName(unsigned d) {
  return d == 0 ? "b" : d == 1 ? "h" : "b" + std::to_string(d);
}

/// The rule of numpy's matmul for two shapes of rank 1 or more.
static std::string matmulRule(ArrayRef<int64_t> a, ArrayRef<int64_t> b) {
  unsigned batchA = a.size() < 2 ? 0 : a.size() - 2;
  unsigned batchB = b.size() < 2 ? 0 : b.size() - 2;
  unsigned batch = std::max(batchA, batchB);
  auto dims = [&](ArrayRef<int64_t> own, unsigned count,
                  ArrayRef<int64_t> other, unsigned otherCount) {
    std::string text;
    for (unsigned d = 0; d < count; ++d) {
      unsigned position = d + batch - count;
      bool broadcast = own[d] == 1 && position + otherCount >= batch &&
                       other[position + otherCount - batch] != 1;
      text += (broadcast ? "1" : batchName(position)) + " ";
    }
    return text;
  };
  std::string lhs = dims(a, batchA, b, batchB) + (a.size() > 1 ? "m k" : "k");
  std::string rhs = dims(b, batchB, a, batchA) + (b.size() > 1 ? "k n" : "k");
  std::string result;
  for (unsigned d = 0; d < batch; ++d)
    result += batchName(d) + " ";
  result += a.size() > 1 ? "m " : "";
  result += b.size() > 1 ? "n" : "";
  result = StringRef(result).trim().str();
  return lhs + ", " + rhs + " -> " + (result.empty() ? "()" : result);
}

LogicalResult onnx_import::importMatMul(Node &n) {
  FailureOr<Value> a = n.value(0);
  FailureOr<Value> b = failed(a) ? Failed() : n.value(1);
  if (failed(b))
    return failure();
  ArrayRef<int64_t> lhs = tensorType(*a).getShape();
  ArrayRef<int64_t> rhs = tensorType(*b).getShape();
  if (lhs.empty() || rhs.empty())
    return n.error() << "expected operands of rank 1 or more, found "
                     << a->getType() << " and " << b->getType();
  return n.set(0, n.dot(matmulRule(lhs, rhs), {*a, *b}));
}

LogicalResult onnx_import::importGemm(Node &n) {
  FailureOr<Value> a = n.value(0);
  FailureOr<Value> b = failed(a) ? Failed() : n.value(1);
  if (failed(b))
    return failure();
  if (tensorType(*a).getRank() != 2 || tensorType(*b).getRank() != 2)
    return n.error() << "expected matrices, found " << a->getType() << " and "
                     << b->getType();
  std::string terms = std::string(n.intAttr("transA", 0) ? "k m, " : "m k, ") +
                      (n.intAttr("transB", 0) ? "n k" : "k n");
  double alpha = n.floatAttr("alpha", 1), beta = n.floatAttr("beta", 1);
  if (alpha != 1)
    a = n.elementwise(Elementwise::scale, *a, alpha);
  if (!n.hasInput(2) || beta == 0)
    return failed(a) ? Failed() : n.set(0, n.dot(terms + " -> m n", {*a, *b}));
  FailureOr<Value> c = failed(a) ? Failed() : n.value(2);
  if (succeeded(c) && beta != 1)
    c = n.elementwise(Elementwise::scale, *c, beta);
  if (failed(c))
    return failure();
  ArrayRef<int64_t> shape = tensorType(*c).getShape();
  if (shape.size() > 2)
    return n.error() << "expected an addend of rank 2 or less, found "
                     << c->getType();
  // An extent of 1 is broadcast unless the result has it too.
  ArrayRef<int64_t> lhs = tensorType(*a).getShape();
  ArrayRef<int64_t> rhs = tensorType(*b).getShape();
  int64_t rows = lhs[n.intAttr("transA", 0) ? 1 : 0];
  int64_t columns = rhs[n.intAttr("transB", 0) ? 0 : 1];
  std::string addend = "()";
  if (!shape.empty())
    addend = shape.back() == 1 && columns != 1 ? "1" : "n";
  if (shape.size() == 2)
    addend = (shape.front() == 1 && rows != 1 ? "1 " : "m ") + addend;
  return n.set(0, n.dot(terms + ", " + addend + " -> m n", {*a, *b, *c}));
}

LogicalResult onnx_import::importEinsum(Node &n) {
  StringRef equation = n.stringAttr("equation", "");
  auto [left, right] = equation.split("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  bool plain = equation.contains("->") && terms.size() == n.getNumInputs() &&
               terms.size() == 2;
  std::string rule, seen;
  auto translate = [&](StringRef term) {
    std::string text;
    for (char letter : term) {
      if (letter == ' ')
        continue;
      plain &= llvm::isAlpha(letter);
      size_t index = seen.find(letter);
      if (index == std::string::npos) {
        index = seen.size();
        seen += letter;
      }
      text += (text.empty() ? "" : " ") + factorName(index);
    }
    return text.empty() ? std::string("()") : text;
  };
  for (StringRef term : terms)
    rule += (rule.empty() ? "" : ", ") + translate(term);
  rule += " -> " + translate(right);
  if (!plain)
    return n.error() << "expected an equation of two operands and a result in "
                        "letters, found \""
                     << equation << '"';
  FailureOr<Value> a = n.value(0);
  FailureOr<Value> b = failed(a) ? Failed() : n.value(1);
  return failed(b) ? Failed() : n.set(0, n.dot(rule, {*a, *b}));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

LogicalResult onnx_import::importReduce(Node &n) {
  Tensor *x = n.input(0);
  FailureOr<Ints> axes = x ? n.intsOf(1, "axes") : Failed();
  if (failed(axes))
    return failure();
  if (axes->empty() && n.intAttr("noop_with_empty_axes", 0))
    return importIdentity(n);
  for (int64_t &axis : *axes) {
    FailureOr<int64_t> positive = n.axis(axis, x->getRank());
    if (failed(positive))
      return failure();
    axis = *positive;
  }
  if (axes->empty())
    for (int64_t d = 0; d < x->getRank(); ++d)
      axes->push_back(d);
  bool keep = n.intAttr("keepdims", 1);
  StringRef type = n.proto.op_type();
  if (x->ints && type != "ReduceMean") {
    auto kind = type == "ReduceSum"    ? IntConstant::Reduce::Sum
                : type == "ReduceProd" ? IntConstant::Reduce::Prod
                : type == "ReduceMin"  ? IntConstant::Reduce::Min
                                       : IntConstant::Reduce::Max;
    if (auto result = x->ints->reduce(kind, *axes, keep))
      return n.set(0, tensorOf(*result, x->element));
  }
  if (type == "ReduceProd" || type == "ReduceMin")
    return n.error() << "expected integers known at import, found "
                     << x->getType();
  FailureOr<Value> value = n.value(0);
  if (failed(value))
    return failure();
  FailureOr<Value> result =
      n.reduce(type == "ReduceMax" ? Reduction::max : Reduction::sum, *value,
               *axes, keep);
  if (failed(result) || type != "ReduceMean")
    return n.set(0, result);
  double count = 1;
  for (int64_t axis : *axes)
    count *= static_cast<double>(x->shape[axis]);
  return n.set(0, n.elementwise(Elementwise::scale, *result, 1 / count));
}

LogicalResult onnx_import::importSoftmax(Node &n) {
  FailureOr<Value> x = n.value(0);
  if (failed(x))
    return failure();
  Ints shape(tensorType(*x).getShape());
  int64_t rank = shape.size();
  bool flattens = n.importer.opset < 13;
  FailureOr<int64_t> axis = n.axis(n.intAttr("axis", flattens ? 1 : -1), rank);
  if (failed(axis))
    return failure();
  // Before opset 13 all dimensions from the axis on are one; since then, it is
  // the only one. Either is moved last.
  bool last = *axis == rank - 1;
  Ints perm;
  for (int64_t d = 0; d < rank; ++d)
    perm.push_back(d);
  std::swap(perm[*axis], perm[rank - 1]);
  ArrayRef<int64_t> extents = shape;
  if (!last)
    x = flattens ? n.reshape(*x, {*countElements(extents.take_front(*axis)),
                                  *countElements(extents.drop_front(*axis))})
                 : n.transpose(*x, perm);
  if (succeeded(x))
    x = n.softmax(*x);
  if (succeeded(x) && n.proto.op_type() == "LogSoftmax")
    x = n.elementwise(Elementwise::log, *x);
  if (succeeded(x) && !last)
    x = flattens ? n.reshape(*x, shape) : n.transpose(*x, perm);
  return n.set(0, x);
}

//===----------------------------------------------------------------------===//
// Normalisations
//===----------------------------------------------------------------------===//

/// Operands `scaleIndex` and `biasIndex` are scale and bias. Statistics, which
/// are further outputs, stay undefined: reading one is an error.
static FailureOr<Value> normalized(Node &n, Value x, unsigned scaleIndex,
                                   std::optional<unsigned> biasIndex) {
  FailureOr<Value> scale = n.value(scaleIndex);
  if (failed(scale))
    return failure();
  Value bias;
  if (biasIndex && n.hasInput(*biasIndex)) {
    FailureOr<Value> operand = n.value(*biasIndex);
    if (failed(operand))
      return failure();
    bias = *operand;
  }
  StringRef type = n.proto.op_type();
  bool rms = type.contains("RMS") || type.contains("Simplified");
  // ONNX Runtime's fused operators default to 1e-12.
  double epsilon =
      n.floatAttr("epsilon", n.proto.domain().empty() ? 1e-5 : 1e-12);
  return n.normalize(rms ? Norm::rms : Norm::layer, x, *scale, bias, epsilon);
}

LogicalResult onnx_import::importNorm(Node &n) {
  FailureOr<Value> x = n.value(0);
  if (failed(x))
    return failure();
  int64_t rank = tensorType(*x).getRank();
  FailureOr<int64_t> axis = n.axis(n.intAttr("axis", -1), rank);
  if (failed(axis))
    return failure();
  if (*axis != rank - 1)
    return n.error() << "expected normalisation over the last dimension, found "
                        "axis "
                     << *axis << " of " << x->getType();
  bool rms = n.proto.op_type() != "LayerNormalization";
  return n.set(
      0, normalized(n, *x, 1, rms ? std::nullopt : std::optional<unsigned>(2)));
}

LogicalResult onnx_import::importSkipNorm(Node &n) {
  bool rms = StringRef(n.proto.op_type()).contains("Simplified");
  unsigned biasIndex = rms ? 3 : 4;
  FailureOr<Value> input = n.value(0);
  FailureOr<Value> skip = failed(input) ? Failed() : n.value(1);
  if (failed(skip))
    return failure();
  if (n.hasInput(biasIndex)) {
    FailureOr<Value> bias = n.value(biasIndex);
    if (failed(bias))
      return failure();
    // The bias is that of the contraction.
    FailureOr<Value> &biased =
        skip->getDefiningOp<DotOp>() && !input->getDefiningOp<DotOp>() ? skip
                                                                       : input;
    biased = n.elementwise(Elementwise::add, {*biased, *bias});
    if (failed(biased))
      return failure();
  }
  FailureOr<Value> sum = n.elementwise(Elementwise::add, {*input, *skip});
  if (failed(sum))
    return failure();
  FailureOr<Value> result =
      normalized(n, *sum, 2, rms ? std::nullopt : std::optional<unsigned>(3));
  if (failed(n.set(0, result)))
    return failure();
  return n.set(3, *sum);
}

LogicalResult onnx_import::importEmbedNorm(Node &n) {
  // input_ids, segment_ids, word, position, segment, gamma, beta, mask,
  // position_ids
  FailureOr<Value> ids = n.value(0);
  FailureOr<Value> words = failed(ids) ? Failed() : n.value(2);
  FailureOr<Value> positions = failed(words) ? Failed() : n.value(3);
  if (failed(positions))
    return failure();
  FailureOr<Value> places;
  if (n.hasInput(8)) {
    places = n.value(8);
  } else {
    int64_t length = tensorType(*ids).getShape().back();
    places = n.iota(0, length, tensorType(*ids).getElementType());
  }
  FailureOr<Value> sum = n.gather(*ids, *words);
  FailureOr<Value> place =
      failed(sum) || failed(places) ? Failed() : n.gather(*places, *positions);
  if (failed(place))
    return failure();
  sum = n.elementwise(Elementwise::add, {*sum, *place});
  if (succeeded(sum) && n.hasInput(1) && n.hasInput(4)) {
    FailureOr<Value> segments = n.value(1);
    FailureOr<Value> table = failed(segments) ? Failed() : n.value(4);
    FailureOr<Value> segment =
        failed(table) ? Failed() : n.gather(*segments, *table);
    sum = failed(segment) ? Failed()
                          : n.elementwise(Elementwise::add, {*sum, *segment});
  }
  if (failed(sum) || failed(n.set(0, normalized(n, *sum, 5, 6))))
    return failure();
  return n.set(2, *sum);
}
