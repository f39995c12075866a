//===- ProductScan.h - A proved form as products of matrices -------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rows and queries are rounded to bfloat16 and multiplied; of each row and query that gives a
// number that the distance is not better than, and the metric's own scan computes those rows whose
// number does not rule them out. So results are those of the scan alone, to the bit.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTSCAN_H
#define ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTSCAN_H

#include "ProductKernels.h"
#include "ProductRows.h"
#include "RatioLimits.h"
#include "Survivors.h"
#include "cpu/jit/Jit.h"
#include "cpu/search/Queries.h"

#include "kernels/cpu/ScanArgs.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace annudf::runtime::cpu {

class ProductScan {
public:
  /// Most dims that its bounds allow for, for rows of f32.
  static constexpr int32_t kMostDims = 8192;

  /// \param kept  the rows, converted for this form; null: run() converts them.
  ProductScan(const ProductKernels &kernels, std::shared_ptr<const ProductForm> form,
              std::shared_ptr<const KeptRows> kept, int k)
      : kernels_(&kernels), shared_(std::move(form)), form_(&shared_->form), kept_(std::move(kept)),
        selected_(k), loops_(&shared_->loops(kernels)) {}
  bool hasRows() const { return kept_ != nullptr; }

  /// What setQueries() keeps of each.
  static int64_t bytesOfQuery(int32_t dims) {
    return int64_t(stepsOf(dims)) * kStepDims * 2 + int64_t(sizeof(QueryBound)) +
           int64_t(sizeof(float)) + int64_t(sizeof(uint64_t));
  }
  /// For a ratio the metric's finalize has to be known before anything is scanned.
  /// \return whether every ratio has a distance.
  bool setFinalize(const ScanKernel &kernel, annudf_order order, const uint64_t *slots,
                   int32_t query);
  /// How much the candidates' limits have to be widened.
  Survivors::Widen widen() const;

  /// Rows whose bound is above it are no better than a distance. \param query  of the batch.
  float limitOf(int32_t query, float distance) const;

  /// From now on rows that the metric's own scan computes are added to `count`; null: no longer.
  void countInto(std::atomic<int64_t> *count) { evaluated_ = count; }
  /// The queries of a batch.
  void setQueries(const QueryCoordinates &queries, int64_t count, int threads);

  /// Memory of one thread.
  struct Workspace {
    std::vector<uint32_t> pairs, words, passing;
    std::vector<std::byte> queries; ///< As ProductKernels::multiply reads them.
    std::vector<float> base, norm, scores, bounds;
    std::vector<int32_t> which;
    std::vector<Survivors::Row> rows;
  };

  /// The scan's sink once more: makes the limit of its i-th query as low as what it took allows.
  using Tighten = float(void *sink, int32_t i);

  /// As kernel.run(scan). \param queries  of the batch, the scan's.
  void run(const ScanKernel &kernel, const annudf_cpu_scan &scan, const int32_t *queries,
           Tighten *tighten, Workspace &work) const;

  /// Computes rows of a query, which may change their order. \return its limit then.
  using Compute = std::function<float(int32_t query, std::span<Survivors::Row>)>;

  /// Where the rows of a scan begin: the list in the index, and the row in the list.
  struct Place {
    uint32_t list;
    int64_t row;
  };

  /// For rows that are kept: adds those of the scan that may be among the best to the candidates.
  void collect(const annudf_cpu_scan &scan, Place place, const int32_t *queries, Survivors &found,
               const Compute &compute, Workspace &work) const;

  /// Computes rows of one query, the scan's, into its sink; its limit may then be lower.
  /// \return what the limit says of bounds.
  /// \param query  of the batch.
  float compute(const ScanKernel &kernel, const RowStore &index, annudf_cpu_scan scan,
                int32_t query, std::span<Survivors::Row> rows, Tighten *tighten,
                Workspace &work) const;
  /// Rows that are soon computed come nearer.
  void fetch(const RowStore &index, std::span<const Survivors::Row> rows) const;

private:
  void setQuery(const float *x, int64_t i);
  void setQueryOfRatio(const float *x, int64_t i);
  double productNorm(double squared, double lost) const;
  void runBlock(const ScanKernel &kernel, const annudf_cpu_scan &block, const int32_t *queries,
                Tighten *tighten, Workspace &work) const;
  void take(const ScanKernel &kernel, const annudf_cpu_scan &block, int32_t i, int32_t query,
            const float *scores, Tighten *tighten, Workspace &work) const;

  void collectBlock(const annudf_cpu_scan &block, Place place, const int32_t *queries,
                    Survivors &found, const Compute &compute, Workspace &work) const;
  std::pair<const uint32_t *, int64_t> wordsOf(const RowStore &index, int64_t words,
                                               const Survivors::Row &row) const;
  float upperBound(int32_t query, float lower, float base, float norm) const;
  float boundOfBest(int32_t query, const float *scores, const float *base, const float *norm,
                    int32_t rows, const uint32_t *passing) const;
  void takeQueries(const int32_t *queries, int32_t count, Workspace &work) const;

  const ProductKernels *kernels_;
  std::shared_ptr<const ProductForm> shared_;
  const BoundForm *form_; ///< Part of shared_.
  std::shared_ptr<const KeptRows> kept_;
  int selected_;
  std::atomic<int64_t> *evaluated_ = nullptr;
  const BoundLoops *loops_;
  std::optional<RatioLimits> limits_; ///< For a ratio.
  // For each query: bfloat16 of Σ xy X, what is in its bounds, and how far from these they may be.
  std::vector<uint16_t> factors_;
  std::vector<QueryBound> bounds_;
  std::vector<float> slack_;
  /// For a ratio: the last distance whose limit was looked for, and that.
  std::unique_ptr<std::atomic<uint64_t>[]> lastLimits_;
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_PRODUCTS_PRODUCTSCAN_H
