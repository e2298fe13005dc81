//===- Amount.h - Amounts over sizes and mesh axes --------------*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// An amount of work or memory is kept as what it follows from: the sizes of
/// the program's dimensions, and the mesh axes that divide them. It is then
/// evaluated under any degrees and sizes.
///
/// The text form of an amount of a quantity is a sum of products, each a number
/// with its unit and then the extents that multiply it: "2 FLOP batch/dp seq
/// hidden/tp + 5 FLOP 12". An extent is the name of a size, with the axes that
/// divide it, or a whole number.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_MODEL_STEP_AMOUNT_H
#define DTRAIN_MODEL_STEP_AMOUNT_H

#include "dtrain/Support/Quantity.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <string>

namespace dtrain {

/// A size of the program divided by axes, or a number.
struct Extent {
  /// The name of a size; empty for the number `value`.
  std::string size;
  int64_t value = 1;
  /// Names of the axes that divide it.
  llvm::SmallVector<std::string, 1> axes;
  bool operator==(const Extent &o) const {
    return size == o.size && value == o.value && axes == o.axes;
  }
};
llvm::hash_code hash_value(const Extent &extent);

/// The values that extents are evaluated under: of sizes, and of mesh axes. An
/// axis that is not listed has degree 1.
struct Scale {
  llvm::StringMap<int64_t> sizes, degrees;

  int64_t degree(llvm::StringRef axis) const {
    auto it = degrees.find(axis);
    return it == degrees.end() ? 1 : it->second;
  }
  int64_t degreeOf(const Extent &extent) const {
    int64_t n = 1;
    for (const std::string &axis : extent.axes)
      n *= degree(axis);
    return n;
  }
  /// Undivided. The size is known.
  int64_t whole(const Extent &extent) const {
    if (extent.size.empty())
      return extent.value;
    return sizes.lookup(extent.size);
  }
  /// What the fullest device has.
  int64_t local(const Extent &extent) const {
    return llvm::divideCeilSigned(whole(extent), degreeOf(extent));
  }
};

/// A product of extents, such as one side of a matrix.
using Extents = llvm::SmallVector<Extent, 3>;
int64_t localProduct(llvm::ArrayRef<Extent> extents, const Scale &scale);
/// "batch/dp seq"; "1" for none.
std::string printExtents(llvm::ArrayRef<Extent> extents);
llvm::Expected<Extents> parseExtents(llvm::StringRef text);

/// coef * the product of the extents.
struct Product {
  double coef = 0;
  Extents extents;
  bool operator==(const Product &o) const {
    return llvm::bit_cast<uint64_t>(coef) == llvm::bit_cast<uint64_t>(o.coef) &&
           extents == o.extents;
  }
};
llvm::hash_code hash_value(const Product &product);

/// A sum of products, in base units.
class Sum {
public:
  Sum() = default;
  llvm::SmallVector<Product, 1> terms;

  /// What the busiest device does: each extent divided and rounded up.
  double local(const Scale &scale) const;
  /// The mean over the devices that do any of it.
  double mean(const Scale &scale) const;
  /// Undivided: of the whole mesh.
  double total(const Scale &scale) const;
  /// Adds to one term of the same extents, so that equal terms are one.
  void add(const Product &product);
  void scaleBy(double factor) {
    for (Product &term : terms)
      term.coef *= factor;
  }
  bool empty() const { return terms.empty(); }
  bool operator==(const Sum &o) const { return terms == o.terms; }
  friend llvm::hash_code hash_value(const Sum &sum) {
    return llvm::hash_combine_range(sum.terms.begin(), sum.terms.end());
  }
  /// `dim` is the unit's dimension.
  std::string str(Dimension dim) const;
  static llvm::Expected<Sum> parse(llvm::StringRef text, Dimension dim);
};

/// A sum of the dimension of Q.
template <typename Q> struct Amount : Sum {
  Amount() = default;
  explicit Amount(Sum sum) : Sum(std::move(sum)) {}
  /// One that does not depend on sizes.
  explicit Amount(Q value) {
    if (value != Q())
      terms.push_back({value.base(), {}});
  }
  Q local(const Scale &s) const { return Q::fromBase(Sum::local(s)); }
  Q mean(const Scale &s) const { return Q::fromBase(Sum::mean(s)); }
  Q total(const Scale &s) const { return Q::fromBase(Sum::total(s)); }
};

/// The most of several amounts: a peak that different moments may reach.
template <typename Q> struct Peak {
  llvm::SmallVector<Amount<Q>, 1> moments;
  Q local(const Scale &scale) const {
    Q most;
    for (const Amount<Q> &moment : moments)
      most = std::max(most, moment.local(scale));
    return most;
  }
  bool operator==(const Peak &o) const { return moments == o.moments; }
  friend llvm::hash_code hash_value(const Peak &peak) {
    return llvm::hash_combine_range(peak.moments.begin(), peak.moments.end());
  }
};

} // namespace dtrain

#endif // DTRAIN_MODEL_STEP_AMOUNT_H
