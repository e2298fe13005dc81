//===- KernelTest.cpp - Kernels and control flow on known numbers ---------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Interpreter/Interpreter.h"
#include "mlir/Parser/Parser.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <cmath>
#include <utility>

using namespace dtrain;
using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::Pointwise;

namespace {
struct Array {
  std::vector<int64_t> shape;
  std::vector<double> values;
};

class KernelTest : public ::testing::Test {
protected:
  KernelTest() {
    context.loadDialect<DTrainDialect, mlir::func::FuncDialect>();
    context.getDiagEngine().registerHandler(
        [&](mlir::Diagnostic &d) { diagnostics += d.str() + "\n"; });
  }

  /// Runs @main of a module; each result as a flat list. Empty on failure.
  std::vector<std::vector<double>> run(llvm::StringRef text,
                                       const std::vector<Array> &arguments) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << diagnostics;
      return {};
    }
    llvm::SmallVector<Tensor> tensors;
    for (const Array &a : arguments) {
      Tensor &t = tensors.emplace_back(a.shape);
      for (int64_t i = 0; i < t.size(); ++i)
        t[i] = a.values.at(i);
    }
    auto results =
        interpret(module->lookupSymbol<mlir::func::FuncOp>("main"), tensors);
    std::vector<std::vector<double>> lists;
    if (succeeded(results))
      for (const Tensor &t : *results) {
        std::vector<double> &list = lists.emplace_back();
        for (int64_t i = 0; i < t.size(); ++i)
          list.push_back(t[i]);
      }
    return lists;
  }

  /// Runs one op; `operands` and `results` are types, `text` what stands
  /// between `dtrain.` and the colon, with operands %0, %1 …
  std::vector<std::vector<double>> op(const std::string &text,
                                      std::vector<std::string> operands,
                                      std::vector<std::string> results,
                                      const std::vector<Array> &arguments) {
    std::string args, ins, outs, values;
    for (size_t i = 0; i < operands.size(); ++i) {
      std::string separator = i ? ", " : "";
      args +=
          separator + "%" + std::to_string(i) + ": tensor<" + operands[i] + ">";
      ins += separator + "tensor<" + operands[i] + ">";
    }
    for (size_t j = 0; j < results.size(); ++j) {
      std::string separator = j ? ", " : "";
      outs += separator + "tensor<" + results[j] + ">";
      values += separator + "%r#" + std::to_string(j);
    }
    return run("func.func @main(" + args + ") -> (" + outs +
                   ") {\n  %r:" + std::to_string(results.size()) +
                   " = dtrain." + text + " : (" + ins + ") -> (" + outs +
                   ")\n  return " + values + " : " + outs + "\n}\n",
               std::move(arguments));
  }

  mlir::MLIRContext context;
  std::string diagnostics;
};
} // namespace

static auto isNear(const std::vector<double> &expected) {
  return Pointwise(DoubleNear(1e-12), std::move(expected));
}

TEST_F(KernelTest, DotWithAddend) {
  auto r =
      op("dot %0, %1, %2 rule(\"m k, k n, n -> m n\")",
         {"2x2xf32", "2x2xf32", "2xf32"}, {"2x2xf32"},
         {{{2, 2}, {1, 2, 3, 4}}, {{2, 2}, {5, 6, 7, 8}}, {{2}, {100, 200}}});
  ASSERT_EQ(r.size(), 1u);
  EXPECT_THAT(r[0], isNear({119, 222, 143, 250}));
}

TEST_F(KernelTest, ReduceSumAndMaximum) {
  Array x{{2, 3}, {1, -5, 3, -4, -2, -6}};
  auto sum =
      op("reduce<sum> %0 rule(\"a b -> b\")", {"2x3xf32"}, {"3xf32"}, {x});
  EXPECT_THAT(sum.at(0), isNear({-3, -7, -3}));
  auto max =
      op("reduce<max> %0 rule(\"a b -> a\")", {"2x3xf32"}, {"2xf32"}, {x});
  EXPECT_THAT(max.at(0), isNear({3, -2}));
}

TEST_F(KernelTest, CausalAttention) {
  // Query 0 sees key 0 alone; query 1 sees both with scores 0 and log 3.
  double l = std::log(3.0);
  auto r = op("attention %0, %1, %2 causal scale 1.0",
              {"1x1x1x2x1xf32", "1x1x2x1xf32", "1x1x2x1xf32"},
              {"1x1x1x2x1xf32", "1x1x1x2xf32"},
              {{{1, 1, 1, 2, 1}, {1, 1}},
               {{1, 1, 2, 1}, {0, l}},
               {{1, 1, 2, 1}, {10, 20}}});
  ASSERT_EQ(r.size(), 2u);
  EXPECT_THAT(r[0], isNear({10, 10 * 0.25 + 20 * 0.75}));
  EXPECT_THAT(r[1], isNear({0, std::log(4.0)}));
}

TEST_F(KernelTest, Elementwise) {
  auto one = [&](const std::string &kind, double x, std::string type = "f32") {
    return op("elementwise<" + kind + "> %0", {"f32"}, {std::move(type)},
              {{{}, {x}}})
        .at(0)
        .at(0);
  };
  EXPECT_NEAR(one("gelu", 1), 0.8413447460685429, 1e-12);
  EXPECT_NEAR(one("gelu_tanh", 1), 0.8411919906082768, 1e-12);
  EXPECT_NEAR(one("silu", 1), 0.7310585786300049, 1e-12);
  EXPECT_NEAR(one("rsqrt", 4), 0.5, 1e-12);
  EXPECT_EQ(one("cast", -2.75, "i64"), -2);
  EXPECT_EQ(one("cast", 0.25, "i1"), 1);
  auto sum = op("elementwise<add> %0, %1", {"2x2xf32", "2x1xf32"}, {"2x2xf32"},
                {{{2, 2}, {1, 2, 3, 4}}, {{2, 1}, {10, 20}}});
  EXPECT_THAT(sum.at(0), isNear({11, 12, 23, 24}));
  auto division = op("elementwise<div> %0, %1", {"2xi64", "2xi64"}, {"2xi64"},
                     {{{2}, {7, -7}}, {{2}, {2, 2}}});
  EXPECT_THAT(division.at(0), isNear({3, -3}));
  auto where = op("elementwise<where> %0, %1, %2", {"2xi1", "2xf32", "2xf32"},
                  {"2xf32"}, {{{2}, {1, 0}}, {{2}, {3, 4}}, {{2}, {5, 6}}});
  EXPECT_THAT(where.at(0), isNear({3, 6}));
}

/// Gradients of elementwise kinds are the slopes of the kinds.
TEST_F(KernelTest, ElementwiseGradients) {
  const double d = 0x1p-18, x = 0.7, g = 1.25;
  struct Case {
    std::string kind, constant;
    bool ofResult;
  } cases[] = {{"relu", "", true},       {"tanh", "", true},
               {"sigmoid", "", true},    {"gelu", "", false},
               {"gelu_tanh", "", false}, {"silu", "", false},
               {"erf", "", false},       {"power", "constant 2.5", false}};
  for (const Case &c : cases) {
    auto value = [&](double at) {
      return op("elementwise<" + c.kind + "> %0 " + c.constant, {"f32"},
                {"f32"}, {{{}, {at}}})
          .at(0)
          .at(0);
    };
    double slope = (value(x + d) - value(x - d)) / (2 * d);
    double saved = c.ofResult ? value(x) : x;
    auto grad = op("elementwise<" + c.kind + "_grad> %0, %1 " + c.constant,
                   {"f32", "f32"}, {"f32"}, {{{}, {g}}, {{}, {saved}}});
    EXPECT_NEAR(grad.at(0).at(0), g * slope, 1e-8) << c.kind;
  }
}

TEST_F(KernelTest, Normalisation) {
  auto layer = op("normalize<layer> %0, %1, %2 epsilon 0.0",
                  {"1x2xf32", "2xf32", "2xf32"}, {"1x2xf32"},
                  {{{1, 2}, {1, 3}}, {{2}, {2, 2}}, {{2}, {0.5, 0.5}}});
  EXPECT_THAT(layer.at(0), isNear({-1.5, 2.5}));
  auto rms = op("normalize<rms> %0, %1 epsilon 0.0", {"1x2xf32", "2xf32"},
                {"1x2xf32"}, {{{1, 2}, {3, 4}}, {{2}, {1, 1}}});
  EXPECT_THAT(rms.at(0), isNear({3 / std::sqrt(12.5), 4 / std::sqrt(12.5)}));
  auto soft = op("softmax %0", {"1x2xf32"}, {"1x2xf32"},
                 {{{1, 2}, {0, std::log(3.0)}}});
  EXPECT_THAT(soft.at(0), isNear({0.25, 0.75}));
}

TEST_F(KernelTest, CrossEntropyAndItsPieces) {
  double l = std::log(3.0);
  Array logits{{1, 2}, {0, l}}, label{{1}, {1}};
  auto loss = op("cross_entropy %0, %1", {"1x2xf32", "1xi64"},
                 {"1xf32", "1xf32"}, {logits, label});
  EXPECT_THAT(loss.at(0), isNear({std::log(4.0) - l}));
  EXPECT_THAT(loss.at(1), isNear({std::log(4.0)}));
  auto grad = op("cross_entropy_grad %0, %1, %2, %3",
                 {"1xf32", "1x2xf32", "1xi64", "1xf32"}, {"1x2xf32"},
                 {{{1}, {2}}, logits, label, {{1}, {std::log(4.0)}}});
  EXPECT_THAT(grad.at(0), isNear({0.5, -0.5}));
  auto sum = op("sum_exp %0, %1", {"1x2xf32", "1xf32"}, {"1xf32"},
                {logits, {{1}, {l}}});
  EXPECT_THAT(sum.at(0), isNear({1.0 / 3 + 1}));
  auto picked =
      op("pick %0, %1", {"1x2xf32", "1xi64"}, {"1xf32"}, {logits, label});
  EXPECT_THAT(picked.at(0), isNear({l}));
}

TEST_F(KernelTest, LookupsAddUpRepeatedRows) {
  Array ids{{3}, {1, 0, 1}};
  auto rows = op("gather %0, %1", {"3xi64", "2x2xf32"}, {"3x2xf32"},
                 {ids, {{2, 2}, {1, 2, 3, 4}}});
  EXPECT_THAT(rows.at(0), isNear({3, 4, 1, 2, 3, 4}));
  auto table = op("scatter_add %0, %1", {"3xi64", "3x1xf32"}, {"2x1xf32"},
                  {ids, {{3, 1}, {1, 2, 4}}});
  EXPECT_THAT(table.at(0), isNear({2, 5}));
}

TEST_F(KernelTest, Rotary) {
  // A quarter turn of (x0, x1) by halves or interleaved; the fifth element of
  // an odd row passes through.
  Array x{{1, 5}, {1, 2, 3, 4, 5}}, cos{{1, 2}, {0, 0}}, sin{{1, 2}, {1, 1}};
  std::vector<std::string> in = {"1x5xf32", "1x2xf32", "1x2xf32"};
  auto halves = op("rotary %0, %1, %2", in, {"1x5xf32"}, {x, cos, sin});
  EXPECT_THAT(halves.at(0), isNear({-3, -4, 1, 2, 5}));
  auto pairs =
      op("rotary %0, %1, %2 interleaved", in, {"1x5xf32"}, {x, cos, sin});
  EXPECT_THAT(pairs.at(0), isNear({-2, 1, -4, 3, 5}));
  auto back = op("rotary %0, %1, %2 inverse", in, {"1x5xf32"},
                 {{{1, 5}, {-3, -4, 1, 2, 5}}, cos, sin});
  EXPECT_THAT(back.at(0), isNear({1, 2, 3, 4, 5}));
}

TEST_F(KernelTest, Movement) {
  Array x{{2, 2}, {1, 2, 3, 4}};
  EXPECT_THAT(
      op("move %0 rule(\"a b -> b a\")", {"2x2xf32"}, {"2x2xf32"}, {x}).at(0),
      isNear({1, 3, 2, 4}));
  EXPECT_THAT(
      op("move %0 rule(\"a b -> c (a b)\")", {"2x2xf32"}, {"2x4xf32"}, {x})
          .at(0),
      isNear({1, 2, 3, 4, 1, 2, 3, 4}));
  EXPECT_THAT(
      op("slice %0 dim 1 offset 1", {"2x2xf32"}, {"2x1xf32"}, {x}).at(0),
      isNear({2, 4}));
  EXPECT_THAT(op("pad %0 dim 0 offset 1", {"2x2xf32"}, {"4x2xf32"}, {x}).at(0),
              isNear({0, 0, 1, 2, 3, 4, 0, 0}));
  EXPECT_THAT(op("concat %0, %1 dim 0", {"2x2xf32", "1x2xf32"}, {"3x2xf32"},
                 {x, {{1, 2}, {5, 6}}})
                  .at(0),
              isNear({1, 2, 3, 4, 5, 6}));
  EXPECT_THAT(op("iota dim 1", {}, {"2x3xi64"}, {}).at(0),
              isNear({0, 1, 2, 0, 1, 2}));
}

TEST_F(KernelTest, Optimizers) {
  // One step of AdamW from zero moments moves by the learning rate, against the
  // gradient, and decays the weight.
  auto adamw = op("update<adamw> %0, %1, %2, %3 learning_rate 0.1",
                  {"f32", "f32", "f32", "f32"}, {"f32", "f32", "f32"},
                  {{{}, {2}}, {{}, {0}}, {{}, {0}}, {{}, {-4}}});
  EXPECT_NEAR(adamw.at(0).at(0), 2 + 0.1 * (1 - 0.01 * 2), 1e-8);
  EXPECT_NEAR(adamw.at(1).at(0), -0.4, 1e-12);
  EXPECT_NEAR(adamw.at(2).at(0), 0.016, 1e-12);
  auto sgd =
      op("update<sgd> %0, %1, %2 learning_rate 0.5", {"f32", "f32", "f32"},
         {"f32", "f32"}, {{{}, {2}}, {{}, {10}}, {{}, {-4}}});
  EXPECT_THAT(sgd.at(0), isNear({2 - 0.5 * 5}));
  EXPECT_THAT(sgd.at(1), isNear({5}));
}

//===----------------------------------------------------------------------===//
// repeat
//===----------------------------------------------------------------------===//

/// x' = 10 x + w, with x kept and the count of uses of each row.
static const char *const repeated = R"(
  func.func private @body(%x: tensor<f32>, %w: tensor<f32>, %n: tensor<f32>, %ten: tensor<f32>)
      -> (tensor<f32>, tensor<f32>, tensor<f32>) {
    %t = dtrain.elementwise<mul> %x, %ten : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %y = dtrain.elementwise<add> %t, %w : (tensor<f32>, tensor<f32>) -> tensor<f32>
    %m = dtrain.elementwise<offset> %n constant 1.0 : (tensor<f32>) -> tensor<f32>
    return %y, %m, %x : tensor<f32>, tensor<f32>, tensor<f32>
  }
  func.func @main(%x: tensor<f32>, %w: tensor<4xf32>, %n: tensor<4xf32>, %ten: tensor<f32>)
      -> (tensor<f32>, tensor<4xf32>, tensor<2xf32>) {
    %r:3 = dtrain.repeat @body 1 to 3 REVERSE carry(%x) stacked(%w) inout(%n) shared(%ten)
        : (tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<f32>) -> (tensor<f32>, tensor<4xf32>, tensor<2xf32>)
    return %r#0, %r#1, %r#2 : tensor<f32>, tensor<4xf32>, tensor<2xf32>
  })";

TEST_F(KernelTest, RepeatForwardAndReverse) {
  std::vector<Array> arguments = {
      {{}, {5}}, {{4}, {1, 2, 3, 4}}, {{4}, {0, 0, 0, 0}}, {{}, {10}}};
  std::string text = repeated;
  size_t at = text.find("REVERSE ");
  auto forward = run(std::string(text).erase(at, 8), arguments);
  ASSERT_EQ(forward.size(), 3u);
  EXPECT_THAT(forward[0], isNear({523}));
  EXPECT_THAT(forward[1], isNear({0, 1, 1, 0}));
  EXPECT_THAT(forward[2], isNear({5, 52}));
  auto reverse = run(std::string(text).replace(at, 7, "reverse"), arguments);
  ASSERT_EQ(reverse.size(), 3u);
  EXPECT_THAT(reverse[0], isNear({532}));
  EXPECT_THAT(reverse[1], isNear({0, 1, 1, 0}));
  // Row 0 belongs to index 1, which runs last.
  EXPECT_THAT(reverse[2], isNear({53, 5}));
}

//===----------------------------------------------------------------------===//
// Failures
//===----------------------------------------------------------------------===//

TEST_F(KernelTest, IndexOutsideTheTable) {
  EXPECT_TRUE(op("gather %0, %1", {"1xi64", "2x1xf32"}, {"1x1xf32"},
                 {{{1}, {2}}, {{2, 1}, {0, 0}}})
                  .empty());
  EXPECT_THAT(diagnostics, HasSubstr("index 2 is not one of the 2 of 'v'"));
  EXPECT_TRUE(op("cross_entropy %0, %1", {"1x2xf32", "1xi64"},
                 {"1xf32", "1xf32"}, {{{1, 2}, {0, 0}}, {{1}, {-100}}})
                  .empty());
  EXPECT_THAT(diagnostics, HasSubstr("index -100 is not one of the 2 of 'v'"));
}

TEST_F(KernelTest, ArgumentsOfAnotherShape) {
  EXPECT_TRUE(
      op("softmax %0", {"1x2xf32"}, {"1x2xf32"}, {{{2}, {0, 0}}}).empty());
  EXPECT_THAT(diagnostics, HasSubstr("argument #0: expected the shape of"));
  EXPECT_TRUE(op("softmax %0", {"1x2xf32"}, {"1x2xf32"}, {}).empty());
  EXPECT_THAT(diagnostics, HasSubstr("expected 1 arguments, found 0"));
}
