//===- CodeFilters.cpp - Filters that a compiled metric computes ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/examples/filters/affordable.mlir, compiled, on the CPU and, where there is one, a GPU.
//
//===----------------------------------------------------------------------===//

#include "e2e/Devices.h"

#include "annudf/runtime/engine/FilterCode.h"
#include "annudf/runtime/ivf_flat/Index.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

constexpr int32_t kDims = 17;

struct World {
  Metric metric;
  Index index;
  std::vector<float> price; ///< One an id.

  World(Metric compiled, int64_t rows, uint32_t lists, annudf_element element)
      : metric(std::move(compiled)) {
    const std::vector<std::byte> base = coordinates(rows, element);
    IndexParams params;
    params.nLists = lists, params.kmeansIterations = 3;
    index = Index::build(params, {base.data(), rows, kDims, element});
    std::mt19937 random(5);
    std::uniform_real_distribution<float> prices(0, 100);
    price.resize(size_t(rows) + 5000); // More than the index needs.
    std::generate(price.begin(), price.end(), [&] { return prices(random); });
  }

  /// Small numbers, distinct enough for lists.
  static std::vector<std::byte> coordinates(int64_t rows, annudf_element element) {
    std::mt19937 random(3);
    std::vector<std::byte> bytes(size_t(rows * bytesOfRow(element, kDims)));
    for (size_t i = 0; i < size_t(rows) * kDims; ++i)
      if (element == ANNUDF_ELEMENT_F32) {
        const float value = float(random() % 1000) / 10;
        std::memcpy(&bytes[i * sizeof value], &value, sizeof value);
      } else {
        bytes[i] = std::byte(random() % 100);
      }
    return bytes;
  }

  BoundCaptures bind(float most) const {
    std::map<std::string, CaptureValue> values;
    CaptureValue array;
    array.dtype = "f32", array.shape = {int64_t(price.size())}, array.data = price.data(),
    array.bytes = price.size() * sizeof(float), array.origin = "the test";
    CaptureValue number = array;
    number.shape.clear(), number.data = &most, number.bytes = sizeof most;
    values["price"] = array, values["most"] = number;
    return BoundCaptures::bindViews(metric.artifact.manifest, {index.dims(), index.rowExtent(), 1},
                                    values);
  }

  /// The bits of the index's affordable ids are set, and no others.
  void check(Backend &backend, const std::vector<int64_t> &ids) const {
    for (const float most : {-1.0f, 0.5f, 50.0f, 1000.0f}) {
      const RowFilter filter = keptRows(backend, index, metric, bind(most));
      EXPECT_EQ(filter.bits(), index.rowExtent());
      int64_t wanted = 0;
      for (const int64_t id : ids) {
        const bool passes = price[size_t(id)] <= most;
        wanted += passes;
        EXPECT_EQ(filter.passes(id), passes) << "id " << id << ", most " << most;
      }
      EXPECT_EQ(filter.count(), wanted) << "most " << most;
    }
  }
};

class CodeFilters : public testing::TestWithParam<Device> {
protected:
  void SetUp() override {
    const char *folder = std::getenv("ANNUDF_TEST_ARTIFACTS");
    if (!folder || !*folder)
      GTEST_SKIP() << "SKIPPED, NOT RUN: ANNUDF_TEST_ARTIFACTS is not set";
    std::string why;
    backend = backendOf(GetParam(), &why);
    if (!backend)
      GTEST_SKIP() << "SKIPPED, NOT RUN: " << why;
    metric = Metric::fromFile(std::string(folder) + "/affordable.annudf");
  }
  Backend *backend = nullptr;
  Metric metric;
};

TEST_P(CodeFilters, KeepsWhatThePredicateSays) {
  for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8})
    for (const auto &[rows, lists] : {std::pair<int64_t, uint32_t>{1, 1}, {33, 1}, {3000, 7}}) {
      const World world(metric, rows, lists, element);
      std::vector<int64_t> ids(static_cast<size_t>(rows));
      std::iota(ids.begin(), ids.end(), 0);
      world.check(*backend, ids);
    }
}

TEST_P(CodeFilters, IdsMayHaveGaps) {
  World world(metric, 500, 3, ANNUDF_ELEMENT_F32);
  const std::vector<int64_t> added = {700, 5001, 501, 5499};
  const std::vector<std::byte> more = World::coordinates(4, ANNUDF_ELEMENT_F32);
  world.index.extend({more.data(), 4, kDims, ANNUDF_ELEMENT_F32}, {.ids = added.data()});
  std::vector<int64_t> ids(500);
  std::iota(ids.begin(), ids.end(), 0);
  ids.insert(ids.end(), added.begin(), added.end());
  world.check(*backend, ids);
}

TEST_P(CodeFilters, IdsMayBeRepeated) {
  World world(metric, 500, 3, ANNUDF_ELEMENT_F32);
  const std::vector<int64_t> again = {7, 7, 499, 502};
  const std::vector<std::byte> more = World::coordinates(4, ANNUDF_ELEMENT_F32);
  world.index.extend({more.data(), 4, kDims, ANNUDF_ELEMENT_F32},
                     {.ids = again.data(), .allowRepeated = true});
  std::vector<int64_t> ids(500);
  std::iota(ids.begin(), ids.end(), 0);
  ids.push_back(502);
  world.check(*backend, ids);
}

/// The array was long enough for the index that it was bound for.
TEST_P(CodeFilters, RefusesAnIndexThatTheArrayIsTooShortFor) {
  World world(metric, 40, 1, ANNUDF_ELEMENT_F32);
  world.price.resize(40);
  const BoundCaptures captures = world.bind(50);
  const std::vector<std::byte> more = World::coordinates(1, ANNUDF_ELEMENT_F32);
  world.index.extend({more.data(), 1, kDims, ANNUDF_ELEMENT_F32});
  try {
    (void)keptRows(*backend, world.index, world.metric, captures);
    FAIL() << "it was read outside";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Usage);
    EXPECT_NE(std::string(error.what()).find("the largest id of the index is 40; bind an array"),
              std::string::npos)
        << error.what();
  }
}

TEST_P(CodeFilters, RefusesIdsThatNoBitsReach) {
  World world(metric, 40, 1, ANNUDF_ELEMENT_F32);
  const BoundCaptures captures = world.bind(50);
  const int64_t far = kMostFilterIds;
  const std::vector<std::byte> more = World::coordinates(1, ANNUDF_ELEMENT_F32);
  world.index.extend({more.data(), 1, kDims, ANNUDF_ELEMENT_F32}, {.ids = &far});
  try {
    (void)keptRows(*backend, world.index, world.metric, captures);
    FAIL() << "there are too many";
  } catch (const Error &error) {
    EXPECT_STREQ(
        error.what(),
        "filter with code: the largest id of the index is 34359738368 and it has 41 rows; a filter "
        "takes at most 34359738368 ids and 1073741824 rows; give the rows smaller ids");
  }
}

INSTANTIATE_TEST_SUITE_P(All, CodeFilters, testing::Values(Device::Cpu, Device::Cuda),
                         [](const auto &info) {
                           return std::string(info.param == Device::Cpu ? "cpu" : "cuda");
                         });

} // namespace
