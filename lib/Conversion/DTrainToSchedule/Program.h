//===- Program.h - A step's parts and what its values are -------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_LIB_CONVERSION_DTRAINTOSCHEDULE_PROGRAM_H
#define DTRAIN_LIB_CONVERSION_DTRAINTOSCHEDULE_PROGRAM_H

#include "Sizes.h"
#include "dtrain/IR/Schedule/Schedule.h"
#include "llvm/ADT/DenseSet.h"
#include <map>
#include <set>

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
  /// The stages that hold any of a tensor, ascending; none listed for all.
  Coords holders(mlir::Type type) const;
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
/// collectives that work in place, up to a repeat.
mlir::Value storageOf(mlir::Value value);

/// The ops of the repeat's body that its last trip does: all but those that
/// only compute carries which nothing reads after it, as the gradient of a
/// model's input.
llvm::SmallVector<mlir::Operation *> opsOfLastTrip(RepeatOp repeat);
/// The ops of the body that every trip before does.
llvm::SmallVector<mlir::Operation *> opsOfTrip(RepeatOp repeat);

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
  Payloads(Program &program, const Accumulations &accumulations, Sizes &sizes)
      : program(program), accumulations(accumulations), sizes(sizes) {}
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
  Sizes &sizes;
};

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Bytes of the fullest device.
Bytes localBytes(mlir::Type type);

/// What a layer keeps and needs, once.
class Memory {
public:
  Memory(Program &program, const Accumulations &accumulations, Sizes &sizes);
  /// What the devices of `stage` hold throughout the step.
  const StepState &stateOf(int64_t stage) const { return states[stage]; }
  /// Ops in the order in which a device runs them. The values `arriving` live
  /// from their begin. `isKept` says which values outlive them and are counted
  /// elsewhere.
  Peak<Bytes> workspaceOf(llvm::ArrayRef<mlir::Operation *> ops,
                          mlir::ValueRange arriving,
                          llvm::function_ref<bool(mlir::Value)> isKept);
  /// Elements of the linear layers' weights whose gradients `ops` form, one
  /// weight of each shape.
  Amount<Ratio> weightsOf(llvm::ArrayRef<mlir::Operation *> ops);
  /// The bytes that the fullest device holds of a tensor.
  Product bytesOf(mlir::Value value);

private:
  /// A gradient of each shape.
  using Shapes = std::map<llvm::SmallVector<int64_t>, mlir::Value>;
  void collectWeights(mlir::Operation *op, Shapes &shapes);
  /// Of the body of a repeat.
  const Peak<Bytes> &workspaceOf(RepeatOp repeat);
  /// Adds a tensor to one field of the stages that hold it.
  void hold(mlir::Value value, Amount<Bytes> StepState::*field);
  Program &program;
  const Accumulations &accumulations;
  Sizes &sizes;
  std::vector<StepState> states;
  /// Of bodies, by the ops of a trip.
  std::map<llvm::SmallVector<mlir::Operation *>, Peak<Bytes>> bodies;
};

//===----------------------------------------------------------------------===//
// Tail
//===----------------------------------------------------------------------===//

/// Ops after the micro-batches that run as one: gradients of all parameters are
/// synchronised in one buffer and updated by one kernel.
struct TailGroup {
  mlir::Operation *first;
  mlir::Attribute payload;
  /// Groups before this one that it waits for.
  llvm::SmallVector<unsigned> after;
  /// Gradients appear piece by piece during the last backward, beside which
  /// they may be synchronised; updated parameters are wanted piece by piece
  /// during the next forward.
  llvm::StringRef during;
};

/// Groups `ops`, of which `payloadOf` gives the payloads: communications of one
/// kind, purpose, axes and depth of dependences; work of one name, class and
/// type, however deep, unless a group would then wait for itself.
mlir::FailureOr<std::vector<TailGroup>> groupTail(
    Program &program, llvm::ArrayRef<mlir::Operation *> ops,
    llvm::function_ref<mlir::FailureOr<mlir::Attribute>(mlir::Operation *)>
        payloadOf);

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

/// The ops of one segment, in program order.
struct SegmentOps {
  llvm::SmallVector<mlir::Operation *> ops;
};

/// The number of sends on the pipeline axis before a value becomes available,
/// per stage. Most values are on one stage.
class Level {
public:
  static Level everywhere(int64_t numStages) {
    return Level(-1, llvm::SmallVector<int64_t, 1>(numStages));
  }
  static Level on(int64_t stage, int64_t level) {
    return Level(stage, llvm::SmallVector<int64_t, 1>{level});
  }
  int64_t at(int64_t stage) const {
    if (only < 0)
      return levels[stage];
    return stage == only ? levels.front() : 0;
  }
  /// Of a level that is everywhere.
  void set(int64_t stage, int64_t level) { levels[stage] = level; }

private:
  Level(int64_t only, llvm::SmallVector<int64_t, 1> levels)
      : only(only), levels(std::move(levels)) {}
  int64_t only;
  llvm::SmallVector<int64_t, 1> levels;
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
  void visit(mlir::Operation *op);
  void visitPinned(RepeatOp repeat);
  void visitTransfer(mlir::Operation *op);
  /// The highest level of the operands on a stage; zero without any.
  int64_t levelBefore(mlir::Operation *op, int64_t stage) const;
  /// `stages`, or every one where none is listed.
  Coords listed(Coords stages) const;
  /// A sum over stages of which only one operand is more than zero here: the
  /// gradients of a tied parameter.
  bool isSumOfOne(mlir::Operation *op, int64_t stage) const;

  Program &program;
  int64_t chunks = 1;
  llvm::DenseMap<mlir::Value, Level> levels;
  std::vector<Entry> entries;
  std::vector<SegmentOps> segments;
};

} // namespace conversion
} // namespace dtrain

#endif // DTRAIN_LIB_CONVERSION_DTRAINTOSCHEDULE_PROGRAM_H
