//===- Captures.cpp - Binding values to a metric's captures -----*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/captures/Captures.h"

#include "annudf/Support/FieldDigest.h"
#include "captures/Values.h"
#include "vectors/Npy.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <limits>

namespace annudf::runtime {
namespace {

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

/// One capture on its way from what was given to what a scan reads.
class Binding {
public:
  Binding(const CaptureInfo &capture, const CaptureValue &given)
      : capture_(capture), given_(given), element_(toString(capture.element)),
        dtype_(dtypeOf(capture.element)),
        who_("capture '" + capture.name + "' from " + given.origin + ": ") {}

  [[noreturn]] void refuse(const std::string &what) const {
    throw Error(ErrorKind::Input, who_ + what);
  }

  /// Element types and shape are as declared; of rows there may be more than are needed. \returns
  /// the number of elements.
  uint64_t checkShape(const CaptureExtents &extents) const;
  std::vector<std::byte> convert(uint64_t count, bool allowNonFinite) const;
  /// Whether a scan can read an array where it is. What it holds is checked then.
  bool isAsDeclared(uint64_t count, bool allowNonFinite) const;
  void checkDevice(uint64_t count) const;

private:
  bool isInCOrder() const;
  bool isAligned() const {
    return reinterpret_cast<uint64_t>(given_.data) % uint64_t(dtypeSize(given_.dtype)) == 0;
  }
  std::string placeOf(uint64_t element) const {
    return given_.shape.empty() ? "the value " : "element " + std::to_string(element) + ", ";
  }
  [[noreturn]] void refuseNotFinite(uint64_t element, const Value &value) const {
    refuse(placeOf(element) + value.text() + ", is not finite");
  }
  int64_t sizeOf(size_t i, const CaptureExtents &extents, std::string &with) const;

  const CaptureInfo &capture_;
  const CaptureValue &given_;
  const std::string element_, dtype_, who_;
};

/// What extent i asks of the shape that was given: its own entry, where that is enough.
int64_t Binding::sizeOf(size_t i, const CaptureExtents &extents, std::string &with) const {
  const CaptureExtent &extent = capture_.extents[i];
  auto known = [&](const char *name, int64_t size, const char *of, const char *relation = " = ") {
    if (size <= 0 && i < given_.shape.size() && given_.shape[i] == 0)
      refuse("declared " + declaredText(capture_) + ", but it has no entry; give one for each of " +
             "the " + of);
    if (size <= 0)
      refuse("declared " + declaredText(capture_) + ", but the number of " + of +
             " is not given; give it with the values");
    if (with.find(std::string(name) + relation) == std::string::npos)
      with += (with.empty() ? " with " : ", ") + (name + (relation + std::to_string(size)));
    return size;
  };
  switch (extent.kind) {
  case ANNUDF_EXTENT_CONSTANT:
    return extent.constant;
  case ANNUDF_EXTENT_DIM:
    return known("dim", extents.dims, "dims");
  case ANNUDF_EXTENT_ROW: {
    const int64_t least = known("row", extents.rows, "rows", " >= ");
    const bool isLonger = i == 0 && !given_.shape.empty() && given_.shape[0] > least;
    return isLonger ? given_.shape[0] : least;
  }
  case ANNUDF_EXTENT_QUERY:
    return known("query", extents.queries, "queries");
  }
  refuse("declared with an extent of kind " + std::to_string(int(extent.kind)) +
         ", which this annudf does not know");
}

uint64_t Binding::checkShape(const CaptureExtents &extents) const {
  std::vector<int64_t> shape;
  shape.reserve(capture_.extents.size());
  std::string with;
  for (size_t i = 0; i < capture_.extents.size(); ++i)
    shape.push_back(sizeOf(i, extents, with));
  if (!storeOf(element_))
    refuse("declared element type " + element_ + " is not supported");
  if (!loadOf(given_.dtype))
    refuse("dtype '" + given_.dtype +
           "' is not supported; give f16, bf16, f32, f64, i8 to i64, u8 to u64 or b1");
  if (shape != given_.shape)
    refuse("declared " + declaredText(capture_) + with + ", got " +
           (given_.shape.empty() ? "scalar " : "") + typeText(given_.shape, given_.dtype));
  uint64_t count = 1;
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(count, uint64_t(extent), &count) ||
        count > (uint64_t(1) << 40))
      refuse("declared " + declaredText(capture_) + with + " is too large");
  if (!given_.strides.empty() && given_.strides.size() != shape.size())
    refuse("it has " + std::to_string(given_.strides.size()) + " strides for " +
           typeText(given_.shape, given_.dtype) + "; give one for each extent");
  if (const uint64_t bytes = count * uint64_t(dtypeSize(given_.dtype));
      given_.strides.empty() && given_.bytes != bytes)
    refuse("it has " + std::to_string(given_.bytes) + " bytes, " +
           typeText(given_.shape, given_.dtype) + " takes " + std::to_string(bytes));
  return count;
}

std::vector<std::byte> Binding::convert(uint64_t count, bool allowNonFinite) const {
  const std::vector<int64_t> &shape = given_.shape;
  const Load load = loadOf(given_.dtype);
  const Store store = storeOf(element_);
  const size_t size = size_t(dtypeSize(dtype_));
  std::vector<int64_t> strides = given_.strides, index(shape.size());
  if (strides.empty() && !shape.empty()) {
    strides.resize(shape.size());
    int64_t step = dtypeSize(given_.dtype);
    for (size_t i = shape.size(); i-- > 0; step *= shape[i])
      strides[i] = step;
  }
  // A number written by a person means the nearest value there is; data means itself.
  const Rounding rounding = shape.empty() ? Rounding::Nearest : Rounding::Exact;
  std::vector<std::byte> bytes(count * size);
  const auto *from = static_cast<const std::byte *>(given_.data);
  for (size_t i = 0; i < count; ++i) {
    const Value value = load(from);
    std::byte *to = bytes.data() + i * size;
    if ((!value.isFinite() && !allowNonFinite) || !store(value, rounding, to)) {
      if (!value.isFinite() && !allowNonFinite)
        refuseNotFinite(i, value);
      refuse(placeOf(i) + value.text() + " (" + given_.dtype + "), is not representable as " +
             element_ +
             (!shape.empty() && store(Value{false, 0, value.asReal()}, Rounding::Nearest, to)
                  ? "; round the array to " + element_ + " first"
                  : ""));
    }
    for (size_t d = shape.size(); d-- > 0;) { // The next in C order.
      from += strides[d];
      if (++index[d] < shape[d])
        break;
      from -= strides[d] * shape[d];
      index[d] = 0;
    }
  }
  return bytes;
}

bool Binding::isInCOrder() const {
  int64_t step = dtypeSize(given_.dtype);
  for (size_t i = given_.strides.size(); i-- > 0; step *= given_.shape[i])
    if (given_.shape[i] > 1 && given_.strides[i] != step)
      return false;
  return true;
}

bool Binding::isAsDeclared(uint64_t count, bool allowNonFinite) const {
  // A bool is any byte where it comes from, and 0 or 1 to a scan.
  if (capture_.extents.empty() || given_.dtype != dtype_ || capture_.element == ANNUDF_CAPTURE_I1 ||
      !isInCOrder() || !isAligned())
    return false;
  if (allowNonFinite || kindOf(capture_.element) != NumberKind::Float)
    return true;
  const Load load = loadOf(dtype_);
  const auto *from = static_cast<const std::byte *>(given_.data);
  for (uint64_t i = 0; i < count; ++i, from += dtypeSize(dtype_))
    if (const Value value = load(from); !value.isFinite())
      refuseNotFinite(i, value);
  return true;
}

void Binding::checkDevice(uint64_t count) const {
  const std::string where = "on CUDA device " + std::to_string(given_.device);
  if (capture_.extents.empty())
    refuse("a scalar cannot be " + where + "; give it in host memory");
  if (given_.dtype != dtype_)
    refuse(where + " it is " + given_.dtype + ", declared " + declaredText(capture_) +
           "; convert it on the device first");
  if (!isInCOrder())
    refuse(where + " it is not in C order; make it contiguous on the device first");
  if (count != 0 && !given_.data)
    refuse(where + " its address is 0");
  if (!isAligned())
    refuse(where + " its address is not a multiple of " + std::to_string(dtypeSize(given_.dtype)));
}

} // namespace

CaptureValue CaptureValue::of(const NumericArray &array) {
  CaptureValue value;
  value.dtype = array.dtype;
  value.shape = array.shape;
  value.data = array.storage.data();
  value.bytes = array.storage.size();
  value.origin = array.origin;
  return value;
}

BoundCaptures::Value BoundCaptures::bindOne(const CaptureInfo &capture,
                                            const CaptureExtents &extents,
                                            const CaptureValue &given, bool allowNonFinite) {
  const Binding binding(capture, given);
  const uint64_t count = binding.checkShape(extents);
  Value value;
  value.shape = given.shape;
  value.space = given.space;
  if (given.space == MemorySpace::Cuda) {
    binding.checkDevice(count);
    value.address = reinterpret_cast<uint64_t>(given.data);
    value.device = given.device;
    value.owner = given.owner;
    return value;
  }
  if (given.owner && binding.isAsDeclared(count, allowNonFinite)) {
    value.host = {static_cast<const std::byte *>(given.data),
                  count * uint64_t(dtypeSize(given.dtype))};
    value.owner = given.owner;
  } else {
    auto made =
        std::make_shared<const std::vector<std::byte>>(binding.convert(count, allowNonFinite));
    value.host = *made;
    value.owner = std::move(made);
  }
  if (!capture.extents.empty())
    value.digest = FieldDigest().bytes(value.host.data(), value.host.size()).finish();
  return value;
}

std::optional<std::string> faultOfColumn(const CaptureInfo &capture, const ColumnTypes *columns) {
  if (!columns || !hasExtent({capture}, ExtentBound::Rows))
    return "";
  if (capture.extents.size() != 1)
    return "; a column of the index has one value a row, so bind an array";
  const auto found = columns->find(capture.name);
  if (found != columns->end() && found->second == capture.element)
    return std::nullopt;
  std::string text;
  for (const auto &[name, element] : *columns)
    text += (text.empty() ? "" : ", ") + name + " (" + toString(element) + ")";
  return found != columns->end()
             ? std::string(", and column '") + capture.name + "' of the index is " +
                   toString(found->second) + "; build it as " + toString(capture.element) +
                   ", or bind an array"
             : "; the index has " + (text.empty() ? "no columns" : "columns " + text);
}

BoundCaptures BoundCaptures::bind(const Manifest &manifest, const CaptureExtents &extents,
                                  const std::map<std::string, NumericArray> &values,
                                  bool allowNonFinite) {
  std::map<std::string, CaptureValue> views;
  for (const auto &[name, array] : values)
    views.emplace(name, CaptureValue::of(array));
  return bindViews(manifest, extents, views, allowNonFinite);
}

BoundCaptures BoundCaptures::bindViews(const Manifest &manifest, const CaptureExtents &extents,
                                       const std::map<std::string, CaptureValue> &values,
                                       bool allowNonFinite, const ColumnTypes *columns) {
  const std::string metric = std::string(manifest.noun()) + " '" + manifest.name + "'";
  std::string declared;
  for (const CaptureInfo &capture : manifest.captures)
    declared += (declared.empty() ? "" : ", ") + capture.name;
  for (const auto &[name, value] : values)
    if (std::none_of(manifest.captures.begin(), manifest.captures.end(),
                     [&](const CaptureInfo &capture) { return capture.name == name; }))
      throw Error(ErrorKind::Usage,
                  metric + " has no capture '" + name + "'; " +
                      (declared.empty() ? "it has none" : "it declares " + declared));
  BoundCaptures bound;
  bound.owner_ = metric;
  bound.declared_ = manifest.captures;
  bound.extents_ = extents;
  bound.allowNonFinite_ = allowNonFinite;
  bound.rowOnlyIndexes_ = manifest.rowOnlyIndexes;
  for (const CaptureInfo &capture : manifest.captures) {
    const auto found = values.find(capture.name);
    if (found != values.end()) {
      bound.values_.push_back(bindOne(capture, extents, found->second, allowNonFinite));
      continue;
    }
    if (const std::optional<std::string> fault = faultOfColumn(capture, columns))
      throw Error(ErrorKind::Usage, metric + " needs capture '" + capture.name + "' (" +
                                        declaredText(capture) + "), which was not given" + *fault);
    bound.values_.emplace_back().isColumn = true;
  }
  bound.setRows(extents.rows);
  bound.computeDigest();
  return bound;
}

void BoundCaptures::setRows(int64_t asked) {
  if (!hasExtent(declared_, ExtentBound::Rows))
    return;
  extents_.rows = std::numeric_limits<int64_t>::max();
  for (size_t i = 0; i < size(); ++i)
    if (hasExtent({declared_[i]}, ExtentBound::Rows) && !isColumn(i))
      extents_.rows = std::min(extents_.rows, rowsOf(i, asked));
}

bool BoundCaptures::hasColumns() const {
  return std::any_of(values_.begin(), values_.end(),
                     [](const Value &value) { return value.isColumn; });
}

bool BoundCaptures::takeAnyOrder() const {
  if (!rowOnlyIndexes_)
    return false;
  for (size_t i = 0; i < size(); ++i)
    if (!isColumn(i) && hasExtent({declared_[i]}, ExtentBound::Rows))
      return false;
  return true;
}

BoundCaptures
BoundCaptures::withColumns(const std::function<ColumnArray(const CaptureInfo &)> &arrayOf) const {
  BoundCaptures bound = *this;
  for (size_t i = 0; i < size(); ++i) {
    if (!isColumn(i))
      continue;
    ColumnArray array = arrayOf(declared_[i]);
    if (array.notFinite >= 0 && !allowNonFinite_)
      throw Error(ErrorKind::Input, "column '" + declared_[i].name + "' of the index, which " +
                                        owner_ + " takes, is not finite for the row with id " +
                                        std::to_string(array.notFinite));
    Value &value = bound.values_[i];
    value.isColumn = false;
    value.shape = {array.entries};
    value.host = *array.values;
    value.owner = array.values;
    value.digest = array.digest;
    value.column = std::move(array);
  }
  bound.setRows(extents_.rows);
  bound.computeDigest();
  return bound;
}

/// The rows that capture i has entries for.
int64_t BoundCaptures::rowsOf(size_t i, int64_t asked) const {
  return boundBy(declared_[i].extents[0].kind) == ExtentBound::Rows ? values_[i].shape[0] : asked;
}

uint64_t BoundCaptures::slot(size_t i) const {
  const Value &value = values_[i];
  if (value.space == MemorySpace::Cuda)
    return value.address;
  if (!isScalar(i))
    return reinterpret_cast<uint64_t>(value.host.data());
  uint64_t bits = 0;
  std::memcpy(&bits, value.host.data(), std::min(value.host.size(), sizeof bits));
  return bits;
}

std::shared_ptr<const void> BoundCaptures::owner(size_t i) const { return values_[i].owner; }

void BoundCaptures::computeDigest() {
  static std::atomic<uint64_t> bindings{0};
  FieldDigest digest;
  digest.text("annudf captures").number(values_.size());
  digest.number(uint64_t(extents_.dims)).number(uint64_t(extents_.rows));
  digest.number(uint64_t(extents_.queries));
  for (size_t i = 0; i < values_.size(); ++i) {
    const CaptureInfo &declared = declared_[i];
    digest.text(declared.name).text(toString(declared.element)).number(declared.extents.size());
    for (const CaptureExtent &extent : declared.extents)
      digest.number(uint64_t(extent.kind)).number(uint64_t(extent.constant));
    const Value &value = values_[i];
    digest.number(uint64_t(value.space));
    if (value.isColumn)
      digest.text("column");
    else if (!value.digest.empty())
      digest.text(value.digest); // Nothing is read twice: an array of rows may be long.
    else if (value.space == MemorySpace::Host)
      digest.bytes(value.host.data(), value.host.size());
    else
      digest.number(uint64_t(value.device)).number(value.address).number(++bindings);
  }
  digest_ = digest.finish();
}

bool hasExtent(const std::vector<CaptureInfo> &captures, ExtentBound bound) {
  for (const CaptureInfo &capture : captures)
    for (const CaptureExtent &extent : capture.extents)
      if (boundBy(extent.kind) == bound)
        return true;
  return false;
}

std::string boundText(const BoundCaptures &captures, size_t i) {
  const CaptureInfo &declared = captures.declared()[i];
  return "capture '" + declared.name + "' (" + declaredText(declared) + ") of " + captures.owner() +
         " is bound to " + typeText(captures.shape(i), toString(declared.element));
}

std::string captureText(const std::vector<CaptureInfo> &captures) {
  std::string text;
  for (const CaptureInfo &capture : captures)
    text += (text.empty() ? "" : ", ") + capture.name + " (" + declaredText(capture) + ")";
  return text;
}

} // namespace annudf::runtime
