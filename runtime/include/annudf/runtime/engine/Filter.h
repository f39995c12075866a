//===- Filter.h - Which rows a search may find ------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_FILTER_H
#define ANNUDF_RUNTIME_ENGINE_FILTER_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace annudf::runtime {

/// Rows by id, as a bitset in cuVS's layout: id i passes if bit i % 32 of word i / 32 is set.
/// Immutable, so that whoever copies it to a device may keep the copy.
class RowFilter {
public:
  /// \param words  wordsFor(bits) of them; bits past the last are ignored.
  /// \throws Error(Usage) when there are no bits, or words of another number.
  RowFilter(std::vector<uint32_t> words, int64_t bits);

  static int64_t wordsFor(int64_t bits) { return (bits + 31) / 32; }
  bool passes(int64_t id) const { return words_[static_cast<size_t>(id / 32)] >> (id % 32) & 1; }
  const std::vector<uint32_t> &words() const { return words_; }
  /// Ids that it says something of: 0 to bits() - 1.
  int64_t bits() const { return bits_; }
  /// How many pass.
  int64_t count() const { return count_; }
  /// The share of an index's rows that pass: 1 only where every id does, else an
  /// estimate from above, as ids that no row has may pass too.
  double passingShare(int64_t rows) const;
  /// Another for every filter of this process.
  uint64_t number() const { return number_; }

  /// Those that pass both. \throws Error(Usage) naming the sizes where they differ.
  static RowFilter both(const RowFilter &a, const RowFilter &b);
  static RowFilter either(const RowFilter &a, const RowFilter &b);
  RowFilter inverted() const;

private:
  std::vector<uint32_t> words_;
  int64_t bits_, count_ = 0;
  uint64_t number_;
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_FILTER_H
