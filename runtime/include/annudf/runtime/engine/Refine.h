//===- Refine.h - Candidates of other indexes, ranked again -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each query has rows of its own: a store whose list q holds those of query q, searched with one
// probe a query (Given). The result is that of an exact search among these rows, to the bit. They
// are rows of a data set, by number, or of an index, by id.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_REFINE_H
#define ANNUDF_RUNTIME_ENGINE_REFINE_H

#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/rows/SlotsOfIds.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace annudf::runtime {

/// Numbers of rows, or ids, for each query, in any order; -1 is none, and a repeated one counts
/// once.
struct CandidateRows {
  const int64_t *ids = nullptr; ///< queries x columns.
  int64_t queries = 0, columns = 0;
};

/// The store of the candidates of queries [first, first + count).
/// \param progress  to be told of; stage "search".
using StoreOfQueries = std::function<std::unique_ptr<const RowStore>(int64_t first, int64_t count,
                                                                     const Progress &progress)>;

/// Searches such a store for some of the queries.
/// \param first  of all queries, whose results are at ids + first * k.
using SearchOfQueries =
    std::function<void(const RowStore &store, const MatrixView &queries, int64_t first,
                       const SearchParams &params, SearchStats *stats)>;

/// What can be told without looking at ids.
/// \param rows  of the data set. \throws ArgumentError(Usage or Input) naming the argument.
void checkRefine(const MatrixView &rows, const MatrixView &queries, int64_t candidateQueries,
                 int64_t columns, int64_t k);

/// The same of the rows of an index.
void checkRefine(const RowStore &index, const MatrixView &queries, int64_t candidateQueries,
                 int64_t columns, int64_t k);

/// \throws ArgumentError(Input) naming the first id that is neither -1 nor the number of a row.
void checkCandidateRows(const CandidateRows &candidates, int64_t rows, int threads = 0);

/// The error of that check.
[[noreturn]] void refuseCandidate(int64_t query, int64_t column, int64_t id, int64_t rows);

/// Where the rows with these ids are in an index; SlotsOfIds::kNone for -1.
/// \throws ArgumentError(Input) naming the first id that is neither -1 nor that of a row.
std::vector<uint32_t> slotsOfCandidates(const CandidateRows &candidates, const SlotsOfIds &rows,
                                        int threads = 0);

/// The error of that.
[[noreturn]] void refuseUnknownId(int64_t query, int64_t column, int64_t id);

/// The numbers of one query's candidates, each once, lowest first.
std::vector<int64_t> distinctCandidates(std::span<const int64_t> candidates);

/// The k best of each query's rows, some queries at a time.
/// \param bytesOfQuery  that a query's rows take at most.
/// \param bytesOfPiece  about.
/// \param params  its candidates are replaced. Captures of queries are those of all queries, or of
/// the whole search that these are a part of.
/// \param stats  may be null: of all pieces together.
void searchByQueries(const MatrixView &queries, int64_t bytesOfQuery, const StoreOfQueries &store,
                     const SearchOfQueries &search, const SearchParams &params, SearchStats *stats,
                     int64_t bytesOfPiece);

/// A store of rows in host memory for some queries: list q holds the candidates of query
/// first + q, lowest first. Ids and captures are of the data set's rows.
/// \param missingValues  whether the metric takes them.
/// \throws Error(Input) naming a candidate with a coordinate that is not finite.
std::unique_ptr<const RowStore> gatherCandidates(const MatrixView &rows,
                                                 const CandidateRows &candidates, int64_t first,
                                                 int64_t count, bool missingValues, int threads = 0,
                                                 const Progress &progress = {});

/// The same of rows of an index, which the store refers to.
/// \param slots  queries x columns, of slotsOfCandidates().
std::unique_ptr<const RowStore> gatherCandidates(const RowStore &index,
                                                 std::span<const uint32_t> slots, int64_t columns,
                                                 int threads = 0, const Progress &progress = {});

/// The rows of an index that pass a filter, in one list in the order of its lists: a store of
/// candidates of all queries, which a search for `k` rows takes, and which refers to the index.
std::unique_ptr<const RowStore> gatherPassing(const RowStore &index, const RowFilter &filter,
                                              int64_t k);

/// Bytes of a query's rows in such a store, at most.
int64_t bytesOfCandidates(const MatrixView &rows, int64_t columns);

/// All of it, of arrays in host memory by a backend that searches there; GPUs have
/// CudaBackend::refine.
/// \param threads  that gather rows; 0: as many as the backend's, which is a CPU's.
/// \param captures  with entries for the rows of the data set, not for candidates.
/// \throws as the functions above, and as Backend::search.
void refine(Backend &backend, const MatrixView &rows, const CandidateRows &candidates,
            const MetricView &metric, const BoundCaptures &captures, const MatrixView &queries,
            int64_t k, const SearchParams &params, int64_t *ids, float *distances,
            SearchStats *stats = nullptr, int threads = 0);

/// The same among rows of an index: candidates are ids, and captures and columns those of a search
/// of the index. GPUs have CudaBackend::refineOwn.
/// \throws also ArgumentError(Input) naming an id that several rows of the index have.
void refineOwn(Backend &backend, const RowStore &index, const CandidateRows &candidates,
               const MetricView &metric, const BoundCaptures &captures, const MatrixView &queries,
               int64_t k, const SearchParams &params, int64_t *ids, float *distances,
               SearchStats *stats = nullptr, int threads = 0);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_REFINE_H
