//===- Estimate.h - The subcommand dtrain estimate --------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TOOLS_DRIVER_ESTIMATE_H
#define DTRAIN_TOOLS_DRIVER_ESTIMATE_H

#include "dtrain/Report/Report.h"
#include "dtrain/Tools/Pipeline.h"
#include "llvm/ADT/StringMap.h"

namespace dtrain {

enum class ReportFormat : uint8_t {
  Text,
  Json,
  Csv,
  Operators,
  ChromeTrace,
  Mlir
};

/// What to estimate; the defaults are those of the command line.
struct EstimateRequest {
  std::string model;
  std::string target;
  std::vector<std::string> targetPath;
  int64_t devices = 0;
  /// Degrees by axis, fastest axis first, with those of 1.
  std::vector<std::pair<std::string, int64_t>> parallel;
  int64_t chunks = 1;
  int64_t globalBatch = 0, microBatch = 0;
  llvm::StringMap<int64_t> bindings;
  std::string batchDim;
  bool rebatch = false;
  std::string stack = "megatron-core", overlapDataParallel = "stack";
  std::string order = "1f1b";
  /// A precision's name: the target may lack it, training in it be unbuilt.
  std::string precision = "bf16";
  Optimizer optimizer = Optimizer::adamw;
  RecomputeMode recompute = RecomputeMode::none;
  RunLength length;
  /// Print the program after this phase instead of a report.
  std::optional<Phase> to;
  ReportFormat format = ReportFormat::Text;
  std::string output = "-";
  /// Options that were not given and what was taken for them.
  std::vector<Assumption> defaults;

  int64_t degreeOf(llvm::StringRef axis) const;
  /// Micro-batches per step; the request is known to divide.
  int64_t microBatches() const {
    return globalBatch / (microBatch * degreeOf("dp"));
  }
};

/// Reads the arguments after "estimate". Errors say what was expected.
llvm::Expected<EstimateRequest>
parseEstimate(llvm::ArrayRef<const char *> args);

/// Estimates a program of any phase before solve, or a solved one. Errors are
/// returned, or were diagnosed and are returned without words.
llvm::Expected<Report> estimate(mlir::ModuleOp module,
                                const EstimateRequest &request);

/// The text in the format asked for. An error may be empty where diagnostics
/// were already given to `context`.
llvm::Expected<std::string> runEstimate(const EstimateRequest &request,
                                        mlir::MLIRContext *context);

/// `dtrain estimate MODEL …`. Returns the exit status: 0, or 1 after at least
/// one "error: …" on standard error.
int runEstimateCommand(llvm::ArrayRef<const char *> args);

} // namespace dtrain

#endif // DTRAIN_TOOLS_DRIVER_ESTIMATE_H
