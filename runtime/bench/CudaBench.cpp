//===- CudaBench.cpp - Times a metric on a GPU -----------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Searches generated vectors with a compiled metric; one JSON object a line.
//
//   annudf_cuda_bench --metric M.annudf [--rows N --dims D --clusters C --sigma S] [--lists L]
//   [--probes 32,64]
//                     [--dtype f32|f16|bf16|i8|u8] [--k 10,100] [--batch 1,10,100,1000,10000]
//                     [--scalar V] [--host] [--pass 0.5,0.01] [--links] [--family tiles,staged]
//                     [--stages] [--prepared same|other] [--host-build] [--skew S]
//                     [--by-hand KERNELS.cubin] [--contract] [--tenant 0.1] [--tenant-filter
//                     F.annudf]
//
// The data is a Gaussian mixture, the same for the same arguments: row r belongs to
// cluster mix(seed + 7919 r) mod C, center N(0,1), spread S. Queries and results are
// on the device; --host times the search from and to host memory instead. The index is built on
// the device; --host-build builds it on the host and uploads it. Array
// captures get weights between 0.5 and 1.5, of each query others, scalar captures V. Recall is
// against the same metric with every list probed. --pass also times searches with a filter that
// lets these shares of the rows pass, at random. --links times, before anything else, what the
// first searches wait for: a link, a kernel from the cache on disk, one in memory; with
// CUDA_CACHE_DISABLE=1, or nvJitLink's own cache answers. --family times each of these in turn,
// instead of the planner's choice. --prepared times prepared searches, with the same addresses or
// others each time; host_us is what the call of a search in device memory takes. --stages adds how
// long each stage takes, events between them, and the rows that a query scans. --skew puts this
// share of the rows, and of no queries more than chance does, so close together that they are one
// list. --by-hand runs kernels that hold the formula themselves (ByHand.cu). --tenant also times
// searches in which each query may find this share of the rows, its tenant's: by the code of
// --tenant-filter, whose captures of rows and queries are tenants (--tenant-column: the rows' are
// a column), else by a bit for each pair.
//
//===----------------------------------------------------------------------===//

#include "CudaGoal.h"
#include "CudaLinks.h"
#include "Mixture.h"
#include "Tenants.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/support/Clock.h"
#include "annudf/runtime/support/Parallel.h"
#include "cuda/driver/Driver.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sstream>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::runtime::cuda;
using annudf::bench::mix, annudf::bench::mixture;
using Clock = std::chrono::steady_clock;

namespace {

/// Recall is that of so many queries.
constexpr int64_t kTruthRows = 1000;

BoundCaptures capturesFor(const Manifest &manifest, int32_t dims, int64_t queries, float scalar) {
  std::map<std::string, NumericArray> values;
  for (const CaptureInfo &capture : manifest.captures) {
    std::vector<float> numbers{scalar};
    NumericArray array{"f32", {}, {}, "generated"};
    if (!capture.extents.empty()) {
      int64_t count = 1;
      for (const CaptureExtent &extent : capture.extents) {
        array.shape.push_back(extent.kind == ANNUDF_EXTENT_CONSTANT ? extent.constant
                              : extent.kind == ANNUDF_EXTENT_QUERY  ? queries
                                                                    : dims);
        count *= array.shape.back();
      }
      numbers.resize(static_cast<size_t>(count));
      for (int64_t i = 0; i < count; ++i)
        numbers[i] =
            0.5f + float((i * 37 + i / dims * 11) % 64) / 64; // Other numbers for each query.
    }
    array.storage.resize(numbers.size() * sizeof(float));
    std::memcpy(array.storage.data(), numbers.data(), array.storage.size());
    values[capture.name] = array;
  }
  return BoundCaptures::bind(manifest, {dims, 0, queries}, values);
}

/// What the arguments say.
struct Options {
  std::string metric, dtype = "f32";
  annudf_element element = ANNUDF_ELEMENT_F32;
  int64_t rows = 1000000, clusters = 20000;
  int32_t dims = 128;
  float sigma = 0.6f, scalar = 2.5f;
  uint32_t lists = 1024;
  std::vector<int64_t> probes = {32}, batches = {1, 10, 100, 1000, 10000}, ks = {10};
  std::vector<double> pass;    ///< Shares of rows that filters let pass.
  std::vector<double> tenants; ///< Shares of rows that a query may find, each query others.
  std::string tenantFilter;    ///< The code that says which; "": bits do.
  bool tenantColumn = false;   ///< Whether tenants of rows are a column, and not an array by id.
  std::vector<std::string> families = {""};
  int64_t queries = 0, maxK = 0; ///< The most of one search.
  int64_t maxProbes = 0;         ///< As of SearchGoal, for searches with a filter.
  bool host = false, hostBuild = false, links = false, stages = false, contract = false;
  double skew = 0;      ///< Share of the rows in one cluster, and so in one list.
  std::string byHand;   ///< A cubin of ByHand.cu, which takes the place of the linked kernels.
  std::string prepared; ///< "same" or "other" addresses each run; "": searches are not prepared.

  void addOptions(CLI::App &app);
  /// What follows from the options.
  void complete();
};

void Options::addOptions(CLI::App &app) {
  app.option_defaults()->always_capture_default();
  app.add_option("--metric", metric, "M.annudf; scripts/gpu artifacts makes some")->required();
  app.add_option("--rows", rows)->check(CLI::PositiveNumber);
  app.add_option("--dims", dims)->check(CLI::PositiveNumber);
  app.add_option("--clusters", clusters, "Of the Gaussian mixture")->check(CLI::PositiveNumber);
  app.add_option("--sigma", sigma, "Spread of a cluster");
  app.add_option("--dtype", dtype, "f32, f16, bf16, i8 or u8");
  app.add_option("--lists", lists)->check(CLI::PositiveNumber);
  app.add_option("--probes", probes)->delimiter(',')->check(CLI::PositiveNumber);
  app.add_option("--k", ks)->delimiter(',')->check(CLI::PositiveNumber);
  app.add_option("--batch", batches, "Queries of a search")
      ->delimiter(',')
      ->check(CLI::PositiveNumber);
  app.add_option("--pass", pass, "Search with filters too, that let these shares of the rows pass")
      ->delimiter(',');
  app.add_option("--max-probes", maxProbes, "Of searches with --pass: more lists where few pass")
      ->check(CLI::PositiveNumber);
  app.add_option("--tenant", tenants, "Search also where a query has only these shares of the rows")
      ->delimiter(',')
      ->check(CLI::Range(1e-9, 1.0));
  app.add_option("--tenant-filter", tenantFilter, "The filter that compares the tenants")
      ->check(CLI::ExistingFile);
  app.add_flag("--tenant-column", tenantColumn,
               "The rows' tenants are a column of the index; for one --tenant")
      ->needs("--tenant-filter");
  app.add_option("--scalar", scalar, "Value of scalar captures");
  app.add_option("--family", families, "Kernels to run in turns, \"\": the planner's choice")
      ->delimiter(',');
  app.add_option("--prepared", prepared, "Prepared searches, with the same addresses or others")
      ->check(CLI::IsMember({"same", "other"}));
  app.add_option("--skew", skew, "Share of the rows that one list holds")
      ->check(CLI::Range(0.0, 1.0));
  app.add_option("--by-hand", byHand, "A cubin of ByHand.cu, run instead of the linked kernels")
      ->check(CLI::ExistingFile);
  app.add_flag("--contract", contract, "Print the number of the metric's contract, and end");
  app.add_flag("--host", host, "Search from and to host memory");
  app.add_flag("--host-build", hostBuild, "Build the index on the host");
  app.add_flag("--links", links, "First time what first searches wait for");
  app.add_flag("--stages", stages, "Add how long each stage takes, and the rows a query scans");
}

void Options::complete() {
  queries = std::max(kTruthRows, *std::max_element(batches.begin(), batches.end()));
  maxK = *std::max_element(ks.begin(), ks.end());
  std::string why;
  const auto parsed = parseSpelling<annudf_element>(dtype, &why);
  if (!parsed)
    throw Error(ErrorKind::Usage, "dtype " + why);
  element = *parsed;
}

/// The time is from and to memory of the device, or of the host.
Index buildIndex(const Options &load, const Matrix &base, CudaBackend &backend) {
  IndexParams params;
  params.nLists = load.lists;
  std::unique_ptr<DeviceMemory> rows;
  if (!load.hostBuild) {
    rows = backend.allocate(base.storage.size(), nullptr);
    backend.copy(rows->address(), reinterpret_cast<uint64_t>(base.storage.data()),
                 base.storage.size(), nullptr);
    backend.synchronize(nullptr);
  }
  const auto start = Clock::now();
  Index index = load.hostBuild ? Index::build(params, base.view())
                               : backend.build(params,
                                               {reinterpret_cast<const void *>(rows->address()),
                                                base.rows, base.dims, base.element},
                                               nullptr);
  std::printf("{\"what\":\"build on the "
              "%s\",\"dtype\":\"%s\",\"rows\":%lld,\"dims\":%d,\"lists\":%u,\"ms\":%.1f}\n",
              load.hostBuild ? "host" : "device", load.dtype.c_str(),
              static_cast<long long>(load.rows), load.dims, params.nLists, msSince(start));
  std::fflush(stdout);
  return index;
}

/// Searches the first of the queries, from and to memory of the device or of the host.
class Searcher {
public:
  std::string family;      ///< Runs the searches that follow; "": the planner's choice.
  bool timeStages = false; ///< As of SearchParams.
  double tenantShare = 1;  ///< How many rows a query may find; 1: all.
  bench::Tenants tenants;

  std::vector<double> hostMs; ///< What the calls of searches in device memory took.

  Searcher(const Options &load, CudaBackend &backend, const Metric &metric, const Index &index,
           const Matrix &query);
  ~Searcher() { (void)Driver::get().cuStreamDestroy(stream); }
  Searcher(const Searcher &) = delete;
  Searcher &operator=(const Searcher &) = delete;

  /// The searches after this let these rows pass; 1: without a filter.
  void filter(double share);
  /// Returns when the results are there.
  void search(int64_t batch, int64_t k, uint32_t probes, SearchStats &stats);
  /// Those of the last search, k for each of its first `count` queries.
  std::vector<int64_t> ids(int64_t count, int64_t k) const;
  int processors() const { return context->processors(); }

private:
  const BoundCaptures &capturesOf(int64_t batch);

  const Options &load;
  const Metric &metric;
  const Index &index;
  const Matrix &query;
  CudaBackend &backend;
  std::map<int64_t, BoundCaptures> captures; ///< By the queries of a search.
  const std::shared_ptr<Context> context;
  const ContextScope scope;
  const Buffer deviceQueries, deviceIds, deviceDistances;
  CUstream stream = nullptr;
  std::unique_ptr<PreparedSearch> prepared;
  std::string preparedFor;
  std::vector<int64_t> hostIds;
  std::vector<float> hostDistances;
  std::shared_ptr<const RowFilter> passing;
};

Searcher::Searcher(const Options &load, CudaBackend &backend, const Metric &metric,
                   const Index &index, const Matrix &query)
    : tenants(load.tenantFilter, load.rows, load.dims), load(load), metric(metric), index(index),
      query(query), backend(backend), context(std::make_shared<Context>(0)), scope(*context),
      deviceQueries(context, query.storage.size()),
      deviceIds(context, static_cast<size_t>(load.queries * load.maxK) * 8),
      deviceDistances(context, static_cast<size_t>(load.queries * load.maxK) * 4),
      hostIds(static_cast<size_t>(load.queries * load.maxK)), hostDistances(hostIds.size()) {
  ANNUDF_CUDA(cuMemcpyHtoD, deviceQueries.device(), query.storage.data(), query.storage.size());
  ANNUDF_CUDA(cuStreamSynchronize, nullptr);
  ANNUDF_CUDA(cuStreamCreate, &stream, CU_STREAM_NON_BLOCKING);
}

void Searcher::filter(double share) {
  passing = nullptr;
  if (share >= 1)
    return;
  std::vector<uint32_t> words(static_cast<size_t>(RowFilter::wordsFor(load.rows)));
  for (int64_t row = 0; row < load.rows; ++row)
    words[static_cast<size_t>(row / 32)] |=
        uint32_t(double(mix(static_cast<uint64_t>(row)) >> 11) * 0x1p-53 < share) << (row % 32);
  passing = std::make_shared<const RowFilter>(std::move(words), load.rows);
}

const BoundCaptures &Searcher::capturesOf(int64_t batch) {
  const Manifest &manifest = metric.artifact.manifest;
  const int64_t queries = manifest.hasQueryCaptures() ? batch : 0;
  const auto found = captures.find(queries);
  if (found != captures.end())
    return found->second;
  return captures.emplace(queries, capturesFor(manifest, load.dims, queries, load.scalar))
      .first->second;
}

void Searcher::search(int64_t batch, int64_t k, uint32_t probes, SearchStats &stats) {
  const BoundCaptures &captures = capturesOf(batch);
  SearchParams params;
  params.candidates = Lists{probes}, params.filter = passing, params.family = family;
  params.timeStages = timeStages, params.waitForLinks = true;
  if (tenantShare < 1)
    params.predicate = tenants.of(batch, tenantShare);
  if (load.host) {
    MatrixView view = query.view();
    view.rows = batch;
    backend.search(index, metric, captures, view, static_cast<int>(k), params, hostIds.data(),
                   hostDistances.data(), &stats);
    return;
  }
  auto *const foundIds = reinterpret_cast<int64_t *>(deviceIds.device());
  auto *const foundDistances = reinterpret_cast<float *>(deviceDistances.device());
  const auto queriesAt = [&](int64_t row) {
    return reinterpret_cast<const void *>(deviceQueries.device() +
                                          uint64_t(row * bytesOfRow(load.element, load.dims)));
  };
  if (!load.prepared.empty()) {
    const std::string cell = family + " " + std::to_string(batch) + " " + std::to_string(k) + " " +
                             std::to_string(passing ? passing->number() : 0) + " " +
                             std::to_string(tenantShare);
    if (cell != preparedFor)
      prepared =
          backend.prepareDevice(index, metric, captures, {nullptr, batch, load.dims, load.element},
                                static_cast<int>(k), params, stream, &stats);
    preparedFor = cell;
    const bool other = load.prepared == "other" && hostMs.size() % 2 && batch < load.queries;
    const auto start = Clock::now();
    prepared->run(queriesAt(other ? 1 : 0), foundIds, foundDistances);
    hostMs.push_back(msSince(start));
    ANNUDF_CUDA(cuStreamSynchronize, stream);
    return;
  }
  const MatrixView view{queriesAt(0), batch, load.dims, load.element};
  const auto start = Clock::now();
  if (passing && load.maxProbes && probes < load.lists)
    bench::searchToGoal(backend, index, metric, captures, view, static_cast<int>(k), params,
                        load.maxProbes, foundIds, foundDistances, stream, stats);
  else
    backend.searchDevice(index, metric, captures, view, static_cast<int>(k), params, foundIds,
                         foundDistances, stream, &stats);
  hostMs.push_back(msSince(start));
  ANNUDF_CUDA(cuStreamSynchronize, stream);
}

std::vector<int64_t> Searcher::ids(int64_t count, int64_t k) const {
  std::vector<int64_t> got(static_cast<size_t>(count * k));
  if (load.host)
    std::copy(hostIds.begin(), hostIds.begin() + static_cast<std::ptrdiff_t>(got.size()),
              got.begin());
  else
    ANNUDF_CUDA(cuMemcpyDtoH, got.data(), deviceIds.device(), got.size() * 8);
  return got;
}

/// The part of the 10 best of `truth` that are among the first 10 of `got`, which has k for
/// each query.
double recall10(const std::vector<int64_t> &truth, const std::vector<int64_t> &got, int64_t k) {
  int64_t hits = 0;
  for (int64_t q = 0; q < kTruthRows; ++q) {
    const std::set<int64_t> wanted(truth.begin() + q * 10, truth.begin() + q * 10 + 10);
    for (int64_t j = 0; j < 10; ++j)
      hits += wanted.count(got[static_cast<size_t>(q * k + j)]);
  }
  return double(hits) / double(kTruthRows * 10);
}

/// The times of one cell, a batch and a k.
struct Times {
  double first;               ///< In ms, with what is made once.
  std::vector<double> sorted; ///< In ms, of the searches after it.
};

Times timesOf(Searcher &searcher, int64_t batch, int64_t k, uint32_t probes, SearchStats &stats) {
  auto start = Clock::now();
  searcher.search(batch, k, probes, stats);
  Times times{msSince(start), std::vector<double>(batch <= 100 ? 101 : 15)};
  for (double &ms : times.sorted) {
    start = Clock::now();
    searcher.search(batch, k, probes, stats);
    ms = msSince(start);
  }
  std::sort(times.sorted.begin(), times.sorted.end());
  return times;
}

/// The stages of a search, medians of some, as a field of a JSON object.
std::string stagesOf(Searcher &searcher, int64_t batch, int64_t k, uint32_t probes) {
  std::map<std::string, std::vector<double>> ms;
  std::vector<std::string> order;
  SearchStats stats;
  searcher.timeStages = true;
  for (int i = 0; i < 15; ++i) {
    searcher.search(batch, k, probes, stats);
    for (const StageTime &stage : stats.stages) {
      if (ms[stage.name].empty())
        order.push_back(stage.name);
      ms[stage.name].push_back(stage.ms);
    }
  }
  searcher.timeStages = false;
  std::ostringstream text;
  text << ",\"rows_per_query\":" << stats.rowsPerQuery
       << ",\"evaluated_per_query\":" << stats.evaluatedPerQuery << ",\"stages\":{";
  for (const std::string &name : order) {
    std::vector<double> &times = ms[name];
    std::sort(times.begin(), times.end());
    text << (&name == order.data() ? "\"" : ",\"") << name << "\":" << times[times.size() / 2];
  }
  return text.str() + "}";
}

/// Prints the times of a batch and k, and the recall where `truth` has the queries' own.
void timeCell(const Options &load, const std::string &name, Searcher &searcher,
              const std::vector<int64_t> &truth, uint32_t probes, int64_t batch, int64_t k,
              double share = 1) {
  SearchStats stats;
  searcher.hostMs.clear();
  const Times times = timesOf(searcher, batch, k, probes, stats);
  std::sort(searcher.hostMs.begin(), searcher.hostMs.end());
  const double median = times.sorted[times.sorted.size() / 2];
  std::printf("{\"what\":\"%s\",\"dtype\":\"%s\",\"probes\":%u,\"k\":%lld,\"batch\":%lld,"
              "\"first_ms\":%.2f,"
              "\"median_ms\":%.4f,\"min_ms\":%.4f,\"qps\":%.0f,\"links\":%d,\"family\":\"%s\"",
              name.c_str(), load.dtype.c_str(), probes, static_cast<long long>(k),
              static_cast<long long>(batch), times.first, median, times.sorted[0],
              double(batch) * 1e3 / median, stats.links, stats.family.c_str());
  if (!searcher.hostMs.empty())
    std::printf(",\"host_us\":%.2f", searcher.hostMs[searcher.hostMs.size() / 2] * 1e3);
  if (stats.workspaceBytes > 0)
    std::printf(",\"workspace_mib\":%.1f", double(stats.workspaceBytes) / double(1 << 20));
  if (share < 1)
    std::printf(",\"pass\":%g", share);
  if (searcher.tenantShare < 1)
    std::printf(",\"tenant\":%g", searcher.tenantShare);
  if (!truth.empty() && batch >= kTruthRows && k >= 10)
    std::printf(",\"recall10\":%.4f", recall10(truth, searcher.ids(kTruthRows, k), k));
  if (load.stages)
    std::printf("%s", stagesOf(searcher, batch, k, probes).c_str());
  std::printf("}\n");
  std::fflush(stdout);
}

void run(Options load) {
  load.complete();
  const Metric metric = Metric::fromFile(load.metric);
  if (load.contract) {
    std::printf("0x%016" PRIx64 "\n", contractOf(metric.artifact.manifest));
    return;
  }
  if (load.links)
    bench::timeLinks(metric, load.element, load.dtype);
  const std::string &name = metric.artifact.manifest.name;
  std::optional<bench::CacheFolder> folder;
  if (!load.byHand.empty())
    bench::replaceByHand(metric, load.element, load.byHand, folder.emplace());
  Matrix base = mixture(load.rows, load.dims, load.element, load.clusters, load.sigma, 11);
  bench::gather(base, load.skew);
  const Matrix query =
      mixture(load.queries, load.dims, load.element, load.clusters, load.sigma, 77777);
  const auto backend = makeCudaDeviceBackend();
  Index index = buildIndex(load, base, *backend);
  Searcher searcher(load, *backend, metric, index, query);
  if (load.tenantColumn)
    searcher.tenants.addTo(index, load.tenants.at(0));

  SearchStats stats;
  const auto truthOf = [&] {
    searcher.family = "";
    searcher.search(kTruthRows, 10, load.lists, stats);
    return searcher.ids(kTruthRows, 10);
  };
  const std::vector<int64_t> truth = truthOf();
  std::printf("{\"what\":\"first search\",\"metric\":\"%s\",\"link_ms\":%.1f,\"links\":%d,"
              "\"disk_hits\":%d,\"upload_ms\":%.1f,\"processors\":%d}\n",
              name.c_str(), stats.linkMs, stats.links, stats.diskHits, stats.uploadMs,
              searcher.processors());
  const auto timeAll = [&](double share) {
    searcher.filter(share);
    std::vector<int64_t> known; // Not for tenants.
    if (searcher.tenantShare >= 1)
      known = share < 1 ? truthOf() : truth;
    for (int64_t probes : load.probes)
      for (int64_t k : load.ks)
        for (int64_t batch : load.batches)
          for (const std::string &family : load.families) {
            searcher.family = family;
            timeCell(load, name, searcher, known, static_cast<uint32_t>(probes), batch, k, share);
          }
  };
  timeAll(1);
  for (double share : load.pass)
    timeAll(share);
  for (double share : load.tenants) {
    searcher.tenantShare = share;
    timeAll(1);
  }
}

} // namespace

int main(int argc, char **argv) {
  Options load;
  CLI::App app{"Times searches with a compiled metric on a GPU, one JSON object a line"};
  load.addOptions(app);
  CLI11_PARSE(app, argc, argv);
  try {
    run(std::move(load));
  } catch (const Error &error) {
    std::fprintf(stderr, "annudf_cuda_bench: %s\n", error.what());
    return error.exitCode();
  }
  return 0;
}
