//===- Coarse.cpp - Ranking the lists of an index for a query ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/coarse/Coarse.h"

#include "../../kernels/Orders.h"
#include "annudf/Support/Error.h"
#include "annudf/runtime/support/Parallel.h"
#include "coarse/CoarseKernel.h"
#include "vectors/Elements.h"
#include "vectors/Missing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <new>
#include <utility>

namespace annudf::runtime {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
/// Rows whose keys are kept at a time, so that they stay in the second-level cache.
constexpr int64_t kRows = 32;

std::shared_ptr<float> alignedFloats(size_t count) {
  constexpr std::align_val_t alignment{64};
  auto *memory = static_cast<float *>(::operator new(count * sizeof(float), alignment));
  return std::shared_ptr<float>(memory, [](float *p) { ::operator delete(p, alignment); });
}

/// Key and list in one integer that compares as (key, list) does.
using Candidate = uint64_t;

Candidate candidateOf(float key, uint32_t list) {
  // NaN counts as the worst key; adding zero makes -0 and +0 one key.
  const auto bits = std::bit_cast<uint32_t>(key < kInfinity ? key + 0.0f : kInfinity);
  const uint32_t ordered = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
  return Candidate(ordered) << 32 | list;
}

/// The lists that may be among the `wanted` best.
struct Shortlist {
  std::vector<float> least;
  std::vector<uint32_t> lists;
  std::vector<Candidate> candidates;
};

/// The wanted-th smallest of 64 values. No branch depends on a value: such branches, all
/// mispredicted, are what makes selecting a few of a few slow.
constexpr uint32_t kFew = 64;
float nthOfFew(const float *values, uint32_t wanted) {
  float nth = kInfinity;
  for (uint32_t j = 0; j < kFew; ++j) {
    int notAbove = 0;
    for (uint32_t k = 0; k < kFew; ++k)
      notAbove += values[k] <= values[j];
    if (notAbove >= int(wanted) && values[j] < nth)
      nth = values[j];
  }
  return nth;
}

/// A key that at least `wanted` of the keys do not exceed, and few more: the wanted-th
/// smallest of the minima of a multiple of kFew groups, at least twice as many as wanted.
float upperBound(const float *keys, uint32_t count, uint32_t wanted, std::vector<float> &least) {
  const uint32_t groups = (2 * wanted + kFew - 1) / kFew * kFew;
  if (count < 2 * groups)
    return kInfinity;
  least.assign(groups, kInfinity);
  for (uint32_t i = 0; i < count; i += groups) {
    float *minima = least.data();
    for (uint32_t j = 0, end = std::min(groups, count - i); j < end; ++j)
      minima[j] = keys[i + j] < minima[j] ? keys[i + j] : minima[j];
  }
  if (groups == kFew)
    return nthOfFew(least.data(), wanted);
  std::nth_element(least.begin(), least.begin() + wanted - 1, least.end());
  return least[wanted - 1];
}

/// Picks the `wanted` smallest of the first `count` keys. Sorting dominated the coarse
/// stage once; with a bound found first, only a few more keys than wanted are sorted.
void pickSmallest(const float *keys, uint32_t count, uint32_t wanted, Shortlist &memory,
                  uint32_t *out) {
  const float bound = upperBound(keys, count, wanted, memory.least);
  memory.lists.resize(count);
  uint32_t *lists = memory.lists.data(), found = 0;
  for (uint32_t i = 0; i < count; ++i) {
    lists[found] = i;
    found += !(keys[i] > bound); // NaN stays in, so that there are always enough.
  }
  std::vector<Candidate> &candidates = memory.candidates;
  candidates.resize(found);
  for (uint32_t i = 0; i < found; ++i)
    candidates[i] = candidateOf(keys[lists[i]], lists[i]);
  if (found > 2 * wanted)
    std::nth_element(candidates.begin(), candidates.begin() + wanted, candidates.end());
  std::sort(candidates.begin(),
            found > 2 * wanted ? candidates.begin() + wanted : candidates.end());
  for (uint32_t j = 0; j < wanted; ++j)
    out[j] = static_cast<uint32_t>(candidates[j]);
}

/// A point amid the centers; which one changes no rank. Each coordinate is the mean rounded
/// to the largest power of two within the centers' range: near enough to them, and integers
/// stay integers, so that keys of such data remain exact.
std::vector<float> originOf(const float *centers, uint32_t nLists, int32_t dims) {
  const auto width = static_cast<size_t>(dims);
  std::vector<double> sum(width);
  std::vector<float> least(width, kInfinity), most(width, -kInfinity), origin(width);
  for (uint32_t c = 0; c < nLists; ++c)
    for (size_t d = 0; d < width; ++d) {
      const float value = centers[c * width + d];
      sum[d] += value;
      least[d] = std::min(least[d], value);
      most[d] = std::max(most[d], value);
    }
  for (size_t d = 0; d < width; ++d) {
    const double mean = sum[d] / nLists, range = double(most[d]) - least[d];
    const double step = range > 0 ? std::exp2(std::floor(std::log2(range))) : 0;
    const auto value = static_cast<float>(step > 0 ? std::rint(mean / step) * step : mean);
    origin[d] = std::isfinite(value) ? value : 0;
  }
  return origin;
}

} // namespace

CoarseRanker::CoarseRanker(const float *centers, uint32_t nLists, int32_t dims,
                           annudf_coarse metric, annudf_order order, std::vector<float> fill)
    : nLists_(nLists), dims_(dims), panels_((int64_t(nLists) + kPanel - 1) / kPanel),
      fill_(std::move(fill)) {
  const size_t factorCount = static_cast<size_t>(panels_) * kPanel * dims;
  const auto memory = alignedFloats(factorCount + static_cast<size_t>(stride()));
  float *factors = memory.get(), *biases = factors + factorCount;
  std::fill(factors, biases, 0.0f);
  std::fill(biases, biases + stride(), kInfinity);
  // Smallest key is best: the order's sign goes into the center.
  const double sign = annudf_kernels::isLargestBest(order) ? -1 : 1;
  if (metric == ANNUDF_COARSE_L2)
    origin_ = originOf(centers, nLists, dims);
  std::vector<double> center(static_cast<size_t>(dims));
  for (uint32_t c = 0; c < nLists; ++c) {
    double norm = 0;
    for (size_t d = 0; d < center.size(); ++d) {
      center[d] = centers[c * center.size() + d];
      if (!origin_.empty())
        center[d] -= origin_[d];
      norm += center[d] * center[d];
    }
    double scale = 0, bias = 0;
    switch (metric) {
    case ANNUDF_COARSE_L2: // |q|^2 is the same for all lists and left out.
      scale = -2 * sign, bias = sign * norm;
      break;
    case ANNUDF_COARSE_INNER_PRODUCT:
      scale = sign;
      break;
    case ANNUDF_COARSE_COSINE: // 1 - cos; a center of length 0 has cos 0. |q| > 0 changes no rank.
      scale = norm > 0 ? -sign / std::sqrt(norm) : 0;
      break;
    }
    float *column = factors + int64_t(c) / kPanel * kPanel * dims + c % kPanel;
    for (int32_t d = 0; d < dims; ++d)
      column[int64_t(d) * kPanel] = static_cast<float>(scale * center[static_cast<size_t>(d)]);
    biases[c] = static_cast<float>(bias);
  }
  factors_ = memory;
}

void CoarseRanker::copyFactors(float *factors, int64_t stride) const {
  for (uint32_t c = 0; c < nLists_; ++c)
    for (int32_t d = 0; d < dims_; ++d)
      factors[c * stride + d] =
          factors_.get()[(int64_t(c) / kPanel * dims_ + d) * kPanel + c % kPanel];
}

void CoarseRanker::keys(const MatrixView &rows, int64_t begin, int64_t end, float *scratch,
                        float *out) const {
  convertRows(rows, begin, end, scratch);
  fillMissing(scratch, end - begin, fill_);
  if (!origin_.empty())
    for (int64_t r = 0; r < end - begin; ++r)
      for (int32_t d = 0; d < dims_; ++d)
        scratch[r * dims_ + d] -= origin_[static_cast<size_t>(d)];
  coarseKeys({scratch, end - begin, dims_, panels_, factors_.get(), biases(), out});
}

namespace {

/// Scratch of one worker of rank() and assign().
struct Scratch {
  std::vector<float> rows, keys;
  Shortlist shortlist;
};

} // namespace

void CoarseRanker::rank(const MatrixView &queries, uint32_t nProbes, uint32_t *probes,
                        int threads) const {
  if (queries.dims != dims_ || nProbes == 0 || nProbes > nLists_)
    throw Error(ErrorKind::Usage, "coarse ranking of " + std::to_string(nProbes) + " among " +
                                      std::to_string(nLists_) + " lists, queries of " +
                                      std::to_string(queries.dims) + " dims against " +
                                      std::to_string(dims_));
  std::vector<Scratch> scratch(static_cast<size_t>(resolveThreads(threads)));
  parallelFor(threads, (queries.rows + kRows - 1) / kRows, [&](int64_t task, int worker) {
    const int64_t begin = task * kRows, end = std::min(begin + kRows, queries.rows);
    Scratch &s = scratch[static_cast<size_t>(worker)];
    s.rows.resize(static_cast<size_t>((end - begin) * dims_));
    s.keys.resize(static_cast<size_t>((end - begin) * stride()));
    keys(queries, begin, end, s.rows.data(), s.keys.data());
    for (int64_t q = begin; q < end; ++q)
      pickSmallest(s.keys.data() + (q - begin) * stride(), nLists_, nProbes, s.shortlist,
                   probes + q * nProbes);
  });
}

void CoarseRanker::assign(const MatrixView &rows, uint32_t *lists, int threads) const {
  if (rows.dims != dims_)
    throw Error(ErrorKind::Usage, "rows of " + std::to_string(rows.dims) +
                                      " dims against centers of " + std::to_string(dims_));
  std::vector<Scratch> scratch(static_cast<size_t>(resolveThreads(threads)));
  constexpr int64_t kTask = 8 * kRows;
  parallelFor(threads, (rows.rows + kTask - 1) / kTask, [&](int64_t task, int worker) {
    Scratch &s = scratch[static_cast<size_t>(worker)];
    s.rows.resize(static_cast<size_t>(kRows * dims_));
    s.keys.resize(static_cast<size_t>(kRows * stride()));
    const int64_t taskEnd = std::min((task + 1) * kTask, rows.rows);
    for (int64_t begin = task * kTask; begin < taskEnd; begin += kRows) {
      const int64_t end = std::min(begin + kRows, taskEnd);
      keys(rows, begin, end, s.rows.data(), s.keys.data());
      for (int64_t r = begin; r < end; ++r)
        lists[r] = indexOfSmallest(s.keys.data() + (r - begin) * stride(), stride());
    }
  });
}

} // namespace annudf::runtime
