//===- RandomFilters.cpp - Searches with random filters -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each filter that write_random_filters.py wrote to the folder that ANNUDF_RANDOM_FILTERS names.
// Rows are integers, so that distances have no rounding: ids and distances have to be those that
// this file computes of the rows that the filter keeps. On a GPU each array of a capture is an
// allocation of just its size, so that compute-sanitizer (scripts/gpu memcheck) sees what reads
// past one. Parts are for shards of GoogleTest.
//
//===----------------------------------------------------------------------===//

#include "e2e/Devices.h"
#include "runtime/TestData.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/engine/FilterCode.h"
#include "annudf/runtime/engine/Predicate.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "cuda/driver/Driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <vector>

using namespace annudf;
using namespace annudf::test;
namespace fs = std::filesystem;
namespace rt = annudf::runtime;

namespace {

constexpr int kParts = 8;

std::vector<int64_t> integersOf(const fs::path &path) {
  const rt::NumericArray array = rt::readCapture(path.string());
  if (array.dtype != "i64")
    throw Error(ErrorKind::Input, path.string() + " has " + array.dtype + "; write i64");
  std::vector<int64_t> values(array.storage.size() / sizeof(int64_t));
  std::memcpy(values.data(), array.storage.data(), array.storage.size());
  return values;
}

/// What was written for filters of one element type.
struct World {
  explicit World(const fs::path &folder)
      : index(rt::Index::load((folder / "index").string())),
        metric(rt::Metric::fromFile((folder / "l2.metric").string())),
        queries(rt::readMatrix((folder / "queries.npy").string())),
        ids(integersOf(folder / "ids.npy")), lists(integersOf(folder / "lists.npy")) {
    const rt::Matrix rows = rt::readMatrix((folder / "rows.npy").string());
    for (int64_t q = 0; q < queries.rows; ++q)
      for (int64_t row = 0; row < rows.rows; ++row) {
        double sum = 0;
        for (int32_t d = 0; d < rows.dims; ++d) {
          const double difference = coordinate(queries, q, d) - coordinate(rows, row, d);
          sum += difference * difference;
        }
        distances.push_back(static_cast<float>(sum));
      }
  }
  static double coordinate(const rt::Matrix &matrix, int64_t row, int32_t d) {
    const auto at = static_cast<size_t>(row * matrix.dims + d);
    if (matrix.element == ANNUDF_ELEMENT_U8)
      return std::to_integer<int>(matrix.storage[at]);
    float value;
    std::memcpy(&value, &matrix.storage[at * sizeof value], sizeof value);
    return value;
  }

  rt::Index index;
  rt::Metric metric;
  rt::Matrix queries;
  std::vector<int64_t> ids, lists; ///< One a row, by ascending id.
  std::vector<float> distances;    ///< (queries, rows)
};

/// How a filter is searched with.
struct Cell {
  size_t family; ///< The first to try.
  int k;
  uint32_t probes;        ///< Lists that are named for each query; 0: all are searched.
  int64_t first, queries; ///< A part of the queries.
};

struct Filter {
  std::string path;
  rt::Metric code;
  std::shared_ptr<const rt::BoundCaptures> captures;
  rt::NumericArray kept;
  bool keeps(int64_t query, int64_t id) const {
    return kept.storage[size_t(query * kept.shape[1] + id)] != std::byte{0};
  }
};

class RandomFilters : public ::testing::TestWithParam<std::tuple<Device, int>> {
protected:
  void SetUp() override {
    const char *named = std::getenv("ANNUDF_RANDOM_FILTERS");
    if (!named || !fs::exists(fs::path(named) / "u8"))
      GTEST_SKIP() << "SKIPPED, NOT RUN: ANNUDF_RANDOM_FILTERS names no folder of "
                      "write_random_filters.py";
    folder = named;
    std::string why;
    backend = backendOf(std::get<0>(GetParam()), &why);
    if (!backend)
      GTEST_SKIP() << "SKIPPED, NOT RUN: " << why;
    cuda = dynamic_cast<rt::CudaBackend *>(backend);
    if (cuda)
      context = std::make_shared<rt::cuda::Context>(cuda->device());
    families = {"groups", "matrix"};
    if (cuda)
      families = {"tiles",  "staged",          "staged_granules", "matrix_mma",
                  "packed", "packed_granules", "matrix",          "pairs"};
  }

  void place(rt::CaptureValue &value) const;
  Filter load(const fs::path &path, const World &world) const;
  FoundBits expected(const World &world, const Filter &filter, const Cell &cell,
                     const std::vector<uint32_t> &lists) const;
  FoundBits found(const World &world, const Cell &cell, const rt::SearchParams &params) const;
  void search(const World &world, const Filter &filter, const Cell &cell, rt::SearchParams params);
  void check(const World &world, const Filter &filter, size_t number);

  fs::path folder;
  rt::Backend *backend = nullptr;
  rt::CudaBackend *cuda = nullptr;
  std::shared_ptr<const rt::cuda::Context> context;
  std::vector<const char *> families;
  std::map<std::string, int> searches; ///< By family.
  int seeing = 0;
};

/// An array of a capture goes to an allocation of its own.
void RandomFilters::place(rt::CaptureValue &value) const {
  if (!cuda || value.shape.empty())
    return;
  const rt::cuda::ContextScope scope(*context);
  const auto array = std::make_shared<rt::cuda::Buffer>(context, value.bytes);
  cuda->copy(array->device(), reinterpret_cast<uint64_t>(value.data), value.bytes, nullptr);
  cuda->synchronize(nullptr);
  value.data = reinterpret_cast<const void *>(array->device()); // NOLINT
  value.space = rt::MemorySpace::Cuda, value.device = cuda->device();
  value.owner = array;
}

Filter RandomFilters::load(const fs::path &path, const World &world) const {
  const std::string prefix = (path.parent_path() / path.stem()).string();
  Filter filter{prefix, rt::Metric::fromFile(path.string()), nullptr,
                rt::readCapture(prefix + ".kept.npy")};
  const Manifest &manifest = filter.code.artifact.manifest;
  std::map<std::string, rt::NumericArray> arrays;
  std::map<std::string, rt::CaptureValue> values;
  for (const CaptureInfo &capture : manifest.captures) {
    rt::NumericArray &array = arrays[capture.name];
    array = rt::readCapture(prefix + "." + capture.name + ".npy");
    place(values[capture.name] = rt::CaptureValue::of(array));
  }
  filter.captures = std::make_shared<const rt::BoundCaptures>(rt::BoundCaptures::bindViews(
      manifest, {world.index.dims(), world.index.rowExtent(), world.queries.rows}, values,
      /*allowNonFinite=*/true));
  return filter;
}

/// \param lists  those that each query probes; empty: all.
FoundBits RandomFilters::expected(const World &world, const Filter &filter, const Cell &cell,
                                  const std::vector<uint32_t> &lists) const {
  FoundBits all;
  for (int64_t q = cell.first; q < cell.first + cell.queries; ++q) {
    const auto probed = lists.begin() + (q - cell.first) * cell.probes;
    std::vector<std::pair<float, int64_t>> passing;
    for (size_t row = 0; row < world.ids.size(); ++row)
      if (filter.keeps(q, world.ids[row]) &&
          (lists.empty() ||
           std::find(probed, probed + cell.probes, world.lists[row]) != probed + cell.probes))
        passing.emplace_back(world.distances[size_t(q) * world.ids.size() + row], world.ids[row]);
    std::sort(passing.begin(), passing.end());
    passing.resize(size_t(cell.k), {std::numeric_limits<float>::infinity(), -1});
    for (const auto &[distance, id] : passing)
      all.ids.push_back(id), all.distances.push_back(distance);
  }
  return all;
}

FoundBits RandomFilters::found(const World &world, const Cell &cell,
                               const rt::SearchParams &params) const {
  const auto size = static_cast<size_t>(cell.queries * cell.k);
  FoundBits all{std::vector<int64_t>(size, -777), std::vector<float>(size, -777)};
  rt::MatrixView queries = world.queries.view();
  queries.data =
      world.queries.storage.data() + cell.first * bytesOfRow(queries.element, queries.dims);
  queries.rows = cell.queries;
  rt::SearchStats stats;
  backend->search(world.index, world.metric,
                  rt::BoundCaptures::bind(world.metric.artifact.manifest, {world.index.dims()}, {}),
                  queries, cell.k, params, all.ids.data(), all.distances.data(), &stats);
  EXPECT_EQ(stats.family, params.family);
  return all;
}

/// By the first family that can run it.
void RandomFilters::search(const World &world, const Filter &filter, const Cell &cell,
                           rt::SearchParams params) {
  std::vector<uint32_t> lists(static_cast<size_t>(cell.queries * cell.probes));
  for (size_t i = 0; i < lists.size(); ++i) // Different ones for each query.
    lists[i] = static_cast<uint32_t>((i * 7 + size_t(cell.first)) % world.index.nLists());
  if (cell.probes != 0)
    params.candidates = rt::Given{lists.data(), cell.probes};
  else
    params.candidates = rt::Lists{world.index.nLists()};
  params.firstQuery = cell.first, params.ofQueries = world.queries.rows;
  const FoundBits wanted = expected(world, filter, cell, lists);
  for (size_t i = 0; i < families.size(); ++i) {
    params.family = families[(cell.family + i) % families.size()];
    const std::string what = filter.path + " by " + params.family + ", k " +
                             std::to_string(cell.k) + ", probes " + std::to_string(cell.probes);
    try {
      const FoundBits bits = found(world, cell, params);
      ASSERT_EQ(bits.ids, wanted.ids) << what;
      ASSERT_EQ(bits, wanted) << what << ": distances";
      ++searches[params.family];
      return;
    } catch (const Error &error) {
      ASSERT_NE(std::string(error.what()).find("' cannot run this search: "), std::string::npos)
          << what << ": " << error.what();
    }
  }
  FAIL() << filter.path << ": no family runs it";
}

void RandomFilters::check(const World &world, const Filter &filter, size_t number) {
  const int64_t queries = world.queries.rows;
  const size_t family = number + number / kParts; // Each part has all.
  rt::SearchParams params;
  const bool sees = filter.code.artifact.manifest.seesQuery;
  seeing += sees;
  std::vector<rt::Predicate::Step> steps = {
      rt::Predicate::Code{std::make_shared<const rt::Metric>(filter.code), filter.captures}};
  if (sees) {
    params.predicate = std::make_shared<const rt::Predicate>(steps);
  } else {
    const auto kept = std::make_shared<const rt::RowFilter>(
        keptRows(*backend, world.index, filter.code, *filter.captures));
    for (const int64_t id : world.ids)
      ASSERT_EQ(kept->passes(id), filter.keeps(0, id)) << filter.path << ", id " << id;
    params.filter = kept;
    // As a part of a predicate it is computed in the search.
    const int64_t bits = world.index.rowExtent();
    steps.emplace_back(std::make_shared<const rt::QueryBitmap>(
        std::vector<uint32_t>(size_t(rt::RowFilter::wordsFor(queries * bits)), ~0U), queries,
        bits));
    steps.emplace_back(rt::Predicate::Join::And);
    rt::SearchParams joined;
    joined.predicate = std::make_shared<const rt::Predicate>(steps);
    search(world, filter, {family, 10, 0, 0, queries}, joined);
  }
  const auto all = static_cast<int>(world.ids.size());
  search(world, filter, {number % 2 ? 0 : families.size() - 1, all, 0, 0, queries}, params);
  search(world, filter, {family, 10, 0, 0, queries}, params);
  search(world, filter, {family + 3, 100, 3, 0, queries}, params);
  search(world, filter, {family + 1, 10, 5, 3, 1}, params);
}

std::string nameOf(const testing::TestParamInfo<std::tuple<Device, int>> &info) {
  return std::string(std::get<0>(info.param) == Device::Cpu ? "cpu" : "cuda") + "_" +
         std::to_string(std::get<1>(info.param));
}

TEST_P(RandomFilters, FindWhatTheyKeep) {
  std::vector<fs::path> files;
  for (const char *element : {"f32", "u8"})
    for (const auto &entry : fs::directory_iterator(folder / element))
      if (entry.path().extension() == ".annudf")
        files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  ASSERT_GE(files.size(), size_t(kParts)) << folder;
  std::map<fs::path, World> worlds;
  size_t mine = 0;
  for (auto i = size_t(std::get<1>(GetParam())); i < files.size() && !HasFatalFailure();
       i += kParts, ++mine) {
    const fs::path at = files[i].parent_path();
    const World &world = worlds.try_emplace(at, at).first->second;
    check(world, load(files[i], world), i);
  }
  std::printf("%zu filters, %d of them see the query; searches:", mine, seeing);
  for (const auto &[family, count] : searches)
    std::printf(" %s %d", family.c_str(), count);
  std::printf("\n");
  EXPECT_FALSE(searches.empty());
}

INSTANTIATE_TEST_SUITE_P(All, RandomFilters,
                         testing::Combine(testing::Values(Device::Cpu, Device::Cuda),
                                          testing::Range(0, kParts)),
                         nameOf);

} // namespace
