//===- Importer.cpp - One graph, node by node -----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Importer.h"
#include "Node.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/MapVector.h"

using namespace dtrain;
using namespace dtrain::onnx_import;
using namespace mlir;

std::optional<double> Tensor::getSplat() const {
  if (ints) {
    std::optional<int64_t> value = ints->getSplat();
    return value ? std::optional<double>(*value) : std::nullopt;
  }
  return opaque ? std::nullopt : splat;
}

std::optional<double> Tensor::getScalar() const {
  return getNumElements() == 1 ? getSplat() : std::nullopt;
}

Importer::Importer(const onnx::ModelProto &model, const OnnxModelInfo &info,
                   const OnnxImportOptions &options, StringRef file,
                   MLIRContext *context)
    : builder(context), graph(model.graph()), info(info), options(options),
      fileName(StringAttr::get(context, file)) {
  for (const onnx::OperatorSetIdProto &set : model.opset_import())
    if (set.domain().empty() || set.domain() == "ai.onnx")
      opset = set.version();
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto &node = graph.node(i);
    ops.push_back(findOp(node.domain(), node.op_type()));
    for (const std::string &name : node.output())
      if (!name.empty())
        producers.try_emplace(name, i);
  }
  for (const onnx::TensorProto &tensor : graph.initializer())
    initializers.insert(tensor.name());
}

Location Importer::fileLoc() const {
  return FileLineColLoc::get(fileName, 0, 0);
}

/// Exporters may leave nodes without a name; their first result has one.
static StringRef nameOf(const onnx::NodeProto &node) {
  if (!node.name().empty() || node.output().empty())
    return node.name();
  return node.output(0);
}

Location Importer::locOf(int index) const {
  return NameLoc::get(
      StringAttr::get(builder.getContext(), nameOf(graph.node(index))),
      FileLineColLoc::get(fileName, index, 0));
}

int Importer::producerOf(StringRef name) const {
  auto it = producers.find(name);
  return it == producers.end() ? -1 : it->second;
}

std::string Importer::skipCopies(std::string name) const {
  for (int hops = 0; hops < graph.node_size(); ++hops) {
    int index = producerOf(name);
    if (index < 0)
      return name;
    const onnx::NodeProto &node = graph.node(index);
    bool copies = node.op_type() == "Identity" || node.op_type() == "Cast" ||
                  node.op_type() == "Dropout";
    if (!copies || !node.domain().empty() || node.input_size() == 0 ||
        node.output(0) != name)
      return name;
    name = node.input(0);
  }
  return name;
}

//===----------------------------------------------------------------------===//
// What is needed
//===----------------------------------------------------------------------===//

static bool isLoss(const onnx::NodeProto &node) {
  return node.domain().empty() &&
         (node.op_type() == "SoftmaxCrossEntropyLoss" ||
          node.op_type() == "NegativeLogLikelihoodLoss");
}

LogicalResult Importer::chooseOutput() {
  if (graph.output().empty())
    return emitError(fileLoc()) << "expected a graph with outputs, found none";
  for (const onnx::ValueInfoProto &candidate : graph.output()) {
    if (llvm::none_of(graph.node(), isLoss))
      break;
    markLive(candidate.name());
    for (int i = 0; i < graph.node_size(); ++i) {
      if (!live[i] || !isLoss(graph.node(i)))
        continue;
      output = candidate.name();
      lossKind = Loss::Node;
      return success();
    }
  }
  output = graph.output(0).name();
  int last = producerOf(skipCopies(output));
  if (last >= 0 && graph.node(last).domain().empty() &&
      graph.node(last).input_size() > 0 &&
      (graph.node(last).op_type() == "Softmax" ||
       graph.node(last).op_type() == "LogSoftmax"))
    lossKind = Loss::Softmax;
  markLive(output);
  return success();
}

void Importer::markLive(StringRef wanted) {
  live.assign(graph.node_size(), false);
  SmallVector<int> work{producerOf(wanted)};
  while (!work.empty()) {
    int index = work.pop_back_val();
    if (index < 0 || live[index])
      continue;
    live[index] = true;
    const onnx::NodeProto &node = graph.node(index);
    const OpInfo *op = ops[index];
    for (int i = 0; i < node.input_size(); ++i)
      if (!op || i >= 32 || !(op->ignored >> i & 1))
        work.push_back(producerOf(node.input(i)));
  }
}

LogicalResult Importer::checkSupported() {
  struct Use {
    int count = 0;
    int first = 0;
  };
  llvm::MapVector<StringRef, Use> unsupported;
  llvm::StringSet<> keys;
  for (int i = 0; i < graph.node_size(); ++i) {
    const onnx::NodeProto &node = graph.node(i);
    if (!live[i] || ops[i])
      continue;
    std::string key = (node.domain().empty() ? "ai.onnx" : node.domain()) +
                      "." + node.op_type();
    Use &use = unsupported[keys.insert(key).first->getKey()];
    if (use.count++ == 0)
      use.first = i;
  }
  if (unsupported.empty())
    return success();
  InFlightDiagnostic error = emitError(locOf(unsupported.front().second.first))
                             << "unsupported operator"
                             << (unsupported.size() == 1 ? ": " : "s: ");
  llvm::interleaveComma(unsupported, error, [&](auto &entry) {
    error << entry.first << " (" << entry.second.count
          << (entry.second.count == 1 ? " node, '" : " nodes, first '")
          << nameOf(graph.node(entry.second.first)) << "')";
  });
  return error;
}

void Importer::markTrainable() {
  auto mark = [&](const std::string &name, bool strongly) {
    if (!name.empty())
      trainable[name] |= strongly;
  };
  // Backwards, so that a view's result is marked before its operand.
  for (int i = graph.node_size(); i-- > 0;) {
    const onnx::NodeProto &node = graph.node(i);
    const OpInfo *op = ops[i];
    if (!live[i] || !op)
      continue;
    for (int k = 0; k < std::min(node.input_size(), 32); ++k)
      if ((op->trainable | op->maybeTrainable) >> k & 1)
        mark(node.input(k), op->trainable >> k & 1);
    if (!op->isView || node.input().empty() || node.output().empty())
      continue;
    auto it = trainable.find(node.output(0));
    if (it != trainable.end())
      mark(node.input(0), it->second);
  }
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void Importer::classify(Tensor &tensor) {
  auto it = trainable.find(tensor.name);
  bool candidate =
      tensor.isFloat() && tensor.getRank() > 0 && it != trainable.end();
  if (candidate && (it->second || tensor.getNumElements() > 1)) {
    tensor.role = Role::parameter;
    tensor.splat.reset();
    return;
  }
  tensor.maybeParameter = candidate;
}

Tensor *Importer::find(StringRef name) {
  auto it = tensors.find(name);
  return it == tensors.end() ? nullptr : &it->second;
}

LogicalResult Importer::define(StringRef name, Tensor tensor, Location loc) {
  if (!countElements(tensor.shape)) {
    InFlightDiagnostic error = emitError(loc) << "value '" << name << "' of ";
    llvm::interleave(tensor.shape, error, "x");
    return error << " elements is out of range (0 to 2^63 - 1)";
  }
  tensor.name = tensor.name.empty() ? name.str() : tensor.name;
  if (!tensors.try_emplace(name, std::move(tensor)).second)
    return emitError(loc) << "value '" << name << "' is defined twice";
  return success();
}

/// Adds a term to a sum that may not have begun.
static Value addTerm(OpBuilder &b, Location loc, Value sum, Value term) {
  return sum ? buildElementwise(b, loc, Elementwise::add, {sum, term}) : term;
}

/// offset + sum of stride * iota, each over its own dimension only, so that
/// nothing larger than a sequence is ever materialised before it is needed.
static Value buildAffine(OpBuilder &b, Location loc, const IntConstant &ints,
                         Type element) {
  Value sum;
  for (auto [dim, stride] : llvm::enumerate(ints.getStrides())) {
    if (stride == 0)
      continue;
    SmallVector<int64_t> shape(ints.getRank(), 1);
    shape[dim] = ints.getShape()[dim];
    Value term = IotaOp::create(b, loc, RankedTensorType::get(shape, element),
                                static_cast<uint64_t>(dim), Origin::forward,
                                OpStateAttr());
    if (stride != 1)
      term = buildElementwise(b, loc, Elementwise::scale, term,
                              static_cast<double>(stride));
    sum = addTerm(b, loc, sum, term);
  }
  auto type = RankedTensorType::get(ints.getShape(), element);
  if (!sum)
    return buildConstant(b, loc, static_cast<double>(ints.getOffset()), type);
  if (ints.getOffset() != 0)
    sum = buildElementwise(b, loc, Elementwise::offset, sum,
                           static_cast<double>(ints.getOffset()));
  if (sum.getType() == type)
    return sum;
  // Extents along which the values repeat are generated.
  std::string from, to;
  for (unsigned d = 0; d < ints.getRank(); ++d) {
    bool kept = ints.getStrides()[d] != 0 || ints.getShape()[d] == 1;
    from += (d ? " " : "") + (kept ? factorName(d) : "1");
    to += (d ? " " : "") + factorName(d);
  }
  return buildMove(b, loc, from + " -> " + to, sum, ints.getShape());
}

FailureOr<Value> Importer::materialize(Tensor &tensor, Location loc) {
  if (tensor.value)
    return tensor.value;
  if (tensor.isEmpty())
    return emitError(loc) << "value '" << tensor.name
                          << "' is empty: " << tensor.getType();
  if (tensor.role) {
    Location argumentLoc =
        NameLoc::get(builder.getStringAttr(tensor.name), fileLoc());
    tensor.value = body->addArgument(tensor.getType(), argumentLoc);
    arguments.push_back({*tensor.role, tensor.name});
    tensor.role.reset();
    return tensor.value;
  }
  Location constantLoc =
      NameLoc::get(builder.getStringAttr(tensor.name), fileLoc());
  if (tensor.ints && tensor.ints->isAffine())
    return tensor.value =
               buildAffine(builder, constantLoc, *tensor.ints, tensor.element);
  if (tensor.splat)
    return tensor.value = buildConstant(builder, constantLoc, *tensor.splat,
                                        tensor.getType());
  return emitError(loc) << "value '" << tensor.name << "' of type "
                        << tensor.getType() << " is "
                        << (tensor.ints
                                ? "a constant that is no arithmetic sequence"
                                : "a constant whose contents were not read");
}

LogicalResult Importer::importNode(int index) {
  Node node(*this, graph.node(index), locOf(index));
  return ops[index]->handler(node);
}

//===----------------------------------------------------------------------===//
// The whole
//===----------------------------------------------------------------------===//

FailureOr<Value> Importer::buildLoss() {
  onnx::NodeProto proto;
  proto.set_name(output);
  proto.set_op_type("loss");
  std::string source = output;
  if (lossKind == Loss::Softmax)
    source = graph.node(producerOf(skipCopies(output))).input(0);
  proto.add_input(source);
  Node node(*this, proto,
            NameLoc::get(builder.getStringAttr("loss"), fileLoc()));
  Tensor *tensor = node.input(0);
  if (!tensor)
    return failure();
  if (lossKind == Loss::Node) {
    if (tensor->getNumElements() != 1)
      return node.error() << "expected a scalar loss, found "
                          << tensor->getType();
    FailureOr<Value> scalar = node.value(*tensor);
    if (succeeded(scalar))
      scalar = node.reshape(*scalar, {});
    if (failed(scalar) || tensorType(*scalar).getElementType().isF32())
      return scalar;
    return node.elementwise(Elementwise::cast, *scalar, std::nullopt,
                            builder.getF32Type());
  }
  if (!tensor->isFloat() || tensor->getRank() < 2)
    return node.error() << "expected a loss node, a final Softmax or logits of "
                           "rank 2 or more as the first output, found "
                        << tensor->getType();
  if (lossKind == Loss::Softmax) {
    int last = producerOf(skipCopies(output));
    Node softmax(*this, graph.node(last), locOf(last));
    FailureOr<int64_t> axis = softmax.axis(
        softmax.intAttr("axis", opset < 13 ? 1 : -1), tensor->getRank());
    if (failed(axis))
      return failure();
    if (*axis != tensor->getRank() - 1)
      return softmax.error() << "a final softmax gives the loss only over the "
                                "last dimension, found dimension "
                             << *axis << " of " << tensor->getType();
  }
  FailureOr<Value> logits = node.value(*tensor);
  if (failed(logits))
    return failure();
  Tensor labels;
  labels.shape = SmallVector<int64_t>(ArrayRef(tensor->shape).drop_back());
  labels.element = builder.getI64Type();
  labels.role = Role::label;
  labels.name = "labels";
  FailureOr<Value> label = node.value(labels);
  if (failed(label))
    return failure();
  return buildCrossEntropy(node, *logits, *label, /*mean=*/true);
}

OwningOpRef<ModuleOp> Importer::finish(Value loss) {
  func::ReturnOp::create(builder, loss.getLoc(), loss);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (op.use_empty() && !isa<func::ReturnOp>(op))
      op.erase();
  // Parameters, inputs, labels; none that only dead code read.
  auto func = cast<func::FuncOp>(body->getParentOp());
  SmallVector<Argument> kept;
  unsigned old = arguments.size();
  for (Role role : {Role::parameter, Role::input, Role::label})
    for (unsigned i = 0; i < old; ++i) {
      BlockArgument argument = body->getArgument(i);
      if (arguments[i].role != role || argument.use_empty())
        continue;
      argument.replaceAllUsesWith(
          body->addArgument(argument.getType(), argument.getLoc()));
      kept.push_back(arguments[i]);
    }
  body->eraseArguments(0, old);
  func.setType(builder.getFunctionType(body->getArgumentTypes(),
                                       TypeRange(loss.getType())));
  // All at once: setting them one by one copies the whole list each time.
  SmallVector<Attribute> attributes;
  for (const Argument &argument : kept)
    attributes.push_back(builder.getDictionaryAttr(
        {builder.getNamedAttr(
             kRoleAttr, RoleAttr::get(builder.getContext(), argument.role)),
         builder.getNamedAttr(kNameAttr,
                              builder.getStringAttr(argument.name))}));
  func.setArgAttrsAttr(builder.getArrayAttr(attributes));
  return std::move(module);
}

OwningOpRef<ModuleOp> Importer::import() {
  module = ModuleOp::create(fileLoc());
  setPhase(*module, Phase::import);
  builder.setInsertionPointToEnd(module->getBody());
  auto func = func::FuncOp::create(builder, fileLoc(), "main",
                                   builder.getFunctionType({}, {}));
  body = func.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  if (failed(chooseOutput()) || failed(checkSupported()))
    return {};
  markTrainable();
  if (failed(bind()) || failed(addInitializers()))
    return {};
  for (int i = 0; i < graph.node_size(); ++i)
    if (live[i] && failed(importNode(i)))
      return {};
  FailureOr<Value> loss = buildLoss();
  if (failed(loss))
    return {};
  return finish(*loss);
}
