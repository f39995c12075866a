//===- CudaBuildBench.cpp - Times building an index on a GPU ---------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds an index of rows in device memory, and the same on the host.
//
//   annudf_cuda_build_bench [--rows 1000000] [--dims 128] [--lists 1024] [--dtype f32]
//                           [--metric l2] [--base FILE] [--repeat 5] [--queries 0]
//                           [--probes 8,32] [--cpu] [--upload] [--host] [--extend]
//                           [--remove] [--adaptive] [--missing]
//
// Rows are those of annudf_cuda_bench, or of a file. Printed are the medians of the build
// with its parts, and of the copy of the lists to the host. --upload: of a copy back, in pieces of
// several sizes and from pageable memory. --host: builds of rows in host memory, of each way that
// has room in less and less memory. --extend: of an index of nine rows in ten by the tenth, on the
// device and on the host. --remove: of every tenth row, likewise. --adaptive: with adaptive
// centers. --missing: with NaN in place of every tenth coordinate. --cpu builds on the host too.
// --queries compares the recall of both: the share of the true ten neighbours (squared differences;
// for other metrics the largest inner products) whose list is probed; rows are scanned exactly, so
// that is the recall of a search.
//
//===----------------------------------------------------------------------===//

#include "Mixture.h"

#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "annudf/runtime/support/Clock.h"
#include "cuda/build/ListsBuilder.h"
#include "cuda/link/Embedded.h"
#include "cuda/resident/DeviceIndex.h"
#include "vectors/Elements.h"

#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

using namespace annudf;
using namespace annudf::runtime;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kNeighbors = 10;

double medianOf(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// What a search of `queries` with so many probes finds of their true neighbours.
double recall(const Index &index, const Matrix &queries,
              const std::vector<std::vector<int64_t>> &truth, uint32_t nProbes) {
  std::vector<uint32_t> listOf(static_cast<size_t>(index.size()));
  for (uint32_t l = 0; l < index.nLists(); ++l)
    for (const int64_t id : index.list(l).ids)
      if (id >= 0)
        listOf[static_cast<size_t>(id)] = l;
  const bool l2 = index.metric() == ANNUDF_COARSE_L2;
  const CoarseRanker ranker(*index.listCenters(),
                            l2 ? ANNUDF_COARSE_L2 : ANNUDF_COARSE_INNER_PRODUCT,
                            l2 ? ANNUDF_ORDER_MIN : ANNUDF_ORDER_MAX);
  std::vector<uint32_t> probes(static_cast<size_t>(queries.rows) * nProbes);
  ranker.rank(queries.view(), nProbes, probes.data());
  int64_t found = 0;
  for (size_t q = 0; q < truth.size(); ++q)
    for (const int64_t id : truth[q])
      found += std::count(probes.begin() + std::ptrdiff_t(q * nProbes),
                          probes.begin() + std::ptrdiff_t((q + 1) * nProbes),
                          listOf[static_cast<size_t>(id)]);
  return double(found) / double(truth.size() * kNeighbors);
}

std::vector<std::vector<int64_t>> neighbors(const Matrix &base, const Matrix &queries, bool l2) {
  std::vector<std::vector<int64_t>> truth(static_cast<size_t>(queries.rows));
  const auto dims = static_cast<size_t>(base.dims);
  std::vector<float> asked(static_cast<size_t>(queries.rows) * dims);
  convertRows(queries.view(), 0, queries.rows, asked.data());
  // Pieces of the base as floats, against all queries.
  constexpr int64_t kPiece = 4096;
  std::vector<std::vector<std::pair<float, int64_t>>> best(truth.size());
  std::vector<float> rows(kPiece * dims);
  for (int64_t first = 0; first < base.rows; first += kPiece) {
    const int64_t count = std::min(kPiece, base.rows - first);
    convertRows(base.view(), first, first + count, rows.data());
    parallelFor(0, queries.rows, [&](int64_t q, int) {
      auto &own = best[static_cast<size_t>(q)];
      const float *x = asked.data() + static_cast<size_t>(q) * dims;
      for (int64_t r = 0; r < count; ++r) {
        const float *y = rows.data() + static_cast<size_t>(r) * dims;
        float parts[16] = {};
        for (size_t d = 0; d < dims; ++d)
          parts[d % 16] += l2 ? (x[d] - y[d]) * (x[d] - y[d]) : -x[d] * y[d];
        float sum = 0;
        for (const float part : parts)
          sum += part;
        if (own.size() < kNeighbors || sum < own.back().first) {
          own.insert(std::upper_bound(own.begin(), own.end(), std::pair(sum, first + r)),
                     {sum, first + r});
          own.resize(std::min<size_t>(own.size(), kNeighbors));
        }
      }
    });
  }
  for (size_t q = 0; q < truth.size(); ++q)
    for (const auto &[distance, id] : best[q])
      truth[q].push_back(id);
  return truth;
}

struct Options {
  int64_t rows = 1000000, repeat = 5, queries = 0;
  int32_t dims = 128;
  uint32_t lists = 1024;
  std::string dtype = "f32", metric = "l2", base;
  std::vector<uint32_t> probes = {8, 32};
  bool cpu = false, host = false, upload = false, extend = false, remove = false;
  bool adaptive = false, missing = false;
};

/// NaN in the place of every tenth coordinate.
void leaveOut(Matrix &base) {
  if (kindOf(base.element) != NumberKind::Float)
    throw Error(ErrorKind::Usage,
                std::string("--missing: ") + toString(base.element) + " has no NaN");
  constexpr uint32_t kNan = 0xFFC1FFC1; // NaN in each type, whose bytes it repeats.
  const auto bytes = static_cast<size_t>(bitsOf(base.element) / 8);
  for (size_t at = 0; at < base.storage.size(); at += 10 * bytes)
    std::memcpy(base.storage.data() + at, &kNan, bytes);
}

/// Copies an index in host memory to the device, by several ways.
void timeUploads(const Index &index) {
  using namespace cuda;
  const auto context = std::make_shared<const Context>(0);
  const Module search(context, searchModule().data());
  for (const uint64_t megabytes : {1, 2, 4, 8, 16, 32}) {
    PinnedPieces pieces(context, megabytes << 20);
    std::vector<double> ms;
    double first = 0;
    for (int i = 0; i <= 5; ++i) {
      const auto start = Clock::now();
      const DeviceIndex copy(index, context, search, pieces, {});
      (i == 0 ? first : ms.emplace_back()) = msSince(start);
    }
    std::printf("upload in pieces of %llu MiB: %.2f ms, the first, which pins them, %.2f\n",
                static_cast<unsigned long long>(megabytes), medianOf(ms), first);
  }
  const ContextScope scope(*context);
  uint64_t most = 0;
  for (const List &list : index.lists())
    most = std::max<uint64_t>(most, list.words.size() * 4);
  const Buffer to(context, most);
  std::vector<double> ms;
  for (int i = 0; i < 5; ++i) {
    const auto start = Clock::now();
    for (const List &list : index.lists())
      if (list.size != 0)
        ANNUDF_CUDA(cuMemcpyHtoD, to.device(), list.words.data(), list.words.size() * 4);
    ms.push_back(msSince(start));
  }
  std::printf("upload of each list from pageable memory: %.2f ms\n", medianOf(ms));
}

/// Builds of rows in host memory.
void timeFromHost(CudaBackend &backend, IndexParams params, const MatrixView &base) {
  const cuda::BuildShape shape = cuda::shapeOf(params, base);
  using Way = cuda::BuildPlan::Way;
  for (const auto &[way, name] :
       {std::pair(Way::Whole, "whole"), std::pair(Way::Pieces, "in pieces"),
        std::pair(Way::ListsOnHost, "lists on the host")}) {
    cuda::BuildPlan plan;
    uint64_t limit = ~uint64_t(0);
    do {
      plan = cuda::planBuild(shape, limit, "no memory", ErrorKind::Usage);
      limit = plan.bytes - 1;
    } while (plan.way != way);
    params.deviceMemoryLimit = plan.bytes;
    std::vector<double> all, train, add;
    BuildStats stats;
    for (int i = 0; i <= 3; ++i) {
      const auto start = Clock::now();
      const Index index = backend.buildFromHost(params, base, {}, &stats);
      if (i > 0)
        all.push_back(msSince(start)), train.push_back(stats.trainMs), add.push_back(stats.addMs);
    }
    std::printf("of host memory, %s: %.1f ms (train %.1f, add %.1f, copied before in %.1f), %lld "
                "pieces, %.0f MB\n",
                name, medianOf(all), medianOf(train), medianOf(add), stats.copyMs,
                static_cast<long long>(stats.pieces), double(stats.deviceBytes) / 1e6);
  }
}

/// Medians of three times that an index of these rows is changed, on the device and on the host;
/// once more before.
template <class There, class Host>
std::pair<double, double> timeChanges(CudaBackend &backend, const IndexParams &params,
                                      const MatrixView &base, const There &changeThere,
                                      const Host &changeOnHost) {
  std::vector<double> there, host;
  for (int i = 0; i <= 3; ++i) {
    const Index built = backend.buildFromHost(params, base);
    Index one = built, other = built;
    auto start = Clock::now();
    changeThere(one);
    if (i > 0)
      there.push_back(msSince(start));
    start = Clock::now();
    changeOnHost(other);
    if (i > 0)
      host.push_back(msSince(start));
  }
  return {medianOf(there), medianOf(host)};
}

/// Removes every tenth row. On the host the lists come there first; the next search copies them
/// back.
void timeRemove(CudaBackend &backend, const IndexParams &params, const MatrixView &base) {
  std::vector<int64_t> ids;
  for (int64_t id = 0; id < base.rows; id += 10)
    ids.push_back(id);
  const auto [there, host] = timeChanges(
      backend, params, base, [&](Index &index) { backend.remove(index, ids); },
      [&](Index &index) { index.remove(ids); });
  std::printf("remove of %zu rows: %.2f ms on the device, %.1f on the host with the lists' way "
              "there\n",
              ids.size(), there, host);
}

/// Adds the last tenth of the rows, which are in host memory.
void timeExtend(CudaBackend &backend, const IndexParams &params, const MatrixView &base) {
  const int64_t first = base.rows / 10 * 9;
  const MatrixView old = {base.data, first, base.dims, base.element};
  const MatrixView added = {static_cast<const char *>(base.data) +
                                first * bytesOfRow(base.element, base.dims),
                            base.rows - first, base.dims, base.element};
  const auto [there, host] = timeChanges(
      backend, params, old, [&](Index &index) { backend.extendFromHost(index, added); },
      [&](Index &index) { index.extend(added); });
  std::printf("extend by %lld rows: %.1f ms on the device, %.1f on the host with the lists' way "
              "there\n",
              static_cast<long long>(added.rows), there, host);
}

void run(const Options &options) {
  const auto element = parseSpelling<annudf_element>(options.dtype);
  const auto metric = parseSpelling<annudf_coarse>(options.metric);
  if (!element || !metric)
    throw Error(ErrorKind::Usage,
                element ? "--metric " + options.metric + " is none; l2, inner_product or cosine"
                        : "--dtype " + options.dtype + " is none; f32, f16, bf16, i8, u8 or bits");
  const int64_t asked = options.queries;
  Matrix base;
  if (!options.base.empty())
    base = readMatrix(options.base);
  else
    base = bench::mixture(options.rows, options.dims, *element, 20000, 0.6f, 1);
  Matrix queries;
  if (!options.base.empty()) { // Rows of the file that the index has not.
    queries.rows = asked, queries.dims = base.dims, queries.element = base.element;
    const auto bytes = static_cast<size_t>(asked * bytesOfRow(base.element, base.dims));
    queries.storage.assign(base.storage.end() - std::ptrdiff_t(bytes), base.storage.end());
    base.storage.resize(base.storage.size() - bytes), base.rows -= asked;
  } else {
    queries = bench::mixture(asked, base.dims, *element, 20000, 0.6f, 2);
  }
  if (options.missing)
    leaveOut(base);
  IndexParams params;
  params.nLists = options.lists;
  params.metric = *metric;
  params.adaptiveCenters = options.adaptive, params.missingValues = options.missing;
  const auto backend = makeCudaDeviceBackend();
  const auto memory = backend->allocate(base.storage.size(), nullptr);
  backend->copy(memory->address(), reinterpret_cast<uint64_t>(base.storage.data()),
                base.storage.size(), nullptr);
  backend->synchronize(nullptr);
  const MatrixView device = {reinterpret_cast<const void *>(memory->address()), base.rows,
                             base.dims, base.element};
  std::vector<double> all, train, add;
  std::unique_ptr<Index> index;
  for (int64_t i = 0; i <= options.repeat; ++i) {
    BuildStats stats;
    const auto start = Clock::now();
    Index built = backend->build(params, device, nullptr, {}, &stats);
    if (i > 0) // The first loads the kernels.
      all.push_back(msSince(start)), train.push_back(stats.trainMs), add.push_back(stats.addMs);
    index = std::make_unique<Index>(std::move(built));
  }
  const auto start = Clock::now();
  (void)index->lists();
  std::printf("%s: %lld x %d %s %s, %u lists: build %.2f ms (train %.2f, add %.2f), to the host "
              "%.2f\n",
              backend->describe().c_str(), static_cast<long long>(base.rows), base.dims,
              toString(base.element), toString(*metric), params.nLists, medianOf(all),
              medianOf(train), medianOf(add), msSince(start));
  if (options.host)
    timeFromHost(*backend, params, base.view());
  if (options.extend)
    timeExtend(*backend, params, base.view());
  if (options.remove)
    timeRemove(*backend, params, base.view());
  if (options.upload)
    timeUploads(*index);
  std::unique_ptr<Index> host;
  if (options.cpu || asked > 0) {
    const auto begin = Clock::now();
    host = std::make_unique<Index>(Index::build(params, base.view()));
    std::printf("on the host: %.0f ms\n", msSince(begin));
  }
  if (asked == 0)
    return;
  const auto truth = neighbors(base, queries, *metric == ANNUDF_COARSE_L2);
  for (const uint32_t count : options.probes)
    std::printf("recall@%d of %lld queries, %u probes: %.4f, of the host's index %.4f\n",
                kNeighbors, static_cast<long long>(asked), count,
                recall(*index, queries, truth, count), recall(*host, queries, truth, count));
}

} // namespace

int main(int argc, char **argv) {
  Options options;
  CLI::App app{"Times building an index of rows in device memory, and the same on the host"};
  app.option_defaults()->always_capture_default();
  app.add_option("--rows", options.rows, "Made rows")->check(CLI::PositiveNumber);
  app.add_option("--dims", options.dims)->check(CLI::PositiveNumber);
  app.add_option("--base", options.base, "A file of rows instead");
  app.add_option("--dtype", options.dtype, "f32, f16, bf16, i8, u8 or bits");
  app.add_option("--lists", options.lists)->check(CLI::PositiveNumber);
  app.add_option("--metric", options.metric, "l2, inner_product or cosine");
  app.add_option("--repeat", options.repeat, "Builds to take the median of")
      ->check(CLI::PositiveNumber);
  app.add_option("--queries", options.queries, "Queries to compare the recall by; 0: none")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--probes", options.probes, "Numbers of probes of these")->delimiter(',');
  app.add_flag("--cpu", options.cpu, "Build on the host too");
  app.add_flag("--host", options.host, "Time builds of rows in host memory, each way");
  app.add_flag("--upload", options.upload, "Time a copy back to the device");
  app.add_flag("--extend", options.extend,
               "Time adding the last tenth of the rows, on the device and on the host");
  app.add_flag("--adaptive", options.adaptive, "With adaptive centers");
  app.add_flag("--missing", options.missing, "With every tenth coordinate missing");
  app.add_flag("--remove", options.remove,
               "Time removing every tenth row, on the device and on the host");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (const Error &error) {
    std::fprintf(stderr, "annudf_cuda_build_bench: error: %s\n", error.what());
    return error.exitCode();
  }
  return 0;
}
