//===- annudf/cpp/matrix.hpp - Results that own their memory ----*- C++ -*-===//
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

#ifndef ANNUDF_CPP_MATRIX_HPP
#define ANNUDF_CPP_MATRIX_HPP

#include "annudf/cpp/views.hpp"

#include <algorithm>
#include <limits>
#include <memory>
#include <new>

namespace annudf {
inline namespace v0 {

/// A row-major matrix in host memory that owns it. Moved, not copied; what it was moved from is
/// empty.
template <class T> class matrix {
public:
  matrix() = default;
  /// Its entries have no value yet. \throws error where there is no memory for it.
  /// \param what  what it is for, for messages.
  matrix(std::int64_t rows, std::int64_t cols, const char *what = "a matrix")
      : rows_(rows), cols_(cols) {
    constexpr auto most = std::uint64_t(std::numeric_limits<std::ptrdiff_t>::max()) / sizeof(T);
    if (rows < 0 || cols < 0 || (cols > 0 && std::uint64_t(rows) > most / std::uint64_t(cols)))
      throw error(errc::usage, std::string(what) + " cannot have shape " + shape_text() +
                                   "; give extents of 0 or above that memory can hold");
    try {
      data_ = std::make_unique_for_overwrite<T[]>(size());
    } catch (const std::bad_alloc &) {
      throw error(errc::environment, "there is no memory for " + shape_text() + " entries of " +
                                         what + "; ask for fewer at once");
    }
  }
  matrix(matrix &&other) noexcept { swap(other); }
  matrix &operator=(matrix &&other) noexcept {
    matrix(std::move(other)).swap(*this);
    return *this;
  }

  T *data() noexcept { return data_.get(); }
  const T *data() const noexcept { return data_.get(); }
  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t cols() const noexcept { return cols_; }
  std::size_t size() const noexcept { return std::size_t(rows_) * std::size_t(cols_); }
  T &operator()(std::int64_t row, std::int64_t col) noexcept { return data_[at(row, col)]; }
  const T &operator()(std::int64_t row, std::int64_t col) const noexcept {
    return data_[at(row, col)];
  }
  std::span<T> row(std::int64_t i) noexcept { return {data() + i * cols_, std::size_t(cols_)}; }
  std::span<const T> row(std::int64_t i) const noexcept {
    return {data() + i * cols_, std::size_t(cols_)};
  }
  /// Row after row.
  T *begin() noexcept { return data(); }
  T *end() noexcept { return data() + size(); }
  const T *begin() const noexcept { return data(); }
  const T *end() const noexcept { return data() + size(); }
  matrix_view<const T> view() const noexcept { return {data(), rows_, cols_}; }
  bool operator==(const matrix &other) const {
    return rows_ == other.rows_ && cols_ == other.cols_ &&
           std::equal(begin(), end(), other.begin());
  }

  // As an mdspan, so that a matrix is taken where one is.
  static constexpr std::size_t rank() noexcept { return 2; }
  std::int64_t extent(std::size_t i) const noexcept { return i == 0 ? rows_ : cols_; }
  std::int64_t stride(std::size_t i) const noexcept { return i == 0 ? cols_ : 1; }
  const T *data_handle() const noexcept { return data(); }

private:
  void swap(matrix &other) noexcept {
    std::swap(data_, other.data_), std::swap(rows_, other.rows_), std::swap(cols_, other.cols_);
  }
  std::size_t at(std::int64_t row, std::int64_t col) const noexcept {
    return std::size_t(row * cols_ + col);
  }
  std::string shape_text() const { return std::to_string(rows_) + " x " + std::to_string(cols_); }
  std::unique_ptr<T[]> data_;
  std::int64_t rows_ = 0, cols_ = 0;
};

} // namespace v0
} // namespace annudf

#endif // ANNUDF_CPP_MATRIX_HPP
