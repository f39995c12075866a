//===- Reason.h - Why a search is not run in some way -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Planners compare and keep reasons as numbers. Reason.cpp has the words of all of them, which are
// put together only for people: for statistics and errors.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_ENGINE_REASON_H
#define ANNUDF_RUNTIME_ENGINE_REASON_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace annudf::runtime {

/// The numbers that a reason's words name are in the order of Refusal::numbers.
enum class Reason : uint8_t {
  None, ///< Nothing is in the way.
  // What a family needs of metric, index and machine.
  NoHook,           ///< An annudf_hook.
  OtherAccumulator, ///< The metric's annudf_accumulator.
  OtherCompute,     ///< The metric's annudf_compute.
  OtherElement,     ///< The index's annudf_element.
  OlderArch,        ///< The architecture that is needed, and the machine's.
  OtherArch,        ///< The same.
  // Products of matrices.
  NoForm,
  MissingValues,
  ProductsAreOff,
  EveryDistance,
  LinkerFuses,
  RatioByQuery,
  ManyNodes, ///< The most nodes.
  NotHalved,
  Gathered,
  NotAskedBefore,
  NotBound, ///< With words of what bound the form.
  FormIsNoDistance,
  RatioWithoutNumber,
  ManyDims, ///< The most dims, and the index's.
  NotKept,  ///< With words of what was to keep the rows.
  // What a kernel has room for.
  ShortRows,       ///< Bytes of a row, and the fewest.
  ManyBest,        ///< The most rows a query, and k.
  WideCoordinates, ///< Bits.
  NoPackedSum,     ///< The index's annudf_element.
  LongPackedSum,   ///< The same, the most dims, and the index's.
  QueryBytes,      ///< What a block takes of shared memory, and what it has; as of all that follow.
  QueryAndPartsBytes,
  TileBytes, ///< And the queries of a tile.
  TwoStagesBytes,
  ThreeStagesBytes,
  PanelBytes,
  CoefficientBytes,
};

inline constexpr size_t kReasons = size_t(Reason::CoefficientBytes) + 1;

/// A reason with what its words name.
struct Refusal {
  Refusal() = default;
  template <class... Numbers>
    requires(... && (std::is_integral_v<Numbers> || std::is_enum_v<Numbers>))
  Refusal(Reason reason, Numbers... numbers)
      : reason(reason), numbers{static_cast<uint64_t>(numbers)...} {}
  Refusal(Reason reason, std::shared_ptr<const std::string> words)
      : reason(reason), words(std::move(words)) {}
  /// Whether something is in the way.
  explicit operator bool() const { return reason != Reason::None; }

  Reason reason = Reason::None;
  std::array<uint64_t, 3> numbers = {};
  std::shared_ptr<const std::string>
      words; ///< NotBound and NotKept have them from where they arose.
};

/// In a user's words; "" of None. \throws std::logic_error naming a value that is no reason.
std::string textOf(const Refusal &refusal);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_ENGINE_REASON_H
