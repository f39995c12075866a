//===- annudf/cpp/views.hpp - Matrices of the caller's ----------*- C++ -*-===//
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

#ifndef ANNUDF_CPP_VIEWS_HPP
#define ANNUDF_CPP_VIEWS_HPP

#include "annudf/cpp/error.hpp"
#include "annudf/cpp/trace.hpp"

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>

namespace annudf {
inline namespace v0 {

// As the C API numbers them.
static_assert(int(element::f32) == ANNUDF_ELEMENT_F32 && int(element::f16) == ANNUDF_ELEMENT_F16 &&
              int(element::i8) == ANNUDF_ELEMENT_I8 && int(element::u8) == ANNUDF_ELEMENT_U8 &&
              int(element::bf16) == ANNUDF_ELEMENT_BF16 &&
              int(element::bits) == ANNUDF_ELEMENT_BITS);

/// Eight coordinates of a bit each, the first in the lowest bit: FAISS's binary vectors.
struct packed_bits {
  std::uint8_t bits;
};

/// What a C++ type is as an element. A program with float16 or bfloat16 of its own says so:
///
///     template <> struct annudf::element_of<__half> {
///       static constexpr annudf::element value = annudf::element::f16;
///     };
template <class T> struct element_of {};
template <> struct element_of<float> {
  static constexpr element value = element::f32;
};
template <> struct element_of<float16> {
  static constexpr element value = element::f16;
};
template <> struct element_of<bfloat16> {
  static constexpr element value = element::bf16;
};
template <> struct element_of<std::int8_t> {
  static constexpr element value = element::i8;
};
template <> struct element_of<std::uint8_t> {
  static constexpr element value = element::u8;
};
template <> struct element_of<packed_bits> {
  static constexpr element value = element::bits;
};

/// A type that vectors may be of.
template <class T>
concept vector_element = requires {
  { element_of<T>::value } -> std::convertible_to<element>;
};

namespace detail {

/// What is laid out as an mdspan is: of any rank, with strides in elements.
template <class V>
concept mdspan_like = requires(const V &v) {
  { v.extent(0) } -> std::convertible_to<std::int64_t>;
  { v.stride(0) } -> std::convertible_to<std::int64_t>;
  { V::rank() } -> std::convertible_to<std::size_t>;
  requires std::is_pointer_v<decltype(v.data_handle())>;
};
template <class V>
using element_of_view = std::remove_pointer_t<decltype(std::declval<const V &>().data_handle())>;

/// Accessors of RAFT say which memory can be read; those of the standard are of the host.
template <class V> consteval bool is_on_host() {
  if constexpr (requires { V::accessor_type::is_host_accessible; })
    return V::accessor_type::is_host_accessible;
  else
    return true;
}
template <class V> consteval bool is_on_device() {
  if constexpr (requires { V::accessor_type::is_device_accessible; })
    return V::accessor_type::is_device_accessible;
  else
    return false;
}

template <class V>
concept mdspan_matrix = mdspan_like<V> && V::rank() == 2;
template <class V>
concept host_mdspan_matrix = mdspan_matrix<V> && is_on_host<V>();
template <class V>
concept device_mdspan_matrix = mdspan_matrix<V> && is_on_device<V>() && !is_on_host<V>();

/// Coordinates in one element: eight of packed bits.
template <class T>
inline constexpr std::int64_t coordinates =
    std::is_same_v<std::remove_const_t<T>, packed_bits> ? 8 : 1;

/// Refuses what is not row-major and without gaps, as the C API takes matrices.
template <class V> void check_row_major(const V &view) {
  const auto rows = std::int64_t(view.extent(0)), cols = std::int64_t(view.extent(1));
  const auto step = std::int64_t(view.stride(0)), one = std::int64_t(view.stride(1));
  if ((rows > 1 && cols > 0 && step != cols) || (rows > 0 && cols > 1 && one != 1))
    throw error(errc::usage, "a matrix of " + std::to_string(rows) + " x " + std::to_string(cols) +
                                 " has strides of " + std::to_string(step) + " and " +
                                 std::to_string(one) +
                                 " elements; it must be row-major without gaps, so copy it");
}

/// How many rows of `cols` coordinates so many elements are.
inline std::int64_t rows_of(std::size_t elements, std::int64_t cols, std::int64_t each) {
  if (cols <= 0 || cols % each != 0 || std::int64_t(elements) % (cols / each) != 0)
    throw error(errc::usage,
                "the vectors have " + std::to_string(std::int64_t(elements) * each) +
                    " coordinates in rows of " + std::to_string(cols) + "; give " +
                    (each > 1 ? "a multiple of " + std::to_string(each) : "a positive number") +
                    " that divides them");
  return std::int64_t(elements) / (cols / each);
}

/// What views of host and of device memory share.
template <class T> class matrix_base {
public:
  using element_type = T;
  using value_type = std::remove_const_t<T>;

  T *data() const noexcept { return data_; }
  std::int64_t rows() const noexcept { return rows_; }
  /// Coordinates of a row; of packed bits they are bits, eight an element.
  std::int64_t cols() const noexcept { return cols_; }
  /// Elements.
  std::size_t size() const noexcept {
    return std::size_t(rows_) * std::size_t(cols_ / coordinates<T>);
  }

  static constexpr std::size_t rank() noexcept { return 2; }
  std::int64_t extent(std::size_t i) const noexcept {
    return i == 0 ? rows_ : cols_ / coordinates<T>;
  }
  std::int64_t stride(std::size_t i) const noexcept { return i == 0 ? cols_ / coordinates<T> : 1; }
  T *data_handle() const noexcept { return data_; }

protected:
  matrix_base() = default;
  matrix_base(T *data, std::int64_t rows, std::int64_t cols)
      : data_(data), rows_(rows), cols_(cols) {}

private:
  T *data_ = nullptr;
  std::int64_t rows_ = 0, cols_ = 0;
};

} // namespace detail

/// A row-major matrix in host memory, without gaps, that stays the caller's.
template <class T> class matrix_view : public detail::matrix_base<T> {
public:
  matrix_view() = default;
  matrix_view(T *data, std::int64_t rows, std::int64_t cols)
      : detail::matrix_base<T>(data, rows, cols) {}
  /// All rows that the elements are. \throws error if they do not come out even.
  matrix_view(std::span<T> all, std::int64_t cols)
      : matrix_view(all.data(), detail::rows_of(all.size(), cols, detail::coordinates<T>), cols) {}
  /// From an mdspan, or what has its extent, stride, rank and data_handle; checks the layout.
  template <detail::host_mdspan_matrix V>
    requires std::convertible_to<detail::element_of_view<V> (*)[], T (*)[]>
  matrix_view(const V &view)
      : matrix_view(view.data_handle(), std::int64_t(view.extent(0)),
                    std::int64_t(view.extent(1)) * detail::coordinates<T>) {
    detail::check_row_major(view);
  }
  T &operator()(std::int64_t row, std::int64_t col) const noexcept
    requires(detail::coordinates<T> == 1)
  {
    return this->data()[row * this->cols() + col];
  }
  /// The elements of one row.
  std::span<T> row(std::int64_t i) const noexcept {
    return {this->data() + i * this->extent(1), std::size_t(this->extent(1))};
  }
};
template <std::ranges::contiguous_range R>
matrix_view(R &&, std::int64_t)
    -> matrix_view<std::remove_reference_t<std::ranges::range_reference_t<R>>>;
template <detail::host_mdspan_matrix V>
matrix_view(const V &) -> matrix_view<detail::element_of_view<V>>;

/// A stream of CUDA: a cudaStream_t or CUstream of the device's primary context, or its number. As
/// in __cuda_array_interface__, 0 and 1 are the legacy default stream and 2 the default stream of
/// this thread.
class cuda_stream {
public:
  constexpr cuda_stream(std::uint64_t handle = 0) noexcept : handle_(handle) {}
  template <class T>
    requires std::is_pointer_v<T>
  cuda_stream(T handle) noexcept : handle_(reinterpret_cast<std::uintptr_t>(handle)) {}
  constexpr std::uint64_t c() const noexcept { return handle_; }

private:
  std::uint64_t handle_;
};

/// A row-major matrix in memory of a CUDA device, without gaps, that stays the caller's: until
/// `stream` has got past the call that it was given to. Its data is written or read in that
/// stream's order.
template <class T> class device_matrix_view : public detail::matrix_base<T> {
public:
  device_matrix_view() = default;
  device_matrix_view(T *data, std::int64_t rows, std::int64_t cols, cuda_stream stream = {},
                     std::int32_t device = 0)
      : detail::matrix_base<T>(data, rows, cols), stream_(stream), device_(device) {}
  /// From an mdspan of device memory, whether its type says so or not; checks the layout.
  template <detail::mdspan_matrix V>
    requires std::convertible_to<detail::element_of_view<V> (*)[], T (*)[]>
  explicit(!detail::device_mdspan_matrix<V>)
      device_matrix_view(const V &view, cuda_stream stream = {}, std::int32_t device = 0)
      : device_matrix_view(view.data_handle(), std::int64_t(view.extent(0)),
                           std::int64_t(view.extent(1)) * detail::coordinates<T>, stream, device) {
    detail::check_row_major(view);
  }
  device_matrix_view(const device_matrix_view<std::remove_const_t<T>> &other)
    requires std::is_const_v<T>
      : device_matrix_view(other.data(), other.rows(), other.cols(), other.stream(),
                           other.device()) {}
  cuda_stream stream() const noexcept { return stream_; }
  std::int32_t device() const noexcept { return device_; }

  /// So that an mdspan's constructors know where it is.
  struct accessor_type {
    static constexpr bool is_host_accessible = false, is_device_accessible = true;
  };

private:
  cuda_stream stream_;
  std::int32_t device_ = 0;
};
template <detail::mdspan_matrix V>
device_matrix_view(const V &, cuda_stream = {}, std::int32_t = 0)
    -> device_matrix_view<detail::element_of_view<V>>;

/// Ids of rows, in host memory or in memory of a CUDA device, that stay the caller's. By default
/// none are given.
class row_ids {
public:
  row_ids() = default;
  template <class Ids>
    requires std::convertible_to<const Ids &, std::span<const std::int64_t>>
  row_ids(const Ids &all) noexcept : all_(all) {}
  /// In memory of a device, written in the order of a stream, which is waited for.
  row_ids(const std::int64_t *data, std::size_t count, cuda_stream stream,
          std::int32_t device = 0) noexcept
      : all_(data, count), place_{ANNUDF_MEMORY_CUDA, device, stream.c()} {}

  std::size_t size() const noexcept { return all_.size(); }
  bool empty() const noexcept { return all_.empty(); }
  annudf_ids c() const noexcept {
    return {sizeof(annudf_ids), all_.data(), std::int64_t(all_.size()), place_};
  }

private:
  std::span<const std::int64_t> all_;
  annudf_place place_ = {};
};

/// Vectors in host memory, of any element type: what searches and builds take. Made of a
/// matrix_view, a matrix, or an mdspan.
class vectors {
public:
  template <class T>
    requires vector_element<std::remove_const_t<T>>
  vectors(matrix_view<T> view) noexcept
      : data_(view.data()), rows_(view.rows()), dims_(view.cols()),
        element_(element_of<std::remove_const_t<T>>::value) {}
  template <detail::host_mdspan_matrix V>
    requires vector_element<std::remove_const_t<detail::element_of_view<V>>>
  vectors(const V &view) : vectors(matrix_view<detail::element_of_view<V>>(view)) {}
  /// Where the element type is known only when the program runs.
  vectors(const void *data, std::int64_t rows, std::int64_t dims, element element) noexcept
      : data_(data), rows_(rows), dims_(dims), element_(element) {}

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t dims() const noexcept { return dims_; }
  annudf::element element() const noexcept { return element_; }
  annudf_vectors c() const noexcept {
    return {sizeof(annudf_vectors), data_, rows_, dims_, std::int32_t(element_), {}};
  }

private:
  const void *data_;
  std::int64_t rows_, dims_;
  annudf::element element_;
};

/// The same in memory of a CUDA device, with the stream that its calls are enqueued on.
class device_vectors {
public:
  template <class T>
    requires vector_element<std::remove_const_t<T>>
  device_vectors(device_matrix_view<T> view) noexcept
      : device_vectors(view.data(), view.rows(), view.cols(),
                       element_of<std::remove_const_t<T>>::value, view.stream(), view.device()) {}
  device_vectors(const void *data, std::int64_t rows, std::int64_t dims, element element,
                 cuda_stream stream = {}, std::int32_t device = 0) noexcept
      : data_(data), rows_(rows), dims_(dims), element_(element), stream_(stream), device_(device) {
  }

  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t dims() const noexcept { return dims_; }
  annudf::element element() const noexcept { return element_; }
  cuda_stream stream() const noexcept { return stream_; }
  std::int32_t device() const noexcept { return device_; }
  annudf_vectors c() const noexcept {
    return {sizeof(annudf_vectors),
            data_,
            rows_,
            dims_,
            std::int32_t(element_),
            {ANNUDF_MEMORY_CUDA, device_, stream_.c()}};
  }

private:
  const void *data_;
  std::int64_t rows_, dims_;
  annudf::element element_;
  cuda_stream stream_;
  std::int32_t device_;
};

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_VIEWS_HPP
