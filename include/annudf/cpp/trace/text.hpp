//===- annudf/cpp/trace/text.hpp - How the dialect spells names and numbers -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_TEXT_HPP
#define ANNUDF_CPP_TRACE_TEXT_HPP

#include "annudf/cpp/trace/kinds.hpp"

#include <charconv>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace annudf::tracing {

constexpr bool is_identifier(std::string_view name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9'))
    return false;
  for (const char c : name)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
      return false;
  return true;
}

constexpr std::size_t longest_name = 255; // ANNUDF_MAX_NAME
inline void check_name(const char *of, std::string_view name, std::size_t most = longest_name) {
  if (!is_identifier(name))
    throw std::invalid_argument("the name of a " + std::string(of) + " is '" + std::string(name) +
                                "'; use letters, digits and _, not beginning with a digit");
  if (name.size() > most)
    throw std::invalid_argument("the name of a " + std::string(of) + " has " +
                                std::to_string(name.size()) + " bytes, more than " +
                                std::to_string(most) + "; shorten it: '" + std::string(name) + "'");
}

/// A string of MLIR: what is not printable ASCII is written as its bytes.
inline void append_string(std::string &out, std::string_view text) {
  constexpr char digits[] = "0123456789ABCDEF";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\\') {
      out += c;
      continue;
    }
    out += '\\';
    out += digits[byte >> 4U];
    out += digits[byte & 15U];
  }
  out += '"';
}

/// "" where the place is not known.
inline std::string location_of(const std::source_location &where) {
  const std::string_view file = where.file_name();
  if (file.empty())
    return "";
  std::string out = " loc(";
  append_string(out, file);
  out += ':' + std::to_string(where.line()) + ':' + std::to_string(where.column()) + ')';
  return out;
}

/// The spelling that reads back bit for bit: floating point as its bits, unless it is a small
/// whole number.
inline std::string spelled(kind type, std::uint64_t bits) {
  if (type == kind::b1)
    return bits ? "true" : "false";
  if (!is_float(type))
    return std::to_string(with_kind(type, [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::integral<T> && !std::same_as<T, bool>)
        return static_cast<std::int64_t>(static_cast<std::make_signed_t<T>>(unpack<T>(bits)));
      else
        return std::int64_t();
    }));
  const double value =
      type == kind::f32 ? static_cast<double>(unpack<float>(bits)) : unpack<double>(bits);
  constexpr double small = 1e6;
  // The sign of -0 would be lost.
  if (value > -small && value < small &&
      value == static_cast<double>(static_cast<std::int64_t>(value)) && (value != 0 || bits == 0))
    return std::to_string(static_cast<std::int64_t>(value)) + ".0";
  char digits[16] = {};
  const auto end = std::to_chars(digits, digits + sizeof digits, bits, 16);
  const auto length = static_cast<std::size_t>(end.ptr - digits);
  return "0x" + std::string(bits_of(type) / 4 - length, '0') + std::string(digits, length);
}

} // namespace annudf::tracing

#endif // ANNUDF_CPP_TRACE_TEXT_HPP
