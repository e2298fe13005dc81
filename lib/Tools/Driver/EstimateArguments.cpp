//===- EstimateArguments.cpp - The command line of dtrain estimate --------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "EstimateOptions.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace dtrain;
using namespace llvm;
using llvm::opt::DefaultVis;

namespace {
enum OptionID {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "EstimateOptions.inc"
#undef OPTION
};

#define OPTTABLE_STR_TABLE_CODE
#include "EstimateOptions.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "EstimateOptions.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

constexpr opt::OptTable::Info kOptionInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "EstimateOptions.inc"
#undef OPTION
};

class EstimateOptTable : public opt::GenericOptTable {
public:
  EstimateOptTable()
      : GenericOptTable(OptionStrTable, OptionPrefixesTable, kOptionInfos) {}
};

/// The axes of a strategy, fastest first by default.
constexpr StringLiteral kAxes[] = {"tp", "cp", "ep", "dp", "pp"};

/// Turns arguments into a request, one option after the other.
class Reader {
public:
  Reader(const opt::InputArgList &args) : args(args) {}
  Expected<EstimateRequest> read();

private:
  Error readModel();
  Error readMachine();
  Error readParallel();
  Error readOrder();
  Error readBatch();
  Error readBindings();
  Error readChoices();
  Error readSchedule();
  Error readLength();
  Error readOutput();
  Error refuseUnbuilt();
  /// A positive whole number.
  Expected<int64_t> readCount(OptionID id, StringRef name);
  Expected<double> readAmount(OptionID id, StringRef name);
  /// One of `words`; the first, with a note in the assumptions, by default.
  Expected<StringRef> readWord(OptionID id, StringRef name,
                               ArrayRef<StringRef> words, StringRef why);
  void assume(StringRef name, json::Value value, StringRef why) {
    request.defaults.push_back(
        {name.str(), std::move(value), "", "default", why.str()});
  }

  const opt::InputArgList &args;
  EstimateRequest request;
};
} // namespace

static Error fail(const Twine &message) { return createStringError(message); }

int64_t EstimateRequest::degreeOf(StringRef axis) const {
  for (auto &[name, degree] : parallel)
    if (name == axis)
      return degree;
  return 1;
}

Expected<int64_t> Reader::readCount(OptionID id, StringRef name) {
  const opt::Arg *arg = args.getLastArg(id);
  if (!arg)
    return fail("expected --" + name);
  StringRef text = arg->getValue();
  int64_t value;
  if (text.getAsInteger(10, value) || value <= 0)
    return fail("expected a positive 64-bit integer for --" + name +
                ", found '" + text + "'");
  return value;
}

Expected<double> Reader::readAmount(OptionID id, StringRef name) {
  StringRef text = args.getLastArgValue(id);
  double value;
  if (text.getAsDouble(value) || !std::isfinite(value) || value <= 0)
    return fail("expected a positive number for --" + name + ", found '" +
                text + "'");
  return value;
}

Expected<StringRef> Reader::readWord(OptionID id, StringRef name,
                                     ArrayRef<StringRef> words, StringRef why) {
  const opt::Arg *arg = args.getLastArg(id);
  if (!arg) {
    assume(name, words.front(), why);
    return words.front();
  }
  if (!is_contained(words, StringRef(arg->getValue())))
    return fail("expected --" + name + " " + join(words, ", ") + ", found '" +
                arg->getValue() + "'");
  return StringRef(arg->getValue());
}

Error Reader::readModel() {
  std::vector<std::string> inputs = args.getAllArgValues(OPT_INPUT);
  if (inputs.size() != 1)
    return fail("expected one model (.onnx, .onnxtxt or .mlir), found " +
                Twine(inputs.size()) + "; see dtrain estimate --help");
  request.model = inputs.front();
  return Error::success();
}

Error Reader::readMachine() {
  request.target = args.getLastArgValue(OPT_target).str();
  if (request.target.empty())
    return fail("expected --target NAME|FILE; there is no default, see dtrain "
                "targets");
  request.targetPath = args.getAllArgValues(OPT_target_path);
  if (args.hasArg(OPT_stack))
    request.stack = args.getLastArgValue(OPT_stack).str();
  else
    assume("stack", request.stack, "the most recent published stack");
  return Error::success();
}

Error Reader::readOrder() {
  std::vector<std::string> names(std::begin(kAxes), std::end(kAxes));
  if (const opt::Arg *arg = args.getLastArg(OPT_order)) {
    SmallVector<StringRef> parts;
    StringRef(arg->getValue()).split(parts, ',');
    std::vector<std::string> order;
    for (StringRef part : parts)
      order.push_back(part.trim().str());
    std::vector<std::string> sorted = order, known = names;
    sort(sorted);
    sort(known);
    if (sorted != known)
      return fail(Twine("expected --order to name tp, cp, ep, dp and pp once "
                        "each, found '") +
                  arg->getValue() + "'");
    names = order;
  } else {
    assume("axis order, fastest first", join(names, ","),
           "tensor parallelism inside a node, pipeline stages farthest apart");
  }
  for (const std::string &name : names)
    request.parallel.push_back({name, 1});
  return Error::success();
}

Error Reader::readParallel() {
  if (Error error = readOrder())
    return error;
  const opt::Arg *arg = args.getLastArg(OPT_parallel);
  if (!arg)
    return fail("expected --parallel, as --parallel tp=8,pp=8,dp=16");
  SmallVector<StringRef> parts;
  StringRef(arg->getValue()).split(parts, ',');
  StringSet<> seen;
  for (StringRef part : parts) {
    auto [name, text] = part.split('=');
    name = name.trim();
    int64_t degree;
    auto it = find_if(request.parallel,
                      [&, axis = name](auto &p) { return p.first == axis; });
    if (it == request.parallel.end() && name != "vpp")
      return fail("expected an axis of tp, pp, dp, cp, ep or vpp, found '" +
                  name + "'");
    if (text.trim().getAsInteger(10, degree) || degree < 1)
      return fail("expected a positive degree of '" + name + "', found '" +
                  text + "'");
    if (!seen.insert(name).second)
      return fail("expected a degree of '" + name + "' once, found it twice");
    (name == "vpp" ? request.chunks : it->second) = degree;
  }
  for (auto &[name, degree] : request.parallel)
    if (!seen.contains(name))
      assume("degree of " + name, degree, "axes that are not named are 1");
  // ep divides dp * cp: it is no axis of its own of the devices.
  int64_t product = 1;
  for (auto &[name, degree] : request.parallel)
    if (name != "ep" && MulOverflow(product, degree, product))
      return fail("the product of the degrees overflows");
  if (product != request.devices)
    return fail("expected --devices to be the product of tp, pp, dp and cp, " +
                Twine(product) + ", found " + Twine(request.devices));
  return Error::success();
}

Error Reader::readBatch() {
  Expected<int64_t> global = readCount(OPT_global_batch, "global-batch");
  if (!global)
    return global.takeError();
  Expected<int64_t> micro = readCount(OPT_micro_batch, "micro-batch");
  if (!micro)
    return micro.takeError();
  request.globalBatch = *global;
  request.microBatch = *micro;
  int64_t dp = request.degreeOf("dp"), step;
  if (MulOverflow(*micro, dp, step) || *global % step != 0) {
    int64_t below = *global / step * step;
    return fail(
        "expected --global-batch to be a multiple of micro-batch x dp "
        "= " +
        Twine(step) + ", found " + Twine(*global) +
        "; the nearest feasible is " +
        Twine(below && *global - below <= step / 2 ? below : below + step));
  }
  return Error::success();
}

Error Reader::readBindings() {
  for (StringRef text : args.getAllArgValues(OPT_bind)) {
    auto [name, size] = text.split('=');
    int64_t value;
    if (name.empty() || size.getAsInteger(10, value) || value < 0)
      return fail("expected --bind NAME=SIZE, found '" + text + "'");
    if (!request.bindings.try_emplace(name, value).second)
      return fail("expected --bind of '" + name + "' once, found it twice");
  }
  request.batchDim = args.getLastArgValue(OPT_batch_dim).str();
  request.rebatch = args.hasArg(OPT_rebatch);
  return Error::success();
}

Error Reader::readSchedule() {
  if (request.chunks > 1 && !args.hasArg(OPT_schedule)) {
    request.order = "interleaved";
    assume("schedule", request.order, "several chunks per stage interleave");
    return Error::success();
  }
  Expected<StringRef> order =
      readWord(OPT_schedule, "schedule", {"1f1b", "gpipe", "interleaved"},
               "holds fewest micro-batches with the bubble of gpipe");
  if (!order)
    return order.takeError();
  request.order = order->str();
  if (request.order == "interleaved" && request.chunks == 1)
    return fail("expected chunks for --schedule interleaved, as vpp=2 in "
                "--parallel");
  return Error::success();
}

Error Reader::readChoices() {
  if (Error error = readSchedule())
    return error;
  Expected<StringRef> recompute =
      readWord(OPT_recompute, "recompute", {"none", "full", "selective"},
               "activations are kept");
  if (!recompute)
    return recompute.takeError();
  if (*recompute == "selective")
    return fail(
        "--recompute selective is not built yet; expected none or full");
  request.recompute =
      *recompute == "full" ? RecomputeMode::full : RecomputeMode::none;
  Expected<StringRef> optimizer =
      readWord(OPT_optimizer, "optimizer", {"adamw", "sgd"},
               "what large models are trained with");
  if (!optimizer)
    return optimizer.takeError();
  request.optimizer = *optimizer == "sgd" ? Optimizer::sgd : Optimizer::adamw;
  if (args.hasArg(OPT_overlap_dp)) {
    Expected<StringRef> overlap =
        readWord(OPT_overlap_dp, "overlap-dp", {"yes", "no"}, "");
    if (!overlap)
      return overlap.takeError();
    request.overlapDataParallel = overlap->str();
  }
  Expected<StringRef> precision =
      readWord(OPT_precision, "precision",
               {"bf16", "fp16", "fp32", "fp64", "tf32", "fp8", "fp4", "int8"},
               "what large models are trained in");
  if (!precision)
    return precision.takeError();
  request.precision = precision->str();
  return Error::success();
}

Error Reader::readLength() {
  if (args.hasArg(OPT_tokens) && args.hasArg(OPT_steps))
    return fail("expected --tokens or --steps, found both");
  if (args.hasArg(OPT_tokens)) {
    Expected<double> tokens = readAmount(OPT_tokens, "tokens");
    if (!tokens)
      return tokens.takeError();
    request.length.tokens = *tokens;
  }
  if (args.hasArg(OPT_steps)) {
    Expected<double> steps = readAmount(OPT_steps, "steps");
    if (!steps)
      return steps.takeError();
    request.length.steps = *steps;
  }
  return Error::success();
}

Error Reader::readOutput() {
  static constexpr std::pair<StringLiteral, ReportFormat> kFormats[] = {
      {"text", ReportFormat::Text},
      {"json", ReportFormat::Json},
      {"csv", ReportFormat::Csv},
      {"operators", ReportFormat::Operators},
      {"chrome-trace", ReportFormat::ChromeTrace},
      {"mlir", ReportFormat::Mlir}};
  StringRef format = args.getLastArgValue(OPT_format, "text");
  const auto *found =
      find_if(kFormats, [&](auto &f) { return f.first == format; });
  if (found == std::end(kFormats))
    return fail(
        "expected --format text, json, csv, operators, chrome-trace or mlir, "
        "found '" +
        format + "'");
  request.format = found->second;
  if (const opt::Arg *to = args.getLastArg(OPT_to)) {
    request.to = symbolizePhase(to->getValue());
    if (!request.to)
      return fail(Twine("expected --to import, train, place, communicate, "
                        "schedule or solve, found '") +
                  to->getValue() + "'");
  }
  request.output = args.getLastArgValue(OPT_output, "-").str();
  return Error::success();
}

Error Reader::refuseUnbuilt() {
  for (StringRef axis : {"cp", "ep"})
    if (request.degreeOf(axis) > 1)
      return fail("parallelism over '" + axis +
                  "' is not built yet; expected " + axis + "=1");
  if (args.hasArg(OPT_sequence_parallel))
    return fail("--sequence-parallel is not built yet");
  if (const opt::Arg *zero = args.getLastArg(OPT_zero)) {
    StringRef stage = zero->getValue();
    if (stage == "1" || stage == "2" || stage == "3")
      return fail("--zero " + stage + " is not built yet; expected 0");
    if (stage != "0")
      return fail("expected --zero 0 to 3, found '" + stage + "'");
  } else {
    assume("zero", 0, "the optimizer's state is not sharded");
  }
  return Error::success();
}

Expected<EstimateRequest> Reader::read() {
  if (Error error = readModel())
    return error;
  if (Error error = readMachine())
    return error;
  Expected<int64_t> devices = readCount(OPT_devices, "devices");
  if (!devices)
    return devices.takeError();
  request.devices = *devices;
  for (auto step :
       {&Reader::readParallel, &Reader::readBatch, &Reader::readBindings,
        &Reader::readChoices, &Reader::readLength, &Reader::readOutput,
        &Reader::refuseUnbuilt})
    if (Error error = (this->*step)())
      return error;
  return std::move(request);
}

/// The first thing wrong with the command line as such.
static Error checkSyntax(const opt::OptTable &table,
                         const opt::InputArgList &args, unsigned missingIndex,
                         unsigned missingCount) {
  if (missingCount)
    return fail(Twine("expected a value after '") +
                args.getArgString(missingIndex) + "'");
  for (const opt::Arg *arg : args.filtered(OPT_UNKNOWN)) {
    std::string text = arg->getAsString(args), nearest;
    if (table.findNearest(text, nearest) <= 2)
      return fail("unknown option '" + text + "', did you mean '" + nearest +
                  "'?");
    return fail("unknown option '" + text + "'; see dtrain estimate --help");
  }
  DenseSet<unsigned> seen;
  for (const opt::Arg *arg : args)
    if (const opt::Option option = arg->getOption();
        !option.matches(OPT_INPUT) && !option.matches(OPT_bind) &&
        !option.matches(OPT_target_path) && !seen.insert(option.getID()).second)
      return fail("expected " + option.getPrefixedName() +
                  " once, found it twice");
  return Error::success();
}

Expected<EstimateRequest>
dtrain::parseEstimate(ArrayRef<const char *> arguments) {
  EstimateOptTable table;
  unsigned missingIndex = 0, missingCount = 0;
  opt::InputArgList args =
      table.ParseArgs(arguments, missingIndex, missingCount);
  if (Error error = checkSyntax(table, args, missingIndex, missingCount))
    return error;
  return Reader(args).read();
}

bool dtrain::printEstimateHelp(ArrayRef<const char *> arguments) {
  if (none_of(arguments,
              [](StringRef arg) { return arg == "--help" || arg == "-h"; }))
    return false;
  EstimateOptTable().printHelp(
      outs(), "dtrain estimate MODEL --target NAME --devices N --parallel …",
      "Time, memory, energy, cost and carbon of training a model.\n"
      "MODEL is .onnx, .onnxtxt, or .mlir of any phase.");
  return true;
}
