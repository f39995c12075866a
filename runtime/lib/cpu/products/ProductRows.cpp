//===- ProductRows.cpp - What products of matrices keep of an index -------===//
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

#include "ProductRows.h"

#include "annudf/runtime/rows/RowStore.h"
#include "annudf/runtime/support/Parallel.h"
#include "annudf/runtime/support/Settings.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <new>
#include <string_view>

namespace annudf::runtime::cpu {

namespace {

/// Groups that are converted together: what they become is soon written.
constexpr int64_t kGroupsOfTask = 64;

/// The mean of the rows, but for what is next to nothing: any other shift is right too.
std::vector<float> shiftOf(const RowStore &index) {
  std::vector<float> mean = index.meanOfRows();
  for (float &value : mean)
    if (!(std::abs(value) > 1e-20f))
      value = 0;
  return mean;
}

/// How far rows are from it: of some groups, the root of the mean square; above 0. Bounds are tight
/// for rows as far as that.
std::vector<double> spreadOf(const RowStore &index, const std::vector<float> &mean) {
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

KeepRows mayKeepRows() {
  const std::string_view asked = settingOf("ANNUDF_KEEP_ROWS", {"0", "1", "bfloat16"});
  return asked == "0" ? KeepRows::None : asked == "bfloat16" ? KeepRows::Bfloat : KeepRows::All;
}

/// \return why not, "" if the terms are those of the form.
static std::string makeTerms(const QuadraticForm &form, const BoundCaptures &captures,
                             annudf_order order, const std::vector<float> &mean,
                             const std::vector<double> &spread, ProductForm &terms) {
  std::string why;
  const auto dims = int32_t(mean.size());
  if (form.lengths) {
    auto ratio = bindRatio(form, captures, dims, order, &why);
    return ratio ? terms.setRatio(*std::move(ratio), mean) : why;
  }
  auto numbers = bindForm(form, captures, dims, mean, order, &why);
  if (!numbers)
    return why;
  terms.form = *std::move(numbers);
  return terms.setTerms(spread);
}

std::shared_ptr<const ProductForm> ProductRows::bind(const RowStore &index, const std::string &key,
                                                     const QuadraticForm &form,
                                                     const BoundCaptures &captures,
                                                     annudf_order order, Refusal &whyNot) {
  std::call_once(looked_, [&] {
    mean_ = shiftOf(index);
    spread_ = spreadOf(index, mean_);
    makeRound(mean_, spread_);
  });
  bool made = false;
  const auto bound = bound_.get(
      key,
      [&]() -> std::shared_ptr<const Bound> {
        auto terms = std::make_shared<ProductForm>();
        const std::string why = makeTerms(form, captures, order, mean_, spread_, *terms);
        return std::make_shared<const Bound>(
            why.empty()
                ? Bound{std::move(terms), {}}
                : Bound{nullptr, {Reason::NotBound, std::make_shared<const std::string>(why)}});
      },
      made);
  whyNot = bound->whyNot;
  return bound->form;
}

bool ProductRows::wasAsked(const std::string &key) {
  const std::lock_guard<BriefMutex> lock(mutex_);
  const auto found = std::find(asked_.begin(), asked_.end(), key);
  const bool asked = found != asked_.end();
  if (asked)
    asked_.erase(found);
  asked_.push_front(key);
  if (asked_.size() > kAsked)
    asked_.pop_back();
  return asked;
}

std::shared_ptr<const KeptRows> ProductRows::get(const RowStore &index,
                                                 const ProductKernels &kernels,
                                                 const std::string &key, const ProductForm &form,
                                                 int threads, Refusal &whyNot) try {
  bool made = false;
  return kept_.get(key, [&] { return make(index, kernels, form, threads); }, made);
} catch (const Error &error) {
  if (error.kind() != ErrorKind::Environment)
    throw;
  whyNot = {Reason::NotKept, std::make_shared<const std::string>(error.what())};
  return nullptr;
} catch (const std::bad_alloc &) {
  whyNot = {Reason::NotKept, std::make_shared<const std::string>("no memory for converted rows")};
  return nullptr;
}

/// The rows' places, once there is memory for them.
static std::shared_ptr<RowPairs> placesFor(const RowStore &index, uint64_t free) {
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
void ProductRows::convert(const RowStore &index, const ProductKernels &kernels,
                          const ProductForm &form, int threads, const RowPairs &pairs, bool fill,
                          KeptRows &kept) {
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
      const int64_t at = start * kGroupRows + row;
      form.setNoRow(kept.base.data()[at], kept.norm.data()[at]);
    }
    if (fill && pairs.plain.size() != 0)
      copyRows(list, words, pairs.plain.data() + start * kGroupRows * words);
    const std::lock_guard<std::mutex> lock(mutex);
    kept.ratio = std::max(kept.ratio, ratio);
  });
}

std::shared_ptr<KeptRows> ProductRows::make(const RowStore &index, const ProductKernels &kernels,
                                            const ProductForm &form, int threads) {
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
