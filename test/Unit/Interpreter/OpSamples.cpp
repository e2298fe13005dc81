//===- OpSamples.cpp - Random small instances of every op -----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpSamples.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace dtrain;
using Terms = std::vector<std::string>;

int64_t Sampler::uniform(int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(random);
}

int64_t Sampler::size(const std::string &factor) {
  auto [it, isNew] = sizes.insert({factor, 0});
  if (isNew)
    it->second = pick<int64_t>({1, 2, 2, 3, 4, 4, 5, 6, 8});
  return it->second;
}

std::string Sampler::type(llvm::StringRef term) {
  term = term.trim();
  bool integer = term.consume_front("#");
  std::string text = "tensor<";
  llvm::SmallVector<llvm::StringRef> words;
  term.split(words, ' ', -1, false);
  int64_t product = 1;
  bool inCompound = false;
  for (llvm::StringRef word : words) {
    if (word == "()")
      continue;
    bool opens = word.consume_front("("), closes = word.consume_back(")");
    inCompound |= opens;
    product *= word == "1" ? 1 : size(word.str());
    inCompound &= !closes;
    if (inCompound)
      continue;
    text += std::to_string(product) + "x";
    product = 1;
  }
  return text + (integer ? "i64>" : "f32>");
}

std::string Sampler::op(llvm::StringRef name, Terms operands, Terms results,
                        llvm::StringRef attributes) {
  std::string arguments, values, operandTypes, resultTypes;
  for (unsigned i = 0; i < operands.size(); ++i) {
    std::string separator = i ? ", " : "", t = type(operands[i]);
    std::string value = "%a" + std::to_string(i);
    arguments += separator + value + ": " + t;
    values += separator + value;
    operandTypes += separator + t;
  }
  for (unsigned j = 0; j < results.size(); ++j)
    resultTypes += (j ? ", " : "") + type(results[j]);
  return "func.func @f(" + arguments +
         ") {\n  %r:" + std::to_string(results.size()) + " = dtrain." +
         name.str() + " " + values + " " + attributes.str() + " : (" +
         operandTypes + ") -> (" + resultTypes + ")\n  return\n}\n";
}

std::string Sampler::opOfRule(llvm::StringRef name, llvm::StringRef rule) {
  auto [operands, results] = rule.split("->");
  auto terms = [](llvm::StringRef text) {
    Terms list;
    llvm::SmallVector<llvm::StringRef> parts;
    text.split(parts, ',');
    for (llvm::StringRef part : parts)
      list.push_back(part.trim().str());
    return list;
  };
  return op(name, terms(operands), terms(results),
            ("rule(\"" + rule + "\")").str());
}

OpInstance dtrain::parseInstance(mlir::MLIRContext &context,
                                 llvm::StringRef text) {
  OpInstance instance;
  instance.module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  if (instance.module)
    instance.module->walk([&](RuleOpInterface op) { instance.op = op; });
  return instance;
}

//===----------------------------------------------------------------------===//
// The samples
//===----------------------------------------------------------------------===//

static std::string attentionAttributes(Sampler &s) {
  return std::string(s.uniform(0, 1) ? "causal " : "") + "scale 0.7";
}

static std::string sampleDot(Sampler &s) {
  return s.opOfRule(
      "dot", s.pick<std::string>(
                 {"b m k, k n -> b m n", "b m k, b k n -> b m n",
                  "b m k, k n, n -> b m n", "m k, k n, m n -> m n",
                  "m k, k n, 1 n -> m n", "m k, k n, () -> m n", "k, k -> ()",
                  "m, n -> m n", "b g s d, b g t d -> b g s t",
                  "b s g d, n (g d) -> b s n", "g h k, k n -> (g h) n",
                  "m k l, k l n, n -> m n", "m k, k n, k -> m n"}));
}

static std::string sampleMove(Sampler &s) {
  return s.opOfRule("move",
                    s.pick<std::string>(
                        {"b s g e -> b g s e", "b g s e -> b s (g e)",
                         "(a b) c -> a (b c)", "a b c -> c a b", "a b -> a c b",
                         "a 1 b -> (a b)", "a b c -> (a b c)", "() -> a b"}));
}

static std::string sampleReduce(Sampler &s, llvm::StringRef kind) {
  return s.opOfRule(
      ("reduce<" + kind + ">").str(),
      s.pick<std::string>({"b s n -> n", "b s -> ()", "a b c -> a c",
                           "(a b) c -> a c", "a b -> a"}));
}

static std::string sampleElementwise(Sampler &s, Elementwise kind) {
  Terms operands;
  for (unsigned i = 0; i < arityOf(kind); ++i)
    operands.push_back("b s n");
  // Broadcasting: a unit or a missing dimension in one of several operands.
  if (operands.size() > 1)
    operands[s.uniform(0, operands.size() - 1)] =
        s.pick<std::string>({"b s n", "b 1 n", "n", "1 n", "()"});
  std::string name = "elementwise<" + stringifyElementwise(kind).str() + ">";
  Terms results(kind == Elementwise::swiglu_grad ? 2 : 1, "b s n");
  return s.op(name, operands, results,
              takesConstant(kind) ? "constant 1.5" : "");
}

/// Normalisation of `kind` and its gradient, where the last operand or result
/// may be missing.
static std::string sampleNormalize(Sampler &s, llvm::StringRef kind,
                                   bool gradient, bool bias) {
  Terms operands, results;
  (gradient ? operands : results).push_back("b s n");
  operands.push_back("b s n");
  operands.push_back("n");
  if (gradient)
    results = {"b s n", "n"};
  if (bias)
    (gradient ? results : operands).push_back("n");
  std::string name = gradient ? "normalize_grad<" : "normalize<";
  return s.op(name + kind.str() + ">", operands, results, "epsilon 1.0e-2");
}

static std::string sampleRotary(Sampler &s) {
  int64_t c = s.size("c");
  s.setSize("d", 2 * c + s.uniform(0, 1));
  std::string attributes = s.uniform(0, 1) ? "interleaved " : "";
  return s.op("rotary", {"b h s d", "s c", "s c"}, {"b h s d"},
              attributes + (s.uniform(0, 1) ? "inverse" : ""));
}

/// A part of dimension 1 and the whole; slice goes one way, pad the other.
static std::string sampleShift(Sampler &s, llvm::StringRef name, bool grows) {
  int64_t offset = s.uniform(0, 3);
  s.setSize("whole", s.size("part") + offset + s.uniform(0, 2));
  Terms part = {"a part b"}, whole = {"a whole b"};
  return s.op(name, grows ? part : whole, grows ? whole : part,
              "dim 1 offset " + std::to_string(offset));
}

static std::string sampleConcat(Sampler &s) {
  s.setSize("sum", s.size("n0") + s.size("n1") + s.size("n2"));
  return s.op("concat", {"a n0 b", "a n1 b", "a n2 b"}, {"a sum b"}, "dim 1");
}

std::vector<OpSample> dtrain::opSamples() {
  std::vector<OpSample> samples = {
      {"dtrain.dot", sampleDot},
      {"dtrain.move", sampleMove},
      {"dtrain.rotary", sampleRotary},
      {"dtrain.concat", sampleConcat},
  };
  auto add = [&](llvm::StringRef name,
                 std::function<std::string(Sampler &)> f) {
    samples.push_back({("dtrain." + name).str(), std::move(f)});
  };
  // Ops with fixed terms and attributes.
  auto fixed = [&](llvm::StringRef name, const Terms &operands,
                   const Terms &results, const std::string &kind = "",
                   const std::string &attributes = "") {
    std::string spelled = name.str() + kind;
    add(name, [=](Sampler &s) {
      return s.op(spelled, operands, results, attributes);
    });
  };
  add("attention", [](Sampler &s) {
    return s.op("attention", {"b g r s d", "b g t d", "b g t e"},
                {"b g r s e", "b g r s"}, attentionAttributes(s));
  });
  add("attention_grad", [](Sampler &s) {
    return s.op("attention_grad",
                {"b g r s e", "b g r s d", "b g t d", "b g t e", "b g r s e",
                 "b g r s"},
                {"b g r s d", "b g t d", "b g t e"}, attentionAttributes(s));
  });
  for (unsigned k = 0; k <= getMaxEnumValForElementwise(); ++k)
    if (std::optional<Elementwise> kind = symbolizeElementwise(k))
      add("elementwise",
          [kind = *kind](Sampler &s) { return sampleElementwise(s, kind); });
  for (const char *kind : {"sum", "max"})
    add("reduce", [=](Sampler &s) { return sampleReduce(s, kind); });
  fixed("softmax", {"b s n"}, {"b s n"});
  fixed("softmax_grad", {"b s n", "b s n"}, {"b s n"});
  for (bool gradient : {false, true})
    for (auto [kind, bias] :
         {std::pair("layer", true), std::pair("layer", false),
          std::pair("rms", false)})
      add(gradient ? "normalize_grad" : "normalize",
          [gradient, kind = kind, bias = bias](Sampler &s) {
            return sampleNormalize(s, kind, gradient, bias);
          });
  fixed("gather", {"# b s", "v d"}, {"b s d"});
  fixed("gather", {"# s", "v d"}, {"s d"});
  fixed("scatter_add", {"# b s", "b s d"}, {"v d"});
  fixed("pick", {"b s v", "# b s"}, {"b s"});
  fixed("cross_entropy", {"b s v", "# b s"}, {"b s", "b s"});
  fixed("cross_entropy_grad", {"b s", "b s v", "# b s", "b s"}, {"b s v"});
  fixed("sum_exp", {"b s v", "b s"}, {"b s"});
  add("slice", [](Sampler &s) { return sampleShift(s, "slice", false); });
  add("pad", [](Sampler &s) { return sampleShift(s, "pad", true); });
  fixed("constant", {}, {"a b"}, "", "2.5");
  fixed("iota", {}, {"# a b"}, "", "dim 1");
  fixed("update", {"a b", "a b", "a b", "a b"}, {"a b", "a b", "a b"},
        "<adamw>", "learning_rate 0.1");
  fixed("update", {"a b", "a b", "a b"}, {"a b", "a b"}, "<sgd>",
        "learning_rate 0.1");
  return samples;
}
