//===- Bench.cpp - What an estimate costs to make -------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Benchmarks of the library as a program would use it, in one process. A
/// benchmark that fails to do its work says so and ends with an error.
///
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Translate.h"
#include "dtrain/IR/Target/Load.h"
#include "dtrain/Import/ONNX/Import.h"
#include "dtrain/Model/Compute/Compute.h"
#include "dtrain/Model/Simulate/Pipeline.h"
#include "dtrain/Networks/Network.h"
#include "dtrain/Tools/Driver/Estimate.h"
#include "dtrain/Tools/Pipeline.h"
#include "dtrain/Tools/Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <memory>

using namespace dtrain;
using namespace llvm;

namespace {

/// As the driver makes one for each estimate.
std::unique_ptr<mlir::MLIRContext> makeContext() {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  return std::make_unique<mlir::MLIRContext>(
      registry, mlir::MLIRContext::Threading::DISABLED);
}

/// The value; otherwise the benchmark ends with the error.
template <typename T> T valueOf(Expected<T> value) {
  if (value)
    return std::move(*value);
  errs() << "error: " << toString(value.takeError()) << '\n';
  std::exit(1);
}

/// GPT-3's sizes with another number of layers.
NetworkSpec gpt3(int64_t layers) {
  NetworkSpec spec = findNetworkPreset("gpt3-175b")->getSpec();
  spec.layers = layers;
  return spec;
}

/// A network in a file that lives as long as this.
class NetworkFile {
public:
  explicit NetworkFile(const NetworkSpec &spec) {
    std::string contents = valueOf(writeNetwork(spec));
    int descriptor;
    SmallString<128> path;
    if (std::error_code code = sys::fs::createTemporaryFile(
            "dtrain-bench", "onnx", descriptor, path))
      valueOf<int>(errorCodeToError(code));
    remover.setFile(path);
    name = path.str().str();
    raw_fd_ostream(descriptor, /*shouldClose=*/true) << contents;
  }
  const std::string &path() const { return name; }

private:
  std::string name;
  FileRemover remover;
};

/// What `dtrain estimate FILE options…` does, from the file to the text.
void estimate(benchmark::State &state, const NetworkSpec &spec,
              StringRef options) {
  NetworkFile file(spec);
  SmallVector<std::string> words = {file.path()};
  for (StringRef word : split(options, ' '))
    words.push_back(word.str());
  SmallVector<const char *> args;
  for (const std::string &word : words)
    args.push_back(word.c_str());
  EstimateRequest request = valueOf(parseEstimate(args));
  for (auto _ : state)
    benchmark::DoNotOptimize(
        valueOf(runEstimate(request, makeContext().get())));
}

/// Import, fusion and rolling: the phase import.
void BM_ImportGpt3(benchmark::State &state) {
  std::string contents = valueOf(writeNetwork(gpt3(96)));
  OnnxImportOptions options;
  options.batch = 16;
  options.bindings["seq"] = 2048;
  PipelineSettings settings;
  settings.to = Phase::import;
  for (auto _ : state) {
    auto context = makeContext();
    auto module = importOnnx(MemoryBufferRef(contents, "gpt3-175b"), options,
                             context.get());
    mlir::PassManager pm(context.get());
    buildPipeline(pm, settings, Phase::import);
    if (!module || failed(pm.run(*module)))
      return state.SkipWithError("the import failed");
  }
}
BENCHMARK(BM_ImportGpt3)->Unit(benchmark::kMillisecond);

void BM_EstimateGpt3On1024(benchmark::State &state) {
  estimate(state, gpt3(96),
           "--target a100-80gb-dgx-ib --devices 1024 --parallel "
           "tp=8,pp=8,dp=16 --global-batch 1536 --micro-batch 1 --bind "
           "seq=2048 --recompute full");
}
BENCHMARK(BM_EstimateGpt3On1024)->Unit(benchmark::kMillisecond);

void BM_EstimateMegatron1TOn3072(benchmark::State &state) {
  estimate(state, findNetworkPreset("megatron-1t")->getSpec(),
           "--target a100-80gb-dgx-ib --devices 3072 --parallel "
           "tp=8,pp=64,dp=6 --global-batch 3072 --micro-batch 1 --bind "
           "seq=2048 --recompute full");
}
BENCHMARK(BM_EstimateMegatron1TOn3072)->Unit(benchmark::kMillisecond);

/// GPT-3's sizes with that many layers, without a pipeline: all that depth
/// costs is reading the file.
void BM_EstimateByLayers(benchmark::State &state) {
  estimate(state, gpt3(state.range(0)),
           "--target a100-80gb-dgx-ib --devices 128 --parallel tp=8,dp=16 "
           "--global-batch 1536 --micro-batch 1 --bind seq=2048");
}
BENCHMARK(BM_EstimateByLayers)->Arg(2)->Arg(96)->Unit(benchmark::kMillisecond);

/// One linear layer of GPT-3 on one device of eight.
void BM_PriceOneOp(benchmark::State &state) {
  auto context = makeContext();
  auto machineFound =
      valueOf(findMachine("a100-80gb-dgx-ib", {}, context.get()));
  auto stackFound = valueOf(findStack("megatron-core", {}, context.get()));
  Machine machine = toModel(machineFound.record, machineFound.name);
  Stack stack = toModel(stackFound.record, stackFound.name);
  OpWork work;
  work.cls = OpClass::Contraction;
  work.gemm = GemmShape{1, 2048, 6144, 12288};
  work.flops = valueOf(flopsOf(work.gemm));
  work.read = Bytes::fromBase(2. * (2048 * 12288 + 12288 * 6144));
  work.written = Bytes::fromBase(2. * (2048 * 6144));
  for (auto _ : state)
    benchmark::DoNotOptimize(valueOf(costOf(work, machine, stack)));
}
BENCHMARK(BM_PriceOneOp);

/// GPT-3 on 1,024 devices, once more with another memory bandwidth: its problem
/// and its evaluation are kept.
void BM_RepriceGpt3On1024(benchmark::State &state) {
  NetworkFile file(gpt3(96));
  std::vector<const char *> args = {file.path().c_str(),
                                    "--target",
                                    "a100-80gb-dgx-ib",
                                    "--devices",
                                    "1024",
                                    "--parallel",
                                    "tp=8,pp=8,dp=16",
                                    "--global-batch",
                                    "1536",
                                    "--micro-batch",
                                    "1",
                                    "--bind",
                                    "seq=2048",
                                    "--recompute",
                                    "full",
                                    "--to",
                                    "schedule"};
  auto context = makeContext();
  std::string text =
      valueOf(runEstimate(valueOf(parseEstimate(args)), context.get()));
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
  auto plan = *module->getOps<schedule::PlanOp>().begin();
  StepProblem problem = *schedule::toStep(plan);
  auto machineFound =
      valueOf(findMachine("a100-80gb-dgx-ib", {}, context.get()));
  auto stackFound = valueOf(findStack("megatron-core", {}, context.get()));
  Machine machine = toModel(machineFound.record, machineFound.name);
  Stack stack = toModel(stackFound.record, stackFound.name);
  EvaluatedStep step = valueOf(
      evaluate(problem, problem.scale(), valueOf(devicesPerNode(machine))));
  auto graph = valueOf(PipelineGraph::get(step.shape, *problem.order));
  Bandwidth bandwidth = machine.chip.memoryBandwidth.value;
  double faster = 1;
  for (auto _ : state) {
    faster = faster == 1 ? 1.25 : 1;
    machine.chip.memoryBandwidth.value = bandwidth * faster;
    StepPrices prices = valueOf(price(step, machine, stack));
    StepSolution solution = valueOf(solve(step, prices, graph));
    benchmark::DoNotOptimize(totalsOf(step, prices, solution));
  }
}
BENCHMARK(BM_RepriceGpt3On1024)->Unit(benchmark::kMicrosecond);

/// 512 micro-batches through 64 stages: 65,536 events.
void BM_SolvePipeline64x512(benchmark::State &state) {
  PipelineProblem problem;
  problem.shape.stages = 64;
  problem.shape.microBatches = 512;
  problem.durations = {std::vector<Time>(64, Time::fromBase(1)),
                       std::vector<Time>(64, Time::fromBase(2))};
  problem.transfers.assign(2, std::vector<Time>(63, Time::fromBase(0.125)));
  problem.order = &oneForwardOneBackwardOrder();
  for (auto _ : state)
    benchmark::DoNotOptimize(valueOf(solve(problem)));
}
BENCHMARK(BM_SolvePipeline64x512)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
