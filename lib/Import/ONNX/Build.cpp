//===- Build.cpp - Checked builders of dtrain ops -------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Node.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace dtrain;
using namespace dtrain::onnx_import;
using namespace mlir;

using FailureOrValue = FailureOr<Value>;

std::string onnx_import::factorName(unsigned i) {
  return i < 26 ? std::string(1, static_cast<char>('a' + i))
                : "f" + std::to_string(i);
}

std::string onnx_import::termOf(unsigned rank, ArrayRef<int64_t> units) {
  if (rank == 0)
    return "()";
  std::string term;
  for (unsigned d = 0; d < rank; ++d)
    term += (d ? " " : "") +
            (llvm::is_contained(units, d) ? std::string("1") : factorName(d));
  return term;
}

FailureOr<RuleAttr> Node::ruleOf(StringRef text) {
  RuleAttr &attr = importer.rules[text];
  if (attr)
    return attr;
  llvm::Expected<Rule> rule = Rule::parse(text);
  if (!rule)
    return error() << "rule \"" << text
                   << "\": " << llvm::toString(rule.takeError());
  return attr = RuleAttr::get(builder().getContext(), *rule);
}

FailureOr<SmallVector<SmallVector<int64_t>>>
Node::infer(StringRef text, bool broadcasts, ValueRange operands) {
  // Types are unique, so their addresses stand for them.
  SmallString<128> key(text);
  for (Type type : operands.getTypes()) {
    const void *address = type.getAsOpaquePointer();
    key.append(
        StringRef(reinterpret_cast<const char *>(&address), sizeof(address)));
  }
  if (auto it = importer.inferred.find(key); it != importer.inferred.end())
    return it->second;
  FailureOr<RuleAttr> rule = ruleOf(text);
  if (failed(rule))
    return failure();
  auto shapes = inferShapes(rule->getValue(), broadcasts, operands);
  if (!shapes)
    return error() << llvm::toString(shapes.takeError()) << " (operands "
                   << operands.getTypes() << ")";
  for (const SmallVector<int64_t> &shape : *shapes)
    if (failed(checkShape(shape)))
      return failure();
  return importer.inferred[key] = *shapes;
}

LogicalResult Node::checkShape(ArrayRef<int64_t> shape) const {
  if (countElements(shape))
    return success();
  InFlightDiagnostic diagnostic = error() << "a result of ";
  llvm::interleave(shape, diagnostic, "x");
  return diagnostic << " elements is out of range (0 to 2^63 - 1)";
}

static Type floatElementOf(ValueRange operands) {
  for (Value v : operands)
    if (isa<FloatType>(tensorType(v).getElementType()))
      return tensorType(v).getElementType();
  return tensorType(operands.front()).getElementType();
}

FailureOrValue Node::elementwise(Elementwise kind, ValueRange operands,
                                 std::optional<double> constant, Type element) {
  static const StringRef rules[] = {"... -> ...", "..., ... -> ...",
                                    "..., ..., ... -> ..."};
  auto shapes = infer(rules[operands.size() - 1], true, operands);
  if (failed(shapes))
    return failure();
  auto type = RankedTensorType::get(
      shapes->front(), element ? element : floatElementOf(operands));
  return ElementwiseOp::create(builder(), loc, TypeRange(type), kind, operands,
                               constant ? builder().getF64FloatAttr(*constant)
                                        : FloatAttr(),
                               Origin::forward, OpStateAttr())
      .getResults()
      .front();
}

FailureOrValue Node::dot(const Twine &einsum, ValueRange operands) {
  std::string text = einsum.str();
  auto shapes = infer(text, false, operands);
  FailureOr<RuleAttr> rule = ruleOf(text);
  if (failed(shapes) || failed(rule))
    return failure();
  auto type = RankedTensorType::get(shapes->front(), floatElementOf(operands));
  return DotOp::create(builder(), loc, type, operands, *rule, Origin::forward,
                       OpStateAttr())
      .getResult();
}

FailureOrValue Node::move(const Twine &einsum, Value input,
                          ArrayRef<int64_t> shape) {
  FailureOr<RuleAttr> rule = ruleOf(einsum.str());
  if (failed(checkShape(shape)) || failed(rule))
    return failure();
  auto type = RankedTensorType::get(shape, tensorType(input).getElementType());
  return MoveOp::create(builder(), loc, type, input, *rule, Origin::forward,
                        OpStateAttr())
      .getResult();
}

/// The factors that refine two shapes of the same product, as the rule of a
/// move; nothing where a dimension of one straddles two of the other.
static std::optional<std::string> nestedRule(ArrayRef<int64_t> from,
                                             ArrayRef<int64_t> to) {
  // Products of the trailing dimensions: each factor lies between two.
  auto bounds = [](ArrayRef<int64_t> shape) {
    SmallVector<int64_t> products{1};
    for (int64_t extent : llvm::reverse(shape))
      products.push_back(products.back() * extent);
    return products;
  };
  SmallVector<int64_t> marks = bounds(from);
  llvm::append_range(marks, bounds(to));
  llvm::sort(marks);
  marks.erase(llvm::unique(marks), marks.end());
  for (unsigned i = 1; i < marks.size(); ++i)
    if (marks[i] % marks[i - 1] != 0)
      return std::nullopt;
  unsigned factors = marks.size() - 1;
  auto term = [&](ArrayRef<int64_t> shape) {
    SmallVector<std::string> dims;
    int64_t high = marks.back();
    unsigned next = 0;
    for (int64_t extent : shape) {
      SmallVector<std::string> names;
      for (; extent != 1 && marks[factors - next] > high / extent; ++next)
        names.push_back(factorName(next));
      high /= extent;
      std::string joined = llvm::join(names, " ");
      dims.push_back(names.empty()      ? "1"
                     : names.size() > 1 ? "(" + joined + ")"
                                        : joined);
    }
    return dims.empty() ? std::string("()") : llvm::join(dims, " ");
  };
  return term(from) + " -> " + term(to);
}

FailureOrValue Node::reshape(Value input, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = tensorType(input).getShape();
  if (from == shape)
    return input;
  if (failed(checkShape(shape)))
    return failure();
  if (countElements(from) != countElements(shape)) {
    InFlightDiagnostic diagnostic = error() << "cannot reshape "
                                            << input.getType() << " to ";
    llvm::interleave(shape, diagnostic, "x");
    return diagnostic;
  }
  if (std::optional<std::string> rule = nestedRule(from, shape))
    return move(*rule, input, shape);
  // Where dimensions straddle, all of them merge first.
  FailureOrValue flat = reshape(input, *countElements(from));
  return failed(flat) ? flat : reshape(*flat, shape);
}

FailureOrValue Node::transpose(Value input, ArrayRef<int64_t> perm) {
  unsigned rank = tensorType(input).getRank();
  Ints shape;
  std::string term;
  for (int64_t d : perm) {
    shape.push_back(tensorType(input).getShape()[d]);
    term += (term.empty() ? "" : " ") + factorName(d);
  }
  if (llvm::is_sorted(perm))
    return input;
  return move(termOf(rank) + " -> " + term, input, shape);
}

FailureOrValue Node::expand(Value input, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> from = tensorType(input).getShape();
  if (from == shape)
    return input;
  unsigned added = shape.size() - from.size();
  std::string term;
  for (unsigned d = 0; d < from.size(); ++d)
    term +=
        (d ? " " : "") + (from[d] == shape[d + added] ? factorName(d + added)
                                                      : std::string("1"));
  if (from.empty())
    term = "()";
  return move(term + " -> " + termOf(shape.size()), input, shape);
}

FailureOrValue Node::slice(Value input, int64_t dim, int64_t offset,
                           int64_t extent) {
  RankedTensorType type = tensorType(input);
  if (offset == 0 && extent == type.getShape()[dim])
    return input;
  Ints shape(type.getShape());
  shape[dim] = extent;
  return Value(SliceOp::create(
      builder(), loc, RankedTensorType::get(shape, type.getElementType()),
      input, static_cast<uint64_t>(dim), static_cast<uint64_t>(offset),
      Origin::forward, OpStateAttr()));
}

FailureOrValue Node::reduce(Reduction kind, Value input, ArrayRef<int64_t> axes,
                            bool keepDims) {
  unsigned rank = tensorType(input).getRank();
  std::string result;
  for (unsigned d = 0; d < rank; ++d) {
    bool reduced = llvm::is_contained(axes, d);
    if (!reduced || keepDims)
      result += (result.empty() ? "" : " ") +
                (reduced ? std::string("1") : factorName(d));
  }
  if (result.empty())
    result = "()";
  return buildReduce(builder(), loc, kind, termOf(rank) + " -> " + result,
                     input);
}

FailureOrValue Node::softmax(Value input) {
  return Value(SoftmaxOp::create(builder(), loc, input.getType(), input,
                                 Origin::forward, OpStateAttr()));
}

FailureOrValue Node::gather(Value indices, Value table) {
  auto shapes = infer(GatherOp::getRuleText(), false, {indices, table});
  if (failed(shapes))
    return failure();
  auto type = RankedTensorType::get(shapes->front(),
                                    tensorType(table).getElementType());
  return Value(GatherOp::create(builder(), loc, type, indices, table,
                                Origin::forward, OpStateAttr()));
}

FailureOrValue Node::normalize(Norm kind, Value input, Value scale, Value bias,
                               double epsilon) {
  SmallVector<Value> operands{input, scale};
  if (bias)
    operands.push_back(bias);
  if (failed(infer(bias ? "... d, d, d -> ... d" : "... d, d -> ... d", false,
                   operands)))
    return failure();
  return Value(NormalizeOp::create(builder(), loc, input.getType(), kind, input,
                                   scale, bias, llvm::APFloat(epsilon),
                                   Origin::forward, OpStateAttr()));
}

FailureOrValue Node::attention(Value q, Value k, Value v, bool causal,
                               double scale) {
  auto shapes = infer(AttentionOp::getRuleText(), false, {q, k, v});
  if (failed(shapes))
    return failure();
  auto output =
      RankedTensorType::get((*shapes)[0], tensorType(q).getElementType());
  // Statistics are kept in single precision.
  auto lse = RankedTensorType::get((*shapes)[1], builder().getF32Type());
  auto op =
      AttentionOp::create(builder(), loc, output, lse, q, k, v, causal,
                          llvm::APFloat(scale), Origin::forward, OpStateAttr());
  return Value(op.getOutput());
}

FailureOrValue Node::rotary(Value input, Value cos, Value sin,
                            bool interleaved) {
  if (failed(infer("... s d, s c, s c -> ... s d", false, {input, cos, sin})))
    return failure();
  if (2 * tensorType(cos).getShape()[1] > tensorType(input).getShape().back())
    return error() << "expected tables of at most half a head's width, found "
                   << cos.getType() << " for " << input.getType();
  return Value(RotaryOp::create(builder(), loc, input.getType(), input, cos,
                                sin, interleaved, /*inverse=*/false,
                                Origin::forward, OpStateAttr()));
}

Value Node::constant(double value, Type element, ArrayRef<int64_t> shape) {
  return buildConstant(builder(), loc, value,
                       RankedTensorType::get(shape, element));
}

Value Node::iota(int64_t dim, ArrayRef<int64_t> shape, Type element) {
  return IotaOp::create(builder(), loc, RankedTensorType::get(shape, element),
                        static_cast<uint64_t>(dim), Origin::forward,
                        OpStateAttr());
}
