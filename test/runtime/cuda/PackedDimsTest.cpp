//===- PackedDimsTest.cpp - Packed sums of every number of dimensions -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The families "packed" and "packed_granules" against "pairs", to the bit, and those against brute
// force, of every dimension from 1 to 257: what a last word, stage or chunk of 16 bytes holds in
// part is another case each. Needs a GPU of sm_80 or newer; without one the tests are skipped and
// say so.
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
  const TestMetric &test;
  Metric metric;
  int dims = 0; ///< At which it was compared.
};

/// Read, and so linked, once: a kernel serves every dimension.
std::vector<Term> termsOf(annudf_element element) {
  std::vector<Term> terms;
  for (const char *name : {"l1", "l2", "inner_product", "hamming"})
    for (const PackedElement &of : testMetric(name).packed->elements)
      if (of.element == element && of.dims >= kMostDims)
        terms.push_back({testMetric(name), unfusedMetric(testMetric(name))});
  return terms;
}

/// "" where pairs find what is true: what they are compared with has to be more than each other.
std::string faultOfPairs(const Term &term, const Index &index, const reference::Vectors &base,
                         const reference::Vectors &queries) {
  constexpr int kK = 10;
  const Answer found = answerOf(*sharedBackend(), index, term.metric, queries, kK,
                                {.candidates = Lists{index.nLists()}, .family = "pairs"});
  const auto rows = reference::allRows(base.rows);
  for (int64_t q = 0; q < queries.rows; ++q)
    if (std::string fault =
            reference::check(base, rows, queries.row(q), kK, term.test.order, term.test.distance,
                             &found.ids[size_t(q * kK)], &found.distances[size_t(q * kK)], 1e-5,
                             cancellation(term.test, base));
        !fault.empty())
      return "query " + std::to_string(q) + " " + fault;
  return "";
}

} // namespace

TEST_P(CudaPackedDims, AgreeWithPairsToTheBit) {
  REQUIRE_GPU("packed sums of every dimension are");
  if (sharedBackend()->arch() < 80)
    GTEST_SKIP() << "older than sm_80: packed sums of every dimension are NOT checked";
  const annudf_element element = GetParam();
  std::vector<Term> terms = termsOf(element);
  ASSERT_EQ(terms.size(), element == ANNUDF_ELEMENT_BITS ? 3U : 4U);
  int expected = 0;
  for (int32_t dims = 1; dims <= kMostDims; ++dims) {
    if (!faultOfDims(element, dims).empty())
      continue;
    ++expected;
    const auto base = reference::randomVectors(element, 397, dims, uint64_t(dims));
    const Index index = indexOf(base);
    // Stages of 32 queries and of 64, the last in part.
    const auto few = reference::randomVectors(element, 7, dims, 1001),
               many = reference::randomVectors(element, 70, dims, 1002);
    for (Term &term : terms) {
      const std::string what =
          term.test.name + " " + toString(element) + " dims " + std::to_string(dims);
      ASSERT_EQ(faultOfPairs(term, index, base, few), "") << what;
      for (const char *family : {"packed", "packed_granules"})
        for (const reference::Vectors *queries : {&few, &many})
          ASSERT_EQ(differenceFromPairs(*sharedBackend(), index, term.metric, *queries, 10,
                                        {.candidates = Lists{3}}, family),
                    "")
              << what << " queries " << queries->rows << " " << family;
      ++term.dims;
    }
  }
  EXPECT_EQ(expected, element == ANNUDF_ELEMENT_BITS ? kMostDims / 8 : kMostDims);
  for (const Term &term : terms)
    EXPECT_EQ(term.dims, expected) << term.test.name;
}

INSTANTIATE_TEST_SUITE_P(Every, CudaPackedDims,
                         testing::Values(ANNUDF_ELEMENT_U8, ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_BITS),
                         [](const auto &info) { return std::string(toString(info.param)); });
