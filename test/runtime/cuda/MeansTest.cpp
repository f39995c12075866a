//===- MeansTest.cpp - Missing values and adaptive centers on a device -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU, or the stand-in of host/; without either every test is skipped and says so. Means
// are held against the host's, to the bit.
//
//===----------------------------------------------------------------------===//

#include "ListsOnGpu.h"
#include "Support/TestFiles.h"
#include "coarse/KMeans.h"
#include "cuda/build/IndexBuilder.h"
#include "runtime/IndexTesting.h"
#include "runtime/MissingData.h"
#include "vectors/Elements.h"
#include "gtest/gtest.h"

#include <limits>
#include <numeric>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

constexpr annudf_coarse kMetrics[] = {ANNUDF_COARSE_L2, ANNUDF_COARSE_INNER_PRODUCT,
                                      ANNUDF_COARSE_COSINE};

class CudaMeans : public ListsOnGpu {
protected:
  void SetUp() override { REQUIRE_GPU("missing values and adaptive centers there are"); }

  static IndexParams params(annudf_coarse metric, uint32_t lists = 12) {
    IndexParams p;
    p.nLists = lists, p.metric = metric, p.kmeansIterations = 5;
    return p;
  }
  Index buildThere(const IndexParams &p, const MatrixView &base) {
    const auto memory = copied(base);
    Index index = backend->build(
        p, {reinterpret_cast<const void *>(memory->address()), base.rows, base.dims, base.element},
        nullptr);
    EXPECT_EQ(index.device(), 0);
    EXPECT_FALSE(index.onHost());
    return index;
  }
  void extendThere(Index &index, const MatrixView &rows, const NewIds &ids = {}) {
    const auto memory = copied(rows);
    backend->extend(
        index,
        {reinterpret_cast<const void *>(memory->address()), rows.rows, rows.dims, rows.element},
        ids, nullptr);
  }
  /// Some of each list, all of a few, and nothing of others.
  void removeBoth(Index &there, Index &host) {
    std::vector<int64_t> ids;
    for (uint32_t l = 0; l < host.nLists(); ++l)
      for (int64_t i = 0; i < host.list(l).size; ++i)
        if (l % 4 == 0 || (l % 4 != 3 && i % 5 == 2))
          ids.push_back(host.list(l).ids[size_t(i)]);
    EXPECT_EQ(backend->remove(there, ids), host.remove(ids));
    EXPECT_EQ(there.centers(), host.centers());
  }
  /// That the lists are there alone.
  static void expectThere(const Index &index) {
    EXPECT_EQ(index.device(), 0);
    EXPECT_FALSE(index.onHost());
  }

  std::unique_ptr<DeviceMemory> copied(const MatrixView &rows) {
    const auto bytes = uint64_t(rows.rows * bytesOfRow(rows.element, rows.dims));
    auto memory = backend->allocate(bytes, nullptr);
    backend->copy(memory->address(), reinterpret_cast<uint64_t>(rows.data), bytes, nullptr);
    return memory;
  }
};

/// What a build trained: the index without its lists.
std::vector<float> trained(CudaBackend &backend, IndexParams p, const MatrixView &base) {
  p.addData = false, p.adaptiveCenters = false;
  return backend.buildFromHost(p, base).centers();
}

/// The means of the rows of each list, added up one by one.
std::vector<float> meansOfLists(const Index &index, const Matrix &rows,
                                std::vector<float> centers) {
  const auto dims = size_t(rows.dims);
  std::vector<float> row(dims);
  for (uint32_t l = 0; l < index.nLists(); ++l) {
    std::vector<double> sum(dims);
    const List &list = index.list(l);
    for (int64_t i = 0; i < list.size; ++i) {
      for (size_t d = 0; d < dims; ++d) {
        const float value = coordinate(rows.view(), list.ids[size_t(i)], int32_t(d));
        row[d] = std::isnan(value) ? index.fill()[d] : value;
      }
      if (index.metric() == ANNUDF_COARSE_COSINE)
        normaliseRows(row.data(), 1, rows.dims);
      for (size_t d = 0; d < dims; ++d)
        sum[d] += double(row[d]);
    }
    if (list.size == 0)
      continue;
    for (size_t d = 0; d < dims; ++d)
      centers[l * dims + d] = float(sum[d] / double(list.size));
    if (index.metric() != ANNUDF_COARSE_L2)
      normaliseRows(centers.data() + l * dims, 1, rows.dims);
  }
  return centers;
}

/// As if the means stood there, but that rows keep their NaN.
TEST_F(CudaMeans, CountWhereListsAreMade) {
  for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_BF16})
    for (const annudf_coarse metric : kMetrics)
      for (const int32_t dims : {7, 136}) {
        if (onStandIn() && dims == 136 && element != ANNUDF_ELEMENT_F16)
          continue;
        SCOPED_TRACE(std::string(toString(element)) + " " + toString(metric) + " " +
                     std::to_string(dims));
        // Several pieces of the sums of what is there.
        const Matrix base = withMissing(element, onStandIn() ? 2500 : 70000, dims);
        IndexParams p = params(metric);
        p.missingValues = true;
        const Index there = buildThere(p, base.view());
        const IndexParams one = {.nLists = 1, .kmeansIterations = 1, .missingValues = true};
        EXPECT_EQ(there.fill(), Index::build(one, base.view()).fill());
        p.missingValues = false;
        const Index expected = buildThere(p, withMeans(base, base).view());
        EXPECT_EQ(there.centers(), expected.centers());
        const int64_t bytes = bytesOfRow(element, dims);
        for (uint32_t l = 0; l < 12; ++l) {
          const List &list = there.list(l);
          ASSERT_EQ(list.ids, expected.list(l).ids);
          for (int64_t i = 0; i < list.size; ++i)
            for (int64_t b = 0; b < bytes; ++b) {
              const auto word = list.words[size_t((i / 32 * there.words() + b / 4) * 32 + i % 32)];
              ASSERT_EQ(std::byte(word >> (b % 4 * 8)),
                        base.storage[size_t(list.ids[size_t(i)] * bytes + b)]);
            }
        }
      }
}

/// After a build, after rows have come, and after some have gone.
TEST_F(CudaMeans, AdaptiveCentersAreTheHosts) {
  for (const annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8,
                                       ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_BITS})
    for (const annudf_coarse metric : kMetrics)
      for (const int32_t dims : {13, 136}) {
        if (!faultOfDims(element, dims).empty())
          continue;
        SCOPED_TRACE(std::string(toString(element)) + " " + toString(metric) + " " +
                     std::to_string(dims));
        const int64_t built = onStandIn() ? 500 : 5000, more = built / 5;
        const bool floats = kindOf(element) == NumberKind::Float;
        const Matrix base = floats ? withMissing(element, built + 2 * more, dims)
                                   : integerMatrix(element, built + 2 * more, dims);
        IndexParams p = params(metric);
        p.adaptiveCenters = true, p.missingValues = floats;
        const MatrixView first = part(base, 0, built);
        const auto build = [&] {
          return metric == ANNUDF_COARSE_L2 ? backend->buildFromHost(p, first)
                                            : buildThere(p, first);
        };
        Index there = build(), host = build(); // Equal, and the lists of one come to the host.
        EXPECT_TRUE(host.adaptiveCenters());
        EXPECT_EQ(host.centers(), meansOfLists(host, base, trained(*backend, p, first)));
        extendThere(there, part(base, built, more));
        host.extend(part(base, built, more));
        EXPECT_EQ(there.centers(), host.centers());
        removeBoth(there, host);
        backend->extendFromHost(there, part(base, built + more, more));
        host.extend(part(base, built + more, more));
        expectThere(there);
        ASSERT_TRUE(sameContent(there, host));
      }
}

/// Coordinates that are no integers, in lists of which one has most rows.
TEST_F(CudaMeans, AreRoundedAsTheHostsAre) {
  Matrix base = clusteredMatrix(onStandIn() ? 4000 : 40000, 40, 900, 1.0f);
  auto *values = reinterpret_cast<float *>(base.storage.data());
  for (int64_t row = 0; row < base.rows; ++row)
    for (int32_t d = 0; d < base.dims; ++d) {
      float &value = values[row * base.dims + d];
      value = (row * 7 + d) % 11 == 0 ? std::nanf("") : row % 3 == 0 ? value : 900 + value / 100;
    }
  for (const annudf_coarse metric : kMetrics) {
    IndexParams p = params(metric, 60);
    p.adaptiveCenters = true, p.missingValues = true;
    const int64_t half = base.rows / 2;
    Index there = buildThere(p, part(base, 0, half)), host = buildThere(p, part(base, 0, half));
    EXPECT_EQ(host.centers(), meansOfLists(host, base, trained(*backend, p, part(base, 0, half))));
    extendThere(there, part(base, half, half));
    host.extend(part(base, half, half));
    removeBoth(there, host);
    expectThere(there);
    EXPECT_TRUE(sameContent(there, host));
  }
}

/// What a device's copy holds for searches to rank lists by.
void checkCopy(const cuda::BuiltIndex &built) {
  const annudf_device_index &args = built.copy->args();
  const auto fetched = [](uint64_t from, size_t count) {
    std::vector<float> values(count);
    sharedBackend()->copy(reinterpret_cast<uint64_t>(values.data()), from, count * 4, nullptr);
    sharedBackend()->synchronize(nullptr);
    return values;
  };
  const std::vector<float> centers = fetched(args.centers, size_t(args.nLists) * args.centerStride);
  const std::vector<float> norms = fetched(args.norms, args.nLists);
  for (uint32_t l = 0; l < args.nLists; ++l) {
    double square = 0;
    for (uint32_t d = 0; d < args.centerStride; ++d) {
      const float own = d < args.dims ? built.index.centers()[l * args.dims + d] : 0;
      ASSERT_EQ(centers[l * args.centerStride + d], own) << "list " << l << " dim " << d;
      square += double(own) * own;
    }
    ASSERT_EQ(norms[l], float(std::sqrt(square)));
  }
  EXPECT_EQ(fetched(built.copy->fill(), args.dims), built.index.fill());
}

TEST_F(CudaMeans, ListsAreRankedByThem) {
  const Matrix base = withMissing(ANNUDF_ELEMENT_F32, 1200, 13);
  IndexParams p = params(ANNUDF_COARSE_L2);
  p.adaptiveCenters = true, p.missingValues = true;
  const auto memory = copied(base.view());
  const auto there = [&](int64_t first, int64_t rows) {
    const uint64_t at = memory->address() + uint64_t(first * 13 * 4);
    return MatrixView{reinterpret_cast<const void *>(at), rows, 13, base.element};
  };
  cuda::IndexBuilder builder(std::make_shared<cuda::Context>(0));
  BuildStats stats;
  cuda::BuiltIndex built = builder.build(p, there(0, 900), nullptr, {}, stats);
  checkCopy(built);
  const std::vector<float> first = built.index.centers();
  const auto lists = [&] { return built.copy; };
  built.copy = builder.extend(built.index, there(900, 300), {}, nullptr, {}, lists);
  checkCopy(built);
  const std::vector<float> second = built.index.centers();
  EXPECT_NE(second, first);
  built.copy = builder.remove(built.index, std::vector<int64_t>{1, 5, 800}, {}, lists).copy;
  checkCopy(built);
  EXPECT_NE(built.index.centers(), second);
}

TEST_F(CudaMeans, WithoutRowsCentersStay) {
  const Matrix base = withMissing(ANNUDF_ELEMENT_F32, 900, 12);
  IndexParams p = params(ANNUDF_COARSE_COSINE, 6);
  p.adaptiveCenters = true, p.missingValues = true;
  Index there = buildThere(p, part(base, 0, 600)), host = buildThere(p, part(base, 0, 600));
  std::vector<int64_t> ids(host.list(2).ids.begin(), host.list(2).ids.begin() + host.list(2).size);
  for (int round = 0; round < 2; ++round) { // A list, then all of them.
    EXPECT_EQ(backend->remove(there, ids), host.remove(ids));
    EXPECT_EQ(there.centers(), host.centers());
    ids.resize(600);
    std::iota(ids.begin(), ids.end(), 0);
  }
  EXPECT_EQ(there.device(), -1);
  extendThere(there, part(base, 600, 300));
  host.extend(part(base, 600, 300));
  EXPECT_TRUE(sameContent(there, host));
  p.addData = false;
  const Index empty = backend->buildFromHost(p, part(base, 0, 600));
  EXPECT_TRUE(empty.adaptiveCenters());
  EXPECT_TRUE(empty.missingValues());
}

TEST_F(CudaMeans, AreSavedAndGoOnOnTheHost) {
  const Matrix base = withMissing(ANNUDF_ELEMENT_BF16, 900, 12);
  IndexParams p = params(ANNUDF_COARSE_L2, 6);
  p.adaptiveCenters = true, p.missingValues = true;
  Index there = buildThere(p, part(base, 0, 600));
  extendThere(there, part(base, 600, 200));
  const TempDir folder;
  const std::string path = folder / "adaptive.ivf";
  there.save(path);
  Index read = Index::load(path);
  EXPECT_TRUE(sameContent(read, there));
  for (Index *index : {&there, &read}) // Without sums that a device would know.
    index->extend(part(base, 800, 100));
  EXPECT_TRUE(sameContent(read, there));
}

TEST_F(CudaMeans, Refuses) {
  Matrix base = withMissing(ANNUDF_ELEMENT_F32, 900, 12);
  auto *values = reinterpret_cast<float *>(base.storage.data());
  IndexParams p = params(ANNUDF_COARSE_L2, 6);
  p.missingValues = true;
  Index index = buildThere(p, part(base, 0, 600)),
        plain = build(part(withMeans(base, base), 0, 600), 6);
  const std::string rest = "; every coordinate must be finite";
  for (const int64_t row : {300, 700}) {
    values[row * 12 + 7] = -std::numeric_limits<float>::infinity();
    const std::string fault = ", dim 7 is -inf" + rest + ", or NaN where it is missing";
    if (row < 600)
      for (const bool fromHost : {false, true})
        EXPECT_EQ(errorOf([&] {
                    (void)(fromHost ? backend->buildFromHost(p, part(base, 0, 600))
                                    : buildThere(p, part(base, 0, 600)));
                  }),
                  "base: row 300" + fault);
    else
      EXPECT_EQ(errorOf([&] { extendThere(index, part(base, 600, 300)); }),
                "rows to add: row 100" + fault);
    EXPECT_EQ(errorOf([&] { backend->extendFromHost(index, part(base, row, 1)); }),
              "rows to add: row 0" + fault);
    values[row * 12 + 7] = 1;
  }
  for (const bool fromHost : {false, true})
    EXPECT_EQ(errorOf([&] {
                fromHost ? backend->extendFromHost(plain, part(base, 601, 9))
                         : extendThere(plain, part(base, 601, 9));
              }),
              "rows to add: row 0, dim 2 is nan" + rest +
                  " unless index and metric say missing_values");
  const Matrix bytes = integerMatrix(ANNUDF_ELEMENT_U8, 50, 4);
  EXPECT_EQ(errorOf([&] { (void)backend->buildFromHost(p, bytes.view()); }, ErrorKind::Usage),
            "missing_values: vectors of u8 have no NaN to stand for a missing value; give f32, f16 "
            "or bf16, or leave missing_values out");
}

} // namespace
