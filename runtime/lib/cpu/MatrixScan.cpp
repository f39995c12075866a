//===- MatrixScan.cpp - A proved form as products of matrices -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/numerics.md, "On the CPU", derives the constants.
//
//===----------------------------------------------------------------------===//

#include "MatrixScan.h"

#include "annudf/runtime/ivf_flat/Index.h"
#include "annudf/runtime/support/Parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace annudf::runtime::cpu {

static_assert(kGroupRows == 2 * kTileRows);

namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// Bytes of the rows that are looked at together: they and what they become stay in the L2 cache.
constexpr int64_t kBlockBytes = int64_t(256) << 10;
constexpr int64_t kLineBytes = 64; ///< Of the cache.
/// Beside the errors of a row's part its largest counts for so much, so that those bound it.
constexpr double kPerLargest = 0x1p-40;
/// More than doubles lose in setTerms().
constexpr double kUp = 1 + 0x1p-30;
/// Tiles of queries multiplied together.
constexpr int32_t kQueryTiles = 2;

float roundedUp(double value) {
  return value == 0 ? 0 : std::nextafter(std::max(float(value), 1e-37f), kInfinity);
}
float roundedDown(double value) { return std::nextafter(float(value), -kInfinity); }

/// The mean of the rows, but for what is next to nothing: any other shift is right too.
std::vector<float> shiftOf(const Index &index) {
  std::vector<float> mean = meanOfRows(index);
  for (float &value : mean)
    if (!(std::abs(value) > 1e-20f))
      value = 0;
  return mean;
}

/// How far rows are from it: of some groups, the root of the mean square; above 0. Bounds are tight
/// for rows as far as that.
std::vector<double> spreadOf(const Index &index, const std::vector<float> &mean) {
  constexpr uint32_t kLists = 16;
  const size_t dims = mean.size();
  const uint32_t lists = std::min(kLists, index.nLists());
  std::vector<double> sums(dims);
  int64_t rows = 0;
  for (uint32_t i = 0; i < lists; ++i) {
    const List &list = index.list(uint32_t(uint64_t(i) * index.nLists() / lists));
    const int64_t count = std::min<int64_t>(list.size, kGroupRows);
    rows += count;
    for (size_t d = 0; d < dims; ++d)
      for (int64_t row = 0; row < count; ++row) {
        const auto y = std::bit_cast<float>(list.words[d * kGroupRows + size_t(row)]);
        sums[d] += (double(y) - double(mean[d])) * (double(y) - double(mean[d]));
      }
  }
  double most = 0;
  for (double &sum : sums)
    most = std::max(most, sum = std::sqrt(sum / double(std::max<int64_t>(rows, 1))));
  for (double &sum : sums)
    sum = most > 1e-30 && std::isfinite(most) ? std::max(sum, most * 1e-3) : 1;
  return sums;
}

bool exists(const annudf_cpu_scan &scan, int32_t row) {
  return row < scan.size &&
         (!scan.pass || (scan.pass[row / kGroupRows] >> (row % kGroupRows) & 1) != 0);
}

/// The scan's sink, as one of its queries alone sees it.
struct OneQuery {
  const annudf_cpu_scan *scan;
  int32_t query;
  static float take(void *sink, int32_t, const int64_t *ids, const float *distances,
                    uint32_t mask) {
    const OneQuery &one = *static_cast<const OneQuery *>(sink);
    return one.scan->push(one.scan->sink, one.query, ids, distances, mask);
  }
};

/// Computes rows of one query with the metric's own scan.
class Exactly {
public:
  Exactly(const ScanKernel &kernel, const annudf_cpu_scan &block, int32_t query,
          MatrixScan::Workspace &work)
      : kernel_(kernel), block_(block), sink_{&block, query}, work_(work), scan_(block) {
    scan_.queries = 1;
    scan_.x = block.x + query;
    scan_.integers = block.integers + query;
    scan_.query = block.query + query;
    scan_.limit = block.limit + query;
    scan_.push = OneQuery::take;
    scan_.sink = &sink_;
    scan_.ahead = block.rows;
  }

  /// At most kGroupRows of them.
  void compute(const int32_t *rows, int32_t count) {
    if (count <= kFew)
      for (int32_t i = 0; i < count; ++i)
        inPlace(rows[i]);
    else
      together(rows, count);
  }

private:
  /// Up to so many rows are computed in their groups, as bringing them together takes longer.
  static constexpr int32_t kFew = 2;

  void inPlace(int32_t row) {
    const int32_t group = row / kGroupRows;
    const uint32_t pass = uint32_t(1) << (row % kGroupRows);
    scan_.rows = block_.rows + int64_t(group) * block_.words * kGroupRows;
    scan_.ids = block_.ids + int64_t(group) * kGroupRows;
    scan_.size = std::min<int64_t>(kGroupRows, block_.size - int64_t(group) * kGroupRows);
    scan_.pass = &pass;
    kernel_.run(scan_);
  }

  void together(const int32_t *rows, int32_t count) {
    int64_t ids[kGroupRows];
    work_.words.resize(size_t(block_.words) * kGroupRows);
    for (int32_t i = 0; i < count; ++i) {
      const uint32_t *from = block_.rows +
                             rows[i] / kGroupRows * int64_t(block_.words) * kGroupRows +
                             rows[i] % kGroupRows;
      ids[i] = block_.ids[rows[i]];
      for (int32_t w = 0; w < block_.words; ++w)
        work_.words[size_t(w) * kGroupRows + size_t(i)] = from[int64_t(w) * kGroupRows];
    }
    scan_.rows = work_.words.data();
    scan_.ids = ids;
    scan_.size = count;
    scan_.pass = nullptr;
    kernel_.run(scan_);
  }

  const ScanKernel &kernel_;
  const annudf_cpu_scan &block_;
  OneQuery sink_;
  MatrixScan::Workspace &work_;
  annudf_cpu_scan scan_;
};

} // namespace

std::optional<MatrixScan> MatrixScan::make(const MatrixKernels &kernels, const QuadraticForm &form,
                                           const BoundCaptures &captures, const Index &index,
                                           annudf_order order, int k, std::string &whyNot) {
  const std::vector<float> mean = shiftOf(index);
  std::optional<BoundForm> bound = bindForm(form, captures, index.dims(), mean, order, &whyNot);
  if (!bound)
    return std::nullopt;
  MatrixScan scan(kernels, *std::move(bound), k);
  whyNot = scan.setTerms(spreadOf(index, mean));
  return whyNot.empty() ? std::optional(std::move(scan)) : std::nullopt;
}

/// \return why not.
std::string MatrixScan::setTerms(const std::vector<double> &spread) {
  using F = BoundForm;
  constexpr double kMost = 1e30, kLeast = 1e-30;
  const auto dims = size_t(form_.dims);
  for (size_t d = 0; d < dims; ++d) {
    const auto of = [&](F::Term term) { return std::abs(form_.of(term)[d]); };
    for (F::Term term : {F::X1, F::X2, F::XY, F::Y1, F::Y2})
      if (of(term) != 0 && !(of(term) >= kLeast && of(term) <= kMost))
        return "a coefficient is beyond 1e-30 to 1e30 in dimension " + std::to_string(d);
    for (F::Term term : {F::ErrorY1, F::ErrorY2, F::LargestY1, F::LargestY2})
      if (of(term) > kMost)
        return "a coefficient is beyond 1e30 in dimension " + std::to_string(d);
  }
  // |Y| <= s / 2 + Y² / (2 s): what a row's part is off, and its largest, as Σ c Y² + constant.
  std::vector<double> error(dims);
  const double sums = (form_.dims + 16) * 0x1p-23;
  double constantError = 0, constantLargest = 0, ratio = 0;
  for (size_t d = 0; d < dims; ++d) {
    const auto of = [&](F::Term term) { return std::abs(form_.of(term)[d]); };
    const double s = spread[d], error1 = of(F::ErrorY1) + sums * of(F::Y1) + 0x1p-124;
    const double largest = of(F::LargestY2) + of(F::LargestY1) / (2 * s);
    error[d] = of(F::ErrorY2) + sums * of(F::Y2) + error1 / (2 * s);
    error[d] = std::max(error[d], kPerLargest * largest);
    constantError += error1 * s / 2;
    constantLargest += of(F::LargestY1) * s / 2;
    if (of(F::XY) != 0)
      ratio = std::max(ratio, error[d] / of(F::XY));
  }
  // One sum serves all: cross is no less than |xy|, nor than error / ratio.
  ratio = std::clamp(ratio, 0x1p-22, 0x1p-9);
  terms_.resize(dims);
  for (size_t d = 0; d < dims; ++d) {
    const auto of = [&](F::Term term) { return form_.of(term)[d]; };
    const double cross = std::max(std::abs(of(F::XY)), error[d] / ratio);
    terms_[d] = {float(of(F::Shift)), float(of(F::Y1)), float(of(F::Y2)), roundedUp(cross * kUp)};
  }
  product_ = roundedUp(0x1p-7 + 0x1p-16 + 0x1p-20 + (form_.dims + 64) * 0x1p-23);
  error_ = roundedUp(ratio * kUp);
  constantError_ = roundedUp(constantError * kUp);
  limit_ = float(std::min(form_.limit / 8 * kPerLargest / ratio, 1e36) / kUp);
  if (!(form_.largest <= form_.limit / 4 && constantLargest <= form_.limit / 8 &&
        constantError <= 1e30))
    return "its constants are beyond what a bound allows for";
  return "";
}

void MatrixScan::setQueries(const QueryCoordinates &queries, int64_t count, int threads) {
  constexpr int64_t kTogether = 64;
  factors_.assign(size_t(count) * size_t(stepsOf(form_.dims)) * kStepDims, 0);
  base_.resize(size_t(count));
  norm_.resize(size_t(count));
  parallelFor(threads, (count + kTogether - 1) / kTogether, [&](int64_t t, int) {
    for (int64_t i = t * kTogether; i < std::min(count, (t + 1) * kTogether); ++i)
      setQuery(static_cast<const float *>(queries.row(i)), i);
  });
}

void MatrixScan::setQuery(const float *x, int64_t i) {
  const auto dims = size_t(form_.dims);
  const BoundPart part = queryPart(form_, {x, dims});
  const double *const shift = form_.of(BoundForm::Shift), *const cross = form_.of(BoundForm::XY);
  uint16_t *const factors = &factors_[size_t(i) * size_t(stepsOf(form_.dims)) * kStepDims];
  double squared = 0, sum = 0;
  for (size_t d = 0; d < dims; ++d) {
    const double X = double(x[d]) - shift[d], factor = cross[d] * X;
    squared += std::abs(factor * X);
    sum += std::abs(factor);
    factors[d] = toBfloat(float(factor));
  }
  // What is flushed to 0, in products and before.
  const double underflow = (4 * form_.dims + 256) * 0x1p-126 + sum * 0x1p-125;
  const double base =
      form_.constant + part.value - (form_.error + part.error + underflow) * (1 + 0x1p-40);
  const bool holds = part.largest <= form_.limit / 4 && squared <= 1e36 && std::abs(base) <= 1e37;
  base_[size_t(i)] = holds ? roundedDown(base - std::abs(base) * 0x1p-20) : -kInfinity;
  norm_[size_t(i)] = holds ? roundedUp(std::sqrt(squared) * (1 + 0x1p-20)) : 0;
  if (!holds)
    std::fill_n(factors, dims, uint16_t(0));
}

void MatrixScan::run(const ScanKernel &kernel, const annudf_cpu_scan &scan, const int32_t *queries,
                     Tighten *tighten, Workspace &work) const {
  const int64_t groupBytes = int64_t(scan.words) * kGroupRows * 4;
  const int64_t rows = std::max<int64_t>(1, kBlockBytes / groupBytes) * kGroupRows;
  for (int64_t begin = 0; begin < scan.size; begin += rows) {
    annudf_cpu_scan block = scan;
    block.rows = scan.rows + begin * scan.words;
    block.ids = scan.ids + begin;
    block.size = std::min(rows, scan.size - begin);
    if (begin + rows < scan.size)
      block.ahead = scan.rows + (begin + rows) * scan.words;
    if (scan.pass)
      block.pass = scan.pass + begin / kGroupRows;
    runBlock(kernel, block, queries, tighten, work);
  }
}

void MatrixScan::runBlock(const ScanKernel &kernel, const annudf_cpu_scan &scan,
                          const int32_t *queries, Tighten *tighten, Workspace &work) const {
  const auto groups = int32_t((scan.size + kGroupRows - 1) / kGroupRows);
  const int32_t rows = groups * kGroupRows, steps = stepsOf(form_.dims);
  const size_t width = size_t(steps) * kStepDims;
  work.pairs.resize(size_t(rows) * width / 2);
  work.base.resize(size_t(rows));
  work.norm.resize(size_t(rows));
  kernels_->convert({scan.rows, groups, scan.words, form_.dims, terms_.data(), product_, error_,
                     constantError_, limit_, work.pairs.data(), work.base.data(),
                     work.norm.data()});
  // Rows that do not exist, or that the filter leaves out, are beyond every limit.
  for (int32_t row = 0; row < rows; ++row)
    if (!exists(scan, row))
      work.base[size_t(row)] = kInfinity, work.norm[size_t(row)] = 0;

  // While queries see the block, the next one comes nearer: each fetches its share.
  const auto *next = reinterpret_cast<const char *>(scan.ahead);
  const int64_t share = int64_t(rows) * scan.words * 4 / scan.queries / kLineBytes + 1;
  const auto fetch = [&] {
    for (int64_t line = 0; line < share; ++line, next += kLineBytes)
      __builtin_prefetch(next, 0, 2);
  };
  constexpr int32_t kTogether = kQueryTiles * kTileRows;
  work.queries.resize(kTogether * width);
  work.scores.resize(size_t(kTogether) * size_t(rows));
  work.which.resize(size_t(rows));
  work.bounds.resize(size_t(rows));
  for (int32_t first = 0; first < scan.queries; first += kTogether) {
    const int32_t count = std::min(kTogether, scan.queries - first);
    const int32_t tiles = (count + kTileRows - 1) / kTileRows;
    for (int32_t i = 0; i < count; ++i)
      std::memcpy(&work.queries[size_t(i) * width], &factors_[size_t(queries[first + i]) * width],
                  width * sizeof(uint16_t));
    std::fill_n(work.queries.begin() + int64_t(size_t(count) * width),
                size_t(tiles * kTileRows - count) * width, uint16_t(0));
    kernels_->multiply(work.queries.data(), tiles, work.pairs.data(), 2 * groups, steps,
                       work.scores.data());
    for (int32_t i = 0; i < count; ++i) {
      fetch();
      take(kernel, scan, first + i, queries[first + i], &work.scores[size_t(i) * size_t(rows)],
           tighten, work);
    }
  }
}

/// The rows of a block that the bound does not rule out for the scan's i-th query. Where there is
/// no limit yet those with some of the best bounds come first: what they give is a limit for the
/// rest.
void MatrixScan::take(const ScanKernel &kernel, const annudf_cpu_scan &scan, int32_t i,
                      int32_t query, const float *scores, Tighten *tighten, Workspace &work) const {
  const auto sign = float(form_.sign);
  const auto rows = int32_t(work.base.size());
  const float base = base_[size_t(query)], norm = norm_[size_t(query)];
  Exactly exactly(kernel, scan, i, work);
  int32_t chosen[kGroupRows], n = 0;
  const auto compute = [&] {
    if (n == 0)
      return;
    exactly.compute(chosen, n);
    if (evaluated_)
      evaluated_->fetch_add(n, std::memory_order_relaxed);
    scan.limit[i] = tighten(scan.sink, i);
    n = 0;
  };
  const auto upTo = [&](float limit, auto isDone) {
    const int32_t count =
        kernels_->survivors(scores, work.base.data(), work.norm.data(), rows, base, norm, limit,
                            work.which.data(), work.bounds.data());
    for (int32_t c = 0; c < count; ++c) {
      const float bound = work.bounds[size_t(c)];
      if (isDone(bound) || bound > sign * scan.limit[i] || !exists(scan, work.which[size_t(c)]))
        continue;
      chosen[n++] = work.which[size_t(c)];
      if (n == kGroupRows)
        compute();
    }
    compute();
  };
  if (sign * scan.limit[i] < kInfinity)
    return upTo(sign * scan.limit[i], [](float) { return false; });
  float least[kTileRows];
  kernels_->sample(scores, work.base.data(), work.norm.data(), rows, base, norm, least);
  std::sort(least, least + kTileRows);
  const float first = least[std::min(selected_, kTileRows) - 1];
  upTo(first, [](float) { return false; });
  upTo(sign * scan.limit[i], [=](float bound) { return !(bound > first); });
}

} // namespace annudf::runtime::cpu
