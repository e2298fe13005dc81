//===- Kernels.h - The kernels of dtrain's ops ------------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_INTERPRETER_KERNELS_H
#define DTRAIN_LIB_INTERPRETER_KERNELS_H

#include "dtrain/Interpreter/KernelSupport.h"

namespace dtrain {

/// The kernels, by file.
void runDot(Kernel &k);
void runReduction(Kernel &k, ReductionOp op);
void runAttention(Kernel &k, AttentionOp op);
void runAttentionGrad(Kernel &k, AttentionGradOp op);
void runElementwise(Kernel &k, ElementwiseOp op);
void runUpdate(Kernel &k, UpdateOp op);
void runSoftmax(Kernel &k);
void runSoftmaxGrad(Kernel &k);
void runNormalize(Kernel &k, NormalizeOp op);
void runNormalizeGrad(Kernel &k, NormalizeGradOp op);
void runSumExp(Kernel &k);
llvm::Error runGather(Kernel &k);
llvm::Error runScatterAdd(Kernel &k);
llvm::Error runPick(Kernel &k);
llvm::Error runCrossEntropy(Kernel &k);
llvm::Error runCrossEntropyGrad(Kernel &k);
llvm::Error runRotary(Kernel &k, RotaryOp op);
void runMove(Kernel &k);
llvm::Error runConcat(Kernel &k, ConcatOp op);
llvm::Error runSlice(Kernel &k, SliceOp op);
llvm::Error runPad(Kernel &k, PadOp op);
void runConstant(Kernel &k, ConstantOp op);
void runIota(Kernel &k, IotaOp op);

} // namespace dtrain

#endif // DTRAIN_LIB_INTERPRETER_KERNELS_H
