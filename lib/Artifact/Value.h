//===- Value.h - A value of the CBOR that annudf's files hold ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// nlohmann::json asks for memory where it is destroyed, and so ends the process of
// whoever has none left, and loses what a failed constructor had begun. These values
// are made of the standard library's, which do neither.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_LIB_ARTIFACT_VALUE_H
#define ANNUDF_LIB_ARTIFACT_VALUE_H

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace annudf {

struct Value;
using List = std::vector<Value>;
/// Sorted bytewise, as keys are in the file.
using Map = std::map<std::string, Value, std::less<>>;

/// A byte string, which is not text.
struct Bytes {
  std::string content;
};

/// A number below 0: -1 - `count`.
struct Negative {
  uint64_t count;
};

struct Value {
  std::variant<std::monostate, bool, uint64_t, Negative, std::string, Bytes, List, Map> value;

  Value() = default;
  Value(bool value) : value(value) {}
  Value(uint64_t value) : value(value) {}
  Value(uint32_t value) : value(uint64_t(value)) {}
  Value(Negative value) : value(value) {}
  Value(std::string value) : value(std::move(value)) {}
  Value(const char *value) : value(std::string(value)) {}
  Value(Bytes value) : value(std::move(value)) {}
  Value(List value) : value(std::move(value)) {}
  Value(Map value) : value(std::move(value)) {}

  /// The value as that type, or null.
  template <typename Type> const Type *as() const { return std::get_if<Type>(&value); }
};

/// Writes it in the subset of checkCbor().
std::string toCbor(const Value &value);

/// \param bytes  what checkCbor() passed, which bounds recursion.
Value fromCbor(std::string_view bytes);

/// As JSON, indented by two. Bytes of text that are no UTF-8 are replaced; byte strings
/// do not occur.
std::string toJson(const Value &value);

} // namespace annudf

#endif // ANNUDF_LIB_ARTIFACT_VALUE_H
