//===- Quantity.h - Physical quantities with units as types -----*- C++ -*-===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// A time, size, rate, energy, price or mass is a type here, never a bare
/// double. The type is the vector of exponents of dtrain's base units (second,
/// byte, FLOP, joule, US dollar, kgCO2e), so that `Bytes / Bandwidth` is a
/// `Time` and `Bytes + Time` does not compile.
///
//===----------------------------------------------------------------------===//

#ifndef DTRAIN_SUPPORT_QUANTITY_H
#define DTRAIN_SUPPORT_QUANTITY_H

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace dtrain {

/// A value in base units: s^T * B^B * FLOP^F * J^J * USD^D * kgCO2e^C.
template <int T, int B, int F, int J, int D, int C> class Quantity {
public:
  constexpr Quantity() = default;
  /// The only ways in and out of a bare number; both in base units.
  static constexpr Quantity fromBase(double value) { return Quantity(value); }
  constexpr double base() const { return value; }

  constexpr Quantity operator+(Quantity o) const {
    return Quantity(value + o.value);
  }
  constexpr Quantity operator-(Quantity o) const {
    return Quantity(value - o.value);
  }
  constexpr Quantity operator*(double s) const { return Quantity(value * s); }
  constexpr Quantity operator/(double s) const { return Quantity(value / s); }
  Quantity &operator+=(Quantity o) {
    value += o.value;
    return *this;
  }
  Quantity &operator-=(Quantity o) {
    value -= o.value;
    return *this;
  }
  Quantity &operator*=(double s) {
    value *= s;
    return *this;
  }
  friend constexpr Quantity operator*(double s, Quantity q) { return q * s; }
  constexpr bool operator==(Quantity o) const { return value == o.value; }
  constexpr bool operator!=(Quantity o) const { return value != o.value; }
  constexpr bool operator<(Quantity o) const { return value < o.value; }
  constexpr bool operator<=(Quantity o) const { return value <= o.value; }
  constexpr bool operator>(Quantity o) const { return value > o.value; }
  constexpr bool operator>=(Quantity o) const { return value >= o.value; }
  friend llvm::hash_code hash_value(Quantity q) {
    return llvm::hash_value(llvm::bit_cast<uint64_t>(q.value));
  }

  template <int T2, int B2, int F2, int J2, int D2, int C2>
  constexpr auto operator*(Quantity<T2, B2, F2, J2, D2, C2> o) const {
    return Quantity<T + T2, B + B2, F + F2, J + J2, D + D2, C + C2>::fromBase(
        value * o.base());
  }
  template <int T2, int B2, int F2, int J2, int D2, int C2>
  constexpr auto operator/(Quantity<T2, B2, F2, J2, D2, C2> o) const {
    return Quantity<T - T2, B - B2, F - F2, J - J2, D - D2, C - C2>::fromBase(
        value / o.base());
  }

  /// Reads "3.35" with unit "TBps" into base units. Fails on a unit of another
  /// dimension, naming the units that would do.
  static llvm::Expected<Quantity> get(double number, llvm::StringRef unit);
  /// Prints number and unit with the largest unit that reads back to the same
  /// value, e.g. "3.35 TBps".
  std::string str() const;

private:
  explicit constexpr Quantity(double value) : value(value) {}
  double value = 0;
};

using Ratio = Quantity<0, 0, 0, 0, 0, 0>;
using Time = Quantity<1, 0, 0, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0, 0, 0>;
using Bandwidth = Quantity<-1, 1, 0, 0, 0, 0>;
using Flops = Quantity<0, 0, 1, 0, 0, 0>;
using FlopRate = Quantity<-1, 0, 1, 0, 0, 0>;
using Energy = Quantity<0, 0, 0, 1, 0, 0>;
using Power = Quantity<-1, 0, 0, 1, 0, 0>;
using EnergyPerFlop = Quantity<0, 0, -1, 1, 0, 0>;
using EnergyPerByte = Quantity<0, -1, 0, 1, 0, 0>;
using Money = Quantity<0, 0, 0, 0, 1, 0>;
using MoneyRate = Quantity<-1, 0, 0, 0, 1, 0>;
using MoneyPerEnergy = Quantity<0, 0, 0, -1, 1, 0>;
using MoneyPerPower = Quantity<1, 0, 0, -1, 1, 0>;
using Carbon = Quantity<0, 0, 0, 0, 0, 1>;
using CarbonPerEnergy = Quantity<0, 0, 0, -1, 0, 1>;

/// A quantity over itself is a plain number.
inline double toDouble(Ratio r) { return r.base(); }

/// The exponents of a quantity's base units, for code that handles units at run
/// time (parsers, printers).
struct Dimension {
  int8_t time, byte, flop, energy, money, carbon;
  bool operator==(const Dimension &o) const {
    return time == o.time && byte == o.byte && flop == o.flop &&
           energy == o.energy && money == o.money && carbon == o.carbon;
  }
};

/// Converts `number unit` to base units of `dim`; an error names what was
/// expected and what was found.
llvm::Expected<double> toBaseUnits(double number, llvm::StringRef unit,
                                   Dimension dim);
/// The dimension that a unit's name implies; none if the name is unknown.
std::optional<Dimension> dimensionOfUnit(llvm::StringRef unit);
/// The shortest "number unit" of that dimension which reads back to `value`.
std::string printQuantity(double value, Dimension dim);
/// Prints a finite double so that it reads back exactly, always with a point or
/// exponent preceded by a point (MLIR's lexer reads `1e9` as two tokens).
std::string printDouble(double value);

template <int T, int B, int F, int J, int D, int C>
llvm::Expected<Quantity<T, B, F, J, D, C>>
Quantity<T, B, F, J, D, C>::get(double number, llvm::StringRef unit) {
  llvm::Expected<double> value =
      toBaseUnits(number, unit, Dimension{T, B, F, J, D, C});
  if (!value)
    return value.takeError();
  return fromBase(*value);
}

template <int T, int B, int F, int J, int D, int C>
std::string Quantity<T, B, F, J, D, C>::str() const {
  return printQuantity(value, Dimension{T, B, F, J, D, C});
}

} // namespace dtrain

#endif // DTRAIN_SUPPORT_QUANTITY_H
