//===- ReferenceTest.cpp - The tables of the reference are true -----------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
///
/// \file
/// Reads the tables of docs/reference and compares each row with the library.
///
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Collective/Collective.h"
#include "dtrain/Model/Rule.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace dtrain;

namespace {

using Row = std::vector<std::string>;

/// The cells of "| a | `b` |", without backticks; `\|` is a bar.
Row cellsOf(llvm::StringRef line) {
  Row cells;
  std::string cell;
  for (size_t i = 1; i < line.size(); ++i) {
    if (line.substr(i).starts_with("\\|")) {
      cell += '|';
      ++i;
    } else if (line[i] == '|') {
      cells.push_back(llvm::StringRef(cell).trim(" `").str());
      cell.clear();
    } else {
      cell += line[i];
    }
  }
  return cells;
}

/// The rows of all tables of `page` whose header is `header`; an empty vector
/// (which callers refuse) if there are none.
std::vector<Row> tableOf(llvm::StringRef page, llvm::StringRef header) {
  std::string path = (REFERENCE_DIR "/" + page).str();
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return {};
  llvm::SmallVector<llvm::StringRef> lines;
  (*buffer)->getBuffer().split(lines, '\n');
  std::vector<Row> rows;
  bool inside = false;
  for (llvm::StringRef line : lines) {
    if (line == header)
      inside = true;
    else if (!line.starts_with("|"))
      inside = false;
    else if (inside && !line.starts_with("|-"))
      rows.push_back(cellsOf(line));
  }
  return rows;
}

/// "2x3, 4" as shapes.
llvm::SmallVector<llvm::SmallVector<int64_t>> shapesOf(llvm::StringRef text) {
  llvm::SmallVector<llvm::SmallVector<int64_t>> shapes;
  llvm::SmallVector<llvm::StringRef> operands, extents;
  text.split(operands, ", ");
  for (llvm::StringRef operand : operands) {
    extents.clear();
    operand.split(extents, 'x');
    auto &shape = shapes.emplace_back();
    for (llvm::StringRef extent : extents)
      EXPECT_FALSE(extent.getAsInteger(10, shape.emplace_back())) << text.str();
  }
  return shapes;
}

TEST(RulesPage, Examples) {
  std::vector<Row> rows = tableOf("rules.md", "| rule | is |");
  ASSERT_FALSE(rows.empty());
  for (const Row &row : rows) {
    llvm::Expected<Rule> rule = Rule::parse(row[0]);
    ASSERT_TRUE(!!rule) << row[0] << ": " << llvm::toString(rule.takeError());
    llvm::Expected<Rule> again = Rule::parse(rule->str());
    ASSERT_TRUE(!!again) << llvm::toString(again.takeError());
    EXPECT_TRUE(*again == *rule) << row[0];
  }
}

TEST(RulesPage, TextErrors) {
  std::vector<Row> rows = tableOf("rules.md", "| rule | error |");
  ASSERT_FALSE(rows.empty());
  for (const Row &row : rows) {
    llvm::Expected<Rule> rule = Rule::parse(row[0]);
    ASSERT_FALSE(!!rule) << row[0];
    std::string message = llvm::toString(rule.takeError());
    EXPECT_TRUE(llvm::StringRef(message).contains(row[1]))
        << row[0] << ": found " << message;
  }
}

TEST(RulesPage, BindingErrors) {
  std::vector<Row> rows = tableOf("rules.md", "| rule | operands | error |");
  ASSERT_FALSE(rows.empty());
  for (const Row &row : rows) {
    llvm::Expected<Rule> rule = Rule::parse(row[0]);
    ASSERT_TRUE(!!rule) << row[0] << ": " << llvm::toString(rule.takeError());
    llvm::Expected<BoundRule> bound =
        BoundRule::bind(*rule, shapesOf(row[1]), llvm::StringMap<int64_t>());
    ASSERT_FALSE(!!bound) << row[0];
    EXPECT_EQ(llvm::toString(bound.takeError()), row[2]) << row[0];
  }
}

/// "3, tp=4" as digits over axes that are added to `mesh`.
Digits digitsOf(llvm::StringRef text, llvm::SmallVectorImpl<MeshAxis> &mesh) {
  Digits digits;
  llvm::SmallVector<llvm::StringRef> parts;
  text.split(parts, ", ");
  for (llvm::StringRef part : parts) {
    auto [name, size] = part.split('=');
    int64_t extent = 0;
    if (size.empty()) {
      EXPECT_FALSE(name.getAsInteger(10, extent)) << text.str();
      digits.push_back({-1, extent});
      continue;
    }
    EXPECT_FALSE(size.getAsInteger(10, extent)) << text.str();
    size_t axis = 0;
    while (axis < mesh.size() && mesh[axis].name != name)
      ++axis;
    digits.push_back({static_cast<int>(axis), 0});
    if (axis == mesh.size())
      mesh.push_back({name.str(), extent});
  }
  return digits;
}

/// The error of splitting a dimension so, or "dp 12, tp 4".
std::string splitBy(const Row &row) {
  llvm::SmallVector<MeshAxis> mesh;
  Digits digits = digitsOf(row[1], mesh);
  int64_t extent = 0;
  EXPECT_FALSE(llvm::StringRef(row[0]).getAsInteger(10, extent));
  TensorState state(mesh.size());
  if (llvm::Error e = applyDigits(mesh, extent, 0, digits, state))
    return llvm::toString(std::move(e));
  EXPECT_FALSE(!!verifyTensorState(mesh, extent, state));
  std::string strides;
  for (auto [axis, s] : llvm::zip(mesh, state))
    strides += (strides.empty() ? "" : ", ") + axis.name + " " +
               std::to_string(s.stride);
  return strides;
}

TEST(AxisStatesPage, Digits) {
  for (const char *header :
       {"| extent | digits | strides |", "| extent | digits | error |"}) {
    std::vector<Row> rows = tableOf("axis-states.md", header);
    ASSERT_FALSE(rows.empty()) << header;
    for (const Row &row : rows)
      EXPECT_EQ(splitBy(row), row[2]) << row[0] << ": " << row[1];
  }
}

constexpr int64_t kAxis = 4;
const llvm::SmallVector<int64_t> kShape = {8, 12};

/// "S(1,t)" with the contiguous stride, "N({0,1})", as printed otherwise.
std::optional<AxisState> parseState(llvm::StringRef text) {
  std::vector<AxisState> states = {AxisState::replicated(),
                                   AxisState::partial()};
  for (unsigned d = 0; d < kShape.size(); ++d)
    if (text == "S(" + std::to_string(d) + ",t)")
      return AxisState::split(d, kShape[d] / kAxis);
  for (const Coords &on : {Coords{0}, Coords{1}, Coords{0, 1}}) {
    states.push_back(AxisState::pinned(on));
    states.push_back(AxisState::partial(ReduceOp::Sum, on));
  }
  for (const AxisState &state : states)
    if (state.str() == text)
      return state;
  return std::nullopt;
}

/// The value of "2*(n-1)/n * B": products and quotients of numbers and of the
/// atoms below, for an axis of kAxis and a block of `block` elements.
std::optional<double> evaluate(llvm::StringRef text, double block) {
  const std::pair<llvm::StringRef, double> atoms[] = {{"(n-1)", kAxis - 1},
                                                      {"n-1", kAxis - 1},
                                                      {"n", kAxis},
                                                      {"B", block},
                                                      {"L", block / kAxis}};
  double value = 1;
  bool divide = false;
  while (true) {
    text = text.trim();
    llvm::StringRef found = text.take_while(llvm::isDigit);
    double factor = 0;
    for (const auto &[atom, meaning] : atoms)
      if (found.empty() && text.starts_with(atom)) {
        found = atom;
        factor = meaning;
      }
    if (llvm::isDigit(found.empty() ? ' ' : found.front()))
      found.getAsDouble(factor);
    if (found.empty())
      return std::nullopt;
    value = divide ? value / factor : value * factor;
    text = text.drop_front(found.size()).trim();
    if (text.empty())
      return value;
    divide = text.front() == '/';
    if (!divide && text.front() != '*')
      return std::nullopt;
    text = text.drop_front();
  }
}

TEST(AxisStatesPage, Transitions) {
  std::vector<Row> rows = tableOf(
      "axis-states.md",
      "| from | to | is | elements sent by the busiest device | steps |");
  ASSERT_FALSE(rows.empty());
  std::set<std::string> transitions;
  for (const Row &row : rows) {
    SCOPED_TRACE(row[0] + " to " + row[1]);
    std::optional<AxisState> from = parseState(row[0]), to = parseState(row[1]);
    ASSERT_TRUE(from && to);
    TensorState state = {*from};
    std::optional<EdgeCost> cost = edge({{"x", kAxis}}, kShape, state, 0, *to);
    ASSERT_TRUE(cost);
    EXPECT_EQ(stringifyTransition(cost->transition).str(), row[2]);
    std::optional<double> sent = evaluate(row[3], kShape[0] * kShape[1]),
                          steps = evaluate(row[4], 1);
    ASSERT_TRUE(sent && steps) << row[3] << ", " << row[4];
    EXPECT_DOUBLE_EQ(cost->sentElements, *sent);
    EXPECT_EQ(cost->steps, *steps);
    transitions.insert(row[2]);
  }
  // Every transition there is stands in the table.
  for (unsigned t = 1; t <= static_cast<unsigned>(Transition::Send); ++t)
    EXPECT_TRUE(transitions.count(
        stringifyTransition(static_cast<Transition>(t)).str()))
        << stringifyTransition(static_cast<Transition>(t)).str();
}

TEST(CostsPage, SentPerDevice) {
  std::vector<Row> rows =
      tableOf("costs.md",
              "| kind | F: sent by the busiest device, in S | latencies K |");
  std::map<std::string, CollectiveKind> kinds;
  for (unsigned k = 0; k <= static_cast<unsigned>(CollectiveKind::Send); ++k)
    kinds[stringifyCollectiveKind(static_cast<CollectiveKind>(k)).str()] =
        static_cast<CollectiveKind>(k);
  EXPECT_EQ(rows.size(), kinds.size());
  for (const Row &row : rows) {
    SCOPED_TRACE(row[0]);
    ASSERT_TRUE(kinds.count(row[0]));
    std::optional<double> share = evaluate(row[1], 1);
    ASSERT_TRUE(share && evaluate(row[2], 1));
    llvm::Expected<Bytes> sent =
        sentPerDevice(kinds[row[0]], Bytes::fromBase(96), kAxis);
    ASSERT_TRUE(!!sent) << llvm::toString(sent.takeError());
    EXPECT_DOUBLE_EQ(sent->base(), 96 * *share);
  }
}

} // namespace
