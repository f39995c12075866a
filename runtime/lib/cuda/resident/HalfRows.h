//===- HalfRows.h - Rows in half precision, and forms bound to them -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the family "matrix" keeps beside an index: its rows in half precision, two bytes a
// dimension, and of the last bindings what a row gives to a bound, four bytes and a half. Of
// metrics whose coefficients are of each query it keeps rows with their squares, four bytes a
// dimension.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_HALFROWS_H
#define ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_HALFROWS_H

#include "DeviceIndex.h"
#include "cuda/driver/Launcher.h"
#include "cuda/plan/BoundNumbers.h"

#include "annudf/runtime/engine/Search.h"

#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace annudf::runtime::cuda {

/// The kernels of Products.cu.
struct ProductKernels {
  explicit ProductKernels(const std::shared_ptr<const Context> &context);
  Module module;
  /// What makes rows, with their squares or without.
  struct Rows {
    CUfunction scale, rows;
  };
  CUfunction largest;
  Rows plain, squares;
  /// Kernels for forms of one accumulator, or for normalised ones.
  struct Kind {
    Kind(const Context &context, const Module &module, const std::string &prefix);
    /// What leaves the bounds of vectors of so many panels.
    CUfunction scan(bool byWarps, uint32_t panels) const;
    CUfunction terms, passing, queries;
    /// The same, of forms with coefficients of each query.
    Kind ofEachQuery(const Module &module) const;

  private:
    /// For few panels and for more. Those of warpgroups are null but on their architecture.
    CUfunction byWarpgroups_[2] = {}, byWarps_[2];
  };
  Kind form, ratio, own;
};

/// A form, bound for the rows of an index.
class BoundRows {
public:
  /// \param args  of the rows; with terms, where these are of no binding.
  BoundRows(const BoundNumbers &numbers, const annudf_matrix_args &args, uint64_t tiles,
            const std::shared_ptr<const Context> &context,
            std::shared_ptr<const ProductKernels> kernels);

  /// But for the search.
  const annudf_matrix_args &args() const { return args_; }
  uint64_t tiles() const { return tiles_; }
  const ProductKernels::Kind &kernels() const {
    return isOwn_ ? kernels_->own : isRatio_ ? kernels_->ratio : kernels_->form;
  }
  /// The kernel for queries has these threads a block, and this shared memory.
  unsigned queryThreads() const;
  unsigned querySharedBytes() const;
  float sign() const { return sign_; }
  /// Among several fields, the one that bounds are of.
  uint32_t product() const { return product_; }
  /// Those of the others that are 0, as bits.
  uint32_t zeros() const { return zeros_; }

private:
  std::shared_ptr<const ProductKernels> kernels_;
  std::unique_ptr<Buffer> dims_, terms_; ///< dims_: or nodes.
  annudf_matrix_args args_;
  const uint64_t tiles_;
  const float sign_;
  const bool isRatio_, isOwn_;
  const uint32_t product_, zeros_;
};

/// Rows of an index in half precision, less their mean.
class HalfRows : public IndexAttachment {
public:
  /// \param withSquares  for forms whose coefficients are of each query, and these alone.
  /// \throws Error(Environment) where the device has too little memory left.
  HalfRows(const RowStore &index, const DeviceIndex &copy, bool withSquares,
           const std::shared_ptr<const Context> &context,
           std::shared_ptr<const ProductKernels> kernels);

  /// The metric's form for these rows and captures, of the last few that were asked for; null where
  /// it has no bounds for them, and `why`. Thread-safe.
  std::shared_ptr<const BoundRows> bind(const MetricView &metric, const BoundCaptures &captures,
                                        const DeviceIndex &copy, std::string &why) const;

private:
  static constexpr size_t kKept = 4;

  const std::shared_ptr<const Context> context_;
  const std::shared_ptr<const ProductKernels> kernels_;
  std::vector<float> mean_;
  uint64_t tiles_ = 0;
  uint32_t panels_ = 0;
  annudf_element element_;
  const bool withSquares_;
  Squares squares_;
  std::unique_ptr<Buffer> dims_, tileStart_, listScale_, panelBuffer_, terms_; ///< For squares.
  mutable std::mutex mutex_; ///< Guards what follows.
  mutable std::list<std::pair<std::string, std::shared_ptr<const BoundRows>>> recent_;

  /// But for the search and the form.
  annudf_matrix_args args(const annudf_device_index &index) const;
  /// The scales of the lists, and what squares are multiplied with.
  void makeScales(annudf_matrix_args &args, StreamLauncher &to, CUstream stream, uint32_t lists);
  std::optional<BoundNumbers> numbers(const Manifest &manifest, const BoundCaptures &captures,
                                      std::string &why) const;
};

/// Makes them where they are needed. Thread-safe.
class ProductBounds {
public:
  explicit ProductBounds(std::shared_ptr<const Context> context) : context_(std::move(context)) {}

  /// \param isOwn  whether coefficients are computed for each query.
  /// \param atOnce  else what is not there is made for the second who asks: captures that are bound
  /// for one small search are not worth it.
  /// \returns null where the form has no bounds for this binding, the memory is short or nobody has
  /// asked before; `why` says which.
  std::shared_ptr<const BoundRows> get(const RowStore &index, const DeviceIndex &copy,
                                       const MetricView &metric, const BoundCaptures &captures,
                                       bool isOwn, bool atOnce, Refusal &why);

private:
  static constexpr size_t kAsked = 64;

  bool wasAsked(const std::string &key);

  const std::shared_ptr<const Context> context_;
  std::mutex mutex_;
  std::shared_ptr<const ProductKernels> kernels_; ///< Once they are needed.
  std::list<std::string> asked_; ///< Index and binding of the last, the latest first.
};

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_RESIDENT_HALFROWS_H
