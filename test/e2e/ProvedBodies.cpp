//===- ProvedBodies.cpp - Random proved metrics, searched by products of matrices -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each metric of WriteProvedBodies.cpp, whose folder ANNUDF_PROVED_BODIES names, is searched by the
// family "matrix" and by one that evaluates every row: ids and distances have to be the same bits.
// Data of every kind, any captures. Parts are for shards of GoogleTest.
//
//===----------------------------------------------------------------------===//

#include "e2e/Devices.h"
#include "runtime/TestData.h"

#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <vector>

using namespace annudf;
using namespace annudf::test;
namespace rt = annudf::runtime;

namespace {

constexpr int kParts = 8;
constexpr int64_t kRows = 700, kQueries = 40;
constexpr uint32_t kLists = 5;

enum class Data { Normal, FarFromOrigin, Ties, Tiny, Large, OneHugeRow, kCount };

struct Vectors {
  std::vector<float> values;
  int64_t rows;
  int32_t dims;
  rt::MatrixView view() const { return {values.data(), rows, dims, ANNUDF_ELEMENT_F32}; }
};

Vectors vectorsOf(Data kind, int64_t rows, int32_t dims, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal;
  Vectors vectors{{}, rows, dims};
  for (int64_t row = 0; row < rows; ++row)
    for (int32_t d = 0; d < dims; ++d) {
      const float value = normal(random);
      vectors.values.push_back(kind == Data::FarFromOrigin ? value + 1e4f
                               : kind == Data::Ties        ? float(int(value))
                               : kind == Data::Tiny        ? value * 1e-22f
                               : kind == Data::Large       ? value * 1e12f
                               : kind == Data::OneHugeRow  ? value * (row == 7 ? 1e12f : 1.0f)
                                                           : value);
    }
  return vectors;
}

rt::BoundCaptures capturesOf(const rt::Metric &metric, int32_t dims, std::mt19937 &random) {
  std::map<std::string, rt::NumericArray> values;
  for (const CaptureInfo &capture : metric.artifact.manifest.captures) {
    std::vector<int64_t> shape;
    if (capture.name == "q")
      shape = {kQueries, dims};
    else if (!capture.extents.empty())
      shape = {dims};
    int64_t count = 1;
    for (const int64_t extent : shape)
      count *= extent;
    rt::NumericArray array{"i8", shape, {}, "test"};
    if (capture.element == ANNUDF_CAPTURE_F32) {
      array.dtype = "f32";
      std::vector<float> numbers(static_cast<size_t>(count));
      for (float &number : numbers)
        number = std::normal_distribution<float>()(random);
      array.storage.resize(numbers.size() * sizeof(float));
      std::memcpy(array.storage.data(), numbers.data(), array.storage.size());
    } else {
      array.storage.assign(1, std::byte(random() % 100));
    }
    values[capture.name] = std::move(array);
  }
  return rt::BoundCaptures::bind(metric.artifact.manifest, {dims, 0, kQueries}, values);
}

/// Every second search has one, which lets three of four rows pass, or one of 32.
std::shared_ptr<const rt::RowFilter> filterOf(std::mt19937 &random) {
  if (random() % 2)
    return nullptr;
  std::vector<uint32_t> words(static_cast<size_t>(rt::RowFilter::wordsFor(kRows)));
  const bool few = random() % 2;
  for (uint32_t &word : words)
    word = few ? 1U << random() % 32 : uint32_t(random() | random());
  return std::make_shared<const rt::RowFilter>(std::move(words), kRows);
}

class ProvedBodies : public ::testing::TestWithParam<std::tuple<Device, int>> {
protected:
  static FoundBits search(rt::Backend &backend, const rt::Index &index, const rt::Metric &metric,
                          const rt::BoundCaptures &captures, const Vectors &queries, int k,
                          uint32_t probes, const std::shared_ptr<const rt::RowFilter> &filter,
                          const char *family) {
    FoundBits found{std::vector<int64_t>(size_t(queries.rows * k)),
                    std::vector<float>(size_t(queries.rows * k))};
    rt::SearchStats stats;
    rt::SearchParams params;
    params.candidates = rt::Lists{probes}, params.filter = filter, params.family = family;
    backend.search(index, metric, captures, queries.view(), k, params, found.ids.data(),
                   found.distances.data(), &stats);
    EXPECT_EQ(stats.family, family);
    return found;
  }

  int searched = 0, found = 0;
  std::map<std::string, int> refused;

  void check(rt::Backend &backend, const std::filesystem::path &file, const char *everyRow,
             const std::string &products) {
    const rt::Metric metric = rt::Metric::fromFile(file.string());
    const auto seed = static_cast<uint32_t>(std::strtoul(file.stem().c_str(), nullptr, 10));
    std::mt19937 random(seed);
    static constexpr int32_t kDims[] = {1, 3, 16, 33, 96, 128, 130, 257};
    const int32_t dims = kDims[random() % std::size(kDims)];
    const auto kind = static_cast<Data>(random() % uint32_t(Data::kCount));
    const Vectors base = vectorsOf(kind, kRows, dims, seed + 1);
    const Vectors queries = vectorsOf(kind, kQueries, dims, seed + 2);
    rt::IndexParams params;
    params.nLists = kLists, params.kmeansIterations = 2, params.threads = 1;
    const rt::Index index = rt::Index::build(params, base.view());
    const rt::BoundCaptures captures = capturesOf(metric, dims, random);
    for (const int k : {1, 10, 100}) {
      const uint32_t probes = random() % 2 ? kLists : 2;
      const auto filter = filterOf(random);
      const auto by = [&](const char *family) {
        return search(backend, index, metric, captures, queries, k, probes, filter, family);
      };
      try {
        const FoundBits all = by(products.c_str());
        ASSERT_EQ(by(everyRow), all)
            << file << ", " << dims << " dims, data " << static_cast<int>(kind) << ", k " << k
            << (filter ? ", with a filter" : "");
        ++searched;
        found += all.ids[0] >= 0;
      } catch (const Error &error) {
        const std::string text = error.what();
        ASSERT_TRUE(text.starts_with("family '" + products + "' cannot run this search: "))
            << file << ": " << text;
        ++refused[error.what()];
      }
    }
  }
};

std::string nameOf(const testing::TestParamInfo<std::tuple<Device, int>> &info) {
  return std::string(std::get<0>(info.param) == Device::Cpu ? "cpu" : "cuda") + "_" +
         std::to_string(std::get<1>(info.param));
}

TEST_P(ProvedBodies, AreSearchedToTheBit) {
  const auto [device, part] = GetParam();
  const char *folder = std::getenv("ANNUDF_PROVED_BODIES");
  if (!folder || !std::filesystem::exists(folder))
    GTEST_SKIP() << "SKIPPED, NOT RUN: ANNUDF_PROVED_BODIES names no folder of "
                    "annudf_write_proved_bodies";
  std::string why;
  rt::Backend *backend = backendOf(device, &why);
  if (!backend)
    GTEST_SKIP() << "SKIPPED, NOT RUN: " << why;
  const auto *cuda = dynamic_cast<rt::CudaBackend *>(backend);
  if (cuda && cuda->arch() < 80)
    GTEST_SKIP() << "SKIPPED, NOT RUN: sm_" << cuda->arch() << " does not multiply, sm_80 does";
  std::vector<std::string> products = {"matrix"};
  if (cuda && cuda->arch() != 90)
    products[0] = "matrix_mma";
  else if (cuda)
    products.emplace_back("matrix_mma");
  std::vector<std::filesystem::path> files;
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    if (entry.path().extension() == ".annudf")
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  ASSERT_GE(files.size(), size_t(2 * kParts)) << folder;
  size_t mine = 0;
  for (size_t i = size_t(part); i < files.size() && !HasFatalFailure(); i += kParts, ++mine)
    check(*backend, files[i], device == Device::Cpu ? "groups" : "pairs",
          products[mine % products.size()]);
  std::printf("%zu metrics, %d searches equal to the bit, %d with neighbours\n", mine, searched,
              found);
  for (const auto &[text, count] : refused)
    std::printf("  %d times: %s\n", count, text.c_str());
  EXPECT_GT(searched, static_cast<int>(mine));
  EXPECT_GT(found * 2, searched);
}

INSTANTIATE_TEST_SUITE_P(All, ProvedBodies,
                         testing::Combine(testing::Values(Device::Cpu, Device::Cuda),
                                          testing::Range(0, kParts)),
                         nameOf);

} // namespace
