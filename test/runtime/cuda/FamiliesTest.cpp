//===- FamiliesTest.cpp - Plans of the CUDA backend, without a device -----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include "annudf-c/IvfFlat.h"
#include "kernels/cuda/common/RankArgs.h"

#include "Support/TestFiles.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace annudf::runtime::cuda {
namespace {

using test::chosen, test::kH200, test::planOf, test::workOf;

TEST(CudaFamilies, TilesFromOneAndAHalfQueriesAList) {
  EXPECT_EQ(chosen(workOf(1, 32, 1024)), "pairs");
  EXPECT_EQ(chosen(workOf(100, 10, 1000)), "pairs");
  EXPECT_EQ(chosen(workOf(149, 10, 1000)), "pairs");
  EXPECT_EQ(chosen(workOf(150, 10, 1000)), "tiles"); // Just 1.5.
  EXPECT_EQ(chosen(workOf(10000, 32, 1024)), "tiles");
  EXPECT_EQ(chosen(workOf(1, 1, 1)), "pairs");
  EXPECT_EQ(chosen(workOf(2, 1, 1)), "tiles");
  EXPECT_EQ(textOf(planOf(workOf(10000, 32, 1024), kH200)),
            "312 queries a list: up to 8 share a read");
  EXPECT_EQ(textOf(planOf(workOf(100, 10, 1000), kH200)),
            "1 queries a list: each reads its rows alone");
}

TEST(CudaFamilies, PartsWhereFewRowsOfLongVectorsAreScanned) {
  const auto inParts = [](int64_t queries, uint32_t probes, uint32_t lists, uint32_t rowBytes) {
    Workload work = workOf(queries, probes, lists, rowBytes);
    work.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE, ANNUDF_HOOK_COMBINE};
    return work;
  };
  EXPECT_EQ(chosen(inParts(1, 32, 1024, 4096)), "parts");
  EXPECT_EQ(chosen(inParts(4, 8, 1024, 256)), "parts");
  EXPECT_EQ(chosen(inParts(4, 8, 1024, 240)), "pairs");
  // A warp for each of 31 groups fills 132 processors from about 100 pairs on.
  EXPECT_EQ(chosen(inParts(3, 32, 1024, 4096)), "parts");
  EXPECT_EQ(chosen(inParts(4, 32, 1024, 4096)), "pairs");
  EXPECT_EQ(chosen(inParts(10000, 32, 1024, 4096)), "tiles");
  EXPECT_EQ(textOf(planOf(inParts(1, 32, 1024, 4096), kH200)),
            "0.0312 queries a list: too few rows for a warp each group");
  EXPECT_EQ(textOf(planOf(inParts(1, 32, 1024, 240), kH200)),
            "0.0312 queries a list: each reads its rows alone; not parts: a row of 240 bytes is "
            "too short to split between warps, it needs 256");
}

TEST(CudaFamilies, StagedForManyQueriesAListAndCheapHooksOfNarrowCoordinates) {
  const auto staged = [](int64_t queries) {
    Workload work = workOf(queries, 32, 1024);
    work.bodyBytes = 2000;
    return work;
  };
  EXPECT_EQ(chosen(staged(47)), "pairs");
  EXPECT_EQ(chosen(staged(48)), "tiles");
  EXPECT_EQ(chosen(staged(680)), "tiles");
  EXPECT_EQ(chosen(staged(690)), "staged");
  EXPECT_EQ(chosen(staged(10000)), "staged");
  EXPECT_EQ(textOf(planOf(staged(10000), kH200)),
            "312 queries a list: up to 32 share a stage of rows");

  Workload wide = staged(10000);
  wide.widths.coordinate = 64;
  EXPECT_EQ(chosen(wide), "tiles");
  Workload large = staged(10000);
  large.bodyBytes = kLargeBodyBytes + 1;
  EXPECT_EQ(chosen(large), "tiles");
  EXPECT_EQ(chosen(staged(10000), {.arch = 75, .processors = 40, .sharedBytes = 64 * 1024}),
            "tiles");
  EXPECT_EQ(textOf(planOf(staged(10000), {.arch = 80, .processors = 40, .sharedBytes = 40 * 1024})),
            "312 queries a list: up to 8 share a read; not staged: two stages take 43536 bytes "
            "of shared memory, a block has 40960");

  // A thread has fewer of larger accumulators, and reads more often than tiles do.
  Workload fields = staged(10000);
  fields.widths.form = AccumulatorForm::Words;
  EXPECT_EQ(chosen(fields), "tiles");

  const auto queries = [&](AccumulatorForm form, int bits) {
    Workload work = staged(10000);
    work.widths = {.accumulator = bits, .form = form};
    for (const CudaFamily *family : families())
      if (std::string(family->name()) == "staged")
        return family->tiling(work).queries;
    return 0u;
  };
  EXPECT_EQ(queries(AccumulatorForm::Word, 32), 32u);
  EXPECT_EQ(queries(AccumulatorForm::Word, 64), 16u);
  EXPECT_EQ(queries(AccumulatorForm::Words, 32), 16u);
  EXPECT_EQ(queries(AccumulatorForm::Words, 64), 8u);
}

TEST(CudaFamilies, MatrixForProvedFormsFromOneQueryARow) {
  const auto proved = [](int64_t queries) {
    Workload work = workOf(queries, 32, 1024);
    work.bodyBytes = 2000, work.noBounds = Reason::None;
    return work;
  };
  EXPECT_EQ(chosen(proved(28)), "pairs");
  EXPECT_EQ(chosen(proved(30)), "matrix");
  EXPECT_EQ(chosen(proved(100000)), "matrix");
  EXPECT_EQ(textOf(planOf(proved(10000), kH200)), "312 queries a list: up to 128 share a product, "
                                                  "and hooks compute the rows within its bounds");
  Workload many = proved(10000);
  many.k = 257;
  EXPECT_EQ(textOf(planOf(many, kH200)), "312 queries a list: up to 32 share a stage of rows; not "
                                         "matrix: it finds at most 256 rows a query, k is 257");
  Machine small = kH200;
  small.sharedBytes = 100 * 1024;
  EXPECT_EQ(textOf(planOf(proved(10000), small)),
            "312 queries a list: up to 32 share a stage of rows; not matrix: panels take 108864 "
            "bytes of shared memory, a block has 102400");
  // Normalised forms are of several fields.
  Workload fields = proved(10000);
  fields.accumulator = ANNUDF_ACCUMULATOR_STRUCT, fields.widths.form = AccumulatorForm::Words;
  EXPECT_EQ(chosen(fields), "matrix");
  // An unproved metric gets no reason, unless the family is asked for by name.
  Workload other = proved(10000);
  other.noBounds = Reason::NoForm;
  EXPECT_EQ(textOf(planOf(other, kH200)), "312 queries a list: up to 32 share a stage of rows");
  other.family = "matrix";
  try {
    (void)planOf(other, kH200);
    FAIL() << "it was picked";
  } catch (const Error &error) {
    EXPECT_STREQ(
        error.what(),
        "family 'matrix' cannot run this search: the metric is not proved to be a quadratic form");
  }
}

/// By instructions of a warp where there are none of a warpgroup.
TEST(CudaFamilies, MatrixByWarpsOnEveryOtherMachine) {
  const auto proved = [](int64_t queries, const char *family = "") {
    Workload work = workOf(queries, 32, 1024);
    work.bodyBytes = 2000, work.noBounds = Reason::None, work.family = family;
    return work;
  };
  const auto machine = [](int32_t arch) {
    return Machine{.arch = arch, .processors = 84, .sharedBytes = 99 * 1024};
  };
  for (const int32_t arch : {80, 86, 87, 89, 100, 103, 110, 120, 121}) {
    EXPECT_EQ(chosen(proved(28), machine(arch)), "pairs") << arch;
    EXPECT_EQ(chosen(proved(30), machine(arch)), "matrix_mma") << arch;
    EXPECT_EQ(textOf(planOf(proved(10000), machine(arch))),
              "312 queries a list: up to 128 share a product, and hooks compute the rows within "
              "its bounds")
        << arch;
    EXPECT_EQ(test::errorOf([&] { (void)planOf(proved(100, "matrix"), machine(arch)); }),
              "family 'matrix' cannot run this search: it runs on sm_90 only, this GPU is sm_" +
                  std::to_string(arch))
        << arch;
  }
  // Where there are, it is taken by its name alone.
  EXPECT_EQ(chosen(proved(10000)), "matrix");
  EXPECT_EQ(chosen(proved(10000, "matrix_mma")), "matrix_mma");
  // Without such products.
  EXPECT_EQ(textOf(planOf(proved(10000), machine(75))),
            "312 queries a list: up to 8 share a read; not staged: it needs sm_80 or newer, this "
            "GPU is sm_75; matrix_mma: it needs sm_80 or newer, this GPU is sm_75");
  EXPECT_EQ(
      test::errorOf([&] { (void)planOf(proved(100, "matrix_mma"), machine(75)); }),
      "family 'matrix_mma' cannot run this search: it needs sm_80 or newer, this GPU is sm_75");
  Machine small = machine(80);
  small.sharedBytes = 64 * 1024;
  EXPECT_EQ(test::errorOf([&] { (void)planOf(proved(100, "matrix_mma"), small); }),
            "family 'matrix_mma' cannot run this search: panels take 80192 bytes of "
            "shared memory, a block has 65536");
}

/// Whose keys of all rows are more than what every search may take.
TEST(CudaFamilies, KeysOfGranulesForLargeBatches) {
  const auto fused = [](int64_t queries, int k = 10) {
    Workload work = workOf(queries, 32, 1024);
    work.bodyBytes = 2000, work.fusedAhead = true, work.k = k;
    return work;
  };
  EXPECT_EQ(chosen(fused(1000)), "staged");
  EXPECT_EQ(chosen(fused(1400)), "staged"); // With more, keys of every row are cut.
  EXPECT_EQ(chosen(fused(1500)), "staged_granules");
  EXPECT_EQ(chosen(fused(10000)), "staged_granules");
  EXPECT_EQ(chosen(fused(10000, 64)), "staged_granules");
  // In parts; evaluating the rows of granules takes a quarter of it all.
  EXPECT_EQ(chosen(fused(10000, 128)), "staged");
  Machine large = kH200; // That gives every row's key gigabytes.
  large.workspaceIsAsked = true;
  EXPECT_EQ(chosen(fused(10000, 100), large), "staged_granules");
  EXPECT_EQ(chosen(fused(10000, 128), large), "staged");
  Machine small = kH200; // Whose batches are cut.
  small.workspaceBytes = uint64_t(16) << 20;
  EXPECT_EQ(chosen(fused(2000), small), "staged_granules");
  EXPECT_EQ(chosen(fused(10000, 1000)), "staged");
  EXPECT_EQ(textOf(planOf(fused(10000), kH200)),
            "312 queries a list: up to 32 share a stage of rows, and hooks recompute the rows of "
            "the best keys");
  Workload packed = fused(10000);
  packed.element = ANNUDF_ELEMENT_U8, packed.packedDims = 258;
  EXPECT_EQ(chosen(packed), "packed_granules");
  // Each kernel may have other bits where the linker fuses products; and a scan of every distance
  // needs every key.
  Workload other = fused(10000);
  other.fusedAhead = false;
  EXPECT_EQ(chosen(other), "staged");
  other.family = "staged_granules";
  EXPECT_EQ(
      test::errorOf([&] { (void)planOf(other, kH200); }),
      "family 'staged_granules' cannot run this search: the metric holds CUDA source, linked code "
      "or LTO-IR of another compiler, which the linker may round differently in each kernel");
  other = fused(10000);
  other.everyDistance = true;
  EXPECT_EQ(chosen(other), "staged");
  other.family = "staged_granules";
  EXPECT_EQ(test::errorOf([&] { (void)planOf(other, kH200); }),
            "family 'staged_granules' cannot run this search: the call computes every distance, "
            "not the k best");
  other = fused(10000);
  other.withinRadius = true;
  EXPECT_EQ(chosen(other), "staged_granules");
  other = fused(10000, 257);
  other.family = "staged_granules";
  EXPECT_EQ(test::errorOf([&] { (void)planOf(other, kH200); }),
            "family 'staged_granules' cannot run this search: it finds at most 256 rows a query, k "
            "is 257");
}

TEST(CudaFamilies, PackedWhereItIsExact) {
  const auto packed = [](int64_t queries, int32_t dims) {
    Workload work = workOf(queries, 32, 1024);
    work.bodyBytes = 2000;
    work.element = ANNUDF_ELEMENT_U8;
    work.dims = dims;
    work.packedDims = 258;
    return work;
  };
  EXPECT_EQ(chosen(packed(10000, 258)), "packed");
  EXPECT_EQ(chosen(packed(10000, 259)), "staged");
  EXPECT_EQ(chosen(packed(47, 128)), "pairs");
  EXPECT_EQ(chosen(packed(95, 128)), "tiles");
  EXPECT_EQ(chosen(packed(96, 128)), "packed");
  EXPECT_EQ(textOf(planOf(packed(10000, 128), kH200)),
            "312 queries a list: up to 64 share a stage of packed rows");
  EXPECT_EQ(chosen(packed(10000, 128), {.arch = 75, .processors = 40, .sharedBytes = 64 * 1024}),
            "tiles");
  EXPECT_EQ(
      textOf(planOf(packed(10000, 128), {.arch = 80, .processors = 40, .sharedBytes = 40 * 1024})),
      "312 queries a list: up to 8 share a read; not staged: two stages take 43536 bytes of "
      "shared memory, a block has 40960; packed: three stages take 83216 bytes of shared memory, a "
      "block has 40960");

  // By name.
  const auto refusal = [&](int32_t dims, int32_t most) {
    Workload work = packed(10000, dims);
    work.packedDims = most;
    work.family = "packed";
    return test::errorOf([&] { (void)planOf(work, kH200); });
  };
  EXPECT_EQ(refusal(259, 258), "family 'packed' cannot run this search: a packed sum of u8 is "
                               "exact up to 258 dims, the index has 259");
  EXPECT_EQ(
      refusal(128, 0),
      "family 'packed' cannot run this search: the metric is not proved to be a packed sum of u8");

  MetricDescriptor metric;
  metric.packed = PackedSum{ANNUDF_PACKED_PRODUCT, false, {{ANNUDF_ELEMENT_I8, 1024}}};
  EXPECT_EQ(packedDimsOf(metric, ANNUDF_ELEMENT_I8), 1024);
  EXPECT_EQ(packedDimsOf(metric, ANNUDF_ELEMENT_U8), 0);
  EXPECT_EQ(packedDimsOf(metric, {ANNUDF_ELEMENT_I8, ANNUDF_ELEMENT_U8}), 0);
  metric.packed.reset();
  EXPECT_EQ(packedDimsOf(metric, ANNUDF_ELEMENT_I8), 0);
}

/// Lists of unequal sizes, whose rows have more queries than lists have pairs.
TEST(CudaFamilies, UnequalListsCountByTheQueriesOfTheirRows) {
  const auto skewed = [](int64_t queries, double times) {
    Workload work = workOf(queries, 32, 1024);
    work.bodyBytes = 2000;
    work.probedRows = times * 1000;
    return work;
  };
  EXPECT_DOUBLE_EQ(skewed(100, 1).queriesPerRow(), skewed(100, 1).pairsPerList());
  EXPECT_DOUBLE_EQ(skewed(100, 4).queriesPerRow(), 12.5);
  EXPECT_EQ(workOf(100, 32, 1024).queriesPerRow(), 3.125); // Where nobody said.
  // The bounds are those of equal lists, in queries a row.
  for (const double times : {1.0, 2.0, 4.0, 8.0}) {
    const auto first = [&](const char *family) {
      int64_t queries = 1;
      while (chosen(skewed(queries, times)) != family)
        ++queries;
      return queries;
    };
    EXPECT_EQ(first("tiles"), int64_t(48 / times)) << times;
    EXPECT_EQ(first("staged"), int64_t(std::ceil(683.2 / times))) << times;
    Workload packed = skewed(96, 1);
    packed.queries = int64_t(96 / times), packed.probedRows = times * 1000;
    packed.packedDims = 128;
    EXPECT_EQ(chosen(packed), "packed") << times;
    packed.queries -= 1;
    EXPECT_EQ(chosen(packed), "tiles") << times;
  }
  EXPECT_EQ(textOf(planOf(skewed(100, 4), kH200)),
            "3.12 queries a list, 12.5 a row: up to 8 share a read");
  EXPECT_EQ(textOf(planOf(skewed(100, 1.2), kH200)), "3.12 queries a list: up to 8 share a read");

  // Larger lists have more groups, so that fewer pairs fill the machine: in parts no longer.
  Workload parts = workOf(2, 32, 1024, 4096);
  parts.hooks.insert(ANNUDF_HOOK_COMBINE);
  EXPECT_EQ(chosen(parts), "parts");
  parts.probedRows = 4000;
  EXPECT_EQ(chosen(parts), "pairs");
}

/// Sizes of benchmarks, 32 probes; the rows that a query scans were measured.
TEST(CudaFamilies, ChooseForBenchmarks) {
  struct {
    int64_t rows;
    int32_t dims;
    uint32_t lists;
    int64_t queries;
    double rowsPerQuery;
    const char *queriesPerRow, *family;
  } const cases[] = {
      {1'000'000, 128, 1024, 1, 33'700, "0.0337", "pairs"},
      {1'000'000, 128, 1024, 10, 33'700, "0.337", "pairs"},
      {1'000'000, 128, 1024, 100, 33'700, "3.37", "tiles"},
      {1'000'000, 128, 1024, 200, 33'700, "6.74", "tiles"},
      {1'000'000, 128, 1024, 1000, 33'700, "33.7", "staged"},
      {1'000'000, 128, 1024, 10'000, 33'700, "337", "staged"},
      {10'000'000, 96, 4096, 100, 107'193, "1.07", "staged"},
      {10'000'000, 96, 4096, 1000, 107'865, "10.8", "staged"},
      {500'000, 1024, 2048, 100, 26'079, "5.22", "staged"},
      {500'000, 1024, 2048, 1000, 72'286, "145", "staged"},
      {500'000, 768, 2048, 1000, 52'765, "106", "staged"},
      {500'000, 1024, 2048, 1000, 26'000, "52", "staged"},
  };
  for (const auto &one : cases) {
    Workload work = workOf(one.queries, 32, one.lists);
    work.rows = one.rows, work.dims = one.dims;
    work.rowBytes = uint32_t(work.dims) * 4;
    work.probedRows = one.rowsPerQuery / work.probes;
    work.bodyBytes = 2000;
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", work.queriesPerRow());
    EXPECT_STREQ(text, one.queriesPerRow);
    EXPECT_EQ(chosen(work), one.family) << one.rows << " x " << one.dims << ", " << one.queries;
  }
}

TEST(CudaFamilies, TilesNeedTheirSharedMemory) {
  const uint32_t longest = (227 * 1024 - kRingBytes) / 8;
  EXPECT_EQ(chosen(workOf(10000, 32, 1024, longest)), "tiles");
  EXPECT_EQ(chosen(workOf(10000, 32, 1024, longest + 16)), "pairs");
  EXPECT_EQ(textOf(planOf(workOf(10000, 32, 1024, longest + 16), kH200)),
            "312 queries a list: each reads its rows alone; not tiles: 8 queries and the "
            "prefetched rows take 232576 bytes of shared memory, a block has 232448");
}

TEST(CudaFamilies, NoneRunsOnWhatIsTooOld) {
  EXPECT_EQ(test::errorOf([] { (void)planOf(workOf(1, 1, 1), {.arch = 70}); }),
            "no family of kernels can run this search: tiles: it needs sm_75 or newer, this GPU is "
            "sm_70; "
            "pairs: it needs sm_75 or newer, this GPU is sm_70");
}

TEST(CudaFamilies, APairNeedsItsSharedMemory) {
  const uint32_t longest = 227 * 1024;
  EXPECT_EQ(chosen(workOf(1, 1, 1024, longest)), "pairs");
  EXPECT_EQ(test::errorOf([] { (void)planOf(workOf(1, 1, 1024, longest + 16), kH200); }),
            "no family of kernels can run this search: tiles: 8 queries and the prefetched rows "
            "take 1884288 bytes of shared memory, a block has 232448; pairs: a query takes 232464 "
            "bytes of shared memory, a block has 232448");
}

TEST(CudaFamilies, HaveNamesAndKernelsOfTheirOwn) {
  std::set<std::string> names, kernels;
  Workload within;
  within.withinRadius = true;
  for (const CudaFamily *family : families()) {
    EXPECT_TRUE(names.insert(family->name()).second);
    // In C's statistics a longer name would be cut.
    EXPECT_LT(std::string_view(family->name()).size(),
              sizeof(annudf_ivf_flat_search_stats::family));
    for (const ScanEntry &entry : family->entries())
      kernels.insert(entry.kernel);
    for (const ScanEntry &entry : family->entriesFor(within))
      kernels.insert(entry.kernel);
  }
  EXPECT_EQ(kernels, (std::set<std::string>{
                         "annudf_finish_exact", "annudf_finish_granules", "annudf_scan_packed",
                         "annudf_scan_pair", "annudf_scan_parts", "annudf_scan_staged",
                         "annudf_scan_tile", "annudf_within_exact", "annudf_within_granules"}));
}

/// Writes down what a family enqueues.
struct WrittenQueue : ScanQueue {
  uint64_t sortPairs() override {
    text += "sort; ";
    return 77;
  }
  void scan(uint64_t items, uint64_t perProcessor, uint64_t sharedBytes,
            uint64_t groupsAtOnce) override {
    text += "scan " + std::to_string(items) + " items, " + std::to_string(perProcessor) +
            " blocks a processor, " + std::to_string(sharedBytes) + " bytes, " +
            std::to_string(groupsAtOnce) + " groups at once";
  }
  void scanByTicket(uint64_t tiles, unsigned threads, uint64_t sharedBytes) override {
    text += "scan " + std::to_string(tiles) + " tiles by ticket, blocks of " +
            std::to_string(threads) + " threads and " + std::to_string(sharedBytes) + " bytes";
  }
  void multiply(uint64_t tiles, uint64_t perProcessor, uint64_t sharedBytes) override {
    text += "multiply " + std::to_string(tiles) + " tiles, " + std::to_string(perProcessor) +
            " blocks a processor, " + std::to_string(sharedBytes) + " bytes";
  }
  void rank(uint32_t rows, uint32_t chunks, uint64_t sharedBytes) override {
    text += std::to_string(chunks) + " chunks of " + std::to_string(rows) + " rows at once, " +
            std::to_string(sharedBytes) + " bytes";
  }
  std::string text;
};

TEST(CudaFamilies, FewCandidatesAreRankedByOneBlock) {
  const auto written = [](int64_t columns, auto change) {
    Workload work = workOf(100, 1, 100);
    work.rows = 100 * columns;
    work.dims = 128, work.rowBytes = 512, work.k = 10;
    change(work);
    const auto &family = static_cast<const CudaFamily &>(*candidateFamilies().front());
    WrittenQueue queue;
    family.enqueue(queue, work);
    return std::string(family.entriesFor(work).front().kernel) + ": " + queue.text;
  };
  const auto same = [](Workload &) {};
  const std::string scans = "annudf_scan_candidates: scan 100 items, 16 blocks a processor, "
                            "26624 bytes, 4 groups at once";
  EXPECT_EQ(written(200, same),
            "annudf_rank_candidates: 16 chunks of 25 rows at once, 16800 bytes");
  EXPECT_EQ(written(ANNUDF_RANK_MOST, same),
            "annudf_rank_candidates: 16 chunks of 32 rows at once, 24064 bytes");
  EXPECT_EQ(written(ANNUDF_RANK_MOST + 1, same), scans);
  EXPECT_EQ(written(200, [](Workload &work) { work.rowBytes = 112; }),
            "annudf_rank_candidates: 8 chunks of 25 rows at once, 10400 bytes");
  EXPECT_EQ(written(200, [](Workload &work) { work.passByQuery = true; }), scans);
  EXPECT_EQ(written(200, [](Workload &work) { work.dims = 9000; }),
            "annudf_scan_candidates: scan 100 items, 16 blocks a processor, 62112 bytes, 4 groups "
            "at once");
}

TEST(CudaFamilies, EnqueueTheirScanAndSortOnlyIfTheySayTheySort) {
  std::map<std::string, std::string> enqueued;
  Workload work = workOf(100, 4, 1000, 10 * 4);
  work.compute = ANNUDF_COMPUTE_F64;
  for (const CudaFamily *family : families()) {
    WrittenQueue queue;
    family->enqueue(queue, work);
    EXPECT_EQ(queue.text.starts_with("sort; "), family->tiling(work).queries != 0);
    enqueued[family->name()] = queue.text;
  }
  // A query of 10 dims takes 3 x 16 bytes, as floats; of a tile, 8 doubles a dimension.
  EXPECT_EQ(enqueued["pairs"], "scan 400 items, 16 blocks a processor, 48 bytes, 4 groups at once");
  EXPECT_EQ(enqueued["parts"],
            "scan 400 items, 16 blocks a processor, 4656 bytes, 1 groups at once");
  EXPECT_EQ(enqueued["tiles"],
            "sort; scan 77 items, 64 blocks a processor, 25216 bytes, 4 groups at once");
  EXPECT_EQ(enqueued["staged"],
            "sort; scan 77 tiles by ticket, blocks of 128 threads and 43536 bytes");
  EXPECT_EQ(enqueued["packed"],
            "sort; scan 77 tiles by ticket, blocks of 256 threads and 83216 bytes");
  EXPECT_EQ(enqueued["matrix"], "sort; multiply 77 tiles, 2 blocks a processor, 108864 bytes");
  EXPECT_EQ(enqueued["matrix_mma"], "sort; multiply 77 tiles, 2 blocks a processor, 80192 bytes");
}

} // namespace
} // namespace annudf::runtime::cuda
