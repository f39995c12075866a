//===- Stages.cuh - Rows on their way to a stage ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How Staged.cu brings rows to shared memory: copied as they lie, or through registers and
// converted.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_CUDA_SCAN_STAGES_CUH
#define ANNUDF_KERNELS_CUDA_SCAN_STAGES_CUH

#include "../common/Passes.cuh"
#include "Hooks.cuh"

#ifdef ANNUDF_PACKED
#include "../../PackedTerms.h"
#ifndef ANNUDF_TEMPLATE
/// Which of ANNUDF_PACKED_TERMS; defined by the runtime for the link.
ANNUDF_HOOK int32_t annudf1_packed_term(void);
/// Whether the processor has matrix instructions of bits; as above.
ANNUDF_HOOK int32_t annudf1_bit_products(void);
#endif
#endif

namespace {

/// Coordinates of 16 dimensions of one row are what a thread brings to a stage.
constexpr int kPiece = 16;

__device__ __forceinline__ uint32_t sharedAddress(const void *place) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(place));
}
/// \param to  a shared address, of bytes.
__device__ __forceinline__ void copyAsync(uint32_t to, const uint4 *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
__device__ __forceinline__ void commitCopies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
/// Until all but the newest `kNewest` groups of copies have arrived.
template <int kNewest> __device__ __forceinline__ void waitForCopies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewest) : "memory");
}

/// The list of an item and its part of it.
struct Segment {
  const uint4 *rows; ///< Rows of its first group.
  const long long *ids;
  int list, dims, chunks;
  int words;       ///< Words of a row in a stage.
  uint32_t size;   ///< Rows from its first on.
  uint32_t groups; ///< Groups of the segment.

  /// Where the id of a row is. Padding, and groups past the last, run through the hooks as rows
  /// that exist, so that no capture is read outside its extent.
  __device__ __forceinline__ const long long *idAt(uint32_t group, int row) const {
    const uint32_t of = min(group, groups - 1);
    return ids + uint64_t(of) * 32 + (of * 32 + row < size ? row : 0);
  }
};

/// Elements of one row on their way to a stage.
struct Raw {
  uint4 part[2];
};

#ifdef ANNUDF_PACKED
/// Whether a term is a sum of products, of bytes or of bits.
__device__ __forceinline__ bool byMatrices() {
  const int term = annudf1_packed_term();
  return countsBits(term, annudf1_row_element())
             ? annudf1_bit_products() != 0
             : term == ANNUDF_PACKED_PRODUCT || term == ANNUDF_PACKED_SQUARED_DIFFERENCE;
}
/// Which row of a group lies at a place of a stage: of matrices, such that a lane's sums are of
/// four rows side by side, whose keys it writes at once.
__device__ __forceinline__ int rowAt(int place) {
  return byMatrices() ? place % 8 * 4 + place / 8 : place;
}
__device__ __forceinline__ bool goesDirect() { return true; }
__device__ __forceinline__ int coordinatesPerWord() { return 1; }
#else
__device__ __forceinline__ int rowAt(int place) { return place; }
/// Rows of 32-bit elements go to the stage as they are.
__device__ __forceinline__ bool goesDirect() { return annudf1_row_element() == ANNUDF_ELEMENT_F32; }
__device__ __forceinline__ int coordinatesPerWord() {
  return elementsPerWord(annudf1_row_element());
}
#endif

/// Begins what a thread brings to a stage of rows that go there directly: kPiece dimensions of
/// `row`, to every `pitch`-th place. What is past the end of the vectors is brought too, and not
/// used.
/// \param to  a shared address, of bytes.
__device__ __forceinline__ void copy(const uint4 *row, uint32_t to, int pitch) {
#pragma unroll
  for (int i = 0; i < kPiece / 4; ++i)
    copyAsync(to + static_cast<uint32_t>(i * pitch) * 16, row + i * 32);
}

/// The same of rows that are converted: dimensions [dim, dim + kPiece).
__device__ __forceinline__ void load(const uint4 *row, int dim, Raw &raw) {
  const int perWord = coordinatesPerWord();
  row += dim / (4 * perWord) * 32;
  const int count = perWord == 2 ? 2 : 1;
#pragma unroll
  for (int i = 0; i < 2; ++i)
    if (i < count)
      raw.part[i] = loadChunk(row + i * 32);
  if (perWord > 4) { // A part of a chunk: its words are moved down.
    const int word = dim / perWord % 4, bit = dim % perWord * (32 / perWord);
    const uint4 part = raw.part[0];
    raw.part[0].x = (word == 0 ? part.x : word == 1 ? part.y : word == 2 ? part.z : part.w) >> bit;
  }
}

/// Converts what load() began.
__device__ __forceinline__ void store(const Raw &raw, uint4 *to, int pitch) {
  if (goesDirect())
    return;
  const int element = annudf1_row_element(), compute = annudf1_compute();
  const int perWord = elementsPerWord(element);
#pragma unroll
  for (int i = 0; i < kPiece / 4; ++i) {
    const uint4 part = raw.part[i / 2];
    const uint32_t eights[4] = {raw.part[0].x, raw.part[0].y, raw.part[0].z, raw.part[0].w};
    uint32_t out[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const uint32_t word =
          perWord == 2   ? (i % 2 == 0 ? (e < 2 ? part.x : part.y) : (e < 2 ? part.z : part.w))
          : perWord == 4 ? eights[i]
                         : raw.part[0].x >> (i * 4 * (32 / perWord) % 32);
      out[e] = coordinateOf<Coordinate>(element, compute, word, e);
    }
    to[i * pitch] = make_uint4(out[0], out[1], out[2], out[3]);
  }
}

} // namespace

#endif // ANNUDF_KERNELS_CUDA_SCAN_STAGES_CUH
