//===- Formats.cpp - A report as JSON, text and CSV -----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Report/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace dtrain;
using llvm::formatv;
using llvm::json::Array;
using llvm::json::Object;
using llvm::json::Value;

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

/// JSON and what is printed are UTF-8; a name from a file or a path may not be.
static std::string text(llvm::StringRef name) {
  return llvm::json::isUTF8(name) ? name.str() : llvm::json::fixUTF8(name);
}

static Object strategyJson(const Report &r) {
  Object strategy;
  for (auto &[axis, degree] : r.strategy.parallel)
    strategy[text(axis)] = degree;
  strategy["global_batch"] = r.strategy.globalBatch;
  strategy["micro_batch"] = r.strategy.microBatch;
  strategy["micro_batches"] = r.microBatches;
  strategy["schedule"] = text(r.order);
  strategy["chunks"] = r.chunks;
  strategy["recompute"] = text(r.strategy.recompute);
  strategy["precision"] = text(r.strategy.precision);
  strategy["optimizer"] = text(r.strategy.optimizer);
  strategy["stack"] = text(r.stack);
  strategy["overlap_dp"] = r.strategy.overlapDataParallel;
  return strategy;
}

static Object stepJson(const Report &r) {
  const Breakdown &b = r.breakdown;
  Object sent;
  for (auto &[axis, bytes] : r.sent)
    sent[text(axis)] = bytes.base();
  return Object{
      {"time_s", r.step.base()},
      {"tokens", r.model.tokens ? Value(r.model.tokens) : Value(nullptr)},
      {"samples", r.model.samples},
      {"model_flops", r.modelFlops.base()},
      {"hardware_flops", r.hardwareFlops.base()},
      {"critical_stage", r.criticalStage},
      {"breakdown_s",
       Object{{"compute", b.compute.base()},
              {"exposed_communication", b.exposedCommunication.base()},
              {"bubble", b.bubble.base()},
              {"optimizer", b.optimizer.base()},
              {"input", b.input.base()},
              {"host", b.host.base()}}},
      {"communication_bytes_per_device", std::move(sent)}};
}

static Object memoryJson(const Report &r) {
  const Footprint &m = r.memory;
  return Object{{"capacity_bytes", r.capacity.base()},
                {"peak_bytes", m.total().base()},
                {"fits", r.fits()},
                {"parameters_bytes", m.parameters.base()},
                {"gradients_bytes", m.gradients.base()},
                {"optimizer_bytes", m.optimizer.base()},
                {"activations_bytes", m.activations.base()},
                {"workspace_bytes", m.workspace.base()}};
}

static Array operatorsJson(const Report &r) {
  Array operators;
  for (const OperatorUse &use : r.operators)
    operators.push_back(Object{{"name", text(use.name)},
                               {"kind", text(use.kind)},
                               {"count", use.count},
                               {"flops", use.flops.base()},
                               {"bytes", use.bytes.base()},
                               {"flops_per_byte", use.intensity()},
                               {"time_s", use.time.base()}});
  return operators;
}

static Value runJson(const Report &r) {
  if (!r.run)
    return nullptr;
  return Object{
      {"steps", r.run->steps},
      {"tokens", r.run->tokens ? Value(*r.run->tokens) : Value(nullptr)},
      {"time_s", r.run->time.base()},
      {"energy_j", r.run->energy.base()},
      {"usd", r.run->money.base()},
      {"kgco2e", r.run->carbon.base()}};
}

Value dtrain::toJson(const Report &r) {
  Object energy, cost;
  for (auto [name, value] : r.energy.entries())
    energy[name] = value.base();
  for (auto [name, value] : r.cost.entries())
    cost[name] = value.base();
  Array warnings(llvm::map_range(r.warnings, text));
  Array assumptions;
  for (const Assumption &a : r.assumptions)
    assumptions.push_back(Object{{"name", text(a.name)},
                                 {"value", a.value},
                                 {"unit", text(a.unit)},
                                 {"basis", text(a.basis)},
                                 {"source", text(a.source)}});
  return Object{
      {"schema", "dtrain.estimate.v1"},
      {"model", Object{{"name", text(r.model.name)},
                       {"parameters", r.model.parameters},
                       {"layers", r.model.layers}}},
      {"target", Object{{"name", text(r.target)}, {"devices", r.devices}}},
      {"strategy", strategyJson(r)},
      {"step", stepJson(r)},
      {"efficiency",
       Object{{"mfu", r.mfu},
              {"hfu", r.hfu},
              {"tflops_per_device", r.perDevice().base() / 1e12}}},
      {"memory", memoryJson(r)},
      {"energy",
       Object{{"step_j", r.energy.total().base()},
              {"breakdown_j", std::move(energy)},
              {"average_power_w_per_device", r.powerPerDevice().base()}}},
      {"cost", Object{{"step_usd", r.cost.total().base()},
                      {"breakdown_usd", std::move(cost)}}},
      {"carbon", Object{{"step_kgco2e", r.carbon.total().base()},
                        {"operational_kgco2e", r.carbon.operational.base()},
                        {"embodied_kgco2e", r.carbon.embodied.base()}}},
      {"operators", operatorsJson(r)},
      {"reuse", Object{{"tasks", r.reuse.tasks},
                       {"priced", r.reuse.priced},
                       {"rate", r.reuse.rate()}}},
      {"run", runJson(r)},
      {"assumptions", std::move(assumptions)},
      {"warnings", std::move(warnings)}};
}

//===----------------------------------------------------------------------===//
// CSV
//===----------------------------------------------------------------------===//

/// A cell as RFC 4180 has it.
static std::string quoted(llvm::StringRef cell) {
  if (cell.find_first_of(",\"\r\n") == llvm::StringRef::npos)
    return cell.str();
  std::string inside;
  for (char c : cell)
    inside += c == '"' ? std::string("\"\"") : std::string(1, c);
  return "\"" + inside + "\"";
}

/// Columns of every scalar below `value`, in the order that JSON prints.
static void flatten(llvm::StringRef path, const Value &value,
                    std::vector<std::pair<std::string, std::string>> &columns) {
  if (const Object *object = value.getAsObject()) {
    std::vector<llvm::StringRef> keys;
    for (auto &entry : *object)
      keys.push_back(entry.first);
    llvm::sort(keys);
    for (llvm::StringRef key : keys)
      flatten(path.empty() ? key.str() : (path + "." + key).str(),
              *object->get(key), columns);
    return;
  }
  std::string cell;
  if (std::optional<llvm::StringRef> string = value.getAsString())
    cell = string->str();
  else if (value.kind() != Value::Null)
    cell = formatv("{0}", value).str();
  columns.push_back({quoted(path), quoted(cell)});
}

void dtrain::printCsv(const Report &report, llvm::raw_ostream &os) {
  Value json = toJson(report);
  Object &object = *json.getAsObject();
  // Lists do not fit a row: warnings become text, the others their number.
  object["operators"] = static_cast<int64_t>(report.operators.size());
  object["assumptions"] = static_cast<int64_t>(report.assumptions.size());
  object["warnings"] = text(llvm::join(report.warnings, "; "));
  std::vector<std::pair<std::string, std::string>> columns;
  flatten("", json, columns);
  llvm::interleave(columns, os, [&](auto &c) { os << c.first; }, ",");
  os << '\n';
  llvm::interleave(columns, os, [&](auto &c) { os << c.second; }, ",");
  os << '\n';
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// Three decimals with the prefix that suits the size.
static std::string scaled(double value, llvm::StringRef unit) {
  static constexpr std::pair<double, const char *> kPrefixes[] = {
      {1e18, "E"}, {1e15, "P"}, {1e12, "T"}, {1e9, "G"},
      {1e6, "M"},  {1e3, "k"},  {1, ""},     {1e-3, "m"},
      {1e-6, "u"}, {1e-9, "n"}, {1e-12, "p"}};
  for (auto [factor, prefix] : kPrefixes)
    if (value >= factor)
      return formatv("{0:f3} {1}{2}", value / factor, prefix, unit).str();
  return formatv("{0:f3} {1}", value, unit).str();
}

/// With `decimals` where they say enough of the value, else scaled.
static std::string plain(double value, unsigned decimals,
                         llvm::StringRef unit) {
  if (value != 0 && value * std::pow(10, decimals) < 100)
    return scaled(value, unit);
  return llvm::formatv(decimals == 4 ? "{0:f4} {1}" : "{0:f2} {1}", value, unit)
      .str();
}

/// In GiB, as capacities are; less of it in KiB or MiB.
static std::string gibibytes(Bytes bytes) {
  static constexpr std::pair<double, const char *> kUnits[] = {
      {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}};
  for (auto [factor, unit] : kUnits)
    if (bytes.base() >= factor / 100)
      return formatv("{0:f2} {1}", bytes.base() / factor, unit).str();
  return formatv("{0:f0} B", bytes.base()).str();
}

/// "  name   value   12.3 %" for each entry that is not zero.
template <typename T>
static void printParts(llvm::raw_ostream &os,
                       llvm::ArrayRef<std::pair<llvm::StringRef, T>> parts,
                       T total, llvm::StringRef unit) {
  for (auto [name, value] : parts)
    if (value != T())
      os << formatv("    {0,-24}{1,14}{2,8:f1} %\n", name,
                    scaled(value.base(), unit), 100 * toDouble(value / total));
}

static void printTime(const Report &r, llvm::raw_ostream &os) {
  os << formatv("  step         {0}", plain(r.step.base(), 4, "s"));
  int64_t amount = r.model.tokens ? r.model.tokens : r.model.samples;
  if (r.step != Time())
    os << formatv("   {0} {1}/s", scaled(amount / r.step.base(), ""),
                  r.model.tokens ? "tokens" : "samples");
  os << formatv("   MFU {0:f1} %   HFU {1:f1} %   {2:f1} TFLOP/s per device\n",
                100 * r.mfu, 100 * r.hfu, r.perDevice().base() / 1e12);
  const Breakdown &b = r.breakdown;
  os << formatv("    of stage {0}, the busiest:\n", r.criticalStage);
  std::pair<llvm::StringRef, Time> parts[] = {
      {"compute", b.compute}, {"exposed communication", b.exposedCommunication},
      {"bubble", b.bubble},   {"optimizer", b.optimizer},
      {"input", b.input},     {"host", b.host}};
  printParts<Time>(os, parts, r.step, "s");
  for (auto &[axis, bytes] : r.sent)
    if (bytes != Bytes())
      os << formatv("    {0,-24}{1,14}\n", "sent per device, " + text(axis),
                    scaled(bytes.base(), "B"));
}

static void printMemory(const Report &r, llvm::raw_ostream &os) {
  const Footprint &m = r.memory;
  os << formatv("  memory       {0} of {1}: {2} (stage {3})\n",
                gibibytes(m.total()), gibibytes(r.capacity),
                r.fits() ? "fits" : "DOES NOT FIT", r.fullestStage);
  std::pair<llvm::StringRef, Bytes> parts[] = {{"parameters", m.parameters},
                                               {"gradients", m.gradients},
                                               {"optimizer", m.optimizer},
                                               {"activations", m.activations},
                                               {"workspace", m.workspace}};
  for (auto [name, bytes] : parts)
    os << formatv("    {0,-24}{1,14}\n", name, gibibytes(bytes));
}

void dtrain::printText(const Report &r, llvm::raw_ostream &os) {
  os << formatv("{0}: {1} parameters, {2} layers\n", text(r.model.name),
                r.model.parameters, r.model.layers);
  os << formatv("{0} x {1}, {2}; ", r.devices, text(r.target), text(r.stack));
  for (auto &[axis, degree] : r.strategy.parallel)
    if (degree > 1)
      os << text(axis) << ' ' << degree << ", ";
  os << formatv("{0} micro-batches, {1}\n\n", r.microBatches, r.order);
  printTime(r, os);
  printMemory(r, os);
  os << formatv("  energy       {0} per step, {1:f0} W per device\n",
                scaled(r.energy.total().base(), "J"),
                r.powerPerDevice().base());
  auto energy = r.energy.entries();
  printParts<Energy>(os, energy, r.energy.total(), "J");
  os << formatv("  cost         {0} per step\n",
                plain(r.cost.total().base(), 4, "USD"));
  auto cost = r.cost.entries();
  printParts<Money>(os, cost, r.cost.total(), "USD");
  // Grams take the prefixes that kilograms cannot.
  auto carbon = [](Carbon c) {
    return c.base() < 0.01 ? scaled(c.base() * 1000, "gCO2e")
                           : plain(c.base(), 4, "kgCO2e");
  };
  os << formatv("  carbon       {0} per step: {1} operational, {2} embodied\n",
                carbon(r.carbon.total()), carbon(r.carbon.operational),
                carbon(r.carbon.embodied));
  if (r.run)
    os << formatv(
        "  run          {0:f0} steps, {1:f2} days, {2:f1} MWh, {3:f0} "
        "USD, {4:f1} tCO2e\n",
        r.run->steps, r.run->time.base() / 86400, r.run->energy.base() / 3.6e9,
        r.run->money.base(), r.run->carbon.base() / 1000);
  os << formatv("  assumptions  {0}, listed by --format json\n",
                r.assumptions.size());
  for (const std::string &warning : r.warnings)
    os << "  warning      " << text(warning) << '\n';
}

void dtrain::printOperators(const Report &r, llvm::raw_ostream &os) {
  static constexpr const char *kRow = "{0,-28}{1,-20}{2,10}{3,16}{4,14}{5,10}"
                                      "{6,14}\n";
  os << formatv("{0}, stage {1}: one device, one step\n\n", text(r.model.name),
                r.criticalStage);
  os << formatv(kRow, "operator", "kind", "count", "executed", "bytes",
                "FLOP/B", "time");
  for (const OperatorUse &use : r.operators)
    os << formatv(
        kRow, text(use.name), text(use.kind),
        formatv("{0:f0}", use.count).str(),
        use.flops == Flops() ? "-" : scaled(use.flops.base(), "FLOP"),
        scaled(use.bytes.base(), "B"),
        use.flops == Flops() ? "-" : formatv("{0:f2}", use.intensity()).str(),
        scaled(use.time.base(), "s"));
  os << formatv("\nall devices: {0:f0} tasks, {1} of them priced, {2:f6} % "
                "reused\n",
                r.reuse.tasks, r.reuse.priced, 100 * r.reuse.rate());
}
