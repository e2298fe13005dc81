//===- dtrain-translate.cpp - Other formats to dtrain programs ------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Import/ONNX/Import.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace llvm;

static cl::OptionCategory category("dtrain-translate options");
static cl::opt<std::string> input(cl::Positional, cl::desc("<model>"),
                                  cl::init("-"), cl::cat(category));
static cl::opt<std::string> output("o", cl::desc("Where to write the program"),
                                   cl::value_desc("file"), cl::init("-"),
                                   cl::cat(category));
static cl::opt<bool> importONNX("import-onnx",
                                cl::desc("Import an ONNX model (.onnx, or "
                                         ".onnxtxt for the textual form)"),
                                cl::cat(category));
static cl::list<std::string> bind("bind",
                                  cl::desc("Size of a symbolic dimension"),
                                  cl::value_desc("name=N"), cl::cat(category));
static cl::opt<std::string> batchDim("batch-dim",
                                     cl::desc("The symbolic batch dimension"),
                                     cl::value_desc("name"), cl::cat(category));
static cl::opt<int64_t> batch("batch", cl::desc("Size of the batch dimension"),
                              cl::value_desc("N"), cl::cat(category));
static cl::opt<bool>
    rebatch("rebatch",
            cl::desc("Replace a batch that the model fixes by --batch"),
            cl::cat(category));
static cl::opt<bool> debugInfo("print-locations",
                               cl::desc("Print the locations of ops"),
                               cl::cat(category));

static int fail(const Twine &message) {
  errs() << "dtrain-translate: error: " << message << '\n';
  return 1;
}

/// One line per diagnostic. Lines of a binary file mean nothing to a reader;
/// messages name the node.
static void report(mlir::Diagnostic &diagnostic) {
  if (auto file =
          diagnostic.getLocation()->findInstanceOf<mlir::FileLineColLoc>())
    errs() << file.getFilename().getValue() << ": ";
  bool isError = diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
  errs() << (isError ? "error: " : "note: ") << diagnostic << '\n';
}

/// Reads `name=N` options; an error message, or empty.
static std::string readBindings(StringMap<int64_t> &bindings) {
  for (StringRef text : bind) {
    auto [name, size] = text.split('=');
    int64_t value;
    if (name.empty() || size.getAsInteger(10, value))
      return ("--bind: expected name=N, found '" + text + "'").str();
    if (!bindings.try_emplace(name, value).second)
      return ("--bind: '" + name + "' is bound twice").str();
  }
  return "";
}

int main(int argc, char **argv) {
  InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "dtrain translations\n");
  if (!importONNX)
    return fail("expected a translation: --import-onnx");
  dtrain::OnnxImportOptions options;
  if (std::string error = readBindings(options.bindings); !error.empty())
    return fail(error);
  options.batchDim = batchDim;
  if (batch.getNumOccurrences())
    options.batch = batch;
  options.rebatch = rebatch;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler handler(&context, report);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  if (input == "-") {
    auto buffer = MemoryBuffer::getSTDIN();
    if (std::error_code error = buffer.getError())
      return fail("standard input: " + error.message());
    module =
        dtrain::importOnnx((*buffer)->getMemBufferRef(), options, &context);
  } else {
    module = dtrain::importOnnx(input, options, &context);
  }
  if (!module || mlir::failed(mlir::verify(*module)))
    return 1;
  std::string error;
  std::unique_ptr<ToolOutputFile> file = mlir::openOutputFile(output, &error);
  if (!file)
    return fail(error);
  mlir::OpPrintingFlags flags;
  module->print(file->os(), debugInfo ? flags.enableDebugInfo() : flags);
  file->keep();
  return 0;
}
