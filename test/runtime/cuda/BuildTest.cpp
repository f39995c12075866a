//===- BuildTest.cpp - Building an index where its rows are ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Needs a GPU, or the stand-in of host/; without either every test is skipped and says so. Lists
// are checked against the rows and the centers in float64, centers by how well they fit, beside the
// host's.
//
//===----------------------------------------------------------------------===//

#include "SharedBackend.h"
#include "Support/TestFiles.h"
#include "annudf/Support/FileIO.h"
#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/cuda/Cuda.h"
#include "annudf/runtime/ivf_flat/Index.h"
#include "runtime/IndexTesting.h"
#include "runtime/MissingData.h"
#include "vectors/Elements.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

/// A matrix on the device, `shift` bytes from where its memory begins.
class OnDevice {
public:
  explicit OnDevice(const Matrix &matrix, uint64_t shift = 0)
      : memory_(sharedBackend()->allocate(matrix.storage.size() + shift, nullptr)),
        view_(matrix.view()) {
    const uint64_t to = memory_->address() + shift;
    sharedBackend()->copy(to, reinterpret_cast<uint64_t>(matrix.storage.data()),
                          matrix.storage.size(), nullptr);
    sharedBackend()->synchronize(nullptr);
    view_.data = reinterpret_cast<const void *>(to);
  }
  const MatrixView &view() const { return view_; }

private:
  std::unique_ptr<DeviceMemory> memory_;
  MatrixView view_;
};

IndexParams params(uint32_t lists, annudf_coarse metric = ANNUDF_COARSE_L2) {
  IndexParams p;
  p.nLists = lists, p.metric = metric, p.kmeansIterations = 8;
  return p;
}

Index build(const IndexParams &p, const Matrix &base, uint64_t shift = 0) {
  const OnDevice rows(base, shift);
  BuildStats stats;
  Index index = sharedBackend()->build(p, rows.view(), nullptr, {}, &stats);
  EXPECT_EQ(stats.listsOnDevice, p.addData);
  EXPECT_EQ(index.onHost(), !p.addData);
  return index;
}

/// What a row's distance to a center is where lists are made, the smaller the better.
double keyOf(annudf_coarse metric, const float *row, const float *center, int32_t dims) {
  double square = 0, dot = 0;
  for (int32_t d = 0; d < dims; ++d) {
    square += std::pow(double(row[d]) - center[d], 2);
    dot += double(row[d]) * center[d];
  }
  return metric == ANNUDF_COARSE_L2 ? square : -dot;
}

std::vector<float> floatsOf(const Matrix &matrix) {
  std::vector<float> floats(size_t(matrix.rows) * size_t(matrix.dims));
  convertRows(matrix.view(), 0, matrix.rows, floats.data());
  return floats;
}

/// Every row is once in a list, whole, and no center is nearer by more than rounding.
/// \param rounding  of keys, beside that of the best.
/// \returns the sum of the rows' keys.
double checkLists(const Index &index, const Matrix &base, double rounding = 1e-4) {
  const std::vector<float> floats = floatsOf(base);
  const auto bytes = bytesOfRow(base.element, base.dims);
  std::vector<int> seen(size_t(base.rows));
  double sum = 0;
  for (uint32_t l = 0; l < index.nLists(); ++l) {
    const List &list = index.list(l);
    EXPECT_EQ(int64_t(list.ids.size()), list.groups() * kGroupRows);
    EXPECT_EQ(int64_t(list.words.size()), list.groups() * index.words() * kGroupRows);
    int64_t before = -1;
    for (int64_t p = 0; p < int64_t(list.ids.size()); ++p) {
      const int64_t id = list.ids[size_t(p)];
      std::vector<uint32_t> row(size_t(index.words())), expected(size_t(index.words()));
      for (int32_t w = 0; w < index.words(); ++w)
        row[size_t(w)] = list.words[size_t((p / 32 * index.words() + w) * 32 + p % 32)];
      if (p < list.size) {
        EXPECT_GT(id, before) << "rows are in their order";
        before = id;
        ++seen.at(size_t(id));
        std::memcpy(expected.data(), base.storage.data() + id * bytes, size_t(bytes));
        const float *values = floats.data() + id * base.dims;
        double best = std::numeric_limits<double>::infinity();
        for (uint32_t c = 0; c < index.nLists(); ++c)
          best = std::min(best, keyOf(index.metric(), values,
                                      index.centers().data() + int64_t(c) * base.dims, base.dims));
        const double own = keyOf(index.metric(), values,
                                 index.centers().data() + int64_t(l) * base.dims, base.dims);
        EXPECT_LE(own, best + rounding + 1e-4 * std::abs(best)) << "row " << id;
        sum += own;
      } else {
        EXPECT_EQ(id, -1);
      }
      EXPECT_EQ(row, expected) << "list " << l << " place " << p;
      if (testing::Test::HasFailure())
        return sum;
    }
  }
  EXPECT_EQ(seen, std::vector<int>(size_t(base.rows), 1));
  return sum;
}

TEST(CudaBuild, EveryElementAndMetric) {
  REQUIRE_GPU("the build there is");
  const int64_t rows = onStandIn() ? 600 : 3000;
  for (annudf_element element : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_I8,
                                 ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_BITS})
    for (annudf_coarse metric :
         {ANNUDF_COARSE_L2, ANNUDF_COARSE_INNER_PRODUCT, ANNUDF_COARSE_COSINE})
      for (const int32_t dims : {8, 13, 32, 100, 136}) {
        if (!faultOfDims(element, dims).empty() || (onStandIn() && dims != 13 && dims != 136))
          continue;
        SCOPED_TRACE(std::string(toString(element)) + " " + toString(metric) + " " +
                     std::to_string(dims));
        const Matrix base = integerMatrix(element, rows, dims);
        const uint64_t shift = uint64_t(alignmentOf(element)); // Nothing else is aligned.
        const Index index = build(params(20, metric), base, dims == 32 ? 0 : shift);
        ASSERT_EQ(index.size(), rows);
        const double own = checkLists(index, base);
        ASSERT_FALSE(HasFailure());
        const Index host = Index::build(params(20, metric), base.view());
        const double others = checkLists(host, base);
        EXPECT_LT(own, others + 0.03 * std::abs(others)) << "centers fit as the host's do";
      }
}

TEST(CudaBuild, EqualBuildsAreEqualToTheByte) {
  REQUIRE_GPU("the build there is");
  const Matrix base = clusteredMatrix(onStandIn() ? 1000 : 20000, 24, 40, 30.0f);
  IndexParams p = params(130);
  const std::string one = testing::TempDir() + "one.ivf", two = testing::TempDir() + "two.ivf";
  build(p, base).save(one);
  build(p, base).save(two);
  EXPECT_EQ(readFile(one, 1 << 30), readFile(two, 1 << 30));
  const Index built = build(p, base), read = Index::load(one);
  EXPECT_TRUE(sameContent(built, read));
  p.seed = 2;
  EXPECT_FALSE(sameContent(built, build(p, base)));
}

/// Bytes of its file, which say all of it.
std::string fileOf(const Index &index) {
  const std::string path = testing::TempDir() + "built.ivf";
  index.save(path);
  return readFile(path, 1 << 30);
}

/// Builds rows in host memory within less and less memory: whole, in pieces, with its lists on the
/// host, and not at all.
void checkEveryPlan(IndexParams p, const Matrix &base) {
  const std::string expected = fileOf(build(p, base));
  BuildStats stats;
  int whole = 0, pieces = 0, onHost = 0;
  for (;;) {
    std::string fault;
    try {
      std::string stage;
      double last = 0;
      const Index index = sharedBackend()->buildFromHost(
          p, base.view(),
          [&](const char *now, double done) {
            EXPECT_GE(done, stage == now ? last : 0) << now << " goes back";
            stage = now, last = done;
            return true;
          },
          &stats);
      EXPECT_EQ(last, 1);
      EXPECT_TRUE(p.deviceMemoryLimit == 0 || stats.deviceBytes <= p.deviceMemoryLimit);
      EXPECT_EQ(stats.listsOnDevice, !index.onHost());
      (stats.pieces == 1 && whole == 0 ? whole : stats.listsOnDevice ? pieces : onHost) += 1;
      ASSERT_EQ(fileOf(index), expected) << "in " << stats.deviceBytes << " bytes";
    } catch (const Error &error) {
      fault = error.what();
    }
    if (!fault.empty()) {
      EXPECT_EQ(fault.substr(0, fault.find(';')),
                "device_memory_limit is " + std::to_string(p.deviceMemoryLimit) + " bytes");
      break;
    }
    p.deviceMemoryLimit = stats.deviceBytes - 1;
  }
  EXPECT_EQ(whole, 1);
  EXPECT_GT(pieces, 3);
  EXPECT_GT(onHost, 3);
}

TEST(CudaBuild, FromTheHostWithinAnyMemory) {
  REQUIRE_GPU();
  IndexParams p = params(20, ANNUDF_COARSE_COSINE);
  p.adaptiveCenters = true, p.missingValues = true;
  checkEveryPlan(p, withMissing(ANNUDF_ELEMENT_F16, onStandIn() ? 2500 : 30000, 40));
  p.metric = ANNUDF_COARSE_L2;
  checkEveryPlan(p, withMissing(ANNUDF_ELEMENT_F32, onStandIn() ? 2500 : 30000, 9));
  if (onStandIn())
    return;
  checkEveryPlan(params(130), clusteredMatrix(20000, 24, 40, 30.0f));
  checkEveryPlan(params(300, ANNUDF_COARSE_COSINE), integerMatrix(ANNUDF_ELEMENT_U8, 30000, 13));
  checkEveryPlan(params(1), integerMatrix(ANNUDF_ELEMENT_F16, 3000, 40));
  p = params(20, ANNUDF_COARSE_INNER_PRODUCT);
  p.kmeansTrainsetFraction = 0.01;
  checkEveryPlan(p, integerMatrix(ANNUDF_ELEMENT_BITS, 30000, 136));
}

TEST(CudaBuild, FromTheHostWithoutRows) {
  REQUIRE_GPU();
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 6000, 12);
  IndexParams p = params(6);
  p.addData = false;
  BuildStats stats;
  for (const uint64_t limit : {0, 400000}) {
    p.deviceMemoryLimit = limit;
    const Index empty = sharedBackend()->buildFromHost(p, base.view(), {}, &stats);
    EXPECT_EQ(empty.size(), 0);
    EXPECT_EQ(stats.pieces > 1, limit != 0);
    EXPECT_EQ(empty.centers(), build(params(6), base).centers());
  }
}

TEST(CudaBuild, FromTheHostRefuses) {
  REQUIRE_GPU();
  Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 6000, 12);
  IndexParams p = params(6);
  const auto fault = [&](ErrorKind kind = ErrorKind::Input, const Progress &progress = {}) {
    return errorOf([&] { (void)sharedBackend()->buildFromHost(p, base.view(), progress); }, kind);
  };
  auto *values = reinterpret_cast<float *>(base.storage.data());
  for (const uint64_t limit : {0, 400000}) {
    p = params(6), p.deviceMemoryLimit = limit;
    values[5000 * 12 + 7] = std::numeric_limits<float>::infinity();
    EXPECT_EQ(fault(), "base: row 5000, dim 7 is inf; every coordinate must be finite");
    values[5000 * 12 + 7] = 1;
    p.nLists = 6001;
    EXPECT_EQ(fault(), "base: it has 6000 rows, fewer than the 6001 lists; ask for at most 6000");
    p.nLists = 6;
    for (const char *stage : {"train", "add"})
      EXPECT_EQ(fault(ErrorKind::Interrupted,
                      [&](const char *now, double done) {
                        return std::strcmp(now, stage) != 0 || done < 0.5;
                      }),
                "interrupted (" + std::string(stage) + ")");
  }
  p.deviceMemoryLimit = 1;
  const OnDevice rows(base);
  EXPECT_EQ(
      errorOf([&] { (void)sharedBackend()->build(p, rows.view(), nullptr); }, ErrorKind::Usage),
      "device_memory_limit is for rows in host memory; the base is on the device");
}

/// A list's number has one, two and three digits of the sort; one list needs none.
TEST(CudaBuild, AnyNumberOfLists) {
  REQUIRE_GPU("the build there is");
  const Matrix base = clusteredMatrix(onStandIn() ? 600 : 90000, 4, 500, 10.0f);
  for (const uint32_t lists : {1u, 2u, 256u, 257u, onStandIn() ? 500u : 1000u})
    EXPECT_GT(checkLists(build(params(lists), base), base), 0) << lists;
  if (onStandIn())
    return;
  const Index many = build(params(70000), base);
  std::vector<int64_t> ids;
  for (const List &list : many.lists())
    for (const int64_t id : list.ids)
      if (id >= 0)
        ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  ASSERT_EQ(ids.size(), 90000u);
  for (size_t i = 0; i < ids.size(); ++i)
    ASSERT_EQ(ids[i], int64_t(i));
}

/// Rows that are all far from the origin, and close to each other.
TEST(CudaBuild, FarFromTheOrigin) {
  REQUIRE_GPU("the build there is");
  Matrix base = clusteredMatrix(5000, 16, 12, 1.0f);
  auto *values = reinterpret_cast<float *>(base.storage.data());
  for (int64_t i = 0; i < base.rows * base.dims; ++i)
    values[i] += 100000;
  // Rows are up to 1e6 from their middle, squared, and a float has 24 bits.
  const double own = checkLists(build(params(12), base), base, 0.2);
  EXPECT_LT(own, 1.05 * checkLists(Index::build(params(12), base.view()), base, 0.2));
}

TEST(CudaBuild, EqualRowsAndFewRows) {
  REQUIRE_GPU("the build there is");
  Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 500, 8);
  for (int64_t row = 1; row < 500; ++row)
    std::memcpy(base.storage.data() + row * 32, base.storage.data(), 32);
  EXPECT_EQ(checkLists(build(params(7), base), base), 0);
  const Matrix few = integerMatrix(ANNUDF_ELEMENT_F32, 9, 5);
  checkLists(build(params(9), few), few);
}

TEST(CudaBuild, ListsComeToTheHostWhenTheyAreNeeded) {
  REQUIRE_GPU("the build there is");
  const Matrix base = integerMatrix(ANNUDF_ELEMENT_U8, 4000, 40);
  const Index pristine = build(params(9), base);
  Index index = pristine; // Both have the same lists.
  EXPECT_FALSE(index.onHost());
  const Matrix more = integerMatrix(ANNUDF_ELEMENT_U8, 100, 40, 2);
  index.extend(more.view());
  EXPECT_TRUE(index.onHost());
  EXPECT_EQ(index.size(), 4100);
  std::vector<int64_t> ids(100);
  std::iota(ids.begin(), ids.end(), 4000);
  EXPECT_EQ(index.remove(ids), 100);
  EXPECT_TRUE(sameContent(index, pristine));
  EXPECT_TRUE(pristine.onHost());
  IndexParams p = params(9);
  p.addData = false;
  Index empty = build(p, base);
  EXPECT_EQ(empty.size(), 0);
  EXPECT_EQ(empty.centers(), pristine.centers());
  empty.extend(base.view());
  EXPECT_EQ(empty.size(), 4000);
}

TEST(CudaBuild, Refuses) {
  REQUIRE_GPU("the build there is");
  Matrix base = integerMatrix(ANNUDF_ELEMENT_F32, 600, 12);
  const auto fault = [&](const IndexParams &p, ErrorKind kind = ErrorKind::Input) {
    const OnDevice rows(base);
    return errorOf([&] { (void)sharedBackend()->build(p, rows.view(), nullptr); }, kind);
  };
  EXPECT_EQ(fault(params(601)),
            "base: it has 600 rows, fewer than the 601 lists; ask for at most 600");
  auto *values = reinterpret_cast<float *>(base.storage.data());
  values[500 * 12 + 7] = std::numeric_limits<float>::infinity();
  values[400 * 12 + 3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(fault(params(6)), "base: row 400, dim 3 is nan; every coordinate must be finite unless "
                              "index and metric say missing_values");
  values[400 * 12 + 3] = 1;
  EXPECT_EQ(fault(params(6)), "base: row 500, dim 7 is inf; every coordinate must be finite");
  values[500 * 12 + 7] = 1;
  EXPECT_EQ(errorOf([&] { (void)sharedBackend()->build(params(6), base.view(), nullptr); },
                    ErrorKind::Usage)
                .substr(0, 16),
            "base at address ");
  for (const double at : {0.0, 0.5}) {
    const OnDevice rows(base);
    EXPECT_EQ(errorOf(
                  [&] {
                    (void)sharedBackend()->build(
                        params(6), rows.view(), nullptr,
                        [&](const char *, double done) { return done != at; });
                  },
                  ErrorKind::Interrupted),
              "interrupted (train)");
  }
}

} // namespace
