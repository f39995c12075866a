//===- Filter.cpp - Captures and filters of a search's arguments -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"

#include "annudf/runtime/engine/FilterCode.h"
#include "annudf/runtime/engine/Predicate.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <cstring>

using namespace annudf;
using namespace annudf::tool;

[[noreturn]] static void refuse(const char *option, const std::string &pair,
                                const std::string &why) {
  throw Error(ErrorKind::Usage, std::string(option) + " " + pair + ": " + why);
}

std::map<std::string, runtime::NumericArray>
tool::readCaptures(const std::vector<std::string> &pairs, const char *option, const char *form) {
  std::map<std::string, runtime::NumericArray> values;
  for (const std::string &pair : pairs) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size())
      refuse(option, pair, std::string("expected ") + form);
    const std::string name = pair.substr(0, equals);
    if (!values.emplace(name, runtime::readCapture(pair.substr(equals + 1))).second)
      refuse(option, pair, name + " is given twice");
  }
  return values;
}

/// Booleans, one an id, or words of a bitset as cuVS lays it out.
static runtime::RowFilter filterOf(const runtime::NumericArray &array) {
  const bool isMask = array.dtype == "b1";
  if (array.shape.size() != 1 || array.shape[0] == 0 || (!isMask && array.dtype != "u32")) {
    std::string shape;
    for (const int64_t size : array.shape)
      shape += std::to_string(size) + " x ";
    throw Error(ErrorKind::Input, array.origin + ": holds " + shape + array.dtype +
                                      "; a filter is a vector of bool, one entry an id, or of "
                                      "uint32, whose bits are the ids'");
  }
  const int64_t bits = isMask ? array.shape[0] : array.shape[0] * 32;
  std::vector<uint32_t> words(static_cast<size_t>(runtime::RowFilter::wordsFor(bits)));
  if (!isMask)
    std::memcpy(words.data(), array.storage.data(), words.size() * sizeof(uint32_t));
  else
    for (size_t id = 0; id < array.storage.size(); ++id)
      words[id / 32] |= uint32_t(array.storage[id] != std::byte(0)) << (id % 32);
  return {std::move(words), bits};
}

void tool::loadFilter(runtime::SearchParams &params, const std::string &path,
                      const std::vector<std::string> &captures, bool allowNonFinite,
                      runtime::Backend &backend, const runtime::Index &index, int64_t queries,
                      bool onGpu, bool ofOwnRows, double *filterMs) {
  const auto start = std::chrono::steady_clock::now();
  const auto values = readCaptures(captures, "--filter-capture");
  if (path.ends_with(".npy")) {
    if (!values.empty())
      throw Error(ErrorKind::Usage,
                  "--filter-capture " + captures.front() + ": " + path +
                      " is a filter of bits, which has no captures; leave it out");
    params.filter = std::make_shared<runtime::RowFilter>(filterOf(runtime::readCapture(path)));
    const int64_t words = runtime::RowFilter::wordsFor(params.filter->bits());
    if (ofOwnRows && words > runtime::RowFilter::wordsFor(index.size()))
      throw Error(ErrorKind::Usage, path + ": has " + std::to_string(params.filter->bits()) +
                                        " bits, --base has " + std::to_string(index.size()) +
                                        " rows; give a bit for each row");
  } else {
    double compileMs = 0;
    auto filter = std::make_shared<const runtime::Metric>(loadMetric(path, onGpu, &compileMs));
    // A metric is told before its captures are.
    checkRole(runtime::MetricView(*filter).asFilter());
    const bool seesQuery = filter->artifact.manifest.seesQuery;
    auto bound = bind(*filter, {index.dims(), index.rowExtent(), seesQuery ? queries : 1}, index,
                      values, allowNonFinite);
    if (ofOwnRows)
      runtime::checkOwnRows(bound, index.size());
    if (seesQuery)
      params.predicate = std::make_shared<const runtime::Predicate>(
          std::vector<runtime::Predicate::Step>{runtime::Predicate::Code{
              std::move(filter),
              std::make_shared<const runtime::BoundCaptures>(std::move(bound))}});
    else
      params.filter = std::make_shared<runtime::RowFilter>(
          runtime::keptRows(backend, index, *filter, bound, 0, progressBar(true)));
  }
  *filterMs = msSince(start);
}
