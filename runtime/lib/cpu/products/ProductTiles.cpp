//===- ProductTiles.cpp - The matrix path's loops for AMX -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled for AVX-512 and AMX, whatever the rest is; nothing here runs before availableKernels()
// has found that the processor has both.
//
//===----------------------------------------------------------------------===//

#include "ProductBounds512.h"
#include "ProductConvert.h"

namespace {

struct alignas(64) TileShapes {
  uint8_t palette = 1, startRow = 0, reserved[14] = {};
  uint16_t bytesOfRow[16] = {};
  uint8_t rows[16] = {};
};

/// Tiles 0 to 3 are sums, 4 and 5 queries, 6 and 7 rows.
void shapeTiles() {
  TileShapes shapes;
  for (int i = 0; i < 8; ++i)
    shapes.bytesOfRow[i] = 64, shapes.rows[i] = kTileRows;
  _tile_loadconfig(&shapes);
}

void multiply(const void *of, int32_t count, const uint32_t *pairs, int32_t rowTiles, int32_t steps,
              float *scores) {
  const auto *queries = static_cast<const uint16_t *>(of);
  const int32_t queryTiles = (count + kTileRows - 1) / kTileRows;
  shapeTiles();
  const int64_t width = int64_t(rowTiles) * kTileRows;
  const int64_t queryBytes = int64_t(steps) * kStepDims * 2;
  const int64_t tileQueries = kTileRows * queryBytes / 2, tileWords = int64_t(steps) * 256;
  for (int32_t q = 0; q < queryTiles; q += 2)
    for (int32_t r = 0; r < rowTiles; r += 2) { // A group has two.
      const bool two = q + 1 < queryTiles;
      const uint16_t *x = queries + q * tileQueries;
      const uint32_t *y = pairs + r * tileWords;
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
      for (int32_t step = 0; step < steps; ++step, x += kStepDims, y += 256) {
        _tile_loadd(6, y, 64);
        _tile_loadd(7, y + tileWords, 64);
        _tile_loadd(4, x, queryBytes);
        _tile_dpbf16ps(0, 4, 6);
        _tile_dpbf16ps(1, 4, 7);
        if (two) {
          _tile_loadd(5, x + tileQueries, queryBytes);
          _tile_dpbf16ps(2, 5, 6);
          _tile_dpbf16ps(3, 5, 7);
        }
      }
      float *to = scores + q * kTileRows * width + r * kTileRows;
      _tile_stored(0, to, width * 4);
      _tile_stored(1, to + kTileRows, width * 4);
      if (two) {
        _tile_stored(2, to + kTileRows * width, width * 4);
        _tile_stored(3, to + kTileRows * width + kTileRows, width * 4);
      }
    }
  _tile_release();
}

} // namespace

namespace annudf::runtime::cpu {

extern const ProductKernels kTileKernels;
const ProductKernels kTileKernels{"amx",
                                  2,
                                  0.15,
                                  convertBlock,
                                  multiply,
                                  {survivors<false>, sample<false>},
                                  {survivors<true>, sample<true>}};

} // namespace annudf::runtime::cpu
