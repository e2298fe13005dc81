//===- Passes.td - Checks by numbers, for small programs ---*- tablegen -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_TRANSFORMS_CHECK_PASSES_TD
#define DTRAIN_TRANSFORMS_CHECK_PASSES_TD

include "mlir/Pass/PassBase.td"

def CheckEquivalence : Pass<"dtrain-check-equivalence", "::mlir::ModuleOp"> {
  let summary = "Run a placed program on a virtual mesh and compare with one device";
  let description = [{
    Runs @main on random arguments twice: on every device of its mesh, and on one
    device as if nothing were placed. Fails if any result differs. Remarks give
    the number of results and the communication: per mesh axis and kind the
    number of collectives and the bytes that their busiest devices send.

    For programs that are small: time and memory follow the elements of the
    tensors and the multiply-adds of contractions. Their number is known before
    anything runs; a program above `limit` is refused. Between *place* and *communicate*, operands that do not lie as their
    op needs are moved on the cheapest path, which counts.
  }];
  let options = [
    Option<"seed", "seed", "uint64_t", "1", "Seed of the random arguments">,
    Option<"tolerance", "tolerance", "double", "1e-9",
           "The largest relative difference that is still equal">,
    Option<"limit", "limit", "uint64_t", "400000000",
           "Elements and multiply-adds, over all devices, that may be run">,
  ];
}

def CheckRules : Pass<"dtrain-check-rules", "::mlir::ModuleOp"> {
  let summary = "Run every op in random states and compare with what its rule says";
  let description = [{
    The mechanical rule check: for each compute op, `trials` times, a random mesh
    of up to eight devices and a random op state; operands as the rule needs them,
    the op on every device, results as the rule gives them, compared with the op
    in one piece. Placements are ignored. An op above `limit` is refused.
  }];
  let options = [
    Option<"trials", "trials", "unsigned", "20", "Random states per op">,
    Option<"seed", "seed", "uint64_t", "1", "Seed of states and operands">,
    Option<"limit", "limit", "uint64_t", "400000000",
           "Elements and multiply-adds, over devices and trials, that one op may take">,
  ];
}

#endif // DTRAIN_TRANSFORMS_CHECK_PASSES_TD
