//===- Scan.cpp - The list-major scan, as bitcode -------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled to unoptimised bitcode at build time. At run time the metric's hooks
// are linked in and inlined, and only then is the loop over rows vectorised: rows
// are lanes, so whatever a hook does becomes straight vector code.
//
// A group of 32 rows is read once for kTile queries, whose accumulators stay in
// registers; all queries of the list see the group while it is in the L1 cache.
//
//===----------------------------------------------------------------------===//

#include "ScanArgs.h"

#define ANNUDF_INLINE inline __attribute__((always_inline))

namespace {

constexpr int kTile = 4;

struct Narrow {
  using Word = uint32_t;
  static ANNUDF_INLINE Word init(int32_t dims, int32_t query, int32_t list, const uint64_t *slots) {
    return annudf1_init_32(dims, query, list, slots);
  }
  static ANNUDF_INLINE Word update(Word acc, uint32_t x, uint32_t y, int32_t dim, int32_t count,
                                   int32_t dims, int64_t row, int32_t query, int32_t list,
                                   const uint64_t *slots) {
    return annudf1_update_32(acc, x, y, dim, count, dims, row, query, list, slots);
  }
  static ANNUDF_INLINE float finalize(Word acc, int32_t dims, int64_t row, int32_t query,
                                      int32_t list, const uint64_t *slots) {
    return annudf1_finalize_32(acc, dims, row, query, list, slots);
  }
};

struct Wide {
  using Word = uint64_t;
  static ANNUDF_INLINE Word init(int32_t dims, int32_t query, int32_t list, const uint64_t *slots) {
    return annudf1_init_64(dims, query, list, slots);
  }
  static ANNUDF_INLINE Word update(Word acc, uint32_t x, uint32_t y, int32_t dim, int32_t count,
                                   int32_t dims, int64_t row, int32_t query, int32_t list,
                                   const uint64_t *slots) {
    return annudf1_update_64(acc, x, y, dim, count, dims, row, query, list, slots);
  }
  static ANNUDF_INLINE float finalize(Word acc, int32_t dims, int64_t row, int32_t query,
                                      int32_t list, const uint64_t *slots) {
    return annudf1_finalize_64(acc, dims, row, query, list, slots);
  }
};

ANNUDF_INLINE int32_t coordinatesPerWord() {
  int32_t element = annudf1_element();
  return element == ANNUDF_ELEMENT_F32 ? 1 : element == ANNUDF_ELEMENT_F16 ? 2 : 4;
}

/// Accumulators of Tile queries and Rows rows; in registers once the loops are unrolled.
template <class Hooks, int Tile, int Rows> struct Block {
  const uint32_t *x[Tile];
  int32_t query[Tile];
  const int64_t *ids;
  int32_t dims, list;
  const uint64_t *slots;
  typename Hooks::Word acc[Tile][Rows];

  /// Word w of the queries and, at y, of the rows. `count` is a constant of the call.
  ANNUDF_INLINE void update(int32_t w, const uint32_t *y, int32_t dim, int32_t count) {
#pragma clang loop vectorize(assume_safety) interleave(disable)
    for (int r = 0; r < Rows; ++r)
#pragma unroll
      for (int t = 0; t < Tile; ++t)
        acc[t][r] = Hooks::update(acc[t][r], x[t][w], y[r], dim, count, dims, ids[r], query[t],
                                  list, slots);
  }
};

/// Queries [first, first + Tile) against rows [row, row + Rows) of one group.
template <class Hooks, int Tile, int Rows>
ANNUDF_INLINE void block(const annudf_cpu_scan &s, int32_t dims, int32_t first,
                         const uint32_t *group, const int64_t *ids, int row,
                         float (*distances)[ANNUDF_CPU_GROUP_ROWS]) {
  Block<Hooks, Tile, Rows> b;
  b.ids = ids + row;
  b.dims = dims;
  b.list = s.list;
  b.slots = s.slots;
#pragma unroll
  for (int t = 0; t < Tile; ++t) {
    b.x[t] = s.x[first + t];
    b.query[t] = s.query[first + t];
  }
  // Kept a loop until it is vectorised: a hundred scalar stores would end LLVM's proof
  // that no other pointer reaches the accumulators.
#pragma clang loop vectorize(assume_safety) interleave(disable)
  for (int r = 0; r < Rows; ++r)
#pragma unroll
    for (int t = 0; t < Tile; ++t)
      b.acc[t][r] = Hooks::init(dims, b.query[t], b.list, b.slots);
  const int32_t perWord = coordinatesPerWord();
  const int32_t fullWords = dims / perWord;
  const uint32_t *y = group + row;
  for (int32_t w = 0; w < fullWords; ++w, y += ANNUDF_CPU_GROUP_ROWS)
    b.update(w, y, w * perWord, perWord);
  // One case for each count: a count that is not a constant would put branches, and
  // with them memory accesses, between the lanes.
  switch (dims % perWord) {
  case 1:
    b.update(fullWords, y, fullWords * perWord, 1);
    break;
  case 2:
    b.update(fullWords, y, fullWords * perWord, 2);
    break;
  case 3:
    b.update(fullWords, y, fullWords * perWord, 3);
    break;
  }
#pragma clang loop vectorize(assume_safety) interleave(disable)
  for (int r = 0; r < Rows; ++r)
#pragma unroll
    for (int t = 0; t < Tile; ++t)
      distances[t][row + r] =
          Hooks::finalize(b.acc[t][r], dims, b.ids[r], b.query[t], b.list, b.slots);
}

/// Queries [first, first + Tile) against one group; `valid` has a bit for each row that exists.
template <class Hooks, int Tile, int Rows>
ANNUDF_INLINE void tile(const annudf_cpu_scan &s, int32_t dims, int32_t first,
                        const uint32_t *group, const int64_t *ids, uint32_t valid) {
  float distances[Tile][ANNUDF_CPU_GROUP_ROWS];
#pragma clang loop unroll(disable)
  for (int row = 0; row < ANNUDF_CPU_GROUP_ROWS; row += Rows)
    block<Hooks, Tile, Rows>(s, dims, first, group, ids, row, distances);
  const bool min = annudf1_order() == ANNUDF_ORDER_MIN;
#pragma clang loop unroll(disable)
  for (int t = 0; t < Tile; ++t) {
    const float limit = s.limit[first + t];
    using Rows32 = float __attribute__((ext_vector_type(ANNUDF_CPU_GROUP_ROWS)));
    using Bits32 = bool __attribute__((ext_vector_type(ANNUDF_CPU_GROUP_ROWS)));
    Rows32 d;
    __builtin_memcpy(&d, distances[t], sizeof(d));
    // NaN fails both comparisons. Vector types, since the loop would not become one compare.
    const Bits32 survives = min ? __builtin_convertvector(d <= limit, Bits32)
                                : __builtin_convertvector(d >= limit, Bits32);
    uint32_t mask;
    __builtin_memcpy(&mask, &survives, sizeof(mask));
    mask &= valid;
    if (__builtin_expect(mask != 0, 0))
      s.limit[first + t] = s.push(s.sink, first + t, ids, distances[t], mask);
  }
}

ANNUDF_INLINE const uint32_t *prefetch(const uint32_t *from, int64_t words) {
  constexpr int64_t kLineWords = 16;
#pragma clang loop unroll(disable)
  for (int64_t w = 0; w < words; w += kLineWords)
    __builtin_prefetch(from + w, 0, 2);
  return from + words;
}

template <class Hooks, int Rows> ANNUDF_INLINE void scan(const annudf_cpu_scan &s) {
  const int32_t known = annudf1_dims();
  const int32_t dims = known != 0 ? known : s.dims;
  const int64_t groupWords = int64_t(s.words) * ANNUDF_CPU_GROUP_ROWS;
  int64_t tailIds[ANNUDF_CPU_GROUP_ROWS];
  for (int64_t begin = 0; begin < s.size; begin += ANNUDF_CPU_GROUP_ROWS) {
    const uint32_t *group = s.rows + begin / ANNUDF_CPU_GROUP_ROWS * groupWords;
    const int64_t *ids = s.ids + begin;
    uint32_t valid = ~uint32_t(0);
    if (s.size - begin < ANNUDF_CPU_GROUP_ROWS) {
      // Padding rows run through the hooks as well: as an existing row, so that no
      // capture is read outside its extent.
      const int existing = int(s.size - begin);
      valid = (uint32_t(1) << existing) - 1;
      for (int r = 0; r < ANNUDF_CPU_GROUP_ROWS; ++r)
        tailIds[r] = ids[r < existing ? r : 0];
      ids = tailIds;
    }
    // Many queries: the next group is fetched a share with each, while this one is computed.
    // Past the list's end a prefetch does nothing.
    const uint32_t *ahead = group + groupWords;
    const int64_t share = s.queries < 2 * kTile ? 0 : (groupWords + s.queries - 1) / s.queries;
    int32_t q = 0;
    // A constant by the time this is optimised: without tiles their copies of the hooks go.
    const bool tiles = annudf_cpu_tile() == kTile;
    for (; tiles && q + kTile <= s.queries; q += kTile) {
      ahead = prefetch(ahead, share * kTile);
      tile<Hooks, kTile, Rows>(s, dims, q, group, ids, valid);
    }
    for (; q < s.queries; ++q) {
      ahead = prefetch(ahead, share);
      tile<Hooks, 1, Rows>(s, dims, q, group, ids, valid);
    }
  }
}

/// annudf_cpu_rows() is a constant by the time this is optimised: one case stays.
template <class Hooks> ANNUDF_INLINE void scanAnyRows(const annudf_cpu_scan &s) {
  switch (annudf_cpu_rows()) {
  case 32:
    return scan<Hooks, 32>(s);
  case 16:
    return scan<Hooks, 16>(s);
  default:
    return scan<Hooks, 8>(s);
  }
}

} // namespace

void annudf_cpu_scan_32(const annudf_cpu_scan *s) { scanAnyRows<Narrow>(*s); }
void annudf_cpu_scan_64(const annudf_cpu_scan *s) { scanAnyRows<Wide>(*s); }
