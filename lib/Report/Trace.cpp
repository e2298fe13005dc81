//===- Trace.cpp - The pipeline as a chrome trace -------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/IR/Schedule/Problems.h"
#include "dtrain/Report/Report.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace dtrain;
using namespace dtrain::schedule;

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

/// The tail of a class, from the end of its last backward and, for what all
/// classes begin together, back from the end of the step.
static void writeTail(TraceWriter &writer, RankClassOp rankClass, Time end,
                      Time step) {
  SegmentOp tail = tailOf(rankClass);
  if (!tail)
    return;
  const Span &span = tail.getSpan()->getValue();
  int64_t stage = rankClass.getStage();
  if (span.exposed != Time())
    writer.event("synchronise", "communication", stage, end, span.exposed);
  Time update = span.compute + span.host;
  if (update != Time())
    writer.event("update", "optimizer", stage, step - update, update);
}

llvm::Error dtrain::printChromeTrace(PlanOp plan, llvm::raw_ostream &os) {
  if (!plan.getAt())
    return llvm::createStringError("expected a solved plan: run schedule-solve "
                                   "first");
  PipelineProblem problem = pipelineProblem(plan);
  llvm::Expected<PipelineSolution> solution = solve(problem);
  if (!solution)
    return solution.takeError();
  TraceWriter writer(os);
  for (auto rankClass : plan.getContents().getOps<RankClassOp>()) {
    int64_t stage = rankClass.getStage();
    writer.name(stage);
    Time end;
    for (int64_t chunk = 0; chunk < problem.shape.chunks; ++chunk)
      for (bool backward : {false, true})
        for (int64_t i = 0; i < problem.shape.microBatches; ++i) {
          size_t index = solution->index(chunk * problem.shape.stages + stage,
                                         {i, chunk, backward});
          std::string name = (backward ? "B" : "F") + std::to_string(i);
          if (problem.shape.chunks > 1)
            name += "." + std::to_string(chunk);
          Time start = solution->starts[index];
          writer.event(name, backward ? "backward" : "forward", stage, start,
                       solution->ends[index] - start);
          end = std::max(end, solution->ends[index]);
        }
    writeTail(writer, rankClass, end, plan.getAt()->getValue().duration);
  }
  return llvm::Error::success();
}
