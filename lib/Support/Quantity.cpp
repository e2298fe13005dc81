//===- Quantity.cpp - Unit names and conversions --------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Support/Quantity.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include <charconv>
#include <cmath>

using namespace dtrain;
using namespace llvm;

namespace {
/// `unit` is worth num/den base units. Two factors, since 1e6 is exact and 1e-6
/// is not.
struct Unit {
  StringLiteral name;
  Dimension dim;
  double num = 1, den = 1;
};
} // namespace

static constexpr double kHour = 3600, kDay = 86400, kYear = 365.25 * 86400;
static constexpr double kKWh = 3.6e6;

/// Every unit, largest first within its dimension: the printer takes the first
/// that fits.
static const Unit units[] = {
    {"", {0, 0, 0, 0, 0, 0}},
    {"year", {1, 0, 0, 0, 0, 0}, kYear},
    {"day", {1, 0, 0, 0, 0, 0}, kDay},
    {"h", {1, 0, 0, 0, 0, 0}, kHour},
    {"s", {1, 0, 0, 0, 0, 0}},
    {"ms", {1, 0, 0, 0, 0, 0}, 1, 1e3},
    {"us", {1, 0, 0, 0, 0, 0}, 1, 1e6},
    {"ns", {1, 0, 0, 0, 0, 0}, 1, 1e9},
    {"GHz", {-1, 0, 0, 0, 0, 0}, 1e9},
    {"MHz", {-1, 0, 0, 0, 0, 0}, 1e6},
    {"Hz", {-1, 0, 0, 0, 0, 0}},
    {"TiB", {0, 1, 0, 0, 0, 0}, 1099511627776.0},
    {"GiB", {0, 1, 0, 0, 0, 0}, 1073741824.0},
    {"MiB", {0, 1, 0, 0, 0, 0}, 1048576.0},
    {"KiB", {0, 1, 0, 0, 0, 0}, 1024.0},
    {"TB", {0, 1, 0, 0, 0, 0}, 1e12},
    {"GB", {0, 1, 0, 0, 0, 0}, 1e9},
    {"MB", {0, 1, 0, 0, 0, 0}, 1e6},
    {"kB", {0, 1, 0, 0, 0, 0}, 1e3},
    {"B", {0, 1, 0, 0, 0, 0}},
    {"TBps", {-1, 1, 0, 0, 0, 0}, 1e12},
    {"GBps", {-1, 1, 0, 0, 0, 0}, 1e9},
    {"MBps", {-1, 1, 0, 0, 0, 0}, 1e6},
    {"kBps", {-1, 1, 0, 0, 0, 0}, 1e3},
    {"Bps", {-1, 1, 0, 0, 0, 0}},
    {"Gbitps", {-1, 1, 0, 0, 0, 0}, 1e9, 8},
    {"EFLOP", {0, 0, 1, 0, 0, 0}, 1e18},
    {"PFLOP", {0, 0, 1, 0, 0, 0}, 1e15},
    {"TFLOP", {0, 0, 1, 0, 0, 0}, 1e12},
    {"GFLOP", {0, 0, 1, 0, 0, 0}, 1e9},
    {"MFLOP", {0, 0, 1, 0, 0, 0}, 1e6},
    {"FLOP", {0, 0, 1, 0, 0, 0}},
    {"PFLOPps", {-1, 0, 1, 0, 0, 0}, 1e15},
    {"TFLOPps", {-1, 0, 1, 0, 0, 0}, 1e12},
    {"GFLOPps", {-1, 0, 1, 0, 0, 0}, 1e9},
    {"FLOPps", {-1, 0, 1, 0, 0, 0}},
    {"GWh", {0, 0, 0, 1, 0, 0}, kKWh * 1e6},
    {"MWh", {0, 0, 0, 1, 0, 0}, kKWh * 1e3},
    {"kWh", {0, 0, 0, 1, 0, 0}, kKWh},
    {"GJ", {0, 0, 0, 1, 0, 0}, 1e9},
    {"MJ", {0, 0, 0, 1, 0, 0}, 1e6},
    {"kJ", {0, 0, 0, 1, 0, 0}, 1e3},
    {"J", {0, 0, 0, 1, 0, 0}},
    {"mJ", {0, 0, 0, 1, 0, 0}, 1, 1e3},
    {"uJ", {0, 0, 0, 1, 0, 0}, 1, 1e6},
    {"pJ", {0, 0, 0, 1, 0, 0}, 1, 1e12},
    {"MW", {-1, 0, 0, 1, 0, 0}, 1e6},
    {"kW", {-1, 0, 0, 1, 0, 0}, 1e3},
    {"W", {-1, 0, 0, 1, 0, 0}},
    {"mW", {-1, 0, 0, 1, 0, 0}, 1, 1e3},
    {"J_per_FLOP", {0, 0, -1, 1, 0, 0}},
    {"pJ_per_FLOP", {0, 0, -1, 1, 0, 0}, 1, 1e12},
    {"J_per_B", {0, -1, 0, 1, 0, 0}},
    {"pJ_per_bit", {0, -1, 0, 1, 0, 0}, 8, 1e12},
    {"pJ_per_B", {0, -1, 0, 1, 0, 0}, 1, 1e12},
    {"USD", {0, 0, 0, 0, 1, 0}},
    {"USD_per_h", {-1, 0, 0, 0, 1, 0}, 1, kHour},
    {"USD_per_year", {-1, 0, 0, 0, 1, 0}, 1, kYear},
    {"USD_per_s", {-1, 0, 0, 0, 1, 0}},
    {"USD_per_kWh", {0, 0, 0, -1, 1, 0}, 1, kKWh},
    {"USD_per_J", {0, 0, 0, -1, 1, 0}},
    {"USD_per_W", {1, 0, 0, -1, 1, 0}},
    {"tCO2e", {0, 0, 0, 0, 0, 1}, 1e3},
    {"kgCO2e", {0, 0, 0, 0, 0, 1}},
    {"gCO2e", {0, 0, 0, 0, 0, 1}, 1, 1e3},
    {"kgCO2e_per_kWh", {0, 0, 0, -1, 0, 1}, 1, kKWh},
    {"gCO2e_per_kWh", {0, 0, 0, -1, 0, 1}, 1, kKWh * 1e3},
    {"kgCO2e_per_J", {0, 0, 0, -1, 0, 1}},
};

Expected<double> dtrain::toBaseUnits(double number, StringRef unit,
                                     Dimension dim) {
  for (const Unit &u : units)
    if (u.name == unit && u.dim == dim)
      return number * u.num / u.den;
  SmallString<64> expected;
  bool known = false;
  for (const Unit &u : units) {
    known |= u.name == unit;
    if (!(u.dim == dim))
      continue;
    expected += expected.empty() ? "" : ", ";
    expected += u.name.empty() ? StringRef("no unit") : StringRef(u.name);
  }
  return createStringError("%s unit '%s': expected one of %s",
                           known ? "mismatched" : "unknown", unit.str().c_str(),
                           expected.c_str());
}

std::optional<Dimension> dtrain::dimensionOfUnit(StringRef unit) {
  const Unit *it =
      find_if(units, [unit](const Unit &u) { return u.name == unit; });
  if (it == std::end(units))
    return std::nullopt;
  return it->dim;
}

std::string dtrain::printDouble(double value) {
  char buffer[32];
  // As few digits as read back, at least 6. The shortest form says how many
  // that is, but for rare cases where its last digit is not the rounded one.
  auto *end = std::to_chars(buffer, std::end(buffer), value,
                            std::chars_format::scientific)
                  .ptr;
  int shortest =
      llvm::count_if(StringRef(buffer, end - buffer).split('e').first, isDigit);
  for (int digits = std::max(6, shortest); digits <= 17; ++digits) {
    snprintf(buffer, sizeof(buffer), "%.*g", digits, value);
    if (strtod(buffer, nullptr) == value)
      break;
  }
  StringRef text(buffer);
  if (text.contains('.') || text.contains('n')) // inf and nan have an 'n'
    return text.str();
  auto [mantissa, exponent] = text.split('e');
  std::string result = (mantissa + ".0").str();
  if (!exponent.empty())
    result += ("e" + exponent).str();
  return result;
}

std::string dtrain::printQuantity(double value, Dimension dim) {
  std::string best;
  for (const Unit &u : units) {
    if (!(u.dim == dim))
      continue;
    // Nothing is nothing in any unit; the base unit is the plainest.
    if (value == 0 && u.num != u.den)
      continue;
    double number = value * u.den / u.num;
    std::string text = printDouble(number);
    // A unit will do if the text reads back to the same value. The largest one
    // that keeps the number at or above one wins, then the shortest text.
    if (strtod(text.c_str(), nullptr) * u.num / u.den != value)
      continue;
    if (!u.name.empty())
      text += (" " + u.name).str();
    if (std::abs(number) >= 1 && std::abs(number) < 1e4 && text.size() <= 20)
      return text;
    if (best.empty() || text.size() < best.size())
      best = text;
  }
  return best;
}
