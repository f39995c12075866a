//===- Captures.h - Values bound to a metric's captures ------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_CAPTURES_CAPTURES_H
#define ANNUDF_RUNTIME_CAPTURES_CAPTURES_H

#include "annudf/ABI/Extents.h"
#include "annudf/Artifact/Artifact.h"
#include "annudf/runtime/vectors/Matrix.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace annudf::runtime {

/// The sizes behind the symbolic extents. 0: not known, and no array of that extent can be bound.
struct CaptureExtents {
  // A number is dims: most captures have no other extent.
  CaptureExtents(int32_t dims = 0, int64_t rows = 0, int64_t queries = 0)
      : dims(dims), rows(rows), queries(queries) {}

  int32_t dims;
  int64_t rows;    ///< Extent `row`: one more than the index's largest id, at least.
  int64_t queries; ///< Extent `query`: queries of one search.
};

enum class MemorySpace { Host, Cuda };

/// An array (a scalar: without shape) of someone else, as a capture's value is given.
struct CaptureValue {
  std::string dtype;          ///< As NumericArray.
  std::vector<int64_t> shape; ///< Empty for a scalar.
  /// In bytes; empty: C order without gaps.
  std::vector<int64_t> strides;
  const void *data = nullptr; ///< The first element's; a device address in MemorySpace::Cuda.
  uint64_t bytes = 0;         ///< The size of `data`; not read if there are strides.
  std::string origin;         ///< For messages.
  MemorySpace space = MemorySpace::Host;
  int device = 0;
  /// What keeps the memory alive; device memory needs it. Host memory without it is copied.
  std::shared_ptr<const void> owner;

  static CaptureValue of(const NumericArray &array);
};

/// Element types of the columns of a store, by name.
using ColumnTypes = std::map<std::string, annudf_capture_element>;

/// What a column holds for the rows of a store.
struct ColumnArray {
  std::shared_ptr<const std::vector<std::byte>> values;
  int64_t entries = 0;
  std::string digest; ///< Another one for other values.
  int64_t notFinite = -1; ///< The id of a row whose value is not finite; -1: all are.
};

/// Captures bound to a metric: every declared one present, of its dtype and extents (an array of
/// rows may be longer, since ids may have gaps), finite unless allowed. Host values are converted
/// once, here, and owned; an array with an owner that needs no conversion is used as it is, and
/// must not change. Device memory is used as it is, so it must have the declared element type and C
/// order, and is neither copied nor looked at. Immutable.
class BoundCaptures {
public:
  /// \throws Error(Usage) naming a missing or unknown capture; Error(Input) naming
  /// the capture, its origin, and what was declared against what was given.
  /// Values are converted to the declared element only where that is exact.
  static BoundCaptures bind(const Manifest &manifest, const CaptureExtents &extents,
                            const std::map<std::string, NumericArray> &values,
                            bool allowNonFinite = false);
  /// The same for arrays with strides, and on a device. Captures of extent `row` without a value
  /// take the column of that name.
  /// \param columns  of the store that will be searched; null: a value is needed.
  static BoundCaptures bindViews(const Manifest &manifest, const CaptureExtents &extents,
                                 const std::map<std::string, CaptureValue> &values,
                                 bool allowNonFinite = false, const ColumnTypes *columns = nullptr);

  /// Whether capture i takes a column; it has no values before withColumns().
  bool isColumn(size_t i) const { return values_[i].isColumn; }
  bool hasColumns() const;
  /// Whether capture i has the array of a column.
  bool readsColumn(size_t i) const { return values_[i].column.has_value(); }
  /// Whether the number of a row only indexes captures, by the manifest, and all arrays of rows are
  /// columns: then these may be in any order, and the hooks get a row's place in it as its number.
  bool takeAnyOrder() const;
  /// The same with an array in place of each column.
  /// \throws Error(Input) for a value that is not finite where none may be.
  BoundCaptures withColumns(const std::function<ColumnArray(const CaptureInfo &)> &arrayOf) const;

  size_t size() const { return values_.size(); }
  /// Host values of capture i in its declared element type; scalars have one element.
  std::span<const std::byte> bytes(size_t i) const { return values_[i].host; }
  bool isScalar(size_t i) const { return declared_[i].extents.empty(); }
  /// Entries of capture i; empty for a scalar.
  const std::vector<int64_t> &shape(size_t i) const { return values_[i].shape; }
  MemorySpace space(size_t i) const { return values_[i].space; }
  int device(size_t i) const { return values_[i].device; }
  /// The rows that capture i, which has that extent, has entries for; `asked` where the array had
  /// to have as many as were asked for.
  int64_t rowsOf(size_t i, int64_t asked) const;
  /// What a scan gets for capture i where its memory is: a scalar's bits, or an address.
  uint64_t slot(size_t i) const;
  /// What keeps capture i's memory alive.
  std::shared_ptr<const void> owner(size_t i) const;

  /// SHA-256 of the host values of capture i, which is an array: another binding, or another
  /// metric, with the same values has the same. Empty for a scalar and for device memory.
  const std::string &digest(size_t i) const { return values_[i].digest; }

  /// SHA-256 over the declarations, extents and host values, each length-prefixed; computed
  /// once. Device memory counts by this binding, since what it holds is not looked at:
  /// bound again it has another digest.
  const std::string &digest() const { return digest_; }

  /// What the values were bound for; all empty when default-constructed. There are as many rows as
  /// all arrays of that extent have, which may be more than were asked for.
  const std::string &owner() const { return owner_; } ///< "metric 'l2'".
  const std::vector<CaptureInfo> &declared() const { return declared_; }
  const CaptureExtents &extents() const { return extents_; }

private:
  struct Value {
    MemorySpace space = MemorySpace::Host;
    std::vector<int64_t> shape;
    std::span<const std::byte> host;
    std::string digest; ///< For an array in host memory.
    uint64_t address = 0;
    int device = 0;
    std::shared_ptr<const void> owner; ///< Keeps `host`, or what is at `address`.
    bool isColumn = false;
    std::optional<ColumnArray> column; ///< What the values are.
  };
  static Value bindOne(const CaptureInfo &capture, const CaptureExtents &extents,
                       const CaptureValue &given, bool allowNonFinite);
  void computeDigest();
  void setRows(int64_t asked);

  std::string owner_, digest_;
  std::vector<CaptureInfo> declared_;
  CaptureExtents extents_;
  std::vector<Value> values_;
  bool allowNonFinite_ = false, rowOnlyIndexes_ = false;
};

/// Why a capture without a value takes none of these columns, null or not, in words for the end of
/// a sentence; nothing if it takes the column of its name.
std::optional<std::string> faultOfColumn(const CaptureInfo &capture, const ColumnTypes *columns);

/// Whether one of them has an extent that is bound by that.
bool hasExtent(const std::vector<CaptureInfo> &captures, ExtentBound bound);

/// "capture 'w' (dim x f32) of metric 'm' is bound to 4 x f32".
std::string boundText(const BoundCaptures &captures, size_t i);

/// "w (dim x f32), p (scalar f32)": captures as messages tell them.
std::string captureText(const std::vector<CaptureInfo> &captures);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_CAPTURES_CAPTURES_H
