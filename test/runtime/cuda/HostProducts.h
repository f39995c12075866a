//===- HostProducts.h - Bounds by Products.cu, on the host --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels of Products.cu but for its products, which are those of half precision here too, each
// sum cut off, and not rounded: as tensor cores may. To be included once.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_HOSTPRODUCTS_H
#define ANNUDF_TEST_RUNTIME_CUDA_HOSTPRODUCTS_H

#include "HostCuda.h"

#include <cstdlib>
#include <cstring>

namespace {

// For annudf_matrix_scan_mma, which is not run here: ProductWarpsTest does.
uint4 loadMatrices(const uint4 *) { abort(); }
void multiplyBlock(float *, uint4, uint32_t, uint32_t) { abort(); }

} // namespace

#include "cuda/plan/BoundNumbers.h"
#include "kernels/cuda/products/Products.cu"

namespace annudf::test {

using FloatRows = std::vector<std::vector<float>>;

template <class T> uint64_t addressOf(const std::vector<T> &values) {
  return reinterpret_cast<uint64_t>(values.data());
}

/// Rows in lists, laid out as on a device, their halves, and a form that is bound for them.
class HostProducts {
public:
  HostProducts(std::vector<FloatRows> lists, const std::vector<float> &shift,
               runtime::cuda::BoundNumbers numbers)
      : lists_(std::move(lists)), numbers_(std::move(numbers)) {
    const size_t dims = shift.size(), chunks = (dims + 3) / 4;
    listGroup_.push_back(0);
    uint32_t tiles = 0;
    for (const FloatRows &rows : lists_) {
      tileStart_.push_back(tiles);
      listSize_.push_back(uint32_t(rows.size()));
      listGroup_.push_back(listGroup_.back() + uint32_t(rows.size() + 31) / 32);
      tiles += uint32_t(rows.size() + ANNUDF_MATRIX_ROWS - 1) / ANNUDF_MATRIX_ROWS;
    }
    rows_.resize(listGroup_.back() * chunks * 32);
    ids_.resize(listGroup_.back() * size_t(32), -1);
    int64_t id = 0;
    for (size_t list = 0; list < lists_.size(); ++list)
      for (size_t row = 0; row < lists_[list].size(); ++row)
        ids_[listGroup_[list] * size_t(32) + row] = id++;
    for (size_t list = 0; list < lists_.size(); ++list)
      for (size_t row = 0; row < lists_[list].size(); ++row)
        for (size_t d = 0; d < dims; ++d) {
          const size_t group = listGroup_[list] + row / 32;
          uint4 &chunk = rows_[(group * chunks + d / 4) * 32 + row % 32];
          (&chunk.x)[d % 4] = std::bit_cast<uint32_t>(lists_[list][row][d]);
        }
    annudf_device_index &index = args_.scan.index;
    index.rows = addressOf(rows_), index.ids = addressOf(ids_);
    index.listGroup = addressOf(listGroup_), index.listSize = addressOf(listSize_);
    index.nLists = uint32_t(lists_.size());
    index.chunks = uint32_t(chunks), index.dims = uint32_t(dims);
    args_.nPanels = uint32_t((dims * (numbers_.isOwn ? 2 : 1) + ANNUDF_MATRIX_PANEL_DIMS - 1) /
                             ANNUDF_MATRIX_PANEL_DIMS);
    args_.element = ANNUDF_ELEMENT_F32;
    args_.tileStart = addressOf(tileStart_);
    listScale_.resize(lists_.size());
    args_.listScale = addressOf(listScale_);
    panels_.resize(size_t(tiles) * args_.nPanels * (ANNUDF_MATRIX_PANEL_BYTES / 16));
    args_.panels = addressOf(panels_);
    terms_.resize(size_t(tiles) * ANNUDF_MATRIX_TERMS + 4);
    args_.terms = aligned(terms_);
    makeRows(shift, tiles);
  }

  /// Bounds are then of rows whose ids pass. \param words  as of a filter; they are read in place.
  void letPass(const std::vector<uint32_t> &words) {
    passing_.resize(terms_.size());
    args_.scan.filter = addressOf(words);
    args_.scan.work.terms = aligned(passing_);
    launch(numbers_.isRatio ? annudf_matrix_ratio_passing : annudf_matrix_passing, args_,
           terms_.size() / ANNUDF_MATRIX_TERMS, ANNUDF_MATRIX_ROWS);
    args_.terms = args_.scan.work.terms;
  }

  /// Bounds are then of rows that each query may find. \param words  of queries and groups, in the
  /// place of bounds; read in place.
  void letPassByQuery(const std::vector<uint32_t> &words) {
    args_.scan.work.passing = addressOf(words);
  }

  /// For the queries of the last bounds: scale, factor, and what is added.
  const std::vector<float4> &queryNumbers() const { return queryNumbers_; }
  uint32_t groups() const { return listGroup_.back(); }
  const annudf_matrix_args &args() const { return args_; }

  /// A bound a granule and query, of all lists. \param base  number of the first query.
  std::vector<float> bounds(const FloatRows &queries, const annudf_slots &slots = {},
                            int32_t base = 0) {
    const size_t dims = args_.scan.index.dims;
    std::vector<float> values;
    for (const auto &query : queries)
      values.insert(values.end(), query.begin(), query.end());
    annudf_matrix_args args = args_;
    args.scan.queries.data = addressOf(values);
    args.scan.queries.rowBytes = uint32_t(dims * 4);
    args.scan.queries.element = ANNUDF_ELEMENT_F32;
    args.scan.queries.base = base, args.scan.slots = slots;
    std::vector<float4> &numbers = queryNumbers_;
    numbers.assign(queries.size(), {});
    args.scan.work.minima = addressOf(numbers);
    std::vector<_Float16> halves(queries.size() * args.nPanels * ANNUDF_MATRIX_PANEL_DIMS);
    args.scan.work.coordinates = addressOf(halves);
    std::memset(matrixMemory, 0x7E, sizeof matrixMemory); // NaN, as what others left may be.
    if (numbers_.isOwn)
      launch(annudf_matrix_own_queries, args, queries.size(),
             ANNUDF_MATRIX_OWN_THREADS(numbers_.own.nNodes));
    else
      launch(numbers_.isRatio ? annudf_matrix_ratio_queries : annudf_matrix_queries, args,
             queries.size(), 128);
    std::vector<float4> keys(queries.size() * groups());
    args.scan.work.keys = addressOf(keys);
    for (size_t first = 0; first < queries.size(); first += ANNUDF_MATRIX_QUERIES)
      multiply(args, numbers, halves, first,
               std::min<size_t>(queries.size() - first, ANNUDF_MATRIX_QUERIES));
    std::vector<float> bounds(keys.size() * ANNUDF_GRANULES);
    std::memcpy(bounds.data(), keys.data(), bounds.size() * sizeof(float));
    return bounds;
  }

private:
  static uint64_t aligned(const std::vector<float> &values) {
    return (addressOf(values) + 15) / 16 * 16;
  }
  static void launch(void (*kernel)(const annudf_matrix_args), const annudf_matrix_args &args,
                     size_t blocks, unsigned threads) {
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
      Block::run(threads, [&] { kernel(args); });
    blockIdx.x = 0;
  }

  void makeRows(const std::vector<float> &shift, uint32_t tiles) {
    std::vector<annudf_matrix_dim> shifts(shift.size());
    for (size_t d = 0; d < shift.size(); ++d)
      shifts[d].shift = shift[d];
    args_.form.dims = addressOf(shifts);
    launch(annudf_matrix_largest, args_, tiles, ANNUDF_MATRIX_ROWS);
    if (numbers_.isOwn)
      return makeSquares(std::move(shifts), tiles);
    blockDim.x = 32;
    launch(annudf_matrix_scale, args_, (lists_.size() + 31) / 32, 32);
    launch(annudf_matrix_rows, args_, tiles, ANNUDF_MATRIX_ROWS);
    args_.form = numbers_.form, args_.ratio = numbers_.ratio;
    (numbers_.isRatio ? args_.ratio.dims : args_.form.dims) = addressOf(numbers_.dims);
    launch(numbers_.isRatio ? annudf_matrix_ratio_terms : annudf_matrix_terms, args_, tiles,
           ANNUDF_MATRIX_ROWS);
  }

  void makeSquares(std::vector<annudf_matrix_dim> shifts, uint32_t tiles) {
    const auto squares = runtime::cuda::squaresOf(listScale_, int32_t(shifts.size()));
    shifts_ = std::move(shifts);
    args_.form.dims = addressOf(shifts_);
    args_.own = numbers_.own;
    args_.own.nodes = addressOf(numbers_.nodes);
    args_.own.square = squares.square, args_.own.mostLength = squares.mostLength;
    launch(annudf_matrix_own_scale, args_, (lists_.size() + 31) / 32, 32);
    launch(annudf_matrix_own_rows, args_, tiles, ANNUDF_MATRIX_ROWS);
    launch(annudf_matrix_own_terms, args_, tiles, ANNUDF_MATRIX_ROWS);
  }

  /// The next float nearer to 0, unless it is one.
  static float cutOff(double value) {
    const auto nearest = float(value);
    return std::abs(double(nearest)) > std::abs(value) ? nextafterf(nearest, 0) : nearest;
  }

  /// As a query's line and a tile's column are multiplied.
  float product(const _Float16 *query, uint64_t tile, int column) const {
    float sum = 0;
    for (uint32_t panel = 0; panel < args_.nPanels; ++panel)
      for (int eight = 0; eight < ANNUDF_MATRIX_PANEL_DIMS / 8; ++eight) {
        const uint4 &word =
            panels_[(tile * args_.nPanels + panel) * (ANNUDF_MATRIX_PANEL_BYTES / 16) +
                    size_t(placeOf(column, eight))];
        _Float16 row[8];
        std::memcpy(row, &word, sizeof row);
        for (int i = 0; i < 8; ++i)
          sum = cutOff(double(sum) + double(*query++) * double(row[i]));
      }
    return sum;
  }

  void multiply(const annudf_matrix_args &args, const std::vector<float4> &of,
                const std::vector<_Float16> &halves, size_t first, size_t count) const {
    static Numbers numbers;
    for (size_t i = 0; i < count; ++i) {
      const float4 &query = of[first + i];
      numbers.scale[i] = query.x, numbers.factor[i] = query.y, numbers.added[i] = query.z;
    }
    for (size_t list = 0; list < lists_.size(); ++list) {
      const uint32_t groups = listGroup_[list + 1] - listGroup_[list];
      for (size_t i = 0; i < count; ++i)
        numbers.place[i] = (first + i) * this->groups() + listGroup_[list];
      for (uint32_t group = 0; group < groups; group += 4) {
        const uint64_t tile = tileStart_[list] + group / 4;
        for (threadIdx.x = 0; threadIdx.x < 256; ++threadIdx.x) {
          const int lane = int(threadIdx.x % 32), query = int(threadIdx.x / 32) * 16 + lane / 4;
          float sum[64] = {};
          for (int i = 0; i < 64; ++i)
            if (const size_t q = size_t(query + i / 2 % 2 * 8); q < count)
              sum[i] = product(&halves[(first + q) * args.nPanels * ANNUDF_MATRIX_PANEL_DIMS], tile,
                               i / 4 * 8 + lane % 4 * 2 + i % 2);
          const auto *terms =
              reinterpret_cast<const float *>(args.terms) + tile * ANNUDF_MATRIX_TERMS;
          const float scale = 1 / listScale_[list];
          if (args.scan.work.passing != 0) {
            PassingRows passing;
            passing.read(args, numbers, query, int(count), group, groups - group);
            passing.leaveOut(sum);
          }
          if (numbers_.isRatio)
            writeBounds<true>(args, numbers, terms, sum, query, int(count), scale, group,
                              groups - group);
          else
            writeBounds<false>(args, numbers, terms, sum, query, int(count), scale, group,
                               groups - group);
        }
      }
    }
    threadIdx.x = 0;
  }

  const std::vector<FloatRows> lists_;
  const runtime::cuda::BoundNumbers numbers_;
  std::vector<annudf_matrix_dim> shifts_;
  std::vector<float4> queryNumbers_;
  std::vector<uint4> rows_, panels_;
  std::vector<uint32_t> listGroup_, listSize_, tileStart_;
  std::vector<int64_t> ids_;
  std::vector<float> listScale_, terms_, passing_;
  annudf_matrix_args args_ = {};
};

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CUDA_HOSTPRODUCTS_H
