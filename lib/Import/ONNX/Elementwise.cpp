//===- Elementwise.cpp - Elementwise operators ----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Node.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace dtrain;
using namespace dtrain::onnx_import;
using namespace mlir;

using Binary = IntConstant::Binary;

namespace {
/// How an elementwise operator is translated.
struct Function {
  Elementwise kind;
  unsigned arity;
  std::optional<Binary> onInts;
  /// Operands change places.
  bool swaps = false;
  bool givesBool = false;
};
} // namespace

static std::optional<Function> functionOf(StringRef type) {
  using F = std::optional<Function>;
  auto binary = [](Elementwise kind, Binary onInts) {
    return F({kind, 2, onInts});
  };
  auto test = [](Elementwise kind, Binary onInts, bool swaps = false) {
    return F({kind, 2, onInts, swaps, true});
  };
  auto unary = [](Elementwise kind) { return F({kind, 1, {}}); };
  return llvm::StringSwitch<F>(type)
      .Case("Add", binary(Elementwise::add, Binary::Add))
      .Case("Sub", binary(Elementwise::sub, Binary::Sub))
      .Case("Mul", binary(Elementwise::mul, Binary::Mul))
      .Case("Div", binary(Elementwise::div, Binary::Div))
      .Case("Mod", F({Elementwise::div, 2, Binary::Mod}))
      .Case("Pow", F({Elementwise::power, 2, {}}))
      .Cases({"Max", "max"}, binary(Elementwise::max, Binary::Max))
      .Cases({"Min", "min"}, binary(Elementwise::min, Binary::Min))
      .Case("Sum", binary(Elementwise::add, Binary::Add))
      .Case("Equal", test(Elementwise::equal, Binary::Equal))
      .Case("Less", test(Elementwise::less, Binary::Less))
      .Case("LessOrEqual", test(Elementwise::less_equal, Binary::LessEqual))
      .Case("Greater", test(Elementwise::less, Binary::Less, true))
      .Case("GreaterOrEqual",
            test(Elementwise::less_equal, Binary::LessEqual, true))
      .Case("And", test(Elementwise::logical_and, Binary::And))
      .Case("Or", test(Elementwise::logical_or, Binary::Or))
      .Case("Not", F({Elementwise::logical_not, 1, {}, false, true}))
      .Case("Neg", unary(Elementwise::neg))
      .Case("Exp", unary(Elementwise::exp))
      .Case("Log", unary(Elementwise::log))
      .Case("Sqrt", unary(Elementwise::sqrt))
      .Case("Reciprocal", unary(Elementwise::reciprocal))
      .Case("Tanh", unary(Elementwise::tanh))
      .Case("Sigmoid", unary(Elementwise::sigmoid))
      .Case("Relu", unary(Elementwise::relu))
      .Case("Erf", unary(Elementwise::erf))
      .Default(std::nullopt);
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// Whether a comparison of two known tensors varies over more than one
/// dimension: a mask, which stays an expression of sequences.
static bool isMask(ArrayRef<int64_t> shape) {
  return llvm::count_if(shape, [](int64_t extent) { return extent > 1; }) > 1;
}

/// The result of known operands, if it is known too.
static std::optional<Tensor> fold(Node &n, const Function &f, const Tensor &a,
                                  const Tensor &b, ArrayRef<int64_t> shape) {
  Type element = f.givesBool ? Type(n.builder().getI1Type()) : Type(a.element);
  // Division of integers in a floating tensor is not the integers'.
  bool exact = !a.isFloat() || (f.kind != Elementwise::div);
  if (a.ints && b.ints && f.onInts && exact) {
    bool single = a.ints->getSplat() && b.ints->getSplat();
    if (f.givesBool && isMask(shape) && !single)
      return std::nullopt;
    if (auto result = IntConstant::binary(*f.onInts, *a.ints, *b.ints))
      return tensorOf(*result, element);
  }
  std::optional<double> x = a.getSplat(), y = b.getSplat();
  if (!x || !y || !a.isFloat() || f.givesBool)
    return std::nullopt;
  // A remainder is one of integers.
  if (f.onInts == Binary::Mod)
    return std::nullopt;
  Tensor result;
  result.shape.assign(shape.begin(), shape.end());
  result.element = element;
  result.splat = takesConstant(f.kind) ? evaluate(f.kind, *x, *y)
                                       : evaluate(f.kind, {*x, *y});
  return result;
}

//===----------------------------------------------------------------------===//
// Binary
//===----------------------------------------------------------------------===//

/// x op c or, `reversed`, c op x.
static FailureOr<Value> withScalar(Node &n, const Function &f, Value x,
                                   double c, bool reversed) {
  Type element = tensorType(x).getElementType();
  auto constantForm = [&](Elementwise kind, double constant) {
    return n.elementwise(kind, x, constant, element);
  };
  switch (f.kind) {
  case Elementwise::add:
    return constantForm(Elementwise::offset, c);
  case Elementwise::mul:
    return constantForm(Elementwise::scale, c);
  case Elementwise::sub:
    if (!reversed)
      return constantForm(Elementwise::offset, -c);
    if (FailureOr<Value> negated = n.elementwise(Elementwise::neg, x);
        succeeded(negated))
      return n.elementwise(Elementwise::offset, *negated, c, element);
    return failure();
  case Elementwise::div: {
    if (!reversed && c == 0)
      return n.error() << "division by the constant 0";
    if (!reversed)
      return constantForm(Elementwise::scale, 1 / c);
    FailureOr<Value> inverse = n.elementwise(Elementwise::reciprocal, x);
    if (failed(inverse) || c == 1)
      return inverse;
    return n.elementwise(Elementwise::scale, *inverse, c, element);
  }
  case Elementwise::power:
    if (reversed)
      return n.error() << "expected a constant exponent";
    return constantForm(Elementwise::power, c);
  case Elementwise::max:
    if (c == 0)
      return n.elementwise(Elementwise::relu, x);
    break;
  default:
    break;
  }
  Value scalar = n.constant(c, element);
  SmallVector<Value> operands{x, scalar};
  if (reversed)
    std::swap(operands[0], operands[1]);
  return n.elementwise(f.kind, operands, std::nullopt,
                       f.givesBool ? Type(n.builder().getI1Type()) : element);
}

static FailureOr<Tensor> combine(Node &n, const Function &f, Tensor &a,
                                 Tensor &b) {
  auto shape = broadcastShapes(a.shape, b.shape);
  if (!shape)
    return n.error() << "expected shapes that broadcast, found " << a.getType()
                     << " and " << b.getType();
  if (failed(n.checkShape(*shape)))
    return failure();
  // A bias of one element, not a scalar.
  for (auto [one, other] : {std::pair(&a, &b), std::pair(&b, &a)})
    if (one->maybeParameter && !other->isConstant() && !other->shape.empty() &&
        other->shape.back() == 1) {
      one->role = Role::parameter;
      one->splat.reset();
      one->maybeParameter = false;
    }
  if (std::optional<Tensor> known = fold(n, f, a, b, *shape))
    return *known;
  bool exactDivision = f.kind != Elementwise::div || a.isFloat();
  if (!exactDivision || n.proto.op_type() == "Mod")
    return n.error() << "expected integers known at import, found "
                     << a.getType() << " and " << b.getType();
  FailureOr<Value> result;
  std::optional<double> x = a.getScalar(), y = b.getScalar();
  if (x || y) {
    FailureOr<Value> tensor = n.value(y ? a : b);
    if (failed(tensor))
      return failure();
    result = withScalar(n, f, *tensor, y ? *y : *x, !y);
    // The scalar may have more dimensions than the tensor.
    if (succeeded(result))
      result = n.reshape(*result, *shape);
  } else if (f.kind == Elementwise::power) {
    return n.error() << "expected a constant exponent";
  } else {
    FailureOr<Value> lhs = n.value(a);
    FailureOr<Value> rhs = failed(lhs) ? Failed() : n.value(b);
    if (failed(rhs))
      return failure();
    result = n.elementwise(f.kind, {*lhs, *rhs}, std::nullopt,
                           f.givesBool ? Type(n.builder().getI1Type())
                                       : tensorType(*lhs).getElementType());
  }
  if (failed(result))
    return failure();
  return tensorOf(*result);
}

//===----------------------------------------------------------------------===//
// Handlers
//===----------------------------------------------------------------------===//

static LogicalResult importUnary(Node &n, const Function &f) {
  Tensor *x = n.input(0);
  if (!x)
    return failure();
  bool negates = f.kind == Elementwise::neg;
  if (x->ints && (negates || f.kind == Elementwise::logical_not)) {
    auto result = x->ints->map([&](int64_t v) -> std::optional<int64_t> {
      if (negates && v == std::numeric_limits<int64_t>::min())
        return std::nullopt;
      return negates ? -v : !v;
    });
    if (result)
      return n.set(0, tensorOf(*result, x->element));
  }
  std::optional<double> value = x->isFloat() ? x->getSplat() : std::nullopt;
  if (value) {
    Tensor result;
    result.shape = x->shape;
    result.element = x->element;
    result.splat = evaluate(f.kind, *value);
    return n.set(0, result);
  }
  FailureOr<Value> input = n.value(0);
  return failed(input) ? Failed() : n.set(0, n.elementwise(f.kind, *input));
}

LogicalResult onnx_import::importElementwise(Node &n) {
  Function f = *functionOf(n.proto.op_type());
  if (f.arity == 1)
    return importUnary(n, f);
  Tensor *a = n.input(0);
  Tensor *b = a ? n.input(1) : nullptr;
  if (!b)
    return failure();
  if (f.swaps)
    std::swap(a, b);
  FailureOr<Tensor> result = combine(n, f, *a, *b);
  return failed(result) ? Failed() : n.set(0, *result);
}

LogicalResult onnx_import::importVariadic(Node &n) {
  Function f = *functionOf(n.proto.op_type());
  Tensor *first = n.input(0);
  if (!first)
    return failure();
  // By pointer while it is an operand: a value must not be added twice.
  Tensor *sum = first;
  Tensor partial;
  for (unsigned i = 1; i < n.getNumInputs(); ++i) {
    Tensor *next = n.input(i);
    if (!next)
      return failure();
    FailureOr<Tensor> result = combine(n, f, *sum, *next);
    if (failed(result))
      return failure();
    partial = *result;
    sum = &partial;
  }
  if (sum == first && first->role && failed(n.value(*first)))
    return failure();
  return n.set(0, *sum);
}

LogicalResult onnx_import::importClip(Node &n) {
  Tensor *x = n.input(0);
  if (!x)
    return failure();
  Tensor current = *x;
  if (x->role) {
    FailureOr<Value> value = n.value(*x);
    if (failed(value))
      return failure();
    current = tensorOf(*value);
  }
  const std::pair<StringRef, StringRef> bounds[] = {{"min", "max"},
                                                    {"max", "min"}};
  for (auto [i, names] : llvm::enumerate(bounds)) {
    Tensor bound;
    bound.element = current.element;
    const onnx::AttributeProto *attribute = n.attribute(names.first);
    if (n.hasInput(i + 1)) {
      Tensor *operand = n.input(i + 1);
      if (!operand)
        return failure();
      bound = *operand;
    } else if (attribute) {
      bound.splat = attribute->f();
    } else {
      continue;
    }
    if (!bound.getScalar())
      return n.error() << "expected a constant scalar bound '" << names.first
                       << "'";
    FailureOr<Tensor> result =
        combine(n, *functionOf(names.second), current, bound);
    if (failed(result))
      return failure();
    current = *result;
  }
  return n.set(0, current);
}

LogicalResult onnx_import::importCast(Node &n) {
  Tensor *x = n.input(0);
  FailureOr<Type> to =
      x ? n.importer.elementType(n.intAttr("to", 0), n.loc) : Failed();
  if (failed(to))
    return failure();
  bool toFloat = isa<FloatType>(*to), toBool = to->isInteger(1);
  if (x->ints) {
    auto ints =
        toBool ? x->ints->map([](int64_t v) { return v != 0; }) : x->ints;
    if (ints)
      return n.set(0, tensorOf(*ints, *to));
  }
  if (x->splat && toFloat) {
    Tensor result = *x;
    result.value = {};
    result.maybeParameter = false;
    result.name = n.proto.output_size() ? n.proto.output(0) : "";
    result.element = *to;
    return n.set(0, result);
  }
  std::optional<double> scalar = x->getSplat();
  if (scalar && !toFloat && std::abs(*scalar) < 9e18) {
    int64_t value = toBool ? *scalar != 0 : static_cast<int64_t>(*scalar);
    if (auto ints = IntConstant::splat(x->shape, value))
      return n.set(0, tensorOf(*ints, *to));
  }
  if (x->isEmpty()) {
    Tensor result = *x;
    result.element = *to;
    return n.set(0, result);
  }
  FailureOr<Value> input = n.value(*x);
  if (failed(input))
    return failure();
  // The width of indices is not modelled.
  bool fromBool = x->element.isInteger(1);
  if (x->element == *to || (!x->isFloat() && !toFloat && !fromBool && !toBool))
    return n.set(0, *input);
  if (!toBool)
    return n.set(0,
                 n.elementwise(Elementwise::cast, *input, std::nullopt, *to));
  FailureOr<Value> isZero =
      n.elementwise(Elementwise::equal, {*input, n.constant(0, x->element)},
                    std::nullopt, *to);
  return failed(isZero) ? Failed()
                        : n.set(0, n.elementwise(Elementwise::logical_not,
                                                 *isZero, std::nullopt, *to));
}

LogicalResult onnx_import::importWhere(Node &n) {
  Tensor *parts[3];
  std::optional<Ints> shape = Ints();
  for (unsigned i = 0; i < 3; ++i) {
    parts[i] = n.input(i);
    if (!parts[i])
      return failure();
    shape = broadcastShapes(*shape, parts[i]->shape);
    if (!shape)
      return n.error() << "expected shapes that broadcast, found "
                       << parts[i]->getType() << " as operand " << i;
  }
  Tensor &condition = *parts[0], &yes = *parts[1], &no = *parts[2];
  if (condition.ints && yes.ints && no.ints)
    if (auto ints = IntConstant::where(*condition.ints, *yes.ints, *no.ints))
      return n.set(0, tensorOf(*ints, yes.element));
  if (std::optional<double> always = condition.getSplat()) {
    FailureOr<Value> chosen = n.value(*always != 0 ? yes : no);
    return failed(chosen) ? Failed() : n.set(0, n.expand(*chosen, *shape));
  }
  SmallVector<Value> operands;
  for (Tensor *part : parts) {
    std::optional<double> one =
        part == &condition ? std::nullopt : part->getSplat();
    if (one) {
      operands.push_back(n.constant(*one, part->element));
      continue;
    }
    FailureOr<Value> operand = n.value(*part);
    if (failed(operand))
      return failure();
    operands.push_back(*operand);
  }
  FailureOr<Value> result =
      n.elementwise(Elementwise::where, operands, std::nullopt, yes.element);
  return failed(result) ? Failed() : n.set(0, n.expand(*result, *shape));
}

LogicalResult onnx_import::importGelu(Node &n) {
  StringRef form = n.stringAttr("approximate", "none");
  if (form != "none" && form != "tanh")
    return n.error() << "expected approximate \"none\" or \"tanh\", found \""
                     << form << '"';
  FailureOr<Value> x = n.value(0);
  if (failed(x))
    return failure();
  return n.set(0, n.elementwise(form == "tanh" ? Elementwise::gelu_tanh
                                               : Elementwise::gelu,
                                *x));
}

LogicalResult onnx_import::importBiasGelu(Node &n) {
  FailureOr<Value> x = n.value(0);
  if (succeeded(x) && n.hasInput(1)) {
    FailureOr<Value> bias = n.value(1);
    x = failed(bias) ? Failed() : n.elementwise(Elementwise::add, {*x, *bias});
  }
  if (failed(x))
    return failure();
  return n.set(0, n.elementwise(n.proto.op_type() == "FastGelu"
                                    ? Elementwise::gelu_tanh
                                    : Elementwise::gelu,
                                *x));
}

LogicalResult onnx_import::importTable(Node &n) {
  Tensor *angles = n.input(0);
  if (!angles)
    return failure();
  Tensor table;
  table.shape = angles->shape;
  table.element = angles->element;
  table.splat = 0.0;
  table.opaque = true;
  return n.set(0, table);
}
