//===- Peer.cuh - What sources in the form of cuVS use --------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_SOURCE_HAS_IS_SAME
namespace std {
template <typename A, typename B> struct is_same {
  static constexpr bool value = false;
};
template <typename A> struct is_same<A, A> {
  static constexpr bool value = true;
};
template <typename A, typename B> inline constexpr bool is_same_v = is_same<A, B>::value;
} // namespace std
#endif

#ifndef ANNUDF_SOURCE_HAS_POINT
/// One coordinate: a scan hands them over one by one, whatever the element type.
template <typename T, typename AccT, int Veclen> struct point {
  using element_type = T;
  using storage_type = AccT;
  static constexpr int veclen = Veclen;

  AccT data_;

  point() = default;
  explicit point(AccT value) : data_(value) {}
  AccT raw() const { return data_; }
  AccT &raw() { return data_; }
  static constexpr int size() { return 1; }
  static constexpr bool is_packed() { return false; }
  T operator[](int) const { return static_cast<T>(data_); }
};

template <typename T, typename AccT, int V>
AccT abs_diff(point<T, AccT, V> x, point<T, AccT, V> y) {
  return x.data_ < y.data_ ? y.data_ - x.data_ : x.data_ - y.data_;
}
template <typename T, typename AccT, int V>
AccT squared_diff(point<T, AccT, V> x, point<T, AccT, V> y) {
  return (x.data_ - y.data_) * (x.data_ - y.data_);
}
template <typename T, typename AccT, int V>
AccT product(point<T, AccT, V> x, point<T, AccT, V> y) {
  return x.data_ * y.data_;
}
template <typename T, typename AccT, int V>
AccT dot_product(point<T, AccT, V> x, point<T, AccT, V> y) {
  return product(x, y);
}
template <typename T, typename AccT, int V> AccT sum(point<T, AccT, V> x, point<T, AccT, V> y) {
  return x.data_ + y.data_;
}
template <typename T, typename AccT, int V>
AccT max_elem(point<T, AccT, V> x, point<T, AccT, V> y) {
  return y.data_ < x.data_ ? x.data_ : y.data_;
}
#endif
