//===----------------------------------------------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Searching a store of rows with a metric: what both backends (CPU, CUDA) offer.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_SEARCH_H
#define ANNUDF_RUNTIME_ENGINE_SEARCH_H

#include "annudf/ABI/annudf_limits.h"
#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/captures/Captures.h"
#include "annudf/runtime/engine/Filter.h"
#include "annudf/runtime/engine/Plan.h"
#include "annudf/runtime/rows/Candidates.h"
#include "annudf/runtime/rows/RowStore.h"
#include "annudf/runtime/support/Progress.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace annudf::runtime {

class Predicate;

struct SearchParams {
  Candidates candidates = All{}; ///< The rows that are scored for a query.
  Progress progress = {};        ///< Stage "search"; what was found is unspecified after a stop.
  /// Rows that may be found; null: all. Has a bit for every id of the index.
  std::shared_ptr<const RowFilter> filter = {};
  /// Rows that each query may find, beside those of `filter`; null: all.
  std::shared_ptr<const Predicate> predicate = {};
  /// Number of the first query, as metrics see it: where one search is given in parts. 0 for
  /// metrics with captures of queries.
  int64_t firstQuery = 0;
  /// Queries of the whole search, of which these are a part from firstQuery on, so that captures of
  /// queries are those of all; 0: these are all.
  int64_t ofQueries = 0;
  /// Name of the family of kernels to run instead of the planner's choice; "": the planner's. It is
  /// that one or an error, which names what there is or why it cannot be.
  std::string family = {};
  /// Whether the search waits for the kernels of its choice to be linked where others, with the
  /// same results, run it sooner; so do searches with `family`, `timeStages` or
  /// ANNUDF_LINK_AHEAD=0. For measurements, and who searches but once.
  bool waitForLinks = false;
  /// Fills SearchStats::stages, rowsPerQuery and evaluatedPerQuery, for which a search that is only
  /// enqueued is waited for, and stages run one after another.
  bool timeStages = false;
  /// False: searches that are only enqueued on a GPU, and prepared ones, count no pairs there.
  bool countPairs = true;
  /// False: the statistics are numbers alone; no words are made for `family` and `why`.
  bool tellWhy = true;
};

/// All stages that searches have; each runs some of them.
inline constexpr std::string_view kStages[] = {"coarse", "select", "sort", "scan", "finish"};

/// How long one stage of a search took, in milliseconds.
struct StageTime {
  std::string name;
  double ms;
};

/// Adds a stage's time to that of the same name.
/// \throws std::logic_error for a name that is none of kStages: whoever has room for these has
/// room for all.
void addStage(std::vector<StageTime> &stages, std::string_view name, double ms);

/// What a search cost; filled when asked for. Times in milliseconds.
struct SearchStats {
  double linkMs = 0;       ///< JIT, link or loading of kernels; 0 when they are in memory.
  int links = 0;           ///< Links made by this call.
  double uploadMs = 0;     ///< Copying the index to the device, first search only.
  double searchMs = 0;     ///< The search itself, link and upload excluded.
  std::string family = {}; ///< The kernels that ran it, "tiles"; of its first batch.
  std::string why = {};    ///< Why these.
  /// The share of rows that the filter lets pass, as the planner counts them (Workload::pass). With
  /// a predicate on a CPU: of the pairs of a query and a row of its probed lists, counted.
  double passingShare = 1;
  int diskHits = 0;       ///< Kernels that this call found linked, on disk.
  std::string fault = {}; ///< Why the cache on disk was no use; "" where it was, or is off.
  std::vector<StageTime> stages = {}; ///< In order, of all batches; only if asked for.
  double rowsPerQuery = 0;            ///< In the lists that it probed, the mean; only if asked for.
  /// Those of them that the metric's hooks computed, the mean; only if asked for. All, but of
  /// family "matrix", where bounds rule most out. On a GPU these are granules of 8 rows.
  double evaluatedPerQuery = 0;
  /// The part of the metric that a CPU does for one row at a time, several times slower: "computed
  /// one row at a time: fmod"; "" where there is nothing.
  std::string slow = {};
  /// Device memory that the workspace of this search holds; a later search takes it
  /// again. 0 on a CPU.
  uint64_t workspaceBytes = 0;
  /// Pairs of a query and a row of its probed lists that the filter lets pass. On a GPU an estimate
  /// unless all lists are probed and there is no filter.
  int64_t scored = 0;
  /// Those of them whose distance was NaN, so that the row is not found. Rows that a bound rules
  /// out have no distance. A search that is only enqueued on a GPU tells of earlier ones with this
  /// metric that were not told of.
  int64_t nanDistances = 0;
  int64_t nanQuery = -1, nanRow = -1; ///< One of the pairs: number of the query, id of the row.
  int64_t widened = 0; ///< Queries that searched more lists than asked for (SearchGoal).
  /// Adds the pairs of another search.
  void addPairs(const SearchStats &other);
  double nanShare() const {
    return nanDistances == 0 ? 0 : std::min(1.0, double(nanDistances) / double(scored));
  }
};

/// Adds what one search of several cost.
void addCost(SearchStats &to, const SearchStats &cost);

/// Says what runs a search, and why: words are made here alone, for who asks for them.
void tell(const ExecutionPlan &plan, const SearchParams &params, SearchStats &stats);

/// The share of pairs that are NaN above which users are warned.
inline constexpr double kNanShare = ANNUDF_DEFAULT_NAN_SHARE;

/// A compiled metric as backends key their caches: SHA-256 of the file's bytes.
struct Metric {
  Artifact artifact;
  std::string digest;
  std::string origin; ///< For messages.
  static Metric fromArtifact(Artifact artifact, const std::string &origin);
  static Metric fromFile(const std::string &path);
};

/// The same, owned by someone else for as long as a call takes.
struct MetricView {
  const Artifact &artifact;
  const std::string &digest, &origin;
  annudf_role as = ANNUDF_ROLE_SCAN; ///< What it is asked for: distances, or which rows it keeps.
  MetricView(const Artifact &artifact, const std::string &digest, const std::string &origin)
      : artifact(artifact), digest(digest), origin(origin) {}
  MetricView(const Metric &metric) : MetricView(metric.artifact, metric.digest, metric.origin) {}
  /// The same, asked for which rows it keeps.
  MetricView asFilter() const {
    MetricView filter = *this;
    filter.as = ANNUDF_ROLE_FILTER;
    return filter;
  }
};

/// What a scan reads. Queries may be of another type than the rows: a hook sees both in the
/// metric's compute type.
struct ScanElements {
  annudf_element rows, queries;
  ScanElements(annudf_element rows, annudf_element queries) : rows(rows), queries(queries) {}
  ScanElements(annudf_element both) : ScanElements(both, both) {}
};

/// A search whose arguments but the vectors were checked once: of so many queries, k, parameters
/// and an index as it was.
class PreparedSearch {
public:
  virtual ~PreparedSearch() = default;
  /// \param queries, ids, distances  as of the search that was prepared.
  /// \throws Error(Usage) for memory that it cannot use.
  virtual void run(const void *queries, int64_t *ids, float *distances) = 0;
  /// Adds the pairs of runs that are done and were not told of; never waits.
  virtual void takePairs(SearchStats &stats) = 0;
};

/// What decides how such a search is run: as of Plan.h, with what its parameters say.
Workload workloadOf(const Manifest &manifest, const RowStore &index, int64_t queries, int k,
                    const SearchParams &params);

/// What lies within a radius of each query, in the layout of FAISS's range search.
struct WithinRadius {
  std::vector<int64_t> starts; ///< One more than queries: results of query q begin at starts[q].
  std::vector<int64_t> ids;
  std::vector<float> distances;
};

class Backend {
public:
  virtual ~Backend() = default;
  /// The k best of each query's candidates, best first. Fewer than k candidates: ids -1 and the
  /// worst value (+inf for order min, -inf for max). NaN distances never enter.
  /// Equal distances (-0 equals +0) are ordered by id, the lower first, whichever list a row is
  /// in and however the work was cut: the result depends on nothing but rows and query.
  /// \param ids, distances  queries.rows x k, host memory.
  /// \throws Error(Input) naming a query's coordinate that is not finite.
  virtual void search(const RowStore &index, const MetricView &metric,
                      const BoundCaptures &captures, const MatrixView &queries, int k,
                      const SearchParams &params, int64_t *ids, float *distances,
                      SearchStats *stats = nullptr) = 0;
  /// The distance of every query to every row of an index whose ids are 0 to size - 1, NaN where
  /// the metric says so. Lists and their order do not matter.
  /// \param distances  queries.rows x index.size(), host memory; the row with id i in column i.
  /// \param firstQuery as of SearchParams.
  /// \throws as search(), and Error(Usage) for an id that is no column.
  virtual void distances(const RowStore &index, const MetricView &metric,
                         const BoundCaptures &captures, const MatrixView &queries,
                         const Progress &progress, float *distances, SearchStats *stats = nullptr,
                         int64_t firstQuery = 0) = 0;
  /// Each query's candidates that are at least as near as a radius, best first; those at the radius
  /// are among them. Distances, ties and NaN are as in search(), but -0 becomes 0.
  /// \param radius  the worst distance to find; an infinity finds every number.
  /// \param mostResults  of all queries together, 0 or more. \throws TooManyResults (Radius.h) if
  /// there are more, as soon as that is known; as search().
  virtual WithinRadius searchRadius(const RowStore &index, const MetricView &metric,
                                    const BoundCaptures &captures, const MatrixView &queries,
                                    float radius, int64_t mostResults, const SearchParams &params,
                                    SearchStats *stats = nullptr) = 0;
  /// Makes the kernel of metric and element types, so that no search waits for it.
  virtual void precompile(const MetricView &metric, ScanElements elements,
                          SearchStats *stats = nullptr) = 0;
  /// Its kernel families, of which plan() takes one for a search.
  virtual std::span<const KernelFamily *const> families() const = 0;
  virtual Machine machine() const = 0;
  /// Whether a family has the name, "" being the planner's choice. \throws Error(Usage) if none
  /// has.
  void checkFamily(const std::string &name) const {
    if (!name.empty())
      (void)familyNamed(families(), name);
  }
  /// What a search would run, without running it. \throws Error naming what each family lacks.
  ExecutionPlan plan(const Workload &work) const { return makePlan(families(), work, machine()); }
  virtual std::string describe() const = 0;
};

/// The rule of k, here alone. \returns k.
/// \param rows  that are searched; by default any number.
/// \throws ArgumentError(Usage) unless 1 <= k <= ANNUDF_MAX_K and k <= rows.
int checkK(int64_t k, int64_t rows = std::numeric_limits<int64_t>::max());

/// Checks shared by the backends, before any work: the role, at least one query, dtype and dims of
/// the queries against index and metric, 1 <= k <= ANNUDF_MAX_K, k <= index size, the candidates
/// (1 <= probes <= nLists, lists that exist, each once a query), the filter's bits against the
/// index's largest id, the predicate. \throws Error(Usage or Input) naming value and limit.
void checkSearch(const RowStore &index, const MetricView &metric, const MatrixView &queries, int k,
                 const SearchParams &params);

/// The same for Backend::distances.
void checkDistances(const RowStore &index, const MetricView &metric, const MatrixView &queries,
                    int64_t firstQuery = 0);

/// Whether it is what it is asked for, a metric or a filter. \throws Error(Input) naming it if not.
void checkRole(const MetricView &metric);

/// Whether it was compiled for any dims or these. \throws Error(Input) if not.
void checkDims(const MetricView &metric, int32_t dims);

/// Whether it can take queries from this number on: captures of queries are of a whole search.
/// \throws Error(Input) if not.
void checkFirstQuery(const MetricView &metric, int64_t firstQuery);

/// Compares the number that a metric's code returns with that of its manifest's descriptor:
/// code for another one might read past the captures or the rows.
/// \throws Error(Input) naming both.
void checkContract(const MetricView &metric, uint64_t contractOfCode);

/// Whether the metric takes vectors of these element types. \throws Error(Input) if not.
void checkElements(const MetricView &metric, ScanElements elements);

/// The other half of those checks: the captures were bound for captures such as the
/// metric's (name, element, extents; any will do if it has none and they hold none) and
/// for what is searched: its dims, and where a capture has those extents at least its rows
/// and just its queries. Without it a scan would read beyond their arrays.
/// \throws Error(Usage) naming what they were bound for and what is needed.
void checkCaptures(const MetricView &metric, const BoundCaptures &captures,
                   const CaptureExtents &searched);

/// Checks that no capture is a column, where rows come with the call and have none.
/// \throws Error(Usage) naming the capture.
void checkNoColumns(const BoundCaptures &captures);

/// Checks captures for rows whose ids are their numbers: an array with more entries is of other
/// rows. \throws Error(Usage) naming it and both lengths.
void checkOwnRows(const BoundCaptures &captures, int64_t rows);

/// Both checks, of the captures of the metric and of the filter's code, for rows that come with the
/// call.
void checkRowsOfCall(const BoundCaptures &captures, const SearchParams &params, int64_t rows);

/// What captures of a search must be bound for.
CaptureExtents extentsOf(const RowStore &index, const MatrixView &queries,
                         const SearchParams &params = {});

/// \param threads 0: all cores. \throws Error(Environment) when built without LLVM.
std::unique_ptr<Backend> makeCpuBackend(int threads = 0);
/// \throws Error(Environment): no driver, no device, no nvJitLink, or built without CUDA.
std::unique_ptr<Backend> makeCudaBackend(int device = 0);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_SEARCH_H
