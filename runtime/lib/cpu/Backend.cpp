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
#include "cpu/jit/Jit.h"
#include "cpu/jit/KernelCache.h"
#include "cpu/search/Abandon.h"
#include "cpu/search/Batch.h"
#include "cpu/search/Queries.h"
#include "cpu/search/Reporter.h"
#include "cpu/search/Results.h"
#include "cpu/search/StageTimer.h"
#include "cpu/search/Tally.h"

#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/engine/Plan.h"
#include "annudf/runtime/engine/Search.h"
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

/// Queries a list from which on it is worth reading kept rows of the nearest lists twice.
constexpr double kNearestFirst = 100;

std::array<uint64_t, ANNUDF_MAX_CAPTURES> slotsOf(const BoundCaptures &captures) {
  std::array<uint64_t, ANNUDF_MAX_CAPTURES> slots{};
  for (size_t i = 0; i < captures.size(); ++i) {
    if (captures.space(i) != MemorySpace::Host)
      throw Error(ErrorKind::Usage,
                  "capture '" + captures.declared()[i].name + "' is on CUDA device " +
                      std::to_string(captures.device(i)) + "; the CPU backend takes host memory");
    slots[i] = captures.slot(i);
  }
  return slots;
}

/// An index's centers, prepared for one coarse metric.
struct PreparedCenters : IndexAttachment {
  explicit PreparedCenters(CoarseRanker made) : ranker(std::move(made)) {}
  const CoarseRanker ranker;
};

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

  void precompile(const MetricView &metric, ScanElements elements, SearchStats *stats) override {
    checkElements(metric, elements);
    bool compiled = false;
    const std::shared_ptr<const ScanKernel> kernel = kernels_.get(metric, elements, compiled);
    if (stats)
      *stats = {.linkMs = compiled ? kernel->linkMs : 0,
                .links = compiled ? 1 : 0,
                .why = kOnlyFamily,
                .slow = kernel->remark};
  }

  std::vector<const KernelFamily *> families() const override {
    static const Groups groups;
    static const MatrixProducts matrix;
    return {&groups, &matrix};
  }
  Machine machine() const override {
    const MatrixKernels &kernels = matrixKernels();
    return {.processors = threads_, .products = kernels.name, .productCost = kernels.cost};
  }

  std::string describe() const override {
    return "CPU, " + std::to_string(threads_) + (threads_ == 1 ? " thread, " : " threads, ") +
           describeHost();
  }

private:
  static std::shared_ptr<const CoarseRanker> ranker(const RowStore &index,
                                                    const Manifest &manifest);
  /// Plans. What multiplies matrices, where that is the plan and what was bound allows it.
  std::optional<MatrixScan> matrixOf(const RowStore &index, const MetricView &metric,
                                     const BoundCaptures &captures, Workload work,
                                     Plan &plan) const;
  Plan planWithout(Workload work, const std::string &whyNot) const;
  /// How pairs are scanned.
  struct Way {
    const MatrixScan *matrix = nullptr; ///< Multiplies them; null: the scan computes all.
    Survivors *found = nullptr;         ///< If not null, what comes of rows that are kept.
    Abandon *abandon = nullptr;         ///< Where the scan computes all, but may leave rows.
    Tally *tally = nullptr;
  };
  /// The pairs of a batch.
  template <class Results> struct OneQuery; // Whose rows are computed one by one.
  template <class Results>
  void scanPairs(const RowStore &index, const Batch &batch, const SearchParams &params,
                 const std::array<uint64_t, ANNUDF_MAX_CAPTURES> &slots, const ScanKernel &kernel,
                 const Way &way, Results &results, Reporter &reporter) const;
  struct RowsOfPairs {
    double all = 0, unbounded = 0; ///< The latter scanned without bounds.
  };
  template <class Results>
  RowsOfPairs
  scanLists(const RowStore &index, Batch &batch, const std::vector<uint32_t> &probes,
            const SearchParams &params, const std::array<uint64_t, ANNUDF_MAX_CAPTURES> &slots,
            const ScanKernel &kernel, const MatrixScan *matrix, Abandon &abandon, Tally &tally,
            Results &results, Reporter &reporter, StageTimer &stage) const;
  /// The scan of all queries, for a class of results as BestRows is one.
  template <class Results>
  void scan(const RowStore &index, const MetricView &metric, const BoundCaptures &captures,
            const MatrixView &queries, const SearchParams &params, Results results,
            SearchStats *stats);

  const int threads_;
  ScanCache kernels_;
};

std::shared_ptr<const CoarseRanker> CpuBackend::ranker(const RowStore &index,
                                                       const Manifest &manifest) {
  bool made = false;
  const std::string key =
      std::string("coarse ") + toString(manifest.coarse) + " " + toString(manifest.coarseOrder);
  const auto prepared = index.attachments().get<PreparedCenters>(
      key,
      [&] {
        return std::make_shared<PreparedCenters>(
            CoarseRanker(*index.listCenters(), manifest.coarse, manifest.coarseOrder));
      },
      made);
  return {prepared, &prepared->ranker};
}

template <class Results> struct CpuBackend::OneQuery {
  const RowStore &index;
  const Batch &batch;
  const SearchParams &params;
  const uint64_t *slots;
  const ScanKernel &kernel;
  const MatrixScan &matrix;
  Results &results;
  Tally &tally;

  /// \return what the query's limit then says of bounds.
  float compute(int32_t query, std::span<Survivors::Row> rows, MatrixScan::Workspace &work) const {
    const void *const x = batch.coordinates.row(query);
    const uint32_t *const integers = batch.coordinates.integers(query);
    const auto number = int32_t(params.firstQuery + batch.first + query);
    Sink<Results> sink{&results, &query};
    float limit = results.tighten(query);
    annudf_cpu_scan scan{};
    scan.x = &x, scan.integers = &integers, scan.query = &number;
    scan.slots = slots;
    scan.limit = &limit;
    scan.push = Sink<Results>::take, scan.sink = &sink;
    Tally::Nan nan(tally);
    scan.nan = &nan;
    return matrix.compute(kernel, index, scan, query, rows, Sink<Results>::tighten, work);
  }

  /// What is left of the candidates, once all lists have been looked at.
  void computeRest(Survivors &found, int threads) const {
    constexpr int64_t kTogether = 64;
    std::vector<MatrixScan::Workspace> work(static_cast<size_t>(threads));
    parallelFor(threads, (batch.size + kTogether - 1) / kTogether, [&](int64_t t, int worker) {
      const int64_t begin = t * kTogether, end = std::min(batch.size, begin + kTogether);
      std::span<Survivors::Row> next = found.rest(begin);
      for (int64_t q = begin; q < end; ++q) {
        const std::span<Survivors::Row> rows = next;
        if (q + 1 < end)
          matrix.fetch(index, next = found.rest(q + 1));
        compute(int32_t(q), rows, work[size_t(worker)]);
      }
    });
  }
};

std::optional<MatrixScan> CpuBackend::matrixOf(const RowStore &index, const MetricView &metric,
                                               const BoundCaptures &captures, Workload work,
                                               Plan &plan) const {
  const auto isMatrix = [this](const Plan &plan) {
    return families()[plan.family]->name() == std::string_view(MatrixProducts::kName);
  };
  work.rowsAreKept = mayKeepRows() != KeepRows::None;
  plan = this->plan(work);
  if (!isMatrix(plan))
    return std::nullopt;
  bool made = false;
  const auto rows = index.attachments().get<MatrixRows>(
      "cpu matrix", [] { return std::make_shared<MatrixRows>(); }, made);
  const std::string key = metric.digest + captures.digest();
  if (work.rowsAreKept && !rows->wasAsked(key)) {
    // Whether more searches come nobody knows. One that would convert the rows as well, and those
    // of nearest lists had been read before, takes no longer with rows that stay.
    Workload once = work;
    once.rowsAreKept = false;
    once.family.clear();
    work.rowsAreKept = work.probes < work.lists && isMatrix(this->plan(once));
    plan = this->plan(work);
    if (!isMatrix(plan))
      return std::nullopt;
  }
  const MatrixKernels &kernels = matrixKernels();
  const Manifest &manifest = metric.artifact.manifest;
  std::string whyNot;
  const auto form = rows->bind(index, key, *manifest.form, captures, manifest.order, whyNot);
  std::shared_ptr<const KeptRows> kept;
  if (form && work.rowsAreKept)
    kept = rows->get(index, kernels, key, *form, threads_, whyNot);
  if (form && (kept || !work.rowsAreKept))
    return MatrixScan(kernels, form, std::move(kept), work.k);
  if (form) { // Without rows that are kept, or another way.
    work.rowsAreKept = false;
    plan = this->plan(work);
    if (isMatrix(plan)) {
      plan.why += ", no rows kept: " + whyNot;
      return MatrixScan(kernels, form, nullptr, work.k);
    }
  }
  plan = planWithout(work, whyNot);
  return std::nullopt;
}

/// Another way, where what was bound does not allow products.
Plan CpuBackend::planWithout(Workload work, const std::string &whyNot) const {
  if (!work.family.empty())
    throw familyRefusal(work.family, whyNot);
  work.rowsAreKept = work.formIsDistance = false;
  Plan plan = this->plan(work);
  plan.why = std::string("not ") + MatrixProducts::kName + ": " + whyNot;
  return plan;
}

template <class Results>
void CpuBackend::scanPairs(const RowStore &index, const Batch &batch, const SearchParams &params,
                           const std::array<uint64_t, ANNUDF_MAX_CAPTURES> &slots,
                           const ScanKernel &kernel, const Way &way, Results &results,
                           Reporter &reporter) const {
  const MatrixScan *const matrix = way.matrix;
  const std::vector<Task> tasks = tasksOf(index, batch, threads_);
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
  std::vector<std::vector<float>> limits(threads_);
  std::vector<std::vector<uint32_t>> passing(threads_);
  std::vector<MatrixScan::Workspace> work(matrix ? threads_ : 0);
  parallelFor(threads_, int64_t(tasks.size()), [&](int64_t t, int worker) {
    reporter.now(double(batch.first) +
                 double(batch.size) *
                     (batch.before + batch.share * double(t) / double(tasks.size())));
    const Task &task = tasks[t];
    Abandon::Task abandon(way.abandon, t, int64_t(tasks.size()));
    const int64_t begin = batch.listBegin[task.list];
    const int64_t pairs = batch.listBegin[task.list + 1] - begin;
    std::vector<float> &limit = limits[worker];
    limit.resize(pairs);
    for (int64_t i = 0; i < pairs; ++i)
      limit[i] = matrix || abandon.block() != 0 ? results.tighten(batch.pairs[begin + i])
                                                : results.limit(batch.pairs[begin + i]);
    Sink<Results> sink{&results, &batch.pairs[begin]};
    annudf_cpu_scan scan = scanOf(index, task);
    // Likely this thread's next.
    const Task &next = tasks[std::min(t + threads_, int64_t(tasks.size()) - 1)];
    scan.ahead = scanOf(index, next).rows;
    scan.queries = int32_t(pairs);
    scan.x = &x[begin];
    scan.integers = &integers[begin];
    scan.query = &number[begin];
    scan.slots = slots.data();
    scan.limit = limit.data();
    scan.block = abandon.block();
    scan.left = &abandon.left;
    scan.push = Sink<Results>::take;
    scan.sink = &sink;
    Tally::Nan nan(*way.tally);
    scan.nan = &nan;
    if (params.filter) {
      markPassing(*params.filter, scan, passing[worker]);
      scan.pass = passing[worker].data();
    }
    way.tally->scored(scan);
    if (way.found) {
      const OneQuery<Results> one{index,  batch,   params,  slots.data(),
                                  kernel, *matrix, results, *way.tally};
      matrix->collect(
          scan, task.firstGroup, sink.queries, *way.found,
          [&](int32_t query, std::span<Survivors::Row> rows) {
            return one.compute(query, rows, work[worker]);
          },
          work[worker]);
    } else if (matrix)
      matrix->run(kernel, scan, sink.queries, Sink<Results>::tighten, work[worker]);
    else
      kernel.run(scan);
    abandon.done(double(task.cost));
  });
}

/// All probes of a batch. \return how many rows these are, where stages are timed.
template <class Results>
CpuBackend::RowsOfPairs
CpuBackend::scanLists(const RowStore &index, Batch &batch, const std::vector<uint32_t> &probes,
                      const SearchParams &params,
                      const std::array<uint64_t, ANNUDF_MAX_CAPTURES> &slots,
                      const ScanKernel &kernel, const MatrixScan *matrix, Abandon &abandon,
                      Tally &tally, Results &results, Reporter &reporter, StageTimer &stage) const {
  RowsOfPairs scanned;
  const uint32_t nProbes = probesOf(index, params.candidates);
  std::optional<Survivors> found;
  if (matrix && matrix->hasRows())
    found.emplace(batch.size, results.selected(), index.size(), matrix->widen());
  const auto scanProbes = [&](uint32_t from, uint32_t to, const Way &way) {
    batch.sortByList(index.nLists(), probes, nProbes, from, to);
    for (uint32_t list = 0; params.timeStages && list < index.nLists(); ++list) {
      const double rows =
          double(index.list(list).size) * double(batch.listBegin[list + 1] - batch.listBegin[list]);
      scanned.all += rows, scanned.unbounded += way.matrix ? 0 : rows;
    }
    stage("sort");
    scanPairs(index, batch, params, slots, kernel, way, results, reporter);
    stage("scan");
  };
  // What the nearest list gives is a limit that bounds of the others are compared with.
  const double perList = double(batch.size) * nProbes / index.nLists();
  const bool isFirst = matrix && nProbes < index.nLists() && (!found || perList >= kNearestFirst);
  const Way plain{nullptr, nullptr, &abandon, &tally};
  const Way way = matrix ? Way{matrix, found ? &*found : nullptr, nullptr, &tally} : plain;
  if (isFirst)
    scanProbes(0, 1, found ? way : plain);
  scanProbes(isFirst ? 1 : 0, nProbes, way);
  if (found)
    OneQuery<Results>{index, batch, params, slots.data(), kernel, *matrix, results, tally}
        .computeRest(*found, threads_);
  return scanned;
}

template <class Results>
void CpuBackend::scan(const RowStore &index, const MetricView &metric,
                      const BoundCaptures &captures, const MatrixView &queries,
                      const SearchParams &params, Results results, SearchStats *stats) {
  const FloatModes modes; // Queries are converted and results collected in the caller's thread.
  checkCaptures(metric, captures, extentsOf(index, queries));
  checkFinite(queries, "queries", threads_, index.missingValues() ? NaNs::Missing : NaNs::Refused);
  const Manifest &manifest = metric.artifact.manifest;
  const int k = results.selected();
  bool compiled = false;
  Workload work = workloadOf(manifest, index, queries.rows, k, params);
  work.formIsDistance = work.formIsDistance && Results::kLeavesOut;
  Plan plan;
  std::optional<MatrixScan> matrix = matrixOf(index, metric, captures, work, plan);
  const std::shared_ptr<const ScanKernel> kernel =
      kernels_.get(metric, {index.element(), queries.element}, compiled);
  const std::array<uint64_t, ANNUDF_MAX_CAPTURES> slots = slotsOf(captures);
  const std::string noLimits = matrix ? matrix->setFinalize(*kernel, manifest.order, slots.data(),
                                                            int32_t(params.firstQuery))
                                      : "";
  if (!noLimits.empty()) {
    matrix.reset();
    plan = planWithout(work, noLimits);
  }
  if (!params.family.empty())
    plan.why += kByName;
  const auto started = std::chrono::steady_clock::now();
  StageTimer stage(params.timeStages);
  const uint32_t nProbes = probesOf(index, params.candidates);
  const std::shared_ptr<const CoarseRanker> coarse =
      areRanked(index, params.candidates) ? ranker(index, manifest) : nullptr;
  const auto rowBytes = static_cast<size_t>(bytesOfRow(queries.element, queries.dims));
  Reporter reporter(params.progress, double(queries.rows));
  const annudf_compute compute = manifest.compute;
  const int64_t batchSize = queriesPerBatch(
      k, index.size(), nProbes,
      QueryCoordinates::bytes(index.dims(), queries.element, compute) +
          (matrix ? MatrixScan::bytesOfQuery(index.dims()) : 0) +
          (matrix && matrix->hasRows() ? Survivors::bytesPerQuery(k, index.size()) : 0));

  Abandon abandon(mayAbandon(manifest) && captures.areMonotone() && Results::kLeavesOut,
                  index.dims(), index.element());
  Tally tally;
  double scanned = 0, byScan = 0; // Rows of pairs, and those without bounds.
  std::atomic<int64_t> left = 0;  // By bounds.
  if (matrix && params.timeStages)
    matrix->countInto(&left);
  for (int64_t first = 0; first < queries.rows; first += batchSize) {
    MatrixView view = queries;
    view.data = static_cast<const std::byte *>(queries.data) + first * rowBytes;
    view.rows = std::min(batchSize, queries.rows - first);
    Batch batch(view, compute, first);
    const std::vector<uint32_t> probes =
        probedLists(params.candidates, coarse.get(), view, first, nProbes, threads_);
    stage("coarse");
    results.begin(first, batch.size, threads_);
    if (matrix)
      matrix->setQueries(batch.coordinates, batch.size, threads_);
    const RowsOfPairs pairs =
        scanLists(index, batch, probes, params, slots, *kernel, matrix ? &*matrix : nullptr,
                  abandon, tally, results, reporter, stage);
    scanned += pairs.all, byScan += pairs.unbounded;
    results.finish(threads_);
    stage("finish");
    reporter.now(double(first + batch.size));
  }
  reporter.finish();
  if (params.timeStages) // Else nothing was counted that these are parts of.
    byScan -= double(abandon.left()) / index.dims();
  if (!stats)
    return;
  *stats = {.linkMs = compiled ? kernel->linkMs : 0,
            .links = compiled ? 1 : 0,
            .searchMs = msSince(started),
            .family = plan.name,
            .why = plan.why,
            .passingShare = work.pass,
            .stages = stage.takeTimes(),
            .rowsPerQuery = scanned / double(queries.rows),
            .evaluatedPerQuery = (byScan + double(left)) / double(queries.rows),
            .slow = kernel->remark};
  tally.report(*stats);
}

void CpuBackend::search(const RowStore &index, const MetricView &metric,
                        const BoundCaptures &captures, const MatrixView &queries, int k,
                        const SearchParams &params, int64_t *ids, float *distances,
                        SearchStats *stats) {
  checkSearch(index, metric, queries, k, params);
  scan(index, metric, captures, queries, params,
       BestRows(k, metric.artifact.manifest.order, index.size(), ids, distances), stats);
}

void CpuBackend::distances(const RowStore &index, const MetricView &metric,
                           const BoundCaptures &captures, const MatrixView &queries,
                           const Progress &progress, float *distances, SearchStats *stats,
                           int64_t firstQuery) {
  checkDistances(index, metric, queries, firstQuery);
  scan(index, metric, captures, queries, {.progress = progress, .firstQuery = firstQuery},
       EveryDistance(metric.artifact.manifest.order, index.size(), distances), stats);
}

} // namespace

std::unique_ptr<Backend> makeCpuBackend(int threads) {
  return std::make_unique<CpuBackend>(threads);
}

} // namespace annudf::runtime
