//===- ProductWarpsTest.cpp - Bounds by products of warps, run on the host --===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products.cu as it is, with the products of Mma.cuh, against distances in double. What ldmatrix
// and mma do is written here from PTX's description (Matrix Fragments for mma.m16n8k16; ldmatrix),
// and sums are as wrong as numerics.md allows for: every summand of a few is cut off where the
// largest of them has its 24th bit, and their sum too.
//
//===----------------------------------------------------------------------===//

#include "HostCuda.h"

#include <cmath>
#include <cstring>

namespace {

int productsAtOnce = 4; ///< Products that tensor cores add at once: 4 to 16.

uint4 loadMatrices(const uint4 *line) {
  const unsigned lane = threadIdx.x % 32;
  uint32_t to[4];
  for (unsigned matrix = 0; matrix < 4; ++matrix) {
    const uint4 *const of = __shfl_sync(~0U, line, matrix * 8 + lane / 4);
    std::memcpy(&to[matrix], reinterpret_cast<const char *>(of) + lane % 4 * 4, 4);
  }
  return make_uint4(to[0], to[1], to[2], to[3]);
}

double halfOf(uint32_t word, unsigned which) {
  return double(
      static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(word >> which * 16))));
}

double cutOff(double value, int exponent) {
  return std::ldexp(std::trunc(std::ldexp(value, -exponent)), exponent);
}

/// What a tensor core makes of a sum and some products.
float addedUp(float sum, const double *products, int count) {
  double largest = std::fabs(double(sum)), all = 0;
  for (int i = 0; i < count; ++i)
    largest = std::max(largest, std::fabs(products[i]));
  if (largest == 0)
    return 0;
  const int unit = std::ilogb(largest) - 23;
  all = cutOff(double(sum), unit);
  for (int i = 0; i < count; ++i)
    all += cutOff(products[i], unit);
  return all == 0 ? 0 : static_cast<float>(cutOff(all, std::ilogb(all) - 23));
}

void multiplyBlock(float *sum, uint4 queries, uint32_t low, uint32_t high) {
  struct Registers {
    uint32_t a[4], b[2];
    float c[4];
  };
  Registers mine = {{queries.x, queries.y, queries.z, queries.w}, {low, high}, {}};
  std::copy(sum, sum + 4, mine.c);
  mine = annudf::test::exchange(mine, [](const Registers *all, unsigned lane) {
    Registers result = all[lane];
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      double products[16];
      for (unsigned k = 0; k < 16; ++k) {
        // Lane and register of A's (row, k) and of B's (k, column).
        const double a = halfOf(all[row % 8 * 4 + k % 8 / 2].a[row / 8 + k / 8 * 2], k % 2);
        const double b = halfOf(all[column * 4 + k % 8 / 2].b[k / 8], k % 2);
        products[k] = a * b;
      }
      for (int k = 0; k < 16; k += productsAtOnce)
        result.c[i] = addedUp(result.c[i], products + k, productsAtOnce);
    }
    return result;
  });
  std::copy(mine.c, mine.c + 4, sum);
}

} // namespace

#include "kernels/cuda/products/Products.cu"
#include "gtest/gtest.h"

#include <random>

using annudf::test::Block;

namespace {

template <class T> uint64_t address(std::vector<T> &of) {
  return reinterpret_cast<uint64_t>(of.data());
}

/// Weighted L2 over some lists, each of which is probed by every query.
class Lists {
public:
  Lists(std::vector<uint32_t> sizes, uint32_t dims, uint32_t queries, uint32_t seed)
      : sizes(std::move(sizes)), dims(dims), queries(queries) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    for (uint32_t d = 0; d < dims; ++d) {
      annudf_matrix_dim dim = {};
      const double w = 0.25 + std::fabs(normal(random));
      dim.shift = 0.5F, dim.query2 = w, dim.row2 = w, dim.product = -2 * w;
      of.push_back(dim);
    }
    values.resize(size_t(queries) * dims);
    for (float &value : values)
      value = 0.5F + normal(random);
    uint32_t groups = 0, tile = 0;
    for (const uint32_t size : this->sizes) {
      listGroup.push_back(groups), probeGroup.push_back(groups), rowTile.push_back(tile);
      groups += (size + 31) / 32, tile += (size + 127) / 128;
    }
    listGroup.push_back(groups), tiles = tile;
    chunks = (dims + 3) / 4;
    rows.resize(size_t(groups) * chunks * 32);
    for (uint32_t list = 0; list < this->sizes.size(); ++list)
      for (uint32_t r = 0; r < this->sizes[list]; ++r)
        for (uint32_t d = 0; d < dims; ++d)
          at(list, r, d) = 0.5F + (list == 1 ? 1e-4F : 1.0F) * normal(random);
  }

  /// Lets each query find some rows of each group, of some groups none.
  void letPassByQuery() {
    std::mt19937 random(7);
    for (size_t i = 0; i < size_t(queries) * listGroup.back(); ++i)
      passing.push_back(random() % 4 == 0 ? 0 : uint32_t(random()) & uint32_t(random()));
  }

  /// "" where every bound is below the distances of its rows, and not far.
  std::string fault() {
    run();
    for (uint32_t q = 0; q < queries; ++q)
      for (uint32_t list = 0; list < sizes.size(); ++list)
        for (uint32_t granule = 0; granule < (sizes[list] + 31) / 32 * 4; ++granule)
          if (std::string why = faultOf(q, list, granule); !why.empty())
            return "query " + std::to_string(q) + ", list " + std::to_string(list) + ", granule " +
                   std::to_string(granule) + ": " + why;
    return "";
  }

private:
  float &at(uint32_t list, uint32_t row, uint32_t d) {
    uint4 &chunk = rows[(size_t(listGroup[list] + row / 32) * chunks + d / 4) * 32 + row % 32];
    return reinterpret_cast<float *>(&chunk)[d % 4];
  }

  std::string faultOf(uint32_t q, uint32_t list, uint32_t granule) {
    const float bound =
        keys[(size_t(q) * listGroup.back() + listGroup[list]) * ANNUDF_GRANULES + granule];
    double least = INFINITY, longest = 0, z2 = 0, size = 0;
    for (uint32_t r = granule * 8; r < std::min(granule * 8 + 8, sizes[list]); ++r) {
      double sum = 0, y2 = 0;
      for (uint32_t d = 0; d < dims; ++d) {
        const double x = values[size_t(q) * dims + d], y = at(list, r, d);
        sum += of[d].row2 * (x - y) * (x - y), y2 += (y - 0.5) * (y - 0.5);
      }
      if (!passing.empty() &&
          !(passing[size_t(q) * listGroup.back() + listGroup[list] + r / 32] >> r % 32 & 1))
        sum = INFINITY;
      least = std::min(least, sum), longest = std::max(longest, std::sqrt(y2));
    }
    for (uint32_t d = 0; d < dims; ++d) {
      const double x = values[size_t(q) * dims + d] - 0.5;
      z2 += of[d].product * x * of[d].product * x, size += of[d].query2 * x * x;
    }
    if (least == INFINITY)
      return bound == INFINITY ? "" : "no row has " + std::to_string(bound);
    if (!(bound <= least))
      return std::to_string(bound) + " is above " + std::to_string(least);
    // Twice what the bound takes off: what it errs by may be on either side.
    const double off = 2 * (0x1.01p-10 + (2 * dims + 40) * 0x1p-23) * std::sqrt(z2) * longest +
                       1e-5 * (size + least);
    return bound >= least - off ? ""
                                : std::to_string(bound) + " is far below " + std::to_string(least);
  }

  void run() {
    annudf_matrix_args args = {};
    const auto lists = uint32_t(sizes.size());
    const uint32_t panels = (dims + 63) / 64;
    std::vector<float> listScale(lists), terms(tiles * ANNUDF_MATRIX_TERMS, NAN);
    std::vector<uint4> panelRows(size_t(tiles) * panels * (ANNUDF_MATRIX_PANEL_BYTES / 16)),
        panelQueries(size_t(queries) * panels * 8);
    std::vector<float4> numbers(queries);
    std::vector<uint32_t> pairs, tileStart(lists + 1);
    std::vector<uint4> items;
    uint32_t ticket = 0;
    for (uint32_t list = 0; list < lists; ++list) {
      const auto first = uint32_t(pairs.size());
      for (uint32_t q = 0; q < queries; ++q)
        pairs.push_back(q * lists + list);
      for (uint32_t group = 0; group < (sizes[list] + 31) / 32; group += kSegment)
        for (uint32_t q = 0; q < queries; q += ANNUDF_MATRIX_QUERIES)
          items.push_back(
              {list, first + q, std::min<uint32_t>(ANNUDF_MATRIX_QUERIES, queries - q), group});
    }
    tileStart[lists] = uint32_t(items.size());
    std::vector<uint32_t> probeGroups;
    for (uint32_t q = 0; q < queries; ++q)
      probeGroups.insert(probeGroups.end(), probeGroup.begin(), probeGroup.end());
    keys.assign(size_t(queries) * listGroup.back() * ANNUDF_GRANULES, -777);
    annudf_scan_args &scan = args.scan;
    scan.index.rows = address(rows), scan.index.listGroup = address(listGroup);
    scan.index.listSize = address(sizes), scan.index.nLists = lists;
    scan.index.chunks = chunks, scan.index.dims = dims;
    scan.queries.data = address(values), scan.queries.rowBytes = dims * 4;
    scan.queries.count = queries, scan.queries.element = ANNUDF_ELEMENT_F32;
    scan.work.pairs = address(pairs), scan.work.probeGroup = address(probeGroups);
    scan.work.tileStart = address(tileStart), scan.work.tiles = address(items);
    scan.work.keys = address(keys), scan.work.minima = address(numbers);
    scan.work.coordinates = address(panelQueries);
    scan.work.ticket = reinterpret_cast<uint64_t>(&ticket);
    scan.work.stride = listGroup.back(), scan.work.nProbes = lists;
    scan.work.segmentGroups = kSegment;
    if (!passing.empty())
      scan.work.passing = address(passing);
    args.form.dims = address(of), args.form.most = 1e30;
    args.panels = address(panelRows), args.tileStart = address(rowTile);
    args.listScale = address(listScale), args.terms = address(terms);
    args.nPanels = panels, args.element = ANNUDF_ELEMENT_F32;
    const auto each = [&](uint32_t blocks, unsigned threads, auto kernel) {
      for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
        Block::run(threads, [&] { kernel(args); });
      blockIdx.x = 0;
    };
    each(tiles, ANNUDF_MATRIX_ROWS, annudf_matrix_largest);
    each(1, 128, annudf_matrix_scale);
    each(tiles, ANNUDF_MATRIX_ROWS, annudf_matrix_rows);
    each(tiles, ANNUDF_MATRIX_ROWS, annudf_matrix_terms);
    each(queries, 128, annudf_matrix_queries);
    std::memset(matrixMemory, 0x7E, sizeof matrixMemory); // NaN, as what others left may be.
    each(1, ANNUDF_MATRIX_THREADS,
         panels <= ANNUDF_MATRIX_RESIDENT_PANELS ? annudf_matrix_scan_mma
                                                 : annudf_matrix_scan_mma_long);
  }

  static constexpr uint32_t kSegment = 8;
  std::vector<uint32_t> sizes;
  const uint32_t dims, queries;
  uint32_t tiles = 0, chunks = 0;
  std::vector<uint32_t> listGroup, probeGroup, rowTile, passing;
  std::vector<uint4> rows;
  std::vector<float> values, keys;
  std::vector<annudf_matrix_dim> of;
};

} // namespace

TEST(ProductWarps, BoundEveryGranule) {
  // Ends of every kind: of granules, groups, tiles, segments; items with every count of stages.
  const struct {
    uint32_t dims, queries;
  } cases[] = {{1, 5},   {16, 150},  {65, 40},  {128, 70}, {128, 130},
               {130, 5}, {130, 140}, {257, 40}, {257, 70}};
  for (const auto &[dims, queries] : cases) {
    productsAtOnce = dims % 2 ? 4 : 16;
    for (const bool byQuery : {false, true}) {
      if (byQuery && queries < 130)
        continue;
      Lists lists({3, 31, 129, 280}, dims, queries, dims + queries);
      if (byQuery)
        lists.letPassByQuery();
      ASSERT_EQ(lists.fault(), "")
          << dims << " dims, " << queries << " queries" << (byQuery ? ", each with its rows" : "");
    }
  }
}

/// numerics.md: (2 D + 32) 2^-23 of the sum of the sizes, whatever is cut off.
TEST(ProductWarps, SumsAreAsNearAsTheBoundSays) {
  std::mt19937 random(1);
  const auto uniform = [&] { return std::uniform_real_distribution<double>(-1, 1)(random); };
  double nearest = 0;
  for (const int atOnce : {4, 8, 16})
    for (const int dims : {1, 2, 3, 16, 64, 128, 1024, 4096})
      for (int round = 0; round < 60; ++round) {
        std::vector<double> products(size_t((dims + 15) / 16 * 16));
        const double scale = std::ldexp(1, -int(random() % 24));
        double exact = 0, size = 0;
        for (int d = 0; d < dims; ++d) {
          const double value = round % 3 == 0   ? uniform()
                               : round % 3 == 1 ? uniform() * std::ldexp(1, -int(random() % 20))
                               : d == 0         ? 1 // Then much that is cut off of each.
                                                : scale * (0x1.fp-22 + uniform() * 0x1p-40);
          // A product of two halves.
          products[size_t(d)] = double(static_cast<float>(value));
          exact += products[size_t(d)], size += std::fabs(products[size_t(d)]);
        }
        float sum = 0;
        for (size_t k = 0; k < products.size(); k += size_t(atOnce))
          sum = addedUp(sum, &products[k], atOnce);
        const double bound = (2 * dims + 32) * 0x1p-23 * size;
        ASSERT_LE(std::fabs(double(sum) - exact), bound) << dims << " dims, " << atOnce;
        nearest = std::max(nearest, std::fabs(double(sum) - exact) / bound);
      }
  EXPECT_GT(nearest, 0.2); // The cases are such that it is needed.
}
