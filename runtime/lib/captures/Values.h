//===- Values.h - Numbers between element types -------------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CAPTURES_VALUES_H
#define ANNUDF_RUNTIME_LIB_CAPTURES_VALUES_H

#include "annudf/Artifact/Descriptor.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

namespace annudf::runtime {

/// Holds every int64_t and every uint64_t.
using Integer = __int128;

/// A value on its way from the given to the declared type: every float type fits double.
struct Value {
  bool isInteger;
  Integer integer;
  double real;

  std::string text() const;
  bool isFinite() const { return isInteger || std::isfinite(real); }
  double asReal() const { return isInteger ? static_cast<double>(integer) : real; }
};

/// What rounding a conversion may do.
enum class Rounding {
  Exact,  ///< None.
  Nearest ///< A float becomes the nearest value of a float type, as a literal does; never infinity.
};

/// Reads one value, of no alignment.
using Load = Value (*)(const std::byte *from);
/// Null for a dtype there is not.
Load loadOf(const std::string &dtype);

/// The dtype of an array whose values lie in memory as the element's do.
std::string dtypeOf(annudf_capture_element element);

/// Writes one value. \returns false when it has no (exact) counterpart.
using Store = bool (*)(const Value &value, Rounding rounding, std::byte *to);
/// Null for an element type that cannot be bound.
Store storeOf(const std::string &element);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_CAPTURES_VALUES_H
