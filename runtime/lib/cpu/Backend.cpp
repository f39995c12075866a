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

#include "Batch.h"
#include "Families.h"
#include "Jit.h"
#include "KernelCache.h"
#include "Queries.h"
#include "Results.h"

#include "../../kernels/Orders.h"
#include "../../kernels/cpu/ScanArgs.h"
#include "../support/FloatModes.h"
#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/engine/Plan.h"
#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/support/Clock.h"
#include "annudf/runtime/support/Parallel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <thread>

namespace annudf::runtime {

namespace {

using namespace cpu;

static_assert(kGroupRows == ANNUDF_CPU_GROUP_ROWS, "the scan's groups are the index's");

/// Tasks for each thread, so that none waits long for the last.
constexpr int64_t kTasksPerThread = 16;
/// Coordinates times queries of a task, after which the caller is asked whether to go on: some 10
/// ms of a plain metric, a tenth of a second or two of one with logarithms.
constexpr int64_t kMostCoordinates = int64_t(1) << 26;

/// Groups [first, first + count) of a list, and the pairs that probe the list.
struct Task {
  uint32_t list;
  int64_t firstGroup, groups;
  int64_t cost;
};

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

/// Asks the caller now and then, on his own thread, whether to go on.
class Reporter {
public:
  Reporter(const Progress &progress, double total) : progress_(progress), total_(total) {
    report(progress_, "search", 0);
  }
  /// \param done  of `total`. May be called by any thread.
  void now(double done) {
    if (!progress_ || std::this_thread::get_id() != caller_)
      return;
    constexpr std::chrono::milliseconds kPause(50);
    const auto time = std::chrono::steady_clock::now();
    if (time - last_ < kPause)
      return;
    last_ = time;
    report(progress_, "search", done / total_);
  }
  void finish() const { report(progress_, "search", 1); }

private:
  const Progress &progress_;
  const double total_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// An index's centers, prepared for one coarse metric.
struct PreparedCenters : IndexAttachment {
  explicit PreparedCenters(CoarseRanker made) : ranker(std::move(made)) {}
  const CoarseRanker ranker;
};

/// Why these kernels, and what of this one is slow.
std::string why(const ScanKernel &kernel, const std::string &family) {
  return kernel.remark.empty() ? family : family + "; " + kernel.remark;
}

class CpuBackend : public Backend {
public:
  explicit CpuBackend(int threads) : threads_(resolveThreads(threads)) {}

  void search(const Index &index, const MetricView &metric, const BoundCaptures &captures,
              const MatrixView &queries, int k, const SearchParams &params, int64_t *ids,
              float *distances, SearchStats *stats) override;
  void distances(const Index &index, const MetricView &metric, const BoundCaptures &captures,
                 const MatrixView &queries, const Progress &progress, float *distances,
                 SearchStats *stats, int64_t firstQuery) override;

  void precompile(const MetricView &metric, ScanElements elements, SearchStats *stats) override {
    checkElements(metric, elements);
    bool compiled = false;
    const std::shared_ptr<const ScanKernel> kernel = kernels_.get(metric, elements, compiled);
    if (stats)
      *stats = {.linkMs = compiled ? kernel->linkMs : 0,
                .links = compiled ? 1 : 0,
                .why = why(*kernel, kOnlyFamily)};
  }

  std::vector<const KernelFamily *> families() const override {
    static const Groups groups;
    static const MatrixProducts matrix;
    return {&groups, &matrix};
  }
  Machine machine() const override { return {.processors = threads_}; }

  std::string describe() const override {
    return "CPU, " + std::to_string(threads_) + (threads_ == 1 ? " thread, " : " threads, ") +
           describeHost();
  }

private:
  struct Batch; // Queries searched together.
  static std::shared_ptr<const CoarseRanker> ranker(const Index &index, const Manifest &manifest);
  std::vector<Task> cut(const Index &index, const Batch &batch) const;
  /// Where the plan is to multiply matrices; another plan where what was bound does not allow it.
  std::optional<MatrixScan> matrixOf(const Index &index, const Manifest &manifest,
                                     const BoundCaptures &captures, Workload work,
                                     Plan &plan) const;
  /// The pairs of a batch. \param matrix  multiplies them; null: the scan computes all.
  template <class Results>
  void scanPairs(const Index &index, const Batch &batch, const SearchParams &params,
                 const std::array<uint64_t, ANNUDF_MAX_CAPTURES> &slots, const ScanKernel &kernel,
                 const MatrixScan *matrix, Results &results, Reporter &reporter) const;
  /// The scan of all queries, for a class of results as BestRows is one.
  template <class Results>
  void scan(const Index &index, const MetricView &metric, const BoundCaptures &captures,
            const MatrixView &queries, const SearchParams &params, Results results,
            SearchStats *stats);

  const int threads_;
  ScanCache kernels_;
};

struct CpuBackend::Batch {
  int64_t first; ///< Of the user's batch.
  int64_t size;
  QueryCoordinates coordinates;
  std::vector<int64_t> listBegin; ///< Pairs of list l: [listBegin[l], listBegin[l + 1]).
  std::vector<int32_t> pairs;     ///< Queries by list, numbered within the batch.
  double before = 0, share = 1;   ///< Of the batch's pairs, those sorted before and now.

  /// \param queries  those of the batch.
  Batch(const MatrixView &queries, annudf_compute compute, int64_t first)
      : first(first), size(queries.rows), coordinates(queries, compute) {}

  /// The pairs of each query's probes [from, to).
  void sortByList(uint32_t nLists, const std::vector<uint32_t> &probes, uint32_t nProbes,
                  uint32_t from, uint32_t to) {
    before = double(from) / nProbes, share = double(to - from) / nProbes;
    listBegin.assign(nLists + 1, 0);
    for (int64_t q = 0; q < size; ++q)
      for (uint32_t i = from; i < to; ++i)
        ++listBegin[probes[q * nProbes + i] + 1];
    std::partial_sum(listBegin.begin(), listBegin.end(), listBegin.begin());
    std::vector<int64_t> next(listBegin.begin(), listBegin.end() - 1);
    pairs.resize(size_t(size) * (to - from));
    for (int64_t q = 0; q < size; ++q)
      for (uint32_t i = from; i < to; ++i)
        pairs[next[probes[q * nProbes + i]]++] = int32_t(q);
  }
};

std::shared_ptr<const CoarseRanker> CpuBackend::ranker(const Index &index,
                                                       const Manifest &manifest) {
  bool made = false;
  const std::string key =
      std::string("coarse ") + toString(manifest.coarse) + " " + toString(manifest.coarseOrder);
  const auto prepared = index.attachments().get<PreparedCenters>(
      key,
      [&] {
        return std::make_shared<PreparedCenters>(
            CoarseRanker(index, manifest.coarse, manifest.coarseOrder));
      },
      made);
  return {prepared, &prepared->ranker};
}

/// One task a list, large lists cut so that all threads end together.
std::vector<Task> CpuBackend::cut(const Index &index, const Batch &batch) const {
  std::vector<Task> tasks;
  int64_t total = 0;
  for (uint32_t list = 0; list < index.nLists(); ++list)
    total += index.list(list).groups() * (batch.listBegin[list + 1] - batch.listBegin[list]);
  const int64_t most = kMostCoordinates / (int64_t(index.dims()) * kGroupRows);
  const int64_t even = threads_ == 1 ? total : total / (threads_ * kTasksPerThread);
  const int64_t share = std::max<int64_t>(1, std::min(even, most));
  for (uint32_t list = 0; list < index.nLists(); ++list) {
    const int64_t groups = index.list(list).groups();
    const int64_t pairs = batch.listBegin[list + 1] - batch.listBegin[list];
    if (groups == 0 || pairs == 0)
      continue;
    const int64_t pieces = std::min(groups, (groups * pairs + share - 1) / share);
    for (int64_t i = 0; i < pieces; ++i) {
      const int64_t begin = groups * i / pieces, end = groups * (i + 1) / pieces;
      tasks.push_back({list, begin, end - begin, (end - begin) * pairs});
    }
  }
  std::sort(tasks.begin(), tasks.end(),
            [](const Task &a, const Task &b) { return a.cost > b.cost; });
  return tasks;
}

/// Of each group that a task scans, which rows pass the filter.
void markPassing(const RowFilter &filter, const annudf_cpu_scan &scan,
                 std::vector<uint32_t> &pass) {
  pass.assign(static_cast<size_t>((scan.size + kGroupRows - 1) / kGroupRows), 0);
  for (int64_t row = 0; row < scan.size; ++row)
    pass[static_cast<size_t>(row / kGroupRows)] |= uint32_t(filter.passes(scan.ids[row]))
                                                   << (row % kGroupRows);
}

/// The rows that a task scans; the queries are the caller's to add.
annudf_cpu_scan scanOf(const Index &index, const Task &task) {
  const List &list = index.list(task.list);
  annudf_cpu_scan scan{};
  scan.rows = list.words.data() + task.firstGroup * index.words() * kGroupRows;
  scan.ids = list.ids.data() + task.firstGroup * kGroupRows;
  scan.size = std::min(task.groups * kGroupRows, list.size - task.firstGroup * kGroupRows);
  scan.words = index.words();
  scan.dims = index.dims();
  scan.list = int32_t(task.list);
  return scan;
}

std::optional<MatrixScan> CpuBackend::matrixOf(const Index &index, const Manifest &manifest,
                                               const BoundCaptures &captures, Workload work,
                                               Plan &plan) const {
  if (families()[plan.family]->name() != std::string_view(MatrixProducts::kName))
    return std::nullopt;
  std::string whyNot;
  std::optional<MatrixScan> matrix = MatrixScan::make(
      MatrixProducts::kernels(), *manifest.form, captures, index, manifest.order, work.k, whyNot);
  if (matrix)
    return matrix;
  if (!work.family.empty())
    throw Error(ErrorKind::Input, "family '" + work.family + "' cannot run this search: " + whyNot);
  work.formIsDistance = false;
  plan = this->plan(work);
  plan.why = std::string("not ") + MatrixProducts::kName + ": " + whyNot;
  return std::nullopt;
}

template <class Results>
void CpuBackend::scanPairs(const Index &index, const Batch &batch, const SearchParams &params,
                           const std::array<uint64_t, ANNUDF_MAX_CAPTURES> &slots,
                           const ScanKernel &kernel, const MatrixScan *matrix, Results &results,
                           Reporter &reporter) const {
  const std::vector<Task> tasks = cut(index, batch);
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
    scan.slots = slots.data();
    scan.limit = limit.data();
    scan.push = Sink<Results>::take;
    scan.sink = &sink;
    if (params.filter) {
      markPassing(*params.filter, scan, passing[worker]);
      scan.pass = passing[worker].data();
    }
    if (matrix)
      matrix->run(kernel, scan, sink.queries, Sink<Results>::tighten, work[worker]);
    else
      kernel.run(scan);
  });
}

template <class Results>
void CpuBackend::scan(const Index &index, const MetricView &metric, const BoundCaptures &captures,
                      const MatrixView &queries, const SearchParams &params, Results results,
                      SearchStats *stats) {
  const FloatModes modes; // Queries are converted and results collected in the caller's thread.
  checkCaptures(metric, captures, extentsOf(index, queries));
  checkFinite(queries, "queries", threads_, index.missingValues() ? NaNs::Missing : NaNs::Refused);
  const Manifest &manifest = metric.artifact.manifest;
  const int k = results.selected();
  bool compiled = false;
  Workload work = workloadOf(manifest, index, queries.rows, k, params.nProbes);
  work.family = params.family;
  work.formIsDistance = work.formIsDistance && Results::kLeavesOut && !index.missingValues();
  Plan plan = this->plan(work);
  std::optional<MatrixScan> matrix = matrixOf(index, manifest, captures, work, plan);
  const std::shared_ptr<const ScanKernel> kernel =
      kernels_.get(metric, {index.element(), queries.element}, compiled);
  const auto started = std::chrono::steady_clock::now();
  const bool everyList = params.nProbes == index.nLists(); // Nothing is to be ranked.
  const std::shared_ptr<const CoarseRanker> coarse = everyList ? nullptr : ranker(index, manifest);
  const std::array<uint64_t, ANNUDF_MAX_CAPTURES> slots = slotsOf(captures);
  const auto rowBytes = static_cast<size_t>(bytesOfRow(queries.element, queries.dims));
  Reporter reporter(params.progress, double(queries.rows));
  const annudf_compute compute = manifest.compute;
  const int64_t batchSize =
      queriesPerBatch(k, index.size(), params.nProbes,
                      QueryCoordinates::bytes(index.dims(), queries.element, compute) +
                          (matrix ? MatrixScan::bytesOfQuery(index.dims()) : 0));

  std::vector<StageTime> stages;
  double scanned = 0, byScan = 0; // Rows of pairs, and those without bounds.
  std::atomic<int64_t> left = 0;  // By bounds.
  if (matrix && params.timeStages)
    matrix->countInto(&left);
  auto begun = started;
  const auto stage = [&](const char *name) {
    if (!params.timeStages)
      return;
    const auto now = std::chrono::steady_clock::now();
    addStage(stages, name, msBetween(begun, now));
    begun = now;
  };

  for (int64_t first = 0; first < queries.rows; first += batchSize) {
    MatrixView view = queries;
    view.data = static_cast<const std::byte *>(queries.data) + first * rowBytes;
    view.rows = std::min(batchSize, queries.rows - first);
    Batch batch(view, compute, first);
    std::vector<uint32_t> probes(batch.size * params.nProbes);
    if (everyList)
      for (size_t i = 0; i < probes.size(); ++i)
        probes[i] = static_cast<uint32_t>(i % params.nProbes);
    else
      coarse->rank(view, params.nProbes, probes.data(), threads_);
    stage("coarse");
    results.begin(first, batch.size, threads_);
    if (matrix)
      matrix->setQueries(batch.coordinates, batch.size, threads_);
    // What the nearest list gives is a limit that bounds of the others are compared with.
    const uint32_t nearest = matrix && !everyList ? 1 : 0;
    for (uint32_t from = 0, to = nearest != 0 ? nearest : params.nProbes; from < params.nProbes;
         from = to, to = params.nProbes) {
      batch.sortByList(index.nLists(), probes, params.nProbes, from, to);
      const MatrixScan *const products = matrix && from == nearest ? &*matrix : nullptr;
      for (uint32_t list = 0; params.timeStages && list < index.nLists(); ++list) {
        const double rows = double(index.list(list).size) *
                            double(batch.listBegin[list + 1] - batch.listBegin[list]);
        scanned += rows, byScan += products ? 0 : rows;
      }
      stage("sort");
      scanPairs(index, batch, params, slots, *kernel, products, results, reporter);
      stage("scan");
    }
    results.finish(threads_);
    stage("finish");
    reporter.now(double(first + batch.size));
  }
  reporter.finish();
  if (stats)
    *stats = {.linkMs = compiled ? kernel->linkMs : 0,
              .links = compiled ? 1 : 0,
              .searchMs = msSince(started),
              .family = plan.name,
              .why = why(*kernel, plan.why),
              .stages = std::move(stages),
              .rowsPerQuery = scanned / double(queries.rows),
              .evaluatedPerQuery = (byScan + double(left)) / double(queries.rows)};
}

void CpuBackend::search(const Index &index, const MetricView &metric, const BoundCaptures &captures,
                        const MatrixView &queries, int k, const SearchParams &params, int64_t *ids,
                        float *distances, SearchStats *stats) {
  checkSearch(index, metric, queries, k, params);
  scan(index, metric, captures, queries, params,
       BestRows(k, metric.artifact.manifest.order, index.size(), ids, distances), stats);
}

void CpuBackend::distances(const Index &index, const MetricView &metric,
                           const BoundCaptures &captures, const MatrixView &queries,
                           const Progress &progress, float *distances, SearchStats *stats,
                           int64_t firstQuery) {
  checkDistances(index, metric, queries, firstQuery);
  scan(index, metric, captures, queries,
       {.nProbes = index.nLists(), .progress = progress, .firstQuery = firstQuery},
       EveryDistance(metric.artifact.manifest.order, index.size(), distances), stats);
}

} // namespace

std::unique_ptr<Backend> makeCpuBackend(int threads) {
  return std::make_unique<CpuBackend>(threads);
}

} // namespace annudf::runtime
