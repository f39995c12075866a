//===- annudf/cpp/filter.hpp - Rows that may be found -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf/annudf.hpp, which is to be included.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_FILTER_HPP
#define ANNUDF_CPP_FILTER_HPP

#include "annudf-c/Filters.h"
#include "annudf/cpp/views.hpp"

namespace annudf {
inline namespace v0 {

/// A bit for every id of an index, set where a search may find the row; or what each query may
/// find. It never changes; copies are the same filter. A default one lets every row pass.
class filter {
public:
  filter() = default;
  /// \param words  of 32 bits each as cuVS has them: id i is bit i % 32 of word i / 32.
  static filter from_bitset(std::span<const std::uint32_t> words, std::int64_t bits) {
    if (bits > std::int64_t(words.size()) * 32)
      throw error(errc::usage, "words has " + std::to_string(words.size()) + " entries for " +
                                   std::to_string(bits) + " bits; give one for each 32 bits");
    annudf_filter *made = nullptr;
    detail::check(annudf_filter_from_bitset(words.data(), bits, &made));
    return filter(made);
  }
  /// A bool an id: true where the row may be found.
  static filter from_bools(std::span<const bool> pass) {
    static_assert(sizeof(bool) == 1);
    annudf_filter *made = nullptr;
    detail::check(annudf_filter_from_bytes(reinterpret_cast<const std::uint8_t *>(pass.data()),
                                           std::int64_t(pass.size()), &made));
    return filter(made);
  }
  static filter from_bools(const std::vector<bool> &pass) {
    const std::vector<std::uint8_t> bytes(pass.begin(), pass.end());
    annudf_filter *made = nullptr;
    detail::check(annudf_filter_from_bytes(bytes.data(), std::int64_t(bytes.size()), &made));
    return filter(made);
  }

  /// A bit for every query and id, as cuVS has a bitmap: query q may find id i if bit q * bits + i
  /// is set. \param queries  as many as a search with the filter has.
  static filter from_bitmap(std::span<const std::uint32_t> words, std::int64_t queries,
                            std::int64_t bits) {
    if (queries > 0 && bits > std::int64_t(words.size()) * 32 / queries)
      throw error(errc::usage, "words has " + std::to_string(words.size()) + " entries for " +
                                   std::to_string(queries) + " x " + std::to_string(bits) +
                                   " bits; give one for each 32 bits");
    annudf_filter *made = nullptr;
    detail::check(annudf_filter_from_bitmap(words.data(), queries, bits, &made));
    return filter(made);
  }

  /// Rows that pass both. \throws error for filters of different numbers of bits or queries.
  friend filter operator&(const filter &a, const filter &b) {
    return joined(ANNUDF_FILTER_AND, a, b);
  }
  /// Rows that pass one of them.
  friend filter operator|(const filter &a, const filter &b) {
    return joined(ANNUDF_FILTER_OR, a, b);
  }
  /// Rows that do not pass this one.
  filter operator~() const { return joined(ANNUDF_FILTER_NOT, *this, {}); }
  std::int64_t bits() const noexcept { return *this ? info().bits : 0; } ///< Ids it speaks of.
  /// Ids that pass; -1 if each query has its own.
  std::int64_t count() const noexcept { return *this ? info().count : 0; }
  /// Whether searches compute it for each query.
  bool sees_query() const noexcept { return *this && info().sees_query != 0; }
  explicit operator bool() const noexcept { return handle_ != nullptr; }
  const annudf_filter *c() const noexcept { return handle_.get(); }

  /// Takes a filter of the C API over.
  explicit filter(annudf_filter *handle) : handle_(handle, &annudf_filter_destroy) {}

private:
  const annudf_filter_info &info() const noexcept { return *annudf_filter_get(c()); }
  static filter joined(annudf_filter_join how, const filter &a, const filter &b) {
    annudf_filter *made = nullptr;
    detail::check(annudf_filter_combine(how, a.c(), b.c(), &made));
    return filter(made);
  }
  std::shared_ptr<annudf_filter> handle_;
};

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_FILTER_HPP
