//===- CandidateScanTest.cpp - The scan of candidates, run on the host ----===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows by id, by slot and in the groups of an index, with hooks that read a capture by row.
//
//===----------------------------------------------------------------------===//

#include "HostCuda.h"

#include "annudf/ABI/annudf_abi.h"
#include "gtest/gtest.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

#define ANNUDF_CANDIDATES
#define ANNUDF_ACCUMULATOR_FORM a
#define ANNUDF_ACCUMULATOR_WIDTH 32
#define ANNUDF_COORDINATE_WIDTH 32
// Shared memory of a size that a launch chooses, and what only a device can assemble.
// NOLINTBEGIN(bugprone-reserved-identifier)
#undef __shared__
#define __shared__
#define asm
#define volatile(...)
inline void __threadfence_system() {}
inline uint32_t __funnelshift_r(uint32_t low, uint32_t high, uint32_t shift) {
  return static_cast<uint32_t>((uint64_t(high) << 32 | low) >> (shift & 31));
}
inline bool __any_sync(unsigned mask, bool value) { return __ballot_sync(mask, value) != 0; }
// NOLINTEND(bugprone-reserved-identifier)
#include "kernels/cuda/scan/Scan.cu"
#undef asm
#undef volatile

namespace {

uint4 tileWords[1 << 14];
int32_t element = ANNUDF_ELEMENT_F32;

} // namespace

extern "C" {
int32_t annudf1_row_element() { return element; }
int32_t annudf1_query_element() { return element; }
int32_t annudf1_compute() { return ANNUDF_COMPUTE_F32; }
uint32_t annudf1_scan_init_a32(int32_t, int32_t, int32_t, const uint64_t *) { return 0; }
uint32_t annudf1_scan_update_a32_x32(uint32_t acc, uint32_t x, uint32_t y, int32_t dim, int32_t,
                                     int64_t, int32_t, int32_t, const uint64_t *) {
  const float by = bitsAs<float>(x) - bitsAs<float>(y);
  return bitsAs<uint32_t>(bitsAs<float>(acc) + by * by * float(dim % 3 + 1));
}
float annudf1_scan_finalize_a32(uint32_t acc, int32_t, int64_t row, int32_t query, int32_t list,
                                const uint64_t *slots) {
  EXPECT_EQ(list, 0);
  return bitsAs<float>(acc) + reinterpret_cast<const float *>(slots[0])[row] + float(query);
}
void annudf_wait_for_last() {}
void annudf_copy_ahead(uint4 *to, const uint4 *from) { *to = *from; }
void annudf_end_copies() {}
void annudf_wait_for_copies() {}
}

namespace {

/// Rows of an index, row-major and in groups, and lists of some of them.
struct Case {
  static constexpr uint32_t kRows = 150, kGroups = 3;
  uint32_t dims, chunks, bytes;
  std::vector<uint8_t> rows; ///< Each padded to chunks.
  std::vector<uint4> grouped;
  std::vector<float> byRow; ///< A capture.
  std::vector<uint32_t> sizes = {0, 1, 32, 33, 70}, starts, numbers;
  std::vector<int64_t> ids;

  explicit Case(uint32_t dims) : dims(dims) {
    const uint32_t each = element == ANNUDF_ELEMENT_F32 ? 4 : 1;
    bytes = dims * each, chunks = (bytes + 15) / 16;
    std::mt19937 random(dims);
    rows.resize(size_t(kRows) * chunks * 16);
    for (uint32_t r = 0; r < kRows; ++r)
      for (uint32_t d = 0; d < dims; ++d) {
        const uint8_t value = uint8_t(random() % 50);
        const float wide = value;
        std::memcpy(rows.data() + r * chunks * 16 + d * each,
                    each == 4 ? static_cast<const void *>(&wide) : &value, each);
      }
    grouped.resize(size_t(kRows + 31) / 32 * 32 * chunks);
    for (uint32_t r = 0; r < kRows; ++r)
      for (uint32_t c = 0; c < chunks; ++c)
        std::memcpy(&grouped[size_t(r / 32 * chunks + c) * 32 + r % 32],
                    rows.data() + (r * chunks + c) * 16, 16);
    for (uint32_t r = 0; r < kRows; ++r)
      byRow.push_back(float(r) / 8);
    ids.assign(sizes.size() * kGroups * 32, -1), numbers.assign(ids.size(), 0xFFFFFFFF);
    std::vector<uint32_t> order(kRows);
    std::iota(order.begin(), order.end(), 0);
    for (uint32_t list = 0; list < sizes.size(); ++list) {
      starts.push_back(list * kGroups);
      std::shuffle(order.begin(), order.end(), random);
      for (uint32_t i = 0; i < sizes[list]; ++i)
        ids[list * kGroups * 32 + i] = numbers[list * kGroups * 32 + i] = order[i];
    }
    starts.push_back(uint32_t(sizes.size()) * kGroups);
  }

  uint8_t at(uint32_t row, uint32_t d) const {
    if (element != ANNUDF_ELEMENT_F32)
      return rows[row * chunks * 16 + d];
    float value = 0;
    std::memcpy(&value, rows.data() + row * chunks * 16 + d * 4, 4);
    return uint8_t(value);
  }
  /// Query q is row q.
  float distance(uint32_t q, uint32_t row) const {
    float sum = 0;
    for (uint32_t d = 0; d < dims; ++d) {
      const float by = float(at(q, d)) - float(at(row, d));
      sum += by * by * float(d % 3 + 1);
    }
    return sum + byRow[row] + float(q);
  }
};

/// The k best of each list by one block a query.
/// \param numbers  of the rows in the lists' places; ids are given's.
void checkRanking(const Case &given, const annudf_scan_args &args,
                  const std::vector<int64_t> &numbers) {
  for (const auto &[k, rows] : {std::pair(1U, 8U), {10U, 25U}, {33U, 32U}, {90U, 17U}}) {
    const auto queries = uint32_t(given.sizes.size());
    std::vector<int64_t> ids(queries * k, -7);
    std::vector<float> distances(queries * k, -7);
    annudf_rank_args rank = {};
    rank.scan = args;
    rank.outIds = reinterpret_cast<uint64_t>(ids.data());
    rank.outDistances = reinterpret_cast<uint64_t>(distances.data());
    rank.k = k, rank.rows = rows, rank.places = Case::kGroups * 32;
    rank.chunks = std::bit_ceil(
        std::clamp<uint32_t>(given.chunks, ANNUDF_RANK_LEAST_CHUNKS, ANNUDF_RANK_MOST_CHUNKS));
    for (blockIdx.x = 0; blockIdx.x < queries; ++blockIdx.x)
      annudf::test::Block::run(ANNUDF_RANK_THREADS, [&] { annudf_rank_candidates(rank); });
    blockIdx.x = 0;
    for (uint32_t q = 0; q < queries; ++q) {
      std::vector<std::pair<float, int64_t>> best;
      for (size_t i = q * Case::kGroups * 32; i < q * Case::kGroups * 32 + given.sizes[q]; ++i)
        best.emplace_back(given.distance(q, uint32_t(numbers[i])), given.ids[i]);
      std::sort(best.begin(), best.end());
      best.resize(k, {INFINITY, -1});
      for (uint32_t i = 0; i < k; ++i) {
        ASSERT_EQ(ids[q * k + i], best[i].second) << "query " << q << ", place " << i;
        ASSERT_EQ(distances[q * k + i], best[i].first) << "query " << q << ", place " << i;
      }
    }
  }
}

template <class T> uint64_t addressOf(const T &values) {
  return reinterpret_cast<uint64_t>(values.data());
}

/// \param rowsAreSlots  so that hooks get slots of the index, and ids are others.
void check(Case given, uint32_t layout, bool rowsAreSlots) {
  std::vector<uint8_t> bySlot;
  if (layout == ANNUDF_ROWS_BY_SLOT) {
    bySlot.resize(given.ids.size() * given.chunks * 16);
    for (size_t i = 0; i < given.ids.size(); ++i)
      if (given.ids[i] >= 0)
        std::memcpy(bySlot.data() + i * given.chunks * 16,
                    given.rows.data() + size_t(given.ids[i]) * given.chunks * 16,
                    given.chunks * 16);
  }
  const std::vector<int64_t> numbers(given.numbers.begin(), given.numbers.end());
  if (rowsAreSlots)
    for (int64_t &id : given.ids)
      id = id < 0 ? id : id * 1000000007;
  const auto queries = uint32_t(given.sizes.size());
  std::vector<uint32_t> probes(queries), probeGroup(queries), keys(given.ids.size(), 7),
      minima(queries * Case::kGroups, 7);
  std::iota(probes.begin(), probes.end(), 0);
  std::vector<uint8_t> asked;
  for (uint32_t q = 0; q < queries; ++q)
    asked.insert(asked.end(), given.rows.begin() + q * given.chunks * 16,
                 given.rows.begin() + q * given.chunks * 16 + given.bytes);
  annudf_scan_args args = {};
  args.index.rows = layout == ANNUDF_ROWS_BY_NUMBER ? addressOf(given.grouped)
                    : layout == ANNUDF_ROWS_BY_SLOT ? addressOf(bySlot)
                                                    : addressOf(given.rows);
  args.index.ids = addressOf(given.ids), args.index.numbers = addressOf(given.numbers);
  args.index.listGroup = addressOf(given.starts), args.index.listSize = addressOf(given.sizes);
  args.index.nLists = queries, args.index.chunks = given.chunks, args.index.dims = given.dims;
  args.index.layout = layout;
  args.work.probes = addressOf(probes), args.work.probeGroup = addressOf(probeGroup);
  args.work.keys = addressOf(keys), args.work.minima = addressOf(minima);
  args.work.stride = Case::kGroups, args.work.nProbes = 1;
  args.queries = {addressOf(asked), given.bytes, queries, uint32_t(element), 0};
  args.slots.slot[0] = addressOf(given.byRow);
  args.order = ANNUDF_ORDER_MIN, args.rowsAreSlots = rowsAreSlots;
  for (blockIdx.x = 0; blockIdx.x < queries; ++blockIdx.x)
    annudf::test::Block::run(ANNUDF_SCAN_THREADS, [&] { annudf_scan_candidates(args); });
  blockIdx.x = 0;
  for (uint32_t q = 0; q < queries; ++q)
    for (uint32_t g = 0; g < (given.sizes[q] + 31) / 32; ++g) {
      uint32_t least = ANNUDF_KEY_NONE;
      for (uint32_t lane = 0; lane < 32; ++lane) {
        const size_t place = size_t(q * Case::kGroups + g) * 32 + lane;
        const uint32_t expected =
            g * 32 + lane < given.sizes[q]
                ? annudfKeyOf(given.distance(q, uint32_t(numbers[place])), ANNUDF_ORDER_MIN)
                : ANNUDF_KEY_NONE;
        ASSERT_EQ(keys[place], expected) << "query " << q << ", place " << g * 32 + lane;
        least = std::min(least, expected);
      }
      ASSERT_EQ(minima[q * Case::kGroups + g], least) << "query " << q << ", group " << g;
    }
  checkRanking(given, args, numbers);
}

TEST(CudaCandidateScan, ReadsRowsWhereTheyAre) {
  for (const int32_t of : {ANNUDF_ELEMENT_F32, ANNUDF_ELEMENT_U8})
    for (const uint32_t dims : {3, 16, 37, 64, 130}) {
      element = of;
      for (const uint32_t layout :
           {ANNUDF_ROWS_BY_ID, ANNUDF_ROWS_BY_SLOT, ANNUDF_ROWS_BY_NUMBER}) {
        SCOPED_TRACE(std::to_string(of) + ", " + std::to_string(dims) + " dims, layout " +
                     std::to_string(layout));
        check(Case(dims), layout, false);
      }
      check(Case(dims), ANNUDF_ROWS_BY_NUMBER, true);
    }
}

} // namespace
