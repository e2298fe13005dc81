//===- TargetTest.cpp - Machines and stacks, from file to cost model ------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Target/Load.h"
#include "mlir/Dialect/DLTI/DLTI.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <limits>

using namespace dtrain;
using namespace dtrain::target;
using namespace mlir;

namespace {

template <typename T> std::string errorOf(llvm::Expected<T> value) {
  if (value)
    return "no error";
  return llvm::toString(value.takeError());
}

struct TargetTest : ::testing::Test {
  MLIRContext context;
  std::string dir;

  TargetTest() {
    context.loadDialect<TargetDialect>();
    llvm::SmallString<128> path;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("dtrain-target", path));
    dir = path.str().str();
  }
  ~TargetTest() override { llvm::sys::fs::remove_directories(dir); }

  /// Writes a file of the test's directory and returns its path.
  std::string write(StringRef name, StringRef text) {
    std::string path = dir + "/" + name.str();
    std::error_code error;
    llvm::raw_fd_ostream os(path, error);
    EXPECT_FALSE(error);
    os << text;
    return path;
  }
};

TEST_F(TargetTest, ShippedMachines) {
  EXPECT_EQ(knownMachines({}),
            (std::vector<std::string>{"a100-80gb-dgx-ib", "h100-dgx-ib",
                                      "test-ideal"}));
  auto a100 = loadMachine("a100-80gb-dgx-ib", {}, &context);
  ASSERT_TRUE(bool(a100)) << llvm::toString(a100.takeError());
  EXPECT_EQ(a100->name, "a100-80gb-dgx-ib");
  EXPECT_EQ(a100->chip.name, "A100-SXM4-80GB");
  ASSERT_NE(a100->chip.findPeak(Precision::BF16), nullptr);
  EXPECT_EQ(a100->chip.findPeak(Precision::BF16)->rate.value.base(), 312e12);
  EXPECT_EQ(a100->chip.findPeak(Precision::FP16)->rate.value.base(), 312e12);
  EXPECT_EQ(a100->chip.findPeak(Precision::FP8), nullptr);
  EXPECT_EQ(a100->chip.memoryCapacity.value.base(), 80.0 * (1 << 30));
  EXPECT_EQ(a100->chip.memoryCapacity.basis, Basis::Datasheet);
  EXPECT_EQ(a100->chip.contraction.computeEfficiency.value.base(), .774);
  EXPECT_EQ(a100->chip.contraction.memoryEfficiency.value.base(), .621);
  EXPECT_DOUBLE_EQ(a100->chip.contraction.launch.value.base(), 6e-6);
  ASSERT_EQ(a100->chip.attention.narrowHeads.size(), 2u);
  EXPECT_EQ(a100->chip.attention.narrowHeads[0].below.value.base(), 64);
  EXPECT_TRUE(a100->chip.portableAttention.has_value());
  EXPECT_FALSE(a100->node.switchReduction.has_value());
  EXPECT_EQ(a100->node.linkBandwidth.value.base(), 300e9);
  // g = 4.9 of the published fit, in root microseconds.
  EXPECT_NEAR(a100->node.collective.gSquared.value.base(), 4.9 * 4.9e-6, 1e-12);
  EXPECT_EQ(a100->network.nodeBandwidth.value.base(), 8 * 25e9);

  auto h100 = loadMachine("h100-dgx-ib", {}, &context);
  ASSERT_TRUE(bool(h100)) << llvm::toString(h100.takeError());
  EXPECT_EQ(h100->chip.findPeak(Precision::FP8)->rate.value.base(), 1979e12);
  EXPECT_NEAR(h100->chip.findPeak(Precision::FP8)->efficiency.value.base(),
              .709 / .803, 5e-4);
  ASSERT_TRUE(h100->node.switchReduction.has_value());
  EXPECT_EQ(h100->node.switchReduction->minimumRanks.value.base(), 4);
  EXPECT_EQ(h100->network.nodeBandwidth.value.base(), 8 * 50e9);

  auto ideal = loadMachine("test-ideal", {}, &context);
  ASSERT_TRUE(bool(ideal)) << llvm::toString(ideal.takeError());
  EXPECT_EQ(ideal->node.collective.a0.value.base(), 0);
  EXPECT_TRUE(ideal->chip.attention.narrowHeads.empty());
}

TEST_F(TargetTest, ShippedStacks) {
  EXPECT_EQ(knownStacks({}),
            (std::vector<std::string>{"megatron-2021", "megatron-2022",
                                      "megatron-core", "test-ideal"}));
  auto s21 = loadStack("megatron-2021", {}, &context);
  auto s22 = loadStack("megatron-2022", {}, &context);
  auto core = loadStack("megatron-core", {}, &context);
  ASSERT_TRUE(bool(s21)) << llvm::toString(s21.takeError());
  ASSERT_TRUE(bool(s22)) << llvm::toString(s22.takeError());
  ASSERT_TRUE(bool(core)) << llvm::toString(core.takeError());
  EXPECT_EQ(s21->name, "megatron-2021");
  EXPECT_EQ(s21->attention.value, AttentionKernel::Unfused);
  EXPECT_TRUE(s21->dropout.value);
  EXPECT_FALSE(s21->fusedGradientAccumulation.value);
  EXPECT_EQ(s21->gradientElement.value.base(), 2);
  EXPECT_EQ(s21->optimizerTraffic.value.base(), 52);
  EXPECT_EQ(s22->gradientElement.value.base(), 4);
  EXPECT_TRUE(s22->fusedGradientAccumulation.value);
  EXPECT_EQ(core->attention.value, AttentionKernel::Flash);
  EXPECT_TRUE(core->overlapDataParallel.value);
  EXPECT_EQ(core->lossForward.value.base(), 12);
  EXPECT_EQ(core->hostPerOp.value.base(), 8.0 / 1e6);
}

TEST_F(TargetTest, EveryEntryHasASource) {
  for (const std::string &name : knownMachines({})) {
    auto found = findMachine(name, {}, &context);
    ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
    unsigned figures = 0, texts = 0;
    bool sawBandwidth = false, sawHead = false;
    forEachEntry(found->record, [&](const Entry &entry) {
      if (entry.basis.empty()) {
        ++texts;
        EXPECT_EQ(entry.path, "chip.name");
        return;
      }
      ++figures;
      EXPECT_FALSE(entry.source.empty()) << entry.path;
      if (entry.path == "node.link_bandwidth") {
        sawBandwidth = true;
        EXPECT_FALSE(entry.unit.empty());
        EXPECT_GT(entry.value, 0);
      }
      sawHead |= entry.path == "chip.attention.narrow_heads.1.slowdown";
    });
    EXPECT_EQ(texts, 1u);
    EXPECT_GT(figures, 60u);
    EXPECT_TRUE(sawBandwidth);
    EXPECT_EQ(sawHead, name != "test-ideal");
  }
}

TEST_F(TargetTest, AnswersQueriesByKeyPath) {
  auto found = findMachine("h100-dgx-ib", {}, &context);
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  OpBuilder builder(&context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToEnd(module->getBody());
  auto op =
      MachineOp::create(builder, builder.getUnknownLoc(), "m", found->record);
  EXPECT_TRUE(succeeded(verify(*module)));
  auto answer = dlti::query(op, {"chip", "memory_bandwidth"});
  ASSERT_TRUE(succeeded(answer));
  auto figure = dyn_cast<FigureAttr>(*answer);
  ASSERT_TRUE(figure);
  EXPECT_EQ(figure.getMagnitude().str(), "3.35 TBps");
  EXPECT_EQ(figure.getBasis(), Basis::Datasheet);
  answer = dlti::query(op, {"chip", "peaks", "fp8", "rate"});
  ASSERT_TRUE(succeeded(answer));
  EXPECT_EQ(cast<FigureAttr>(*answer).getMagnitude().value, 1979e12);
  // No such field, an absent peak, and a key that is no name.
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  EXPECT_TRUE(failed(dlti::query(op, {"chip", "colour"})));
  EXPECT_TRUE(failed(dlti::query(op, {"chip", "peaks", "fp4"})));
  EXPECT_TRUE(failed(found->record.query(
      DataLayoutEntryKey(Type(IntegerType::get(&context, 32))))));
}

TEST_F(TargetTest, BuiltAttributesAreVerifiedToo) {
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diag) { message = diag.str(); });
  auto emit = [&] { return emitError(UnknownLoc::get(&context)); };
  auto source = StringAttr::get(&context, "test");
  auto figure = [&](double value, Dimension dim, Convention convention) {
    return FigureAttr::getChecked(emit, &context, Magnitude{value, dim},
                                  convention, Basis::Assumed, source);
  };
  Dimension none = dimensionOf(Ratio()), time = dimensionOf(Time()),
            rate = dimensionOf(Bandwidth());
  EXPECT_FALSE(
      figure(std::numeric_limits<double>::infinity(), none, Convention::None));
  EXPECT_FALSE(
      figure(std::numeric_limits<double>::quiet_NaN(), none, Convention::None));
  EXPECT_EQ(message, "expected a finite number that is not negative");
  EXPECT_FALSE(figure(600e9, rate, Convention::Duplex));
  EXPECT_NE(message.find("found a duplex one"), std::string::npos);

  FigureAttr share = figure(.5, none, Convention::None);
  FigureAttr launch = figure(1e-6, time, Convention::None);
  EXPECT_TRUE(
      MemoryBoundAttr::getChecked(emit, &context, {Attribute(share), launch}));
  // The dimension, the number of fields, a null, and the kind.
  EXPECT_FALSE(
      MemoryBoundAttr::getChecked(emit, &context, {Attribute(launch), share}));
  EXPECT_NE(message.find("mismatched unit"), std::string::npos) << message;
  EXPECT_FALSE(MemoryBoundAttr::getChecked(emit, &context, {Attribute(share)}));
  EXPECT_NE(message.find("expected 2 fields"), std::string::npos) << message;
  EXPECT_FALSE(MemoryBoundAttr::getChecked(emit, &context,
                                           {Attribute(share), Attribute()}));
  EXPECT_NE(message.find("missing field"), std::string::npos) << message;
  EXPECT_FALSE(
      MemoryBoundAttr::getChecked(emit, &context, {Attribute(share), source}));
  EXPECT_NE(message.find("expected a figure"), std::string::npos) << message;
}

TEST_F(TargetTest, UnknownNamesListTheKnownOnes) {
  EXPECT_EQ(errorOf(loadMachine("z900", {}, &context)),
            "unknown target 'z900': expected one of a100-80gb-dgx-ib, "
            "h100-dgx-ib, test-ideal, or a .mlir file");
  EXPECT_EQ(errorOf(loadStack("", {}, &context)),
            "unknown stack '': expected one of megatron-2021, megatron-2022, "
            "megatron-core, test-ideal, or a .mlir file");
  // A name does not lead out of the directories.
  EXPECT_NE(errorOf(loadMachine("../hardware/h100-dgx-ib", {}, &context))
                .find("unknown target"),
            std::string::npos);
  EXPECT_EQ(errorOf(loadMachine(dir + "/none.mlir", {}, &context)),
            "target file '" + dir + "/none.mlir': no such file");
}

TEST_F(TargetTest, GivenDirectoriesComeFirst) {
  auto shipped = findStack("test-ideal", {}, &context);
  ASSERT_TRUE(bool(shipped)) << llvm::toString(shipped.takeError());
  std::string own;
  llvm::raw_string_ostream os(own);
  os << "target.stack @mine " << shipped->record << "\n";
  // What prints in full is `#target.stack<…>`, which an operation reads too.
  std::string file = write("test-ideal.mlir", own);
  auto found = findStack("test-ideal", {dir}, &context);
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  EXPECT_EQ(found->name, "mine");
  EXPECT_EQ(found->file, file);
  EXPECT_EQ(found->record, shipped->record);
  // A folder of the kind's name serves as well, and adds to the known names.
  ASSERT_FALSE(llvm::sys::fs::create_directory(dir + "/stacks"));
  write("stacks/other.mlir", own);
  EXPECT_TRUE(llvm::is_contained(knownStacks({dir}), "other"));
  EXPECT_TRUE(bool(findStack("other", {dir}, &context)));
}

TEST_F(TargetTest, BadFilesAreDiagnosed) {
  EXPECT_NE(
      errorOf(loadStack(write("a.mlir", "target.stack @x <"), {}, &context))
          .find("a.mlir:1:"),
      std::string::npos);
  std::string bad =
      write("b.mlir", "module {\n  target.stack @x <dropout = <maybe, assumed, "
                      "\"s\">>\n}\n");
  EXPECT_EQ(errorOf(loadStack(bad, {}, &context)),
            bad + ":2:30: custom op 'target.stack' stack.dropout: expected one "
                  "of no, yes, found "
                  "'maybe'");
  std::string empty = write("c.mlir", "");
  EXPECT_EQ(errorOf(loadMachine(empty, {}, &context)),
            empty + ": expected one target.machine, found 0");
  // A stack where a machine is asked for.
  auto shipped = findStack("test-ideal", {}, &context);
  ASSERT_TRUE(bool(shipped)) << llvm::toString(shipped.takeError());
  EXPECT_EQ(errorOf(loadMachine(shipped->file, {}, &context)),
            shipped->file + ": expected one target.machine, found 0");
  ASSERT_FALSE(llvm::sys::fs::create_directory(dir + "/d.mlir"));
  EXPECT_EQ(errorOf(loadMachine(dir + "/d.mlir", {}, &context)),
            "target file '" + dir + "/d.mlir': no such file");
  std::string binary = write("e.mlir", StringRef("\0\1\2", 3));
  EXPECT_NE(errorOf(loadMachine(binary, {}, &context)).find("e.mlir"),
            std::string::npos);
}

} // namespace
