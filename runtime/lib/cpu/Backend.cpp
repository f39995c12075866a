//===- Backend.cpp - Searching on the host --------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scan is list-major: the (query, list) pairs of a batch are sorted by list, so
// that a list is read once for all the queries that probe it.
//
//===----------------------------------------------------------------------===//

#include "Families.h"
#include "Gathering.h"
#include "HostResources.h"
#include "PredicateScan.h"
#include "cpu/jit/Jit.h"
#include "cpu/jit/ScanCache.h"
#include "cpu/search/Batch.h"
#include "cpu/search/Queries.h"
#include "cpu/search/Reporter.h"
#include "cpu/search/Results.h"
#include "cpu/search/RowsWithin.h"
#include "cpu/search/SlotColumns.h"
#include "cpu/search/StageTimer.h"
#include "cpu/search/Tally.h"

#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/engine/Plan.h"
#include "annudf/runtime/engine/RankLists.h"
#include "annudf/runtime/engine/Refine.h"
#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/engine/SearchRows.h"
#include "annudf/runtime/support/Clock.h"
#include "annudf/runtime/support/Parallel.h"
#include "kernels/Orders.h"
#include "kernels/cpu/ScanArgs.h"
#include "support/FloatModes.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <optional>

namespace annudf::runtime {

namespace {

using namespace cpu;

/// The lists that queries probe, one query's after another's.
/// \param coarse  null where nothing is ranked.
/// \param first   number of the first query in the search.
std::vector<uint32_t> probedLists(const Candidates &candidates, const CoarseRanker *coarse,
                                  const MatrixView &queries, int64_t first, uint32_t nProbes,
                                  int threads) {
  std::vector<uint32_t> probes(size_t(queries.rows) * nProbes);
  if (coarse)
    coarse->rank(queries, nProbes, probes.data(), threads);
  else if (const auto *given = std::get_if<Given>(&candidates))
    std::copy_n(given->lists + first * nProbes, probes.size(), probes.data());
  else
    for (size_t i = 0; i < probes.size(); ++i)
      probes[i] = static_cast<uint32_t>(i % nProbes);
  return probes;
}

class CpuBackend : public Backend {
public:
  explicit CpuBackend(int threads) : threads_(resolveThreads(threads)) {}

  void search(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
              const MatrixView &queries, int k, const SearchParams &params, int64_t *ids,
              float *distances, SearchStats *stats) override;
  void distances(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
                 const MatrixView &queries, const Progress &progress, float *distances,
                 SearchStats *stats, int64_t firstQuery) override;
  WithinRadius searchRadius(const RowStore &index, const MetricView &metric,
                            const BoundCaptures &captures, const MatrixView &queries, float radius,
                            int64_t mostResults, const SearchParams &params,
                            SearchStats *stats) override;

  void precompile(const MetricView &metric, ScanElements elements, SearchStats *stats) override {
    checkElements(metric, elements);
    if (metric.artifact.manifest.seesQuery) // As PredicateScan asks for it.
      elements = ANNUDF_ELEMENT_F32;
    bool compiled = false;
    const std::shared_ptr<const ScanKernel> kernel = kernels_.get(metric, elements, compiled);
    if (stats)
      *stats = {.linkMs = compiled ? kernel->linkMs : 0,
                .links = compiled ? 1 : 0,
                .why = kOnlyFamily,
                .slow = kernel->remark};
  }

  std::span<const KernelFamily *const> families() const override {
    static const std::array<const KernelFamily *, 2> all = {&groups(), &matrixProducts()};
    return all;
  }
  Machine machine() const override {
    const ProductKernels &kernels = matrixKernels();
    return {.processors = threads_, .products = kernels.name, .productCost = kernels.cost};
  }

  std::string describe() const override {
    return "CPU, " + std::to_string(threads_) + (threads_ == 1 ? " thread, " : " threads, ") +
           describeHost();
  }

private:
  /// How pairs are scanned.
  struct Way {
    const ProductScan *matrix = nullptr; ///< Multiplies them; null: the scan computes all.
    Survivors *found = nullptr;          ///< If not null, what comes of rows that are kept.
  };
  template <class Results> struct OneQuery; // Whose rows are computed one by one.
  /// The pairs of a batch.
  template <class Results>
  void scanPairs(const OneQuery<Results> &one, const Way &way, Reporter &reporter) const;
  template <class Results> class ListScan; // Runs the plan for one batch.
  /// The scan of all queries, for a class of results as BestRows is one.
  /// \param gathered  the share of an index's rows that pass, where these are all that there are.
  template <class Results>
  void scan(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
            const MatrixView &queries, const SearchParams &params, Results results,
            SearchStats *stats, std::optional<double> gathered = {});
  /// Whether a search scans the rows alone that pass its filter.
  bool gathers(const RowStore &index, const Manifest &manifest, int64_t queries, int k,
               const SearchParams &params) const;

  const int threads_;
  ScanCache kernels_;
};

template <class Results> struct CpuBackend::OneQuery {
  const RowStore &index;
  const Batch &batch;
  const SearchParams &params;
  const SlotColumns &columns;
  const ScanKernel &kernel;
  const PredicateScan *predicate; ///< Null: `params.filter` is all there is.
  const ProductScan *matrix;
  Results &results;
  Tally &tally;

  /// \return what the query's limit then says of bounds.
  float compute(int32_t query, std::span<Survivors::Row> rows, ProductScan::Workspace &work) const {
    const void *const x = batch.coordinates.row(query);
    const uint32_t *const integers = batch.coordinates.integers(query);
    const auto number = int32_t(params.firstQuery + batch.first + query);
    Sink<Results> sink{&results, &query};
    float limit = results.tighten(query);
    annudf_cpu_scan scan{};
    scan.x = &x, scan.integers = &integers, scan.query = &number;
    scan.slots = columns.slots();
    scan.limit = &limit;
    scan.push = Sink<Results>::take, scan.sink = &sink;
    Tally::Nan nan(tally);
    scan.nan = &nan;
    return matrix->compute(kernel, index, scan, query, rows, Sink<Results>::tighten, work);
  }

  /// What is left of the candidates, once all lists have been looked at.
  void computeRest(Survivors &found, int threads) const {
    constexpr int64_t kTogether = 64;
    std::vector<ProductScan::Workspace> work(static_cast<size_t>(threads));
    parallelFor(threads, (batch.size + kTogether - 1) / kTogether, [&](int64_t t, int worker) {
      const int64_t begin = t * kTogether, end = std::min(batch.size, begin + kTogether);
      std::span<Survivors::Row> next = found.rest(begin);
      for (int64_t q = begin; q < end; ++q) {
        const std::span<Survivors::Row> rows = next;
        if (q + 1 < end)
          matrix->fetch(index, next = found.rest(q + 1));
        compute(int32_t(q), rows, work[size_t(worker)]);
      }
    });
  }
};

template <class Results>
void CpuBackend::scanPairs(const OneQuery<Results> &one, const Way &way, Reporter &reporter) const {
  const auto &[index, batch, params, columns, kernel, predicate, products, results, tally] = one;
  const ProductScan *const matrix = way.matrix;
  const std::vector<Task> tasks =
      tasksOf(index, batch, threads_, kernel.isWhole ? index.dims() : 1);
  // Per pair: where its query's coordinates and integers are, its index in the user's batch.
  // Gathered here, once, since several tasks may share a list.
  std::vector<const void *> x(batch.pairs.size());
  std::vector<const uint32_t *> integers(batch.pairs.size());
  std::vector<int32_t> number(batch.pairs.size());
  for (size_t i = 0; i < batch.pairs.size(); ++i) {
    x[i] = batch.coordinates.row(batch.pairs[i]);
    integers[i] = batch.coordinates.integers(batch.pairs[i]);
    number[i] = int32_t(params.firstQuery + batch.first + batch.pairs[i]);
  }
  const std::vector<int64_t> numbers = columns.numbersFor(tasks);
  std::vector<std::vector<float>> limits(threads_);
  std::vector<PredicateScan::Workspace> passing(threads_);
  std::vector<ProductScan::Workspace> work(matrix ? threads_ : 0);
  std::vector<std::vector<uint64_t>> scratch(threads_); // Workers make their own.
  parallelFor(threads_, int64_t(tasks.size()), [&](int64_t t, int worker) {
    if constexpr (Results::kIsRadius)
      if (results.isFull())
        return;
    reporter.now(double(batch.first) +
                 double(batch.size) *
                     (batch.before + batch.share * double(t) / double(tasks.size())));
    const Task &task = tasks[t];
    const int64_t begin = batch.listBegin[task.list];
    const int64_t pairs = batch.listBegin[task.list + 1] - begin;
    std::vector<float> &limit = limits[worker];
    limit.resize(pairs);
    for (int64_t i = 0; i < pairs; ++i)
      limit[i] =
          matrix ? results.tighten(batch.pairs[begin + i]) : results.limit(batch.pairs[begin + i]);
    Sink<Results> sink{&results, &batch.pairs[begin]};
    annudf_cpu_scan scan = scanOf(index, task);
    // Likely this thread's next.
    const Task &next = tasks[std::min(t + threads_, int64_t(tasks.size()) - 1)];
    scan.ahead = scanOf(index, next).rows;
    scan.queries = int32_t(pairs);
    scan.x = &x[begin];
    scan.integers = &integers[begin];
    scan.query = &number[begin];
    Slots own;
    columns.place(scan, task, numbers, own);
    scan.limit = limit.data();
    scan.push = Sink<Results>::take;
    scan.sink = &sink;
    scratch[worker].resize(kernel.scratchWords(index.dims()));
    scan.scratch = scratch[worker].data();
    Tally::Nan nan(tally);
    scan.nan = &nan;
    if (predicate) {
      predicate->mark(scan, task, passing[worker]);
    } else if (params.filter) {
      markPassing(*params.filter, scan, passing[worker].pass);
      scan.pass = passing[worker].pass.data();
    }
    tally.scored(scan);
    if (way.found) {
      matrix->collect(
          scan, {task.list, task.firstGroup * kGroupRows}, sink.queries, *way.found,
          [&](int32_t query, std::span<Survivors::Row> rows) {
            return one.compute(query, rows, work[worker]);
          },
          work[worker]);
    } else if (matrix)
      matrix->run(kernel, scan, sink.queries, Sink<Results>::tighten, work[worker]);
    else
      kernel.run(scan);
  });
}

template <class Results> class CpuBackend::ListScan final : public BatchScan {
public:
  /// \param one  its matrix null where the plan multiplies nothing.
  ListScan(const CpuBackend &backend, const OneQuery<Results> &one, Batch &batch,
           const std::vector<uint32_t> &probes, Reporter &reporter, StageTimer &stage)
      : backend(backend), one(one), batch(batch), probes(probes), reporter(reporter), stage(stage) {
  }

  /// Sums over the pairs, where stages are timed; scan() adds the latter.
  double rows = 0, unbounded = 0;

  void scan(uint32_t from, uint32_t to) override { unbounded += scanProbes(from, to, {}); }
  void multiply(uint32_t from, uint32_t to) override {
    if (one.matrix->hasRows() && !found)
      makeRoom();
    scanProbes(from, to, {one.matrix, found ? &*found : nullptr});
  }
  void computeRest() override { one.computeRest(*found, backend.threads_); }

private:
  /// For rows that bounds do not rule out.
  void makeRoom() {
    if constexpr (Results::kIsRadius) {
      std::vector<float> limits(size_t(batch.size));
      for (int64_t q = 0; q < batch.size; ++q)
        limits[size_t(q)] = one.matrix->limitOf(int32_t(q), one.results.limit(q));
      found.emplace(limits);
    } else {
      found.emplace(batch.size, one.results.selected(), one.index.size(), one.matrix->widen());
    }
  }
  /// \return how many rows the pairs have, where stages are timed.
  double scanProbes(uint32_t from, uint32_t to, const Way &way) {
    double all = 0;
    const RowStore &index = one.index;
    batch.sortByList(index.nLists(), probes, probesOf(index, one.params.candidates), from, to);
    for (uint32_t list = 0; one.params.timeStages && list < index.nLists(); ++list)
      all +=
          double(index.list(list).size) * double(batch.listBegin[list + 1] - batch.listBegin[list]);
    stage("sort");
    backend.scanPairs(one, way, reporter);
    stage("scan");
    rows += all;
    return all;
  }

  const CpuBackend &backend;
  const OneQuery<Results> one;
  Batch &batch;
  const std::vector<uint32_t> &probes;
  Reporter &reporter;
  StageTimer &stage;
  std::optional<Survivors> found; ///< What comes of rows that are kept.
};

template <class Results>
void CpuBackend::scan(const RowStore &index, const MetricView &metric, const BoundCaptures &given,
                      const MatrixView &queries, const SearchParams &params, Results results,
                      SearchStats *stats, std::optional<double> gathered) {
  const FloatModes modes; // Queries are converted and results collected in the caller's thread.
  checkCaptures(metric, given, extentsOf(index, queries, params));
  const StoreCaptures ofStore(index, metric.artifact.manifest, given);
  const BoundCaptures &captures = ofStore.get();
  checkFinite(queries, "queries", threads_, index.missingValues() ? NaNs::Missing : NaNs::Refused);
  const Manifest &manifest = metric.artifact.manifest;
  const int k = results.selected();
  bool compiled = false;
  const std::shared_ptr<const ScanKernel> kernel =
      kernels_.get(metric, {index.element(), queries.element}, compiled);
  const SlotColumns columns(ofStore);
  Workload work = workloadOf(manifest, index, queries.rows, k, params);
  work.formIsDistance = work.formIsDistance && Results::kLeavesOut;
  work.withinRadius = Results::kIsRadius;
  work.rowsAreKept = mayKeepRows() != KeepRows::None && !index.isMapped();
  if (gathered)
    work.pass = *gathered, work = gatheredWork(work, index.size());
  std::optional<PredicateScan> predicate;
  if (params.predicate) {
    predicate.emplace(index, *params.predicate, params.filter.get(), kernels_);
    work.pass = predicate->sampledShare(params, queries.rows);
  }
  const Machine machine = this->machine();
  HostResources resources({index, metric, captures, queries.element, int32_t(params.firstQuery),
                           *kernel, columns.slots(), machine});
  const ExecutionPlan plan = makePlan(families(), work, machine, resources);
  ProductScan *const matrix = resources.matrix();
  const auto started = std::chrono::steady_clock::now();
  StageTimer stage(params.timeStages);
  const uint32_t nProbes = probesOf(index, params.candidates);
  const std::shared_ptr<const CoarseRanker> coarse =
      areRanked(index, params.candidates) ? rankerOf(index, manifest) : nullptr;
  const auto rowBytes = static_cast<size_t>(bytesOfRow(queries.element, queries.dims));
  Reporter reporter(params.progress, double(queries.rows));
  Tally tally;
  double scanned = 0, byScan = 0; // Rows of pairs, and those without bounds.
  std::atomic<int64_t> left = 0;  // By bounds.
  if (matrix && params.timeStages)
    matrix->countInto(&left);
  for (int64_t first = 0; first < queries.rows; first += plan.batch) {
    MatrixView view = queries;
    view.data = static_cast<const std::byte *>(queries.data) + first * rowBytes;
    view.rows = std::min(plan.batch, queries.rows - first);
    Batch batch(view, manifest.compute, first);
    const std::vector<uint32_t> probes =
        probedLists(params.candidates, coarse.get(), view, first, nProbes, threads_);
    stage("coarse");
    results.begin(first, batch.size, threads_);
    if (matrix)
      matrix->setQueries(batch.coordinates, batch.size, threads_);
    ListScan<Results> scan(*this,
                           {index, batch, params, columns, *kernel,
                            predicate ? &*predicate : nullptr, matrix, results, tally},
                           batch, probes, reporter, stage);
    familyOf(plan).run(scan, plan.workOf(batch.size));
    scanned += scan.rows, byScan += scan.unbounded;
    results.finish(threads_);
    stage("finish");
    reporter.now(double(first + batch.size));
  }
  reporter.finish();
  if (!stats)
    return;
  *stats = {.linkMs = compiled ? kernel->linkMs : 0,
            .links = compiled ? 1 : 0,
            .searchMs = msSince(started),
            .stages = stage.takeTimes(),
            .rowsPerQuery = scanned / double(queries.rows),
            .evaluatedPerQuery = (byScan + double(left)) / double(queries.rows),
            .slow = kernel->remark};
  tell(plan, params, *stats);
  tally.report(*stats);
  if (predicate) {
    stats->linkMs += predicate->linkMs(), stats->links += predicate->links();
    stats->passingShare = tally.passingShare();
  }
}

bool CpuBackend::gathers(const RowStore &index, const Manifest &manifest, int64_t queries, int k,
                         const SearchParams &params) const {
  const auto *ranked = std::get_if<Lists>(&params.candidates);
  const bool areAll =
      ranked ? ranked->probes == index.nLists() : std::holds_alternative<All>(params.candidates);
  if (!params.filter || params.predicate || !areAll || index.holdsCandidates() ||
      (index.nLists() != 1 && manifest.readsList)) // Rows of several lists become one list.
    return false;
  Workload work = workloadOf(manifest, index, queries, k, params);
  work.rowsAreKept = mayKeepRows() != KeepRows::None && !index.isMapped();
  return isWorthGathering(families(), work, machine());
}

void CpuBackend::search(const RowStore &index, const MetricView &metric,
                        const BoundCaptures &captures, const MatrixView &queries, int k,
                        const SearchParams &params, int64_t *ids, float *distances,
                        SearchStats *stats) {
  checkSearch(index, metric, queries, k, params);
  if (const RowsInPlace *const rows = index.rowsInPlace()) {
    const auto store = [&](const MatrixView &piece, int64_t first, const Progress &progress) {
      return rows->piece(first, piece.rows, progress);
    };
    searchRows(*this, rows->rows(), store, {RowPieces::kBytes}, metric, captures, queries, k,
               params, ids, distances, stats);
    return;
  }
  const Manifest &manifest = metric.artifact.manifest;
  const auto start = std::chrono::steady_clock::now();
  if (!gathers(index, manifest, queries.rows, k, params)) {
    scan(index, metric, captures, queries, params,
         BestRows(k, manifest.order, index.size(), ids, distances), stats);
    return;
  }
  const auto rows = gatherPassing(index, *params.filter, k);
  const double gatherMs = msSince(start);
  SearchParams all = params;
  all.candidates = All{}, all.filter = nullptr;
  scan(*rows, metric, captures, queries, all,
       BestRows(k, manifest.order, rows->size(), ids, distances), stats,
       params.filter->passingShare(index.size()));
  if (stats)
    stats->searchMs += gatherMs;
}

void CpuBackend::distances(const RowStore &index, const MetricView &metric,
                           const BoundCaptures &captures, const MatrixView &queries,
                           const Progress &progress, float *distances, SearchStats *stats,
                           int64_t firstQuery) {
  checkDistances(index, metric, queries, firstQuery);
  scan(index, metric, captures, queries, {.progress = progress, .firstQuery = firstQuery},
       EveryDistance(metric.artifact.manifest.order, index.size(), distances), stats);
}

WithinRadius CpuBackend::searchRadius(const RowStore &index, const MetricView &metric,
                                      const BoundCaptures &captures, const MatrixView &queries,
                                      float radius, int64_t mostResults, const SearchParams &params,
                                      SearchStats *stats) {
  checkRadius(index, metric, queries, radius, params);
  if (const RowsInPlace *const rows = index.rowsInPlace()) {
    const auto store = [&](const MatrixView &piece, int64_t first, const Progress &progress) {
      return rows->piece(first, piece.rows, progress);
    };
    return searchRadiusInRows(*this, rows->rows(), store, {RowPieces::kBytes}, metric, captures,
                              queries, radius, mostResults, params, stats);
  }
  WithinRadius found;
  scan(index, metric, captures, queries, params,
       RowsWithin(radius, mostResults, metric.artifact.manifest.order, index.size(), found), stats);
  return found;
}

} // namespace

std::unique_ptr<Backend> makeCpuBackend(int threads) {
  return std::make_unique<CpuBackend>(threads);
}

} // namespace annudf::runtime
