//===- Predicate.h - Which rows each query may find -------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_PREDICATE_H
#define ANNUDF_RUNTIME_ENGINE_PREDICATE_H

#include "annudf/runtime/captures/Captures.h"
#include "annudf/runtime/engine/Filter.h"
#include "annudf/runtime/engine/Search.h"

#include <cstdint>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace annudf::runtime {

/// Rows by query and id, in the layout of cuVS's bitmap: bit i of the words is bit i % 32 of word
/// i / 32, and query q finds id only if bit q * bits() + id is set.
class QueryBitmap {
public:
  /// \throws Error(Usage) when there are no queries or bits, or words of another number.
  QueryBitmap(std::vector<uint32_t> words, int64_t queries, int64_t bits);

  bool passes(int64_t query, int64_t id) const {
    const int64_t bit = query * bits_ + id;
    return words_[static_cast<size_t>(bit / 32)] >> (bit % 32) & 1;
  }
  const std::vector<uint32_t> &words() const { return words_; }
  int64_t queries() const { return queries_; }
  /// Ids that it says something of: 0 to bits() - 1.
  int64_t bits() const { return bits_; }
  int64_t count() const { return count_; } ///< Set bits.

private:
  std::vector<uint32_t> words_;
  int64_t queries_, bits_, count_ = 0;
};

/// A tree of filters, of which at least one sees the query. A filter that only sees rows is a
/// RowFilter, computed once. Backends compute the bits of a predicate for the rows of the probed
/// lists alone, a batch at a time and before its scan, so that no kernel of a metric is linked
/// again for a filter.
class Predicate {
public:
  /// An artifact of annudf.filter.
  struct Code {
    std::shared_ptr<const Metric> filter;
    std::shared_ptr<const BoundCaptures> captures; ///< Bound for it, the index and all queries.
  };
  enum class Join : uint8_t { And, Or, Not };
  using Step = std::variant<std::shared_ptr<const RowFilter>, std::shared_ptr<const QueryBitmap>,
                            Code, Join>;

  /// \param steps  in postfix order: a filter puts its bits on a stack, a join takes its operands
  ///               from there. \throws Error(Usage) unless one result is left, and for filters of
  ///               different numbers of bits or queries.
  explicit Predicate(std::vector<Step> steps);
  std::span<const Step> steps() const { return steps_; }
  /// Most results on the stack at once.
  int depth() const { return depth_; }
  /// Ids that its bits say something of; 0 where it has none.
  int64_t bits() const { return bits_; }
  /// Queries that it is for; 0: any.
  int64_t queries() const { return queries_; }
  /// The share of pairs of a query and one of `rows` rows that pass, at most. Bits are counted,
  /// code may keep all rows or none; below 1, as there is a filter.
  double passingShare(int64_t rows) const;

private:
  std::vector<Step> steps_;
  int depth_ = 0;
  int64_t bits_ = 0, queries_ = 0;
};

/// The part of checkSearch() for a predicate: its bits reach the index's largest id, its bitmaps
/// are of these queries, its code is filters bound for index and queries.
/// \throws Error(Usage or Input) naming value and limit.
void checkPredicate(const Predicate &predicate, const RowStore &index, const MatrixView &queries,
                    const SearchParams &params);

/// A bit for every id of the index, or an error that begins with `what`: "the filter has".
void checkBits(const std::string &what, int64_t bits, const RowStore &index);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_PREDICATE_H
