//===- consumer.cpp - Another compiler asks what an op costs --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Built outside dtrain's tree against the installed package: loads a machine
/// and a stack and prices one matrix multiplication in process.
///
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Target/Load.h"
#include "dtrain/Model/Compute/Compute.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/raw_ostream.h"

using namespace dtrain;

int main() {
  llvm::ExitOnError orExit("consumer: ");
  mlir::MLIRContext context;
  std::vector<std::string> dirs = {MODEL_DIR};
  Machine machine = orExit(loadMachine("test-ideal", dirs, &context));
  Stack stack = orExit(loadStack("test-ideal", dirs, &context));

  OpWork work;
  work.cls = OpClass::Contraction;
  work.gemm = {1, 4096, 4096, 4096};
  work.flops = orExit(flopsOf(work.gemm));
  Time time = orExit(timeOf(work, machine, stack));

  // The ideal machine runs at its peak.
  Time expected =
      work.flops / machine.chip.findPeak(Precision::BF16)->rate.value;
  llvm::outs() << "a 4096^3 matrix multiplication takes " << time.str() << "\n";
  return time == expected ? 0 : 1;
}
