//===- FilterTest.cpp - Bits of filters -----------------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Filter.h"

#include "annudf/Support/Error.h"
#include "gtest/gtest.h"

using namespace annudf;
using namespace annudf::runtime;

namespace {

std::string refusal(auto make) {
  try {
    make();
  } catch (const Error &error) {
    return error.what();
  }
  return "accepted";
}

TEST(Filter, BitsPastTheLastStandForNothing) {
  const RowFilter filter({0xFFFFFFFFu, 0xFFFFFFFFu}, 33);
  EXPECT_EQ(filter.bits(), 33);
  EXPECT_EQ(filter.count(), 33);
  EXPECT_EQ(filter.words()[1], 1u);
  EXPECT_EQ(filter.inverted().count(), 0);
  EXPECT_EQ(filter.inverted().inverted().words(), filter.words());
}

/// One only where a search can do without the filter.
TEST(Filter, TellsWhatShareOfRowsPasses) {
  const RowFilter half({0b0011}, 4), all({0b1111}, 4), none({0}, 4);
  EXPECT_EQ(half.passingShare(4), 0.5);
  EXPECT_EQ(half.passingShare(3), 2.0 / 3); // As if both were rows'.
  EXPECT_LT(half.passingShare(2), 1);
  EXPECT_GT(half.passingShare(2), 0.999);
  EXPECT_LT(half.passingShare(1), 1);
  EXPECT_LT(half.passingShare(0), 1);
  EXPECT_EQ(all.passingShare(4), 1);
  EXPECT_EQ(all.passingShare(1), 1);
  EXPECT_EQ(none.passingShare(4), 0);
}

TEST(Filter, JoinsBitByBit) {
  const RowFilter a({0b0011}, 4), b({0b0101}, 4);
  EXPECT_EQ(RowFilter::both(a, b).words(), std::vector<uint32_t>{0b0001});
  EXPECT_EQ(RowFilter::either(a, b).words(), std::vector<uint32_t>{0b0111});
  EXPECT_EQ(a.inverted().words(), std::vector<uint32_t>{0b1100});
  EXPECT_TRUE(a.passes(1));
  EXPECT_FALSE(a.passes(2));
  EXPECT_NE(a.number(), RowFilter::both(a, a).number());
}

TEST(Filter, RefusesSizesThatDisagree) {
  EXPECT_EQ(refusal([] { RowFilter({}, 0); }), "filter: it has 0 bits; give one for every id");
  EXPECT_EQ(refusal([] { RowFilter({1, 2}, 32); }), "filter: it has 2 words for 32 bits; give 1");
  EXPECT_EQ(refusal([] { RowFilter({1}, 33); }), "filter: it has 1 words for 33 bits; give 2");
  const RowFilter four({1}, 4), five({1}, 5);
  EXPECT_EQ(refusal([&] { RowFilter::both(four, five); }),
            "filters of 4 and 5 bits cannot be joined by &; make them for the same index");
  EXPECT_EQ(refusal([&] { RowFilter::either(five, four); }),
            "filters of 5 and 4 bits cannot be joined by |; make them for the same index");
}

} // namespace
