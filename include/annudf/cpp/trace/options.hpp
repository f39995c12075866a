//===- annudf/cpp/trace/options.hpp - What a metric says besides its formula -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_OPTIONS_HPP
#define ANNUDF_CPP_TRACE_OPTIONS_HPP

#include <cstdint>
#include <initializer_list>
#include <optional>

namespace annudf {

/// Which end of the distances is best.
enum class order : std::uint8_t { min, max };

/// What ranks the lists of an index before its rows are scanned.
enum class coarse : std::uint8_t { l2, inner_product, cosine };

/// Whether a scan may add up parts of the dimensions and join them.
enum class numerics : std::uint8_t { strict, reassociate };

/// Element types of stored vectors and queries.
enum class element : std::uint8_t { f32, f16, i8, u8, bf16, bits };

namespace tracing {

/// An element type, how a metric's text spells it, and whether compute types of integers take it.
struct element_row {
  element value;
  const char *name;
  bool is_whole;
};

inline constexpr element_row element_rows[] = {
    {element::f32, "f32", false}, {element::f16, "f16", false},   {element::i8, "i8", true},
    {element::u8, "u8", true},    {element::bf16, "bf16", false}, {element::bits, "bits", true}};

} // namespace tracing

/// A set of element types: `{annudf::element::f32, annudf::element::u8}`.
class elements {
public:
  constexpr elements() = default;
  constexpr elements(element one) : mask(bit(one)) {}
  constexpr elements(std::initializer_list<element> all) {
    for (const element one : all)
      mask |= bit(one);
  }

  constexpr bool empty() const { return mask == 0; }
  constexpr bool contains(element one) const { return (mask & bit(one)) != 0; }
  friend constexpr bool operator==(elements, elements) = default;

private:
  static constexpr std::uint32_t bit(element one) { return 1U << static_cast<unsigned>(one); }

  std::uint32_t mask = 0;
};

/// All that the compute type takes.
inline constexpr elements every_element{};

/// What `annudf.metric` says before its hooks; docs/spec/abi.md has the meaning of each.
struct metric_options {
  annudf::order order = annudf::order::min;
  annudf::coarse coarse = annudf::coarse::l2;
  /// Which end of the coarse metric is probed; its own where none is given.
  std::optional<annudf::order> coarse_order = std::nullopt;
  /// Empty: all that the compute type takes (without f32, f16 and bf16 where that is an integer).
  annudf::elements elements = every_element;
  annudf::numerics numerics = annudf::numerics::strict;
  /// Vectors have that many dimensions; 0 leaves them open.
  std::int64_t dims = 0;
  /// `update` knows what to do with a coordinate that is NaN.
  bool missing_values = false;
};

} // namespace annudf

#endif // ANNUDF_CPP_TRACE_OPTIONS_HPP
