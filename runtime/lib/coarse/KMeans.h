//===- KMeans.h - Centers of an index ---------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_COARSE_KMEANS_H
#define ANNUDF_RUNTIME_LIB_COARSE_KMEANS_H

#include "annudf/Support/Error.h"
#include "annudf/runtime/support/Progress.h"
#include "annudf/runtime/vectors/Matrix.h"

#include <string>
#include <vector>

namespace annudf::runtime {

/// The metric by which rows find their list: inner product and cosine both take the
/// largest inner product with centers of length 1.
struct AssignBy {
  annudf_coarse metric;
  annudf_order order;
  static AssignBy of(annudf_coarse metric) {
    switch (metric) {
    case ANNUDF_COARSE_L2:
      return {ANNUDF_COARSE_L2, ANNUDF_ORDER_MIN};
    case ANNUDF_COARSE_INNER_PRODUCT:
    case ANNUDF_COARSE_COSINE:
      return {ANNUDF_COARSE_INNER_PRODUCT, ANNUDF_ORDER_MAX};
    }
    throw Error(ErrorKind::Usage, std::string("no rows can be assigned by coarse metric ") +
                                      std::to_string(int(metric)));
  }
};

/// The part of IndexParams that training needs.
struct KMeansParams {
  uint32_t nLists = 1024;
  annudf_coarse metric = ANNUDF_COARSE_L2;
  uint32_t kmeansIterations = 20;
  double kmeansTrainsetFraction = 0.5;
  uint64_t seed = 1;
  int threads = 0;
};

/// splitmix64: the distributions of <random> differ between standard libraries, and an
/// index should not.
class Random {
public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// In [0, bound).
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

private:
  uint64_t state_;
};

/// Rows the training uses of `rows`: the fraction asked for, at most 256 a list (more
/// does not move the centers), at least 39 a list where there are as many.
int64_t trainingRows(int64_t rows, const KMeansParams &params);

/// As many random rows, in their order.
std::vector<int64_t> chooseRows(int64_t rows, const KMeansParams &params, Random &random);
/// `count` different ones of `rows`, with which centers begin.
std::vector<int64_t> distinctRows(int64_t rows, uint32_t count, Random &random);

/// Scales every row to length 1; a row of zeros stays.
void normaliseRows(float *rows, int64_t count, int32_t dims);

/// Lloyd's algorithm on a seeded sample, with Balance between its rounds. The result depends on
/// params and base, not on the number of threads.
/// \param fill  what a coordinate that is NaN counts as; empty where there are none.
/// \returns nLists x dims.
std::vector<float> trainCenters(const KMeansParams &params, const MatrixView &base,
                                const std::vector<float> &fill, const Progress &progress);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_COARSE_KMEANS_H
