//===- RuleParser.cpp - The text form of rules ----------------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Rule.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace dtrain;

namespace {

/// Recursive descent over the text. Every parse function returns false after
/// recording the first error.
class RuleParser {
public:
  explicit RuleParser(llvm::StringRef text) : text(text) {}

  llvm::Expected<Rule> parse() {
    if (!parseRule())
      return llvm::createStringError(llvm::inconvertibleErrorCode(), error);
    if (llvm::Error e = rule.verify())
      return e;
    return rule;
  }

private:
  bool parseRule();
  bool parseTerms(llvm::SmallVectorImpl<RuleTerm> &terms, bool isResults);
  bool parseTerm(RuleTerm &term);
  bool parseDim(RuleTerm &term);
  bool parseClause();
  bool parseKinds(llvm::StringRef keyword);
  bool parseWindow();
  bool parseSum();
  bool parsePoly(std::optional<RulePoly> &poly);
  bool parseTouch();
  bool parseIndices(llvm::SmallVectorImpl<unsigned> &indices, size_t count,
                    llvm::StringRef what);
  bool parseIndexed();

  /// Parses a factor name that must be known already.
  bool parseKnownFactor(FactorId &id);
  /// Zero or more known factors.
  bool parseFactors(llvm::SmallVectorImpl<FactorId> &ids);
  /// An operand (or result) index below `count`.
  bool parseIndex(unsigned &index, size_t count, llvm::StringRef what);
  bool parseInt(int64_t &value);
  bool parseNumber(double &value);
  /// A factor or run name at the cursor; empty if there is none.
  llvm::StringRef lexName();
  bool atName();
  bool consume(llvm::StringRef token);
  bool fail(const llvm::Twine &expected);
  bool failAt(size_t offset, const llvm::Twine &message);
  bool once(bool &seen, llvm::StringRef keyword);
  void skipSpace() {
    while (pos < text.size() && llvm::isSpace(text[pos]))
      ++pos;
  }

  llvm::StringRef text;
  size_t pos = 0;
  Rule rule;
  std::string error;
  bool seenSum = false, seenKeep = false, seenContract = false,
       seenFlops = false, seenCopy = false;
  /// Factors with a kind or a reduction declared.
  llvm::SmallVector<FactorId> declared;
};

bool isLower(char c) { return c >= 'a' && c <= 'z'; }

bool RuleParser::failAt(size_t offset, const llvm::Twine &message) {
  if (error.empty())
    error = ("rule '" + text + "': " + message + " at offset " +
             llvm::Twine(offset))
                .str();
  return false;
}

bool RuleParser::fail(const llvm::Twine &expected) {
  skipSpace();
  if (pos == text.size())
    return failAt(pos, "expected " + expected + ", found end of text");
  llvm::StringRef rest = text.substr(pos);
  llvm::StringRef found = rest.take_while(
      [](char c) { return isLower(c) || llvm::isDigit(c) || c == '.'; });
  if (found.empty())
    found = rest.starts_with("->") ? rest.take_front(2) : rest.take_front(1);
  return failAt(pos, "expected " + expected + ", found '" + found + "'");
}

bool RuleParser::consume(llvm::StringRef token) {
  skipSpace();
  if (!text.substr(pos).starts_with(token))
    return false;
  pos += token.size();
  return true;
}

bool RuleParser::atName() {
  skipSpace();
  return pos < text.size() &&
         (isLower(text[pos]) || text.substr(pos).starts_with("..."));
}

llvm::StringRef RuleParser::lexName() {
  if (!atName())
    return {};
  llvm::StringRef name = text.substr(pos).take_while(
      [](char c) { return isLower(c) || llvm::isDigit(c); });
  if (text.substr(pos + name.size()).starts_with("..."))
    name = text.substr(pos, name.size() + 3);
  pos += name.size();
  return name;
}

bool RuleParser::parseInt(int64_t &value) {
  skipSpace();
  llvm::StringRef rest = text.substr(pos);
  size_t sign = rest.starts_with("-") ? 1 : 0;
  llvm::StringRef digits = rest.substr(sign).take_while(llvm::isDigit);
  if (digits.empty())
    return fail("an integer");
  llvm::StringRef token = rest.take_front(sign + digits.size());
  if (token.getAsInteger(10, value))
    return failAt(pos, "integer '" + token + "' is out of range");
  pos += token.size();
  return true;
}

bool RuleParser::parseNumber(double &value) {
  skipSpace();
  llvm::StringRef rest = text.substr(pos);
  size_t n = rest.take_while(llvm::isDigit).size();
  if (n == 0)
    return fail("a number");
  if (rest.substr(n).starts_with(".") && rest.size() > n + 1 &&
      llvm::isDigit(rest[n + 1]))
    n += 1 + rest.substr(n + 1).take_while(llvm::isDigit).size();
  if (rest.substr(n).starts_with("e+") || rest.substr(n).starts_with("e-")) {
    size_t digits = rest.substr(n + 2).take_while(llvm::isDigit).size();
    if (digits == 0) {
      pos += n + 2;
      return fail("the digits of an exponent");
    }
    n += 2 + digits;
  }
  if (rest.take_front(n).getAsDouble(value) || !std::isfinite(value))
    return failAt(pos, "number '" + rest.take_front(n) + "' is out of range");
  pos += n;
  return true;
}

bool RuleParser::parseIndex(unsigned &index, size_t count,
                            llvm::StringRef what) {
  skipSpace();
  size_t start = pos;
  int64_t value;
  if (!parseInt(value))
    return false;
  if (value < 0 || value >= static_cast<int64_t>(count))
    return failAt(start, "expected " + what + " below " + llvm::Twine(count) +
                             ", found " + llvm::Twine(value));
  index = static_cast<unsigned>(value);
  return true;
}

bool RuleParser::parseKnownFactor(FactorId &id) {
  skipSpace();
  size_t start = pos;
  llvm::StringRef name = lexName();
  if (name.empty())
    return fail("a factor");
  std::optional<FactorId> found = rule.find(name);
  if (!found)
    return failAt(start,
                  "expected a factor of the terms, found '" + name + "'");
  id = *found;
  return true;
}

bool RuleParser::parseFactors(llvm::SmallVectorImpl<FactorId> &ids) {
  while (atName()) {
    FactorId id;
    if (!parseKnownFactor(id))
      return false;
    ids.push_back(id);
  }
  return true;
}

bool RuleParser::parseRule() {
  if (!parseTerms(rule.operands, /*isResults=*/false))
    return false;
  if (!consume("->"))
    return fail("'->'");
  if (!parseTerms(rule.results, /*isResults=*/true))
    return false;
  while (consume("|"))
    if (!parseClause())
      return false;
  skipSpace();
  return pos == text.size() || fail("a dimension, ',' or '|'");
}

bool RuleParser::parseTerms(llvm::SmallVectorImpl<RuleTerm> &terms,
                            bool isResults) {
  skipSpace();
  // No text at all: no operands, but one scalar result.
  if (!isResults && text.substr(pos).starts_with("->"))
    return true;
  do {
    terms.emplace_back();
    if (!parseTerm(terms.back()))
      return false;
  } while (consume(","));
  return true;
}

bool RuleParser::parseTerm(RuleTerm &term) {
  size_t start = pos;
  if (consume("(")) {
    if (consume(")"))
      return true;
    pos = start;
  }
  while (true) {
    skipSpace();
    if (pos == text.size() || text[pos] == ',' || text[pos] == '|' ||
        text.substr(pos).starts_with("->"))
      return true;
    if (!parseDim(term))
      return false;
  }
}

bool RuleParser::parseDim(RuleTerm &term) {
  auto parseFactor = [&](RuleDim &dim, bool mayRun) {
    skipSpace();
    size_t start = pos;
    llvm::StringRef name = lexName();
    if (name.empty())
      return fail("a factor");
    bool isRun = name.ends_with("...");
    if (isRun && !mayRun)
      return failAt(start, "expected a factor in a compound, found run '" +
                               name + "'");
    std::optional<FactorId> id = rule.find(name);
    if (!id) {
      id = rule.factors.size();
      Rule::Factor factor;
      factor.name = name.str();
      factor.isRun = isRun;
      rule.factors.push_back(std::move(factor));
    }
    dim.factors.push_back(*id);
    return true;
  };

  RuleDim dim;
  if (consume("(")) {
    while (!consume(")"))
      if (!parseFactor(dim, /*mayRun=*/false))
        return false;
    if (dim.factors.size() < 2)
      return failAt(pos - 1, "expected at least two factors in a compound, "
                             "found ')'");
  } else if (pos < text.size() && llvm::isDigit(text[pos])) {
    size_t start = pos;
    int64_t value;
    if (!parseInt(value))
      return false;
    if (value != 1)
      return failAt(start, "expected '1' or a factor, found '" +
                               llvm::Twine(value) + "'");
  } else if (atName()) {
    if (!parseFactor(dim, /*mayRun=*/true))
      return false;
  } else {
    return fail("a dimension, ',' or '|'");
  }
  term.push_back(std::move(dim));
  return true;
}

bool RuleParser::once(bool &seen, llvm::StringRef keyword) {
  if (seen)
    return failAt(pos - keyword.size(),
                  "expected one clause '" + keyword + "', found another");
  seen = true;
  return true;
}

bool RuleParser::parseClause() {
  skipSpace();
  size_t start = pos;
  llvm::StringRef keyword = text.substr(pos).take_while(isLower);
  pos += keyword.size();
  if (keyword == "whole" || keyword == "stat" || keyword == "max" ||
      keyword == "min")
    return parseKinds(keyword);
  if (keyword == "window")
    return parseWindow();
  if (keyword == "sum")
    return once(seenSum, keyword) && parseSum();
  if (keyword == "contract")
    return once(seenContract, keyword) && parsePoly(rule.contract);
  if (keyword == "flops")
    return once(seenFlops, keyword) && parsePoly(rule.flops);
  if (keyword == "touch")
    return parseTouch();
  if (keyword == "copy")
    return once(seenCopy, keyword) &&
           parseIndices(rule.copy, rule.operands.size(), "an operand index");
  if (keyword == "index")
    return parseIndexed();
  if (keyword == "keep")
    return once(seenKeep, keyword) &&
           parseIndices(rule.keep, rule.results.size(), "a result index");
  pos = start;
  return fail("a clause (whole, stat, max, min, window, sum, keep, contract, "
              "flops, touch, copy or index)");
}

bool RuleParser::parseKinds(llvm::StringRef keyword) {
  do {
    skipSpace();
    size_t start = pos;
    FactorId id;
    if (!parseKnownFactor(id))
      return false;
    Rule::Factor &factor = rule.factors[id];
    if (llvm::is_contained(declared, id))
      return failAt(start, "expected one kind for factor '" + factor.name +
                               "', found a second: '" + keyword + "'");
    declared.push_back(id);
    if (keyword == "whole")
      factor.kind = FactorKind::Whole;
    else if (keyword == "stat")
      factor.kind = FactorKind::Stat;
    else
      factor.reduce = keyword == "max" ? ReduceOp::Max : ReduceOp::Min;
  } while (atName());
  return true;
}

bool RuleParser::parseWindow() {
  RuleWindow window;
  int64_t dim;
  if (!parseIndex(window.operand, rule.operands.size(), "an operand index"))
    return false;
  if (!consume("."))
    return fail("'.'");
  if (!parseInt(dim) || !parseKnownFactor(window.factor) ||
      !parseInt(window.lo) || !parseInt(window.hi))
    return false;
  // Out of range is for Rule::verify to say; a negative one is too.
  window.dim =
      dim < 0 || dim > UINT32_MAX ? UINT32_MAX : static_cast<unsigned>(dim);
  rule.windows.push_back(window);
  return true;
}

bool RuleParser::parseSum() {
  do {
    auto &product = rule.sum.emplace_back();
    do {
      unsigned index;
      if (!parseIndex(index, rule.operands.size(), "an operand index"))
        return false;
      product.push_back(index);
    } while (consume("*"));
  } while (consume("+"));
  return true;
}

bool RuleParser::parsePoly(std::optional<RulePoly> &poly) {
  poly.emplace();
  do {
    RuleMonomial monomial;
    if (!parseNumber(monomial.coef) || !parseFactors(monomial.factors))
      return false;
    poly->push_back(std::move(monomial));
  } while (consume("+"));
  return true;
}

bool RuleParser::parseTouch() {
  unsigned operand;
  if (!parseIndex(operand, rule.operands.size(), "an operand index"))
    return false;
  if (!consume(":"))
    return fail("':'");
  auto &touch = rule.touch.emplace_back();
  touch.first = operand;
  return parseFactors(touch.second);
}

bool RuleParser::parseIndices(llvm::SmallVectorImpl<unsigned> &indices,
                              size_t count, llvm::StringRef what) {
  do {
    unsigned index;
    if (!parseIndex(index, count, what))
      return false;
    indices.push_back(index);
    skipSpace();
  } while (pos < text.size() && text[pos] != '|');
  return true;
}

bool RuleParser::parseIndexed() {
  auto &[operand, factor] = rule.index.emplace_back();
  return parseIndex(operand, rule.operands.size(), "an operand index") &&
         parseKnownFactor(factor);
}

} // namespace

llvm::Expected<Rule> Rule::parse(llvm::StringRef text) {
  return RuleParser(text).parse();
}
