//===- FormNodes.h - Coefficients of a form as numbers ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Real numbers as doubles and how far from them these may be, and the expressions over entries of
// captures (Coefficient of Form.h) that are computed with them. For the host, which binds forms,
// and for the kernels that compute coefficients for each query: clang, nvcc and g++ read it.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_KERNELS_FORMNODES_H
#define ANNUDF_KERNELS_FORMNODES_H

#include "Coordinates.h"

#include "annudf/Artifact/CoefficientKind.h"

#include <cmath>

namespace annudf_kernels {

//===----------------------------------------------------------------------===//
// Doubles, rounded as they say. On a GPU no sum is fused with a product, as errors are of either.
//===----------------------------------------------------------------------===//

#if defined(__CUDA_ARCH__)
ANNUDF_CONVERSION double sumOf(double a, double b) { return __dadd_rn(a, b); }
ANNUDF_CONVERSION double productOf(double a, double b) { return __dmul_rn(a, b); }
ANNUDF_CONVERSION double sumUp(double a, double b) { return __dadd_ru(a, b); }
ANNUDF_CONVERSION double productUp(double a, double b) { return __dmul_ru(a, b); }
ANNUDF_CONVERSION double quotientUp(double a, double b) { return __ddiv_ru(a, b); }
ANNUDF_CONVERSION double differenceDown(double a, double b) { return __dadd_rd(a, -b); }
#else
ANNUDF_CONVERSION double sumOf(double a, double b) { return a + b; }
ANNUDF_CONVERSION double productOf(double a, double b) { return a * b; }
ANNUDF_CONVERSION double sumUp(double a, double b) { return nextafter(a + b, HUGE_VAL); }
ANNUDF_CONVERSION double productUp(double a, double b) { return nextafter(a * b, HUGE_VAL); }
ANNUDF_CONVERSION double quotientUp(double a, double b) { return nextafter(a / b, HUGE_VAL); }
ANNUDF_CONVERSION double differenceDown(double a, double b) { return nextafter(a - b, -HUGE_VAL); }
#endif

/// Below it the rounding error of a product or quotient may not be a double itself.
constexpr double kSmallestExact = 0x1p-960;
/// At least half the last place of any double below kSmallestExact.
constexpr double kSmallestError = 0x1p-1010;
/// Times it a sum of doubles that are not negative is above what it is of in real numbers.
constexpr double kMoreThanLost = 1 + 0x1p-30;

/// Not negative, rounded up at each step; 0 only where it is 0.
struct Upper {
  double v = 0;
  friend ANNUDF_CONVERSION Upper operator+(Upper a, Upper b) {
    if (a.v == 0 || b.v == 0)
      return {a.v + b.v};
    return {sumUp(a.v, b.v)};
  }
  friend ANNUDF_CONVERSION Upper operator*(Upper a, Upper b) {
    if (a.v == 0 || b.v == 0)
      return {0};
    return {productUp(a.v, b.v)};
  }
  friend ANNUDF_CONVERSION Upper operator/(Upper a, Upper b) {
    if (a.v == 0)
      return {0};
    return {quotientUp(a.v, b.v)};
  }
  ANNUDF_CONVERSION Upper &operator+=(Upper b) { return *this = *this + b; }
};

/// A real number at most `e` from v; neither is finite where nothing is known. What is exact stays
/// exact: the coefficients that vanish for a function of x - y vanish here.
struct Real {
  double v = 0;
  Upper e;

  friend ANNUDF_CONVERSION Real operator-(Real a) { return {-a.v, a.e}; }
  friend ANNUDF_CONVERSION Real operator+(Real a, Real b) {
    const double sum = sumOf(a.v, b.v), part = sumOf(sum, -a.v);
    const double lost = sumOf(sumOf(a.v, -sumOf(sum, -part)), sumOf(b.v, -part)); // Exact (Knuth).
    return {sum, a.e + b.e + Upper{fabs(lost)}};
  }
  friend ANNUDF_CONVERSION Real operator*(Real a, Real b) {
    const double product = productOf(a.v, b.v);
    double lost = fabs(fma(a.v, b.v, -product)); // Exact, but for underflow.
    if (a.v != 0 && b.v != 0 && fabs(product) < kSmallestExact)
      lost = kSmallestError;
    const Upper x{fabs(a.v)}, y{fabs(b.v)};
    return {product, Upper{lost} + x * b.e + y * a.e + a.e * b.e};
  }
  friend ANNUDF_CONVERSION Real operator/(Real a, Real b) {
    const Upper divisor{b.e.v == 0 ? fabs(b.v) : differenceDown(fabs(b.v), b.e.v)};
    if (!(divisor.v > 0))
      return {HUGE_VAL, {HUGE_VAL}};
    const double quotient = a.v / b.v;
    Upper rest{fabs(fma(-quotient, b.v, a.v))}; // Exact, but for underflow.
    if (a.v != 0 && (fabs(quotient) < kSmallestExact || fabs(a.v) < kSmallestExact))
      rest = Upper{fabs(b.v)} * (Upper{fabs(quotient)} * Upper{0x1p-52} + Upper{kSmallestError});
    return {quotient, (rest + a.e + Upper{fabs(quotient)} * b.e) / divisor};
  }
  ANNUDF_CONVERSION Real magnitude() const { return {fabs(v), e}; }
  ANNUDF_CONVERSION bool isFinite() const { return fabs(v) < HUGE_VAL && e.v < HUGE_VAL; }
  /// At least its absolute value.
  ANNUDF_CONVERSION Upper most() const { return Upper{fabs(v)} + e; }
};

//===----------------------------------------------------------------------===//
// Entries of captures
//===----------------------------------------------------------------------===//

/// An integer of 64 bits, as a double and what that may be off: half a place.
template <class Integer> ANNUDF_CONVERSION Real realOfInteger(Integer value) {
  const double real = static_cast<double>(value);
  return {real, {fabs(real) < 0x1p53 ? 0 : fabs(real) * 0x1p-53}};
}

/// Storage: what memory holds of an entry. real: what it is worth.
template <int element> struct CaptureEntry;
template <class T> struct PlainEntry {
  using Storage = T;
  static ANNUDF_CONVERSION Real real(T value) { return {static_cast<double>(value), {}}; }
};
template <> struct CaptureEntry<ANNUDF_CAPTURE_F32> : PlainEntry<float> {};
template <> struct CaptureEntry<ANNUDF_CAPTURE_F64> : PlainEntry<double> {};
template <> struct CaptureEntry<ANNUDF_CAPTURE_I32> : PlainEntry<int32_t> {};
template <> struct CaptureEntry<ANNUDF_CAPTURE_U32> : PlainEntry<uint32_t> {};
template <> struct CaptureEntry<ANNUDF_CAPTURE_I16> : PlainEntry<int16_t> {};
template <> struct CaptureEntry<ANNUDF_CAPTURE_U16> : PlainEntry<uint16_t> {};
template <> struct CaptureEntry<ANNUDF_CAPTURE_I8> : PlainEntry<int8_t> {};
template <> struct CaptureEntry<ANNUDF_CAPTURE_U8> : PlainEntry<uint8_t> {};
template <> struct CaptureEntry<ANNUDF_CAPTURE_F16> {
  using Storage = uint16_t;
  static ANNUDF_CONVERSION Real real(uint16_t bits) {
    return {Element<ANNUDF_ELEMENT_F16>::decode(bits), {}};
  }
};
template <> struct CaptureEntry<ANNUDF_CAPTURE_BF16> {
  using Storage = uint16_t;
  static ANNUDF_CONVERSION Real real(uint16_t bits) {
    return {Element<ANNUDF_ELEMENT_BF16>::decode(bits), {}};
  }
};
template <> struct CaptureEntry<ANNUDF_CAPTURE_I64> {
  using Storage = int64_t;
  static ANNUDF_CONVERSION Real real(int64_t value) { return realOfInteger(value); }
};
template <> struct CaptureEntry<ANNUDF_CAPTURE_U64> {
  using Storage = uint64_t;
  static ANNUDF_CONVERSION Real real(uint64_t value) { return realOfInteger(value); }
};
template <> struct CaptureEntry<ANNUDF_CAPTURE_I1> {
  using Storage = uint8_t;
  static ANNUDF_CONVERSION Real real(uint8_t value) { return {value != 0 ? 1.0 : 0.0, {}}; }
};

/// Entry number `place` of an array of the element, or of a scalar's bits.
ANNUDF_CONVERSION Real entryAt(int32_t element, const void *values, int64_t place) {
  switch (element) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  case VALUE:                                                                                      \
    return CaptureEntry<VALUE>::real(                                                              \
        static_cast<const CaptureEntry<VALUE>::Storage *>(values)[place]);
    ANNUDF_CAPTURE_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
  }
  return {HUGE_VAL, {HUGE_VAL}};
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

using NodeKind = annudf::CoefficientKind;

/// Coefficient of Form.h, its entries found in memory; checked by who makes it.
struct FormNode {
  NodeKind kind;
  uint32_t a, b;      ///< Operands, nodes before this one. For an entry, a is the capture's slot.
  int32_t element;    ///< An entry's: enum annudf_capture_element.
  double number;      ///< A number's value.
  int64_t first;      ///< An entry's place for dimension and query 0,
  int64_t perDim;     ///< and what a dimension
  int64_t perQuery;   ///< and a query add to that.
  uint32_t isScalar;  ///< Whether the slot holds the entry itself, not its address.
  uint32_t reserved_; ///< 0, so that equal nodes are of equal bytes.
};

/// The value of a node. \param at  of a node before it.  \param entries  the memory of an entry.
template <class At, class Entries>
ANNUDF_CONVERSION Real valueOf(const FormNode &node, int64_t dim, int64_t query, At at,
                               Entries entries) {
  switch (node.kind) {
  case NodeKind::Number:
    return {node.number, {}};
  case NodeKind::Entry:
    return entryAt(node.element, entries(node),
                   node.first + node.perDim * dim + node.perQuery * query);
  case NodeKind::Negated:
    return -at(node.a);
  case NodeKind::Sum:
    return at(node.a) + at(node.b);
  case NodeKind::Product:
    return at(node.a) * at(node.b);
  case NodeKind::Quotient:
    return at(node.a) / at(node.b);
  case NodeKind::Absolute:
    return at(node.a).magnitude();
  }
  return {HUGE_VAL, {HUGE_VAL}};
}

} // namespace annudf_kernels

#endif // ANNUDF_KERNELS_FORMNODES_H
