//===- Prepare.cpp - What a search runs, before it does -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaBackend.h"

#include <algorithm>
#include <limits>
#include <span>

namespace annudf::runtime::cuda {

std::shared_ptr<const Buffer> Implementation::uploadLists(const Candidates &candidates,
                                                          int64_t queries) const {
  const auto *given = std::get_if<Given>(&candidates);
  if (!given)
    return nullptr;
  const uint64_t bytes = static_cast<uint64_t>(queries) * given->probes * sizeof(uint32_t);
  auto table = std::make_shared<const Buffer>(context_, bytes);
  ANNUDF_CUDA(cuMemcpyHtoD, table->device(), given->lists, bytes);
  // The copy runs on the default stream, which other streams do not wait for.
  ANNUDF_CUDA(cuStreamSynchronize, nullptr);
  return table;
}

SearchPlan Implementation::planOf(const RowStore &index, const MetricView &metric,
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
                     probesOf(index, params.candidates),
                     areRanked(index, params.candidates),
                     wanted.every(),
                     workloadOf(manifest, index, 0,
                                static_cast<int>(std::min<int64_t>(wanted.columns, ANNUDF_MAX_K)),
                                params),
                     machine(),
                     manifest.packed && manifest.packed->negated};
  plan.work.bodyBytes = bodyBytesOf(metric.artifact, context_->sm());
  plan.work.fusedAhead = isFusedAhead(metric.artifact, context_->sm());
  plan.work.everyDistance = wanted.every();
  if (ready.given) // Queries have numbers from firstQuery on, the table begins with the first.
    plan.given = ready.given->device() -
                 static_cast<uint64_t>(params.firstQuery) * plan.nProbes * sizeof(uint32_t);
  plan.findProbedRows(index, params.candidates, queries.rows);
  plan.work.packedDims = packedDimsOf(manifest, {index.element(), queries.element});
  plan.work.ownNodes = ownNodesOf(manifest, captures);
  plan.work.noForm = whyNoBounds(plan.work, manifest);
  plan.checkFits();
  return plan;
}

Implementation::Ready Implementation::prepare(const RowStore &index, const MetricView &metric,
                                              const BoundCaptures &captures,
                                              const MatrixView &queries, const Wanted &wanted,
                                              const SearchParams &params, SearchStats &stats) {
  if (wanted.columns > std::numeric_limits<uint32_t>::max())
    throw Error(ErrorKind::Usage, "every distance to " + std::to_string(wanted.columns) +
                                      " rows: the CUDA backend takes fewer than 4294967296");
  Ready ready = {upload(index, params.progress, &stats),
                 captures_.get(captures),
                 filters_.get(params.filter.get()),
                 uploadLists(params.candidates, queries.rows),
                 std::nullopt,
                 0,
                 {}};
  SearchPlan &plan =
      ready.plan.emplace(planOf(index, metric, captures, queries, wanted, params, ready));
  const auto total = static_cast<uint64_t>(queries.rows);
  const auto batchOf = [&] {
    // Most need no more than the usual, and the driver is not asked what is free.
    const uint64_t allowed = pool_.allowed().bytes, usual = std::min(allowed, kUsualWorkspace);
    const uint64_t batch = plan.batch(total, usual, wanted.mostAtOnce);
    return batch < total && usual < allowed ? plan.batch(total, pool_.limit(), wanted.mostAtOnce)
                                            : batch;
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
    plan.bound =
        bounds_.get(index, *ready.index, metric, captures, plan.work.ownNodes != 0, atOnce, why);
    if (!plan.bound && !params.family.empty())
      throw familyRefusal(params.family, why);
    if (!plan.bound) {
      plan.work.noForm = "its bounds are not there for these captures";
      plan.noBounds = std::move(why);
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
