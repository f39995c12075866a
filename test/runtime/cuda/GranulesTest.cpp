//===- GranulesTest.cpp - Searches by the keys of granules, on a GPU ------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The families "staged_granules" and "packed_granules" against "pairs", to the bit. Needs a GPU of
// sm_80 or newer and the artifacts of scripts/gpu artifacts, as only the compiler's own code has
// the same bits in two kernels; without one of them every test is skipped and says so.
//
//===----------------------------------------------------------------------===//

#include "AgainstPairs.h"
#include "CompiledMetrics.h"
#include "SharedBackend.h"

#include "gtest/gtest.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

class CudaGranules : public testing::Test {
protected:
  void SetUp() override {
    REQUIRE_COMPILED_METRICS(folder, "l2.annudf", "searches by the keys of granules are");
    REQUIRE_GPU("searches by the keys of granules are");
    if (backend->arch() < 80)
      GTEST_SKIP() << "older than sm_80: searches by the keys of granules are NOT checked";
  }
  Metric read(const std::string &name) const {
    return Metric::fromFile(folder + "/" + name + ".annudf");
  }
  std::string folder;
  CudaBackend *const backend = sharedBackend();
};

} // namespace

TEST_F(CudaGranules, AgreeWithPairsToTheBit) {
  int cells = 0;
  for (const char *name : {"l2", "l1", "weighted_l2", "inner_product", "chebyshev"}) {
    const Metric metric = read(name);
    for (const annudf_element element :
         {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_F16, ANNUDF_ELEMENT_BF16, ANNUDF_ELEMENT_U8,
          ANNUDF_ELEMENT_I8}) {
      if (!metric.artifact.manifest.accepts(element))
        continue;
      for (const int32_t dims : {1, 3, 16, 33, 96, 257}) {
        const auto base = reference::randomVectors(element, 3000, dims, uint64_t(dims) * 8 + 1);
        // Lists of 90 to 3000 rows: tiles and segments with ends of every kind.
        const Index index = build(base, dims % 2 ? 1 : 33);
        const bool isPacked = metric.artifact.manifest.packed &&
                              metric.artifact.manifest.packed->dimsOf(element) >= dims;
        for (const int64_t count : {5, 70, 150})
          for (const int k : {1, 10, 256}) {
            const auto queries = reference::randomVectors(element, count, dims, 9);
            for (const char *family : {"staged_granules", "packed_granules"}) {
              if (family[0] == 'p' && !isPacked)
                continue;
              ASSERT_EQ(differenceFromPairs(*backend, index, metric, queries, k,
                                            {.candidates = Lists{index.nLists() == 1 ? 1u : 7u}},
                                            family),
                        "")
                  << name << " " << toString(element) << " dims " << dims << " queries " << count
                  << " k " << k << " " << family;
              ++cells;
            }
          }
      }
    }
  }
  EXPECT_GT(cells, 1000);
}

TEST_F(CudaGranules, FiltersHold) {
  const auto base = reference::randomVectors(ANNUDF_ELEMENT_U8, 3000, 96, 3);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_U8, 130, 96, 4);
  const Index index = build(base, 20);
  for (const uint32_t word : {0x77777777U, 0x00000100U, 0U}) {
    const std::vector<uint32_t> words(size_t(RowFilter::wordsFor(3000)), word);
    const auto filter = std::make_shared<const RowFilter>(words, 3000);
    for (const char *family : {"staged_granules", "packed_granules"})
      EXPECT_EQ(differenceFromPairs(*backend, index, read("l2"), queries, 10,
                                    {.candidates = Lists{8}, .filter = filter}, family),
                "")
          << word << " " << family;
  }
}

/// Equal rows, among which ids decide, and more of them than a block has room for.
TEST_F(CudaGranules, TiesAreTheSame) {
  auto base = reference::randomVectors(ANNUDF_ELEMENT_U8, 40000, 16, 3);
  for (size_t i = 0; i < base.encoded.size(); ++i)
    base.encoded[i] = uint8_t(i / 16 % 3), base.values[i] = float(i / 16 % 3);
  const auto queries = reference::randomVectors(ANNUDF_ELEMENT_U8, 70, 16, 4);
  const Index index = build(base, 3);
  for (const int k : {1, 10, 256})
    for (const char *family : {"staged_granules", "packed_granules"})
      EXPECT_EQ(differenceFromPairs(*backend, index, read("l2"), queries, k,
                                    {.candidates = Lists{index.nLists()}}, family),
                "")
          << k << " " << family;
}
