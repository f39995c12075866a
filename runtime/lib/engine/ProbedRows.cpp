//===- ProbedRows.cpp - What lists that are probed hold -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "annudf/runtime/engine/ProbedRows.h"

#include "annudf/runtime/coarse/Coarse.h"

#include <algorithm>
#include <bit>

namespace annudf::runtime {
namespace {

/// Centers that are asked, and how many multiplications that may take: some milliseconds.
constexpr int64_t kMostSamples = 32, kLeastSamples = 8, kMostWork = int64_t(1) << 27;

/// The mean size of the list that is nearest, of the two nearest, and so on.
struct ProbedRows : IndexAttachment {
  std::vector<double> mean;
};

std::shared_ptr<ProbedRows> look(const RowStore &index, const ListCenters &by, annudf_coarse metric,
                                 annudf_order order, uint32_t probes, int64_t samples) {
  // Rows in equal steps: a list is asked as often as its size says. Their centers stand for them,
  // as rows may be on a device; what a row adds to its distance from its own center, it adds to
  // those from the others.
  const auto dims = static_cast<size_t>(index.dims());
  std::vector<float> centers;
  int64_t before = 0;
  for (uint32_t list = 0, sample = 0; sample < samples; ++sample) {
    const auto row = static_cast<int64_t>((sample + 0.5) / double(samples) * double(index.size()));
    while (before + index.listSize(list) <= row)
      before += index.listSize(list++);
    const auto center = by.values.begin() + static_cast<std::ptrdiff_t>(list * dims);
    centers.insert(centers.end(), center, center + static_cast<std::ptrdiff_t>(dims));
  }
  std::vector<uint32_t> probed(static_cast<size_t>(samples) * probes);
  CoarseRanker(by, metric, order)
      .rank({centers.data(), samples, index.dims(), ANNUDF_ELEMENT_F32}, probes, probed.data(),
            index.threads());
  auto result = std::make_shared<ProbedRows>();
  double rows = 0;
  for (uint32_t p = 0; p < probes; ++p) {
    for (int64_t sample = 0; sample < samples; ++sample)
      rows += double(index.listSize(probed[static_cast<size_t>(sample) * probes + p]));
    result->mean.push_back(rows / double(samples) / (p + 1));
  }
  return result;
}

} // namespace

double rowsOfProbedList(const RowStore &index, const Candidates &candidates, int64_t queries,
                        annudf_coarse metric, annudf_order order) {
  const uint32_t probes = probesOf(index, candidates), lists = index.nLists();
  if (index.size() == 0 || probes == 0)
    return 0;
  if (const auto *given = std::get_if<Given>(&candidates)) {
    const int64_t pairs = queries * probes;
    double rows = 0;
    for (int64_t i = 0; i < pairs; ++i)
      rows += double(index.listSize(given->lists[i]));
    return pairs == 0 ? 0 : rows / double(pairs);
  }
  if (!areRanked(index, candidates))
    return double(index.size()) / lists;
  const int64_t samples = std::min(kMostSamples, kMostWork / (int64_t(lists) * index.dims()));
  if (samples < kLeastSamples)
    return 0;
  // As many probes as the next power of two says, so that others are found there too.
  const uint32_t upTo = std::min(std::bit_ceil(probes), lists);
  bool made = false;
  return index.attachments()
      .get<ProbedRows>(
          "rows " + std::to_string(metric * 2 + order) + " " + std::to_string(upTo),
          [&] { return look(index, *index.listCenters(), metric, order, upTo, samples); }, made)
      ->mean[probes - 1];
}

} // namespace annudf::runtime
