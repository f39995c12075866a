//===- Captures.cpp - Binding values to a metric's captures -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "vectors/Elements.h"
#include "vectors/Npy.h"
#include "annudf/runtime/engine/Search.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace annudf::runtime {
namespace {

/// Holds every int64_t and every uint64_t.
using Integer = __int128;

/// A value on its way from the given to the declared type: every float type fits double.
struct Value {
  bool isInteger;
  Integer integer;
  double real;

  std::string text() const {
    if (isInteger)
      return integer < 0 ? std::to_string(static_cast<int64_t>(integer))
                         : std::to_string(static_cast<uint64_t>(integer));
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.9g", real);
    return buffer;
  }
  bool isFinite() const { return isInteger || std::isfinite(real); }
};

template <typename T> T loadAs(const std::byte *bytes, size_t i) {
  T value;
  std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return value;
}

Value load(const std::string &dtype, const std::byte *bytes, size_t i) {
  auto integer = [](Integer value) { return Value{true, value, 0}; };
  auto real = [](double value) { return Value{false, 0, value}; };
  if (dtype == "f32")
    return real(loadAs<float>(bytes, i));
  if (dtype == "f64")
    return real(loadAs<double>(bytes, i));
  if (dtype == "f16")
    return real(halfToFloat(loadAs<uint16_t>(bytes, i)));
  if (dtype == "i8")
    return integer(loadAs<int8_t>(bytes, i));
  if (dtype == "u8")
    return integer(loadAs<uint8_t>(bytes, i));
  if (dtype == "b1")
    return integer(loadAs<uint8_t>(bytes, i) != 0);
  if (dtype == "i16")
    return integer(loadAs<int16_t>(bytes, i));
  if (dtype == "u16")
    return integer(loadAs<uint16_t>(bytes, i));
  if (dtype == "u64")
    return integer(loadAs<uint64_t>(bytes, i));
  if (dtype == "i32")
    return integer(loadAs<int32_t>(bytes, i));
  if (dtype == "u32")
    return integer(loadAs<uint32_t>(bytes, i));
  return integer(loadAs<int64_t>(bytes, i));
}

/// What rounding a conversion may do.
enum class Rounding {
  Exact,  ///< None.
  Nearest ///< To the nearest value of a float type, as for a literal; never to infinity.
};

template <typename T> bool storeInteger(const Value &value, std::byte *out) {
  Integer integer = value.integer;
  if (!value.isInteger) {
    // The bounds are powers of two, exact as doubles; NaN fails both compares.
    if (!(value.real >= -0x1p63 && value.real < 0x1p64) || std::trunc(value.real) != value.real)
      return false;
    integer = static_cast<Integer>(value.real);
  }
  if (integer < Integer(std::numeric_limits<T>::min()) ||
      integer > Integer(std::numeric_limits<T>::max()))
    return false;
  const T narrow = static_cast<T>(integer);
  std::memcpy(out, &narrow, sizeof narrow);
  return true;
}

/// `narrow` goes through the type and back, as double.
template <typename T, typename Narrow, typename Widen>
bool storeReal(const Value &value, Rounding rounding, std::byte *out, Narrow narrow, Widen widen) {
  const double wide = value.isInteger ? static_cast<double>(value.integer) : value.real;
  const T stored = narrow(wide);
  const double back = widen(stored);
  // A 64-bit integer may lose bits on the way to double already.
  const bool kept = !value.isInteger || static_cast<Integer>(wide) == value.integer;
  const bool exact = kept && (back == wide || (std::isnan(back) && std::isnan(wide)));
  if (!exact && (rounding == Rounding::Exact || !std::isfinite(back)))
    return false;
  std::memcpy(out, &stored, sizeof stored);
  return true;
}

/// \returns false when the value has no (exact) counterpart.
bool store(const std::string &element, const Value &value, Rounding rounding, std::byte *out) {
  auto widen = [](auto stored) { return static_cast<double>(stored); };
  if (element == "f32")
    return storeReal<float>(
        value, rounding, out,
        [](double v) {
          // Out of float's range the conversion is undefined in C++, though not in IEEE 754.
          if (std::fabs(v) > double(std::numeric_limits<float>::max()) && std::isfinite(v)) {
            constexpr double kHalfStep = 0x1.ffffffp127;
            const float largest = std::fabs(v) < kHalfStep ? std::numeric_limits<float>::max()
                                                           : std::numeric_limits<float>::infinity();
            return v < 0 ? -largest : largest;
          }
          return static_cast<float>(v);
        },
        widen);
  if (element == "f64")
    return storeReal<double>(value, rounding, out, [](double v) { return v; }, widen);
  if (element == "f16")
    return storeReal<uint16_t>(value, rounding, out, doubleToHalf,
                               [](uint16_t half) { return double(halfToFloat(half)); });
  if (element == "i8")
    return storeInteger<int8_t>(value, out);
  if (element == "u8")
    return storeInteger<uint8_t>(value, out);
  if (element == "i16")
    return storeInteger<int16_t>(value, out);
  if (element == "u16")
    return storeInteger<uint16_t>(value, out);
  if (element == "i32")
    return storeInteger<int32_t>(value, out);
  if (element == "u32")
    return storeInteger<uint32_t>(value, out);
  if (element == "i64")
    return storeInteger<int64_t>(value, out);
  if (element == "u64")
    return storeInteger<uint64_t>(value, out);
  return false;
}

std::string typeText(const std::vector<int64_t> &shape, const std::string &dtype) {
  std::string text;
  for (int64_t extent : shape)
    text += std::to_string(extent) + " x ";
  return text + dtype;
}

/// "dim x f32", as the metric declares it.
std::string declaredText(const CaptureInfo &capture) {
  return (capture.extents.empty() ? "scalar " : "") + typeText(capture);
}

std::vector<std::byte> bindOne(const CaptureInfo &capture, int32_t dims, const NumericArray &given,
                               bool allowNonFinite) {
  const std::string who = "capture '" + capture.name + "' from " + given.origin + ": ";
  auto refuse = [&](const std::string &what) { throw Error(ErrorKind::Input, who + what); };
  std::vector<int64_t> shape;
  bool usesDim = false;
  for (const CaptureExtent &extent : capture.extents) {
    if (extent.kind != ANNUDF_EXTENT_CONSTANT && extent.kind != ANNUDF_EXTENT_DIM)
      refuse("declared " + declaredText(capture) +
             ", but this annudf binds only scalars and extents of dim or a constant");
    usesDim |= extent.kind == ANNUDF_EXTENT_DIM;
    shape.push_back(extent.kind == ANNUDF_EXTENT_DIM ? dims : extent.constant);
  }
  const std::string element = toString(capture.element);
  const int size = bitsOf(capture.element) / 8, givenSize = dtypeSize(given.dtype);
  if (givenSize == 0)
    refuse("dtype '" + given.dtype + "' cannot be bound");
  if (shape != given.shape)
    refuse("declared " + declaredText(capture) +
           (usesDim ? " with dim = " + std::to_string(dims) : "") + ", got " +
           (given.shape.empty() ? "scalar " : "") + typeText(given.shape, given.dtype));
  uint64_t count = 1;
  for (int64_t extent : shape)
    if (__builtin_mul_overflow(count, uint64_t(extent), &count) || count > (uint64_t(1) << 40))
      refuse("declared " + declaredText(capture) + " is too large");
  if (given.storage.size() != count * uint64_t(givenSize))
    refuse(std::to_string(given.storage.size()) + " bytes are not " +
           typeText(given.shape, given.dtype));
  // A number written by a person means the nearest value there is; data means itself.
  const Rounding rounding = shape.empty() ? Rounding::Nearest : Rounding::Exact;
  std::vector<std::byte> bytes(count * uint64_t(size));
  for (size_t i = 0; i < count; ++i) {
    const Value value = load(given.dtype, given.storage.data(), i);
    const std::string where = shape.empty() ? "the value " : "element " + std::to_string(i) + ", ";
    if (!value.isFinite() && !allowNonFinite)
      refuse(where + value.text() + ", is not finite");
    std::byte *to = bytes.data() + i * size_t(size);
    if (!store(element, value, rounding, to))
      refuse(where + value.text() + " (" + given.dtype + "), is not representable as " +
             element +
             (store(element, value, Rounding::Nearest, to)
                  ? "; round the array to " + element + " first"
                  : ""));
  }
  return bytes;
}

} // namespace

BoundCaptures BoundCaptures::bind(const Manifest &manifest, int32_t dims,
                                  const std::map<std::string, NumericArray> &values,
                                  bool allowNonFinite) {
  const std::string metric = "metric '" + manifest.name + "'";
  std::string declared;
  for (const CaptureInfo &capture : manifest.captures)
    declared += (declared.empty() ? "" : ", ") + capture.name;
  for (const auto &[name, value] : values) {
    bool known = false;
    for (const CaptureInfo &capture : manifest.captures)
      known |= capture.name == name;
    if (!known)
      throw Error(ErrorKind::Usage,
                  metric + " has no capture '" + name + "'; " +
                      (declared.empty() ? "it has none" : "it declares " + declared));
  }
  BoundCaptures bound;
  bound.metric_ = manifest.name;
  bound.signature_ = signatureOf(manifest);
  bound.dims_ = dims;
  for (const CaptureInfo &capture : manifest.captures) {
    const auto found = values.find(capture.name);
    if (found == values.end())
      throw Error(ErrorKind::Usage, metric + " needs capture '" + capture.name + "' (" +
                                        declaredText(capture) + "), which was not given");
    bound.bytes_.push_back(bindOne(capture, dims, found->second, allowNonFinite));
    bound.scalar_.push_back(capture.extents.empty());
  }
  return bound;
}

std::string BoundCaptures::signatureOf(const Manifest &manifest) {
  std::string text;
  for (const CaptureInfo &capture : manifest.captures)
    text += (text.empty() ? "" : ", ") + capture.name + " (" + declaredText(capture) + ")";
  return text;
}

void checkCaptures(const MetricView &metric, const BoundCaptures &captures, int32_t dims) {
  const Manifest &manifest = metric.artifact.manifest;
  const std::string needed = BoundCaptures::signatureOf(manifest);
  const std::string who = "metric '" + manifest.name + "' (" + metric.origin + ") ";
  if (captures.size() == 0 && !needed.empty())
    throw Error(ErrorKind::Usage, who + "needs captures " + needed + "; none were bound");
  if (captures.signature() != needed)
    throw Error(ErrorKind::Usage,
                who + (needed.empty() ? "has no captures" : "needs captures " + needed) +
                    "; those given were bound for metric '" + captures.metric() +
                    "': " + captures.signature());
  if (!needed.empty() && captures.dims() != dims)
    throw Error(ErrorKind::Usage, "captures of " + who + "were bound for " +
                                      std::to_string(captures.dims()) + " dims, the index has " +
                                      std::to_string(dims));
}

} // namespace annudf::runtime
