//===- LinkEstimateTest.cpp - Whether a search waits for its link ----------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "H200.h"

#include "cuda/link/LinkEstimate.h"

#include "Support/TestFiles.h"

#include <cstdlib>
#include <limits>

namespace annudf::runtime::cuda {
namespace {

using test::kH200;

const CudaFamily *named(std::string_view name) {
  for (const CudaFamily *family : families())
    if (family->name() == name)
      return family;
  return nullptr;
}

Workload workOf(int32_t dims, uint32_t bytesOfElement) {
  Workload work;
  work.dims = dims, work.rowBytes = uint32_t(dims) * bytesOfElement;
  return work;
}

/// docs/results/reasons.md, "Scans by pairs": none took longer, and none a third of it.
TEST(LinkEstimate, TheEstimateIsAboveWhatWasMeasured) {
  struct {
    const char *what;
    int32_t dims;
    uint32_t bytes;
    double queries, rows, slots, ms;
  } const searches[] = {{"L2 f32, batch 10", 128, 4, 10, 33700, 2, 0.052},
                        {"L2 f32, batch 1,000", 128, 4, 1000, 33700, 2, 2.46},
                        {"L2 u8, batch 100", 128, 1, 100, 45375, 2, 0.282},
                        {"L2 u8, batch 300", 128, 1, 300, 45375, 2, 0.661},
                        {"L2 u8, batch 1,000", 128, 1, 1000, 45375, 2, 2.06},
                        {"L2 u8, batch 3,000", 128, 1, 3000, 45375, 2, 5.88},
                        {"L2 u8, batch 10,000", 128, 1, 10000, 45375, 2, 19.7},
                        {"weighted L2 f32, long, batch 100", 1024, 4, 100, 72424, 7, 6.25},
                        {"weighted L2 f32, long, batch 1,000", 1024, 4, 1000, 72286, 7, 63.7},
                        {"weighted L2 f32, 768 dims", 768, 4, 1000, 52765, 7, 34.7},
                        {"weighted L2 f16", 200, 2, 1000, 120626, 7, 12.9}};
  for (const auto &search : searches) {
    const double ms = scanMsAtMost(workOf(search.dims, search.bytes), kH200,
                                   search.queries * search.rows, search.slots);
    EXPECT_GT(ms, search.ms) << search.what;
    EXPECT_LT(ms, 3 * search.ms) << search.what;
  }
}

TEST(LinkEstimate, OfAMachineThatDoesNotTellItsSpeedNothingIsEstimated) {
  for (const bool memory : {false, true}) {
    Machine machine = kH200;
    (memory ? machine.memoryBytesPerMs : machine.clocksPerMs) = 0;
    EXPECT_EQ(scanMsAtMost(workOf(8, 4), machine, 1, 1), std::numeric_limits<double>::infinity());
  }
}

TEST(LinkEstimate, TheShortestLinkWhereTheSearchIsShorterThanHalfOfWhatIsSaved) {
  const CudaFamily *pairs = named("pairs"), *tiles = named("tiles"), *staged = named("staged"),
                   *packed = named("packed"), *parts = named("parts");
  const LinkCandidate none[] = {{tiles, false}, {pairs, false}, {packed, false}};
  // 191 - 53 ms are saved.
  EXPECT_EQ(insteadOfWaiting(none, staged->linkMs(), 68), pairs);
  EXPECT_EQ(insteadOfWaiting(none, staged->linkMs(), 70), nullptr);
  // What is there saves it all.
  const LinkCandidate one[] = {{tiles, true}, {pairs, false}};
  EXPECT_EQ(insteadOfWaiting(one, staged->linkMs(), 95), tiles);
  EXPECT_EQ(insteadOfWaiting(one, staged->linkMs(), 96), nullptr);
  // A link that is soon there is waited for, and so is one that takes longer than it should.
  const LinkCandidate done[] = {{pairs, true}};
  EXPECT_EQ(insteadOfWaiting(done, 40, 19), pairs);
  EXPECT_EQ(insteadOfWaiting(done, 40, 21), nullptr);
  EXPECT_EQ(insteadOfWaiting(done, 0, 0), nullptr);
  // That of pairs by pairs, or by what takes longer: no.
  const LinkCandidate longer[] = {{tiles, false}, {staged, false}};
  EXPECT_EQ(insteadOfWaiting(longer, pairs->linkMs(), 0), nullptr);
  // Other bits are no answer.
  const LinkCandidate other[] = {{parts, true}};
  EXPECT_EQ(insteadOfWaiting(other, 1000, 0), nullptr);
  EXPECT_EQ(insteadOfWaiting({}, 1000, 0), nullptr);
  EXPECT_EQ(insteadOfWaiting(done, 1000, std::numeric_limits<double>::infinity()), nullptr);
}

TEST(LinkEstimate, EveryFamilyButPartsIsExact) {
  for (const CudaFamily *family : families()) {
    EXPECT_EQ(family->isExact(), std::string_view(family->name()) != "parts");
    EXPECT_GT(family->linkMs(), 0);
  }
}

TEST(LinkEstimate, IsTurnedOffByTheEnvironment) {
  ::unsetenv("ANNUDF_LINK_AHEAD");
  EXPECT_TRUE(linksAhead());
  ::setenv("ANNUDF_LINK_AHEAD", "0", 1);
  EXPECT_FALSE(linksAhead());
  ::setenv("ANNUDF_LINK_AHEAD", "1", 1);
  EXPECT_TRUE(linksAhead());
  ::unsetenv("ANNUDF_LINK_AHEAD");
}

} // namespace
} // namespace annudf::runtime::cuda
