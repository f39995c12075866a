//===- annudf/cpp/ivf_flat.hpp - IVF-Flat -----------------------*- C++ -*-===//
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

#ifndef ANNUDF_CPP_IVF_FLAT_HPP
#define ANNUDF_CPP_IVF_FLAT_HPP

#include "annudf/cpp/search.hpp"

#include <concepts>

namespace annudf {
inline namespace v0 {

/// An inverted file of whole vectors. Names and defaults are those of cuvs::neighbors::ivf_flat.
namespace ivf_flat {

/// An index. A GPU gets its copy at the first search there; what it built itself is there alone
/// until the host needs it. Moved, not copied. Several threads may search it at once; extend() and
/// remove() wait for the searches that run.
class index {
public:
  annudf::element element() const noexcept { return annudf::element(info().element); }
  std::int64_t dim() const noexcept { return info().dims; }
  std::int64_t size() const noexcept { return info().rows; } ///< Rows.
  std::int64_t n_lists() const noexcept { return info().n_lists; }
  /// What its k-means clustered by, and what searches rank by that name no metric.
  coarse metric() const noexcept { return coarse(info().metric); }
  bool adaptive_centers() const noexcept { return info().adaptive_centers != 0; }
  bool missing_values() const noexcept { return info().missing_values != 0; }
  /// The CUDA device that built it and has its lists; -1: the host has them.
  std::int32_t device() const noexcept { return annudf_ivf_flat_device(c()); }
  /// Another number after every build, load and extend, and every remove of a row, in this process.
  std::uint64_t generation() const noexcept { return info().generation; }
  /// One more than its largest id: entries that a capture with the extent `row` needs at least.
  std::int64_t row_extent() const {
    annudf_extents sizes = {};
    sizes.size = sizeof sizes;
    detail::check(annudf_ivf_flat_extents(c(), &sizes));
    return sizes.rows;
  }
  matrix<float> centers() const { ///< n_lists() x dim(), a copy.
    matrix<float> all(n_lists(), dim(), "centers");
    detail::check(annudf_ivf_flat_centers(c(), all.data(), all.size()));
    return all;
  }
  std::vector<std::int64_t> ids() const { ///< One a row, list by list.
    std::vector<std::int64_t> all(static_cast<std::size_t>(size()));
    detail::check(annudf_ivf_flat_ids(c(), all.data(), all.size()));
    return all;
  }
  const annudf_ivf_flat_index *c() const noexcept { return handle_.get(); }
  annudf_ivf_flat_index *c() noexcept { return handle_.get(); }

  /// Takes an index of the C API over.
  explicit index(annudf_ivf_flat_index *handle) noexcept : handle_(handle) {}

private:
  annudf_ivf_flat_info info() const noexcept {
    annudf_ivf_flat_info all = {};
    all.size = sizeof all;
    (void)annudf_ivf_flat_get(c(), &all); // Zeros if it was moved from.
    return all;
  }
  detail::owner<annudf_ivf_flat_index, annudf_ivf_flat_destroy> handle_;
};

namespace impl {

inline annudf_ivf_flat_build_options options_of(const index_params &params,
                                                detail::reporting &reporting) {
  annudf_ivf_flat_build_options c = {};
  c.size = sizeof c;
  c.metric = std::int32_t(params.metric), c.kmeans_n_iters = params.kmeans_n_iters;
  c.kmeans_trainset_fraction = params.kmeans_trainset_fraction;
  c.seed = params.seed, c.threads = params.threads;
  c.adaptive_centers = params.adaptive_centers, c.train_only = !params.add_data_on_build;
  c.missing_values = params.missing_values;
  c.device_memory_limit = params.device_memory_limit;
  c.progress = reporting.function(), c.progress_user = reporting.user();
  return c;
}

/// \param on  where; null: on the host.
inline index built(const index_params &params, annudf_backend *on, const annudf_vectors &base,
                   build_stats *stats) {
  detail::reporting reporting(params.progress, params.stop);
  const annudf_ivf_flat_build_options c = options_of(params, reporting);
  annudf_ivf_flat_build_stats cost = {};
  cost.size = sizeof cost;
  annudf_ivf_flat_index *made = nullptr;
  const annudf_status status = annudf_ivf_flat_build(on, &base, params.n_lists, &c, &made, &cost);
  index result(made);
  reporting.check(status);
  if (stats)
    *stats = {cost.train_ms, cost.add_ms,       cost.copy_ms,
              cost.pieces,   cost.device_bytes, cost.lists_on_device != 0};
  return result;
}

} // namespace impl

/// Clusters the rows into lists, and adds them with the ids 0, 1, ....
inline index build(const index_params &params, const vectors &base) {
  return impl::built(params, nullptr, base.c(), nullptr);
}

/// The same of rows in device memory, built there, when the stream has got to where they are
/// written. The lists stay there alone until the host needs them.
/// \param stats  filled where it is given.
inline index build(const index_params &params, const device_vectors &base,
                   build_stats *stats = nullptr) {
  return impl::built(params, backend::shared(base.device()).c(), base.c(), stats);
}

/// The same of rows in host memory, built on a device within params.device_memory_limit, which may
/// be less than the rows take; the index is that of the build before, to the byte. Where the device
/// has no room for the lists they are on the host.
inline index build(const index_params &params, const vectors &base, const backend &on,
                   build_stats *stats = nullptr) {
  return impl::built(params, on.c(), base.c(), stats);
}

namespace impl {

inline void check_ids(const row_ids &ids, const annudf_vectors &rows) {
  if (!ids.empty() && std::int64_t(ids.size()) != rows.rows)
    throw error(errc::usage, "ids has " + std::to_string(ids.size()) + " entries, there are " +
                                 std::to_string(rows.rows) + " rows; give one id a row");
}

/// \param on  where; null: on the host.
inline void extended(index &to, annudf_backend *on, const annudf_vectors &rows, const row_ids &ids,
                     const extend_params &params,
                     std::span<const annudf_capture_value> columns = {}) {
  check_ids(ids, rows);
  const annudf_ids numbers = ids.c();
  detail::reporting reporting(params.progress, params.stop);
  annudf_ivf_flat_extend_options options = {};
  options.size = sizeof options;
  options.progress = reporting.function(), options.progress_user = reporting.user();
  options.allow_repeated_ids = params.allow_repeated_ids;
  options.columns = columns.data(), options.n_columns = columns.size();
  reporting.check(
      annudf_ivf_flat_extend(on, to.c(), &rows, ids.empty() ? nullptr : &numbers, &options));
}

/// \param on  where; null: on the host.
inline std::int64_t removed(index &from, annudf_backend *on, const row_ids &ids,
                            const remove_params &params) {
  detail::reporting reporting(params.progress, params.stop);
  std::int64_t count = 0;
  const annudf_ids gone = ids.c();
  reporting.check(
      annudf_ivf_flat_remove(on, from.c(), &gone, reporting.function(), reporting.user(), &count));
  return count;
}

} // namespace impl

/// Adds rows. If it fails the index is as before.
/// \param ids  one for each row, 0 or above; none: they go on from row_extent().
inline void extend(index &to, const vectors &rows, const row_ids &ids = {},
                   const extend_params &params = {}) {
  impl::extended(to, nullptr, rows.c(), ids, params);
}

/// The same on a device, where the lists stay if they are there (index::device()): they are the
/// same as the host's. Those that are on the host are extended there.
template <std::same_as<backend> Backend> // So that {} is no backend but no ids.
void extend(index &to, const vectors &rows, const Backend &on, const row_ids &ids = {},
            const extend_params &params = {}) {
  impl::extended(to, on.c(), rows.c(), ids, params);
}

/// The same of rows in device memory, when their stream has got to where they are written.
inline void extend(index &to, const device_vectors &rows, const row_ids &ids = {},
                   const extend_params &params = {}) {
  impl::extended(to, backend::shared(rows.device()).c(), rows.c(), ids, params);
}

/// Removes every row that has one of these ids; one that no row has is passed over. The others keep
/// their ids. An index may end up without rows: it can be extended then, not searched. If it fails
/// the index is as before.
/// \returns how many rows went, of which several may share an id.
inline std::int64_t remove(index &from, const row_ids &ids, const remove_params &params = {}) {
  return impl::removed(from, nullptr, ids, params);
}

/// The same on a device, where the lists stay if they are there (index::device()): they are what
/// the host would have left. Where the index is on the host, or has no room there twice, rows are
/// removed on the host, and an index without rows is there.
template <std::same_as<backend> Backend> // As of extend().
std::int64_t remove(index &from, const row_ids &ids, const Backend &on,
                    const remove_params &params = {}) {
  return impl::removed(from, on.c(), ids, params);
}

/// Writes one file, whole or not at all.
inline void save(const index &from, const std::string &path, const save_params &params = {}) {
  detail::reporting reporting(params.progress, params.stop);
  reporting.check(
      annudf_ivf_flat_save(from.c(), path.c_str(), reporting.function(), reporting.user()));
}

/// Reads an index from a file and checks it.
/// \param mmap  rows stay in the file, which is mapped: a search on the CPU reads the lists that it
/// probes, so the index may be larger than memory. No digest but the header's is compared then, and
/// a file that is cut short later ends the process.
inline index load(const std::string &path, bool mmap = false) {
  annudf_ivf_flat_index *made = nullptr;
  detail::check(annudf_ivf_flat_load(path.c_str(), mmap, &made));
  return index(made);
}

namespace impl {

using annudf::v0::detail::prepared;
using annudf::v0::detail::search_access;

inline const detail::binding &metric_of(const index &in, const search_params &params) {
  return search_access::of(params.metric, in.metric());
}

/// A search where the queries are, for whose results there is room.
inline void search(const index &in, const backend &on, const annudf_vectors &queries,
                   std::int64_t k, float *distances, std::int64_t *neighbors,
                   const search_params &params) {
  prepared call(metric_of(in, params), on, {in.dim(), in.c()}, params);
  call.finish(annudf_ivf_flat_search(on.c(), in.c(), call.artifact(), call.captures(), &queries, k,
                                     params.n_probes, call.options(), neighbors, distances,
                                     call.stats()));
}

/// The same with every distance.
inline void distances(const index &in, const backend &on, const annudf_vectors &queries, float *out,
                      const search_params &params) {
  prepared call(metric_of(in, params), on, {in.dim(), in.c()}, params);
  call.finish(annudf_ivf_flat_distances(on.c(), in.c(), call.artifact(), call.captures(), &queries,
                                        call.options(), out, call.stats()));
}

} // namespace impl

/// The k best rows for each query among the rows of its n_probes best lists.
inline search_result search(const index &in, const vectors &queries, std::int64_t k,
                            const search_params &params = {}) {
  search_result found = detail::room_for(queries.rows(), k);
  impl::search(in, detail::host_or(params.backend), queries.c(), k, found.distances.data(),
               found.neighbors.data(), params);
  return found;
}

/// The same into memory of the caller's, rows x k each. What it holds after a failure is not said.
inline void search(const index &in, const vectors &queries, std::int64_t k,
                   std::span<float> distances, std::span<std::int64_t> neighbors,
                   const search_params &params = {}) {
  detail::check_results(queries.rows(), k, distances.size(), neighbors.size());
  impl::search(in, detail::host_or(params.backend), queries.c(), k, distances.data(),
               neighbors.data(), params);
}

/// The same with queries and results in memory of a CUDA device: enqueued on the queries' stream
/// without waiting for it, but for the first search of an index or a metric. Index, metric and
/// filter may go at once; the memory must live until the stream has got there.
inline void search(const index &in, const device_vectors &queries, std::int64_t k,
                   device_matrix_view<float> distances, device_matrix_view<std::int64_t> neighbors,
                   const search_params &params = {}) {
  detail::check_results(queries.rows(), k, distances.size(), neighbors.size());
  impl::search(in, detail::device_or(params.backend, queries.device()), queries.c(), k,
               distances.data(), neighbors.data(), params);
}

/// A search whose arguments but the vectors were checked once. It holds index, metric, filter and
/// backend, which may go; of an index that was extended since it refuses to run. Moved, not copied.
class prepared_search {
public:
  std::int64_t rows() const noexcept { return shape_.rows(); } ///< Queries of a run.
  std::int64_t k() const noexcept { return k_; }

  /// What search() of these queries gives, for a search that was prepared for host memory.
  /// \param stats  filled where it is given.
  void operator()(const vectors &queries, std::span<float> distances,
                  std::span<std::int64_t> neighbors, search_stats *stats = nullptr) const {
    check(-1, queries.rows(), queries.dims(), queries.element());
    annudf_ivf_flat_search_stats cost = {};
    cost.size = sizeof cost;
    run(queries.c().data, distances.size(), distances.data(), neighbors.size(), neighbors.data(),
        stats ? &cost : nullptr);
    if (stats)
      *stats = detail::stats_of(cost);
  }
  /// The same in memory of the device it was prepared for: enqueued on that stream, not waited for.
  void operator()(const device_vectors &queries, device_matrix_view<float> distances,
                  device_matrix_view<std::int64_t> neighbors) const {
    check(queries.device(), queries.rows(), queries.dims(), queries.element());
    if (queries.stream().c() != stream_.c())
      throw error(errc::usage, "the queries are on stream " + std::to_string(queries.stream().c()) +
                                   ", the search was prepared for stream " +
                                   std::to_string(stream_.c()) +
                                   "; give queries on that stream, or prepare another search");
    run(queries.c().data, distances.size(), distances.data(), neighbors.size(), neighbors.data(),
        nullptr);
  }
  /// The pairs of a device's runs that are done and were not told of, whichever threads made them:
  /// `scored` and the three of NaN. Waits for no run.
  search_stats take_stats() const {
    annudf_ivf_flat_search_stats cost = {};
    cost.size = sizeof cost;
    detail::check(annudf_ivf_flat_prepared_stats(handle_.get(), &cost));
    return detail::stats_of(cost);
  }
  annudf_ivf_flat_prepared *c() const noexcept { return handle_.get(); }

private:
  friend prepared_search prepare(const index &, const vectors &, std::int64_t,
                                 const search_params &);
  friend prepared_search prepare(const index &, const device_vectors &, std::int64_t,
                                 const search_params &);
  prepared_search(const index &in, const backend &on, const vectors &shape, cuda_stream stream,
                  std::int64_t k, const search_params &params)
      : shape_(shape), stream_(stream), device_(on.device()), k_(k) {
    impl::prepared call(impl::metric_of(in, params), on, {in.dim(), in.c()}, params);
    annudf_vectors rows = shape.c();
    if (device_ >= 0)
      rows.place = {ANNUDF_MEMORY_CUDA, device_, stream.c()};
    annudf_ivf_flat_prepared *made = nullptr;
    const annudf_status status =
        annudf_ivf_flat_prepare(on.c(), in.c(), call.artifact(), call.captures(), &rows, k,
                                params.n_probes, call.options(), &made, call.stats());
    handle_.reset(made);
    call.finish(status);
  }
  static std::string place(std::int32_t device) {
    return device < 0 ? "host memory" : "memory of CUDA device " + std::to_string(device);
  }
  void check(std::int32_t device, std::int64_t rows, std::int64_t dims,
             annudf::element element) const {
    const auto refuse = [](const std::string &is, const std::string &prepared) {
      throw error(errc::usage, "the queries " + is + ", the search was prepared for " + prepared +
                                   "; give such queries, or prepare another search");
    };
    const auto words = [](std::int64_t count, std::int64_t each, annudf::element type) {
      return std::to_string(count) + " x " + std::to_string(each) + " " +
             annudf_element_name(std::int32_t(type));
    };
    if (device != device_)
      refuse("are in " + place(device), place(device_));
    if (rows != shape_.rows() || dims != shape_.dims() || element != shape_.element())
      refuse("are " + words(rows, dims, element),
             words(shape_.rows(), shape_.dims(), shape_.element()));
  }
  void run(const void *queries, std::size_t distance_count, float *distances,
           std::size_t neighbor_count, std::int64_t *neighbors,
           annudf_ivf_flat_search_stats *stats) const {
    detail::check_results(shape_.rows(), k_, distance_count, neighbor_count);
    detail::check(
        annudf_ivf_flat_prepared_run(handle_.get(), queries, neighbors, distances, stats));
  }

  detail::owner<annudf_ivf_flat_prepared, annudf_ivf_flat_prepared_destroy> handle_;
  vectors shape_; ///< Its data is not read.
  cuda_stream stream_;
  std::int32_t device_;
  std::int64_t k_;
};

/// For queries like these, whose coordinates are not looked at, in host memory; the backend is the
/// CPU's.
inline prepared_search prepare(const index &in, const vectors &queries, std::int64_t k,
                               const search_params &params = {}) {
  const backend &on = detail::host_or(params.backend);
  if (on.device() >= 0)
    throw error(errc::usage, "the queries are in host memory, the backend is " + on.describe() +
                                 ", whose prepared searches take device memory; give "
                                 "device_vectors");
  detail::check_k(k);
  return prepared_search(in, on, queries, {}, k, params);
}

/// For queries like these in memory of a CUDA device; runs are enqueued on their stream.
inline prepared_search prepare(const index &in, const device_vectors &queries, std::int64_t k,
                               const search_params &params = {}) {
  detail::check_k(k);
  return prepared_search(in, detail::device_or(params.backend, queries.device()),
                         vectors(nullptr, queries.rows(), queries.dims(), queries.element()),
                         queries.stream(), k, params);
}

/// All rows whose distance is no worse than `radius`, of each query's n_probes best lists.
/// \param max_results  of all queries together; more are an error. 0: ANNUDF_DEFAULT_MAX_RESULTS.
inline radius_result radius_search(const index &in, const vectors &queries, float radius,
                                   const search_params &params = {}, std::int64_t max_results = 0) {
  const backend &on = detail::host_or(params.backend);
  impl::prepared call(impl::metric_of(in, params), on, {in.dim(), in.c()}, params);
  const annudf_vectors rows = queries.c();
  return detail::radius_result_of(call, [&](annudf_radius_result **made) {
    return annudf_ivf_flat_radius_search(on.c(), in.c(), call.artifact(), call.captures(), &rows,
                                         radius, params.n_probes, max_results, call.options(), made,
                                         call.stats());
  });
}

/// The fewest probes with which a search finds the part `recall` of these queries' true k nearest
/// neighbors; n_probes of the parameters is not looked at.
inline std::int64_t tune_n_probes(const index &in, const vectors &queries, std::int64_t k,
                                  double recall, const search_params &params = {}) {
  const backend &on = detail::host_or(params.backend);
  impl::prepared call(impl::metric_of(in, params), on, {in.dim(), in.c()}, params.filter,
                      params.progress, params.stop, params.stats);
  const annudf_vectors rows = queries.c();
  std::int64_t n_probes = 0;
  call.finish(annudf_ivf_flat_tune_n_probes(on.c(), in.c(), call.artifact(), call.captures(), &rows,
                                            k, recall, call.options(), &n_probes, call.stats()));
  return n_probes;
}

/// The distance of every query to every row of an index whose ids are those that build gives, the
/// row of id i in column i. NaN where the metric says so.
inline matrix<float> distances(const index &in, const vectors &queries,
                               const search_params &params = {}) {
  matrix<float> all(queries.rows(), in.size(), "distances");
  impl::distances(in, detail::host_or(params.backend), queries.c(), all.data(), params);
  return all;
}

/// The same in device memory, enqueued on the queries' stream.
inline void distances(const index &in, const device_vectors &queries, device_matrix_view<float> out,
                      const search_params &params = {}) {
  if (out.rows() != queries.rows() || out.cols() != in.size())
    throw error(errc::usage, "distances is " + std::to_string(out.rows()) + " x " +
                                 std::to_string(out.cols()) + ", it must be " +
                                 std::to_string(queries.rows()) + " queries x " +
                                 std::to_string(in.size()) + " rows");
  impl::distances(in, detail::device_or(params.backend, queries.device()), queries.c(), out.data(),
                  params);
}

/// The rows that a filter of code keeps, as the index is now. If the index was extended since, the
/// result may lack ids: a search says so. A filter that sees the query is computed by each search.
/// \param bits  of the filter, to be joined with others; 0: as many as the index has ids.
inline annudf::v0::filter filter(const index &in, const code_filter &code, std::int64_t bits = 0,
                                 const search_params &params = {}) {
  const backend &on = detail::host_or(params.backend);
  impl::prepared call(impl::search_access::of(code), on, {in.dim(), in.c()}, params.filter,
                      params.progress, params.stop, nullptr);
  annudf_filter *made = nullptr;
  const annudf_status status = annudf_ivf_flat_filter(on.c(), in.c(), call.artifact(),
                                                      call.captures(), bits, call.options(), &made);
  annudf::v0::filter computed(made);
  call.finish(status);
  return computed;
}

} // namespace ivf_flat

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_IVF_FLAT_HPP
