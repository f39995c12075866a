//===- annudf-c/cpp/IvfFlat.hpp - Vectors and IVF-Flat indexes --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf-c/annudf.hpp, which is to be included.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_C_CPP_IVFFLAT_HPP
#define ANNUDF_C_CPP_IVFFLAT_HPP

#include "annudf-c/IvfFlat.h"
#include "annudf-c/cpp/Captures.hpp"
#include "annudf-c/cpp/Device.hpp"
#include "annudf-c/cpp/Filters.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string>
#include <vector>

namespace annudf {
inline namespace v0 {

/// Eight values of a bit each, the first in the lowest bit: FAISS's binary vectors.
struct PackedBits {
  uint8_t bits;
};

/// A row-major, contiguous matrix that stays the caller's.
struct Vectors {
  const void *data = nullptr;
  int64_t rows = 0, dims = 0;
  annudf_element element = ANNUDF_ELEMENT_F32;

  Vectors() = default;
  Vectors(const void *data, int64_t rows, int64_t dims, annudf_element element)
      : data(data), rows(rows), dims(dims), element(element) {}
  Vectors(std::span<const float> all, int64_t dims) : Vectors(all, dims, ANNUDF_ELEMENT_F32) {}
  Vectors(std::span<const Half> all, int64_t dims) : Vectors(all, dims, ANNUDF_ELEMENT_F16) {}
  Vectors(std::span<const Bfloat16> all, int64_t dims) : Vectors(all, dims, ANNUDF_ELEMENT_BF16) {}
  Vectors(std::span<const int8_t> all, int64_t dims) : Vectors(all, dims, ANNUDF_ELEMENT_I8) {}
  Vectors(std::span<const uint8_t> all, int64_t dims) : Vectors(all, dims, ANNUDF_ELEMENT_U8) {}
  /// \param dims  bits of a row, a multiple of 8.
  Vectors(std::span<const PackedBits> all, int64_t dims)
      : Vectors(all, dims, ANNUDF_ELEMENT_BITS, 8) {}

  annudf_vectors c() const { return {sizeof(annudf_vectors), data, rows, dims, element}; }

private:
  template <class T>
  Vectors(std::span<const T> all, int64_t dims, annudf_element element, int64_t perItem = 1)
      : data(all.data()), dims(dims), element(element) {
    if (dims <= 0 || dims % perItem != 0 || int64_t(all.size()) % (dims / perItem) != 0)
      throw Error(ANNUDF_USAGE, std::to_string(int64_t(all.size()) * perItem) +
                                    " coordinates are no rows of " + std::to_string(dims) + " dims");
    rows = int64_t(all.size()) / (dims / perItem);
  }
};

struct SearchStats {
  double linkMs = 0, uploadMs = 0, searchMs = 0;
  int links = 0;
  std::string family, why; ///< The kernels that ran it.
};

/// The k best rows of each query, best first: row q of a matrix of k columns.
struct Neighbors {
  int64_t k = 0;
  std::vector<int64_t> ids;
  std::vector<float> distances;
  SearchStats stats;
};

/// Of query q those from offsets[q] to offsets[q + 1], the best first.
struct RadiusNeighbors {
  std::vector<int64_t> offsets, ids;
  std::vector<float> distances;
  SearchStats stats;
};

class IvfFlat {
public:
  struct BuildOptions {
    annudf_coarse metric = ANNUDF_COARSE_L2; ///< What k-means clusters by.
    int32_t kmeansIterations = 20;
    double kmeansTrainsetFraction = 0.5;
    uint64_t seed = 1;
    int32_t threads = 0;          ///< 0: all cores.
    bool adaptiveCenters = false; ///< Every extend moves them to the means of their lists.
    bool trainOnly = false;       ///< No row is added; extend() adds some later.
    bool missingValues = false;   ///< A coordinate may be NaN, which is a missing value.
  };

  static IvfFlat build(const Vectors &base, int64_t nLists, const BuildOptions &options,
                       const Progress &progress = {}) {
    detail::Reporting reporting(progress);
    annudf_ivf_flat_build_options c = {};
    c.size = sizeof c;
    c.metric = options.metric, c.kmeans_n_iters = options.kmeansIterations;
    c.kmeans_trainset_fraction = options.kmeansTrainsetFraction;
    c.seed = options.seed, c.threads = options.threads;
    c.adaptive_centers = options.adaptiveCenters, c.train_only = options.trainOnly;
    c.missing_values = options.missingValues;
    c.progress = reporting.function(), c.progress_user = reporting.user();
    const annudf_vectors rows = base.c();
    annudf_ivf_flat_index *made = nullptr;
    const annudf_status status = annudf_ivf_flat_build(&rows, nLists, &c, &made);
    IvfFlat index(made);
    reporting.check(status);
    return index;
  }
  static IvfFlat build(const Vectors &base, int64_t nLists) {
    return build(base, nLists, BuildOptions());
  }
  static IvfFlat load(const std::string &path) {
    annudf_ivf_flat_index *made = nullptr;
    detail::check(annudf_ivf_flat_load(path.c_str(), &made));
    return IvfFlat(made);
  }
  /// \param ids  empty: they go on from size().
  /// \param allowRepeatedIds  takes ids that are given twice or are in the index already.
  void extend(const Vectors &rows, std::span<const int64_t> ids = {}, const Progress &progress = {},
              bool allowRepeatedIds = false) {
    if (!ids.empty() && int64_t(ids.size()) != rows.rows)
      throw Error(ANNUDF_USAGE,
                  std::to_string(ids.size()) + " ids for " + std::to_string(rows.rows) + " rows");
    detail::Reporting reporting(progress);
    const annudf_vectors c = rows.c();
    annudf_ivf_flat_extend_options options = {};
    options.size = sizeof options;
    options.progress = reporting.function(), options.progress_user = reporting.user();
    options.allow_repeated_ids = allowRepeatedIds;
    reporting.check(
        annudf_ivf_flat_extend(handle_.get(), &c, ids.empty() ? nullptr : ids.data(), &options));
  }
  void save(const std::string &path, const Progress &progress = {}) const {
    detail::Reporting reporting(progress);
    reporting.check(
        annudf_ivf_flat_save(c(), path.c_str(), reporting.function(), reporting.user()));
  }

  annudf_element element() const {
    return static_cast<annudf_element>(annudf_ivf_flat_element(c()));
  }
  int64_t dims() const { return annudf_ivf_flat_dims(c()); }
  int64_t size() const { return annudf_ivf_flat_size(c()); }
  int64_t nLists() const { return annudf_ivf_flat_n_lists(c()); }
  bool adaptiveCenters() const { return annudf_ivf_flat_adaptive_centers(c()); }
  bool missingValues() const { return annudf_ivf_flat_missing_values(c()); }
  /// What captures must be bound for to search it as it is now.
  Extents extents() const {
    annudf_extents sizes = {};
    sizes.size = sizeof sizes;
    detail::check(annudf_ivf_flat_extents(c(), &sizes));
    return {sizes.dims, sizes.rows, sizes.queries};
  }
  std::vector<float> centers() const { ///< nLists() x dims().
    std::vector<float> all(size_t(nLists() * dims()));
    detail::check(annudf_ivf_flat_centers(c(), all.data(), all.size()));
    return all;
  }

  Neighbors search(const Backend &backend, const Artifact &metric, const Vectors &queries,
                   int64_t k, int64_t nProbes, const Progress &progress = {},
                   const Filter *filter = nullptr) const {
    return search(backend, metric, nullptr, queries, k, nProbes, progress, filter);
  }
  Neighbors search(const Backend &backend, const Artifact &metric, const Captures &captures,
                   const Vectors &queries, int64_t k, int64_t nProbes,
                   const Progress &progress = {}, const Filter *filter = nullptr) const {
    return search(backend, metric, captures.c(), queries, k, nProbes, progress, filter);
  }
  /// Enqueues a search on a CUDA backend's stream: queries, ids and distances are device
  /// addresses that must live until the stream has got there.
  SearchStats searchDevice(const Backend &backend, const Artifact &metric, const Captures *captures,
                           const Vectors &queries, int64_t k, int64_t nProbes, uint64_t ids,
                           uint64_t distances, uint64_t stream = 0,
                           const Filter *filter = nullptr) const {
    const annudf_vectors rows = queries.c();
    annudf_ivf_flat_search_options options = {};
    options.size = sizeof options;
    options.filter = filter ? filter->c() : nullptr;
    annudf_ivf_flat_search_stats stats = {};
    stats.size = sizeof stats;
    detail::check(annudf_ivf_flat_search_device(
        backend.c(), c(), metric.c(), captures ? captures->c() : nullptr, &rows, k, nProbes,
        &options, reinterpret_cast<int64_t *>(static_cast<uintptr_t>(ids)),
        reinterpret_cast<float *>(static_cast<uintptr_t>(distances)), stream, &stats));
    return toStats(stats);
  }
  /// All rows whose distance is no worse than `radius`, of each query's probed lists.
  /// \param captures  null if the metric has none.
  RadiusNeighbors radiusNeighbors(const Backend &backend, const Artifact &metric,
                                  const Captures *captures, const Vectors &queries, float radius,
                                  int64_t nProbes, const Progress &progress = {},
                                  const Filter *filter = nullptr) const {
    detail::Reporting reporting(progress);
    const annudf_ivf_flat_search_options options = toOptions(reporting, filter);
    annudf_ivf_flat_search_stats stats = {};
    stats.size = sizeof stats;
    const annudf_vectors rows = queries.c();
    annudf_radius_neighbors *made = nullptr;
    const annudf_status status = annudf_ivf_flat_radius_neighbors(
        backend.c(), c(), metric.c(), captures ? captures->c() : nullptr, &rows, radius, nProbes,
        &options, &made, &stats);
    const detail::Owner<annudf_radius_neighbors, annudf_radius_neighbors_destroy> owner(made);
    reporting.check(status);
    const int64_t *offsets = annudf_radius_neighbors_offsets(made);
    const int64_t *ids = annudf_radius_neighbors_ids(made);
    const float *distances = annudf_radius_neighbors_distances(made);
    const int64_t count = annudf_radius_neighbors_queries(made);
    RadiusNeighbors found;
    try {
      found.offsets.assign(offsets, offsets + count + 1);
      found.ids.assign(ids, ids + offsets[count]);
      found.distances.assign(distances, distances + offsets[count]);
    } catch (const std::bad_alloc &) {
      throw Error(ANNUDF_ENVIRONMENT, "there is no memory for " + std::to_string(offsets[count]) +
                                          " neighbours within the radius");
    }
    found.stats = toStats(stats);
    return found;
  }
  /// The fewest probes with which these queries' k nearest neighbours have the recall.
  /// \param captures  null if the metric has none.
  int64_t tuneProbes(const Backend &backend, const Artifact &metric, const Captures *captures,
                     const Vectors &queries, int64_t k, double recall,
                     const Progress &progress = {}, const Filter *filter = nullptr) const {
    detail::Reporting reporting(progress);
    const annudf_ivf_flat_search_options options = toOptions(reporting, filter);
    const annudf_vectors rows = queries.c();
    int64_t probes = 0;
    reporting.check(annudf_ivf_flat_tune_n_probes(backend.c(), c(), metric.c(),
                                                  captures ? captures->c() : nullptr, &rows, k,
                                                  recall, &options, &probes));
    return probes;
  }
  /// The rows that an annudf.filter keeps, as the index is now.
  /// \param captures  null if the filter has none; else bound for one query.
  /// \param bits      0: one more than the largest id.
  Filter filter(const Backend &backend, const Artifact &code, const Captures *captures = nullptr,
                int64_t bits = 0, const Progress &progress = {}) const {
    detail::Reporting reporting(progress);
    annudf_ivf_flat_search_options options = {};
    options.size = sizeof options;
    options.progress = reporting.function(), options.progress_user = reporting.user();
    annudf_filter *made = nullptr;
    const annudf_status status = annudf_ivf_flat_filter(
        backend.c(), c(), code.c(), captures ? captures->c() : nullptr, bits, &options, &made);
    Filter computed(made);
    reporting.check(status);
    return computed;
  }
  const annudf_ivf_flat_index *c() const { return handle_.get(); }

private:
  explicit IvfFlat(annudf_ivf_flat_index *handle) : handle_(handle) {}
  /// How many queries a vector of their results can be asked to have room for.
  static uint64_t mostRows(int64_t k) {
    return std::min(std::vector<int64_t>().max_size(), std::vector<float>().max_size()) /
           uint64_t(k);
  }
  static annudf_ivf_flat_search_options toOptions(detail::Reporting &reporting,
                                                  const Filter *filter) {
    annudf_ivf_flat_search_options options = {};
    options.size = sizeof options;
    options.progress = reporting.function(), options.progress_user = reporting.user();
    options.filter = filter ? filter->c() : nullptr;
    return options;
  }
  static SearchStats toStats(const annudf_ivf_flat_search_stats &stats) {
    return {stats.link_ms, stats.upload_ms, stats.search_ms, stats.links, stats.family, stats.why};
  }
  friend Neighbors knn(const Backend &backend, const Artifact &metric, const Captures *captures,
                       const Vectors &dataset, const Vectors &queries, int64_t k,
                       const Progress &progress, const Filter *filter);
  /// \param call  a function of C, given queries, options, ids, distances and statistics.
  template <class Call>
  static Neighbors neighborsBy(const Vectors &queries, int64_t k, const Progress &progress,
                               const Filter *filter, Call call) {
    // Checked here, as the results need their room before the call.
    if (k < 1 || k > ANNUDF_MAX_K)
      throw Error(ANNUDF_USAGE, "k = " + std::to_string(k) + ": must be between 1 and " +
                                    std::to_string(ANNUDF_MAX_K));
    if (queries.rows < 0 || uint64_t(queries.rows) > mostRows(k))
      throw Error(ANNUDF_USAGE, "queries: rows = " + std::to_string(queries.rows) +
                                    ": must be between 0 and " + std::to_string(mostRows(k)));
    Neighbors found;
    found.k = k;
    try {
      found.ids.resize(size_t(queries.rows) * size_t(k));
      found.distances.resize(found.ids.size());
    } catch (const std::bad_alloc &) {
      throw Error(ANNUDF_ENVIRONMENT, "there is no memory for the results of " +
                                          std::to_string(queries.rows) + " queries");
    }
    detail::Reporting reporting(progress);
    const annudf_ivf_flat_search_options options = toOptions(reporting, filter);
    annudf_ivf_flat_search_stats stats = {};
    stats.size = sizeof stats;
    const annudf_vectors rows = queries.c();
    reporting.check(call(&rows, &options, found.ids.data(), found.distances.data(), &stats));
    found.stats = toStats(stats);
    return found;
  }
  Neighbors search(const Backend &backend, const Artifact &metric, const annudf_captures *captures,
                   const Vectors &queries, int64_t k, int64_t nProbes, const Progress &progress,
                   const Filter *filter) const {
    return neighborsBy(queries, k, progress, filter,
                       [&](auto *rows, auto *options, auto *ids, auto *distances, auto *stats) {
                         return annudf_ivf_flat_search(backend.c(), c(), metric.c(), captures, rows,
                                                       k, nProbes, options, ids, distances, stats);
                       });
  }
  detail::Owner<annudf_ivf_flat_index, annudf_ivf_flat_destroy> handle_;
};

} // namespace v0
} // namespace annudf

#endif // ANNUDF_C_CPP_IVFFLAT_HPP
