//===- ProductScan.cpp - A proved form as products of matrices ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// docs/spec/numerics.md, "On the CPU", derives the constants.
//
//===----------------------------------------------------------------------===//

#include "ProductScan.h"
#include "cpu/search/Batch.h"

#include "annudf/runtime/rows/RowStore.h"
#include "annudf/runtime/support/Parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <tuple>

namespace annudf::runtime::cpu {

static_assert(kGroupRows == 2 * kTileRows);

namespace {

/// Bytes of the rows that are looked at together: they and what they become stay in the L2 cache.
constexpr int64_t kBlockBytes = int64_t(256) << 10;
constexpr int64_t kLineBytes = 64; ///< A cache line's.
/// Tiles of queries multiplied together.
constexpr int32_t kQueryTiles = 2;
constexpr int32_t kTogether = kQueryTiles * kTileRows;
/// A block of rows that are kept is this many.
constexpr int64_t kKeptRows = 512;

float roundedDown(double value) { return std::nextafter(float(value), -kInfinity); }

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
          ProductScan::Workspace &work)
      : kernel_(kernel), block_(block), sink_{&block, query}, work_(work), scan_(block) {
    scan_.queries = 1;
    scan_.x = block.x + query;
    scan_.integers = block.integers + query;
    scan_.query = block.query + query;
    scan_.limit = block.limit + query;
    scan_.push = OneQuery::take;
    scan_.sink = &sink_;
    scan_.ahead = block.rows;
    scan_.queryPass = nullptr; // Rows that do not pass are not asked for.
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
    scan_.numbers = block_.numbers + int64_t(group) * kGroupRows;
    scan_.size = std::min<int64_t>(kGroupRows, block_.size - int64_t(group) * kGroupRows);
    scan_.pass = &pass;
    kernel_.run(scan_);
  }

  void together(const int32_t *rows, int32_t count) {
    int64_t ids[kGroupRows], numbers[kGroupRows];
    work_.words.resize(size_t(block_.words) * kGroupRows);
    for (int32_t i = 0; i < count; ++i) {
      const uint32_t *from = block_.rows +
                             rows[i] / kGroupRows * int64_t(block_.words) * kGroupRows +
                             rows[i] % kGroupRows;
      ids[i] = block_.ids[rows[i]], numbers[i] = block_.numbers[rows[i]];
      for (int32_t w = 0; w < block_.words; ++w)
        work_.words[size_t(w) * kGroupRows + size_t(i)] = from[int64_t(w) * kGroupRows];
    }
    scan_.rows = work_.words.data();
    scan_.ids = ids, scan_.numbers = numbers;
    scan_.size = count;
    scan_.pass = nullptr;
    kernel_.run(scan_);
  }

  const ScanKernel &kernel_;
  const annudf_cpu_scan &block_;
  OneQuery sink_;
  ProductScan::Workspace &work_;
  annudf_cpu_scan scan_;
};

} // namespace

void ProductScan::setQueries(const QueryCoordinates &queries, int64_t count, int threads) {
  constexpr int64_t kTogether = 64;
  factors_.assign(size_t(count) * size_t(stepsOf(form_->dims)) * kStepDims, 0);
  bounds_.resize(size_t(count));
  slack_.resize(size_t(count));
  if (limits_)
    lastLimits_ = std::make_unique<std::atomic<uint64_t>[]>(size_t(count));
  parallelFor(threads, (count + kTogether - 1) / kTogether, [&](int64_t t, int) {
    for (int64_t i = t * kTogether; i < std::min(count, (t + 1) * kTogether); ++i)
      if (shared_->ratio)
        setQueryOfRatio(static_cast<const float *>(queries.row(i)), i);
      else
        setQuery(static_cast<const float *>(queries.row(i)), i);
  });
}

/// Y is off by ratio times its norm, and then the factors by what they lose.
double ProductScan::productNorm(double squared, double lost) const {
  const double ratio = kept_ ? double(kept_->ratio) : double(kMostRatio);
  return std::sqrt(squared) * (ratio + shared_->product) + std::sqrt(lost) * (1 + ratio);
}

void ProductScan::setQuery(const float *x, int64_t i) {
  const auto dims = size_t(form_->dims);
  const BoundPart part = queryPart(*form_, {x, dims});
  const double *const shift = form_->of(BoundForm::Shift), *const cross = form_->of(BoundForm::XY),
                      *const inverse = shared_->inverse.data();
  uint16_t *const factors = &factors_[size_t(i) * size_t(stepsOf(form_->dims)) * kStepDims];
  double squared = 0, sum = 0, lost = 0;
  for (size_t d = 0; d < dims; ++d) {
    const double X = double(x[d]) - shift[d], factor = cross[d] * X;
    squared += std::abs(factor * X);
    sum += std::abs(factor);
    factors[d] = toBfloat(float(factor));
    const double off = factor - double(fromBfloat(factors[d]));
    lost += off * off * inverse[d];
  }
  // What is flushed to 0, in products and before.
  const double underflow = (4 * form_->dims + 256) * 0x1p-126 + sum * 0x1p-125;
  const double error = (form_->error + part.error + underflow) * (1 + 0x1p-40);
  const double base = form_->constant + part.value - error;
  const bool holds = part.largest <= form_->limit / 4 && squared <= 1e36 && std::abs(base) <= 1e37;
  const double norm = productNorm(squared, lost);
  bounds_[size_t(i)] = {holds ? roundedDown(base - std::abs(base) * 0x1p-20) : -kInfinity,
                        holds ? roundedUp(norm * (1 + 0x1p-9)) : 0, 0};
  slack_[size_t(i)] =
      holds ? roundedUp(2 * error + std::abs(base) * 0x1p-18 + 0x1p-100) : kInfinity;
  if (!holds)
    std::fill_n(factors, dims, uint16_t(0));
}

/// P is sign Σ factor (Y + m), so a query gives the sum of factors and shift.
void ProductScan::setQueryOfRatio(const float *x, int64_t i) {
  const auto dims = size_t(form_->dims);
  const RatioPart part = queryPart(*shared_->ratio, {x, dims});
  const double *const shift = form_->of(BoundForm::Shift), *const cross = form_->of(BoundForm::XY),
                      *const inverse = shared_->inverse.data();
  uint16_t *const factors = &factors_[size_t(i) * size_t(stepsOf(form_->dims)) * kStepDims];
  const double length = part.holds ? std::sqrt(part.square) : 1;
  double squared = 0, constant = 0, lost = 0;
  for (size_t d = 0; d < dims; ++d) {
    const double factor = cross[d] * ((double(x[d]) - part.mean) / length);
    squared += factor * factor * inverse[d];
    constant += factor * shift[d];
    factors[d] = toBfloat(float(factor));
    const double off = factor - double(fromBfloat(factors[d]));
    lost += off * off * inverse[d];
  }
  slack_[size_t(i)] = 0;
  if (part.holds && squared <= 1e36 && std::abs(constant) <= 1e37) {
    // What is flushed to 0 is less than the last.
    const double norm = productNorm(squared, lost) * (1 + 0x1p-9) + 0x1p-60;
    bounds_[size_t(i)] = {float(constant), roundedUp(norm), shared_->ratioError};
    return;
  }
  bounds_[size_t(i)] = {0, kInfinity, 0};
  std::fill_n(factors, dims, uint16_t(0));
}

bool ProductScan::setFinalize(const ScanKernel &kernel, annudf_order order, const uint64_t *slots,
                              int32_t query) {
  if (!shared_->ratio)
    return true;
  limits_.emplace(kernel, *shared_->ratio, order, slots, query);
  return limits_->areNumbers();
}

Survivors::Widen ProductScan::widen() const {
  if (!limits_)
    return nullptr;
  return [limits = *limits_](float limit) { return limits.ofRatio(limit); };
}

float ProductScan::limitOf(int32_t query, float distance) const {
  if (!limits_)
    return float(form_->sign) * distance;
  // Most ask for that of the distance that was asked for before. All 0 is that of none.
  std::atomic<uint64_t> &last = lastLimits_[size_t(query)];
  const uint64_t known = last.load(std::memory_order_relaxed);
  const auto bits = std::bit_cast<uint32_t>(distance);
  if (known != 0 && uint32_t(known >> 32) == bits)
    return std::bit_cast<float>(uint32_t(known));
  const float limit = limits_->ofDistance(distance);
  last.store(uint64_t(bits) << 32 | std::bit_cast<uint32_t>(limit), std::memory_order_relaxed);
  return limit;
}

void ProductScan::run(const ScanKernel &kernel, const annudf_cpu_scan &scan, const int32_t *queries,
                      Tighten *tighten, Workspace &work) const {
  const int64_t groupBytes = int64_t(scan.words) * kGroupRows * 4;
  const int64_t rows = std::max<int64_t>(1, kBlockBytes / groupBytes) * kGroupRows;
  for (int64_t begin = 0; begin < scan.size; begin += rows) {
    annudf_cpu_scan block = scan;
    block.rows = scan.rows + begin * scan.words;
    block.ids = scan.ids + begin, block.numbers = scan.numbers + begin;
    block.size = std::min(rows, scan.size - begin);
    if (begin + rows < scan.size)
      block.ahead = scan.rows + (begin + rows) * scan.words;
    takePass(block, scan, begin / kGroupRows);
    runBlock(kernel, block, queries, tighten, work);
  }
}

/// Up to kTogether of them, where multiply() reads them.
void ProductScan::takeQueries(const int32_t *queries, int32_t count, Workspace &work) const {
  const size_t width = size_t(stepsOf(form_->dims)) * kStepDims, bytes = kernels_->queryBytes;
  work.queries.resize(kTogether * width * bytes);
  for (int32_t i = 0; i < count; ++i) {
    const uint16_t *const from = &factors_[size_t(queries[i]) * width];
    std::byte *const to = &work.queries[size_t(i) * width * bytes];
    if (bytes == sizeof(uint16_t)) {
      std::memcpy(to, from, width * bytes);
      continue;
    }
    for (size_t d = 0; d < width; ++d) {
      const float factor = fromBfloat(from[d]);
      std::memcpy(to + d * sizeof(float), &factor, sizeof(float));
    }
  }
  const int32_t whole = (count + kTileRows - 1) / kTileRows * kTileRows;
  std::fill_n(work.queries.begin() + int64_t(size_t(count) * width * bytes),
              size_t(whole - count) * width * bytes, std::byte(0));
}

void ProductScan::runBlock(const ScanKernel &kernel, const annudf_cpu_scan &scan,
                           const int32_t *queries, Tighten *tighten, Workspace &work) const {
  const auto groups = int32_t(groupsOf(scan.size));
  const int32_t rows = groups * kGroupRows, steps = stepsOf(form_->dims);
  const size_t width = size_t(steps) * kStepDims;
  work.pairs.resize(size_t(rows) * width / 2);
  work.base.resize(size_t(rows));
  work.norm.resize(size_t(rows));
  kernels_->convert(shared_->block(scan.rows, groups, scan.words, work.pairs.data(),
                                   work.base.data(), work.norm.data()));
  // Rows that do not exist, or that the filter leaves out, are beyond every limit.
  for (int32_t row = 0; row < rows; ++row)
    if (!exists(scan, row))
      shared_->setNoRow(work.base[size_t(row)], work.norm[size_t(row)]);

  // While queries see the block, the next one comes nearer: each fetches its share.
  const auto *next = reinterpret_cast<const char *>(scan.ahead);
  const int64_t share = int64_t(rows) * scan.words * 4 / scan.queries / kLineBytes + 1;
  const auto fetch = [&] {
    for (int64_t line = 0; line < share; ++line, next += kLineBytes)
      __builtin_prefetch(next, 0, 2);
  };
  work.scores.resize(size_t(kTogether) * size_t(rows));
  work.which.resize(size_t(rows));
  work.bounds.resize(size_t(rows));
  for (int32_t first = 0; first < scan.queries; first += kTogether) {
    const int32_t count = std::min(kTogether, scan.queries - first);
    takeQueries(queries + first, count, work);
    kernels_->multiply(work.queries.data(), count, work.pairs.data(), 2 * groups, steps,
                       work.scores.data());
    for (int32_t i = 0; i < count; ++i) {
      fetch();
      take(kernel, scan, first + i, queries[first + i], &work.scores[size_t(i) * size_t(rows)],
           tighten, work);
    }
  }
}

/// Up to which bound some of the best rows of a block are found, where a query has no limit yet.
float ProductScan::boundOfBest(int32_t query, const float *scores, const float *base,
                               const float *norm, int32_t rows, const uint32_t *passing) const {
  float least[kTileRows];
  loops_->sample(scores, base, norm, rows, passing, bounds_[size_t(query)], least);
  std::sort(least, least + kTileRows);
  return least[std::min(selected_, kTileRows) - 1];
}

/// The rows of a block that the bound does not rule out for the scan's i-th query. Where there is
/// no limit yet those with some of the best bounds come first: what they give is a limit for the
/// rest.
void ProductScan::take(const ScanKernel &kernel, const annudf_cpu_scan &scan, int32_t i,
                       int32_t query, const float *scores, Tighten *tighten,
                       Workspace &work) const {
  const auto rows = int32_t(work.base.size());
  const uint32_t *const passing = passingOf(scan, i, work.passing);
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
        loops_->survivors(scores, work.base.data(), work.norm.data(), rows, passing,
                          bounds_[size_t(query)], limit, work.which.data(), work.bounds.data());
    for (int32_t c = 0; c < count; ++c) {
      const float bound = work.bounds[size_t(c)];
      if (isDone(bound) || bound > limitOf(query, scan.limit[i]) ||
          !passes(scan, i, work.which[size_t(c)]))
        continue;
      chosen[n++] = work.which[size_t(c)];
      if (n == kGroupRows)
        compute();
    }
    compute();
  };
  if (const float limit = limitOf(query, scan.limit[i]); limit < kInfinity)
    return upTo(limit, [](float) { return false; });
  const float first = boundOfBest(query, scores, work.base.data(), work.norm.data(), rows, passing);
  upTo(first, [](float) { return false; });
  upTo(limitOf(query, scan.limit[i]), [=](float bound) { return !(bound > first); });
}

/// A row's part of what is between its bounds is twice its error, and more than is lost beside.
float ProductScan::upperBound(int32_t query, float lower, float base, float norm) const {
  const QueryBound &bound = bounds_[size_t(query)];
  const float error = shared_->ratio ? bound.error
                                     : norm * norm * shared_->error + shared_->constantError +
                                           std::abs(base) * 0x1p-18f;
  const float between = bound.norm * norm + error;
  const float upper = lower + (between * (2 + 0x1p-5f) + slack_[size_t(query)]);
  // The comparison with a value that is not finite is false.
  return std::abs(lower) <= 1e37f && upper <= 1e37f ? upper + std::abs(upper) * 0x1p-21f
                                                    : kInfinity;
}

void ProductScan::collect(const annudf_cpu_scan &scan, Place place, const int32_t *queries,
                          Survivors &found, const Compute &compute, Workspace &work) const {
  for (int64_t begin = 0; begin < scan.size; begin += kKeptRows) {
    annudf_cpu_scan block = scan;
    block.size = std::min(kKeptRows, scan.size - begin);
    takePass(block, scan, begin / kGroupRows);
    collectBlock(block, {place.list, place.row + begin}, queries, found, compute, work);
  }
}

void ProductScan::collectBlock(const annudf_cpu_scan &block, Place place, const int32_t *queries,
                               Survivors &found, const Compute &compute, Workspace &work) const {
  const int64_t firstRow = kept_->pairs->firstGroup[place.list] * kGroupRows + place.row;
  const auto groups = int32_t(groupsOf(block.size));
  const int32_t rows = groups * kGroupRows, steps = stepsOf(form_->dims);
  // Their lines stand one after the other, so nothing has to fetch them ahead.
  const uint32_t *const pairs = kept_->pairs->words.data() + firstRow * steps * (kStepDims / 2);
  const float *const base = kept_->base.data() + firstRow;
  const float *const norm = kept_->norm.data() + firstRow;
  work.scores.resize(size_t(kTogether) * size_t(rows));
  work.which.resize(size_t(rows));
  work.bounds.resize(size_t(rows));
  for (int32_t first = 0; first < block.queries; first += kTogether) {
    const int32_t count = std::min(kTogether, block.queries - first);
    takeQueries(queries + first, count, work);
    kernels_->multiply(work.queries.data(), count, pairs, 2 * groups, steps, work.scores.data());
    for (int32_t i = 0; i < count; ++i) {
      const int32_t query = queries[first + i];
      const float *const scores = &work.scores[size_t(i) * size_t(rows)];
      const uint32_t *const passing = passingOf(block, first + i, work.passing);
      // Those of bounds that are not above the limit, and that none was asked for before.
      const auto upTo = [&](float limit, auto isDone) {
        const int32_t n =
            loops_->survivors(scores, base, norm, rows, passing, bounds_[size_t(query)], limit,
                              work.which.data(), work.bounds.data());
        work.rows.clear();
        for (int32_t c = 0; c < n; ++c) {
          const int32_t row = work.which[size_t(c)];
          const float lower = work.bounds[size_t(c)];
          if (!isDone(lower) && passes(block, first + i, row))
            work.rows.push_back({lower > -kInfinity ? lower : -kInfinity, // NaN too.
                                 upperBound(query, lower, base[row], norm[row]), place.list,
                                 uint32_t(place.row + row)});
        }
        if (!work.rows.empty())
          found.add(query, work.rows,
                    [&](std::span<Survivors::Row> full) { return compute(query, full); });
      };
      if (found.limit(query) < kInfinity) {
        upTo(found.limit(query), [](float) { return false; });
        continue;
      }
      const float few = boundOfBest(query, scores, base, norm, rows, passing);
      upTo(few, [](float) { return false; });
      found.tighten(query);
      upTo(found.limit(query), [=](float lower) { return !(lower > few); });
    }
  }
}

/// Where a row's first word is, and how far from it the next.
std::pair<const uint32_t *, int64_t> ProductScan::wordsOf(const RowStore &index, int64_t words,
                                                          const Survivors::Row &row) const {
  const RowPairs &pairs = *kept_->pairs;
  if (pairs.plain.size() != 0)
    return {pairs.plain.data() + (pairs.firstGroup[row.list] * kGroupRows + row.row) * words, 1};
  return {index.list(row.list).words.data() + row.row / kGroupRows * words * kGroupRows +
              row.row % kGroupRows,
          kGroupRows};
}

void ProductScan::fetch(const RowStore &index, std::span<const Survivors::Row> rows) const {
  const int64_t words = index.words();
  for (const Survivors::Row &row : rows) {
    const auto [from, stride] = wordsOf(index, words, row);
    for (int64_t at = 0; at < words * stride; at += std::max(stride, kLineBytes / 4))
      __builtin_prefetch(from + at, 0, 2);
  }
}

float ProductScan::compute(const ScanKernel &kernel, const RowStore &index, annudf_cpu_scan scan,
                           int32_t query, std::span<Survivors::Row> rows, Tighten *tighten,
                           Workspace &work) const {
  if (rows.size() > kGroupRows)
    std::sort(rows.begin(), rows.end(),
              [](const auto &a, const auto &b) { return a.lower < b.lower; });
  const int64_t words = index.words();
  work.words.resize(size_t(words) * kGroupRows);
  int64_t ids[kGroupRows], numbers[kGroupRows];
  const uint32_t *from[kGroupRows];
  int64_t stride = 1;
  scan.rows = scan.ahead = work.words.data();
  scan.ids = ids, scan.numbers = numbers;
  scan.words = int32_t(words), scan.dims = index.dims();
  scan.pass = nullptr;
  scan.queries = 1;
  for (size_t begin = 0; begin < rows.size(); begin += kGroupRows) {
    const auto some = rows.subspan(begin, std::min<size_t>(kGroupRows, rows.size() - begin));
    const float limit = limitOf(query, *scan.limit);
    int32_t count = 0;
    for (const Survivors::Row &row : some) {
      if (row.lower > limit)
        continue;
      ids[count] = index.list(row.list).ids[row.row];
      numbers[count] = ids[count]; // A proved form reads no capture by row.
      std::tie(from[count++], stride) = wordsOf(index, words, row);
    }
    for (int64_t w = 0; w < words; ++w)
      for (int32_t i = 0; i < count; ++i)
        work.words[size_t(w * kGroupRows + i)] = from[i][w * stride];
    if (count == 0)
      continue;
    scan.size = count;
    kernel.run(scan);
    if (evaluated_)
      evaluated_->fetch_add(count, std::memory_order_relaxed);
    *scan.limit = tighten(scan.sink, 0);
  }
  return limitOf(query, *scan.limit);
}

} // namespace annudf::runtime::cpu
