//===- Network.cpp - Families, presets and sizes of networks --------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Networks/Network.h"
#include "Families.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

using namespace dtrain;
using namespace llvm;

static constexpr unsigned kGPT = NetworkSize::bit(NetworkFamily::GPT);
static constexpr unsigned kLlama = NetworkSize::bit(NetworkFamily::Llama);
static constexpr unsigned kMLP = NetworkSize::bit(NetworkFamily::MLP);

static const NetworkFamily families[] = {
    NetworkFamily::GPT, NetworkFamily::Llama, NetworkFamily::MLP};

/// name, member, used by, required by.
static const NetworkSize sizes[] = {
    {"layers", &NetworkSpec::layers, kGPT | kLlama | kMLP,
     kGPT | kLlama | kMLP},
    {"hidden", &NetworkSpec::hidden, kGPT | kLlama | kMLP,
     kGPT | kLlama | kMLP},
    {"heads", &NetworkSpec::heads, kGPT | kLlama, kGPT | kLlama},
    {"kv-heads", &NetworkSpec::kvHeads, kLlama, 0},
    {"ffn", &NetworkSpec::ffn, kGPT | kLlama, kLlama},
    {"vocab", &NetworkSpec::vocab, kGPT | kLlama, kGPT | kLlama},
    {"seq-max", &NetworkSpec::seqMax, kGPT | kLlama, kGPT | kLlama},
};

static const NetworkPreset presets[] = {
    {"gpt2-124m", NetworkFamily::GPT, 12, 768, 12, 0, 3072, 50257, 1024,
     "Radford et al. 2019, openai/gpt-2 hparams of 124M"},
    {"megatron-22b", NetworkFamily::GPT, 48, 6144, 64, 0, 24576, 51200, 2048,
     "Korthikanti et al. 2022 (arXiv:2205.05198), Table 3"},
    {"gpt3-175b", NetworkFamily::GPT, 96, 12288, 96, 0, 49152, 51200, 2048,
     "Brown et al. 2020 (arXiv:2005.14165), Table 2.1; vocabulary of Narayanan "
     "et al. 2021 (arXiv:2104.04473)"},
    {"megatron-530b", NetworkFamily::GPT, 105, 20480, 128, 0, 81920, 51200,
     2048, "Korthikanti et al. 2022 (arXiv:2205.05198), Table 3"},
    {"megatron-1t", NetworkFamily::GPT, 128, 25600, 160, 0, 102400, 51200, 2048,
     "Korthikanti et al. 2022 (arXiv:2205.05198), Table 3"},
    {"llama3-8b", NetworkFamily::Llama, 32, 4096, 32, 8, 14336, 128256, 131072,
     "Llama Team 2024 (arXiv:2407.21783), Table 3; vocabulary of the release"},
    {"llama3-70b", NetworkFamily::Llama, 80, 8192, 64, 8, 28672, 128256, 131072,
     "Llama Team 2024 (arXiv:2407.21783), Table 3; vocabulary of the release"},
    {"llama3-405b", NetworkFamily::Llama, 126, 16384, 128, 8, 53248, 128256,
     131072,
     "Llama Team 2024 (arXiv:2407.21783), Table 3; vocabulary of the release"},
};

/// Depth is copied in ONNX, so it is what makes a file large: this many layers
/// take under 200 MB, well below the 2 GiB that protobuf can hold.
static constexpr int64_t kMaxLayers = 16384;

StringRef dtrain::toString(NetworkFamily family) {
  switch (family) {
  case NetworkFamily::GPT:
    return "gpt";
  case NetworkFamily::Llama:
    return "llama";
  case NetworkFamily::MLP:
    return "mlp";
  }
  llvm_unreachable("every family has a name");
}

std::optional<NetworkFamily> dtrain::parseNetworkFamily(StringRef name) {
  for (NetworkFamily family : families)
    if (toString(family) == name)
      return family;
  return std::nullopt;
}

ArrayRef<NetworkFamily> dtrain::getNetworkFamilies() { return families; }
ArrayRef<NetworkSize> dtrain::getNetworkSizes() { return sizes; }
ArrayRef<NetworkPreset> dtrain::getNetworkPresets() { return presets; }

const NetworkPreset *dtrain::findNetworkPreset(StringRef name) {
  const NetworkPreset *it =
      find_if(presets, [&](const NetworkPreset &p) { return p.name == name; });
  return it == std::end(presets) ? nullptr : it;
}

NetworkSpec NetworkPreset::getSpec() const {
  NetworkSpec spec;
  spec.family = family;
  spec.name = name.str();
  spec.layers = layers;
  spec.hidden = hidden;
  spec.heads = heads;
  spec.kvHeads = kvHeads;
  spec.ffn = ffn;
  spec.vocab = vocab;
  spec.seqMax = seqMax;
  return spec;
}

namespace {
/// A 64-bit count that remembers whether it overflowed.
class Count {
public:
  Count(int64_t value) : value(value) {}
  Count operator+(Count o) const { return {*this, o, checkedAdd<int64_t>}; }
  Count operator*(Count o) const { return {*this, o, checkedMul<int64_t>}; }
  std::optional<int64_t> get() const { return value; }

private:
  Count(Count a, Count b, std::optional<int64_t> (*fn)(int64_t, int64_t)) {
    if (a.value && b.value)
      value = fn(*a.value, *b.value);
  }
  std::optional<int64_t> value;
};
} // namespace

/// Element count of all trainable parameters; nothing on overflow.
static Count countUnchecked(const NetworkSpec &spec) {
  Count l = spec.layers, h = spec.hidden, f = spec.ffn, v = spec.vocab;
  switch (spec.family) {
  case NetworkFamily::GPT: {
    Count attention = h * 3 * h + h * 3 + h * h + h;
    Count feedForward = h * f + f + f * h + h;
    Count norms = h * 4;
    return l * (attention + feedForward + norms) + (v + spec.seqMax) * h +
           h * 2;
  }
  case NetworkFamily::Llama: {
    Count kv = Count(spec.hidden / spec.heads) * spec.kvHeads;
    Count attention = h * h * 2 + h * kv * 2;
    return l * (attention + h * f * 3 + h * 2) + v * h * 2 + h;
  }
  case NetworkFamily::MLP:
    return l * (h * h + h);
  }
  llvm_unreachable("every family has a count");
}

static Error expected(const Twine &message) {
  return createStringError("expected " + message);
}

static Error fillDefaults(NetworkSpec &spec) {
  if (spec.family == NetworkFamily::Llama && spec.kvHeads == 0)
    spec.kvHeads = spec.heads;
  if (spec.family == NetworkFamily::GPT && spec.ffn == 0) {
    std::optional<int64_t> ffn = checkedMul<int64_t>(4, spec.hidden);
    if (!ffn)
      return expected("a hidden size of which 4 times fits in 64 bits, found " +
                      Twine(spec.hidden));
    spec.ffn = *ffn;
  }
  if (spec.name.empty())
    spec.name = toString(spec.family).str();
  return Error::success();
}

Error dtrain::resolveNetwork(NetworkSpec &spec) {
  if (Error error = fillDefaults(spec))
    return error;
  for (const NetworkSize &size : sizes) {
    int64_t value = spec.*size.member;
    bool used = size.isUsedBy(spec.family);
    if (used && value <= 0)
      return expected(formatv("a positive {0}, found {1}", size.name, value));
    if (!used && value != 0)
      return expected(formatv("no {0} in a network of family {1}, found {2}",
                              size.name, toString(spec.family), value));
  }
  if (spec.layers > kMaxLayers)
    return expected(
        formatv("at most {0} layers, found {1}", kMaxLayers, spec.layers));
  if (spec.family != NetworkFamily::MLP) {
    if (spec.hidden % spec.heads != 0)
      return expected(formatv("heads to divide hidden, found {0} heads and "
                              "hidden {1}",
                              spec.heads, spec.hidden));
  }
  if (spec.family == NetworkFamily::Llama) {
    if (spec.heads % spec.kvHeads != 0)
      return expected(formatv("kv-heads to divide heads, found {0} kv-heads "
                              "and {1} heads",
                              spec.kvHeads, spec.heads));
    if (spec.hidden / spec.heads % 2 != 0)
      return expected(formatv("an even head width for rotary positions, found "
                              "hidden {0} / heads {1} = {2}",
                              spec.hidden, spec.heads,
                              spec.hidden / spec.heads));
    // The rotary table is no parameter, so the count below does not see it.
    if (!checkedMul(spec.seqMax, spec.hidden / spec.heads))
      return expected(formatv("a rotary table within 64 bits, found seq-max "
                              "{0} and head width {1}",
                              spec.seqMax, spec.hidden / spec.heads));
  }
  if (!countUnchecked(spec).get())
    return expected("sizes whose parameter count fits in 64 bits, found more "
                    "than " +
                    Twine(std::numeric_limits<int64_t>::max()));
  return Error::success();
}

Expected<int64_t> dtrain::countParameters(NetworkSpec spec) {
  if (Error error = resolveNetwork(spec))
    return error;
  return *countUnchecked(spec).get();
}

Expected<std::string> dtrain::writeNetwork(NetworkSpec spec) {
  if (Error error = resolveNetwork(spec))
    return error;
  GraphBuilder builder(spec.name);
  switch (spec.family) {
  case NetworkFamily::GPT:
    buildGPT(builder, spec);
    break;
  case NetworkFamily::Llama:
    buildLlama(builder, spec);
    break;
  case NetworkFamily::MLP:
    buildMLP(builder, spec);
    break;
  }
  return builder.serialize();
}
