//===- ProductRows.h - What products of matrices keep of an index --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows less their mean in bfloat16, in the order of tiles, and as they are, one after the other:
// one copy, whatever the metric. For a metric with its captures two floats a row, which bounds
// begin with.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTROWS_H
#define ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTROWS_H

#include "ProductKernels.h"

#include "annudf/runtime/engine/BoundForm.h"
#include "annudf/runtime/engine/BoundRatio.h"
#include "annudf/runtime/engine/Reason.h"
#include "annudf/runtime/rows/RowStore.h"
#include "annudf/runtime/support/FreeMemory.h"
#include "annudf/runtime/support/HugePages.h"
#include "annudf/runtime/support/OnceCache.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace annudf::runtime::cpu {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// A float no less than a value that is not negative, and in the normal range but for 0.
inline float roundedUp(double value) {
  return value == 0 ? 0 : std::nextafter(std::max(float(value), 1e-37f), kInfinity);
}

/// A form bound to captures, and what rows are looked at with. Immutable.
struct ProductForm {
  BoundForm form; ///< For a ratio: dims, sign, Shift and XY alone.
  std::optional<BoundRatio> ratio;
  std::vector<RowTerms> terms;
  std::vector<double> inverse;                              ///< 1 / |xy| of each dimension, or 0.
  float error = 0, constantError = 0, limit = 0, least = 0; ///< As RowBlock's.
  float leastSquare = 0, mostSquare = 0, leastShare = 0;
  /// Times the norms of a row and a query: what a product may be off beside what rounding to
  /// bfloat16 loses.
  double product = 0;
  float ratioError = 0; ///< What else a ratio may be off.

  /// \param spread  how far coordinates are from the form's shift.
  /// \return why not, "" if bounds can be computed by floats.
  std::string setTerms(const std::vector<double> &spread);
  /// The same of a ratio.
  std::string setRatio(BoundRatio bound, const std::vector<float> &shift);
  const BoundLoops &loops(const ProductKernels &kernels) const {
    return ratio ? kernels.ratios : kernels.sums;
  }
  /// The bound of a row that does not exist is beyond every limit.
  void setNoRow(float &base, float &norm) const {
    base = ratio ? 0 : kInfinity;
    norm = ratio ? -kInfinity : 0;
  }
  /// \param base, norm  of the groups' rows.
  RowBlock block(const uint32_t *words, int64_t groups, int32_t rowWords, uint32_t *pairs,
                 float *base, float *norm) const {
    return {words,      int32_t(groups), rowWords, form.dims, terms.data(),
            error,      constantError,   limit,    least,     leastSquare,
            mostSquare, leastShare,      pairs,    base,      norm};
  }

private:
  void setProduct(); ///< And least, by the terms.
};

/// Memory of takeHuge, not initialised.
template <class T> class HugeArray {
public:
  explicit HugeArray(size_t size)
      : size_(size), data_(size == 0 ? nullptr : HugeAllocator<T>().allocate(size)) {}
  HugeArray(const HugeArray &) = delete;
  HugeArray &operator=(const HugeArray &) = delete;
  ~HugeArray() {
    if (data_)
      HugeAllocator<T>().deallocate(data_, size_);
  }
  T *data() const { return data_; }
  size_t size() const { return size_; }

private:
  const size_t size_;
  T *const data_;
};

/// The rows of an index in the order of its lists, whole groups each.
struct RowPairs {
  std::vector<int64_t> firstGroup; ///< For each list; then the number of all groups.
  HugeArray<uint32_t> words;       ///< As RowBlock::pairs.
  /// The rows as they are, one after the other: of one alone a group has a line of the cache for
  /// each dim. Empty where memory is short.
  HugeArray<uint32_t> plain;
};

/// The same rows for a form. Immutable. Rows that do not exist are beyond every limit.
struct KeptRows {
  std::shared_ptr<const RowPairs> pairs;
  HugeArray<float> base, norm; ///< As RowBlock's.
  float ratio = kMostRatio;    ///< As ProductKernels::convert gives it, of all rows.
};

/// What ANNUDF_KEEP_ROWS allows: 0 nothing, bfloat16 nothing but that, else all.
enum class KeepRows { None, Bfloat, All };
KeepRows mayKeepRows();

class ProductRows : public IndexAttachment {
public:
  /// \param free  bytes of memory that are free.
  explicit ProductRows(std::function<uint64_t()> free = [] { return freeMemory(); })
      : free_(std::move(free)) {}

  /// Whether this is not the first call with the key, of a metric and its captures: rows are then
  /// worth being made, if more searches come as there came two.
  bool wasAsked(const std::string &key);

  /// \return null, and why, where the captures, or the order of magnitude of what they make of the
  /// form, do not allow it.
  std::shared_ptr<const ProductForm> bind(const RowStore &index, const std::string &key,
                                          const QuadraticForm &form, const BoundCaptures &captures,
                                          annudf_order order, Refusal &whyNot);

  /// The rows, made once for all forms, and what is theirs for one.
  /// Takes up to half of the memory that is free, and up to a quarter if rows as they are are kept
  /// too.
  /// \return null, and why, where memory is short.
  std::shared_ptr<const KeptRows> get(const RowStore &index, const ProductKernels &kernels,
                                      const std::string &key, const ProductForm &form, int threads,
                                      Refusal &whyNot);

private:
  struct Bound {
    std::shared_ptr<const ProductForm> form;
    Refusal whyNot;
  };
  std::shared_ptr<KeptRows> make(const RowStore &index, const ProductKernels &kernels,
                                 const ProductForm &form, int threads);
  static void convert(const RowStore &index, const ProductKernels &kernels, const ProductForm &form,
                      int threads, const RowPairs &pairs, bool fill, KeptRows &kept);

  /// Forms whose floats are kept, and keys that are remembered.
  static constexpr size_t kKept = 4, kAsked = 64;
  const std::function<uint64_t()> free_;
  std::once_flag looked_;
  std::vector<float> mean_; ///< The rows' mean, once somebody binds a form.
  std::vector<double> spread_;
  OnceCache<std::string, const Bound> bound_{kAsked};
  OnceCache<std::string, const KeptRows> kept_{kKept};
  OnceCache<int, const RowPairs> pairs_{1};
  BriefMutex mutex_;
  std::deque<std::string> asked_; ///< The last first.
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTROWS_H
