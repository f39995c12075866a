//===- annudf-c/cpp/BruteForce.hpp - Exact search, all distances -*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A part of annudf-c/annudf.hpp, which is to be included. An exact search that is repeated is an
// IvfFlat of one list, built once.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_C_CPP_BRUTEFORCE_HPP
#define ANNUDF_C_CPP_BRUTEFORCE_HPP

#include "annudf-c/BruteForce.h"
#include "annudf-c/cpp/IvfFlat.hpp"

#include <new>
#include <string>
#include <vector>

namespace annudf {
inline namespace v0 {

/// Every distance, of x[i] (the metric's first argument) and y[j] at i * y.rows + j.
/// \param captures  may be null.
inline std::vector<float> pairwiseDistance(const Backend &backend, const Artifact &metric,
                                           const Captures *captures, const Vectors &x,
                                           const Vectors &y, const Progress &progress = {}) {
  std::vector<float> distances;
  if (x.rows < 0 || y.rows < 0 ||
      (y.rows > 0 && uint64_t(x.rows) > distances.max_size() / uint64_t(y.rows)))
    throw Error(ANNUDF_USAGE, std::to_string(x.rows) + " x " + std::to_string(y.rows) +
                                  " distances are more than a vector holds");
  try {
    distances.resize(size_t(x.rows) * size_t(y.rows));
  } catch (const std::bad_alloc &) {
    throw Error(ANNUDF_ENVIRONMENT, "there is no memory for " + std::to_string(x.rows) + " x " +
                                        std::to_string(y.rows) + " distances");
  }
  detail::Reporting reporting(progress);
  annudf_ivf_flat_search_options options = {};
  options.size = sizeof options;
  options.progress = reporting.function(), options.progress_user = reporting.user();
  const annudf_vectors first = x.c(), second = y.c();
  reporting.check(annudf_pairwise_distance(backend.c(), metric.c(),
                                           captures ? captures->c() : nullptr, &first, &second,
                                           &options, distances.data(), nullptr));
  return distances;
}

/// The k best of all rows of `dataset` for each query.
/// \param captures  may be null.
/// \param filter    for the numbers of the rows; may be null.
inline Neighbors knn(const Backend &backend, const Artifact &metric, const Captures *captures,
                     const Vectors &dataset, const Vectors &queries, int64_t k,
                     const Progress &progress = {}, const Filter *filter = nullptr) {
  const annudf_vectors base = dataset.c();
  return IvfFlat::neighborsBy(
      queries, k, progress, filter,
      [&](auto *rows, auto *options, auto *ids, auto *distances, auto *stats) {
        return annudf_brute_force_knn(backend.c(), metric.c(), captures ? captures->c() : nullptr,
                                      &base, rows, k, options, ids, distances, stats);
      });
}

} // namespace v0
} // namespace annudf

#endif // ANNUDF_C_CPP_BRUTEFORCE_HPP
