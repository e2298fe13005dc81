//===- Load.h - Finding machine and stack descriptions ----------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A description is named (`h100-dgx-ib`) or given as a file. A name is looked
/// for in the given directories, then beside the binary. There is no default
/// machine.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_IR_TARGET_LOAD_H
#define DTRAIN_IR_TARGET_LOAD_H

#include "dtrain/IR/Target/Target.h"

namespace dtrain {

/// A description that was found.
template <typename AttrT> struct Description {
  std::string name; // of the operation
  std::string file;
  AttrT record; // lives as long as the context
};

/// The directories that hold the shipped descriptions, `hardware/` and
/// `stacks/`: share/dtrain/models of the build or installation that the running
/// binary belongs to, and of the installation configured at build time.
std::vector<std::string> defaultModelDirs();

/// Finds and reads a machine. `nameOrPath` is a file if it ends in `.mlir`;
/// otherwise `<name>.mlir` is looked for in each of `dirs`, in its `hardware/`
/// folder, and in those of `defaultModelDirs`. The first one found wins. The
/// error of an unknown name lists the known ones; that of a bad file is MLIR's,
/// with its line and column.
llvm::Expected<Description<target::MachineAttr>>
findMachine(llvm::StringRef nameOrPath, llvm::ArrayRef<std::string> dirs,
            mlir::MLIRContext *context);
/// The same for a stack, in `stacks/` folders.
llvm::Expected<Description<target::StackAttr>>
findStack(llvm::StringRef nameOrPath, llvm::ArrayRef<std::string> dirs,
          mlir::MLIRContext *context);

/// As above, for those who need the cost model's view only.
llvm::Expected<Machine> loadMachine(llvm::StringRef nameOrPath,
                                    llvm::ArrayRef<std::string> dirs,
                                    mlir::MLIRContext *context);
llvm::Expected<Stack> loadStack(llvm::StringRef nameOrPath,
                                llvm::ArrayRef<std::string> dirs,
                                mlir::MLIRContext *context);

/// The names that `findMachine` and `findStack` know, sorted.
std::vector<std::string> knownMachines(llvm::ArrayRef<std::string> dirs);
std::vector<std::string> knownStacks(llvm::ArrayRef<std::string> dirs);

} // namespace dtrain

#endif // DTRAIN_IR_TARGET_LOAD_H
