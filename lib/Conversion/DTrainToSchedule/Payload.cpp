//===- Payload.cpp - The work or communication of one op ------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Program.h"
#include "dtrain/IR/DTrain/Questions.h"
#include "dtrain/Model/Work.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::conversion;
using namespace dtrain::schedule;

static std::optional<Precision> precisionOf(Type element) {
  if (isa<Float64Type>(element))
    return Precision::FP64;
  if (isa<Float32Type>(element))
    return Precision::FP32;
  if (isa<BFloat16Type>(element))
    return Precision::BF16;
  if (isa<Float16Type>(element))
    return Precision::FP16;
  if (auto f = dyn_cast<FloatType>(element); f && f.getWidth() == 8)
    return Precision::FP8;
  return std::nullopt;
}

/// The type that an op computes in: that of its first floating operand, or
/// result where it has none.
static Precision computePrecision(Operation *op) {
  for (Value v : llvm::concat<Value>(op->getOperands(), op->getResults()))
    if (std::optional<Precision> p =
            precisionOf(tensorType(v).getElementType()))
      return *p;
  return Precision::FP32; // integers only: bound by memory whatever the type
}

static SmallVector<double> elementSizes(ValueRange values) {
  return llvm::map_to_vector(values, [](Value v) {
    return elementBytes(tensorType(v).getElementType());
  });
}

static double localElements(Type type) {
  double product = 1;
  for (int64_t extent : localShapeOf(cast<RankedTensorType>(type)))
    product *= extent;
  return product;
}

Bytes conversion::localBytes(Type type) {
  return Bytes::fromBase(
      localElements(type) *
      elementBytes(cast<RankedTensorType>(type).getElementType()));
}

FailureOr<dtrain::OpState> Payloads::stateOf(RuleOpInterface op,
                                             const BoundRule &rule) {
  auto complain = [&](unsigned axis, ArrayRef<AxisState>,
                      ArrayRef<AxisState>) -> LogicalResult {
    return op->emitOpError("its operands do not fit its rule on axis '")
           << program.mesh.getNames()[axis].getValue()
           << "'; expected a module of phase communicate";
  };
  return inferOpState(program.mesh, rule,
                      statesOf(op->getOperands(), program.mesh),
                      statesOf(op->getResults(), program.mesh), complain);
}

namespace {
/// Turns the factors of one op's rule into extents of the plan's sizes.
class Terms {
public:
  Terms(Operation *op, const BoundRule &bound, const Work &work, Sizes &sizes)
      : op(op), bound(bound), work(work), sizes(sizes) {}
  /// Leaves out what is 1.
  void append(FactorId f, Extents &extents) {
    Extent extent =
        sizes.divided(sizes.of(op, f, bound.sizes[f]), work.factors[f].axes);
    if (!(extent == Extent()))
      extents.push_back(std::move(extent));
  }
  Sum sum(ArrayRef<WorkTerm> terms) {
    Sum result;
    for (const WorkTerm &term : terms) {
      Product product{term.coef, {}};
      for (FactorId f : term.factors)
        append(f, product.extents);
      if (product.coef != 0)
        result.add(product);
    }
    return result;
  }
  std::array<Extents, 4> gemm() {
    std::array<Extents, 4> sides;
    for (auto [f, use] : llvm::enumerate(work.factors))
      if (use.group != FactorGroup::None)
        append(f, sides[sideOf(use.group)]);
    return sides;
  }

private:
  static unsigned sideOf(FactorGroup group) {
    return static_cast<unsigned>(group) -
           static_cast<unsigned>(FactorGroup::Batch);
  }
  Operation *op;
  const BoundRule &bound;
  const Work &work;
  Sizes &sizes;
};
} // namespace

/// The sides of an attention core.
static AttentionExtents attentionExtents(AttentionOpInterface op,
                                         Terms &terms) {
  AttentionFactors f = op.getAttentionFactors();
  AttentionExtents attention;
  for (auto [side, factor] : llvm::zip_equal(
           attention.sides, ArrayRef{f.batch, f.heads, f.group, f.query, f.key,
                                     f.headDim, f.valueDim}))
    terms.append(factor, side);
  attention.causal = op.isCausal();
  return attention;
}

/// Whether a memory-bound op adds a branch to the residual stream, or its
/// gradient: the sum of two activations (of batch, position and width).
static bool addsBranch(Operation *op, const Accumulations &accumulations) {
  return addsUp(op) && tensorType(op->getResult(0)).getRank() >= 3 &&
         !accumulations.isGradientOnly(op->getResult(0)) &&
         llvm::none_of(op->getOperands(),
                       [](Value v) { return isGenerated(v.getDefiningOp()); });
}

/// A kernel for the results that keep all factors of the operands, and another
/// for those that reduce some: it reads the operands again.
static void splitReductions(const BoundRule &bound, StepWork &task) {
  const Rule &rule = bound.rule;
  auto reduces = [&](unsigned j) {
    return llvm::any_of(rule.operands.front(), [&](const RuleDim &dim) {
      return llvm::any_of(dim.factors,
                          [&](FactorId f) { return rule.reducedIn(f, j); });
    });
  };
  unsigned reducing =
      llvm::count_if(llvm::seq<unsigned>(rule.results.size()), reduces);
  if (rule.operands.empty() || reducing == 0 || reducing == rule.results.size())
    return;
  task.kernels = 2;
  task.read.scaleBy(2);
}

bool Payloads::isAbsorbed(RuleOpInterface op) const {
  if (!isConversion(op))
    return false;
  // A running sum reads what is added in its own type.
  if (llvm::all_of(op->getUsers(), [&](Operation *user) {
        return accumulations.contains(user);
      }))
    return true;
  // A stack's optimizer traffic includes the new parameters.
  return isOfClass(op->getOperand(0).getDefiningOp(), OpClass::Optimizer);
}

FailureOr<Attribute> Payloads::workOf(RuleOpInterface op) {
  llvm::Expected<BoundRule> bound = bindRule(op);
  if (!bound)
    return op->emitOpError("rule: ") << llvm::toString(bound.takeError());
  FailureOr<dtrain::OpState> state = stateOf(op, *bound);
  if (failed(state))
    return failure();
  Work work = dtrain::workOf(*bound, elementSizes(op->getOperands()),
                             elementSizes(op->getResults()), *state);
  Terms terms(op, *bound, work, sizes);

  StepWork task;
  task.cls = accumulations.contains(op) ? OpClass::Accumulate : op.getOpClass();
  task.precision = computePrecision(op);
  task.contract = Amount<Flops>(terms.sum(work.contract));
  for (Product &term : task.contract.terms) {
    // All devices together do it once for each group that holds it.
    term.coef /= static_cast<double>(program.numHolders(op));
    for (Extent &extent : term.extents)
      extent.axes.clear();
  }
  task.flops = Amount<Flops>(terms.sum(work.flops));
  task.read = Amount<Bytes>(terms.sum(work.read));
  task.written = Amount<Bytes>(terms.sum(work.written));
  auto largest = [&](ValueRange values) {
    Value most;
    for (Value v : values)
      if (!most || localElements(most.getType()) < localElements(v.getType()))
        most = v;
    Amount<Ratio> elements;
    if (most)
      elements.add(sizes.local(most, 1));
    return elements;
  };
  switch (task.cls) {
  case OpClass::Contraction:
    task.gemm = terms.gemm();
    break;
  case OpClass::Attention:
  case OpClass::AttentionBackward:
    task.attention = attentionExtents(
        cast<AttentionOpInterface>(op.getOperation()), terms);
    break;
  case OpClass::Loss:
  case OpClass::LossBackward:
    task.elements = largest(op->getOperands());
    break;
  case OpClass::Accumulate:
  case OpClass::Optimizer:
    task.elements = largest(op->getResults());
    break;
  case OpClass::MemoryBound:
    splitReductions(*bound, task);
    if (!addsBranch(op, accumulations))
      break;
    task.elements = largest(op->getResults());
    task.dropout = op.getOrigin() == Origin::backward
                       ? ResidualDropout::Backward
                       : ResidualDropout::Forward;
    break;
  case OpClass::Move:
    llvm_unreachable("views make no task");
  }
  return Attribute(WorkAttr::get(op->getContext(), task));
}

static std::optional<CollectiveKind> kindOf(Transition transition) {
  switch (transition) {
  case Transition::AllReduce:
    return CollectiveKind::AllReduce;
  case Transition::AllGather:
    return CollectiveKind::AllGather;
  case Transition::ReduceScatter:
    return CollectiveKind::ReduceScatter;
  case Transition::AllToAll:
    return CollectiveKind::AllToAll;
  case Transition::Broadcast:
    return CollectiveKind::Broadcast;
  case Transition::Reduce:
    return CollectiveKind::Reduce;
  case Transition::Gather:
    return CollectiveKind::Gather;
  case Transition::Scatter:
    return CollectiveKind::Scatter;
  case Transition::Send:
    return CollectiveKind::Send;
  default:
    return std::nullopt;
  }
}

/// Stages pass on what the pipeline axis separates; after the micro-batches
/// gradients are summed; within them the layer is divided.
static Purpose purposeOf(CommOpInterface op, bool overPipeline) {
  if (overPipeline)
    return Purpose::Pipeline;
  if (op->getParentOfType<func::FuncOp>().getSymName() != "main")
    return Purpose::Tensor;
  return op.getOrigin() == Origin::backward ? Purpose::Gradient : Purpose::Data;
}

FailureOr<Attribute> Payloads::commOf(CommOpInterface op) {
  RankedTensorType type = tensorType(op->getOperand(0));
  std::optional<unsigned> axis = program.mesh.find(op.getAxis());
  if (!axis)
    return op->emitOpError("expected an axis of the mesh, found '")
           << op.getAxis() << "'";
  SmallVector<MeshAxis> axes = program.mesh.getAxes();
  TensorState from = dtrain::stateOf(type, program.mesh);
  AxisState to =
      dtrain::stateOf(tensorType(op->getResult(0)), program.mesh)[*axis];
  std::optional<EdgeCost> cost = edge(axes, type.getShape(), from, *axis, to);
  std::optional<CollectiveKind> kind =
      cost ? kindOf(cost->transition) : std::nullopt;
  if (!kind)
    return op->emitOpError("is not one transition of axis '")
           << op.getAxis() << "'";
  StepComm comm;
  comm.kind = *kind;
  comm.purpose = purposeOf(op, axis == program.pipeline);
  comm.axes = {op.getAxis().str()};
  if (comm.kind == CollectiveKind::Send) {
    comm.between = {from[*axis].on.front(), to.on.front()};
  } else if (!from[*axis].on.empty() && !to.on.empty()) {
    // Otherwise one side is on all coordinates, and so all take part.
    comm.between = from[*axis].on;
    llvm::append_range(comm.between, to.on);
    llvm::sort(comm.between);
    comm.between.erase(llvm::unique(comm.between), comm.between.end());
  }
  comm.tensor.add(sizes.local(op->getOperand(0),
                              elementBytes(type.getElementType()), *axis));
  return Attribute(CommAttr::get(op->getContext(), comm));
}

FailureOr<Attribute> Payloads::of(Operation *op) {
  if (isFree(op))
    return Attribute();
  if (auto comm = dyn_cast<CommOpInterface>(op))
    return commOf(comm);
  auto rule = dyn_cast<RuleOpInterface>(op);
  if (!rule)
    return op->emitOpError("cannot be scheduled: expected a compute op or a "
                           "communication");
  if (isAbsorbed(rule))
    return Attribute();
  return workOf(rule);
}
