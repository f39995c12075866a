//===- Packed.cuh - Words of several coordinates, for Staged.cu ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of Staged.cu that is compiled with ANNUDF_PACKED, included where its types are known.
// Products of bytes or bits are summed up by matrix instructions: 16 rows by 8 queries by 32 bytes
// each.
// Other terms are added word by word, by each thread for 8 queries and 4 rows.
//
//===----------------------------------------------------------------------===//

/// Four matrices of 8 rows of 16 bytes; lane l brings the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ uint4 loadMatrices(uint32_t address) {
  uint4 to;
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
               : "r"(address)
               : "memory");
  return to;
}

/// sums += rows x queries, as a matrix instruction of operands TYPE, of which it takes K, does.
#define ANNUDF_MULTIPLY(K, TYPE, OPERATION)                                                        \
  asm("mma.sync.aligned.m16n8k" #K ".row.col.s32." #TYPE "." #TYPE ".s32" OPERATION                \
      " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                           \
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])                                 \
      : "r"(rows.x), "r"(rows.y), "r"(rows.z), "r"(rows.w), "r"(x), "r"(y))
__device__ __forceinline__ void multiply(uint32_t (&sums)[4], uint4 rows, uint32_t x, uint32_t y) {
  if (countsBits(annudf1_packed_term(), annudf1_row_element()))
    ANNUDF_MULTIPLY(256, b1, ".and.popc");
  else if (isSignedByte(annudf1_row_element()))
    ANNUDF_MULTIPLY(32, s8, "");
  else
    ANNUDF_MULTIPLY(32, u8, "");
}
#undef ANNUDF_MULTIPLY

/// As updateStage. Past the end of a row its words may be any, those of queries are 0.
__device__ __forceinline__ void multiplyStage(Tile &tile, const uint4 *rows, int pitch,
                                              const uint4 *queries, int lane, int words) {
  static_assert(kTileQueries == 8 && kTileGroups * 2 == 8, "a warp has 8 queries and 8 x 16 rows");
  const int matrix = lane / 8, row = lane % 8;
  uint32_t a = sharedAddress(rows + (matrix / 2) * pitch + (matrix % 2) * 8 + row);
  // One load of queries has two steps: four chunks of each.
  uint32_t b = sharedAddress(queries + row * kQueryPitch + matrix);
#pragma unroll 1
  for (; words > 0; words -= 16, b += 64) {
    const uint4 x = loadMatrices(b);
#pragma unroll
    for (int step = 0; step < 2; ++step, a += 2 * 16 * pitch) {
      if (step * 8 >= words)
        break;
#pragma unroll
      for (int m = 0; m < 8; ++m)
        multiply(tile.acc[m], loadMatrices(a + m * 256), step ? x.z : x.x, step ? x.w : x.y);
    }
  }
}

/// Whether vectors have a sum of their own, addOwn's.
__device__ __forceinline__ bool haveOwn() {
  return hasOwn(annudf1_packed_term(), annudf1_row_element(), annudf1_bit_products());
}
__device__ __forceinline__ uint32_t addOwnOfFour(uint32_t own, uint4 four) {
  const auto add = [](uint32_t sum, uint32_t word) {
    return addOwn(annudf1_packed_term(), annudf1_row_element(), annudf1_bit_products(), sum, word);
  };
  return add(add(add(add(own, four.x), four.y), four.z), four.w);
}
__device__ __forceinline__ uint32_t ownOfQuery(const uint4 *words, uint32_t chunks) {
  uint32_t own = 0;
  if (haveOwn())
#pragma unroll 4
    for (uint32_t c = 0; c < chunks; ++c)
      own = addOwnOfFour(own, __ldg(words + c));
  return own;
}

/// What addOwn makes of a tile's rows: thread t sums row t of the stages.
struct OwnRows {
  const bool wanted = haveOwn();
  uint32_t sum = 0;
  __device__ __forceinline__ void add(const uint4 *rows, int pitch, int words) {
    if (!wanted || static_cast<int>(threadIdx.x) >= pitch)
      return;
#pragma unroll 2
    for (const uint4 *row = rows + threadIdx.x; words > 0; words -= 4, row += pitch)
      sum = addOwnOfFour(sum, *row);
  }
  /// For all threads. Those of the tile before were read before this stage.
  __device__ __forceinline__ void publish(Places &places) {
    if (!wanted)
      return;
    places.ownRow[threadIdx.x] = sum;
    sum = 0;
    __syncthreads();
  }
};

/// Updates with the whole chunks of packed words of a stage.
__device__ __forceinline__ void updateStage(Tile &tile, const uint4 *rows, int pitch,
                                            const uint4 *queries, int words) {
  const int term = annudf1_packed_term(), element = annudf1_row_element();
  const bool bitProducts = annudf1_bit_products();
#pragma unroll 1
  for (; words > 0; words -= 4, rows += pitch, ++queries) {
    uint32_t y[kTileGroups][4];
#pragma unroll
    for (int g = 0; g < kTileGroups; ++g) {
      const uint4 four = rows[g * 32];
      y[g][0] = four.x, y[g][1] = four.y, y[g][2] = four.z, y[g][3] = four.w;
    }
#pragma unroll
    for (int q = 0; q < kTileQueries; ++q) {
      const uint4 four = queries[q * kQueryPitch];
      const uint32_t x[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int e = 0; e < 4; ++e)
#pragma unroll
        for (int g = 0; g < kTileGroups; ++g)
          tile.acc[q][g] = addTerm(term, element, bitProducts, tile.acc[q][g], x[e], y[g][e]);
    }
  }
}

/// A metric's accumulator, before the first term, with the sum of all terms: exact, as the
/// manifest's dims say.
__device__ __forceinline__ Acc joined(const annudf_scan_args &args, Acc acc, uint32_t sum,
                                      uint32_t ownX, uint32_t ownY) {
  sum = finishTerm(annudf1_packed_term(), annudf1_row_element(), annudf1_bit_products(), sum, ownX,
                   ownY);
  sum = args.packedNegated ? 0 - sum : sum;
#if ANNUDF_PACKED_FLOAT
  return __float_as_uint(__uint_as_float(acc) + static_cast<float>(static_cast<int32_t>(sum)));
#else
  return acc + sum;
#endif
}

/// As endTile, of sums as matrix instructions leave them: a lane has queries 2 (lane % 4) and the
/// next, and of each group the four rows from lane / 4 * 4 on, at places lane / 4, 8 more, ...
__device__ __forceinline__ void endMatrices(const annudf_scan_args &args, const Segment &segment,
                                            const Fixed &fixed, const uint64_t *places,
                                            const uint32_t *ownRows, uint32_t group, int lane,
                                            int count, const Tile &tile) {
  uint4 *keys = reinterpret_cast<uint4 *>(args.work.keys);
  const int firstQuery = lane % 4 * 2;
  Acc first[2];
#pragma unroll
  for (int j = 0; j < 2; ++j)
    init(first[j], fixed.dims, static_cast<int>(fixed.query[firstQuery + j]), fixed.list,
         fixed.slots);
  uint32_t best[kTileGroups * 2];
  uint32_t nans = 0; // A bit for each pair of the lane: by group, row and query.
#pragma unroll
  for (int g = 0; g < kTileGroups; ++g) {
    const uint32_t of = min(group + g, segment.groups - 1);
    const bool inside = group + g < segment.groups;
    // Which of the group's rows each query may find: every lane has looked at one row.
    const uint32_t all = __ballot_sync(0xFFFFFFFFu, tile.found[g]);
    uint32_t found[2];
#pragma unroll
    for (int j = 0; j < 2; ++j)
      found[j] =
          args.work.passing == 0 ? all : all & passingAt(args.work, places[firstQuery + j] + of);
    uint32_t key[2][4];
    bool nan = false;
#pragma unroll
    for (int part = 0; part < 4; ++part) {
      const int place = part * 8 + lane / 4, row = rowAt(place);
      const long long *at = segment.idAt(of, row);
      const int64_t number =
          args.rowsAreSlots ? at - reinterpret_cast<const long long *>(args.index.ids) : __ldg(at);
#pragma unroll
      for (int j = 0; j < 2; ++j) {
        const int q = firstQuery + j;
        const Acc acc = joined(args, first[j], tile.acc[g * 2 + part / 2][part % 2 * 2 + j],
                               fixed.own[q], ownRows[g * 32 + place]);
        const float distance = finalize(acc, fixed.dims, number, static_cast<int>(fixed.query[q]),
                                        fixed.list, fixed.slots);
        key[j][part] = found[j] >> row & 1 ? annudfKeyOf(distance, static_cast<int>(args.order))
                                           : ANNUDF_KEY_NONE;
        nan |= distance != distance;
      }
    }
    if (nan)
#pragma unroll
      for (int i = 0; i < 8; ++i)
        if (inside && firstQuery + i % 2 < count && key[i % 2][i / 2] == ANNUDF_KEY_NONE &&
            (found[i % 2] >> rowAt(i / 2 * 8 + lane / 4) & 1) != 0)
          nans |= 1u << (g * 8 + i);
#pragma unroll
    for (int j = 0; j < 2; ++j) {
      best[g * 2 + j] = min(min(key[j][0], key[j][1]), min(key[j][2], key[j][3]));
      if (!args.work.granules && firstQuery + j < count && inside)
        keys[(places[firstQuery + j] + group + g) * 8 + lane / 4] =
            make_uint4(key[j][0], key[j][1], key[j][2], key[j][3]);
    }
  }
  if (__any_sync(0xFFFFFFFFu, nans != 0)) {
    const int i = max(__ffs(static_cast<int>(nans)) - 1, 0);
    const uint64_t of = min(group + static_cast<uint32_t>(i / 8), segment.groups - 1);
    addNanOfWarp(args, lane, static_cast<uint32_t>(__popc(nans)),
                 static_cast<int>(fixed.query[firstQuery + i % 2]),
                 nans ? segment.ids[of * 32 + rowAt(i % 8 / 2 * 8 + lane / 4)] : 0);
  }
  // Smallest over the lanes of a query: each exchange halves the values a lane looks after, the
  // first with the lane that has the granule's other four rows.
  __syncwarp();
  const auto exchange = [&](int half, int bit) {
#pragma unroll
    for (int i = 0; i < half; ++i) {
      const bool upper = lane & bit;
      const uint32_t keep = upper ? best[i + half] : best[i];
      const uint32_t give = upper ? best[i] : best[i + half];
      best[i] = min(keep, __shfl_xor_sync(0xFFFFFFFFu, give, bit));
    }
  };
  exchange(4, 4);
  if (args.work.granules) {
    const int granule = lane / ANNUDF_GRANULE_ROWS;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      if (const int q = firstQuery + i % 2, g = lane / 4 % 2 * 2 + i / 2;
          q < count && group + g < segment.groups)
        reinterpret_cast<uint32_t *>(
            args.work.keys)[(places[q] + group + g) * ANNUDF_GRANULES + granule] = best[i];
    return;
  }
  exchange(2, 8);
  exchange(1, 16);
  const int mine = lane / 4 % 2 * 4 + lane / 8 % 2 * 2 + lane / 16;
  const int q = firstQuery + mine % 2, g = mine / 2;
  if (q < count && group + g < segment.groups)
    reinterpret_cast<uint32_t *>(args.work.minima)[places[q] + group + g] = best[0];
}
