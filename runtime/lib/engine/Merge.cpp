//===- Merge.cpp - The k best of several partial results ------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/Merge.h"

#include "../../kernels/Orders.h"
#include "annudf/ABI/annudf_limits.h"
#include "annudf/Support/ArgumentError.h"
#include "annudf/Support/Error.h"
#include "annudf/runtime/engine/Search.h"
#include "annudf/runtime/support/Parallel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace annudf::runtime {
namespace {

struct Candidate {
  float key; ///< The smaller the better.
  float distance;
  int64_t id;
  bool operator<(const Candidate &other) const {
    return key < other.key || (key == other.key && id < other.id);
  }
};

[[noreturn]] void refuseId(int64_t part, int64_t query, int64_t id, int64_t translation) {
  throw Error(ErrorKind::Input, "part " + std::to_string(part) + ": id " + std::to_string(id) +
                                    " of query " + std::to_string(query) +
                                    " plus its translation " + std::to_string(translation) +
                                    " is above " + std::to_string(INT64_MAX) + ", the largest id");
}

} // namespace

void checkMerge(const PartialResults &from, int64_t k) {
  checkK(k);
  checkRange("k of a part", from.k, 1, ANNUDF_MAX_K);
  // A device numbers what it merges for one query with 32 bits.
  checkRange("parts", from.parts, 1, std::numeric_limits<uint32_t>::max() / from.k);
  checkRange("queries", from.queries, 0, std::numeric_limits<int32_t>::max());
  if (!from.translations.empty() && int64_t(from.translations.size()) != from.parts)
    throw Error(ErrorKind::Usage, "there are " + std::to_string(from.translations.size()) +
                                      " translations and " + std::to_string(from.parts) +
                                      " parts; give one a part");
  for (size_t part = 0; part < from.translations.size(); ++part)
    if (from.translations[part] < 0)
      throw Error(ErrorKind::Usage, "translation " + std::to_string(from.translations[part]) +
                                        " of part " + std::to_string(part) +
                                        ": must be 0 or above");
}

void mergeParts(const PartialResults &from, int64_t k, int64_t *ids, float *distances,
                int threads) {
  checkMerge(from, k);
  const bool largest = annudf_kernels::isLargestBest(from.order);
  const float sign = largest ? -1.0f : 1.0f;
  std::vector<std::vector<Candidate>> scratch(static_cast<size_t>(resolveThreads(threads)));
  parallelFor(threads, from.queries, [&](int64_t query, int worker) {
    std::vector<Candidate> &all = scratch[static_cast<size_t>(worker)];
    all.clear();
    for (int64_t part = 0; part < from.parts; ++part) {
      const int64_t first = (part * from.queries + query) * from.k;
      const int64_t add =
          from.translations.empty() ? 0 : from.translations[static_cast<size_t>(part)];
      for (int64_t i = first; i < first + from.k; ++i) {
        const float distance = from.distances[i];
        if (from.ids[i] < 0 || std::isnan(distance))
          continue;
        if (from.ids[i] > INT64_MAX - add)
          refuseId(part, query, from.ids[i], add);
        all.push_back({sign * distance, distance, from.ids[i] + add});
      }
    }
    const int64_t found = std::min<int64_t>(k, static_cast<int64_t>(all.size()));
    std::partial_sort(all.begin(), all.begin() + found, all.end());
    for (int64_t i = 0; i < k; ++i) {
      const bool is = i < found;
      ids[query * k + i] = is ? all[static_cast<size_t>(i)].id : -1;
      distances[query * k + i] =
          is ? all[static_cast<size_t>(i)].distance : sign * std::numeric_limits<float>::infinity();
    }
  });
}

} // namespace annudf::runtime
