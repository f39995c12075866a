//===- Prepare.cpp - What a search runs, before it does -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <span>

namespace annudf::runtime::cuda {

namespace {

/// Whether a form has coefficients that no binding makes numbers of: entries by query, or of arrays
/// in a device's memory.
bool isBeyondBinding(const QuadraticForm &form, const BoundCaptures &captures) {
  return std::any_of(form.nodes.begin(), form.nodes.end(), [&](const Coefficient &node) {
    if (node.kind != Coefficient::Kind::Entry)
      return false;
    const auto &declared = captures.declared();
    for (size_t i = 0; i < captures.size(); ++i)
      if (declared[i].name == node.capture && captures.space(i) != MemorySpace::Host)
        return true;
    return std::any_of(node.indices.begin(), node.indices.end(), [](const EntryIndex &index) {
      return index.kind == EntryIndex::Kind::Query;
    });
  });
}

/// Why a search has no use for bounds, whatever its metric's form; null where it may have.
const char *whyNoBounds(const MetricView &metric, const BoundCaptures &captures, bool everyDistance,
                        const SearchParams &params, int sm) {
  if (const char *none = workloadOf(metric.artifact.manifest).noForm)
    return none;
  const char *wanted = std::getenv("ANNUDF_MATRIX");
  if (wanted && std::string_view(wanted) == "0")
    return "ANNUDF_MATRIX is 0";
  if (everyDistance)
    return "every distance is wanted";
  if (params.filter && params.family.empty())
    return "a filter leaves some rows, which products do not know";
  if (!isFusedAhead(metric.artifact, sm))
    return "the linker decides which products are fused";
  if (isBeyondBinding(*metric.artifact.manifest.form, captures))
    return "its coefficients are entries by query or in a device's memory";
  return nullptr;
}

} // namespace

SearchPlan Implementation::planOf(const Index &index, const MetricView &metric,
                                  const BoundCaptures &captures, const MatrixView &queries,
                                  const Wanted &wanted, const SearchParams &params,
                                  const Ready &ready) {
  const Manifest &manifest = metric.artifact.manifest;
  SearchPlan plan = {*context_,
                     kernels_,
                     *ready.index,
                     ready.captures->slots,
                     ready.filter ? ready.filter->device() : 0,
                     queries.element,
                     manifest.order,
                     manifest.coarse,
                     manifest.coarseOrder,
                     static_cast<uint32_t>(wanted.columns),
                     params.nProbes,
                     wanted.every(),
                     workloadOf(manifest, index, 0,
                                static_cast<int>(std::min<int64_t>(wanted.columns, ANNUDF_MAX_K)),
                                params),
                     machine(),
                     manifest.packed && manifest.packed->negated};
  plan.work.bodyBytes = bodyBytesOf(metric.artifact, context_->sm());
  plan.work.fusedAhead = isFusedAhead(metric.artifact, context_->sm());
  plan.work.everyDistance = wanted.every();
  plan.findProbedRows(index, queries.rows);
  plan.work.packedDims = packedDimsOf(manifest, {index.element(), queries.element});
  if (const char *why = whyNoBounds(metric, captures, wanted.every(), params, context_->sm()))
    plan.work.noForm = why;
  plan.checkFits();
  return plan;
}

Implementation::Ready Implementation::prepare(const Index &index, const MetricView &metric,
                                              const BoundCaptures &captures,
                                              const MatrixView &queries, const Wanted &wanted,
                                              const SearchParams &params, SearchStats &stats) {
  if (wanted.columns > std::numeric_limits<uint32_t>::max())
    throw Error(ErrorKind::Usage, "every distance to " + std::to_string(wanted.columns) +
                                      " rows: the CUDA backend takes fewer than 4294967296");
  Ready ready = {upload(index, params.progress, &stats),
                 captures_.get(captures),
                 filters_.get(params.filter.get()),
                 std::nullopt,
                 0,
                 {}};
  SearchPlan &plan =
      ready.plan.emplace(planOf(index, metric, captures, queries, wanted, params, ready));
  const auto total = static_cast<uint64_t>(queries.rows);
  const auto batchOf = [&] {
    // Most need no more than the usual, and the driver is not asked what is free.
    const uint64_t usual = std::min(pool_.allowed(), kUsualWorkspace);
    uint64_t batch = plan.batch(total, usual);
    if (batch < total && usual < pool_.allowed())
      batch = plan.batch(total, pool_.limit());
    return std::min(batch, wanted.mostAtOnce);
  };
  uint64_t batch = 0;
  const CudaFamily *families[2];
  const auto choose = [&] {
    batch = batchOf();
    // The last batch has fewer queries, for which another family may be quicker.
    families[0] = &plan.familyOf(std::min(batch, total));
    families[1] = &plan.familyOf(total % batch ? total % batch : batch);
  };
  choose();
  if (families[0]->tiling(plan.work).bounds || families[1]->tiling(plan.work).bounds) {
    std::string why;
    constexpr double kWorth = 30; // Queries a row: from here on it takes less than it saves.
    const bool atOnce =
        params.waitForLinks || !params.family.empty() || plan.queriesPerRow(total) >= kWorth;
    plan.bound = bounds_.get(index, *ready.index, metric, captures, atOnce, why);
    if (!plan.bound && !params.family.empty())
      throw familyRefusal(params.family, why);
    if (!plan.bound) {
      plan.work.noForm = "its bounds are not there for these captures";
      choose();
    }
  }
  std::span<const CudaFamily *const> needed(families, families[0] == families[1] ? 1 : 2);
  const ScanElements elements = {index.element(), queries.element};
  ScanKernels scans = scans_.loaded(needed, metric, elements);
  if (scans.empty() && params.family.empty() && !params.waitForLinks && !params.timeStages)
    if (const auto instead = scans_.insteadOf(needed, metric, elements, plan, total, stats);
        instead.family) {
      plan.linking = instead.linking->name(), plan.work.family = instead.family->name();
      batch = batchOf();
      families[0] = instead.family, needed = needed.first(1);
    }
  if (scans.empty())
    for (const CudaFamily *family : needed)
      scans.push_back(scans_.get(metric, elements, *family, stats));
  ready.batch = batch, ready.scans = std::move(scans);
  return ready;
}

} // namespace annudf::runtime::cuda
