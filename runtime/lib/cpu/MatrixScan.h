//===- MatrixScan.h - A proved form as products of matrices --------*- C++ -*-===//
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

#ifndef ANNUDF_RUNTIME_LIB_CPU_MATRIXSCAN_H
#define ANNUDF_RUNTIME_LIB_CPU_MATRIXSCAN_H

#include "Jit.h"
#include "MatrixKernels.h"
#include "Queries.h"

#include "../../kernels/cpu/ScanArgs.h"
#include "annudf/runtime/engine/BoundForm.h"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace annudf::runtime::cpu {

class MatrixScan {
public:
  /// Of rows of f32. Most dims that its bounds allow for.
  static constexpr int32_t kMostDims = 8192;

  /// Nothing, and why, where the captures, or the order of magnitude of what they make of the form,
  /// do not allow it.
  static std::optional<MatrixScan> make(const MatrixKernels &kernels, const QuadraticForm &form,
                                        const BoundCaptures &captures, const Index &index,
                                        annudf_order order, int k, std::string &whyNot);

  /// What setQueries() keeps of each.
  static int64_t bytesOfQuery(int32_t dims) {
    return int64_t(stepsOf(dims)) * kStepDims * 2 + 2 * int64_t(sizeof(float));
  }
  /// From now on rows that the metric's own scan computes are added to `count`; null: no longer.
  void countInto(std::atomic<int64_t> *count) { evaluated_ = count; }
  /// The queries of a batch.
  void setQueries(const QueryCoordinates &queries, int64_t count, int threads);

  /// Memory of one thread.
  struct Workspace {
    std::vector<uint32_t> pairs, words;
    std::vector<uint16_t> queries;
    std::vector<float> base, norm, scores, bounds;
    std::vector<int32_t> which;
  };

  /// The scan's sink once more: makes the limit of its i-th query as low as what it took allows.
  using Tighten = float(void *sink, int32_t i);

  /// As kernel.run(scan). \param queries  of the batch, the scan's.
  void run(const ScanKernel &kernel, const annudf_cpu_scan &scan, const int32_t *queries,
           Tighten *tighten, Workspace &work) const;

private:
  MatrixScan(const MatrixKernels &kernels, BoundForm form, int k)
      : kernels_(&kernels), form_(std::move(form)), selected_(k) {}
  std::string setTerms(const std::vector<double> &spread);
  void setQuery(const float *x, int64_t i);
  void runBlock(const ScanKernel &kernel, const annudf_cpu_scan &block, const int32_t *queries,
                Tighten *tighten, Workspace &work) const;
  void take(const ScanKernel &kernel, const annudf_cpu_scan &block, int32_t i, int32_t query,
            const float *scores, Tighten *tighten, Workspace &work) const;

  const MatrixKernels *kernels_;
  BoundForm form_;
  int selected_;
  std::atomic<int64_t> *evaluated_ = nullptr;
  std::vector<RowTerms> terms_;
  float product_ = 0, error_ = 0, constantError_ = 0, limit_ = 0;
  // Of each query: bfloat16 of Σ xy X, and what bounds begin with.
  std::vector<uint16_t> factors_;
  std::vector<float> base_, norm_;
};

} // namespace annudf::runtime::cpu

#endif // ANNUDF_RUNTIME_LIB_CPU_MATRIXSCAN_H
