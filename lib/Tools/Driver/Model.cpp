//===- Model.cpp - The subcommand dtrain model ----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Tools/Driver/Model.h"
#include "dtrain/Networks/Network.h"
#include "dtrain/Tools/Driver/OutputFile.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Option/Arg.h"
#include "llvm/Option/ArgList.h"
#include "llvm/Option/OptTable.h"
#include "llvm/Option/Option.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace dtrain;
using namespace llvm;
using llvm::opt::DefaultVis;

namespace {
enum OptionID {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "ModelOptions.inc"
#undef OPTION
};

#define OPTTABLE_STR_TABLE_CODE
#include "ModelOptions.inc"
#undef OPTTABLE_STR_TABLE_CODE

#define OPTTABLE_PREFIXES_TABLE_CODE
#include "ModelOptions.inc"
#undef OPTTABLE_PREFIXES_TABLE_CODE

constexpr opt::OptTable::Info kOptionInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "ModelOptions.inc"
#undef OPTION
};

class ModelOptTable : public opt::GenericOptTable {
public:
  ModelOptTable()
      : GenericOptTable(OptionStrTable, OptionPrefixesTable, kOptionInfos) {}
};
} // namespace

static std::string listFamilies() {
  return join(map_range(getNetworkFamilies(),
                        [](NetworkFamily f) { return toString(f).str(); }),
              ", ");
}

/// "a preset of gpt (gpt2-124m, …)".
static std::string describePresets(NetworkFamily family) {
  SmallVector<StringRef> names;
  for (const NetworkPreset &preset : getNetworkPresets())
    if (preset.family == family)
      names.push_back(preset.name);
  if (names.empty())
    return "no --preset, since family " + toString(family).str() + " has none";
  return ("a preset of " + toString(family) + " (" + join(names, ", ") + ")")
      .str();
}

static void printHelp(const opt::OptTable &table) {
  table.printHelp(
      outs(), "dtrain model FAMILY [--preset NAME | sizes] -o FILE.onnx",
      "Writes a forward graph of FAMILY (gpt, llama or mlp) as ONNX without "
      "weights.\nThe dimensions \"batch\" and \"seq\" stay symbolic.");
  outs() << "\nPRESETS (h hidden, f ffn, s seq-max):\n";
  for (const NetworkPreset &preset : getNetworkPresets()) {
    int64_t parameters = cantFail(countParameters(preset.getSpec()));
    std::string kvHeads =
        preset.kvHeads ? " (" + std::to_string(preset.kvHeads) + " kv)" : "";
    outs() << formatv("  {0,-6}{1,-14} {2} parameters: {3} layers, h {4}, {5} "
                      "heads{6}, f {7}, vocab {8}, s {9}\n{10,23}{11}\n",
                      toString(preset.family), preset.name, parameters,
                      preset.layers, preset.hidden, preset.heads, kvHeads,
                      preset.ffn, preset.vocab, preset.seqMax, "",
                      preset.source);
  }
}

/// The first thing wrong with the command line as such.
static Error checkSyntax(const opt::OptTable &table,
                         const opt::InputArgList &args, unsigned missingIndex,
                         unsigned missingCount) {
  if (missingCount)
    return createStringError(Twine("expected a value after '") +
                             args.getArgString(missingIndex) + "'");
  for (const opt::Arg *arg : args.filtered(OPT_UNKNOWN)) {
    std::string text = arg->getAsString(args), nearest;
    if (table.findNearest(text, nearest) <= 2)
      return createStringError("unknown option '" + text + "', did you mean '" +
                               nearest + "'?");
    return createStringError("unknown option '" + text +
                             "'; see dtrain model --help");
  }
  DenseSet<unsigned> seen;
  for (const opt::Arg *arg : args)
    if (!arg->getOption().matches(OPT_INPUT) &&
        !seen.insert(arg->getOption().getID()).second)
      return createStringError("expected " +
                               arg->getOption().getPrefixedName() +
                               " once, found it twice");
  return Error::success();
}

static Expected<NetworkFamily> readFamily(const opt::InputArgList &args) {
  std::vector<std::string> inputs = args.getAllArgValues(OPT_INPUT);
  if (inputs.empty())
    return createStringError("expected a family (" + listFamilies() +
                             "), found none; see dtrain model --help");
  if (inputs.size() > 1)
    return createStringError("expected one family, found '" + inputs[0] +
                             "' and '" + inputs[1] + "'");
  if (std::optional<NetworkFamily> family = parseNetworkFamily(inputs[0]))
    return *family;
  return createStringError("expected a family (" + listFamilies() +
                           "), found '" + inputs[0] + "'");
}

static Expected<NetworkSpec> readPreset(NetworkFamily family, StringRef name) {
  const NetworkPreset *preset = findNetworkPreset(name);
  if (!preset)
    return createStringError("expected " + describePresets(family) +
                             ", found '" + name + "'");
  if (preset->family != family)
    return createStringError("expected " + describePresets(family) +
                             ", found '" + name + "' of family " +
                             toString(preset->family));
  return preset->getSpec();
}

/// The option of each of getNetworkSizes().
static unsigned getOptionID(const NetworkSize &size) {
  for (const opt::OptTable::Info &info : kOptionInfos)
    if (info.getPrefixedName(OptionStrTable) == ("--" + size.name).str())
      return info.ID;
  llvm_unreachable("every size has an option");
}

static Expected<NetworkSpec> readSizes(NetworkFamily family,
                                       const opt::InputArgList &args) {
  NetworkSpec spec;
  spec.family = family;
  for (const NetworkSize &size : getNetworkSizes()) {
    const opt::Arg *arg = args.getLastArg(getOptionID(size));
    if (!arg) {
      if (size.isRequiredBy(family))
        return createStringError("expected --preset or --" + size.name +
                                 " for family " + toString(family));
      continue;
    }
    if (!size.isUsedBy(family))
      return createStringError("--" + size.name + " does not apply to family " +
                               toString(family));
    StringRef text = arg->getValue();
    if (text.getAsInteger(10, spec.*size.member) || spec.*size.member <= 0)
      return createStringError("expected a positive 64-bit integer for --" +
                               size.name + ", found '" + text + "'");
  }
  return spec;
}

static Expected<NetworkSpec> readSpec(const opt::InputArgList &args) {
  Expected<NetworkFamily> family = readFamily(args);
  if (!family)
    return family.takeError();
  const opt::Arg *preset = args.getLastArg(OPT_preset);
  if (!preset)
    return readSizes(*family, args);
  for (const NetworkSize &size : getNetworkSizes())
    if (args.hasArg(getOptionID(size)))
      return createStringError("expected --preset or --" + size.name +
                               ", found both");
  return readPreset(*family, preset->getValue());
}

static Error writeModel(const opt::InputArgList &args) {
  Expected<NetworkSpec> spec = readSpec(args);
  if (!spec)
    return spec.takeError();
  const opt::Arg *output = args.getLastArg(OPT_output);
  if (!output || StringRef(output->getValue()).empty())
    return createStringError("expected an output file, -o FILE.onnx");
  Expected<std::string> model = writeNetwork(std::move(*spec));
  if (!model)
    return model.takeError();
  return writeOutputFile(output->getValue(), *model);
}

int dtrain::runModelCommand(ArrayRef<const char *> arguments) {
  ModelOptTable table;
  unsigned missingIndex = 0, missingCount = 0;
  opt::InputArgList args =
      table.ParseArgs(arguments, missingIndex, missingCount);
  if (args.hasArg(OPT_help)) {
    printHelp(table);
    return 0;
  }
  Error error = checkSyntax(table, args, missingIndex, missingCount);
  if (!error)
    error = writeModel(args);
  if (!error)
    return 0;
  WithColor::error() << toString(std::move(error)) << '\n';
  return 1;
}
