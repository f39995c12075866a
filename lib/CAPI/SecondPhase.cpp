//===- SecondPhase.cpp - Searches in two phases, in the C API -------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SecondPhase.h"

#include "annudf/runtime/engine/Refine.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace annudf::capi {

SecondPhase::SecondPhase(const Call &call, const annudf_ivf_flat_search_options *options) {
  const annudf_second_phase *const refine = optionsOf(options).refine;
  if (!refine)
    return;
  given_ = copyOptions(refine, offsetof(annudf_second_phase, ratio) + sizeof(double),
                       "annudf_second_phase");
  call.refuseNull(given_->artifact, "options.refine.artifact");
  checkStats(call, given_->stats);
  if (!(given_->ratio >= 1 && given_->ratio <= ANNUDF_MAX_K))
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

void SecondPhase::search(const Goal::Search &first, annudf_backend &backend,
                         const runtime::RowStore &index, const Arguments &arguments, int64_t *ids,
                         float *distances, runtime::SearchStats *stats) {
  Arguments of = arguments;
  const double wanted = std::ceil(double(arguments.k) * given_->ratio);
  of.k = int(std::max<double>(arguments.k, std::min(wanted, double(index.size()))));
  // To a caller there is one search.
  const runtime::Progress &progress = arguments.params.progress;
  const auto half = [&](double before) -> runtime::Progress {
    if (!progress)
      return {};
    return [&progress, before](const char *, double done) {
      return progress("search", before + done / 2);
    };
  };
  of.params.progress = half(0);
  const auto results = static_cast<size_t>(of.queries.rows) * static_cast<size_t>(of.k);
  std::unique_ptr<runtime::DeviceMemory> idsThere, distancesThere;
  std::vector<int64_t> idsHere;
  std::vector<float> distancesHere;
  int64_t *found = nullptr;
  float *foundDistances = nullptr;
  if (of.at.onDevice) {
    idsThere = backend.cuda->allocate(results * sizeof *found, of.at.stream);
    distancesThere = backend.cuda->allocate(results * sizeof *foundDistances, of.at.stream);
    found = reinterpret_cast<int64_t *>(idsThere->address());
    foundDistances = reinterpret_cast<float *>(distancesThere->address());
  } else {
    idsHere.resize(results), distancesHere.resize(results);
    found = idsHere.data(), foundDistances = distancesHere.data();
  }
  first(of, found, foundDistances, stats);
  Arguments second = arguments;
  second.params.progress = half(0.5);
  second.params.candidates = runtime::All{};
  // What was found has passed the filter; the family is the first metric's.
  second.params.filter = nullptr, second.params.predicate = nullptr, second.params.family.clear();
  rank(backend, index, second, {found, of.queries.rows, of.k}, ids, distances);
}

void SecondPhase::rank(annudf_backend &backend, const runtime::RowStore &index,
                       const Arguments &arguments, const runtime::CandidateRows &candidates,
                       int64_t *ids, float *distances) {
  const runtime::MetricView metric(given_->artifact->value, given_->artifact->digest, origin_);
  const runtime::BoundCaptures &bound = arguments.boundOr(given_->captures);
  runtime::SearchStats cost, *const wanted = given_->stats ? &cost : nullptr;
  const runtime::RowsPlace at = {arguments.at.onDevice, arguments.at.stream};
  if (backend.cuda)
    backend.cuda->refineOwn(index, candidates, at, metric, bound, arguments.queries, at,
                            arguments.k, arguments.params, ids, distances, wanted);
  else
    runtime::refineOwn(*backend.value, index, candidates, metric, bound, arguments.queries,
                       arguments.k, arguments.params, ids, distances, wanted);
  if (wanted)
    runtime::addCost(cost_, cost);
}

void SecondPhase::finish() const {
  if (given_ && given_->stats)
    give(given_->stats, cost_);
}

} // namespace annudf::capi
