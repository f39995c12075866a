//===- SearchArguments.h - What the C API's searches share ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_CAPI_SEARCHARGUMENTS_H
#define ANNUDF_LIB_CAPI_SEARCHARGUMENTS_H

#include "Handles.h"

#include "annudf/runtime/engine/Refine.h"
#include "annudf/runtime/engine/SearchRows.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <string>

namespace annudf::capi {

// give() has room for every stage and its name.
static_assert(std::size(runtime::kStages) <= ANNUDF_MOST_STAGES);
static_assert(std::ranges::all_of(runtime::kStages, [](std::string_view name) {
  return name.size() < sizeof annudf_ivf_flat_stage::name;
}));

/// Where a backend says what a call cost; null, so that it makes no words, where nobody asks.
inline runtime::SearchStats *wanted(const annudf_ivf_flat_search_stats *stats,
                                    runtime::SearchStats &cost) {
  return stats ? &cost : nullptr;
}

/// The caller's struct may be an older, shorter one.
inline void give(annudf_ivf_flat_search_stats *to, const runtime::SearchStats &from) {
  if (!to)
    return;
  annudf_ivf_flat_search_stats stats = {};
  stats.size = to->size;
  stats.link_ms = from.linkMs, stats.upload_ms = from.uploadMs, stats.search_ms = from.searchMs;
  stats.links = from.links;
  std::snprintf(stats.family, sizeof stats.family, "%s", from.family.c_str());
  std::snprintf(stats.why, sizeof stats.why, "%s", from.why.c_str());
  std::snprintf(stats.slow, sizeof stats.slow, "%s", from.slow.c_str());
  stats.disk_hits = from.diskHits;
  std::snprintf(stats.cache_fault, sizeof stats.cache_fault, "%s", from.fault.c_str());
  stats.rows_per_query = from.rowsPerQuery;
  stats.evaluated_per_query = from.evaluatedPerQuery;
  stats.workspace_bytes = from.workspaceBytes;
  stats.passing_share = from.passingShare;
  stats.scored = from.scored, stats.nan_distances = from.nanDistances;
  stats.nan_query = from.nanQuery, stats.nan_row = from.nanRow;
  stats.widened = from.widened;
  for (size_t i = 0; i < from.stages.size(); ++i) {
    std::snprintf(stats.stages[i].name, sizeof stats.stages[i].name, "%s",
                  from.stages[i].name.c_str());
    stats.stages[i].ms = from.stages[i].ms;
  }
  stats.n_stages = static_cast<int32_t>(from.stages.size());
  std::memcpy(to, &stats, std::min(to->size, sizeof stats));
}

inline void checkStats(const Call &call, const annudf_ivf_flat_search_stats *stats) {
  if (stats && stats->size < offsetof(annudf_ivf_flat_search_stats, links) + sizeof(int32_t))
    call.refuse("annudf_ivf_flat_search_stats.size is " + std::to_string(stats->size) +
                "; set it to sizeof(annudf_ivf_flat_search_stats)");
}

/// Where a metric came from, for messages: its source is all that an artifact knows.
inline std::string originOf(const annudf_artifact &artifact) {
  const std::string &file = artifact.value.manifest.sourceFile;
  return file.empty() ? "artifact " + artifact.digest.substr(0, 12) : file;
}

/// A filter of code that a search computes for the candidates of each query.
annudf_filter *filterOfCode(const annudf_artifact &artifact, const annudf_captures *captures);

inline annudf_ivf_flat_search_options optionsOf(const annudf_ivf_flat_search_options *options) {
  return copyOptions(options,
                     offsetof(annudf_ivf_flat_search_options, progress_user) + sizeof(void *),
                     "annudf_ivf_flat_search_options");
}

/// The arguments that all searches share, checked and translated.
struct Arguments {
  runtime::MatrixView queries;
  Place at; ///< Where queries and results are.
  int k = 0;
  runtime::ivf_flat::SearchParams probes; ///< As asked for; see chooseFrom().
  runtime::SearchParams params;
  std::string origin;
  runtime::BoundCaptures none; ///< For a metric without captures.

  /// Which options beyond those of every search are taken: lists, a goal and a second phase.
  enum class More { Refused, Lists, Taken };
  bool hasMore = false;            ///< Whether there is a goal or a second phase.
  const uint32_t *lists = nullptr; ///< Those that each query probes; null: the best.

  Arguments(const Call &call, const annudf_backend *backend, const annudf_ivf_flat_index *index,
            const annudf_artifact *artifact, const annudf_vectors *vectors, int64_t k,
            int64_t nProbes, const annudf_ivf_flat_search_options *options, const int64_t *ids,
            const float *distances, const annudf_ivf_flat_search_stats *stats)
      : Arguments(call, backend, artifact, vectors, "queries", options, stats, More::Taken) {
    call.refuseNull(index, "index");
    call.refuseNull(ids, "ids");
    call.refuseNull(distances, "distances");
    take(k, nProbes);
  }
  /// For calls without k, or without probes.
  Arguments(const Call &call, const annudf_backend *backend, const annudf_artifact *artifact,
            const annudf_vectors *vectors, const char *what,
            const annudf_ivf_flat_search_options *options,
            const annudf_ivf_flat_search_stats *stats, More more = More::Refused) {
    call.refuseNull(backend, "backend");
    call.refuseNull(artifact, "artifact");
    checkStats(call, stats);
    const annudf_ivf_flat_search_options given = optionsOf(options);
    hasMore = moreOf(given) != nullptr;
    if (more != More::Taken)
      refuseMore(call, given);
    if (given.lists && (more == More::Refused || hasMore))
      call.refuse(hasMore ? std::string("options.lists and options.") + moreOf(given) +
                                " are set; give one of them"
                          : "options.lists is set; the call has no use for it, so leave it out");
    lists = given.lists;
    const PlacedMatrix placed = toPlaced(call, backend, vectors, what);
    queries = placed.view, at = placed.at;
    params.progress = toProgress(given.progress, given.progress_user);
    if (given.filter)
      params.filter = given.filter->value, params.predicate = given.filter->predicate;
    params.timeStages = given.time_stages != 0;
    params.countPairs = given.skip_pairs == 0;
    params.tellWhy = given.skip_why == 0;
    if (given.family)
      params.family = given.family;
    origin = originOf(*artifact);
  }
  void take(int64_t neighbours, int64_t nProbes) {
    k = runtime::checkK(neighbours);
    takeProbes(nProbes);
  }
  void takeProbes(int64_t nProbes) {
    probes.nProbes = static_cast<uint32_t>(checkRange("n_probes", nProbes, 1, runtime::kMaxLists));
  }
  /// While the index may be read.
  void chooseFrom(const annudf_ivf_flat_index &index) {
    if (lists)
      params.candidates = runtime::Given{lists, probes.nProbes};
    else
      params.candidates = index.value.candidates(probes);
  }
  const runtime::BoundCaptures &boundOr(const annudf_captures *captures) const {
    return captures ? captures->value : none;
  }
  /// Searches, or enqueues it, where the queries are.
  void search(annudf_backend &backend, const runtime::RowStore &index,
              const annudf_artifact &artifact, const annudf_captures *captures, int64_t *ids,
              float *distances, runtime::SearchStats *stats) const {
    const runtime::MetricView metric(artifact.value, artifact.digest, origin);
    const runtime::BoundCaptures &bound = boundOr(captures);
    if (at.onDevice)
      backend.cuda->searchDevice(index, metric, bound, queries, k, params, ids, distances,
                                 at.stream, stats);
    else
      backend.value->search(index, metric, bound, queries, k, params, ids, distances, stats);
  }
  /// The same with every distance.
  void distances(annudf_backend &backend, const runtime::RowStore &index,
                 const annudf_artifact &artifact, const annudf_captures *captures, float *distances,
                 runtime::SearchStats *stats) const {
    const runtime::MetricView metric(artifact.value, artifact.digest, origin);
    const runtime::BoundCaptures &bound = boundOr(captures);
    if (at.onDevice)
      backend.cuda->distancesDevice(index, metric, bound, queries, distances, at.stream, stats);
    else
      backend.value->distances(index, metric, bound, queries, params.progress, distances, stats);
  }
  /// Ranks candidates among the rows of the index, where the queries are.
  void refine(annudf_backend &backend, const runtime::RowStore &index,
              const runtime::CandidateRows &candidates, const Place &candidatesAt,
              const annudf_artifact &artifact, const annudf_captures *captures, int64_t neighbours,
              int64_t *ids, float *distances, runtime::SearchStats *stats) const {
    const runtime::MetricView metric(artifact.value, artifact.digest, origin);
    const runtime::BoundCaptures &bound = boundOr(captures);
    if (backend.cuda)
      backend.cuda->refineOwn(index, candidates, {candidatesAt.onDevice, candidatesAt.stream},
                              metric, bound, queries, {at.onDevice, at.stream}, neighbours, params,
                              ids, distances, stats);
    else
      runtime::refineOwn(*backend.value, index, candidates, metric, bound, queries, neighbours,
                         params, ids, distances, stats);
  }
  /// For what searches the host's queries alone.
  void refuseDevice(const Call &call) const {
    if (at.onDevice)
      call.refuse("queries is in device memory; it must be in host memory");
  }
  /// For calls that search once.
  static void refuseMore(const Call &call, const annudf_ivf_flat_search_options &given) {
    if (const char *what = moreOf(given))
      call.refuse(std::string("options.") + what +
                  " is set; the call has no use for it, so leave it out");
  }
  /// The first option of a goal or a second phase that is set; null: none is.
  static const char *moreOf(const annudf_ivf_flat_search_options &given) {
    return given.max_probes != 0 ? "max_probes"
           : given.min_rows != 0 ? "min_rows"
           : given.group_by      ? "group_by"
           : given.refine        ? "refine"
                                 : nullptr;
  }
  /// For calls that compute every distance.
  void refuseFilterAndFamily(const Call &call) const {
    if (params.filter || params.predicate)
      call.refuse("options.filter is set; the call computes every distance, so leave it out");
    if (!params.family.empty())
      call.refuse("options.family is '" + params.family +
                  "'; calls that compute every distance have no choice of family, so leave it out");
  }
};

/// Rows in one list: on the backend's device where it has one, else on the
/// host.
inline runtime::Index storedRows(const annudf_backend *backend, const PlacedMatrix &rows,
                                 const runtime::RowsParams &params,
                                 runtime::BuildStats *stats = nullptr) {
  if (runtime::CudaBackend *const cuda = cudaOf(backend))
    return cuda->storeRows(rows.view, {rows.at.onDevice, rows.at.stream}, params, stats);
  return runtime::Index::ofOneList(rows.view, params.missingValues, params.threads, params.ids,
                                   params.progress);
}

/// A caller's rows, stored for one search: all at once, or a piece at a time.
class RowsForOneSearch {
public:
  RowsForOneSearch(const annudf_backend *backend, const PlacedMatrix &rows, bool missing,
                   const runtime::Progress &progress)
      : backend_(backend), rows_(rows), missing_(missing), progress_(progress) {}

  runtime::Index all() const {
    // To a caller there is one search.
    const runtime::Progress storing = [this](const char *, double) {
      return !progress_ || progress_("search", 0);
    };
    return storedRows(backend_, rows_, {{}, missing_, 0, storing});
  }
  runtime::StorePiece pieces() const {
    return
        [this](const runtime::MatrixView &piece, int64_t first, const runtime::Progress &progress) {
          return std::make_unique<const runtime::Index>(
              storedRows(backend_, {piece, {}}, {{nullptr, first}, missing_, 0, progress}));
        };
  }
  /// A device takes all rows where it has room, so that it is asked once.
  runtime::RowPieces cut() const {
    runtime::RowPieces pieces;
    (backend_->cuda ? pieces.halvedTo : pieces.bytes) = runtime::RowPieces::kBytes;
    return pieces;
  }

private:
  const annudf_backend *const backend_;
  const PlacedMatrix &rows_;
  const bool missing_;
  const runtime::Progress &progress_;
};

} // namespace annudf::capi

#endif // ANNUDF_LIB_CAPI_SEARCHARGUMENTS_H
