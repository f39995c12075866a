//===- annudf/cpp/trace/plain.hpp - A metric on plain numbers ---*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a unit test of a hook needs: a ctx of numbers, and values for captures.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_TRACE_PLAIN_HPP
#define ANNUDF_CPP_TRACE_PLAIN_HPP

#include "annudf/cpp/trace/kinds.hpp"

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <vector>

namespace annudf::plain {

struct context; // context.hpp

/// A name and its values, from the first moment to the last of the object, in its thread. Of
/// several of one name the latest is read. A bool is a byte, a float16 or bfloat16 a float.
///     annudf::plain::values weights("w", {1.0f, 2.0f});
///     annudf::plain::values table("table", {1, 2, 3, 4}, {2, 2});   // with its shape
template <tracing::number T> class values;

namespace detail {

struct binding {
  std::string name;
  tracing::kind type = tracing::kind::i32;
  std::vector<std::uint64_t> bits;
  std::vector<std::int64_t> shape;
  binding *before = nullptr;
};

inline thread_local binding *latest = nullptr;

} // namespace detail

template <tracing::number T> class values {
public:
  values(std::string name, const std::vector<T> &entries, std::vector<std::int64_t> shape = {}) {
    for (const T entry : entries)
      own.bits.push_back(tracing::pack(entry));
    own.name = std::move(name);
    own.type = tracing::kind_of<T>();
    own.shape =
        shape.empty() ? std::vector{static_cast<std::int64_t>(entries.size())} : std::move(shape);
    own.before = detail::latest;
    detail::latest = &own;
  }
  values(std::string name, std::initializer_list<T> entries, std::vector<std::int64_t> shape = {})
      : values(std::move(name), std::vector<T>(entries), std::move(shape)) {}
  /// A capture without extents.
  values(std::string name, T number) : values(std::move(name), std::vector<T>{number}) {}
  ~values() {
    detail::binding **at = &detail::latest;
    while (*at && *at != &own)
      at = &(*at)->before;
    if (*at)
      *at = own.before;
  }
  values(const values &) = delete;
  values &operator=(const values &) = delete;

private:
  detail::binding own;
};

/// An entry of the values of that name.
template <tracing::number T>
T read(const std::string &name, const std::int64_t *indices, const std::int64_t *constants,
       std::size_t rank) {
  const detail::binding *found = detail::latest;
  while (found && found->name != name)
    found = found->before;
  const auto refuse = [&](const std::string &why) {
    throw std::invalid_argument("capture '" + name + "' " + why);
  };
  if (!found)
    refuse("has no values on plain numbers; make an annudf::plain::values of that name first");
  if (found->type != tracing::kind_of<T>())
    refuse(std::string("is read as ") + tracing::name_of(tracing::kind_of<T>()) +
           ", but its values are " + tracing::name_of(found->type) +
           "; give values of the declared type");
  if (rank != 0 && found->shape.size() != rank)
    refuse("has " + std::to_string(rank) + " extents, but its values have " +
           std::to_string(found->shape.size()) + "; give annudf::plain::values its shape");
  std::size_t place = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (constants[i] && constants[i] != found->shape[i])
      refuse("has extent " + std::to_string(constants[i]) + ", but its values have " +
             std::to_string(found->shape[i]) + " entries there; give as many");
    if (indices[i] < 0 || indices[i] >= found->shape[i])
      refuse("is read at index " + std::to_string(indices[i]) + " of " +
             std::to_string(found->shape[i]) + " entries; give more, or read within them");
    place =
        place * static_cast<std::size_t>(found->shape[i]) + static_cast<std::size_t>(indices[i]);
  }
  if (place >= found->bits.size())
    refuse("has " + std::to_string(found->bits.size()) +
           " values, fewer than its shape has entries; give one an entry");
  return tracing::unpack<T>(found->bits[place]);
}

} // namespace annudf::plain

#endif // ANNUDF_CPP_TRACE_PLAIN_HPP
