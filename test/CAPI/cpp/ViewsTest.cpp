//===- ViewsTest.cpp - Matrices and views of annudf.hpp -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CppApi.h"

#include <array>
#include <numeric>

using namespace cpp_api;

namespace {

/// As std::mdspan is, of C++23.
template <class T, std::size_t Rank> struct span_of {
  using rank_type = std::size_t;
  static constexpr std::size_t rank() { return Rank; }
  std::size_t extent(rank_type i) const { return extents[i]; }
  std::size_t stride(rank_type i) const { return strides[i]; }
  T *data_handle() const { return data; }
  T *data;
  std::array<std::size_t, Rank> extents, strides;
};

/// As RAFT's views say where they are.
struct of_device {
  static constexpr bool is_host_accessible = false, is_device_accessible = true;
};
struct device_span : span_of<float, 2> {
  using accessor_type = of_device;
};

static_assert(std::is_constructible_v<annudf::vectors, span_of<float, 2>>);
static_assert(std::is_convertible_v<span_of<const float, 2>, annudf::vectors>);
static_assert(!std::is_constructible_v<annudf::vectors, span_of<float, 1>>);
static_assert(!std::is_constructible_v<annudf::vectors, span_of<double, 2>>);
static_assert(!std::is_constructible_v<annudf::vectors, device_span>, "no host memory");
static_assert(std::is_convertible_v<device_span, annudf::device_matrix_view<float>>);
static_assert(!std::is_convertible_v<span_of<float, 2>, annudf::device_matrix_view<float>>);
static_assert(std::is_constructible_v<annudf::device_matrix_view<float>, span_of<float, 2>>);
static_assert(
    std::is_constructible_v<annudf::matrix_view<const float>, annudf::matrix_view<float>>);
static_assert(
    !std::is_constructible_v<annudf::matrix_view<float>, annudf::matrix_view<const float>>);
static_assert(std::is_convertible_v<annudf::matrix<float>, annudf::vectors>);
static_assert(!std::is_copy_constructible_v<annudf::matrix<float>>);
static_assert(!std::is_copy_constructible_v<annudf::ivf_flat::index>);
static_assert(std::is_nothrow_move_constructible_v<annudf::ivf_flat::index>);
static_assert(std::is_nothrow_copy_constructible_v<annudf::error>);
static_assert(std::is_convertible_v<const char *, annudf::bound_metric>);

TEST(CppViews, OfRanges) {
  std::vector<float> data(12);
  std::iota(data.begin(), data.end(), 0.0f);
  annudf::matrix_view view(data, 4);
  EXPECT_EQ(view.rows(), 3);
  EXPECT_EQ(view.cols(), 4);
  EXPECT_EQ(view(2, 1), 9.0f);
  view(2, 1) = 90;
  EXPECT_EQ(data[9], 90.0f);
  EXPECT_EQ(view.row(1)[0], 4.0f);
  const annudf::matrix_view constant(std::as_const(data), 6);
  static_assert(std::is_same_v<decltype(constant), const annudf::matrix_view<const float>>);
  EXPECT_EQ(constant.rows(), 2);
  EXPECT_EQ(error_of([&] { (void)annudf::matrix_view(data, 5); }),
            usage("the vectors have 12 coordinates in rows of 5; give a positive number that "
                  "divides them"));
  EXPECT_EQ(error_of([&] { (void)annudf::matrix_view(data, 0); }),
            usage("the vectors have 12 coordinates in rows of 0; give a positive number that "
                  "divides them"));
  const std::array<std::uint8_t, 4> bytes = {1, 2, 3, 4};
  EXPECT_EQ(annudf::matrix_view(bytes, 2).rows(), 2);
}

TEST(CppViews, PackedBitsCountBits) {
  const std::vector<annudf::packed_bits> bits(6);
  const annudf::matrix_view view(bits, 16);
  EXPECT_EQ(view.rows(), 3);
  EXPECT_EQ(view.cols(), 16);
  EXPECT_EQ(view.size(), 6u);
  EXPECT_EQ(annudf::vectors(view).c().dims, 16);
  EXPECT_EQ(annudf::vectors(view).element(), annudf::element::bits);
  EXPECT_EQ(
      error_of([&] { (void)annudf::matrix_view(bits, 12); }),
      usage("the vectors have 48 coordinates in rows of 12; give a multiple of 8 that divides "
            "them"));
  const span_of<const annudf::packed_bits, 2> span = {bits.data(), {3, 2}, {2, 1}};
  EXPECT_EQ(annudf::vectors(span).dims(), 16);
}

TEST(CppViews, OfMdspans) {
  std::vector<float> data(12);
  const annudf::matrix_view view(span_of<float, 2>{data.data(), {3, 4}, {4, 1}});
  EXPECT_EQ(view.rows(), 3);
  EXPECT_EQ(view.data(), data.data());
  const auto refused = [&](std::array<std::size_t, 2> extents, std::array<std::size_t, 2> strides) {
    return error_of(
        [&] { (void)annudf::vectors(span_of<float, 2>{data.data(), extents, strides}); });
  };
  EXPECT_EQ(
      refused({3, 2}, {4, 1}),
      usage("a matrix of 3 x 2 has strides of 4 and 1 elements; it must be row-major without gaps, "
            "so copy it"));
  EXPECT_EQ(
      refused({3, 4}, {1, 3}),
      usage("a matrix of 3 x 4 has strides of 1 and 3 elements; it must be row-major without gaps, "
            "so copy it"));
  EXPECT_EQ(refused({1, 4}, {99, 1}), "nothing"); // No row follows.
  EXPECT_EQ(refused({3, 1}, {1, 99}), "nothing");
}

TEST(CppViews, MatricesMove) {
  annudf::matrix<float> one(2, 3);
  std::iota(one.begin(), one.end(), 0.0f);
  annudf::matrix<float> two = std::move(one);
  EXPECT_EQ(one.rows(), 0);  // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
  EXPECT_EQ(one.size(), 0u); // NOLINT(bugprone-use-after-move,clang-analyzer-cplusplus.Move)
  EXPECT_EQ(two(1, 2), 5.0f);
  one = std::move(two);
  EXPECT_EQ(one.row(1).size(), 3u);
  EXPECT_EQ(annudf::vectors(one).rows(), 2);
  EXPECT_EQ(annudf::matrix_view(one).cols(), 3);
  EXPECT_EQ(annudf::matrix<float>(0, 5).size(), 0u);
}

// The analyzer does not follow a shared_ptr's array.
// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks)
TEST(CppViews, ValuesOfMdspansAreGathered) {
  std::vector<int> data(24);
  std::iota(data.begin(), data.end(), 0);
  // Transposed: column-major of 2 x 3 x 4.
  const annudf::capture_value value("t", span_of<const int, 3>{data.data(), {2, 3, 4}, {1, 2, 6}});
  EXPECT_EQ(value.shape(), (std::vector<std::int64_t>{2, 3, 4}));
  const annudf_capture_value c = value.c();
  EXPECT_EQ(c.bytes, 24 * sizeof(int));
  EXPECT_STREQ(c.dtype, "i32");
  const int *entries = static_cast<const int *>(c.data);
  EXPECT_EQ(entries[0], 0);
  EXPECT_EQ(entries[1], 6);  // [0, 0, 1]
  EXPECT_EQ(entries[4], 2);  // [0, 1, 0]
  EXPECT_EQ(entries[12], 1); // [1, 0, 0]
  EXPECT_EQ(entries[23], 23);
  c.release(c.owner);
}

// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

TEST(CppViews, TypesOfCaptures) {
  using annudf::detail::dtype_of;
  EXPECT_STREQ(dtype_of<annudf::float16>(), "f16");
  EXPECT_STREQ(dtype_of<annudf::bfloat16>(), "bf16");
  EXPECT_STREQ(dtype_of<bool>(), "b1");
  EXPECT_STREQ(dtype_of<std::int64_t>(), "i64");
  EXPECT_STREQ(dtype_of<std::uint16_t>(), "u16");
  EXPECT_STREQ(dtype_of<double>(), "f64");
  static_assert(!annudf::detail::capture_element<long double>);
  static_assert(!annudf::detail::capture_element<const char *>);
}

TEST(CppViews, DeviceArraysAreKeptWhileTheyAreBound) {
  auto owner = std::make_shared<int>(0);
  const float *nowhere = reinterpret_cast<const float *>(std::uintptr_t(0x1000));
  {
    const annudf::capture_value value("w", annudf::device_array(nowhere, {2, 3}, 1, owner));
    EXPECT_EQ(owner.use_count(), 2);
    const annudf_capture_value c = value.c();
    EXPECT_EQ(owner.use_count(), 3);
    EXPECT_EQ(c.place.memory, ANNUDF_MEMORY_CUDA);
    EXPECT_EQ(c.place.device, 1);
    EXPECT_EQ(c.bytes, 24u);
    EXPECT_EQ(c.data, nowhere);
    c.release(c.owner);
  }
  EXPECT_EQ(owner.use_count(), 1);
}

TEST(CppViews, Streams) {
  EXPECT_EQ(annudf::cuda_stream().c(), 0u);
  EXPECT_EQ(annudf::cuda_stream(2).c(), 2u);
  int made = 0; // A cudaStream_t is a pointer.
  EXPECT_EQ(annudf::cuda_stream(&made).c(), reinterpret_cast<std::uintptr_t>(&made));
}

} // namespace
