//===- NetworkTest.cpp - Tests of the emitted ONNX networks ---------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Networks/Network.h"
#include <gtest/gtest.h>
#include <limits>
#include <map>
#include <onnx/checker.h>
#include <onnx/onnx_pb.h>
#include <onnx/shape_inference/implementation.h>
#include <set>

using namespace dtrain;

/// A spec in the order of NetworkSpec's fields.
static NetworkSpec makeSpec(NetworkFamily family, int64_t layers,
                            int64_t hidden, int64_t heads = 0,
                            int64_t kvHeads = 0, int64_t ffn = 0,
                            int64_t vocab = 0, int64_t seqMax = 0) {
  return {family, "test", layers, hidden, heads, kvHeads, ffn, vocab, seqMax};
}

static const NetworkSpec smallGPT =
    makeSpec(NetworkFamily::GPT, 4, 24, 4, 0, 40, 101, 32);
static const NetworkSpec smallLlama =
    makeSpec(NetworkFamily::Llama, 4, 32, 8, 2, 40, 101, 64);
static const NetworkSpec smallMHALlama =
    makeSpec(NetworkFamily::Llama, 2, 32, 4, 4, 40, 101, 64);
static const NetworkSpec smallMLP = makeSpec(NetworkFamily::MLP, 4, 20);

static std::vector<NetworkSpec> getAllSpecs() {
  std::vector<NetworkSpec> specs = {smallGPT, smallLlama, smallMHALlama,
                                    smallMLP};
  for (const NetworkPreset &preset : getNetworkPresets())
    specs.push_back(preset.getSpec());
  return specs;
}

static std::string write(const NetworkSpec &spec) {
  return llvm::cantFail(writeNetwork(spec));
}

static onnx::ModelProto parse(const NetworkSpec &spec) {
  onnx::ModelProto model;
  EXPECT_TRUE(model.ParseFromString(write(spec)));
  return model;
}

static std::string errorOf(const NetworkSpec &spec) {
  llvm::Expected<std::string> result = writeNetwork(spec);
  return result ? "no error" : llvm::toString(result.takeError());
}

/// "2x16x?" or "batchxseqx101".
static std::string toText(const onnx::TypeProto &type) {
  if (!type.tensor_type().has_shape())
    return "no shape";
  std::string text;
  for (const auto &dim : type.tensor_type().shape().dim()) {
    text += text.empty() ? "" : "x";
    text += dim.has_dim_value()   ? std::to_string(dim.dim_value())
            : dim.has_dim_param() ? dim.dim_param()
                                  : "?";
  }
  return text;
}

/// Gives "batch" and "seq" their sizes in one declared type.
static void bind(onnx::TypeProto &type, int64_t batch, int64_t seq) {
  for (auto &dim : *type.mutable_tensor_type()->mutable_shape()->mutable_dim())
    if (dim.has_dim_param())
      dim.set_dim_value(dim.dim_param() == "batch" ? batch : seq);
}

/// Infers every shape, taking nothing from the declared shape of the output.
static void inferShapes(onnx::ModelProto &model) {
  model.mutable_graph()
      ->mutable_output(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->clear_shape();
  onnx::shape_inference::InferShapes(
      model, onnx::OpSchemaRegistry::Instance(),
      onnx::ShapeInferenceOptions(/*check_type=*/true, /*strict_mode=*/1,
                                  /*data_prop=*/true));
}

/// The shapes of all int64 initializers.
static std::map<std::string, std::vector<int64_t>>
getConstants(const onnx::GraphProto &graph) {
  std::map<std::string, std::vector<int64_t>> constants;
  for (const auto &tensor : graph.initializer())
    constants[tensor.name()] = {tensor.int64_data().begin(),
                                tensor.int64_data().end()};
  return constants;
}

/// Elements of all ConstantOfShape tensors but the rotary tables, which are the
/// ones that Slice reads.
static int64_t countElements(const onnx::GraphProto &graph) {
  auto constants = getConstants(graph);
  std::set<std::string> sliced;
  for (const auto &node : graph.node())
    if (node.op_type() == "Slice")
      sliced.insert(node.input(0));
  int64_t total = 0;
  for (const auto &node : graph.node()) {
    if (node.op_type() != "ConstantOfShape" || sliced.count(node.output(0)))
      continue;
    int64_t elements = 1;
    for (int64_t dim : constants.at(node.input(0)))
      elements *= dim;
    total += elements;
  }
  return total;
}

static int64_t countElements(llvm::StringRef preset) {
  return countElements(parse(findNetworkPreset(preset)->getSpec()).graph());
}

TEST(Network, TheCheckerAcceptsEveryNetwork) {
  for (const NetworkSpec &spec : getAllSpecs()) {
    onnx::ModelProto model = parse(spec);
    EXPECT_NO_THROW(onnx::checker::check_model(model)) << spec.name;
    EXPECT_EQ(model.ir_version(), 8);
    ASSERT_EQ(model.opset_import_size(), 1);
    EXPECT_EQ(model.opset_import(0).domain(), "");
    EXPECT_EQ(model.opset_import(0).version(), 17);
    for (const auto &node : model.graph().node())
      EXPECT_EQ(node.domain(), "") << node.name();
  }
}

TEST(Network, LogitsAreInferredWithSymbolicDimensions) {
  for (const NetworkSpec &spec : getAllSpecs()) {
    onnx::ModelProto model = parse(spec);
    inferShapes(model);
    ASSERT_EQ(model.graph().output_size(), 1);
    EXPECT_EQ(model.graph().output(0).name(), "logits");
    std::string expected = spec.family == NetworkFamily::MLP
                               ? "batchx" + std::to_string(spec.hidden)
                               : "batchxseqx" + std::to_string(spec.vocab);
    EXPECT_EQ(toText(model.graph().output(0).type()), expected) << spec.name;
  }
}

TEST(Network, DeclaredOutputShapeIsTheInferredOne) {
  for (const NetworkSpec &spec : getAllSpecs()) {
    onnx::ModelProto model = parse(spec);
    std::string declared = toText(model.graph().output(0).type());
    inferShapes(model);
    EXPECT_EQ(toText(model.graph().output(0).type()), declared) << spec.name;
  }
}

TEST(Network, EveryShapeIsStaticOnceBound) {
  for (const NetworkSpec &spec : getAllSpecs()) {
    onnx::ModelProto model = parse(spec);
    onnx::GraphProto &graph = *model.mutable_graph();
    for (auto &info : *graph.mutable_input())
      bind(*info.mutable_type(), 2, 16);
    for (auto &info : *graph.mutable_value_info())
      bind(*info.mutable_type(), 2, 16);
    inferShapes(model);
    std::string expected = spec.family == NetworkFamily::MLP
                               ? "2x" + std::to_string(spec.hidden)
                               : "2x16x" + std::to_string(spec.vocab);
    EXPECT_EQ(toText(graph.output(0).type()), expected) << spec.name;
    int results = 0;
    for (const auto &node : graph.node())
      results += node.output_size();
    EXPECT_EQ(graph.value_info_size(), results - 1) << spec.name;
    for (const auto &info : graph.value_info())
      EXPECT_EQ(toText(info.type()).find_first_not_of("0123456789x"),
                std::string::npos)
          << spec.name << " " << info.name() << " " << toText(info.type());
  }
}

TEST(Network, GPTPresetsHaveTheClosedFormOfParameters) {
  EXPECT_EQ(countElements("gpt2-124m"), 124439808);
  int presets = 0;
  for (const NetworkPreset &p : getNetworkPresets()) {
    if (p.family != NetworkFamily::GPT)
      continue;
    ++presets;
    EXPECT_EQ(countElements(p.name),
              12 * p.layers * p.hidden * p.hidden + 13 * p.layers * p.hidden +
                  (p.vocab + p.seqMax) * p.hidden + 2 * p.hidden)
        << p.name.str();
  }
  EXPECT_EQ(presets, 5);
}

TEST(Network, LlamaPresetsHaveThePublishedParameters) {
  EXPECT_EQ(countElements("llama3-8b"), 8030261248);
  EXPECT_EQ(countElements("llama3-70b"), 70553706496);
  EXPECT_EQ(countElements("llama3-405b"), 405853388800);
}

TEST(Network, MLPHasAMatrixAndABiasPerLayer) {
  EXPECT_EQ(countElements(parse(smallMLP).graph()), 4 * (20 * 20 + 20));
}

TEST(Network, CountParametersEqualsTheGraph) {
  for (const NetworkSpec &spec : getAllSpecs())
    EXPECT_EQ(llvm::cantFail(countParameters(spec)),
              countElements(parse(spec).graph()))
        << spec.name;
}

TEST(Network, DefaultSizesAreThoseOfTheFamily) {
  NetworkSpec gpt = makeSpec(NetworkFamily::GPT, 1, 8, 2, 0, 0, 11, 4);
  NetworkSpec wide = makeSpec(NetworkFamily::GPT, 1, 8, 2, 0, 32, 11, 4);
  EXPECT_EQ(write(gpt), write(wide));
  NetworkSpec llama = makeSpec(NetworkFamily::Llama, 1, 8, 2, 0, 12, 11, 4);
  NetworkSpec all = makeSpec(NetworkFamily::Llama, 1, 8, 2, 2, 12, 11, 4);
  EXPECT_EQ(write(llama), write(all));
}

TEST(Network, TheSameSpecGivesTheSameBytes) {
  for (const NetworkSpec &spec : getAllSpecs())
    EXPECT_EQ(write(spec), write(spec)) << spec.name;
}

TEST(Network, FilesStaySmall) {
  EXPECT_LT(write(findNetworkPreset("megatron-1t")->getSpec()).size(),
            1u << 20);
  EXPECT_LT(write(findNetworkPreset("llama3-405b")->getSpec()).size(),
            2u << 20);
  NetworkSpec narrow = makeSpec(NetworkFamily::GPT, 2, 8, 1, 0, 0, 9, 9);
  NetworkSpec wide =
      makeSpec(NetworkFamily::GPT, 2, 1 << 20, 1, 0, 0, 1 << 20, 1 << 20);
  EXPECT_LT(write(wide).size(), write(narrow).size() + 1000);
}

TEST(Network, NamesAreUnique) {
  for (const NetworkSpec &spec : getAllSpecs()) {
    onnx::ModelProto model = parse(spec);
    std::set<std::string> nodes, values;
    for (const auto &node : model.graph().node()) {
      EXPECT_TRUE(nodes.insert(node.name()).second) << node.name();
      for (const std::string &output : node.output())
        EXPECT_TRUE(values.insert(output).second) << output;
    }
  }
}

static void replaceAll(std::string &text, const std::string &from,
                       const std::string &to) {
  for (size_t at; (at = text.find(from)) != std::string::npos;)
    text.replace(at, from.size(), to);
}

/// The text of a node of layer `layer`, which names its own layer (as in
/// "/h.12/" and "h.12.attn") and the one before it, without their numbers.
static std::string withoutLayer(const onnx::NodeProto &node, int64_t layer) {
  std::string text = node.DebugString();
  for (const char *end : {"/", "."}) {
    replaceAll(text, "." + std::to_string(layer) + end, "#this");
    replaceAll(text, "." + std::to_string(layer - 1) + end, "#previous");
  }
  return text;
}

TEST(Network, LayersAreTheSameSequenceOfNodes) {
  const std::pair<NetworkSpec, std::string> cases[] = {
      {smallGPT, "/h."},
      {smallLlama, "/model/layers."},
      {smallMLP, "/layers."}};
  for (const auto &[spec, prefix] : cases) {
    onnx::ModelProto model = parse(spec);
    std::map<int64_t, std::vector<std::string>> layers;
    for (const auto &node : model.graph().node())
      if (node.name().rfind(prefix, 0) == 0) {
        int64_t layer = std::stoll(node.name().substr(prefix.size()));
        layers[layer].push_back(withoutLayer(node, layer));
      }
    ASSERT_EQ(layers.size(), 4u);
    // The first reads the embedding and the last may write the output.
    EXPECT_EQ(layers[1], layers[2]);
    EXPECT_EQ(layers[0].size(), layers[1].size());
    EXPECT_EQ(layers[3].size(), layers[1].size());
  }
}

TEST(Network, PositionsAndMaskAreComputedOnce) {
  for (const NetworkSpec &spec : {smallGPT, smallLlama}) {
    onnx::ModelProto model = parse(spec);
    std::map<std::string, int> counts;
    for (const auto &node : model.graph().node())
      ++counts[node.op_type()];
    EXPECT_EQ(counts["Shape"], 1);
    EXPECT_EQ(counts["Range"], 1);
    EXPECT_EQ(counts["LessOrEqual"], 1);
    EXPECT_EQ(counts["Where"], spec.layers);
    EXPECT_EQ(counts["Softmax"], spec.layers);
  }
}

TEST(Network, ModelsCarryNoWeights) {
  for (const NetworkSpec &spec : getAllSpecs()) {
    onnx::ModelProto model = parse(spec);
    for (const auto &tensor : model.graph().initializer()) {
      EXPECT_LE(tensor.dims_size(), 1) << tensor.name();
      EXPECT_LE(tensor.int64_data_size() + tensor.float_data_size(), 5)
          << tensor.name();
      if (tensor.data_type() == onnx::TensorProto::FLOAT) {
        EXPECT_EQ(tensor.dims_size(), 0) << tensor.name();
      }
    }
  }
}

TEST(Network, RefusesSizesThatDoNotFit) {
  using F = NetworkFamily;
  EXPECT_EQ(errorOf(makeSpec(F::GPT, 0, 8, 2, 0, 0, 11, 4)),
            "expected a positive layers, found 0");
  EXPECT_EQ(errorOf(makeSpec(F::GPT, 1, -8, 2, 0, 0, 11, 4)),
            "expected a positive hidden, found -8");
  EXPECT_EQ(errorOf(makeSpec(F::Llama, 1, 8, 0, 0, 16, 11, 4)),
            "expected a positive heads, found 0");
  EXPECT_EQ(errorOf(makeSpec(F::Llama, 1, 8, 2, 0, 0, 11, 4)),
            "expected a positive ffn, found 0");
  EXPECT_EQ(errorOf(makeSpec(F::GPT, 1, 8, 3, 0, 0, 11, 4)),
            "expected heads to divide hidden, found 3 heads and hidden 8");
  EXPECT_EQ(errorOf(makeSpec(F::Llama, 1, 8, 4, 3, 16, 11, 4)),
            "expected kv-heads to divide heads, found 3 kv-heads and 4 heads");
  EXPECT_EQ(errorOf(makeSpec(F::Llama, 1, 12, 4, 2, 16, 11, 4)),
            "expected an even head width for rotary positions, found hidden 12 "
            "/ heads 4 = 3");
  EXPECT_EQ(errorOf(makeSpec(F::MLP, 1, 8, 2)),
            "expected no heads in a network of family mlp, found 2");
  EXPECT_EQ(errorOf(makeSpec(F::GPT, 1, 8, 2, 2, 0, 11, 4)),
            "expected no kv-heads in a network of family gpt, found 2");
  EXPECT_EQ(errorOf(makeSpec(F::MLP, 16385, 8)),
            "expected at most 16384 layers, found 16385");
}

TEST(Network, RefusesSizesThatOverflow) {
  using F = NetworkFamily;
  constexpr int64_t huge = std::numeric_limits<int64_t>::max();
  constexpr int64_t large = int64_t(1) << 32;
  const char *overflow = "expected sizes whose parameter count fits in 64 "
                         "bits, found more than 9223372036854775807";
  EXPECT_EQ(errorOf(makeSpec(F::GPT, 1, huge, 1, 0, 0, 11, 4)),
            "expected a hidden size of which 4 times fits in 64 bits, found "
            "9223372036854775807");
  EXPECT_EQ(errorOf(makeSpec(F::GPT, 1, large, 1, 0, 0, 11, 4)), overflow);
  EXPECT_EQ(errorOf(makeSpec(F::GPT, 1, 8, 1, 0, 0, huge, huge)), overflow);
  EXPECT_EQ(errorOf(makeSpec(F::MLP, 2, huge)), overflow);
  EXPECT_EQ(errorOf(makeSpec(F::Llama, 1, 8, 2, 1, huge, 11, 4)), overflow);
  EXPECT_EQ(errorOf(makeSpec(F::Llama, 1, 8, 2, 1, 16, 11, huge)),
            "expected a rotary table within 64 bits, found seq-max "
            "9223372036854775807 and head width 4");
}

TEST(Network, NamesOfFamiliesAndPresetsAreFound) {
  for (NetworkFamily family : getNetworkFamilies())
    EXPECT_EQ(parseNetworkFamily(toString(family)), family);
  EXPECT_FALSE(parseNetworkFamily("GPT"));
  EXPECT_FALSE(parseNetworkFamily(""));
  for (const NetworkPreset &preset : getNetworkPresets())
    EXPECT_EQ(findNetworkPreset(preset.name), &preset);
  EXPECT_EQ(findNetworkPreset("gpt5"), nullptr);
}
