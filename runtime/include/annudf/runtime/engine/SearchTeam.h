//===- SearchTeam.h - Searches that several backends share ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One search by several backends, such as one a GPU: either each has the whole index and takes some
// of the queries, or each has a shard and takes all queries. Results equal those of one backend, to
// the bit, where all members compute distances alike.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_SEARCHTEAM_H
#define ANNUDF_RUNTIME_ENGINE_SEARCHTEAM_H

#include "annudf/runtime/engine/QueryPart.h"
#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/engine/Shards.h"

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

namespace annudf::runtime {

/// What each member of a team has.
enum class TeamMode {
  Replicated, ///< All rows; a batch is split.
  Sharded,    ///< A shard; results are merged by distance, then id.
};

class SearchTeam {
public:
  using Members = std::vector<std::shared_ptr<Backend>>;

  /// \throws Error(Usage) for no members.
  SearchTeam(Members members, TeamMode mode);

  // As of Backend.
  void search(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
              const MatrixView &queries, int k, const SearchParams &params, int64_t *ids,
              float *distances, SearchStats *stats);
  void distances(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
                 const MatrixView &queries, const Progress &progress, float *distances,
                 SearchStats *stats, int64_t firstQuery);
  WithinRadius searchRadius(const RowStore &index, const MetricView &metric,
                            const BoundCaptures &captures, const MatrixView &queries, float radius,
                            int64_t mostResults, const SearchParams &params, SearchStats *stats);
  void precompile(const MetricView &metric, ScanElements elements, SearchStats *stats);
  std::string describe() const;

  int size() const { return static_cast<int>(members_.size()); }
  TeamMode mode() const { return mode_; }
  Backend &member(int number) const { return *members_[static_cast<size_t>(number)]; }

  /// Queries of a batch by member; a batch that is too small to split goes to one member, to
  /// another one each time.
  struct Share {
    int member;
    QueryPart part;
  };
  std::vector<Share> split(int64_t queries);

  /// Calls `work` of 0 to count - 1 at once and waits for all. Progress is told of by the thread of
  /// the caller.
  /// \throws what the lowest of those that failed threw. An Error(Environment) names the member.
  void onEach(int count, const Progress &progress,
              const std::function<void(int number, const Progress &progress)> &work,
              const std::function<int(int number)> &memberOf = {}) const;

  /// Searches a shard for the `found` best of each query.
  using SearchOfShard = std::function<void(int number, int found, const Progress &progress,
                                           int64_t *ids, float *distances)>;
  /// The k best of all shards, in host memory.
  void mergeShards(const Shards &shards, int64_t queries, int k, annudf_order order,
                   const Progress &progress, const SearchOfShard &search, int64_t *ids,
                   float *distances) const;

private:
  /// Whether members take shards: candidates of queries are split by query.
  bool isSharded(const RowStore &index) const {
    return mode_ == TeamMode::Sharded && size() > 1 && !index.holdsCandidates();
  }

  void searchShards(const Shards &shards, const MetricView &metric, const BoundCaptures &captures,
                    const MatrixView &queries, const QueryPart &part, int k,
                    const SearchParams &params, int64_t *ids, float *distances, SearchStats *stats);

  const Members members_;
  const TeamMode mode_;
  std::atomic<uint32_t> next_{0};
};

/// SearchTeam as a backend. Its families and machine are those of the first member.
std::unique_ptr<Backend> makeTeamBackend(SearchTeam::Members members, TeamMode mode);

/// Calls `work`. A member numbers its queries from 0 on where it finds one that is not finite; an
/// error numbers them all.
void withNumbers(const MatrixView &queries, bool missing, const std::function<void()> &work);

/// Adds what a member's search cost that ran beside others: times are the longest.
/// \param share  as of addPart().
void addBeside(SearchStats &all, const SearchStats &one, double share);

/// The same of the searches of all shards for a share of the queries.
void addShards(SearchStats &all, const Shards &shards, const std::vector<SearchStats> &costs,
               double share);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_SEARCHTEAM_H
