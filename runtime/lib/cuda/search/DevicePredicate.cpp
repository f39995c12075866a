//===- DevicePredicate.cpp - A predicate as batches compute it ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DevicePredicate.h"

#include "annudf/runtime/engine/Columns.h"

#include <algorithm>
#include <string>
#include <utility>
#include <variant>

namespace annudf::runtime::cuda {

namespace {

using Join = Predicate::Join;
using Step = DevicePredicate::Step;

/// Makes the steps of one search.
class Maker {
public:
  Maker(const SearchParams &params, const RowStore &index, const MatrixView &queries,
        const PredicateParts &parts, SearchStats &stats)
      : params(params), index(index), queries(queries), parts(parts), stats(stats) {}

  std::shared_ptr<const DevicePredicate> make() {
    std::vector<Predicate::Step> given(params.predicate->steps().begin(),
                                       params.predicate->steps().end());
    if (params.filter) {
      given.emplace_back(params.filter);
      given.emplace_back(Join::And);
    }
    // Whether each step is wanted negated: from the last on, as filters are negated in place of
    // joins, ~(a & b) being ~a | ~b.
    std::vector<bool> negated(given.size()), wanted = {false};
    for (size_t i = given.size(); i-- > 0;) {
      negated[i] = wanted.back();
      wanted.pop_back();
      if (const Join *join = std::get_if<Join>(&given[i]))
        wanted.insert(wanted.end(), *join == Join::Not ? 1 : 2, (*join == Join::Not) != negated[i]);
    }
    for (size_t i = 0; i < given.size(); ++i)
      std::visit([&](const auto &step) { add(step, negated[i]); }, given[i]);
    made->passingShare = shares.front();
    return made;
  }

private:
  void add(const std::shared_ptr<const RowFilter> &filter, bool negated) {
    checkBits("filter", filter->bits());
    addFilter({.negated = negated, .bits = parts.filters.get(filter.get())},
              double(negated ? filter->bits() - filter->count() : filter->count()));
  }

  void add(const std::shared_ptr<const QueryBitmap> &bitmap, bool negated) {
    checkBits("bitmap", bitmap->bits());
    if (params.firstQuery != 0 || bitmap->queries() != queries.rows)
      throw Error(ErrorKind::Usage, "the bitmap is of " + std::to_string(bitmap->queries()) +
                                        " queries, this search has " +
                                        std::to_string(queries.rows) + " from number " +
                                        std::to_string(params.firstQuery) +
                                        " on; give bits for each query of one search");
    const int64_t all = bitmap->queries() * bitmap->bits();
    addFilter({.negated = negated,
               .bits = parts.filters.get(bitmap),
               .bitsOfQuery = static_cast<uint64_t>(bitmap->bits())},
              double(negated ? all - bitmap->count() : bitmap->count()) /
                  double(bitmap->queries()));
  }

  void add(const Predicate::Code &code, bool negated) {
    MetricView filter = *code.filter;
    filter.as = ANNUDF_ROLE_FILTER;
    checkRole(filter);
    const Manifest &manifest = filter.artifact.manifest;
    checkCaptures(filter, *code.captures, extentsOf(index, queries));
    if (params.firstQuery != 0 && hasExtent(manifest.captures, ExtentBound::Queries))
      throw Error(ErrorKind::Usage, "filter '" + manifest.name +
                                        "' has captures of queries, so all queries are searched "
                                        "at once, from number 0");
    const StoreCaptures ofStore(index, manifest, *code.captures);
    addFilter({.negated = negated,
               .code = parts.scans.get(filter, index.element(), kFilterWords, stats),
               .captures = parts.captures.get(ofStore.get()),
               .rowsAreSlots = ofStore.bySlot()},
              double(index.size()));
  }

  void add(Join join, bool negated) {
    if (join == Join::Not) // Its operand is negated.
      return;
    const bool both = (join == Join::And) != negated;
    made->steps.push_back({.isJoin = true, .both = both});
    const double last = shares.back();
    shares.pop_back();
    shares.back() = both ? std::min(shares.back(), last) : std::min(1.0, shares.back() + last);
  }

  /// \param passing  rows of the index that pass for a query, at most: ids that no row has may too.
  void addFilter(Step step, double passing) {
    made->steps.push_back(std::move(step));
    shares.push_back(std::min(1.0, passing / double(index.size())));
    made->depth = std::max<uint64_t>(made->depth, shares.size());
  }

  void checkBits(const char *what, int64_t bits) const {
    if (bits < index.rowExtent())
      throw Error(ErrorKind::Usage, std::string("the ") + what + " has " + std::to_string(bits) +
                                        " bits, the largest id of the index is " +
                                        std::to_string(index.largestId()) +
                                        "; give it a bit for every id");
  }

  static constexpr ScanEntry kFilterWords = {ScanSource::Predicate, "annudf_filter_words"};

  const SearchParams &params;
  const RowStore &index;
  const MatrixView &queries;
  const PredicateParts &parts;
  SearchStats &stats;
  const std::shared_ptr<DevicePredicate> made = std::make_shared<DevicePredicate>();
  std::vector<double> shares; ///< That pass, of the results so far.
};

} // namespace

std::shared_ptr<const DevicePredicate> predicateOf(const SearchParams &params,
                                                   const RowStore &index, const MatrixView &queries,
                                                   const PredicateParts &parts,
                                                   SearchStats &stats) {
  return params.predicate ? Maker(params, index, queries, parts, stats).make() : nullptr;
}

} // namespace annudf::runtime::cuda
