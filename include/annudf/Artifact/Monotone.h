//===- Monotone.h - A distance that only gets worse, as data ----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What annudf/Analysis/Monotone.h proves, as manifests have it. Knows neither LLVM nor CUDA.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ARTIFACT_MONOTONE_H
#define ANNUDF_ARTIFACT_MONOTONE_H

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace annudf {

/// What a claim asks of every entry of a capture; NaN satisfies all.
struct Condition {
  enum class Kind : uint8_t { NonNegative, NonPositive, Positive };
  std::string capture;
  Kind kind = Kind::NonNegative;
  auto operator<=>(const Condition &) const = default;
};

/// ">= 0"
const char *relationOf(Condition::Kind kind);

/// " where w >= 0 and v > 0"; "" where nothing is asked.
std::string conditionsText(const std::vector<Condition> &conditions);

/// What is proved of a metric whose distance only gets worse from dimension to dimension: whatever
/// the query and the row, where finalize makes a number of the accumulator as it is after some
/// dimensions, the distance is no better than that number, or NaN.
struct MonotoneDistance {
  std::vector<Condition> where; ///< Sorted, none twice.
  /// The accumulator is the largest or least of what it saw, no sum: then a few dimensions may
  /// tell.
  bool isExtreme = false;
  bool operator==(const MonotoneDistance &) const = default;
};

/// "worse with each dimension where w >= 0"; "no" where there is nothing.
std::string monotoneText(const std::optional<MonotoneDistance> &monotone);

} // namespace annudf

#endif // ANNUDF_ARTIFACT_MONOTONE_H
