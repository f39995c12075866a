//===- NewRows.h - What rows that join an index change ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_IVF_FLAT_NEWROWS_H
#define ANNUDF_RUNTIME_LIB_IVF_FLAT_NEWROWS_H

#include "annudf/runtime/ivf_flat/Index.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace annudf::runtime {

/// New rows by the list that each was assigned to, in their order.
class NewMembers {
public:
  NewMembers(const std::vector<uint32_t> &assigned, uint32_t nLists);
  int64_t count(uint32_t list) const { return begin_[list + 1] - begin_[list]; }
  std::span<const int64_t> of(uint32_t list) const {
    return {rows_.data() + begin_[list], static_cast<size_t>(count(list))};
  }

private:
  std::vector<int64_t> begin_, rows_;
};

/// Adds the values of these rows of the call.
void appendValues(std::vector<std::byte> &to, const NewColumns::Values &values,
                  std::span<const int64_t> rows);

/// The rule of ids that callers give. \throws ArgumentError(Input) naming the first below 0.
void checkIds(std::span<const int64_t> ids);

/// Reads the ids of the index only where one of them may be among the new.
/// \throws ArgumentError(Input) naming the first row whose id another new row or the index has.
void refuseRepeatedIds(const Index &index, const int64_t *ids, int64_t rows, int threads);
/// The same of an index whose ids are asked for only then.
void refuseRepeatedIds(int64_t largestId, const int64_t *ids, int64_t rows, int threads,
                       const std::function<std::vector<std::span<const int64_t>>()> &ofIndex);

/// Sums of the rows of each list in double, nLists x dims; of missing values the index's means; for
/// cosine of the rows scaled to length 1. In the rows' order, so that they are the same whenever
/// they are made.
std::vector<double> sumsOfLists(const Index &index, int threads);
/// The same of one list's rows whose ids `counts` says.
std::vector<double> sumOfList(const Index &index, uint32_t list,
                              const std::function<bool(int64_t id)> &counts);
void addToSums(std::vector<double> &sums, const MatrixView &rows, const NewMembers &added,
               const Index &index, int threads);

/// Centers that these sums make of the index's lists once `added` has joined them: means, of
/// length 1 where rows find their list by direction. A list without rows keeps its center.
std::vector<float> meansOf(const std::vector<double> &sums, const Index &index,
                           const NewMembers &added);
/// The same of one list that then has `size` rows.
void meanOf(const double *sum, int64_t size, const Index &index, float *center);

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_IVF_FLAT_NEWROWS_H
