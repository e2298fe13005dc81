//===- OpSamples.h - Random small instances of every op ---------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// For each registered op at least one way to make a random small instance. A
/// new op needs an entry here, and the rule check then covers it.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TEST_UNIT_INTERPRETER_OPSAMPLES_H
#define DTRAIN_TEST_UNIT_INTERPRETER_OPSAMPLES_H

#include "dtrain/IR/DTrain/DTrain.h"
#include "mlir/IR/OwningOpRef.h"
#include <functional>
#include <map>
#include <random>

namespace dtrain {

/// Makes the text of one function with one op from terms as rules spell them:
/// "b s (g e)", "1 n", "()"; a leading '#' makes the tensor one of integers.
/// Sizes of factors are drawn once per instance.
class Sampler {
public:
  explicit Sampler(std::mt19937_64 &random) : random(random) {}

  int64_t size(const std::string &factor);
  void setSize(const std::string &factor, int64_t value) {
    sizes[factor] = value;
  }
  int64_t uniform(int64_t low, int64_t high);
  template <typename T> const T &pick(const std::vector<T> &list) {
    return list[uniform(0, list.size() - 1)];
  }

  /// `dtrain.<name> operands <attributes> : types`.
  std::string op(llvm::StringRef name, std::vector<std::string> operands,
                 std::vector<std::string> results,
                 llvm::StringRef attributes = "");
  /// An op whose attribute is the rule that its types follow.
  std::string opOfRule(llvm::StringRef name, llvm::StringRef rule);

private:
  std::string type(llvm::StringRef term);

  std::mt19937_64 &random;
  std::map<std::string, int64_t> sizes;
};

/// One way to make an instance: the op's name and the program text.
struct OpSample {
  std::string name;
  std::function<std::string(Sampler &)> make;
};
std::vector<OpSample> opSamples();

/// An instance, parsed and verified.
struct OpInstance {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *op = nullptr;
};
/// Parses the text of a sample; `op` is null if that fails.
OpInstance parseInstance(mlir::MLIRContext &context, llvm::StringRef text);

} // namespace dtrain

#endif // DTRAIN_TEST_UNIT_INTERPRETER_OPSAMPLES_H
