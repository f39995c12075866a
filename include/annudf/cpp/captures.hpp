//===- annudf/cpp/captures.hpp - Values for captures ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf/annudf.hpp, which is to be included.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_CPP_CAPTURES_HPP
#define ANNUDF_CPP_CAPTURES_HPP

#include "annudf-c/Columns.h"
#include "annudf/cpp/artifact.hpp"
#include "annudf/cpp/views.hpp"

#include <array>
#include <cstring>
#include <iterator>

namespace annudf {
inline namespace v0 {

namespace detail {

/// What the C API calls a type of values; nullptr of a type that captures cannot have.
template <class T> consteval const char *dtype_of() {
  if constexpr (std::is_same_v<T, bool>)
    return "b1";
  else if constexpr (vector_element<T> && std::is_class_v<T>)
    return element_of<T>::value == element::f16    ? "f16"
           : element_of<T>::value == element::bf16 ? "bf16"
                                                   : nullptr;
  else if constexpr (std::is_same_v<T, float>)
    return "f32";
  else if constexpr (std::is_same_v<T, double>)
    return "f64";
  else if constexpr (!std::is_integral_v<T>)
    return nullptr;
  else if constexpr (sizeof(T) == 1)
    return std::is_signed_v<T> ? "i8" : "u8";
  else if constexpr (sizeof(T) == 2)
    return std::is_signed_v<T> ? "i16" : "u16";
  else if constexpr (sizeof(T) == 4)
    return std::is_signed_v<T> ? "i32" : "u32";
  else if constexpr (sizeof(T) == 8)
    return std::is_signed_v<T> ? "i64" : "u64";
  else
    return nullptr;
}

/// Numbers of at most 64 bits, float16 and bfloat16.
template <class T>
concept capture_element = dtype_of<std::remove_cv_t<T>>() != nullptr;

template <class R>
concept capture_range =
    std::ranges::contiguous_range<const R> && std::ranges::sized_range<const R> &&
    capture_element<std::ranges::range_value_t<const R>>;
template <class V>
concept capture_mdspan =
    mdspan_like<V> && capture_element<std::remove_const_t<element_of_view<V>>> && is_on_host<V>();

} // namespace detail

/// An array in memory of a CUDA device for a capture, in C order, of the declared element type.
class device_array {
public:
  /// \param shape  an extent an axis.
  /// \param owner  keeps the memory alive while a search may read it; null: it lives by itself.
  template <detail::capture_element T>
  device_array(const T *data, std::vector<std::int64_t> shape, std::int32_t device = 0,
               std::shared_ptr<const void> owner = nullptr)
      : data_(data), dtype_(detail::dtype_of<T>()), bytes_(sizeof(T)), shape_(std::move(shape)),
        device_(device), owner_(std::move(owner)) {
    for (const std::int64_t extent : shape_)
      bytes_ *= std::size_t(extent);
  }
  const void *data() const noexcept { return data_; }
  const char *dtype() const noexcept { return dtype_; } ///< "f32"
  const std::vector<std::int64_t> &shape() const noexcept { return shape_; }
  std::int32_t device() const noexcept { return device_; }
  const std::shared_ptr<const void> &owner() const noexcept { return owner_; }

private:
  friend class capture_value;
  const void *data_;
  const char *dtype_;
  std::size_t bytes_;
  std::vector<std::int64_t> shape_;
  std::int32_t device_;
  std::shared_ptr<const void> owner_;
};

/// A value for one capture. What is in host memory is copied when this is made; copies of it share
/// that. Made of a name and
///  - a number: it becomes the nearest value of the declared type;
///  - a vector, span, array or other contiguous range of numbers: one axis;
///  - an mdspan of any rank, a matrix or matrix_view;
///  - a device_array, or a device_matrix_view.
class capture_value {
public:
  template <detail::capture_element T>
  capture_value(std::string name, T number)
      : capture_value(std::move(name), detail::dtype_of<T>()) {
    copy(&number, sizeof number);
  }
  template <detail::capture_range R>
    requires(!detail::capture_mdspan<R>)
  capture_value(std::string name, const R &values)
      : capture_value(std::move(name),
                      detail::dtype_of<std::remove_cv_t<std::ranges::range_value_t<const R>>>()) {
    shape_.push_back(std::int64_t(std::ranges::size(values)));
    copy(std::ranges::data(values),
         std::ranges::size(values) * sizeof(std::ranges::range_value_t<const R>));
  }
  capture_value(std::string name, const std::vector<bool> &values)
      : capture_value(std::move(name), detail::dtype_of<bool>()) {
    const std::vector<std::uint8_t> bytes(values.begin(), values.end());
    shape_.push_back(std::int64_t(values.size()));
    copy(bytes.data(), bytes.size());
  }
  template <detail::capture_mdspan V>
  capture_value(std::string name, const V &view)
      : capture_value(std::move(name),
                      detail::dtype_of<std::remove_const_t<detail::element_of_view<V>>>()) {
    std::vector<std::int64_t> strides;
    for (std::size_t i = 0; i < V::rank(); ++i) {
      shape_.push_back(std::int64_t(view.extent(index_of<V>(i))));
      strides.push_back(std::int64_t(view.stride(index_of<V>(i))));
    }
    gather(view.data_handle(), strides);
  }
  capture_value(std::string name, device_array array)
      : capture_value(std::move(name), array.dtype_) {
    shape_ = std::move(array.shape_);
    data_ = array.data_, bytes_ = array.bytes_;
    on_device_ = true, device_ = array.device_, owner_ = std::move(array.owner_);
  }
  template <detail::capture_element T>
  capture_value(std::string name, device_matrix_view<T> view)
      : capture_value(std::move(name),
                      device_array(static_cast<const std::remove_const_t<T> *>(view.data()),
                                   {view.extent(0), view.extent(1)}, view.device())) {}

  /// Where it came from, for messages.
  capture_value &&from(std::string origin) && {
    origin_ = std::move(origin);
    return std::move(*this);
  }
  const std::string &name() const noexcept { return name_; }
  /// Empty: a number.
  const std::vector<std::int64_t> &shape() const noexcept { return shape_; }

  /// Lives as long as this object; to be bound once.
  annudf_capture_value c() const {
    annudf_capture_value value = {};
    value.size = sizeof value;
    value.name = name_.c_str(), value.dtype = dtype_;
    value.shape = shape_.data(), value.rank = std::int32_t(shape_.size());
    value.data = data_, value.bytes = bytes_;
    value.origin = origin_.empty() ? nullptr : origin_.c_str();
    if (on_device_)
      value.place = {ANNUDF_MEMORY_CUDA, device_, 0};
    if (!shape_.empty()) { // An array is not copied again.
      value.owner = new std::shared_ptr<const void>(owner_);
      value.release = [](void *kept) { delete static_cast<std::shared_ptr<const void> *>(kept); };
    }
    return value;
  }

private:
  capture_value(std::string name, const char *dtype) : name_(std::move(name)), dtype_(dtype) {}
  template <class V> static auto index_of(std::size_t i) {
    if constexpr (requires { typename V::rank_type; })
      return typename V::rank_type(i);
    else
      return i;
  }
  void copy(const void *from, std::size_t bytes) {
    auto *room = allocate(bytes);
    if (bytes != 0)
      std::memcpy(room, from, bytes);
  }
  std::byte *allocate(std::size_t bytes) {
    std::shared_ptr<std::byte[]> room(new std::byte[std::max(bytes, std::size_t(1))]);
    std::byte *first = room.get();
    data_ = first, bytes_ = bytes, owner_ = std::shared_ptr<const void>(room, first);
    return first;
  }
  /// Elements in C order, from what has strides in elements.
  template <class T> void gather(const T *from, const std::vector<std::int64_t> &strides) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape_)
      count *= std::size_t(extent);
    std::byte *to = allocate(count * sizeof(T));
    std::vector<std::int64_t> at(shape_.size());
    for (std::size_t i = 0; i < count; ++i, to += sizeof(T)) {
      std::int64_t offset = 0;
      for (std::size_t axis = 0; axis < at.size(); ++axis)
        offset += at[axis] * strides[axis];
      std::memcpy(to, from + offset, sizeof(T));
      for (std::size_t axis = at.size(); axis-- > 0;) {
        if (++at[axis] < shape_[axis])
          break;
        at[axis] = 0;
      }
    }
  }

  std::string name_, origin_;
  const char *dtype_;
  std::vector<std::int64_t> shape_;
  const void *data_ = nullptr;
  std::size_t bytes_ = 0;
  bool on_device_ = false;
  std::int32_t device_ = 0;
  std::shared_ptr<const void> owner_;
};

namespace detail {

/// Values bound to captures, for one artifact and so many dims.
using captures_owner = owner<annudf_captures, annudf_captures_destroy>;

/// How many queries the values of an artifact's captures are for; 0 if none has that extent.
inline std::int64_t queries_of(const artifact &of, std::span<const capture_value> values) {
  annudf_capture_declaration declared = {};
  declared.size = sizeof declared;
  for (std::size_t i = 0; i < annudf_artifact_get(of.c())->capture_count; ++i) {
    check(annudf_artifact_capture(of.c(), i, &declared));
    if (declared.rank == 0 || declared.extents[0] != ANNUDF_EXTENT_QUERY)
      continue;
    for (const capture_value &value : values)
      if (value.name() == declared.name && !value.shape().empty())
        return value.shape()[0];
  }
  return 0;
}

/// What captures are bound for: rows of so many dims, and the index that has them, or null.
struct searched {
  searched(std::int64_t of_dims, const annudf_ivf_flat_index *in = nullptr)
      : dims(of_dims), index(in) {}
  std::int64_t dims;
  const annudf_ivf_flat_index *index;
};

/// Whether a capture with an entry a row has no value, so that it reads a column of its index.
inline bool reads_columns(const artifact &of, std::span<const capture_value> values) {
  annudf_capture_declaration declared = {};
  declared.size = sizeof declared;
  for (std::size_t i = 0; i < annudf_artifact_get(of.c())->capture_count; ++i) {
    check(annudf_artifact_capture(of.c(), i, &declared));
    const auto is_given = [&](const capture_value &one) { return one.name() == declared.name; };
    if (declared.rank == 1 && declared.extents[0] == ANNUDF_EXTENT_ROW &&
        std::none_of(values.begin(), values.end(), is_given))
      return true;
  }
  return false;
}

/// Values as the C API takes them, which releases what it was handed over.
inline std::vector<annudf_capture_value> to_c(std::span<const capture_value> values) {
  std::vector<annudf_capture_value> list;
  list.reserve(values.size());
  try {
    for (const capture_value &value : values)
      list.push_back(value.c());
  } catch (...) { // No memory: what was handed over to nobody goes.
    for (const annudf_capture_value &value : list)
      if (value.release)
        value.release(value.owner);
    throw;
  }
  return list;
}

/// Null where the artifact has no captures and no values were given.
inline captures_owner bind_captures(const artifact &to, std::span<const capture_value> values,
                                    const searched &rows, bool allow_non_finite) {
  if (values.empty() && annudf_artifact_get(to.c())->capture_count == 0)
    return nullptr;
  const std::int64_t queries = queries_of(to, values);
  const annudf_captures_options options = {sizeof options, allow_non_finite,
                                           rows.index && reads_columns(to, values) ? rows.index
                                                                                   : nullptr};
  // Each search checks by itself that there are enough rows, so any number is right here.
  const annudf_extents extents = {sizeof extents, rows.dims, 1, queries};
  const std::vector<annudf_capture_value> list = to_c(values);
  annudf_captures *made = nullptr;
  check(annudf_captures_bind(to.c(), &extents, list.data(), list.size(), &options, &made));
  return captures_owner(made);
}

} // namespace detail

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_CAPTURES_HPP
