//===- Program.h - A step's parts and what its values are -------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_CONVERSION_DTRAINTOSCHEDULE_PROGRAM_H
#define DTRAIN_LIB_CONVERSION_DTRAINTOSCHEDULE_PROGRAM_H

#include "dtrain/IR/Schedule/Schedule.h"
#include "llvm/ADT/DenseSet.h"

namespace dtrain {
namespace conversion {

/// A module of phase communicate, taken apart.
struct Program {
  MeshAttr mesh;
  /// The pipeline axis, where the mesh has it.
  std::optional<unsigned> pipeline;
  mlir::func::FuncOp main, microbatch;
  /// The repeat over micro-batches in @main.
  RepeatOp loop;

  int64_t numStages() const {
    return pipeline ? mesh.getSizes()[*pipeline] : 1;
  }
  /// Whether the devices of pipeline stage `stage` hold any of a tensor.
  bool holds(mlir::Type type, int64_t stage) const;
  /// How many stages do an op outside the layers, each the whole of it.
  int64_t numHolders(mlir::Operation *op) const;
};

/// Finds the parts; errors are diagnosed.
mlir::FailureOr<Program> takeApart(mlir::ModuleOp module,
                                   llvm::StringRef pipelineAxis);

/// Whether the op moves no byte and makes no task: views, constants and free
/// transitions.
bool isFree(mlir::Operation *op);

/// The value whose memory `value` is: through views, free transitions and
/// collectives that work in place.
mlir::Value storageOf(mlir::Value value);

/// Ops that add to a running sum which outlives them.
class Accumulations {
public:
  explicit Accumulations(mlir::ModuleOp module, Program &program);
  bool contains(mlir::Operation *op) const { return ops.contains(op); }
  /// Whether `value` ends in running sums only: a weight's gradient.
  bool isGradientOnly(mlir::Value value) const;

private:
  /// Those over the running sums that a repeat passes to its body.
  void visit(RepeatOp repeat);
  llvm::DenseSet<mlir::Operation *> ops;
};

/// The payloads of tasks.
class Payloads {
public:
  Payloads(Program &program, const Accumulations &accumulations)
      : program(program), accumulations(accumulations) {}
  /// Null where the op makes no task. Errors are diagnosed: a type that does
  /// not fit the op's rule.
  mlir::FailureOr<mlir::Attribute> of(mlir::Operation *op);

private:
  mlir::FailureOr<OpState> stateOf(RuleOpInterface op, const BoundRule &rule);
  mlir::FailureOr<mlir::Attribute> workOf(RuleOpInterface op);
  mlir::FailureOr<mlir::Attribute> commOf(CommOpInterface op);
  /// Whether a cast or an update's cast is part of the op that it serves.
  bool isAbsorbed(RuleOpInterface op) const;

  Program &program;
  const Accumulations &accumulations;
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Bytes of the fullest device.
Bytes localBytes(mlir::Type type);

/// What a layer keeps and needs, once.
class Memory {
public:
  explicit Memory(Program &program) : program(program) {}
  /// What the devices of `stage` hold throughout the step.
  schedule::State stateOf(int64_t stage) const;
  /// Ops in the order in which a device runs them. `isKept` says which values
  /// outlive them and are counted elsewhere.
  llvm::Expected<schedule::Space>
  spaceOf(llvm::ArrayRef<mlir::Operation *> ops,
          llvm::function_ref<bool(mlir::Value)> isKept);

private:
  /// Of the body of a repeat.
  llvm::Expected<schedule::Space> spaceOf(RepeatOp repeat);
  Program &program;
  llvm::DenseMap<mlir::Operation *, schedule::Space> bodies;
};

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// The ops of one segment, in program order.
struct SegmentOps {
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Which segment each op of the micro-batch belongs to.
class Stages {
public:
  /// Chunks per stage follow from the number of sends.
  explicit Stages(Program &program);
  int64_t numChunks() const { return chunks; }
  const SegmentOps &forward(int64_t stage, int64_t chunk) const {
    return segments[(stage * chunks + chunk) * 2];
  }
  const SegmentOps &backward(int64_t stage, int64_t chunk) const {
    return segments[(stage * chunks + chunk) * 2 + 1];
  }

private:
  struct Entry {
    mlir::Operation *op;
    int64_t stage, level;
  };
  void levelOf(mlir::Operation *op);
  /// A sum over stages of which only one operand is more than zero here: the
  /// gradients of a tied parameter.
  bool isSumOfOne(mlir::Operation *op, int64_t stage) const;
  bool isBackward(mlir::Operation *op) const;

  Program &program;
  int64_t chunks = 1;
  /// Sends before a value becomes available, per stage.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t>> levels;
  std::vector<Entry> entries;
  std::vector<SegmentOps> segments;
};

} // namespace conversion
} // namespace dtrain

#endif // DTRAIN_LIB_CONVERSION_DTRAINTOSCHEDULE_PROGRAM_H
