//===- annudf/cpp/params.hpp - Parameters of calls --------------*- C++ -*-===//
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

#ifndef ANNUDF_CPP_PARAMS_HPP
#define ANNUDF_CPP_PARAMS_HPP

#include "annudf/cpp/filter.hpp"
#include "annudf/cpp/metric.hpp"
#include "annudf/cpp/progress.hpp"

namespace annudf {
inline namespace v0 {

/// What a search cost and how it ran.
struct search_stats {
  double link_ms = 0;   ///< Making kernels, or reading them from disk; 0 when in memory.
  double upload_ms = 0; ///< Copying the index to the device; 0 when it is there.
  double search_ms = 0; ///< The search itself; 0 where it was only enqueued.
  int links = 0;        ///< Kernels made by this call.
  /// What ran it: "groups", "parts", "pairs", "tiles", "staged", "staged_granules",
  /// "packed", "packed_granules", "matrix", "matrix_mma".
  std::string family = {};
  std::string why = {}; ///< Why these.
  int disk_hits = 0;    ///< Kernels for a GPU that this call found made, in the cache on disk.
  std::string cache_fault = {}; ///< Why that cache was no use; "" where it was, or is off.
  double rows_per_query = 0;    ///< In the lists that a query probed; 0 unless time_stages.
  /// Name and milliseconds of each stage, in order; none unless time_stages.
  std::vector<std::pair<std::string, double>> stages = {};
  /// Rows of rows_per_query that the metric's own code computed; 0 unless time_stages. Fewer by
  /// "matrix".
  double evaluated_per_query = 0;
  std::string slow =
      {}; ///< The part of the metric that a CPU computes for one row at a time; mostly "".
  /// Device memory held by the workspace that ran the search; 0 on a CPU.
  uint64_t workspace_bytes = 0;
  double passing_share = 1; ///< The share of rows that the filter lets pass.
  std::int64_t scored = 0;  ///< Pairs of a query and a row of its lists that the filter lets pass.
  /// Those of them whose distance was NaN, so that the row is never found; of a search in device
  /// memory without time_stages those of earlier ones with the metric.
  std::int64_t nan_distances = 0;
  std::int64_t nan_query = -1, nan_row = -1; ///< One of them: number of the query, id of the row.
  std::int64_t widened = 0;                  ///< Queries that searched more lists than n_probes.
};

/// The group of each row: the document of a passage, say. Either is given, or neither.
struct row_groups {
  std::span<const std::int64_t> of = {}; ///< One for each id.
  std::string column = {};               ///< A column of the index, of integers.
};

/// What a search finds: for each query the best rows, the best first. Where there are fewer than k,
/// the rest has id -1 and the worst distance. Decomposes as `auto [distances, neighbors] = ...`.
struct search_result {
  matrix<float> distances;        ///< rows() x k().
  matrix<std::int64_t> neighbors; ///< Ids, of the same shape.
  std::int64_t rows() const noexcept { return neighbors.rows(); }
  std::int64_t k() const noexcept { return neighbors.cols(); }
};

/// What a radius search finds: the neighbors of query q are at offsets[q] to offsets[q + 1], the
/// best first.
struct radius_result {
  std::vector<std::int64_t> offsets = {}; ///< One more than there are queries.
  std::vector<std::int64_t> neighbors = {};
  std::vector<float> distances = {};
};

namespace ivf_flat {

/// How an index is built; names and defaults are those of cuVS.
struct index_params {
  /// 0: the root of the number of rows, 1 for fewer than 1000.
  std::int64_t n_lists = ANNUDF_DEFAULT_N_LISTS;
  coarse metric = coarse::l2; ///< What k-means clusters by, and what searches rank by by default.
  std::int32_t kmeans_n_iters = ANNUDF_DEFAULT_KMEANS_N_ITERS;
  double kmeans_trainset_fraction = ANNUDF_DEFAULT_KMEANS_TRAINSET_FRACTION;
  bool adaptive_centers =
      false; ///< Every extend and remove moves them to the means of their lists.
  bool add_data_on_build = true; ///< False: extend() adds some later.
  bool missing_values = false;   ///< A coordinate may be NaN, which is a missing value.
  std::uint64_t seed = ANNUDF_DEFAULT_SEED;
  std::int32_t threads = 0; ///< 0: all cores. Kept for extend().
  /// Bytes of a device that a build there of rows in host memory may use; 0: nine tenths of what is
  /// free.
  std::uint64_t device_memory_limit = 0;
  annudf::v0::progress progress = {};
  std::stop_token stop = {};
};

/// What a build on a device cost; milliseconds.
struct build_stats {
  double train_ms = 0; ///< Centers, and the look at all coordinates.
  double add_ms = 0;   ///< Rows to their lists.
  // For rows in host memory:
  double copy_ms = 0;             ///< All rows to the device, where they went at once.
  std::int64_t pieces = 0;        ///< In which they went to the device; 1: all at once.
  std::uint64_t device_bytes = 0; ///< That it took there at most.
  bool lists_on_device = false;   ///< Else there was no room for them.
};

struct extend_params {
  bool allow_repeated_ids = false; ///< Ids may be given twice, and be in the index already.
  annudf::v0::progress progress = {};
  std::stop_token stop = {};
};

struct remove_params {
  annudf::v0::progress progress = {};
  std::stop_token stop = {};
};

struct save_params {
  annudf::v0::progress progress = {};
  std::stop_token stop = {};
};

/// A second metric, which ranks the rows that the search's own metric finds.
struct refine_params {
  bound_metric metric = {};      ///< Default: no second phase.
  double ratio = 2;              ///< The search's metric finds k times ratio rows for each query.
  search_stats *stats = nullptr; ///< If not null, gets the statistics of the second phase.
};

struct search_params {
  /// Lists scanned for a query; more than there are: all.
  std::int64_t n_probes = ANNUDF_DEFAULT_N_PROBES;
  bound_metric metric = {};           ///< What rows are ranked by; default: that of the index.
  annudf::v0::filter filter = {};     ///< Rows that may be found; default: all.
  annudf::v0::backend backend = {};   ///< Default: the CPU, or the device of device memory.
  annudf::v0::progress progress = {}; ///< Between batches of queries.
  std::stop_token stop = {};          ///< Ends the call with errc::interrupted.
  search_stats *stats = nullptr;      ///< If not null, gets what it cost.
  bool time_stages = false;           ///< Stage by stage, too; what is enqueued is waited for.
  /// The kernels to run, as search_stats::family names them: these, or an error that says what
  /// there is or why they cannot. "": the quickest, as the backend judges.
  std::string family = {};
  /// A GPU counts no pairs: `scored` and `nan_distances` of the statistics are 0 there. For metrics
  /// that are NaN on purpose.
  bool skip_pairs = false;
  /// 0: no query is searched again. Else n_probes or more: a query that finds fewer than k rows, or
  /// than min_rows, is searched again in twice as many lists, until it finds enough or has searched
  /// max_probes lists. With a filter of bits it begins with n_probes divided by the share of rows
  /// that pass. With this, refine or group_by, results on a device are waited for.
  std::int64_t max_probes = 0;
  std::int64_t min_rows = 0; ///< Rows that a query must find; 0: k. Only with max_probes.
  /// If its metric is given, it ranks the rows that the search's metric finds; results are its k
  /// best.
  refine_params refine = {};
  row_groups group_by = {}; ///< If given, results are the best rows of k groups.
};

} // namespace ivf_flat

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_PARAMS_HPP
