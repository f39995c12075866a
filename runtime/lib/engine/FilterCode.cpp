//===- FilterCode.cpp - Filters that code computes ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/FilterCode.h"

#include "annudf/Support/Error.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace annudf::runtime {

namespace {

void set(std::vector<uint32_t> &words, int64_t id) {
  words[static_cast<size_t>(id / 32)] |= uint32_t(1) << (id % 32);
}

bool isSet(const std::vector<uint32_t> &words, int64_t id) {
  return (words[static_cast<size_t>(id / 32)] >> (id % 32) & 1) != 0;
}

/// A bit stands for all rows of an id, so a filter of columns keeps all of them or none.
/// \param kept  the id of each row that it keeps.
void refuseDifferentRows(const RowStore &index, const MetricView &filter,
                         const std::vector<uint32_t> &words, std::vector<int64_t> kept) {
  std::vector<int64_t> wanted;
  for (uint32_t list = 0; list < index.nLists(); ++list)
    std::ranges::copy_if(index.idsOf(list).first(size_t(index.listSize(list))),
                         std::back_inserter(wanted), [&](int64_t id) { return isSet(words, id); });
  if (wanted.size() == kept.size())
    return;
  std::sort(wanted.begin(), wanted.end());
  std::sort(kept.begin(), kept.end());
  kept.resize(wanted.size(), -1);
  const int64_t id = *std::mismatch(wanted.begin(), wanted.end(), kept.begin()).first;
  throw Error(ErrorKind::Usage, "filter '" + filter.artifact.manifest.name +
                                    "' keeps a row with id " + std::to_string(id) +
                                    " and leaves out another; give each row its own id");
}

} // namespace

RowFilter keptRows(Backend &backend, const RowStore &index, const MetricView &given,
                   const BoundCaptures &captures, int64_t bits, const Progress &progress) {
  const MetricView filter = given.asFilter();
  checkRole(filter);
  if (filter.artifact.manifest.seesQuery)
    throw Error(ErrorKind::Usage, "filter '" + filter.artifact.manifest.name +
                                      "' sees the query, so no bits serve all queries; search with "
                                      "it as a predicate");
  if (index.size() == 0)
    throw Error(ErrorKind::Usage, "the index has no rows to filter; add some first");
  const int64_t extent = index.rowExtent();
  if (bits == 0)
    bits = extent;
  if (bits < extent)
    throw Error(ErrorKind::Usage, "the filter has " + std::to_string(bits) +
                                      " bits, the largest id of the index is " +
                                      std::to_string(index.largestId()) +
                                      "; give it a bit for every id");
  if (bits > kMostFilterIds || index.size() > ANNUDF_MAX_K)
    throw Error(ErrorKind::Usage,
                "filter with code: the largest id of the index is " +
                    std::to_string(index.largestId()) + " and it has " +
                    std::to_string(index.size()) + " rows; a filter takes at most " +
                    std::to_string(kMostFilterIds) + " ids and " +
                    std::to_string(int(ANNUDF_MAX_K)) + " rows; give the rows smaller ids");
  const auto rows = static_cast<size_t>(index.size());
  std::vector<uint32_t> words(static_cast<size_t>(RowFilter::wordsFor(bits)));
  // 0 is made of zeros in every element type.
  const std::vector<std::byte> zeros(
      static_cast<size_t>(bytesOfRow(index.element(), index.dims())));
  const MatrixView query{zeros.data(), 1, index.dims(), index.element()};
  std::vector<float> distances(rows);
  if (index.idsAreRowNumbers()) {
    backend.distances(index, filter, captures, query, progress, distances.data());
    for (int64_t id = 0; id < extent; ++id)
      if (!std::isnan(distances[static_cast<size_t>(id)]))
        set(words, id);
    return {std::move(words), bits};
  }
  // Ids have gaps or are repeated, so there is no column for each row; what is NaN is not found.
  std::vector<int64_t> ids(rows);
  backend.search(index, filter, captures, query, static_cast<int>(index.size()),
                 {.progress = progress}, ids.data(), distances.data());
  std::erase(ids, -1);
  for (const int64_t id : ids)
    set(words, id);
  if (captures.hasColumns())
    refuseDifferentRows(index, filter, words, std::move(ids));
  return {std::move(words), bits};
}

} // namespace annudf::runtime
