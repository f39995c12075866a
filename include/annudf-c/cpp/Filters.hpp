//===- annudf-c/cpp/Filters.hpp - Which rows a search may find --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf-c/annudf.hpp, which is to be included.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_C_CPP_FILTERS_HPP
#define ANNUDF_C_CPP_FILTERS_HPP

#include "annudf-c/Filters.h"
#include "annudf-c/cpp/Support.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace annudf {
inline namespace v0 {

/// A bit for every id of an index, set where a search may find the row.
class Filter {
public:
  /// \param words  of 32 bits each, id 0 in the lowest of the first.
  static Filter fromBitset(std::span<const uint32_t> words, int64_t bits) {
    if (bits > int64_t(words.size()) * 32)
      throw Error(ANNUDF_USAGE, std::to_string(bits) + " bits do not fit " +
                                    std::to_string(words.size()) + " words");
    annudf_filter *made = nullptr;
    detail::check(annudf_filter_from_bitset(words.data(), bits, &made));
    return Filter(made);
  }
  static Filter fromBooleans(const std::vector<bool> &pass) {
    std::vector<uint8_t> bytes(pass.begin(), pass.end());
    annudf_filter *made = nullptr;
    detail::check(annudf_filter_from_bytes(bytes.data(), int64_t(bytes.size()), &made));
    return Filter(made);
  }
  Filter operator&(const Filter &other) const { return joined(annudf_filter_and, other); }
  Filter operator|(const Filter &other) const { return joined(annudf_filter_or, other); }
  Filter operator~() const {
    annudf_filter *made = nullptr;
    detail::check(annudf_filter_not(c(), &made));
    return Filter(made);
  }
  int64_t bits() const { return annudf_filter_bits(c()); }
  int64_t count() const { return annudf_filter_count(c()); } ///< Of those that pass.
  const annudf_filter *c() const { return handle_.get(); }

private:
  friend class IvfFlat; // Which computes some.
  explicit Filter(annudf_filter *handle) : handle_(handle) {}
  template <class Join> Filter joined(Join join, const Filter &other) const {
    annudf_filter *made = nullptr;
    detail::check(join(c(), other.c(), &made));
    return Filter(made);
  }
  detail::Owner<annudf_filter, annudf_filter_destroy> handle_;
};

} // namespace v0
} // namespace annudf

#endif // ANNUDF_C_CPP_FILTERS_HPP
