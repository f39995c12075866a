//===- SecondPhase.cpp - Searches in two phases, in the C API -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SecondPhase.h"

#include "annudf/runtime/engine/QueryPart.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace annudf::capi {

SecondPhase::SecondPhase(const Call &call, const annudf_ivf_flat_search_options *options,
                         int64_t queries)
    : queries_(std::max<int64_t>(1, queries)) {
  const annudf_second_phase *const refine = optionsOf(options).refine;
  if (!refine)
    return;
  given_ = copyOptions(refine, offsetof(annudf_second_phase, ratio) + sizeof(double),
                       "annudf_second_phase");
  call.refuseNull(given_->artifact, "options.refine.artifact");
  checkStats(call, given_->stats);
  if (!(given_->ratio >= 1 && given_->ratio <= double(ANNUDF_MAX_K)))
    call.refuse("options.refine.ratio is " + std::to_string(given_->ratio) +
                ", it must be from 1 to " + std::to_string(ANNUDF_MAX_K));
  origin_ = originOf(*given_->artifact);
}

Goal::Search SecondPhase::after(Goal::Search first, annudf_backend &backend,
                                const runtime::RowStore &index) {
  if (!given_)
    return first;
  return [this, first = std::move(first), &backend, &index](const Arguments &arguments,
                                                            int64_t *ids, float *distances,
                                                            runtime::SearchStats *stats) {
    search(first, backend, index, arguments, ids, distances, stats);
  };
}

namespace {

/// Room for what the first phase finds, where the queries are.
class Found {
public:
  Found(annudf_backend &backend, const Place &at, size_t results) {
    if (at.onDevice) {
      idsThere_ = backend.cuda->allocate(results * sizeof *ids, at.stream);
      distancesThere_ = backend.cuda->allocate(results * sizeof *distances, at.stream);
      ids = reinterpret_cast<int64_t *>(idsThere_->address());
      distances = reinterpret_cast<float *>(distancesThere_->address());
    } else {
      idsHere_.resize(results), distancesHere_.resize(results);
      ids = idsHere_.data(), distances = distancesHere_.data();
    }
  }
  /// Says of each query of a part whether it found `count` rows.
  void tellFull(annudf_backend &backend, const Place &at, int64_t begin, int64_t queries, int count,
                std::vector<uint8_t> &full) const {
    std::vector<std::byte> copy;
    const int64_t *found = ids;
    if (at.onDevice) {
      copy = backend.cuda->read(ids, size_t(queries) * size_t(count) * sizeof *ids, sizeof *ids,
                                at.stream, "results");
      found = reinterpret_cast<const int64_t *>(copy.data());
    }
    full.resize(size_t(begin + queries));
    for (int64_t q = 0; q < queries; ++q)
      full[size_t(begin + q)] = found[(q + 1) * count - 1] >= 0;
  }
  int64_t *ids = nullptr;
  float *distances = nullptr;

private:
  std::unique_ptr<runtime::DeviceMemory> idsThere_, distancesThere_;
  std::vector<int64_t> idsHere_;
  std::vector<float> distancesHere_;
};

} // namespace

void SecondPhase::search(const Goal::Search &first, annudf_backend &backend,
                         const runtime::RowStore &index, const Arguments &arguments, int64_t *ids,
                         float *distances, runtime::SearchStats *stats) {
  const runtime::SearchParams &params = arguments.params;
  const int64_t queries = arguments.queries.rows,
                rows = std::min<int64_t>(index.size(), ANNUDF_MAX_K);
  const double asked = std::ceil(double(arguments.k) * given_->ratio);
  const int count = int(std::max<double>(arguments.k, std::min(asked, double(rows))));
  const int64_t most =
      std::clamp<int64_t>(runtime::kMostResults / count, 1, std::max<int64_t>(1, queries));
  const Found found(backend, arguments.at, static_cast<size_t>(most) * static_cast<size_t>(count));
  for (int64_t begin = 0; begin < std::max<int64_t>(1, queries); begin += most) {
    const runtime::QueryPart part = {begin, std::min(most, queries - begin)};
    // To a caller there is one search.
    const auto progress = [&](double before) -> runtime::Progress {
      if (!params.progress)
        return {};
      return [&, before](const char *, double done) {
        return params.progress(
            "search", (double(begin) + double(part.count) * (before + done / 2)) / double(queries));
      };
    };
    Arguments of = arguments;
    of.k = count;
    of.queries = runtime::partOf(arguments.queries, part);
    of.params = runtime::partOf(params, part, queries);
    of.params.progress = progress(0);
    runtime::SearchStats cost;
    first(of, found.ids, found.distances, stats ? &cost : nullptr);
    if (stats)
      runtime::addPart(*stats, cost, double(part.count) / double(queries));
    if (tellsFull_)
      found.tellFull(backend, arguments.at, begin, part.count, count, full_);
    of.k = arguments.k;
    of.params.progress = progress(0.5);
    runtime::report(of.params.progress, "search", 0);
    of.params.candidates = runtime::All{};
    // What was found has passed the filter; the family is the first metric's.
    of.params.filter = nullptr, of.params.predicate = nullptr, of.params.family.clear();
    of.origin = origin_;
    runtime::SearchStats ofSecond;
    of.refine(backend, index, {found.ids, part.count, count}, of.at, *given_->artifact,
              given_->captures, of.k, ids + begin * of.k, distances + begin * of.k,
              wanted(given_->stats, ofSecond));
    if (given_->stats)
      runtime::addPart(cost_, ofSecond, double(part.count) / double(queries_));
  }
}

void SecondPhase::finish() const {
  if (given_ && given_->stats)
    give(given_->stats, cost_);
}

} // namespace annudf::capi
