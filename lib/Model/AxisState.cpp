//===- AxisState.cpp - What one mesh axis does to one tensor --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/AxisState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace dtrain;

llvm::StringRef dtrain::stringifyReduceOp(ReduceOp op) {
  switch (op) {
  case ReduceOp::Sum:
    return "sum";
  case ReduceOp::Max:
    return "max";
  case ReduceOp::Min:
    return "min";
  }
  llvm_unreachable("all reductions are covered");
}

static Coords sortedSet(Coords on) {
  llvm::sort(on);
  on.erase(llvm::unique(on), on.end());
  return on;
}

AxisState AxisState::split(unsigned dim, int64_t stride) {
  AxisState state;
  state.kind = Split;
  state.dim = dim;
  state.stride = stride;
  return state;
}

AxisState AxisState::partial(ReduceOp op, Coords on) {
  on = sortedSet(std::move(on));
  if (on.size() == 1)
    return pinned(std::move(on));
  AxisState state;
  state.kind = Partial;
  state.reduce = op;
  state.on = std::move(on);
  return state;
}

AxisState AxisState::pinned(Coords on) {
  AxisState state;
  if (on.empty())
    return state;
  state.kind = Pinned;
  state.on = sortedSet(std::move(on));
  return state;
}

AxisState AxisState::canonical(int64_t axisSize) const {
  if (axisSize == 1)
    return replicated();
  bool all = static_cast<int64_t>(on.size()) == axisSize;
  if (kind == Pinned)
    return all ? replicated() : pinned(on);
  if (kind == Partial)
    return partial(reduce, all ? Coords() : on);
  return *this;
}

bool AxisState::operator==(const AxisState &o) const {
  return kind == o.kind && dim == o.dim && stride == o.stride &&
         reduce == o.reduce && on == o.on;
}

std::string AxisState::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto printOn = [&] {
    os << '{';
    llvm::interleave(on, os, ",");
    os << '}';
  };
  switch (kind) {
  case Replicated:
    os << 'R';
    break;
  case Split:
    os << "S(" << dim << ',' << stride << ')';
    break;
  case Partial:
    os << "P(" << stringifyReduceOp(reduce);
    if (!on.empty()) {
      os << ',';
      printOn();
    }
    os << ')';
    break;
  case Pinned:
    os << "N(";
    printOn();
    os << ')';
    break;
  }
  return text;
}
