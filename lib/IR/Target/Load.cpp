//===- Load.cpp - Finding machine and stack descriptions
//--------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Target/Load.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <set>

using namespace dtrain;
using namespace dtrain::target;
using namespace mlir;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {
/// What differs between the two sorts of description.
struct MachineKind {
  using Op = MachineOp;
  using Record = MachineAttr;
  static constexpr StringLiteral noun = "target", folder = "hardware";
};
struct StackKind {
  using Op = StackOp;
  using Record = StackAttr;
  static constexpr StringLiteral noun = "stack", folder = "stacks";
};
} // namespace

//===----------------------------------------------------------------------===//
// Where to look
//===----------------------------------------------------------------------===//

std::vector<std::string> dtrain::defaultModelDirs() {
  std::vector<std::string> dirs;
  auto addIfDirectory = [&](const Twine &dir) {
    if (fs::is_directory(dir))
      dirs.push_back(dir.str());
  };
  // bin/dtrain and, of a build, test/bin/AUnitTest.
  static int anchor;
  std::string binary = fs::getMainExecutable(nullptr, &anchor);
  StringRef ancestor = path::parent_path(binary);
  for (int level = 0; level < 2 && !ancestor.empty(); ++level) {
    ancestor = path::parent_path(ancestor);
    addIfDirectory(ancestor + "/share/dtrain/models");
  }
  addIfDirectory(DTRAIN_INSTALLED_MODELS);
  return dirs;
}

/// Every directory that may hold descriptions of one kind, in search order.
static std::vector<std::string> searchDirs(ArrayRef<std::string> given,
                                           StringRef folder) {
  std::vector<std::string> dirs;
  for (const std::string &dir : given) {
    dirs.push_back(dir);
    dirs.push_back(dir + "/" + folder.str());
  }
  for (const std::string &dir : defaultModelDirs())
    dirs.push_back(dir + "/" + folder.str());
  return dirs;
}

static std::vector<std::string> knownNames(ArrayRef<std::string> given,
                                           StringRef folder) {
  std::set<std::string> names;
  for (const std::string &dir : searchDirs(given, folder)) {
    std::error_code error;
    // A directory that is not there holds no names.
    for (fs::directory_iterator it(dir, error), end; !error && it != end;
         it.increment(error))
      if (path::extension(it->path()) == ".mlir")
        names.insert(path::stem(it->path()).str());
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> dtrain::knownMachines(ArrayRef<std::string> dirs) {
  return knownNames(dirs, MachineKind::folder);
}

std::vector<std::string> dtrain::knownStacks(ArrayRef<std::string> dirs) {
  return knownNames(dirs, StackKind::folder);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

/// Parses `file` and returns the one description it holds.
template <typename Kind>
static llvm::Expected<Description<typename Kind::Record>>
readDescription(StringRef file, MLIRContext *context) {
  context->loadDialect<TargetDialect>();
  std::string messages;
  llvm::raw_string_ostream os(messages);
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler handler(context, [&](Diagnostic &diag) {
      if (diag.getSeverity() != DiagnosticSeverity::Error)
        return;
      os << (messages.empty() ? "" : "\n");
      if (auto loc = dyn_cast<FileLineColLoc>(diag.getLocation()))
        os << loc.getFilename().getValue() << ':' << loc.getLine() << ':'
           << loc.getColumn() << ": ";
      os << diag;
    });
    module = parseSourceFile<ModuleOp>(file, ParserConfig(context));
  }
  if (!module)
    return llvm::createStringError(
        messages.empty() ? ("cannot read " + file).str() : messages);
  auto ops = module->getOps<typename Kind::Op>();
  size_t count = std::distance(ops.begin(), ops.end());
  if (count != 1)
    return llvm::createStringError((file + ": expected one " +
                                    Kind::Op::getOperationName() + ", found " +
                                    Twine(count))
                                       .str());
  typename Kind::Op op = *ops.begin();
  return Description<typename Kind::Record>{op.getSymName().str(), file.str(),
                                            op.getDescription()};
}

template <typename Kind>
static llvm::Expected<Description<typename Kind::Record>>
findDescription(StringRef nameOrPath, ArrayRef<std::string> dirs,
                MLIRContext *context) {
  if (path::extension(nameOrPath) == ".mlir") {
    if (!fs::exists(nameOrPath) || fs::is_directory(nameOrPath))
      return llvm::createStringError(
          (Kind::noun + " file '" + nameOrPath + "': no such file").str());
    return readDescription<Kind>(nameOrPath, context);
  }
  // A name, never a way out of the directories.
  if (!nameOrPath.empty() && path::filename(nameOrPath) == nameOrPath)
    for (const std::string &dir : searchDirs(dirs, Kind::folder)) {
      std::string file = (dir + "/" + nameOrPath + ".mlir").str();
      if (fs::exists(file))
        return readDescription<Kind>(file, context);
    }
  std::vector<std::string> known = knownNames(dirs, Kind::folder);
  return llvm::createStringError(
      ("unknown " + Kind::noun + " '" + nameOrPath + "': expected " +
       (known.empty()
            ? std::string("a .mlir file (no names are known)")
            : "one of " + llvm::join(known, ", ") + ", or a .mlir file"))
          .str());
}

llvm::Expected<Description<MachineAttr>>
dtrain::findMachine(StringRef nameOrPath, ArrayRef<std::string> dirs,
                    MLIRContext *context) {
  return findDescription<MachineKind>(nameOrPath, dirs, context);
}

llvm::Expected<Description<StackAttr>>
dtrain::findStack(StringRef nameOrPath, ArrayRef<std::string> dirs,
                  MLIRContext *context) {
  return findDescription<StackKind>(nameOrPath, dirs, context);
}

llvm::Expected<Machine> dtrain::loadMachine(StringRef nameOrPath,
                                            ArrayRef<std::string> dirs,
                                            MLIRContext *context) {
  auto found = findMachine(nameOrPath, dirs, context);
  if (!found)
    return found.takeError();
  return toModel(found->record, found->name);
}

llvm::Expected<Stack> dtrain::loadStack(StringRef nameOrPath,
                                        ArrayRef<std::string> dirs,
                                        MLIRContext *context) {
  auto found = findStack(nameOrPath, dirs, context);
  if (!found)
    return found.takeError();
  return toModel(found->record, found->name);
}
