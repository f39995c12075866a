//===- MergeTest.cpp - The k best of several partial results --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Merge.h"
#include "annudf/Support/Error.h"
#include "runtime/MergeTesting.h"

using namespace annudf;
using namespace annudf::runtime;
using namespace annudf::test;

namespace {

TEST(Merge, EqualsASort) {
  forMergeCases(5000, [](const MergeCase &one) {
    std::vector<int64_t> ids(size_t(one.queries * one.k), -7);
    std::vector<float> distances(ids.size(), -7);
    mergeParts({one.ids.data(), one.distances.data(), one.parts, one.queries, one.found, one.order,
                one.translations},
               one.k, ids.data(), distances.data(), 2);
    one.check(ids, distances);
  });
}

/// What a search of all rows would have said of them, to the bit.
TEST(Merge, DistancesAreAsTheyCame) {
  const int64_t ids[] = {4, 3};
  const float distances[] = {-0.0f, 0.0f};
  int64_t found[2];
  float at[2];
  mergeParts({ids, distances, 2, 1, 1, ANNUDF_ORDER_MIN, {}}, 2, found, at);
  EXPECT_EQ(found[0], 3);
  EXPECT_FALSE(std::signbit(at[0]));
  EXPECT_TRUE(std::signbit(at[1]));
}

std::string refused(const PartialResults &from, int64_t k) {
  std::vector<int64_t> ids(64);
  std::vector<float> distances(64);
  try {
    mergeParts(from, k, ids.data(), distances.data());
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Merge, Refuses) {
  const std::vector<int64_t> ids(8, INT64_MAX);
  const std::vector<float> distances(8);
  PartialResults from = {ids.data(), distances.data(), 2, 2, 2, ANNUDF_ORDER_MIN, {}};
  EXPECT_EQ(refused(from, 2), "");
  EXPECT_EQ(refused(from, 0), "k is 0, it must be an integer from 1 to 1073741824");
  from.k = 0;
  EXPECT_EQ(refused(from, 2), "k of a part is 0, it must be an integer from 1 to 1073741824");
  from.k = 2, from.parts = int64_t(1) << 31;
  EXPECT_EQ(refused(from, 2), "parts is 2147483648, it must be an integer from 1 to 2147483647");
  from.parts = 2, from.queries = -1;
  EXPECT_EQ(refused(from, 2), "queries is -1, it must be an integer from 0 to 2147483647");
  from.queries = 2;
  const int64_t three[] = {0, 0, 0}, below[] = {0, -1}, above[] = {0, 1};
  from.translations = three;
  EXPECT_EQ(refused(from, 2), "there are 3 translations and 2 parts; give one a part");
  from.translations = below;
  EXPECT_EQ(refused(from, 2), "translation -1 of part 1: must be 0 or above");
  from.translations = above;
  EXPECT_EQ(refused(from, 2),
            "part 1: id 9223372036854775807 of query 0 plus its translation 1 is above "
            "9223372036854775807, the largest id");
}

} // namespace
