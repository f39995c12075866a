//===- Goal.cpp - What a query must find before it is done ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Goal.h"

#include "annudf/Support/ArgumentError.h"
#include "annudf/runtime/engine/Columns.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <unordered_set>

namespace annudf::runtime {
namespace {

[[noreturn]] void refuse(ArgumentFault fault, const std::string &rest) {
  throw ArgumentError(ErrorKind::Usage, std::move(fault), rest);
}

/// How a query is searched.
struct Way {
  uint32_t probes;
  int64_t kept; ///< Rows that are asked for.
  auto operator<=>(const Way &) const = default;
};

/// A search for groups asks for k times so many rows, and for so many times more while there are
/// too few groups: what a group's other rows take of it is not known before.
constexpr int64_t kGrowth = 4;

class ToGoal {
public:
  ToGoal(const GoalSearch &of, int k, const SearchParams &params, const SearchGoal &goal,
         const SearchOfPart &search, int64_t *ids, float *distances, SearchStats *stats)
      : of_(of), k_(k), params_(params), goal_(goal), search_(search), ids_(ids),
        distances_(distances), stats_(stats), rows_(std::min<int64_t>(of.rows, ANNUDF_MAX_K)) {}

  void run();

private:
  /// Lists that were asked for.
  uint32_t asked() const {
    const auto *ranked = std::get_if<Lists>(&params_.candidates);
    return ranked ? std::min(ranked->probes, of_.lists) : of_.lists;
  }
  Way firstWay() const;
  void searchAll(const Way &way, const std::vector<int64_t> &queries);
  /// \param queries  those in the part that are not done.
  void searchPart(const Way &way, const QueryPart &part, std::span<const int64_t> queries);
  /// \param place  of the query in its part.
  void settle(const Way &way, int64_t query, size_t place, const int64_t *ids,
              const float *distances);
  /// Which of the rows that were found are results. \param found  how many were.
  std::vector<int64_t> chosen(const int64_t *ids, int64_t found) const;
  /// How to go on with what was found, if that is not enough.
  /// \param mayBeMore  rows in the lists than were asked for.
  std::optional<Way> next(const Way &way, bool mayBeMore, int64_t found, int64_t taken);
  /// Whether to go on, with so many queries done.
  bool tell(double done);

  const GoalSearch &of_;
  const int k_;
  const SearchParams &params_;
  const SearchGoal &goal_;
  const SearchOfPart &search_;
  int64_t *const ids_;
  float *const distances_;
  SearchStats *const stats_;
  const int64_t rows_; ///< That a search may ask for.
  Way first_ = {};
  int64_t groups_ = 0;                       ///< How many there are, once that was asked.
  std::map<Way, std::vector<int64_t>> open_; ///< Queries that are not done.
  int64_t done_ = 0;
  double told_ = 0;
  std::vector<int64_t> found_; ///< What the last part gave.
  std::vector<float> foundDistances_;
};

Way ToGoal::firstWay() const {
  const int64_t kept =
      std::max<int64_t>(goal_.groups ? k_ * kGrowth : k_, std::min(goal_.minRows, rows_));
  double probes = asked();
  // So many lists hold as many rows that pass as the probes asked for hold rows.
  if (const double most = double(std::min<int64_t>(goal_.maxProbes, of_.lists));
      params_.filter && probes < most)
    probes = std::min(most, std::ceil(probes / std::max(params_.filter->passingShare(of_.rows),
                                                        std::numeric_limits<double>::min())));
  return {static_cast<uint32_t>(probes), std::min(kept, rows_)};
}

void ToGoal::run() {
  if (of_.queries == 0) // Which the search refuses.
    return search_({0, 0}, k_, params_, ids_, distances_, stats_);
  first_ = firstWay();
  auto &all = open_[first_];
  all.resize(static_cast<size_t>(of_.queries));
  std::iota(all.begin(), all.end(), int64_t(0));
  while (!open_.empty()) {
    auto some = open_.extract(open_.begin());
    std::ranges::sort(some.mapped()); // Two ways may lead to one.
    searchAll(some.key(), some.mapped());
  }
}

void ToGoal::searchAll(const Way &way, const std::vector<int64_t> &queries) {
  // Queries between two that are not done are searched in vain, where that takes less time than
  // another call.
  const int64_t most = std::max<int64_t>(1, kMostResults / way.kept);
  for (size_t begin = 0, end = 0; begin < queries.size(); begin = end) {
    const int64_t first = queries[begin];
    for (end = begin + 1; end < queries.size(); ++end)
      if (queries[end] - queries[end - 1] > of_.queriesOfACall || queries[end] - first >= most)
        break;
    searchPart(way, {first, queries[end - 1] - first + 1}, {&queries[begin], end - begin});
  }
}

bool ToGoal::tell(double done) {
  told_ = std::max(told_, done / double(of_.queries)); // Queries of a part may have to go on.
  return !params_.progress || params_.progress("search", told_);
}

void ToGoal::searchPart(const Way &way, const QueryPart &part, std::span<const int64_t> queries) {
  SearchParams params = partOf(params_, part, of_.queries);
  if (std::holds_alternative<Lists>(params.candidates))
    params.candidates = Lists{way.probes};
  report(params_.progress, "search", told_); // A search on a device does not.
  const auto count = double(queries.size());
  if (params_.progress)
    params.progress = [&](const char *, double done) {
      return tell(double(done_) + done * 0.5 * count);
    };
  const auto kept = static_cast<size_t>(way.kept);
  found_.resize(static_cast<size_t>(part.count) * kept), foundDistances_.resize(found_.size());
  SearchStats cost;
  search_(part, static_cast<int>(way.kept), params, found_.data(), foundDistances_.data(),
          stats_ ? &cost : nullptr);
  for (const int64_t query : queries) {
    const auto place = static_cast<size_t>(query - part.first);
    settle(way, query, place, found_.data() + place * kept, foundDistances_.data() + place * kept);
  }
  told_ = std::max(told_, double(done_) / double(of_.queries));
  report(params_.progress, "search", told_);
  if (!stats_)
    return;
  // Queries that go on had their share in their first search.
  const double share = double(part.count) / double(of_.queries),
               passing = stats_->passingShare + (way == first_ ? cost.passingShare * share : 0);
  addPart(*stats_, cost, share);
  stats_->passingShare = passing;
}

std::vector<int64_t> ToGoal::chosen(const int64_t *ids, int64_t found) const {
  std::vector<int64_t> places;
  if (!goal_.groups) {
    places.resize(static_cast<size_t>(std::min<int64_t>(found, k_)));
    std::iota(places.begin(), places.end(), int64_t(0));
    return places;
  }
  std::unordered_set<int64_t> seen;
  for (int64_t place = 0; place < found && std::ssize(places) < k_; ++place)
    if (seen.insert(goal_.groups->ofId[ids[place]]).second)
      places.push_back(place);
  return places;
}

std::optional<Way> ToGoal::next(const Way &way, bool mayBeMore, int64_t found, int64_t taken) {
  if (goal_.groups && taken < k_ && mayBeMore && way.kept < rows_) {
    if (groups_ == 0) {
      const int64_t *const of = goal_.groups->ofId;
      groups_ = std::ssize(std::unordered_set<int64_t>(of, of + goal_.groups->ids));
    }
    if (taken < groups_)
      return Way{way.probes, std::min(kGrowth * way.kept, rows_)};
  }
  const auto most = static_cast<uint32_t>(std::min<int64_t>(goal_.maxProbes, of_.lists));
  if ((taken < k_ || found < std::min(goal_.minRows, rows_)) && way.probes < most)
    return Way{std::min(2 * way.probes, most), way.kept};
  return std::nullopt;
}

void ToGoal::settle(const Way &way, int64_t query, size_t place, const int64_t *ids,
                    const float *distances) {
  const int64_t found = std::find(ids, ids + way.kept, -1) - ids;
  const std::vector<int64_t> places = chosen(ids, found);
  const bool mayBeMore = of_.full ? (*of_.full)[place] != 0 : found == way.kept;
  if (const auto more = next(way, mayBeMore, found, std::ssize(places))) {
    open_[*more].push_back(query);
    return;
  }
  ++done_;
  if (stats_)
    stats_->widened += way.probes > asked();
  int64_t *const toIds = ids_ + query * k_;
  float *const toDistances = distances_ + query * k_;
  const float worst =
      (of_.order == ANNUDF_ORDER_MIN ? 1.0F : -1.0F) * std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < k_; ++i) {
    const bool is = i < std::ssize(places);
    toIds[i] = is ? ids[places[size_t(i)]] : -1;
    toDistances[i] = is ? distances[places[size_t(i)]] : worst;
  }
}

} // namespace

void checkGoal(const SearchGoal &goal, int64_t nProbes) {
  const std::string max = std::to_string(goal.maxProbes), rows = std::to_string(goal.minRows);
  if (goal.maxProbes < 0 || (goal.maxProbes != 0 && goal.maxProbes < nProbes))
    refuse({"max_probes", max, "n_probes or more"},
           " is " + max + ", n_probes is " + std::to_string(nProbes) + "; give no fewer");
  if (goal.minRows < 0)
    refuse({"min_rows", rows, "0 or more"}, " is " + rows + "; give 0 or more");
  if (goal.minRows != 0 && goal.maxProbes == 0)
    refuse({"min_rows", rows}, " is " + rows + ", but there is no max_probes; give it, too");
}

void checkGroups(const RowGroups &groups, int64_t rowExtent) {
  if (groups.ids >= rowExtent)
    return;
  const std::string entries = std::to_string(groups.ids);
  refuse({"group_by", entries}, " has " + entries + " entries, the largest id is " +
                                    std::to_string(rowExtent - 1) +
                                    "; give one entry for every id");
}

int64_t queriesOfACall(const Backend &backend) { return backend.machine().arch == 0 ? 2 : 256; }

GoalSearch goalSearchOf(const Backend &backend, const RowStore &index, const MetricView &metric,
                        int64_t queries) {
  return {queries, index.size(), index.nLists(), metric.artifact.manifest.order,
          queriesOfACall(backend)};
}

void searchToGoal(const GoalSearch &of, int k, const SearchParams &params, const SearchGoal &goal,
                  const SearchOfPart &search, int64_t *ids, float *distances, SearchStats *stats) {
  checkK(k, of.rows);
  if (stats)
    *stats = {.passingShare = 0};
  ToGoal(of, k, params, goal, search, ids, distances, stats).run();
}

} // namespace annudf::runtime
