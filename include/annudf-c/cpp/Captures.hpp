//===- annudf-c/cpp/Captures.hpp - Values for captures ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf-c/annudf.hpp, which is to be included.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_C_CPP_CAPTURES_HPP
#define ANNUDF_C_CPP_CAPTURES_HPP

#include "annudf-c/Captures.h"
#include "annudf-c/cpp/Artifact.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace annudf {
inline namespace v0 {

/// A float16 by its bits.
struct Half {
  uint16_t bits;
};

/// A bfloat16 by its bits, the upper half of a float's.
struct Bfloat16 {
  uint16_t bits;
};

namespace detail {

template <class T> constexpr const char *dtypeOf() {
  static_assert((std::is_arithmetic_v<T> && !std::is_same_v<T, long double>) ||
                    std::is_same_v<T, Half> || std::is_same_v<T, Bfloat16>,
                "values of captures are numbers of at most 64 bits");
  if constexpr (std::is_same_v<T, Half>)
    return "f16";
  else if constexpr (std::is_same_v<T, Bfloat16>)
    return "bf16";
  else if constexpr (std::is_same_v<T, bool>)
    return "b1";
  else if constexpr (std::is_same_v<T, float>)
    return "f32";
  else if constexpr (std::is_same_v<T, double>)
    return "f64";
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? "i8" : "u8";
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? "i16" : "u16";
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? "i32" : "u32";
  else if constexpr (sizeof(T) == 8)
    return std::is_signed_v<T> ? "i64" : "u64";
  else
    static_assert(sizeof(T) == 0, "numbers of this width are no values of captures");
}

} // namespace detail

/// What the symbolic extents of captures stand for.
struct Extents {
  int64_t dims = 0, rows = 0, queries = 0;
};

/// A value for one capture; arrays stay the caller's until bound.
class CaptureValue {
public:
  template <class T> static CaptureValue scalar(std::string name, T value) {
    CaptureValue made(std::move(name), detail::dtypeOf<T>(), sizeof value);
    made.scalar_.resize(sizeof value);
    std::char_traits<char>::copy(reinterpret_cast<char *>(made.scalar_.data()),
                                 reinterpret_cast<const char *>(&value), sizeof value);
    return made;
  }
  /// \param shape    empty: one-dimensional.
  /// \param strides  in bytes; empty: C order, without gaps.
  template <class T>
  static CaptureValue array(std::string name, std::span<const T> values,
                            std::vector<int64_t> shape = {}, std::vector<int64_t> strides = {}) {
    CaptureValue made(std::move(name), detail::dtypeOf<T>(), values.size_bytes());
    made.data_ = values.data();
    made.shape_ = shape.empty() ? std::vector<int64_t>{int64_t(values.size())} : std::move(shape);
    made.strides_ = std::move(strides);
    return made;
  }
  /// An array in memory of a CUDA device, in C order.
  /// \param owner  keeps it alive while the captures or a search with them may read it.
  static CaptureValue device(std::string name, std::string dtype, uint64_t address,
                             std::vector<int64_t> shape, uint64_t bytes, int32_t device,
                             std::shared_ptr<const void> owner = nullptr) {
    CaptureValue made(std::move(name), std::move(dtype), bytes);
    made.data_ = reinterpret_cast<const void *>(static_cast<uintptr_t>(address));
    made.shape_ = std::move(shape);
    made.onDevice_ = true, made.device_ = device, made.owner_ = std::move(owner);
    return made;
  }
  /// Where it came from, for messages.
  CaptureValue &&from(std::string origin) && {
    origin_ = std::move(origin);
    return std::move(*this);
  }

  /// Lives as long as this object; to be bound once.
  annudf_capture_value c() const {
    annudf_capture_value value = {};
    value.size = sizeof value;
    value.name = name_.c_str(), value.dtype = dtype_.c_str();
    value.shape = shape_.data(), value.rank = int32_t(shape_.size());
    value.strides = strides_.empty() ? nullptr : strides_.data();
    value.data = scalar_.empty() ? data_ : scalar_.data(), value.bytes = bytes_;
    value.origin = origin_.empty() ? nullptr : origin_.c_str();
    if (onDevice_) {
      value.memory = ANNUDF_MEMORY_CUDA, value.device = device_;
      value.owner = new std::shared_ptr<const void>(owner_);
      value.release = [](void *kept) { delete static_cast<std::shared_ptr<const void> *>(kept); };
    }
    return value;
  }

private:
  CaptureValue(std::string name, std::string dtype, size_t bytes)
      : name_(std::move(name)), dtype_(std::move(dtype)), bytes_(bytes) {}
  std::string name_, dtype_, origin_;
  std::vector<int64_t> shape_, strides_;
  std::vector<std::byte> scalar_;
  const void *data_ = nullptr;
  size_t bytes_ = 0;
  bool onDevice_ = false;
  int32_t device_ = 0;
  std::shared_ptr<const void> owner_;
};

/// Values bound to a metric's captures.
class Captures {
public:
  static Captures bind(const Artifact &artifact, const Extents &extents,
                       std::span<const CaptureValue> values, bool allowNonFinite = false) {
    std::vector<annudf_capture_value> list;
    list.reserve(values.size());
    for (const CaptureValue &value : values)
      list.push_back(value.c());
    const annudf_extents sizes = {sizeof sizes, extents.dims, extents.rows, extents.queries};
    const annudf_captures_options options = {sizeof options, allowNonFinite};
    annudf_captures *made = nullptr;
    detail::check(
        annudf_captures_bind(artifact.c(), &sizes, list.data(), list.size(), &options, &made));
    return Captures(made);
  }
  static Captures bind(const Artifact &artifact, const Extents &extents,
                       std::initializer_list<CaptureValue> values, bool allowNonFinite = false) {
    return bind(artifact, extents, std::span(values.begin(), values.size()), allowNonFinite);
  }
  std::string digest() const { return annudf_captures_digest(c()); }
  const annudf_captures *c() const { return handle_.get(); }

private:
  explicit Captures(annudf_captures *handle) : handle_(handle) {}
  detail::Owner<annudf_captures, annudf_captures_destroy> handle_;
};

} // namespace v0
} // namespace annudf

#endif // ANNUDF_C_CPP_CAPTURES_HPP
