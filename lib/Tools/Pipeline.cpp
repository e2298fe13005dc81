//===- Pipeline.cpp - From a model to its solved schedule -----------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Tools/Pipeline.h"
#include "dtrain/Conversion/Passes.h"
#include "dtrain/Transforms/Schedule/Passes.h"

using namespace mlir;
using namespace dtrain;

static void buildTrain(OpPassManager &pm, const PipelineSettings &settings) {
  SetPrecisionOptions precision;
  precision.precision = settings.precision;
  pm.addPass(createSetPrecision(precision));
  DifferentiateOptions differentiate;
  differentiate.microBatches = settings.microBatches;
  differentiate.gradientType = settings.gradientType;
  pm.addPass(createDifferentiate(differentiate));
  ApplyOptimizerOptions optimizer;
  optimizer.optimizer = settings.optimizer;
  pm.addPass(createApplyOptimizer(optimizer));
  RecomputeOptions recompute;
  recompute.mode = settings.recompute;
  pm.addPass(createRecompute(recompute));
  pm.addPass(createVerifyTrain());
}

void dtrain::buildPlacePipeline(OpPassManager &pm,
                                const PlaceOptions &options) {
  SeedDataParallelOptions data;
  data.mesh = options.mesh;
  SeedTensorParallelOptions tensor;
  tensor.mesh = options.mesh;
  SeedPipelineParallelOptions pipeline;
  pipeline.mesh = options.mesh;
  pipeline.chunks = options.chunks;
  pm.addPass(createSeedDataParallel(data));
  pm.addPass(createSeedTensorParallel(tensor));
  pm.addPass(createSeedPipelineParallel(pipeline));
  pm.addPass(createPropagatePlacement());
  pm.addPass(createVerifyPlace());
}

void dtrain::buildCommunicatePipeline(OpPassManager &pm) {
  pm.addPass(createMaterializeReshards());
  pm.addPass(createLowerReshards());
  pm.addPass(createVerifyCommunicate());
}

static void buildSchedule(OpPassManager &pm, const PipelineSettings &settings) {
  ConvertDTrainToScheduleOptions convert;
  convert.name = settings.name;
  convert.order = settings.order;
  convert.optimizer = stringifyOptimizer(settings.optimizer).str();
  convert.recompute =
      settings.recompute == RecomputeMode::full ? "full" : "none";
  pm.addPass(createConvertDTrainToSchedule(convert));
  pm.addPass(createScheduleVerify());
}

static void buildSolve(OpPassManager &pm, const PipelineSettings &settings) {
  ScheduleAssignDurationsOptions durations;
  durations.target = settings.target;
  durations.stack = settings.stack;
  durations.overlapDataParallel = settings.overlapDataParallel;
  durations.targetPath.assign(settings.targetPath.begin(),
                              settings.targetPath.end());
  pm.addPass(createScheduleAssignDurations(durations));
  pm.addPass(createScheduleSolve());
  ScheduleVerifyOptions verify;
  verify.solution = true;
  pm.addPass(createScheduleVerify(verify));
}

void dtrain::buildPipeline(OpPassManager &pm, const PipelineSettings &settings,
                           Phase from) {
  auto leadsTo = [&](Phase phase) {
    return (phase == Phase::import ? from == phase : from < phase) &&
           phase <= settings.to;
  };
  if (leadsTo(Phase::import)) {
    // Rolled first, so that fusion costs as much for many layers as for few;
    // and again, for layers that are alike only once they are fused.
    pm.addPass(createRollLayers());
    pm.addPass(createSinkInvariants());
    pm.addPass(createFuse());
    pm.addPass(createHoistInvariants());
    pm.addPass(createRollLayers());
    pm.addPass(createVerifyImport());
  }
  if (leadsTo(Phase::train))
    buildTrain(pm, settings);
  if (leadsTo(Phase::place)) {
    PlaceOptions place;
    place.mesh = settings.mesh;
    place.chunks = settings.chunks;
    buildPlacePipeline(pm, place);
  }
  if (leadsTo(Phase::communicate))
    buildCommunicatePipeline(pm);
  if (leadsTo(Phase::schedule))
    buildSchedule(pm, settings);
  if (leadsTo(Phase::solve))
    buildSolve(pm, settings);
}

//===----------------------------------------------------------------------===//
// Textual form
//===----------------------------------------------------------------------===//

static auto phases() {
  return llvm::cl::values(
      clEnumValN(Phase::import, "import", "fused and rolled"),
      clEnumValN(Phase::train, "train", "a training step"),
      clEnumValN(Phase::place, "place", "placed on the mesh"),
      clEnumValN(Phase::communicate, "communicate", "with communications"),
      clEnumValN(Phase::schedule, "schedule", "a scheduling problem"),
      clEnumValN(Phase::solve, "solve", "its solution"));
}
static auto types() {
  return llvm::cl::values(clEnumValN(ComputeType::bf16, "bf16", "bfloat16"),
                          clEnumValN(ComputeType::f16, "fp16", "IEEE half"),
                          clEnumValN(ComputeType::f32, "fp32", "IEEE single"));
}

namespace {
struct PipelineOptions : public PassPipelineOptions<PipelineOptions> {
  Option<Phase> from{*this, "from", llvm::cl::desc("Phase of the input"),
                     llvm::cl::init(Phase::import), phases()};
  Option<Phase> to{*this, "to", llvm::cl::desc("Last phase to reach"),
                   llvm::cl::init(Phase::solve), phases()};
  Option<std::string> name{*this, "name", llvm::cl::desc("Name of the model"),
                           llvm::cl::init("step")};
  Option<std::string> mesh{
      *this, "mesh",
      llvm::cl::desc("Degrees, slowest axis first: pp=2,dp=4,tp=8")};
  Option<int64_t> microBatches{*this, "micro-batches",
                               llvm::cl::desc("Micro-batches of a step"),
                               llvm::cl::init(1)};
  Option<int64_t> chunks{*this, "chunks",
                         llvm::cl::desc("Chunks of layers per stage"),
                         llvm::cl::init(1)};
  Option<std::string> order{*this, "order",
                            llvm::cl::desc("Order of the micro-batches"),
                            llvm::cl::init("1f1b")};
  Option<ComputeType> precision{*this, "precision",
                                llvm::cl::desc("Type to compute in"),
                                llvm::cl::init(ComputeType::bf16), types()};
  Option<ComputeType> gradientType{*this, "gradient-type",
                                   llvm::cl::desc("Type to sum gradients in"),
                                   llvm::cl::init(ComputeType::f32), types()};
  Option<Optimizer> optimizer{
      *this, "optimizer", llvm::cl::desc("The optimizer"),
      llvm::cl::init(Optimizer::adamw),
      llvm::cl::values(clEnumValN(Optimizer::adamw, "adamw", "AdamW"),
                       clEnumValN(Optimizer::sgd, "sgd", "with momentum"))};
  Option<RecomputeMode> recompute{
      *this, "recompute", llvm::cl::desc("What backward computes again"),
      llvm::cl::init(RecomputeMode::none),
      llvm::cl::values(clEnumValN(RecomputeMode::none, "none", "nothing"),
                       clEnumValN(RecomputeMode::full, "full", "layers"))};
  Option<std::string> target{*this, "target", llvm::cl::desc("The machine")};
  Option<std::string> stack{*this, "stack",
                            llvm::cl::desc("The software stack"),
                            llvm::cl::init("megatron-core")};
  Option<std::string> overlap{
      *this, "overlap-dp",
      llvm::cl::desc("Gradients overlap backward: stack, yes or no"),
      llvm::cl::init("stack")};
};
} // namespace

void dtrain::registerPipeline() {
  PassPipelineRegistration<PipelineOptions>(
      "dtrain-pipeline", "From a model to its solved schedule",
      [](OpPassManager &pm, const PipelineOptions &options) {
        PipelineSettings settings;
        settings.name = options.name;
        settings.mesh = options.mesh;
        settings.microBatches = options.microBatches;
        settings.chunks = options.chunks;
        settings.order = options.order;
        settings.precision = options.precision;
        settings.gradientType = options.gradientType;
        settings.optimizer = options.optimizer;
        settings.recompute = options.recompute;
        settings.target = options.target;
        settings.stack = options.stack;
        settings.overlapDataParallel = options.overlap;
        settings.to = options.to;
        buildPipeline(pm, settings, options.from);
      });
}
