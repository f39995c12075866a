//===- Filter.cpp - Which rows a search may find ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Filter.h"

#include "annudf/Support/Error.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <string>
#include <utility>

namespace annudf::runtime {

static uint64_t nextNumber() {
  static std::atomic<uint64_t> last{0};
  return ++last;
}

RowFilter::RowFilter(std::vector<uint32_t> words, int64_t bits)
    : words_(std::move(words)), bits_(bits), number_(nextNumber()) {
  if (bits < 1)
    throw Error(ErrorKind::Usage,
                "filter: it has " + std::to_string(bits) + " bits; give one for every id");
  if (!std::cmp_equal(words_.size(), wordsFor(bits)))
    throw Error(ErrorKind::Usage, "filter: it has " + std::to_string(words_.size()) +
                                      " words for " + std::to_string(bits) + " bits; give " +
                                      std::to_string(wordsFor(bits)));
  if (bits % 32 != 0) // Inverting and counting see no bit that stands for nothing.
    words_.back() &= (uint32_t(1) << (bits % 32)) - 1;
  for (const uint32_t word : words_)
    count_ += std::popcount(word);
}

double RowFilter::passingShare(int64_t rows) const {
  if (count_ == bits_)
    return 1;
  return std::min(double(count_) / double(std::max<int64_t>(rows, 1)), std::nextafter(1.0, 0.0));
}

template <typename Join>
static RowFilter joined(const RowFilter &a, const RowFilter &b, const char *sign, Join join) {
  if (a.bits() != b.bits())
    throw Error(ErrorKind::Usage, "filters of " + std::to_string(a.bits()) + " and " +
                                      std::to_string(b.bits()) + " bits cannot be joined by " +
                                      sign + "; make them for the same index");
  std::vector<uint32_t> words(a.words().size());
  for (size_t i = 0; i < words.size(); ++i)
    words[i] = join(a.words()[i], b.words()[i]);
  return {std::move(words), a.bits()};
}

RowFilter RowFilter::both(const RowFilter &a, const RowFilter &b) {
  return joined(a, b, "&", [](uint32_t x, uint32_t y) { return x & y; });
}

RowFilter RowFilter::either(const RowFilter &a, const RowFilter &b) {
  return joined(a, b, "|", [](uint32_t x, uint32_t y) { return x | y; });
}

RowFilter RowFilter::inverted() const {
  std::vector<uint32_t> words(words_);
  for (uint32_t &word : words)
    word = ~word;
  return {std::move(words), bits_};
}

} // namespace annudf::runtime
