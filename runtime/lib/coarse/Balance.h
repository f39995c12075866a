//===- Balance.h - Lists of about equal size --------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_COARSE_BALANCE_H
#define ANNUDF_RUNTIME_LIB_COARSE_BALANCE_H

#include <cstdint>
#include <utility>
#include <vector>

namespace annudf::runtime {

/// What every training of centers does between the rounds of Lloyd's algorithm: lists that hold
/// little give their center up, and a large list gets it as its second. Lloyd's alone leaves lists
/// of unequal size, of which searches meet the large ones: in many dims one near the middle of the
/// data takes up most rows (docs/decisions/0012-balanced-lists.md). Deterministic.
class Balance {
public:
  /// \param rows   of the training, of `lists` lists together.
  /// \param rounds of Lloyd's algorithm; in the last kSettle only lists without a row get one.
  Balance(int64_t rows, uint32_t lists, uint32_t rounds)
      : rows_(rows), rounds_(rounds), whole_(lists) {}

  /// After the centers of a round are the means of their rows.
  /// \param sizes    of the lists.
  /// \param centers  a list's `dims` coordinates are `stride` after those of the list before.
  /// \returns how many centers were moved, of either kind.
  uint32_t after(uint32_t round, const std::vector<int64_t> &sizes, float *centers, int32_t dims,
                 int64_t stride);

private:
  /// Notes which of the lists that were halved in the round before did not come apart (their rows
  /// are equal): tried again, one would take a center in every round.
  void noteWholes(const std::vector<int64_t> &sizes);

  static constexpr uint32_t kSettle = 2;
  /// A list gives its center up below kSmall of the mean size, to one above kLarge of it.
  static constexpr double kSmall = 0.25, kLarge = 1.5;
  /// A list came apart if its smaller half has this part of the rows or more.
  static constexpr int64_t kCameApart = 16;

  const int64_t rows_;
  const uint32_t rounds_;
  std::vector<char> whole_;
  std::vector<std::pair<uint32_t, uint32_t>> halved_; ///< In the round before.
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_COARSE_BALANCE_H
