//===- Targets.cpp - The subcommand dtrain targets ------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Tools/Driver/Targets.h"
#include "dtrain/IR/Target/Load.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"

using namespace dtrain;
using namespace llvm;

static int fail(const Twine &message) {
  WithColor::error() << message << '\n';
  return 1;
}

static void printNames(StringRef title, ArrayRef<std::string> names) {
  outs() << title << ":\n";
  for (const std::string &name : names)
    outs() << "  " << name << '\n';
}

static void printRecord(StringRef name, StringRef file,
                        target::RecordAttrInterface record) {
  outs() << name << " (" << file << ")\n";
  target::forEachEntry(record, [](const target::Entry &entry) {
    outs() << formatv("  {0,-44} {1,-24} {2,-10} {3}\n", entry.path, entry.text,
                      entry.basis, entry.source);
  });
}

int dtrain::runTargetsCommand(ArrayRef<const char *> args) {
  std::vector<std::string> dirs;
  std::string name;
  for (size_t i = 0; i < args.size(); ++i) {
    StringRef arg = args[i];
    if (arg == "--help" || arg == "-h") {
      outs() << "USAGE: dtrain targets [NAME|FILE] [--target-path DIR]\n\n"
                "The machines and stacks that are known, or every figure of "
                "one with its basis and source.\n";
      return 0;
    }
    if (arg == "--target-path") {
      if (++i == args.size())
        return fail("expected a value after '--target-path'");
      dirs.push_back(args[i]);
    } else if (arg.starts_with("-")) {
      return fail("unknown option '" + arg + "'; see dtrain targets --help");
    } else if (!name.empty()) {
      return fail("expected one name, found '" + name + "' and '" + arg + "'");
    } else {
      name = arg.str();
    }
  }
  if (name.empty()) {
    printNames("targets", knownMachines(dirs));
    printNames("stacks", knownStacks(dirs));
    return 0;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto machine = findMachine(name, dirs, &context);
  if (machine) {
    printRecord(machine->name, machine->file, machine->record);
    return 0;
  }
  auto stack = findStack(name, dirs, &context);
  if (stack) {
    consumeError(machine.takeError());
    printRecord(stack->name, stack->file, stack->record);
    return 0;
  }
  // A name that is neither: the machines are what the command is named for.
  consumeError(stack.takeError());
  return fail(toString(machine.takeError()));
}
