//===- ImportTest.cpp - Reading models: payloads, peeking, damage ---------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Import/ONNX/Import.h"
#include "WireReader.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>
#include <onnx/onnx_pb.h>
#include <random>

using namespace dtrain;

static void setShape(onnx::ValueInfoProto &info, int type,
                     std::initializer_list<const char *> dims) {
  auto &tensor = *info.mutable_type()->mutable_tensor_type();
  tensor.set_elem_type(type);
  for (const char *dim : dims) {
    auto &entry = *tensor.mutable_shape()->add_dim();
    if (isdigit(dim[0]))
      entry.set_dim_value(atoi(dim));
    else
      entry.set_dim_param(dim);
  }
}

static onnx::NodeProto &addNode(onnx::GraphProto &graph, const char *type,
                                std::initializer_list<const char *> inputs,
                                const char *output) {
  onnx::NodeProto &node = *graph.add_node();
  node.set_op_type(type);
  node.set_name(output);
  for (const char *input : inputs)
    node.add_input(input);
  node.add_output(output);
  return node;
}

/// x [batch, 4] -> Reshape -> MatMul w -> Mul by a scalar -> y, with payloads.
static onnx::ModelProto makeModel() {
  onnx::ModelProto model;
  model.set_ir_version(8);
  model.add_opset_import()->set_version(17);
  onnx::GraphProto &graph = *model.mutable_graph();
  graph.set_name("small");
  auto &x = *graph.add_input();
  x.set_name("x");
  setShape(x, 1, {"batch", "4"});
  auto &y = *graph.add_output();
  y.set_name("y");
  setShape(y, 1, {"batch", "4"});
  auto &shape = *graph.add_initializer();
  shape.set_name("shape");
  shape.set_data_type(onnx::TensorProto::INT64);
  shape.add_dims(2);
  shape.add_int64_data(-1);
  shape.add_int64_data(4);
  auto &weight = *graph.add_initializer();
  weight.set_name("w");
  weight.set_data_type(onnx::TensorProto::FLOAT);
  weight.add_dims(4);
  weight.add_dims(4);
  weight.set_raw_data(std::string(64, '\x3f'));
  auto &half = *addNode(graph, "Constant", {}, "half").add_attribute();
  half.set_name("value");
  half.set_type(onnx::AttributeProto::TENSOR);
  half.mutable_t()->set_data_type(onnx::TensorProto::FLOAT);
  half.mutable_t()->add_float_data(0.5f);
  addNode(graph, "Reshape", {"x", "shape"}, "r");
  addNode(graph, "MatMul", {"r", "w"}, "m");
  addNode(graph, "Mul", {"m", "half"}, "y");
  return model;
}

static llvm::MemoryBufferRef bufferOf(llvm::StringRef bytes) {
  return {bytes, "small.onnx"};
}

namespace {
/// An import, and what it said.
struct Outcome {
  bool imported = false;
  unsigned errors = 0;
  std::string text;
};
} // namespace

static Outcome import(mlir::MLIRContext &context, llvm::StringRef bytes,
                      int64_t batch = 2) {
  Outcome outcome;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &diagnostic) {
        outcome.errors +=
            diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
        outcome.text += diagnostic.str() + "\n";
      });
  OnnxImportOptions options;
  options.batch = batch;
  outcome.imported = bool(importOnnx(bufferOf(bytes), options, &context));
  return outcome;
}

TEST(WireReaderTest, DropsWeightsAndKeepsWhatShapesNeed) {
  auto skeleton = onnx_import::readSkeleton(makeModel().SerializeAsString());
  ASSERT_TRUE(bool(skeleton));
  onnx::ModelProto model;
  ASSERT_TRUE(model.ParseFromString(*skeleton));
  onnx::ModelProto expected = makeModel();
  expected.mutable_graph()->mutable_initializer(1)->clear_raw_data();
  EXPECT_EQ(model.SerializeAsString(), expected.SerializeAsString());
}

TEST(WireReaderTest, LimitsTheIntegersThatItKeeps) {
  for (int64_t count : {onnx_import::kMaxConstantElements,
                        onnx_import::kMaxConstantElements + 1}) {
    onnx::ModelProto model;
    auto &table = *model.mutable_graph()->add_initializer();
    table.set_data_type(onnx::TensorProto::INT8);
    table.add_dims(count);
    table.set_raw_data(std::string(count, 1));
    auto skeleton = onnx_import::readSkeleton(model.SerializeAsString());
    ASSERT_TRUE(bool(skeleton));
    EXPECT_EQ(skeleton->size() > size_t(count),
              count == onnx_import::kMaxConstantElements);
  }
}

TEST(WireReaderTest, RefusesEndlessNesting) {
  onnx::ModelProto model;
  onnx::GraphProto *graph = model.mutable_graph();
  for (int depth = 0; depth < 200; ++depth)
    graph = graph->add_node()->add_attribute()->mutable_g();
  auto skeleton = onnx_import::readSkeleton(model.SerializeAsString());
  ASSERT_FALSE(bool(skeleton));
  EXPECT_NE(llvm::toString(skeleton.takeError()).find("nested"),
            std::string::npos);
}

TEST(ImportTest, PeekTellsInputsAndTheBatch) {
  std::string bytes = makeModel().SerializeAsString();
  llvm::Expected<OnnxModelInfo> info = peekOnnx(bufferOf(bytes));
  ASSERT_TRUE(bool(info));
  EXPECT_EQ(info->name, "small");
  ASSERT_EQ(info->inputs.size(), 1u);
  EXPECT_EQ(info->inputs[0].name, "x");
  EXPECT_EQ(info->symbolicDims, llvm::SmallVector<std::string>{"batch"});
  ASSERT_TRUE(info->batchDim);
  EXPECT_EQ(*info->batchDim, OnnxDim("batch"));
}

TEST(ImportTest, PeekNamesNamelessDimensions) {
  onnx::ModelProto model = makeModel();
  model.mutable_graph()
      ->mutable_input(0)
      ->mutable_type()
      ->mutable_tensor_type()
      ->mutable_shape()
      ->mutable_dim(0)
      ->clear_value();
  std::string bytes = model.SerializeAsString();
  llvm::Expected<OnnxModelInfo> info = peekOnnx(bufferOf(bytes));
  ASSERT_TRUE(bool(info));
  EXPECT_EQ(info->symbolicDims, llvm::SmallVector<std::string>{"x_dim_0"});
}

TEST(ImportTest, PeekReportsBadFiles) {
  llvm::Expected<OnnxModelInfo> info = peekOnnx("/nonexistent/model.onnx");
  ASSERT_FALSE(bool(info));
  EXPECT_EQ(llvm::toString(info.takeError())
                .find("/nonexistent/model.onnx: cannot read"),
            0u);
}

TEST(ImportTest, ExternalDataNeedNotExist) {
  mlir::MLIRContext context;
  onnx::ModelProto model = makeModel();
  auto &weight = *model.mutable_graph()->mutable_initializer(1);
  weight.clear_raw_data();
  weight.set_data_location(onnx::TensorProto::EXTERNAL);
  auto &location = *weight.add_external_data();
  location.set_key("location");
  location.set_value("nowhere.bin");
  EXPECT_TRUE(import(context, model.SerializeAsString()).imported);
}

TEST(ImportTest, ShortPayloadIsAnError) {
  mlir::MLIRContext context;
  onnx::ModelProto model = makeModel();
  auto &shape = *model.mutable_graph()->mutable_initializer(0);
  shape.clear_int64_data();
  shape.set_raw_data(std::string(12, '\0'));
  Outcome outcome = import(context, model.SerializeAsString());
  EXPECT_FALSE(outcome.imported);
  EXPECT_EQ(outcome.text, "expected 2 elements for 'shape', found 1\n");
}

TEST(ImportTest, HugeBatchIsAnError) {
  mlir::MLIRContext context;
  Outcome outcome = import(context, makeModel().SerializeAsString(),
                           std::numeric_limits<int64_t>::max());
  EXPECT_FALSE(outcome.imported);
  EXPECT_EQ(outcome.errors, 1u);
}

/// Whatever the bytes, an import succeeds or gives exactly one error.
static void expectNoCrash(mlir::MLIRContext &context, llvm::StringRef bytes,
                          int trial) {
  Outcome outcome = import(context, bytes);
  EXPECT_EQ(outcome.errors, outcome.imported ? 0u : 1u)
      << "trial " << trial << ": " << outcome.text;
}

TEST(ImportTest, DamagedFilesNeverCrash) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  std::string good = makeModel().SerializeAsString();
  ASSERT_TRUE(import(context, good).imported);
  for (size_t length = 0; length < good.size(); ++length)
    expectNoCrash(context, llvm::StringRef(good).take_front(length),
                  static_cast<int>(length));
  std::mt19937 random(7);
  for (int trial = 0; trial < 5000; ++trial) {
    std::string bad = good;
    for (unsigned flips = 1 + random() % 4; flips > 0; --flips)
      bad[random() % bad.size()] ^= static_cast<char>(1u << (random() % 8));
    expectNoCrash(context, bad, trial);
  }
  for (int trial = 0; trial < 1000; ++trial) {
    std::string junk(random() % 200, '\0');
    for (char &c : junk)
      c = static_cast<char>(random());
    expectNoCrash(context, junk, trial);
  }
}

TEST(ImportTest, DamagedTextNeverCrashes) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  const std::string good =
      "<ir_version: 8, opset_import: [\"\" : 17]>\n"
      "g (float[batch, 8] x) => (float[batch, 2, 4] y)\n"
      "<int64[3] s = {0, 2, -1}, float h = {0.5}> {\n"
      "  r = Reshape <allowzero = 0> (x, s)\n  t = Mul (r, h)\n"
      "  y = Transpose <perm = [0, 1, 2]> (t) }\n";
  ASSERT_TRUE(import(context, good).imported);
  std::mt19937 random(11);
  for (int trial = 0; trial < 3000; ++trial) {
    std::string bad = good;
    if (trial % 2)
      bad.resize(random() % bad.size());
    for (unsigned edits = random() % 4; edits > 0 && !bad.empty(); --edits)
      bad[random() % bad.size()] = good[random() % good.size()];
    expectNoCrash(context, bad, trial);
  }
}
