//===- HostileMetrics.cpp - Accepted metrics over arrays of just their size -===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For compute-sanitizer (scripts/gpu memcheck): every artifact of the folder that
// ANNUDF_HOSTILE_ARTIFACTS names, as make_metrics.py wrote it, searched with
// captures that are an allocation each, no byte longer than declared, full of
// random bits, over ids with gaps. ANNUDF_HOSTILE_SHARD=I/N runs a part of them.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/PlantedFaults.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "cuda/driver/Driver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <set>

using namespace annudf;
using namespace annudf::runtime;
using cuda::check;
using cuda::Driver;

namespace {

constexpr int64_t kRows = 200, kLargestId = 4999;

/// Random bits; of finite f32 and f16 where `element` is one, as vectors have to be finite.
Matrix randomVectors(annudf_element element, int64_t rows, int32_t dims, unsigned seed) {
  std::mt19937 random(seed);
  Matrix matrix;
  matrix.rows = rows, matrix.dims = dims, matrix.element = element;
  matrix.storage.resize(static_cast<size_t>(rows * bytesOfRow(element, dims)));
  for (std::byte &byte : matrix.storage)
    byte = static_cast<std::byte>(random());
  const auto size = static_cast<size_t>(alignmentOf(element));
  if (kindOf(element) == NumberKind::Float)
    for (size_t i = size - 1; i < matrix.storage.size(); i += size)
      matrix.storage[i] &= std::byte{0xbb}; // An exponent below the largest.
  return matrix;
}

/// Ids with gaps, the largest of them among them.
std::vector<int64_t> someIds(unsigned seed) {
  std::mt19937 random(seed);
  std::set<int64_t> ids{kLargestId};
  while (ids.size() < static_cast<size_t>(kRows))
    ids.insert(random() % kLargestId);
  std::vector<int64_t> all(ids.begin(), ids.end());
  std::shuffle(all.begin(), all.end(), random);
  return all;
}

class Hostile : public testing::Test {
protected:
  void SetUp() override {
    try {
      backend = makeCudaDeviceBackend();
    } catch (const Error &error) {
      const char *required = std::getenv("ANNUDF_REQUIRE_GPU");
      ASSERT_FALSE(required && *required == '1') << error.what();
      GTEST_SKIP() << "SKIPPED, NOT RUN: " << error.what();
    }
    context = std::make_shared<cuda::Context>(backend->device());
  }

  BoundCaptures bind(const Manifest &manifest, const CaptureExtents &extents, unsigned seed);
  /// Searches it all ways; returns how many searches that were.
  int search(const Metric &metric, annudf_element element, int32_t dims, unsigned seed);

  std::unique_ptr<CudaBackend> backend;
  std::shared_ptr<const cuda::Context> context;
};

BoundCaptures Hostile::bind(const Manifest &manifest, const CaptureExtents &extents,
                            unsigned seed) {
  std::mt19937 random(seed);
  std::map<std::string, CaptureValue> values;
  for (const CaptureInfo &capture : manifest.captures) {
    CaptureValue &value = values[capture.name];
    // A truth value is stored as a byte.
    value.dtype = capture.element == ANNUDF_CAPTURE_I1 ? "b1" : toString(capture.element);
    value.origin = "hostile";
    size_t count = 1;
    for (const CaptureExtent &extent : capture.extents) {
      const int64_t length = extent.kind == ANNUDF_EXTENT_DIM     ? extents.dims
                             : extent.kind == ANNUDF_EXTENT_ROW   ? extents.rows
                             : extent.kind == ANNUDF_EXTENT_QUERY ? extents.queries
                                                                  : extent.constant;
      value.shape.push_back(length);
      count *= static_cast<size_t>(length);
    }
    const size_t bytes = count * std::max(1, rowOf(capture.element)->bits / 8);
    std::vector<unsigned char> bits(bytes);
    for (unsigned char &byte : bits)
      byte = static_cast<unsigned char>(random());
    value.bytes = bytes;
    if (capture.extents.empty()) { // A scalar is a slot of its own.
      auto host = std::make_shared<std::vector<unsigned char>>(std::move(bits));
      value.data = host->data();
      value.owner = host;
      continue;
    }
    const cuda::ContextScope scope(*context);
    const auto array = std::make_shared<cuda::Buffer>(context, bytes);
    backend->copy(array->device(), reinterpret_cast<uint64_t>(bits.data()), bytes, nullptr);
    backend->synchronize(nullptr);
    value.data = reinterpret_cast<const void *>(array->device());
    value.space = MemorySpace::Cuda;
    value.device = backend->device();
    value.owner = array;
  }
  return BoundCaptures::bindViews(manifest, extents, values, /*allowNonFinite=*/true);
}

int Hostile::search(const Metric &metric, annudf_element element, int32_t dims, unsigned seed) {
  const Matrix base = randomVectors(element, kRows, dims, seed);
  const std::vector<int64_t> ids = someIds(seed);
  const std::set<int64_t> known(ids.begin(), ids.end());
  IndexParams params;
  params.nLists = 3;
  params.addData = false;
  Index index = Index::build(params, base.view());
  index.extend(base.view(), {ids.data()});
  int searches = 0;
  // A single query takes the kernel of pairs, or of parts, many that of tiles.
  for (int64_t count : {1, 3, 67}) {
    const Matrix queries = randomVectors(element, count, dims, seed + 1);
    const BoundCaptures captures =
        bind(metric.artifact.manifest, extentsOf(index, queries.view()), seed + 2);
    for (int k : {1, 150})
      for (uint32_t probes : {1u, 3u}) {
        std::vector<int64_t> found(static_cast<size_t>(count * k), -7);
        std::vector<float> distances(found.size());
        SearchParams how;
        how.candidates = Lists{probes};
        backend->search(index, metric, captures, queries.view(), k, how, found.data(),
                        distances.data());
        ++searches;
        for (int64_t id : found)
          EXPECT_TRUE(id == -1 || known.contains(id)) << metric.origin << ": id " << id;
      }
  }
  return searches;
}

/// Fewer for each shard: file i is the business of shard i % N.
std::vector<std::string> artifacts() {
  const char *folder = std::getenv("ANNUDF_HOSTILE_ARTIFACTS");
  if (!folder)
    return {};
  std::vector<std::string> all, mine;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".annudf")
      all.push_back(entry.path());
  std::sort(all.begin(), all.end());
  unsigned shard = 0, shards = 1;
  if (const char *given = std::getenv("ANNUDF_HOSTILE_SHARD")) {
    const char *end = given + std::strlen(given), *slash = std::find(given, end, '/');
    if (slash == end || std::from_chars(given, slash, shard).ptr != slash ||
        std::from_chars(slash + 1, end, shards).ptr != end || shard >= shards)
      throw std::runtime_error("ANNUDF_HOSTILE_SHARD is no I/N");
  }
  for (size_t i = shard; i < all.size(); i += shards)
    mine.push_back(all[i]);
  return mine;
}

TEST_F(Hostile, AcceptedMetricsReadTheirCapturesAlone) {
  const std::vector<std::string> all = artifacts();
  ASSERT_FALSE(all.empty()) << "ANNUDF_HOSTILE_ARTIFACTS names no folder of artifacts";
  int searches = 0;
  unsigned seed = 1;
  for (const std::string &path : all) {
    const Metric metric = Metric::fromFile(path);
    // Vectors that are long enough to be scanned in parts.
    const bool inParts = metric.artifact.manifest.has(ANNUDF_HOOK_COMBINE);
    for (annudf_element element : metric.artifact.manifest.elements)
      for (int32_t dims : {1, 3, inParts ? 301 : 33}) // Bits: so many bytes.
        searches += search(metric, element, dims * (bitsOf(element) < 8 ? 8 : 1), seed += 10);
  }
  std::printf("%zu metrics, %d searches\n", all.size(), searches);
}

/// That what this is about would be seen.
TEST_F(Hostile, DISABLED_ReadsPastItsArray) {
  EXPECT_EQ(test::run(test::kReadPastTheEnd, context), CUDA_SUCCESS);
}

} // namespace
