//===- Trace.cpp - The pipeline as a chrome trace -------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Report/Report.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace dtrain;

namespace {
/// Writes events one by one: a step may have hundreds of thousands.
class TraceWriter {
public:
  explicit TraceWriter(llvm::raw_ostream &os) : json(os) {
    json.objectBegin();
    json.attribute("displayTimeUnit", "ms");
    json.attributeBegin("traceEvents");
    json.arrayBegin();
  }
  ~TraceWriter() {
    json.arrayEnd();
    json.attributeEnd();
    json.objectEnd();
  }
  void name(int64_t stage) {
    json.object([&] {
      json.attribute("name", "thread_name");
      json.attribute("ph", "M");
      json.attribute("pid", 0);
      json.attribute("tid", stage);
      json.attributeObject("args", [&] {
        json.attribute("name", llvm::formatv("stage {0}", stage).str());
      });
    });
  }
  void event(llvm::StringRef name, llvm::StringRef category, int64_t stage,
             Time start, Time duration) {
    json.object([&] {
      json.attribute("name", name);
      json.attribute("cat", category);
      json.attribute("ph", "X");
      json.attribute("pid", 0);
      json.attribute("tid", stage);
      json.attribute("ts", start.base() * 1e6);
      json.attribute("dur", duration.base() * 1e6);
    });
  }

private:
  llvm::json::OStream json;
};
} // namespace

/// What a class does once after the events: what it waits for from the end of
/// its last event, and what all classes begin together back from the end of the
/// step.
static void writeOnce(TraceWriter &writer, const SolvedStep &solved, unsigned c,
                      Time end) {
  const DeviceClass &deviceClass = solved.problem.classes[c];
  for (auto [s, segment] : llvm::enumerate(deviceClass.segments)) {
    if (segment.kind >= 0)
      continue;
    const Span &span = solved.solution.segments[c][s].span;
    if (span.exposed != Time())
      writer.event("synchronise", "communication", deviceClass.stage, end,
                   span.exposed);
    Time update = span.compute + span.host;
    if (update != Time())
      writer.event("update", "optimizer", deviceClass.stage,
                   solved.solution.step - update, update);
  }
}

void dtrain::printChromeTrace(const SolvedStep &solved, llvm::raw_ostream &os) {
  const PipelineShape &shape = solved.step.shape;
  const PipelineSolution &solution = solved.solution.pipeline;
  TraceWriter writer(os);
  for (auto [c, deviceClass] : llvm::enumerate(solved.problem.classes)) {
    int64_t stage = deviceClass.stage;
    writer.name(stage);
    Time end;
    for (int64_t chunk = 0; chunk < shape.chunks; ++chunk)
      for (auto [k, kind] : llvm::enumerate(shape.kinds))
        for (int64_t i = 0; i < shape.microBatches; ++i) {
          size_t index = solution.index(chunk * shape.stages + stage,
                                        {i, chunk, static_cast<unsigned>(k)});
          // "F3", "B3.1": the kind's initial, micro-batch and chunk.
          std::string name = llvm::StringRef(kind.name).take_front().upper() +
                             std::to_string(i);
          if (shape.chunks > 1)
            name += "." + std::to_string(chunk);
          Time start = solved.solution.before + solution.starts[index];
          Time stop = solved.solution.before + solution.ends[index];
          writer.event(name, kind.name, stage, start, stop - start);
          end = std::max(end, stop);
        }
    writeOnce(writer, solved, c, end);
  }
}
