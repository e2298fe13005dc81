//===- Estimate.cpp - The subcommand dtrain estimate ----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Tools/Driver/Estimate.h"
#include "EstimateOptions.h"
#include "dtrain/IR/Schedule/Translate.h"
#include "dtrain/IR/Target/Load.h"
#include "dtrain/Import/ONNX/Import.h"
#include "dtrain/Tools/Driver/OutputFile.h"
#include "dtrain/Tools/Registration.h"
#include "dtrain/Transforms/Schedule/Passes.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/WithColor.h"

using namespace dtrain;
using namespace llvm;
using mlir::ModuleOp;
using mlir::OwningOpRef;

namespace {
/// The error whose diagnostics were given already.
class DiagnosedError : public ErrorInfo<DiagnosedError> {
public:
  static char ID;
  void log(raw_ostream &os) const override {}
  std::error_code convertToErrorCode() const override {
    return inconvertibleErrorCode();
  }
};
} // namespace
char DiagnosedError::ID = 0;

static Error diagnosed() { return make_error<DiagnosedError>(); }
static Error fail(const Twine &message) { return createStringError(message); }

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

static bool isProgram(StringRef path) {
  return sys::path::extension(path) == ".mlir";
}

namespace {
struct LoadedModel {
  std::string name;
  OwningOpRef<ModuleOp> module;
};
} // namespace

static Expected<LoadedModel> loadModel(const EstimateRequest &request,
                                       mlir::MLIRContext *context) {
  LoadedModel model;
  model.name = sys::path::stem(request.model).str();
  if (isProgram(request.model)) {
    model.module = mlir::parseSourceFile<ModuleOp>(request.model, context);
  } else {
    OnnxImportOptions options;
    options.bindings = request.bindings;
    options.batchDim = request.batchDim;
    options.batch = request.microBatch * request.degreeOf("dp");
    options.rebatch = request.rebatch;
    model.module = importOnnx(request.model, options, context);
  }
  if (!model.module)
    return diagnosed();
  return model;
}

//===----------------------------------------------------------------------===//
// Settings
//===----------------------------------------------------------------------===//

static std::optional<ComputeType> computeTypeOf(StringRef precision) {
  return StringSwitch<std::optional<ComputeType>>(precision)
      .Case("bf16", ComputeType::bf16)
      .Case("fp16", ComputeType::f16)
      .Case("fp32", ComputeType::f32)
      .Default(std::nullopt);
}

/// The precision's type, if the machine has a peak for it.
static Expected<ComputeType> checkPrecision(StringRef name,
                                            const Machine &machine) {
  std::optional<Precision> precision = parsePrecision(name);
  if (!precision || !machine.chip.findPeak(*precision)) {
    std::string known =
        join(map_range(machine.chip.peaks,
                       [](const PeakRate &peak) {
                         return stringifyPrecision(peak.precision).str();
                       }),
             ", ");
    return fail("'" + machine.name + "' has no peak rate for " + name +
                "; expected one of " + known);
  }
  if (std::optional<ComputeType> type = computeTypeOf(name))
    return *type;
  return fail("training in " + name +
              " is not built yet; expected bf16, fp16 or fp32");
}

/// Gradients are summed in the stack's type: fp32, or that of the step.
static Expected<ComputeType> gradientTypeOf(const Stack &stack,
                                            ComputeType compute) {
  double bytes = stack.gradientElement.value.base();
  if (bytes == 4)
    return ComputeType::f32;
  if (bytes == 2)
    return compute;
  return fail("'" + stack.name +
              "': expected gradients of 2 or 4 bytes, found " +
              stack.gradientElement.value.str());
}

static PipelineSettings settingsOf(const EstimateRequest &request,
                                   ComputeType compute, ComputeType gradient,
                                   StringRef name) {
  PipelineSettings settings;
  settings.name = name.str();
  for (auto &[axis, degree] : reverse(request.parallel))
    if (axis != "ep")
      settings.mesh += (settings.mesh.empty() ? "" : ",") + axis + "=" +
                       std::to_string(degree);
  settings.microBatches = request.microBatches();
  settings.chunks = request.chunks;
  settings.order = request.order;
  settings.precision = compute;
  settings.gradientType = gradient;
  settings.optimizer = request.optimizer;
  settings.recompute = request.recompute;
  settings.target = request.target;
  settings.stack = request.stack;
  settings.overlapDataParallel = request.overlapDataParallel;
  settings.targetPath = request.targetPath;
  settings.to = request.to.value_or(Phase::solve);
  return settings;
}

//===----------------------------------------------------------------------===//
// Assumptions
//===----------------------------------------------------------------------===//

/// Every figure of a description that its author assumed.
static void addAssumed(StringRef owner, target::RecordAttrInterface record,
                       std::vector<Assumption> &assumptions) {
  target::forEachEntry(record, [&](const target::Entry &entry) {
    if (entry.basis != "assumed")
      return;
    Assumption a;
    a.name = (owner + "." + entry.path).str();
    bool isFigure = entry.value != 0 || !entry.unit.empty();
    a.value = isFigure ? json::Value(entry.value) : json::Value(entry.text);
    a.unit = entry.unit;
    a.basis = entry.basis;
    a.source = entry.source;
    assumptions.push_back(std::move(a));
  });
}

static std::vector<Assumption>
collectAssumptions(const EstimateRequest &request, const Stack &stack,
                   target::MachineAttr machineRecord,
                   target::StackAttr stackRecord) {
  std::vector<Assumption> assumptions = request.defaults;
  if (request.overlapDataParallel == "stack")
    assumptions.push_back({"overlap-dp",
                           stack.overlapDataParallel.value ? "yes" : "no", "",
                           "default", "the stack's"});
  assumptions.push_back({"input", 0.0, "s", "assumed",
                         "storage is not modelled: batches are ready when they "
                         "are needed"});
  assumptions.push_back({"failures", 0.0, "", "assumed",
                         "neither failures nor checkpoints are modelled"});
  addAssumed("target",
             cast<target::RecordAttrInterface>(mlir::Attribute(machineRecord)),
             assumptions);
  addAssumed("stack",
             cast<target::RecordAttrInterface>(mlir::Attribute(stackRecord)),
             assumptions);
  return assumptions;
}

//===----------------------------------------------------------------------===//
// Estimation
//===----------------------------------------------------------------------===//

static StringRef nameOf(RecomputeMode mode) {
  return mode == RecomputeMode::full ? "full" : "none";
}

/// A program that was read must be the one that the command line describes.
static Error checkPlan(schedule::PlanOp plan, int64_t samples,
                       const EstimateRequest &request, const Machine &machine,
                       const Stack &stack) {
  auto expect = [](StringRef what, auto asked, auto found) -> Error {
    if (asked == found)
      return Error::success();
    return fail("expected a program of " + Twine(asked) + " " + what +
                ", found " + Twine(found));
  };
  if (Error error =
          expect("devices", request.devices, plan.getMesh().getNumDevices()))
    return error;
  if (Error error = expect("micro-batches", request.microBatches(),
                           static_cast<int64_t>(plan.getMicroBatches())))
    return error;
  if (Error error = expect("samples", request.globalBatch, samples))
    return error;
  if (plan.getTarget() && *plan.getTarget() != machine.name)
    return fail("the program was solved for target '" + *plan.getTarget() +
                "', found --target " + machine.name);
  if (plan.getStack() && *plan.getStack() != stack.name)
    return fail("the program was solved for stack '" + *plan.getStack() +
                "', found --stack " + stack.name);
  return Error::success();
}

static std::string printModule(ModuleOp module) {
  std::string text;
  raw_string_ostream os(text);
  module.print(os);
  os << '\n';
  return text;
}

namespace {
/// What an estimate stands on.
struct Descriptions {
  Machine machine;
  Stack stack;
  target::MachineAttr machineRecord;
  target::StackAttr stackRecord;
};

/// A solved step, which the parts refer to one another in.
struct Estimation {
  StepProblem problem;
  EvaluatedStep step;
  StepPrices prices;
  StepSolution solution;
  SolvedStep solved() const { return {problem, step, prices, solution}; }
};
} // namespace

static Expected<Descriptions> describe(const EstimateRequest &request,
                                       mlir::MLIRContext *context) {
  auto machine = findMachine(request.target, request.targetPath, context);
  if (!machine)
    return machine.takeError();
  auto stack = findStack(request.stack, request.targetPath, context);
  if (!stack)
    return stack.takeError();
  Descriptions result{toModel(machine->record, machine->name),
                      toModel(stack->record, stack->name), machine->record,
                      stack->record};
  if (request.overlapDataParallel != "stack")
    result.stack.overlapDataParallel.value =
        request.overlapDataParallel == "yes";
  return result;
}

/// Runs the passes from the module's phase to `to`.
static Error runPasses(ModuleOp module, const EstimateRequest &request,
                       const Descriptions &known, Phase to, bool annotate) {
  Expected<ComputeType> compute =
      checkPrecision(request.precision, known.machine);
  if (!compute)
    return compute.takeError();
  Expected<ComputeType> gradient = gradientTypeOf(known.stack, *compute);
  if (!gradient)
    return gradient.takeError();
  mlir::PassManager pm(module.getContext());
  // Every phase ends in its own verifier; dtrain-opt, which runs the same
  // passes, verifies after each.
  pm.enableVerifier(false);
  PipelineSettings settings =
      settingsOf(request, *compute, *gradient, sys::path::stem(request.model));
  settings.to = to;
  buildPipeline(pm, settings, phaseOf(module).value_or(Phase::import));
  if (annotate)
    pm.addPass(createScheduleAnnotate());
  return succeeded(pm.run(module)) ? Error::success() : diagnosed();
}

/// Prices and solves a plan; one that is solved keeps its costs.
static Error solvePlan(schedule::PlanOp plan, const EstimateRequest &request,
                       const Descriptions &known, Estimation &result) {
  auto problem = schedule::toStep(plan);
  if (failed(problem))
    return diagnosed();
  result.problem = std::move(*problem);
  Expected<int64_t> perNode = devicesPerNode(known.machine);
  if (!perNode)
    return perNode.takeError();
  Expected<EvaluatedStep> step =
      evaluate(result.problem, result.problem.scale(), *perNode);
  if (!step)
    return step.takeError();
  result.step = std::move(*step);
  if (Error error = checkPlan(plan, result.step.samples, request, known.machine,
                              known.stack))
    return error;
  if (plan.getAt()) {
    auto prices = schedule::pricesOf(plan, result.problem);
    if (failed(verifySolution(plan)) || failed(prices))
      return diagnosed();
    result.prices = std::move(*prices);
  } else {
    Expected<StepPrices> prices =
        price(result.step, known.machine, known.stack);
    if (!prices)
      return prices.takeError();
    result.prices = std::move(*prices);
  }
  Expected<StepSolution> solution = solve(result.step, result.prices);
  if (!solution)
    return solution.takeError();
  result.solution = std::move(*solution);
  return Error::success();
}

static Strategy strategyOf(const EstimateRequest &request, const Stack &stack) {
  Strategy strategy;
  strategy.parallel = request.parallel;
  strategy.globalBatch = request.globalBatch;
  strategy.microBatch = request.microBatch;
  strategy.precision = request.precision;
  strategy.optimizer = stringifyOptimizer(request.optimizer).str();
  strategy.recompute = nameOf(request.recompute).str();
  strategy.overlapDataParallel = stack.overlapDataParallel.value;
  return strategy;
}

/// Leads a module to a solved step.
static Expected<std::unique_ptr<Estimation>>
estimateStep(ModuleOp module, const EstimateRequest &request,
             const Descriptions &known) {
  if (Error error = runPasses(module, request, known, Phase::schedule, false))
    return error;
  mlir::FailureOr<schedule::PlanOp> plan = findPlan(module);
  if (failed(plan))
    return diagnosed();
  auto result = std::make_unique<Estimation>();
  if (Error error = solvePlan(*plan, request, known, *result))
    return error;
  return result;
}

static Expected<Report> reportOf(const Estimation &estimation,
                                 const EstimateRequest &request,
                                 const Descriptions &known) {
  return makeReport(estimation.solved(), known.machine, known.stack,
                    strategyOf(request, known.stack), request.length,
                    collectAssumptions(request, known.stack,
                                       known.machineRecord, known.stackRecord));
}

Expected<Report> dtrain::estimate(ModuleOp module,
                                  const EstimateRequest &request) {
  Expected<Descriptions> known = describe(request, module.getContext());
  if (!known)
    return known.takeError();
  auto estimation = estimateStep(module, request, *known);
  if (!estimation)
    return estimation.takeError();
  return reportOf(**estimation, request, *known);
}

static std::string printReport(ReportFormat format, const Report &report,
                               const Estimation &estimation) {
  std::string text;
  raw_string_ostream os(text);
  switch (format) {
  case ReportFormat::Text:
    printText(report, os);
    break;
  case ReportFormat::Json:
    os << formatv("{0:2}", toJson(report)) << '\n';
    break;
  case ReportFormat::Csv:
    printCsv(report, os);
    break;
  case ReportFormat::Operators:
    printOperators(report, os);
    break;
  case ReportFormat::ChromeTrace:
    printChromeTrace(estimation.solved(), os);
    os << '\n';
    break;
  case ReportFormat::Mlir:
    llvm_unreachable("the module is printed instead");
  }
  return text;
}

namespace {
/// Collects what is warned of on the way, for the report; printing it is left
/// to the handler outside.
class WarningCollector {
public:
  explicit WarningCollector(mlir::MLIRContext *context)
      : handler(context, [this](mlir::Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning) {
            std::string text = diagnostic.str();
            replace(text, '\n', ' ');
            if (!is_contained(warnings, text))
              warnings.push_back(std::move(text));
          }
          return mlir::failure();
        }) {}
  std::vector<std::string> take() { return std::move(warnings); }

private:
  std::vector<std::string> warnings;
  mlir::ScopedDiagnosticHandler handler;
};
} // namespace

Expected<std::string> dtrain::runEstimate(const EstimateRequest &request,
                                          mlir::MLIRContext *context) {
  WarningCollector warnings(context);
  Expected<Descriptions> known = describe(request, context);
  if (!known)
    return known.takeError();
  Expected<LoadedModel> model = loadModel(request, context);
  if (!model)
    return model.takeError();
  ModuleOp module = *model->module;
  bool isProgram = request.format == ReportFormat::Mlir;
  if (request.to || isProgram) {
    if (Error error = runPasses(module, request, *known,
                                request.to.value_or(Phase::solve),
                                /*annotate=*/isProgram && !request.to))
      return error;
    return printModule(module);
  }
  auto estimation = estimateStep(module, request, *known);
  if (!estimation)
    return estimation.takeError();
  Expected<Report> report = reportOf(**estimation, request, *known);
  if (!report)
    return report.takeError();
  std::vector<std::string> texts = warnings.take();
  report->warnings.insert(report->warnings.begin(), texts.begin(), texts.end());
  return printReport(request.format, *report, **estimation);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

namespace {
/// Prints errors and warnings, one line each, and only the first few: what
/// follows is mostly their consequence.
class DiagnosticPrinter {
public:
  void operator()(mlir::Diagnostic &diagnostic) {
    bool isError = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    bool isWarning =
        diagnostic.getSeverity() == mlir::DiagnosticSeverity::Warning;
    if ((!isError && !isWarning) || printed == kMost)
      return;
    printed += isError; // warnings hide no error
    if (auto file =
            diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>()) {
      errs() << file.getFilename().getValue() << ':';
      if (isProgram(file.getFilename()))
        errs() << file.getLine() << ':' << file.getColumn() << ':';
      errs() << ' ';
    }
    std::string text = diagnostic.str();
    replace(text, '\n', ' ');
    (isError ? WithColor::error() : WithColor::warning()) << text << '\n';
  }

private:
  static constexpr unsigned kMost = 4;
  unsigned printed = 0;
};
} // namespace

int dtrain::runEstimateCommand(ArrayRef<const char *> args) {
  if (printEstimateHelp(args))
    return 0;
  auto report = [](Error error) {
    // Diagnostics were printed as they came.
    handleAllErrors(
        std::move(error), [](const DiagnosedError &) {},
        [](const ErrorInfoBase &info) {
          WithColor::error() << info.message() << '\n';
        });
    return 1;
  };
  Expected<EstimateRequest> request = parseEstimate(args);
  if (!request)
    return report(request.takeError());
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  DiagnosticPrinter printer;
  mlir::ScopedDiagnosticHandler handler(
      &context, [&](mlir::Diagnostic &d) { printer(d); });
  Expected<std::string> text = runEstimate(*request, &context);
  if (!text)
    return report(text.takeError());
  if (Error error = writeOutputFile(request->output, *text))
    return report(std::move(error));
  return 0;
}
