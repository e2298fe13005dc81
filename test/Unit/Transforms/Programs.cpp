//===- Programs.cpp - Programs that import tests run ----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs.h"
#include "dtrain/Import/ONNX/Import.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace dtrain;
using namespace dtrain::test;
using namespace llvm;

std::unique_ptr<mlir::MLIRContext> test::makeContext() {
  auto context = std::make_unique<mlir::MLIRContext>();
  context->loadDialect<mlir::func::FuncDialect, DTrainDialect>();
  return context;
}

std::vector<std::string> test::readPrograms(StringRef file) {
  std::string path = (DTRAIN_TRANSFORMS_TESTS "/" + file).str();
  auto buffer = MemoryBuffer::getFile(path);
  if (!buffer)
    return {};
  SmallVector<StringRef> parts;
  (*buffer)->getBuffer().split(parts, "// -----");
  return std::vector<std::string>(parts.begin(), parts.end());
}

Module test::parse(mlir::MLIRContext *context, StringRef text) {
  return mlir::parseSourceString<mlir::ModuleOp>(text, context);
}

Module test::importNetwork(mlir::MLIRContext *context,
                           const NetworkSpec &spec) {
  Expected<std::string> model = writeNetwork(spec);
  if (!model) {
    consumeError(model.takeError());
    return {};
  }
  OnnxImportOptions options;
  options.batch = 2;
  if (spec.family != NetworkFamily::MLP)
    options.bindings["seq"] = 6;
  return importOnnx(MemoryBufferRef(*model, spec.name + ".onnx"), options,
                    context);
}

bool test::run(mlir::ModuleOp module,
               std::vector<std::unique_ptr<mlir::Pass>> passes) {
  bool failed = false;
  mlir::ScopedDiagnosticHandler handler(
      module.getContext(), [&](mlir::Diagnostic &diagnostic) {
        failed |= diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
        return mlir::success(diagnostic.getSeverity() !=
                             mlir::DiagnosticSeverity::Error);
      });
  mlir::PassManager manager(module.getContext());
  for (std::unique_ptr<mlir::Pass> &pass : passes)
    manager.addPass(std::move(pass));
  return mlir::succeeded(manager.run(module)) && !failed;
}

NetworkSpec test::smallNetwork(NetworkFamily family, int64_t layers) {
  NetworkSpec spec;
  spec.family = family;
  spec.name = toString(family).str();
  spec.layers = layers;
  spec.hidden = 16;
  if (family == NetworkFamily::MLP)
    return spec;
  spec.heads = 4;
  spec.vocab = 11;
  spec.seqMax = 8;
  if (family == NetworkFamily::Llama) {
    spec.kvHeads = 2;
    spec.ffn = 12;
  }
  return spec;
}
