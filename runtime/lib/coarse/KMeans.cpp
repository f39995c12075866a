//===- KMeans.cpp - Centers of an index -------------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "coarse/KMeans.h"

#include "annudf/Support/Error.h"
#include "annudf/runtime/coarse/Coarse.h"
#include "annudf/runtime/support/Parallel.h"
#include "coarse/Balance.h"
#include "vectors/Elements.h"
#include "vectors/Missing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace annudf::runtime {
namespace {

/// Random rows of the base in their order, as floats.
std::vector<float> sampleRows(const MatrixView &base, const KMeansParams &params, Random &random) {
  const std::vector<int64_t> chosen = chooseRows(base.rows, params, random);
  std::vector<float> sample(chosen.size() * static_cast<size_t>(base.dims));
  float *out = sample.data();
  for (const int64_t row : chosen) {
    convertRows(base, row, row + 1, out);
    out += base.dims;
  }
  return sample;
}

class Lloyd {
public:
  Lloyd(const KMeansParams &params, std::vector<float> sample, int32_t dims, Random &random)
      : params_(params), by_(AssignBy::of(params.metric)), sample_(std::move(sample)), dims_(dims),
        rows_(static_cast<int64_t>(sample_.size()) / dims), random_(random),
        lists_(static_cast<size_t>(rows_)),
        balance_(rows_, params.nLists, params.kmeansIterations) {}

  std::vector<float> run(const Progress &progress) {
    start();
    for (uint32_t i = 0; i < params_.kmeansIterations; ++i) {
      assign(i, progress);
      average();
      balance_.after(i, sizes_, centers_.data(), dims_, dims_);
      if (by_.metric != ANNUDF_COARSE_L2)
        normaliseRows(centers_.data(), params_.nLists, dims_);
    }
    report(progress, "train", 1);
    return std::move(centers_);
  }

private:
  /// Distinct rows of the sample.
  void start() {
    centers_.reserve(static_cast<size_t>(params_.nLists) * dims_);
    for (const int64_t row : distinctRows(rows_, params_.nLists, random_)) {
      const float *from = sample_.data() + row * dims_;
      centers_.insert(centers_.end(), from, from + dims_);
    }
    if (by_.metric != ANNUDF_COARSE_L2)
      normaliseRows(centers_.data(), params_.nLists, dims_);
  }

  void assign(uint32_t iteration, const Progress &progress) {
    const CoarseRanker ranker(centers_.data(), params_.nLists, dims_, by_.metric, by_.order);
    // In pieces, so that a large training can be followed and stopped.
    constexpr int64_t kPiece = 32768;
    for (int64_t begin = 0; begin < rows_; begin += kPiece) {
      report(progress, "train",
             (iteration + double(begin) / double(rows_)) / params_.kmeansIterations);
      const int64_t count = std::min(kPiece, rows_ - begin);
      ranker.assign({sample_.data() + begin * dims_, count, dims_, ANNUDF_ELEMENT_F32},
                    lists_.data() + begin, params_.threads);
    }
  }

  /// Each list's rows are summed in their order by one thread, in double.
  void average() {
    std::vector<int64_t> begin(size_t(params_.nLists) + 1);
    for (uint32_t list : lists_)
      ++begin[size_t(list) + 1];
    sizes_.assign(begin.begin() + 1, begin.end());
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<int64_t> members(lists_.size()), next(begin.begin(), begin.end() - 1);
    for (int64_t row = 0; row < rows_; ++row)
      members[static_cast<size_t>(next[lists_[static_cast<size_t>(row)]]++)] = row;
    parallelFor(params_.threads, params_.nLists, [&](int64_t c, int) {
      const int64_t from = begin[static_cast<size_t>(c)], to = begin[static_cast<size_t>(c) + 1];
      if (from == to)
        return;
      std::vector<double> sum(static_cast<size_t>(dims_));
      for (int64_t i = from; i < to; ++i) {
        const float *row = sample_.data() + members[static_cast<size_t>(i)] * dims_;
        for (int32_t d = 0; d < dims_; ++d)
          sum[static_cast<size_t>(d)] += row[d];
      }
      for (int32_t d = 0; d < dims_; ++d)
        centers_[static_cast<size_t>(c * dims_ + d)] =
            static_cast<float>(sum[static_cast<size_t>(d)] / double(to - from));
    });
  }

  const KMeansParams &params_;
  const AssignBy by_;
  const std::vector<float> sample_;
  const int32_t dims_;
  const int64_t rows_;
  Random &random_;
  std::vector<uint32_t> lists_; ///< The list of each row of the sample.
  std::vector<int64_t> sizes_;
  Balance balance_;
  std::vector<float> centers_;
};

} // namespace

void normaliseRows(float *rows, int64_t count, int32_t dims) {
  for (int64_t r = 0; r < count; ++r) {
    float *row = rows + r * dims;
    double norm = 0;
    for (int32_t d = 0; d < dims; ++d)
      norm += double(row[d]) * row[d];
    if (norm == 0)
      continue;
    const double scale = 1 / std::sqrt(norm);
    for (int32_t d = 0; d < dims; ++d)
      row[d] = static_cast<float>(row[d] * scale);
  }
}

std::vector<int64_t> chooseRows(int64_t rows, const KMeansParams &params, Random &random) {
  // Knuth's selection sampling: one pass, each subset equally likely.
  int64_t missing = trainingRows(rows, params);
  std::vector<int64_t> chosen;
  chosen.reserve(static_cast<size_t>(missing));
  for (int64_t row = 0; missing > 0; ++row) {
    if (random.below(static_cast<uint64_t>(rows - row)) >= static_cast<uint64_t>(missing))
      continue;
    chosen.push_back(row);
    --missing;
  }
  return chosen;
}

std::vector<int64_t> distinctRows(int64_t rows, uint32_t count, Random &random) {
  std::vector<int64_t> order(static_cast<size_t>(rows));
  std::iota(order.begin(), order.end(), int64_t(0));
  for (uint32_t i = 0; i < count; ++i)
    std::swap(order[i], order[i + random.below(static_cast<uint64_t>(rows - i))]);
  order.resize(count);
  return order;
}

int64_t trainingRows(int64_t rows, const KMeansParams &params) {
  const int64_t lists = params.nLists;
  const auto fraction =
      static_cast<int64_t>(std::ceil(params.kmeansTrainsetFraction * double(rows)));
  return std::min(rows, std::clamp(fraction, 39 * lists, 256 * lists));
}

std::vector<float> trainCenters(const KMeansParams &params, const MatrixView &base,
                                const std::vector<float> &fill, const Progress &progress) {
  report(progress, "train", 0);
  Random random(params.seed);
  std::vector<float> sample = sampleRows(base, params, random);
  fillMissing(sample.data(), static_cast<int64_t>(sample.size()) / base.dims, fill);
  // Without this, long rows would turn a center of directions their way.
  if (params.metric == ANNUDF_COARSE_COSINE)
    normaliseRows(sample.data(), static_cast<int64_t>(sample.size()) / base.dims, base.dims);
  return Lloyd(params, std::move(sample), base.dims, random).run(progress);
}

} // namespace annudf::runtime
