//===- annudf/cpp/search.hpp - What every search does -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf/annudf.hpp, which is to be included.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_SEARCH_HPP
#define ANNUDF_CPP_SEARCH_HPP

#include "annudf-c/IvfFlat.h"
#include "annudf/cpp/params.hpp"

#include <limits>

namespace annudf {
inline namespace v0 {
namespace detail {

/// What the bodies of this header see of metrics and filters.
struct search_access {
  /// Null: it is not given.
  static const binding *if_given(const bound_metric &metric) { return metric.binding_.get(); }
  static const binding &of(const code_filter &filter) { return filter.known(); }
  /// \param otherwise  takes the place of a default one.
  static const binding &of(const bound_metric &metric, coarse otherwise) {
    return metric.binding_ ? *metric.binding_ : builtin(otherwise).known();
  }

private:
  static const bound_metric &builtin(coarse by) {
    // As long as the program: see backend::shared.
    switch (by) {
    case coarse::l2: {
      static const auto &l2 = *new bound_metric("l2");
      return l2;
    }
    case coarse::inner_product: {
      static const auto &inner_product = *new bound_metric("inner_product");
      return inner_product;
    }
    case coarse::cosine: {
      static const auto &cosine = *new bound_metric("cosine");
      return cosine;
    }
    }
    throw error(errc::internal, "no built-in metric ranks as this index clusters");
  }
};

inline search_stats stats_of(const annudf_ivf_flat_search_stats &cost) {
  search_stats stats = {cost.link_ms,   cost.upload_ms,   cost.search_ms,
                        cost.links,     cost.family,      cost.why,
                        cost.disk_hits, cost.cache_fault, cost.rows_per_query};
  stats.evaluated_per_query = cost.evaluated_per_query, stats.slow = cost.slow;
  stats.workspace_bytes = cost.workspace_bytes;
  stats.passing_share = cost.passing_share, stats.scored = cost.scored;
  stats.nan_distances = cost.nan_distances;
  stats.nan_query = cost.nan_query, stats.nan_row = cost.nan_row;
  stats.widened = cost.widened;
  for (int i = 0; i < cost.n_stages; ++i)
    stats.stages.emplace_back(cost.stages[i].name, cost.stages[i].ms);
  return stats;
}

/// Artifact, captures and options of one search. They stay where they are, and live until the call
/// has returned.
class prepared {
public:
  prepared(const binding &metric, const backend &on, const searched &rows, const filter &filter,
           const progress &progress, const std::stop_token &stop, search_stats *stats)
      : reporting_(progress, stop), entry_(metric.prepare(on, rows)), stats_(stats) {
    options_.size = sizeof options_;
    options_.progress = reporting_.function(), options_.progress_user = reporting_.user();
    options_.filter = filter.c();
    if (stats_)
      cost_.size = sizeof cost_;
  }
  /// \param params  search_params of ivf_flat or brute_force.
  template <class Params>
  prepared(const binding &metric, const backend &on, const searched &rows, const Params &params)
      : prepared(metric, on, rows, params.filter, params.progress, params.stop, params.stats) {
    family_ = params.family;
    if (family_.find('\0') != std::string::npos)
      throw error(errc::usage,
                  "family holds a NUL; give the name of a family of kernels, or leave it empty");
    options_.time_stages = params.time_stages;
    options_.family = family_.c_str();
    options_.skip_pairs = params.skip_pairs;
    if constexpr (requires { params.max_probes; }) {
      options_.max_probes = params.max_probes, options_.min_rows = params.min_rows;
      if (const binding *const second = search_access::if_given(params.refine.metric))
        set(params.refine.ratio, params.refine.stats, second->prepare(on, rows));
    }
    set(params.group_by);
  }
  prepared(const prepared &) = delete;
  prepared &operator=(const prepared &) = delete;

  const annudf_artifact *artifact() const noexcept { return entry_->code.c(); }
  const annudf_captures *captures() const noexcept { return entry_->captures.get(); }
  const annudf_ivf_flat_search_options *options() const noexcept { return &options_; }
  annudf_ivf_flat_search_stats *stats() noexcept { return stats_ ? &cost_ : nullptr; }
  /// What the call of C gave; throws, or hands statistics on.
  void finish(annudf_status status) {
    reporting_.check(status);
    if (stats_)
      *stats_ = stats_of(cost_);
    if (second_stats_)
      *second_stats_ = stats_of(second_cost_);
  }

private:
  void set(double ratio, search_stats *stats, std::shared_ptr<const binding::entry> entry) {
    second_entry_ = std::move(entry), second_stats_ = stats;
    second_cost_.size = sizeof second_cost_;
    second_ = {sizeof second_, second_entry_->code.c(), second_entry_->captures.get(), ratio,
               stats ? &second_cost_ : nullptr};
    options_.refine = &second_;
  }
  void set(const row_groups &group_by) {
    if (group_by.of.empty() && group_by.column.empty())
      return;
    column_ = group_by.column;
    groups_ = {sizeof groups_, group_by.of.empty() ? nullptr : group_by.of.data(),
               std::int64_t(group_by.of.size()), column_.empty() ? nullptr : column_.c_str()};
    options_.group_by = &groups_;
  }

  reporting reporting_;
  std::shared_ptr<const binding::entry> entry_;
  search_stats *stats_;
  std::string family_, column_;
  annudf_groups groups_ = {};
  std::shared_ptr<const binding::entry> second_entry_;
  search_stats *second_stats_ = nullptr;
  annudf_ivf_flat_search_stats second_cost_ = {};
  annudf_second_phase second_ = {};
  annudf_ivf_flat_search_options options_ = {};
  annudf_ivf_flat_search_stats cost_ = {};
};

/// Copies what a radius search of C found. \param search  gives the result, and the status.
template <class Search> radius_result radius_result_of(prepared &call, Search search) {
  annudf_radius_result *made = nullptr;
  const annudf_status status = search(&made);
  const owner<annudf_radius_result, annudf_radius_result_destroy> owner(made);
  call.finish(status);
  const annudf_radius_result_info &all = *annudf_radius_result_get(made);
  const std::int64_t count = all.offsets[all.queries];
  radius_result found;
  try {
    found.offsets.assign(all.offsets, all.offsets + all.queries + 1);
    found.neighbors.assign(all.ids, all.ids + count);
    found.distances.assign(all.distances, all.distances + count);
  } catch (const std::bad_alloc &) {
    throw error(errc::environment,
                "there is no memory for " + std::to_string(count) +
                    " neighbors within the radius; give a smaller radius or fewer queries");
  }
  return found;
}

inline const backend &host_or(const backend &given) { return given ? given : backend::shared(); }

/// The backend for queries in device memory.
inline const backend &device_or(const backend &given, std::int32_t device) {
  if (given && given.device() != device)
    throw error(errc::usage, "the queries are in memory of CUDA device " + std::to_string(device) +
                                 ", the backend is " + given.describe() +
                                 "; give the backend of that device, or none");
  return given ? given : backend::shared(device);
}

/// Before the call, as results need their room.
inline void check_k(std::int64_t k) {
  check(annudf_check_k(k, std::numeric_limits<std::int64_t>::max()));
}

inline search_result room_for(std::int64_t rows, std::int64_t k) {
  check_k(k);
  return {matrix<float>(rows, k, "distances"), matrix<std::int64_t>(rows, k, "neighbors")};
}

/// Refuses memory for results that is not just as large as they are.
inline void check_results(std::int64_t rows, std::int64_t k, std::size_t distances,
                          std::size_t neighbors) {
  check_k(k);
  const auto refuse = [&](const char *what, std::size_t size) {
    throw error(errc::usage, std::string(what) + " has " + std::to_string(size) +
                                 " entries; give k = " + std::to_string(k) + " for each of " +
                                 std::to_string(rows) + " queries");
  };
  const auto fits = [&](std::size_t size) {
    return rows >= 0 && size % std::size_t(k) == 0 && size / std::size_t(k) == std::size_t(rows);
  };
  if (!fits(distances))
    refuse("distances", distances);
  if (!fits(neighbors))
    refuse("neighbors", neighbors);
}

} // namespace detail
} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_SEARCH_HPP
