//===- PackedDimsTest.cpp - Packed sums of every number of dimensions -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The families "packed" and "packed_granules" against "pairs", to the bit, of every dimension from
// 1 to 257: what a last word, stage or chunk of 16 bytes holds in part is another case each. Needs
// a GPU of sm_80 or newer; without one the tests are skipped and say so.
//
//===----------------------------------------------------------------------===//

#include "AgainstPairs.h"
#include "SharedBackend.h"

#include "gtest/gtest.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

constexpr int32_t kMostDims = 257;

class CudaPackedDims : public testing::TestWithParam<annudf_element> {};

/// Lists of some 20 to 150 rows, few of them whole groups of 32.
Index indexOf(const reference::Vectors &base) {
  IndexParams params;
  params.nLists = 5, params.kmeansIterations = 2, params.threads = 1;
  return Index::build(params, view(base));
}

struct Term {
  const char *metric;
  int dims = 0; ///< At which it was compared.
};

} // namespace

TEST_P(CudaPackedDims, AgreeWithPairsToTheBit) {
  REQUIRE_GPU("packed sums of every dimension are");
  if (sharedBackend()->arch() < 80)
    GTEST_SKIP() << "older than sm_80: packed sums of every dimension are NOT checked";
  const annudf_element element = GetParam();
  // Read, and so linked, once: a kernel serves every dimension.
  std::vector<std::pair<Term, Metric>> terms;
  for (const char *name : {"l1", "l2", "inner_product", "hamming"})
    if (const TestMetric &test = testMetric(name); test.packed)
      for (const PackedElement &of : test.packed->elements)
        if (of.element == element)
          terms.emplace_back(Term{name}, unfusedMetric(test));
  ASSERT_EQ(terms.size(), element == ANNUDF_ELEMENT_BITS ? 3u : 4u);
  int expected = 0;
  for (int32_t dims = 1; dims <= kMostDims; ++dims) {
    if (!faultOfDims(element, dims).empty())
      continue;
    ++expected;
    const Index index = indexOf(reference::randomVectors(element, 397, dims, uint64_t(dims)));
    // Stages of 32 queries and of 64, the last in part.
    const auto few = reference::randomVectors(element, 7, dims, 1001),
               many = reference::randomVectors(element, 70, dims, 1002);
    for (auto &[term, metric] : terms) {
      ASSERT_GE(metric.artifact.manifest.packed->dimsOf(element), dims) << term.metric;
      for (const char *family : {"packed", "packed_granules"})
        for (const reference::Vectors *queries : {&few, &many})
          ASSERT_EQ(differenceFromPairs(*sharedBackend(), index, metric, *queries, 10,
                                        {.nProbes = 3}, family),
                    "")
              << term.metric << " " << toString(element) << " dims " << dims << " queries "
              << queries->rows << " " << family;
      ++term.dims;
    }
  }
  EXPECT_GE(expected, element == ANNUDF_ELEMENT_BITS ? kMostDims / 8 : kMostDims);
  for (const auto &[term, metric] : terms)
    EXPECT_EQ(term.dims, expected) << term.metric;
}

INSTANTIATE_TEST_SUITE_P(Every, CudaPackedDims,
                         testing::Values(ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_BITS),
                         [](const auto &info) { return std::string(toString(info.param)); });
