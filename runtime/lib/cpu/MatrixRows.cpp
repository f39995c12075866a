//===- MatrixRows.cpp - What products of matrices keep of an index --------===//
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

#include "MatrixRows.h"

#include "annudf/runtime/ivf_flat/Index.h"
#include "annudf/runtime/support/Parallel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <string_view>

namespace annudf::runtime::cpu {

namespace {

/// Beside the errors of a row's part its largest counts for so much, so that those bound it.
constexpr double kPerLargest = 0x1p-40;
/// More than doubles lose in setTerms().
constexpr double kUp = 1 + 0x1p-30;
/// Groups that are converted together: what they become is soon written.
constexpr int64_t kGroupsOfTask = 64;

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

/// Fewer places of the shift leave more to rows: less it, whole numbers are whole still, and
/// bfloat16 holds small ones. A sixteenth of how far rows are from it is nothing.
void makeRound(std::vector<float> &mean, const std::vector<double> &spread) {
  for (size_t d = 0; d < mean.size(); ++d) {
    const double unit = std::exp2(std::floor(std::log2(spread[d])) - 2),
                 units = std::nearbyint(double(mean[d]) / unit);
    if (std::abs(units) < 0x1p23 && std::abs(units * unit) > 1e-20)
      mean[d] = float(units * unit);
  }
}

} // namespace

std::string MatrixForm::setTerms(const std::vector<double> &spread) {
  using F = BoundForm;
  constexpr double kMost = 1e30, kLeast = 1e-30;
  const auto dims = size_t(form.dims);
  for (size_t d = 0; d < dims; ++d) {
    const auto of = [&](F::Term term) { return std::abs(form.of(term)[d]); };
    for (F::Term term : {F::X1, F::X2, F::XY, F::Y1, F::Y2})
      if (of(term) != 0 && !(of(term) >= kLeast && of(term) <= kMost))
        return "a coefficient is beyond 1e-30 to 1e30 in dimension " + std::to_string(d);
    for (F::Term term : {F::ErrorY1, F::ErrorY2, F::LargestY1, F::LargestY2})
      if (of(term) > kMost)
        return "a coefficient is beyond 1e30 in dimension " + std::to_string(d);
  }
  // |Y| <= s / 2 + Y² / (2 s): what a row's part is off, and its largest, as Σ c Y² + constant.
  std::vector<double> error(dims);
  const double sums = (form.dims + 16) * 0x1p-23;
  double constantError = 0, constantLargest = 0, ratio = 0;
  for (size_t d = 0; d < dims; ++d) {
    const auto of = [&](F::Term term) { return std::abs(form.of(term)[d]); };
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
  terms.resize(dims);
  inverse.resize(dims);
  for (size_t d = 0; d < dims; ++d) {
    const auto of = [&](F::Term term) { return form.of(term)[d]; };
    const double cross = std::max(std::abs(of(F::XY)), error[d] / ratio);
    inverse[d] = of(F::XY) != 0 ? 1 / std::abs(of(F::XY)) : 0;
    terms[d] = {float(of(F::Shift)), float(of(F::Y1)), float(of(F::Y2)), roundedUp(cross * kUp)};
  }
  product = 0x1p-19 + (form.dims + 64) * 0x1p-23;
  least = 0x1p-120f;
  for (const RowTerms &term : terms)
    least += term.cross * 0x1p-98f;
  this->error = roundedUp(ratio * kUp);
  this->constantError = roundedUp(constantError * kUp);
  limit = float(std::min(form.limit / 8 * kPerLargest / ratio, 1e36) / kUp);
  if (!(form.largest <= form.limit / 4 && constantLargest <= form.limit / 8 &&
        constantError <= 1e30))
    return "its constants are beyond what a bound allows for";
  return "";
}

KeepRows mayKeepRows() {
  const char *given = std::getenv("ANNUDF_KEEP_ROWS");
  const std::string_view asked = given ? given : "";
  return asked == "0" ? KeepRows::None : asked == "bfloat16" ? KeepRows::Bfloat : KeepRows::All;
}

std::shared_ptr<const MatrixForm> MatrixRows::bind(const Index &index, const std::string &key,
                                                   const QuadraticForm &form,
                                                   const BoundCaptures &captures,
                                                   annudf_order order, std::string &whyNot) {
  std::call_once(looked_, [&] {
    mean_ = shiftOf(index);
    spread_ = spreadOf(index, mean_);
    makeRound(mean_, spread_);
  });
  bool made = false;
  const auto bound = bound_.get(
      key,
      [&]() -> std::shared_ptr<const Bound> {
        auto made = std::make_shared<Bound>();
        auto numbers = bindForm(form, captures, int32_t(mean_.size()), mean_, order, &made->whyNot);
        if (!numbers)
          return made;
        auto terms = std::make_shared<MatrixForm>();
        terms->form = *std::move(numbers);
        made->whyNot = terms->setTerms(spread_);
        if (made->whyNot.empty())
          made->form = std::move(terms);
        return made;
      },
      made);
  whyNot = bound->whyNot;
  return bound->form;
}

bool MatrixRows::wasAsked(const std::string &key) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::find(asked_.begin(), asked_.end(), key);
  const bool asked = found != asked_.end();
  if (asked)
    asked_.erase(found);
  asked_.push_front(key);
  if (asked_.size() > kAsked)
    asked_.pop_back();
  return asked;
}

std::shared_ptr<const KeptRows> MatrixRows::get(const Index &index, const MatrixKernels &kernels,
                                                const std::string &key, const MatrixForm &form,
                                                int threads, std::string &whyNot) try {
  bool made = false;
  return kept_.get(key, [&] { return make(index, kernels, form, threads); }, made);
} catch (const Error &error) {
  if (error.kind() != ErrorKind::Environment)
    throw;
  whyNot = error.what();
  return nullptr;
} catch (const std::bad_alloc &) {
  whyNot = "no memory for converted rows";
  return nullptr;
}

/// The rows' places, once there is memory for them.
static std::shared_ptr<RowPairs> placesFor(const Index &index, uint64_t free) {
  std::vector<int64_t> firstGroup{0};
  for (uint32_t list = 0; list < index.nLists(); ++list) {
    if (index.list(list).size > std::numeric_limits<uint32_t>::max())
      throw Error(ErrorKind::Environment, "a list has more than 2^32 - 1 rows");
    firstGroup.push_back(firstGroup.back() + index.list(list).groups());
  }
  const uint64_t rows = uint64_t(firstGroup.back()) * kGroupRows,
                 words = rows * uint64_t(stepsOf(index.dims())) * kStepDims / 2,
                 plain = rows * uint64_t(index.words());
  if (words * sizeof(uint32_t) > free / 2)
    throw Error(ErrorKind::Environment,
                "rows in bfloat16 take " + std::to_string(words * sizeof(uint32_t)) +
                    " bytes, more than half of the " + std::to_string(free) + " that are free");
  const bool both =
      mayKeepRows() == KeepRows::All && (words + plain) * sizeof(uint32_t) <= free / 4;
  return std::shared_ptr<RowPairs>(new RowPairs{std::move(firstGroup), HugeArray<uint32_t>(words),
                                                HugeArray<uint32_t>(both ? plain : 0)});
}

static std::shared_ptr<KeptRows> termsFor(const RowPairs &pairs) {
  const auto rows = size_t(pairs.firstGroup.back()) * kGroupRows;
  return std::shared_ptr<KeptRows>(
      new KeptRows{nullptr, HugeArray<float>(rows), HugeArray<float>(rows)});
}

/// A list's rows one after the other; a line of each is written at a time.
static void copyRows(const List &list, int64_t words, uint32_t *to) {
  constexpr int64_t kWords = 16;
  for (int64_t group = 0; group < list.groups(); ++group)
    for (int64_t begin = 0; begin < words; begin += kWords) {
      const uint32_t *const from = list.words.data() + (group * words + begin) * kGroupRows;
      for (int64_t row = 0; row < kGroupRows; ++row)
        for (int64_t w = 0; w < std::min(kWords, words - begin); ++w)
          to[(group * kGroupRows + row) * words + begin + w] = from[w * kGroupRows + row];
    }
}

/// \param fill  whether the pairs are to be made, and not the terms alone.
void MatrixRows::convert(const Index &index, const MatrixKernels &kernels, const MatrixForm &form,
                         int threads, const RowPairs &pairs, bool fill, KeptRows &kept) {
  const int64_t words = index.words(),
                groupWords = int64_t(stepsOf(index.dims())) * kStepDims / 2 * kGroupRows;
  std::mutex mutex;
  kept.ratio = kLeastRatio;
  parallelFor(threads, index.nLists(), [&](int64_t l, int) {
    const List &list = index.list(uint32_t(l));
    const int64_t groups = list.groups(), start = pairs.firstGroup[size_t(l)];
    std::vector<uint32_t> scratch(fill ? 0 : size_t(std::min(kGroupsOfTask, groups) * groupWords));
    float ratio = kLeastRatio;
    for (int64_t group = 0; group < groups; group += kGroupsOfTask) {
      const int64_t first = (start + group) * kGroupRows;
      ratio = std::max(
          ratio, kernels.convert(form.block(list.words.data() + group * words * kGroupRows,
                                            std::min(kGroupsOfTask, groups - group), int32_t(words),
                                            fill ? pairs.words.data() + (start + group) * groupWords
                                                 : scratch.data(),
                                            kept.base.data() + first, kept.norm.data() + first)));
    }
    for (int64_t row = list.size; row < groups * kGroupRows; ++row) {
      kept.base.data()[start * kGroupRows + row] = kInfinity;
      kept.norm.data()[start * kGroupRows + row] = 0;
    }
    if (fill && pairs.plain.size() != 0)
      copyRows(list, words, pairs.plain.data() + start * kGroupRows * words);
    const std::lock_guard<std::mutex> lock(mutex);
    kept.ratio = std::max(kept.ratio, ratio);
  });
}

std::shared_ptr<KeptRows> MatrixRows::make(const Index &index, const MatrixKernels &kernels,
                                           const MatrixForm &form, int threads) {
  std::shared_ptr<KeptRows> kept;
  bool made = false;
  const auto pairs = pairs_.get(
      0,
      [&]() -> std::shared_ptr<const RowPairs> {
        const std::shared_ptr<RowPairs> places = placesFor(index, free_());
        kept = termsFor(*places);
        convert(index, kernels, form, threads, *places, true, *kept);
        return places;
      },
      made);
  if (!made) {
    kept = termsFor(*pairs);
    convert(index, kernels, form, threads, *pairs, false, *kept);
  }
  kept->pairs = pairs;
  return kept;
}

} // namespace annudf::runtime::cpu
