//===- Coarse.h - Ranking the lists of an index for a query --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The coarse stage on the host: which lists a query's scan visits, and which list
// a row belongs to. Every coarse metric is brought to one form, a key
//     bias[c] + sum_d x[d] * factor[c][d]     (smallest is best)
// so that one register-blocked kernel serves ranking, k-means and assignment. For L2,
// x and centers are taken relative to an origin amid the centers: the key is a difference
// of squares, and far from 0 in f32 those would swamp the distances they are to rank.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_COARSE_COARSE_H
#define ANNUDF_RUNTIME_COARSE_COARSE_H

#include "annudf/runtime/vectors/Matrix.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace annudf::runtime {

/// What lists are ranked by: a center each.
struct ListCenters {
  std::vector<float> values; ///< Lists x dims, row-major.
  int32_t dims = 0;
  std::vector<float> fill = {}; ///< As of CoarseRanker.
  uint32_t count() const {
    return dims == 0 ? 0 : static_cast<uint32_t>(values.size() / static_cast<size_t>(dims));
  }
};

/// Centers, prepared for one coarse metric and order. Immutable, so that threads
/// may share it; preparing copies the centers once (keep it per Index::generation()).
class CoarseRanker {
public:
  /// \param centers  nLists x dims, row-major; not kept.
  /// \param fill     what a coordinate that is NaN counts as; empty where there are none.
  CoarseRanker(const float *centers, uint32_t nLists, int32_t dims, annudf_coarse metric,
               annudf_order order, std::vector<float> fill = {});
  CoarseRanker(const ListCenters &centers, annudf_coarse metric, annudf_order order)
      : CoarseRanker(centers.values.data(), centers.count(), centers.dims, metric, order,
                     centers.fill) {}

  uint32_t nLists() const { return nLists_; }
  int32_t dims() const { return dims_; }

  /// The nProbes best lists of each query, best first; equal keys: lower list first.
  /// A key that is not a number ranks last.
  /// \param queries  any element type, dims() coordinates.
  /// \param probes   queries.rows x nProbes.
  /// \param threads  as parallelFor.
  void rank(const MatrixView &queries, uint32_t nProbes, uint32_t *probes, int threads = 0) const;

  /// The best list of each row.
  void assign(const MatrixView &rows, uint32_t *lists, int threads = 0) const;

  /// What assign() computes with, for who does the same elsewhere: the key of a list is its bias
  /// plus, by one fma a dimension from 0 on, (row - origin) * factors; the first least wins.
  /// \param factors  nLists rows of `stride` floats, of which dims() are written.
  void copyFactors(float *factors, int64_t stride) const;
  /// nLists floats.
  const float *biases() const { return factors_.get() + panels_ * dims_ * kPanel; }
  const std::vector<float> &origin() const { return origin_; } ///< Empty: none.

  /// nLists() rounded up to whole panels.
  int64_t stride() const { return panels_ * kPanel; }

  /// Centers of a panel stand side by side: factor d of center c of panel p is
  /// factors_[(p * dims + d) * kPanel + c].
  static constexpr int kPanel = 32;

private:
  /// Keys of rows [begin, end) to every list: (end - begin) x stride(), the entries
  /// beyond nLists() are +inf. `scratch`, (end - begin) x dims(), is overwritten.
  void keys(const MatrixView &rows, int64_t begin, int64_t end, float *scratch, float *out) const;

  uint32_t nLists_;
  int32_t dims_;
  int64_t panels_;
  std::shared_ptr<const float> factors_; ///< 64-byte aligned; shared by copies.
  std::vector<float> origin_;            ///< L2: subtracted from rows; otherwise empty.
  std::vector<float> fill_;
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_COARSE_COARSE_H
