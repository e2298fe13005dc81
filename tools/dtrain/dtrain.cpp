//===- dtrain.cpp - The dtrain driver -------------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Tools/Driver/Estimate.h"
#include "dtrain/Tools/Driver/Model.h"
#include "dtrain/Tools/Driver/Targets.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

namespace {
struct Subcommand {
  StringLiteral name;
  StringLiteral summary;
  /// Takes the arguments after the name, returns the exit status.
  int (*run)(ArrayRef<const char *> args);
};
} // namespace

static const Subcommand subcommands[] = {
    {"estimate", "time, memory, energy, cost and carbon of training a model",
     dtrain::runEstimateCommand},
    {"model", "write a network as ONNX without weights",
     dtrain::runModelCommand},
    {"targets", "what is known of machines and software stacks",
     dtrain::runTargetsCommand},
};

static void printUsage(raw_ostream &os) {
  os << "USAGE: dtrain SUBCOMMAND [options]\n\nSUBCOMMANDS:\n";
  for (const Subcommand &subcommand : subcommands)
    os << "  " << left_justify(subcommand.name, 10) << subcommand.summary
       << '\n';
  os << "\nOPTIONS:\n  --help    this text; after a subcommand: its options\n"
     << "  --version the version of dtrain\n";
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  ArrayRef<const char *> args(argv, argc);
  if (args.size() < 2) {
    WithColor::error() << "expected a subcommand, found none; see dtrain "
                          "--help\n";
    return 1;
  }
  StringRef name = args[1];
  if (name == "--help" || name == "-h") {
    printUsage(outs());
    return 0;
  }
  if (name == "--version") {
    outs() << "dtrain " DTRAIN_VERSION "\n";
    return 0;
  }
  for (const Subcommand &subcommand : subcommands)
    if (subcommand.name == name)
      return subcommand.run(args.drop_front(2));
  WithColor::error() << "unknown subcommand '" << name
                     << "'; see dtrain --help\n";
  return 1;
}
