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
#include <utility>
#include <variant>

namespace annudf::runtime::cuda {

namespace {

using Join = Predicate::Join;
using Step = DevicePredicate::Step;

/// Makes the steps of one search.
class Maker {
public:
  Maker(const SearchParams &params, const RowStore &index, const PredicateParts &parts,
        SearchStats &stats)
      : params(params), index(index), parts(parts), stats(stats) {}

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
    return made;
  }

private:
  void add(const std::shared_ptr<const RowFilter> &filter, bool negated) {
    addFilter({.negated = negated, .bits = parts.filters.get(filter.get())});
  }

  void add(const std::shared_ptr<const QueryBitmap> &bitmap, bool negated) {
    addFilter({.negated = negated,
               .bits = parts.filters.get(bitmap),
               .bitsOfQuery = static_cast<uint64_t>(bitmap->bits())});
  }

  void add(const Predicate::Code &code, bool negated) {
    const StoreCaptures ofStore(index, code.filter->artifact.manifest, *code.captures);
    addFilter({.negated = negated,
               .code = parts.scans.get(*code.filter, index.element(), kFilterWords, stats),
               .captures = parts.captures.get(ofStore.get()),
               .rowsAreSlots = ofStore.bySlot()});
  }

  void add(Join join, bool negated) {
    if (join == Join::Not) // Its operand is negated.
      return;
    made->steps.push_back({.isJoin = true, .both = (join == Join::And) != negated});
    --results;
  }

  void addFilter(Step step) {
    made->steps.push_back(std::move(step));
    made->depth = std::max(made->depth, ++results);
  }

  const SearchParams &params;
  const RowStore &index;
  const PredicateParts &parts;
  SearchStats &stats;
  const std::shared_ptr<DevicePredicate> made = std::make_shared<DevicePredicate>();
  uint64_t results = 0; ///< So far.
};

} // namespace

std::shared_ptr<const DevicePredicate> predicateOf(const SearchParams &params,
                                                   const RowStore &index,
                                                   const PredicateParts &parts,
                                                   SearchStats &stats) {
  return params.predicate ? Maker(params, index, parts, stats).make() : nullptr;
}

} // namespace annudf::runtime::cuda
