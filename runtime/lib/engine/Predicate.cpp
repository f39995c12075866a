//===- Predicate.cpp - Which rows each query may find ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Predicate.h"

#include "annudf/Support/Error.h"
#include "annudf/runtime/rows/RowStore.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace annudf::runtime {

QueryBitmap::QueryBitmap(std::vector<uint32_t> words, int64_t queries, int64_t bits)
    : words_(std::move(words)), queries_(queries), bits_(bits) {
  if (queries < 1 || bits < 1 || bits > std::numeric_limits<int64_t>::max() / 2 / queries)
    throw Error(ErrorKind::Usage, "bitmap: it has " + std::to_string(queries) + " queries and " +
                                      std::to_string(bits) +
                                      " bits for each; give a bit for each query and id");
  const int64_t all = queries * bits;
  if (!std::cmp_equal(words_.size(), RowFilter::wordsFor(all)))
    throw Error(ErrorKind::Usage, "bitmap: it has " + std::to_string(words_.size()) +
                                      " words for " + std::to_string(queries) + " x " +
                                      std::to_string(bits) + " bits; give " +
                                      std::to_string(RowFilter::wordsFor(all)));
  if (all % 32 != 0)
    words_.back() &= (uint32_t(1) << (all % 32)) - 1;
  for (const uint32_t word : words_)
    count_ += std::popcount(word);
}

/// Filters that are joined are for as many. \param known  0: any number.
static void join(int64_t &known, int64_t more, const char *what, const char *same) {
  if (known != 0 && more != 0 && known != more)
    throw Error(ErrorKind::Usage, "filters of " + std::to_string(known) + " and " +
                                      std::to_string(more) + " " + what +
                                      " cannot be joined; make them for the same " + same);
  known = std::max(known, more);
}

Predicate::Predicate(std::vector<Step> steps) : steps_(std::move(steps)) {
  int left = 0;
  for (const Step &step : steps_) {
    int64_t bits = 0, queries = 0;
    if (const auto *filter = std::get_if<std::shared_ptr<const RowFilter>>(&step))
      bits = (*filter)->bits();
    else if (const auto *bitmap = std::get_if<std::shared_ptr<const QueryBitmap>>(&step))
      bits = (*bitmap)->bits(), queries = (*bitmap)->queries();
    else if (const auto *code = std::get_if<Code>(&step);
             code && code->filter->artifact.manifest.hasQueryCaptures())
      queries = code->captures->extents().queries;
    join(bits_, bits, "bits", "index");
    join(queries_, queries, "queries", "search");
    const auto *join = std::get_if<Join>(&step);
    const int taken = !join ? 0 : *join == Join::Not ? 1 : 2;
    if (left < taken)
      throw Error(ErrorKind::Usage, "predicate: a join of " + std::to_string(taken) +
                                        " filters follows " + std::to_string(left) +
                                        "; give operands before their join");
    left += 1 - taken;
    depth_ = std::max(depth_, left);
  }
  if (left != 1)
    throw Error(ErrorKind::Usage, "predicate: its steps leave " + std::to_string(left) +
                                      " results; join them to one");
}

double Predicate::passingShare(int64_t rows) const {
  struct Share {
    double least, most;
  };
  // Ids that no row has may be among those that pass, or rows share ids.
  const auto counted = [&](double count, int64_t bits, double most) {
    const double least = rows > bits ? 0 : std::max(0.0, count - double(bits - rows));
    return Share{least / double(std::max<int64_t>(rows, 1)), most};
  };
  std::vector<Share> stack;
  const auto pop = [&] {
    const Share top = stack.back();
    stack.pop_back();
    return top;
  };
  const auto count = double(std::max<int64_t>(rows, 1));
  for (const Step &step : steps_) {
    if (const auto *bits = std::get_if<std::shared_ptr<const RowFilter>>(&step)) {
      const double most = (*bits)->passingShare(rows);
      stack.push_back(counted(double((*bits)->count()), (*bits)->bits(), most));
    } else if (const auto *map = std::get_if<std::shared_ptr<const QueryBitmap>>(&step)) {
      const double perQuery = double((*map)->count()) / double((*map)->queries());
      stack.push_back(counted(perQuery, (*map)->bits(), std::min(1.0, perQuery / count)));
    } else if (std::holds_alternative<Code>(step)) {
      stack.push_back({0, 1});
    } else if (const Share b = pop(); std::get<Join>(step) == Join::Not) {
      stack.push_back({1 - b.most, 1 - b.least});
    } else {
      const Share a = pop();
      stack.push_back(std::get<Join>(step) == Join::And
                          ? Share{std::max(0.0, a.least + b.least - 1), std::min(a.most, b.most)}
                          : Share{std::max(a.least, b.least), std::min(1.0, a.most + b.most)});
    }
  }
  return std::min(stack.back().most, std::nextafter(1.0, 0.0));
}

void checkBits(const std::string &what, int64_t bits, const RowStore &index) {
  if (bits < index.rowExtent())
    throw Error(ErrorKind::Usage,
                what + " " + std::to_string(bits) + " bits, the largest id of the index is " +
                    std::to_string(index.largestId()) + "; give it a bit for every id");
}

static void checkBitmap(const QueryBitmap &bitmap, const RowStore &index, const MatrixView &queries,
                        const SearchParams &params) {
  checkBits("each row of the bitmap has", bitmap.bits(), index);
  const bool isPart = params.ofQueries == 0 && params.firstQuery != 0;
  if (const int64_t all = extentsOf(index, queries, params).queries;
      bitmap.queries() != all || isPart)
    throw Error(ErrorKind::Usage, "the bitmap is for " + std::to_string(bitmap.queries()) +
                                      " queries, this search has " + std::to_string(all) +
                                      (isPart ? " of a larger one" : "") +
                                      "; give a row of bits for each query");
}

void checkPredicate(const Predicate &predicate, const RowStore &index, const MatrixView &queries,
                    const SearchParams &params) {
  for (const Predicate::Step &step : predicate.steps()) {
    if (const auto *bits = std::get_if<std::shared_ptr<const RowFilter>>(&step))
      checkBits("the filter has", (*bits)->bits(), index);
    else if (const auto *bitmap = std::get_if<std::shared_ptr<const QueryBitmap>>(&step))
      checkBitmap(**bitmap, index, queries, params);
    const auto *code = std::get_if<Predicate::Code>(&step);
    if (!code)
      continue;
    const MetricView filter = MetricView(*code->filter).asFilter();
    checkRole(filter);
    checkDims(filter, index.dims());
    if (params.ofQueries == 0)
      checkFirstQuery(filter, params.firstQuery);
    checkCaptures(filter, *code->captures, extentsOf(index, queries, params));
  }
}

} // namespace annudf::runtime
