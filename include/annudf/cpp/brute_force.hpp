//===- annudf/cpp/brute_force.hpp - Exact search, all distances --*- C++ -*-===//
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

#ifndef ANNUDF_CPP_BRUTE_FORCE_HPP
#define ANNUDF_CPP_BRUTE_FORCE_HPP

#include "annudf-c/BruteForce.h"
#include "annudf/cpp/ivf_flat.hpp"

namespace annudf {
inline namespace v0 {

/// Exact search: every row is looked at. Names are those of cuvs::neighbors::brute_force.
namespace brute_force {

struct search_params {
  bound_metric metric = {}; ///< Default: that of the index, of knn squared L2.
  annudf::v0::filter filter = {};
  annudf::v0::backend backend = {};
  annudf::v0::progress progress = {};
  std::stop_token stop = {};
  search_stats *stats = nullptr;
  bool time_stages = false; ///< Stage by stage, too.
  std::string family = {};  ///< As of ivf_flat::search_params.
  bool skip_pairs = false;  ///< As of ivf_flat::search_params.
  row_groups group_by = {}; ///< As of ivf_flat::search_params.
};

/// Rows to search exactly, with the metric to rank them by.
class index {
public:
  annudf::element element() const noexcept { return rows_.element(); }
  std::int64_t dim() const noexcept { return rows_.dim(); }
  std::int64_t size() const noexcept { return rows_.size(); }
  const bound_metric &metric() const noexcept { return metric_; }
  /// The same rows as an index of one list.
  const ivf_flat::index &rows() const noexcept { return rows_; }
  ivf_flat::index &rows() noexcept { return rows_; }

  index(ivf_flat::index rows, bound_metric metric)
      : rows_(std::move(rows)), metric_(std::move(metric)) {}

private:
  ivf_flat::index rows_;
  bound_metric metric_;
};

struct index_params {
  bound_metric metric = {};    ///< Default: squared L2.
  bool missing_values = false; ///< A coordinate may be NaN; the metric must say what that means.
  std::int32_t threads = 0;    ///< 0: all cores.
  annudf::v0::progress progress = {};
  std::stop_token stop = {};
};

namespace impl {
inline index stored(const index_params &params, annudf_backend *on, const annudf_vectors &rows,
                    const row_ids &ids) {
  ivf_flat::impl::check_ids(ids, rows);
  detail::reporting reporting(params.progress, params.stop);
  annudf_brute_force_build_options options = {};
  options.size = sizeof options;
  options.threads = params.threads;
  options.missing_values = params.missing_values;
  options.progress = reporting.function(), options.progress_user = reporting.user();
  annudf_ivf_flat_index *made = nullptr;
  const annudf_ids numbers = ids.c();
  const annudf_status status = annudf_brute_force_build(on, &rows, ids.empty() ? nullptr : &numbers,
                                                        &options, &made, nullptr);
  ivf_flat::index result(made);
  reporting.check(status);
  return {std::move(result), params.metric};
}
} // namespace impl

/// Copies the rows to a store in host memory.
/// \param ids  one for each row, 0 or above and different; empty: 0, 1, ....
inline index build(const index_params &params, const vectors &dataset, const row_ids &ids = {}) {
  return impl::stored(params, nullptr, dataset.c(), ids);
}
/// The same of rows in device memory, which stay there, when the stream has got to where they are
/// written.
inline index build(const index_params &params, const device_vectors &dataset,
                   const row_ids &ids = {}) {
  return impl::stored(params, backend::shared(dataset.device()).c(), dataset.c(), ids);
}
/// The same of rows in host memory, which go to the backend's device a piece at a time.
inline index build(const index_params &params, const vectors &dataset, const backend &on,
                   const row_ids &ids = {}) {
  return impl::stored(params, on.c(), dataset.c(), ids);
}

namespace impl {
inline ivf_flat::search_params one_list(const index &in, const search_params &params) {
  return {.n_probes = 1,
          .metric = params.metric ? params.metric : in.metric(),
          .filter = params.filter,
          .backend = params.backend,
          .progress = params.progress,
          .stop = params.stop,
          .stats = params.stats,
          .time_stages = params.time_stages,
          .family = params.family,
          .skip_pairs = params.skip_pairs,
          .group_by = params.group_by};
}
} // namespace impl

/// The k best of all rows for each query.
inline search_result search(const index &in, const vectors &queries, std::int64_t k,
                            const search_params &params = {}) {
  return ivf_flat::search(in.rows(), queries, k, impl::one_list(in, params));
}
/// The same into memory of the caller's.
inline void search(const index &in, const vectors &queries, std::int64_t k,
                   std::span<float> distances, std::span<std::int64_t> neighbors,
                   const search_params &params = {}) {
  ivf_flat::search(in.rows(), queries, k, distances, neighbors, impl::one_list(in, params));
}
/// The same in device memory, enqueued on the queries' stream.
inline void search(const index &in, const device_vectors &queries, std::int64_t k,
                   device_matrix_view<float> distances, device_matrix_view<std::int64_t> neighbors,
                   const search_params &params = {}) {
  ivf_flat::search(in.rows(), queries, k, distances, neighbors, impl::one_list(in, params));
}

namespace impl {
inline void knn(const backend &on, const annudf_vectors &dataset, const annudf_vectors &queries,
                std::int64_t k, float *distances, std::int64_t *neighbors,
                const search_params &params) {
  detail::prepared call(detail::search_access::of(params.metric, coarse::l2), on, dataset.dims,
                        params);
  call.finish(annudf_brute_force_knn(on.c(), call.artifact(), call.captures(), &dataset, &queries,
                                     k, call.options(), neighbors, distances, call.stats()));
}
} // namespace impl

/// The k best of all rows of `dataset` for each query, in one call, which stores a piece of the
/// rows at a time. Who searches the same rows again builds an index once.
inline search_result knn(const vectors &dataset, const vectors &queries, std::int64_t k,
                         const search_params &params = {}) {
  search_result found = detail::room_for(queries.rows(), k);
  impl::knn(detail::host_or(params.backend), dataset.c(), queries.c(), k, found.distances.data(),
            found.neighbors.data(), params);
  return found;
}
/// The same of rows and queries in device memory: enqueued on the queries' stream, when the rows'
/// stream has got to where they are written. The rows are copied on the device.
inline void knn(const device_vectors &dataset, const device_vectors &queries, std::int64_t k,
                device_matrix_view<float> distances, device_matrix_view<std::int64_t> neighbors,
                const search_params &params = {}) {
  detail::check_results(queries.rows(), k, distances.size(), neighbors.size());
  impl::knn(detail::device_or(params.backend, queries.device()), dataset.c(), queries.c(), k,
            distances.data(), neighbors.data(), params);
}

/// All rows whose distance is no worse than `radius`.
/// \param max_results  as of ivf_flat::radius_search.
inline radius_result radius_search(const index &in, const vectors &queries, float radius,
                                   const search_params &params = {}, std::int64_t max_results = 0) {
  return ivf_flat::radius_search(in.rows(), queries, radius, impl::one_list(in, params),
                                 max_results);
}
/// The same of the rows of `dataset`, in one call, which stores a piece of them at a time.
inline radius_result radius_search(const vectors &dataset, const vectors &queries, float radius,
                                   const search_params &params = {}, std::int64_t max_results = 0) {
  const backend &on = detail::host_or(params.backend);
  detail::prepared call(detail::search_access::of(params.metric, coarse::l2), on, dataset.dims(),
                        params);
  const annudf_vectors rows = dataset.c(), asked = queries.c();
  return detail::radius_result_of(call, [&](annudf_radius_result **made) {
    return annudf_brute_force_radius_search(on.c(), call.artifact(), call.captures(), &rows, &asked,
                                            radius, max_results, call.options(), made,
                                            call.stats());
  });
}

} // namespace brute_force

struct pairwise_params {
  bound_metric metric = {}; ///< Default: squared L2.
  annudf::v0::backend backend = {};
  annudf::v0::progress progress = {};
  std::stop_token stop = {};
  search_stats *stats = nullptr;
};

/// Every distance, of x's row i (the metric's first argument) and y's row j at (i, j).
inline matrix<float> pairwise_distance(const vectors &x, const vectors &y,
                                       const pairwise_params &params = {}) {
  matrix<float> distances(x.rows(), y.rows(), "distances");
  const backend &on = detail::host_or(params.backend);
  detail::prepared call(detail::search_access::of(params.metric, coarse::l2), on, x.dims(), {},
                        params.progress, params.stop, params.stats);
  const annudf_vectors first = x.c(), second = y.c();
  call.finish(annudf_pairwise_distance(on.c(), call.artifact(), call.captures(), &first, &second,
                                       call.options(), distances.data(), call.stats()));
  return distances;
}

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_BRUTE_FORCE_HPP
