//===- Machine.cpp - Names and lookups of machine descriptions ------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Machine.h"
#include "Checks.h"
#include "llvm/ADT/STLExtras.h"

using namespace dtrain;

namespace {
struct PrecisionInfo {
  Precision precision;
  llvm::StringLiteral name;
  double bytes;
};
constexpr PrecisionInfo kPrecisions[] = {
    {Precision::FP64, "fp64", 8}, {Precision::FP32, "fp32", 4},
    {Precision::TF32, "tf32", 4}, {Precision::BF16, "bf16", 2},
    {Precision::FP16, "fp16", 2}, {Precision::FP8, "fp8", 1},
    {Precision::FP4, "fp4", 0.5}, {Precision::INT8, "int8", 1},
};
const PrecisionInfo &infoOf(Precision p) {
  return kPrecisions[static_cast<unsigned>(p)];
}

struct KernelInfo {
  AttentionKernel kernel;
  llvm::StringLiteral name;
};
constexpr KernelInfo kKernels[] = {
    {AttentionKernel::Unfused, "unfused"},
    {AttentionKernel::Flash, "flash"},
    {AttentionKernel::PortableFlash, "portable_flash"},
};
} // namespace

llvm::StringRef dtrain::stringifyPrecision(Precision p) {
  return infoOf(p).name;
}

std::optional<Precision> dtrain::parsePrecision(llvm::StringRef text) {
  for (const PrecisionInfo &info : kPrecisions)
    if (info.name == text)
      return info.precision;
  return std::nullopt;
}

double dtrain::bytesOf(Precision p) { return infoOf(p).bytes; }

std::optional<AttentionKernel>
dtrain::parseAttentionKernel(llvm::StringRef text) {
  for (const KernelInfo &info : kKernels)
    if (info.name == text)
      return info.kernel;
  return std::nullopt;
}

const PeakRate *Chip::findPeak(Precision p) const {
  const PeakRate *it = llvm::find_if(
      peaks, [p](const PeakRate &peak) { return peak.precision == p; });
  return it == peaks.end() ? nullptr : it;
}

llvm::Expected<int64_t> dtrain::devicesPerNode(const Machine &machine) {
  double devices = machine.node.devices.value.base();
  if (devices >= 1 && devices <= 1e9 && devices == std::floor(devices))
    return static_cast<int64_t>(devices);
  return makeError("'" + machine.name +
                   "': expected a whole number of devices per node, found " +
                   machine.node.devices.value.str());
}
