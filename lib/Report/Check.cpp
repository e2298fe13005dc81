//===- Check.cpp - What no report may say ---------------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Report/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace dtrain;
using llvm::Error;
using llvm::StringRef;
using llvm::json::Value;

/// The error names the first number that is none, by its key in the JSON.
static Error checkFinite(const Value &value, const std::string &path) {
  if (const auto *object = value.getAsObject()) {
    std::vector<StringRef> keys;
    for (const auto &entry : *object)
      keys.push_back(entry.first);
    llvm::sort(keys);
    for (StringRef key : keys)
      if (Error error = checkFinite(
              *object->get(key), (path.empty() ? "" : path + ".") + key.str()))
        return error;
  } else if (const auto *array = value.getAsArray()) {
    for (auto [index, inner] : llvm::enumerate(*array))
      if (Error error = checkFinite(inner, path + "." + std::to_string(index)))
        return error;
  } else if (std::optional<double> number = value.getAsNumber();
             number && !std::isfinite(*number)) {
    return llvm::createStringError(
        "expected finite results, found " + path + " = " +
        llvm::formatv("{0}", *number).str() +
        ": a figure of the target or an amount of work is out of proportion");
  }
  return Error::success();
}

/// Nothing runs faster than the peak of its type. Above 1 the utilisation says
/// how it is counted, not how fast the devices are.
static void explainUtilization(Report &report) {
  if (report.mfu <= 1 && report.hfu <= 1)
    return;
  bool hasAttention = llvm::any_of(report.operators, [](auto &use) {
    return StringRef(use.kind).starts_with("attention");
  });
  report.warnings.push_back(
      llvm::formatv("an MFU of {0:f1} % and an HFU of {1:f1} % count {2}",
                    100 * report.mfu, 100 * report.hfu,
                    hasAttention
                        ? "attention in full, as is the convention, where "
                          "its kernel skips what a causal mask hides"
                        : "contractions of several types by the peak of one")
          .str());
}

Error dtrain::finishReport(Report &report) {
  if (Error error = checkFinite(toJson(report), ""))
    return error;
  explainUtilization(report);
  return Error::success();
}
