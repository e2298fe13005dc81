//===- Kernels.cpp - What the test dialect's ops compute ------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel/TestModel.h"
#include "dtrain/Interpreter/KernelSupport.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace testmodel;
using dtrain::FactorId;
using dtrain::Kernel;
using dtrain::Point;

namespace {
/// The weights of the values for one query: exp(score - lse) of each key that
/// it sees. Scores are small in tests: no maximum is taken off.
struct Weights {
  SmallVector<double> exps;
  double sum = 0;
};

/// The rows of a tensor: all factors of an operand but its last.
struct Rows {
  SmallVector<FactorId> rows;
  FactorId last;
  Rows(const Kernel &k, unsigned operand) : rows(k.operandFactors(operand)) {
    last = rows.pop_back_val();
  }
};

struct Statistics {
  double mean = 0, rstd = 0;
};

class Kernels : public dtrain::KernelDialectInterface {
public:
  using KernelDialectInterface::KernelDialectInterface;
  llvm::Error run(Operation *op, Kernel &k) const override;
};
} // namespace

static Weights weightsOf(const Kernel &k, unsigned query, unsigned key,
                         const Point &row, double scale) {
  Weights weights;
  k.forEach({k.factor("k")}, row, [&](const Point &p) {
    double score = 0;
    k.forEach({k.factor("c")}, p, [&](const Point &q) {
      score += scale * k.in(query, q) * k.in(key, q);
    });
    bool isSeen = k.indexOf(k.factor("k"), p) <= k.indexOf(k.factor("q"), p);
    weights.exps.push_back(isSeen ? std::exp(score) : 0);
    weights.sum += weights.exps.back();
  });
  return weights;
}

static void attend(Kernel &k, double scale) {
  FactorId key = k.factor("k"), v = k.factor("v");
  k.forEach(k.resultFactors(1), [&](const Point &row) {
    Weights weights = weightsOf(k, 0, 1, row, scale);
    k.out(1, row) = std::log(weights.sum);
    k.forEach({key, v}, row, [&](const Point &p) {
      k.out(0, p) += weights.exps[p.position[key]] / weights.sum * k.in(2, p);
    });
  });
}

static void attendGrad(Kernel &k, double scale) {
  enum { Grad, Query, Key, Value, Output, Lse };
  FactorId key = k.factor("k"), c = k.factor("c"), v = k.factor("v");
  k.forEach(k.operandFactors(Lse), [&](const Point &row) {
    Weights weights = weightsOf(k, Query, Key, row, scale);
    double inner = 0;
    k.forEach({v}, row, [&](const Point &p) {
      inner += k.in(Grad, p) * k.in(Output, p);
    });
    k.forEach({key}, row, [&](const Point &p) {
      double weight = weights.exps[p.position[key]] / std::exp(k.in(Lse, row));
      double slope = 0;
      k.forEach({v}, p, [&](const Point &q) {
        slope += k.in(Grad, q) * k.in(Value, q);
        k.out(2, q) += weight * k.in(Grad, q);
      });
      k.forEach({c}, p, [&](const Point &q) {
        double gradScore = scale * weight * (slope - inner);
        k.out(0, q) += gradScore * k.in(Key, q);
        k.out(1, q) += gradScore * k.in(Query, q);
      });
    });
  });
}

static Statistics statisticsOf(const Kernel &k, unsigned operand, FactorId w,
                               const Point &row, double epsilon) {
  Statistics s;
  double n = static_cast<double>(k.extent(w)), squares = 0;
  k.forEach({w}, row, [&](const Point &p) {
    s.mean += k.in(operand, p) / n;
    squares += k.in(operand, p) * k.in(operand, p) / n;
  });
  s.rstd = 1 / std::sqrt(squares - s.mean * s.mean + epsilon);
  return s;
}

static void standardize(Kernel &k, double epsilon) {
  Rows r(k, 0);
  k.forEach(r.rows, [&](const Point &row) {
    Statistics s = statisticsOf(k, 0, r.last, row, epsilon);
    k.forEach({r.last}, row, [&](const Point &p) {
      k.out(0, p) = (k.in(0, p) - s.mean) * s.rstd * k.in(1, p) + k.in(2, p);
    });
  });
}

static void standardizeGrad(Kernel &k, double epsilon) {
  enum { Grad, Input, Scale };
  Rows r(k, Grad);
  double n = static_cast<double>(k.extent(r.last));
  k.forEach(r.rows, [&](const Point &row) {
    Statistics s = statisticsOf(k, Input, r.last, row, epsilon);
    double mean = 0, projection = 0;
    auto normal = [&](const Point &p) {
      return (k.in(Input, p) - s.mean) * s.rstd;
    };
    k.forEach({r.last}, row, [&](const Point &p) {
      mean += k.in(Grad, p) * k.in(Scale, p) / n;
      projection += k.in(Grad, p) * k.in(Scale, p) * normal(p) / n;
    });
    k.forEach({r.last}, row, [&](const Point &p) {
      k.out(0, p) = s.rstd * (k.in(Grad, p) * k.in(Scale, p) - mean -
                              normal(p) * projection);
      k.out(1, p) += k.in(Grad, p) * normal(p);
      k.out(2, p) += k.in(Grad, p);
    });
  });
}

/// Visits the rows with the label's point, where it is here.
template <typename Body>
static llvm::Error forEachLabel(Kernel &k, unsigned labels, Body body) {
  FactorId w = k.factor("w");
  llvm::Error error = llvm::Error::success();
  k.forEach(k.operandFactors(labels), [&](const Point &row) {
    llvm::Expected<std::optional<int64_t>> label =
        k.locate(w, k.in(labels, row));
    if (!label) {
      error = llvm::joinErrors(std::move(error), label.takeError());
    } else if (*label) {
      Point p = row;
      k.advance(p, w, **label);
      body(p);
    }
  });
  return error;
}

static llvm::Error surprise(Kernel &k) {
  FactorId w = k.factor("w");
  k.forEach(k.operandFactors(1), [&](const Point &row) {
    double sum = 0;
    k.forEach({w}, row, [&](const Point &p) { sum += std::exp(k.in(0, p)); });
    k.out(1, row) = std::log(sum);
  });
  return forEachLabel(
      k, 1, [&](const Point &p) { k.out(0, p) = k.out(1, p) - k.in(0, p); });
}

static llvm::Error surpriseGrad(Kernel &k) {
  enum { Grad, Logits, Labels, Lse };
  k.forEach(k.operandFactors(Logits), [&](const Point &p) {
    k.out(0, p) = k.in(Grad, p) * std::exp(k.in(Logits, p) - k.in(Lse, p));
  });
  return forEachLabel(k, Labels,
                      [&](const Point &p) { k.out(0, p) -= k.in(Grad, p); });
}

llvm::Error Kernels::run(Operation *op, Kernel &k) const {
  auto number = [](llvm::APFloat f) { return f.convertToDouble(); };
  return llvm::TypeSwitch<Operation *, llvm::Error>(op)
      .Case([&](AttendOp o) {
        attend(k, number(o.getScale()));
        return llvm::Error::success();
      })
      .Case([&](AttendGradOp o) {
        attendGrad(k, number(o.getScale()));
        return llvm::Error::success();
      })
      .Case([&](StandardizeOp o) {
        standardize(k, number(o.getEpsilon()));
        return llvm::Error::success();
      })
      .Case([&](StandardizeGradOp o) {
        standardizeGrad(k, number(o.getEpsilon()));
        return llvm::Error::success();
      })
      .Case([&](SurpriseOp) { return surprise(k); })
      .Case([&](SurpriseGradOp) { return surpriseGrad(k); })
      .Default([](Operation *o) {
        return llvm::createStringError("'" + o->getName().getStringRef() +
                                       "' has no kernel");
      });
}

void TestModelDialect::registerKernels() { addInterfaces<Kernels>(); }
