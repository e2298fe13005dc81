//===- Amount.cpp - Amounts over sizes and mesh axes ----------------------===//
//
// Part of the dtrain project, under the Apache License v2.0 with LLVM
// Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "dtrain/Model/Step/Amount.h"
#include "../Checks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

using namespace dtrain;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;

llvm::hash_code dtrain::hash_value(const Extent &extent) {
  return llvm::hash_combine(
      extent.size, extent.value,
      llvm::hash_combine_range(extent.axes.begin(), extent.axes.end()));
}
llvm::hash_code dtrain::hash_value(const Product &product) {
  return llvm::hash_combine(
      llvm::bit_cast<uint64_t>(product.coef),
      llvm::hash_combine_range(product.extents.begin(), product.extents.end()));
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

int64_t dtrain::localProduct(llvm::ArrayRef<Extent> extents,
                             const Scale &scale) {
  int64_t product = 1;
  for (const Extent &extent : extents)
    product *= scale.local(extent);
  return product;
}

template <typename F>
static double sumOf(llvm::ArrayRef<Product> terms, F valueOf) {
  double sum = 0;
  for (const Product &term : terms) {
    double product = term.coef;
    for (const Extent &extent : term.extents)
      product *= valueOf(extent);
    sum += product;
  }
  return sum;
}

double Sum::local(const Scale &scale) const {
  return sumOf(terms,
               [&](const Extent &e) -> double { return scale.local(e); });
}
double Sum::mean(const Scale &scale) const {
  return sumOf(terms, [&](const Extent &e) {
    return static_cast<double>(scale.whole(e)) / scale.degreeOf(e);
  });
}
double Sum::total(const Scale &scale) const {
  return sumOf(terms,
               [&](const Extent &e) -> double { return scale.whole(e); });
}

void Sum::add(const Product &product) {
  for (Product &term : terms)
    if (term.extents == product.extents) {
      term.coef += product.coef;
      return;
    }
  terms.push_back(product);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string print(const Extent &extent) {
  std::string text =
      extent.size.empty() ? std::to_string(extent.value) : extent.size;
  for (const std::string &axis : extent.axes)
    text += "/" + axis;
  return text;
}

std::string dtrain::printExtents(llvm::ArrayRef<Extent> extents) {
  if (extents.empty())
    return "1";
  return llvm::join(llvm::map_range(extents, print), " ");
}

static bool isName(StringRef text) {
  return !text.empty() && !llvm::isDigit(text.front()) &&
         llvm::all_of(text, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '.' || c == '-';
         });
}

static Expected<Extent> parseExtent(StringRef text) {
  llvm::SmallVector<StringRef, 3> parts;
  text.split(parts, '/');
  Extent extent;
  if (isName(parts.front()))
    extent.size = parts.front().str();
  else if (parts.front().getAsInteger(10, extent.value) || extent.value < 1)
    return makeError("expected the name of a size or a whole number, found '" +
                     parts.front() + "'");
  for (StringRef axis : llvm::drop_begin(parts)) {
    if (!isName(axis))
      return makeError("expected the name of an axis after '/', found '" +
                       axis + "'");
    extent.axes.push_back(axis.str());
  }
  return extent;
}

static Expected<Extents> parseWords(llvm::ArrayRef<StringRef> words) {
  Extents extents;
  for (StringRef word : words) {
    Expected<Extent> extent = parseExtent(word);
    if (!extent)
      return extent.takeError();
    extents.push_back(std::move(*extent));
  }
  return extents;
}

static llvm::SmallVector<StringRef, 8> wordsOf(StringRef text) {
  llvm::SmallVector<StringRef, 8> words;
  llvm::SplitString(text, words);
  return words;
}

Expected<Extents> dtrain::parseExtents(StringRef text) {
  Expected<Extents> extents = parseWords(wordsOf(text));
  // "1" is the empty product.
  if (extents && extents->size() == 1 && extents->front() == Extent())
    extents->clear();
  return extents;
}

static bool hasUnit(Dimension dim) { return !(dim == Dimension{}); }

std::string Sum::str(Dimension dim) const {
  if (terms.empty())
    return printQuantity(0, dim);
  auto print = [&](const Product &term) {
    std::string text =
        hasUnit(dim) ? printQuantity(term.coef, dim) : printDouble(term.coef);
    for (const Extent &extent : term.extents)
      text += " " + ::print(extent);
    return text;
  };
  return llvm::join(llvm::map_range(terms, print), " + ");
}

static Expected<Product> parseProduct(StringRef text, Dimension dim) {
  llvm::SmallVector<StringRef, 8> words = wordsOf(text);
  Product product;
  if (words.empty() || words.front().getAsDouble(product.coef))
    return makeError("expected a number" +
                     llvm::Twine(hasUnit(dim) ? " and its unit" : "") +
                     ", found '" + text.trim() + "'");
  llvm::ArrayRef<StringRef> rest = llvm::ArrayRef(words).drop_front();
  if (hasUnit(dim)) {
    StringRef unit = rest.empty() ? "" : rest.front();
    Expected<double> value = toBaseUnits(product.coef, unit, dim);
    if (!value)
      return value.takeError();
    product.coef = *value;
    rest = rest.drop_front();
  }
  if (Error e = requireAmount("amount", Ratio::fromBase(product.coef)))
    return e;
  Expected<Extents> extents = parseWords(rest);
  if (!extents)
    return extents.takeError();
  product.extents = std::move(*extents);
  return product;
}

Expected<Sum> Sum::parse(StringRef text, Dimension dim) {
  Sum sum;
  llvm::SmallVector<StringRef, 4> products;
  text.split(products, " + ");
  for (StringRef product : products) {
    Expected<Product> term = parseProduct(product, dim);
    if (!term)
      return term.takeError();
    if (term->coef != 0)
      sum.terms.push_back(std::move(*term));
  }
  return sum;
}
