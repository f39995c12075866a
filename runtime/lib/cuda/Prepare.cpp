//===- Prepare.cpp - What a search runs, before it does -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceBackend.h"

#include "annudf/runtime/engine/ProbedRows.h"
#include "cuda/plan/Gathering.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace annudf::runtime::cuda {

/// Batches, rows in half precision and links of one search.
class DeviceBackend::DeviceResources final : public Resources {
public:
  DeviceResources(DeviceBackend &backend, const RowStore &index, std::shared_ptr<DeviceIndex> copy,
                  const MetricView &metric, const BoundCaptures &captures,
                  const MatrixView &queries, const Wanted &wanted, const SearchParams &params,
                  const DevicePredicate *predicate, bool rowsAreSlots, SearchStats &stats)
      : copy(std::move(copy)), backend(backend), index(index), metric(metric), captures(captures),
        queries(queries), wanted(wanted), params(params), predicate(predicate),
        rowsAreSlots(rowsAreSlots), stats(stats), elements(index.element(), queries.element),
        machine(backend.machine()), total(static_cast<uint64_t>(queries.rows)) {}

  /// Gathers the rows that pass the filter if that is faster; whether they are searched from here
  /// on.
  /// \param words  the filter's, on the device; null: there is none.
  bool gather(const Buffer *words) {
    if (!words || !mayGather())
      return false;
    const RowFilter &filter = *params.filter;
    const Workload work = workload();
    const auto kept = backend.passingOf(index);
    const auto one = worthGathering(kernelFamilies(), work, machine, kept->has(filter));
    if (!one)
      return false;
    try {
      const ListOfRows made = kept->of(filter, [&] {
        return gatherPassing(backend.context_, *backend.builder_.kernels(), *backend.candidates_,
                             *copy, words->device(), one->rows);
      });
      copy = made.list;
      gathered = gatheredWork(work, made.rows);
      return true;
    } catch (const Error &error) {
      if (error.kind() != ErrorKind::Environment)
        throw;
      return false; // Where memory is short the lists are scanned.
    }
  }
  ExecutionPlan plan() {
    return makePlan(isInGroups() ? kernelFamilies() : candidateFamilies(),
                    gathered ? *gathered : workload(), machine, *this);
  }
  /// Those of a plan, linked if they are not there.
  FamilyKernels kernelsOf(const ExecutionPlan &plan) {
    return loaded && loaded->family == plan.family
               ? *std::move(loaded)
               : backend.scans_.get(metric, elements, familyOf(plan), plan.work, stats);
  }
  /// What the family "matrix" takes, once it was admitted.
  std::shared_ptr<const BoundRows> bound;
  /// What is searched.
  std::shared_ptr<DeviceIndex> copy;

private:
  bool isInGroups() const { return copy->args().layout == ANNUDF_ROWS_IN_GROUPS; }
  /// Rows of several lists are one list to hooks that do not ask which it is. Columns in the order
  /// of the lists would have to be gathered, too.
  bool mayGather() const {
    return isInGroups() && !predicate && !wanted.every() && !wanted.radius &&
           !std::holds_alternative<Given>(params.candidates) &&
           probesOf(index, params.candidates) == index.nLists() && !rowsAreSlots &&
           (index.nLists() == 1 || !metric.artifact.manifest.readsList);
  }
  Workload workload() const {
    const Manifest &manifest = metric.artifact.manifest;
    const int sm = backend.context_->sm();
    Workload work =
        workloadOf(manifest, index, static_cast<int64_t>(std::min(total, kMostQueries)),
                   static_cast<int>(std::min<int64_t>(wanted.columns, ANNUDF_MAX_K)), params);
    work.bodyBytes = bodyBytesOf(metric.artifact, sm);
    work.fusedAhead = isFusedAhead(metric.artifact, sm);
    work.everyDistance = wanted.every();
    work.passByQuery = predicate != nullptr;
    work.withinRadius = wanted.radius.has_value();
    // With less than one query a row of the largest lists, each pair reads its list for itself, and
    // so it does with candidates.
    if (isInGroups() &&
        double(total) * double(copy->mostGroups(work.probes)) * kGroupRows >= double(index.size()))
      work.probedRows = rowsOfProbedList(index, params.candidates, queries.rows, manifest.coarse,
                                         manifest.coarseOrder);
    work.packedDims = packedDimsOf(manifest, elements);
    work.ownNodes = ownNodesOf(manifest, captures);
    work.noBounds = whyNoBounds(work, manifest);
    return work;
  }
  bool isFiltered() const { return params.filter && !predicate && !gathered; }
  Workload ofAll(Workload work) const {
    work.queries = queries.rows;
    return work;
  }

  int64_t batchOf(const KernelFamily &of, const Workload &work) override {
    const auto &family = static_cast<const CudaFamily &>(of);
    const uint64_t most = workspaceOf(work, machine, !family.tiling(work).endsInHooks());
    const auto within = [&](uint64_t limit) {
      Workload batch = work;
      for (;;) {
        const uint64_t fit =
            batchQueries(shapeOf(*copy, batch, family, isFiltered(), predicate), total,
                         most ? std::min(limit, most) : limit, wanted.mostAtOnce);
        if (fit >= static_cast<uint64_t>(batch.queries))
          return static_cast<uint64_t>(batch.queries);
        batch.queries = static_cast<int64_t>(fit);
      }
    };
    // Most need no more than the usual, and the driver is not asked what is free.
    const uint64_t allowed = machine.workspaceBytes, usual = std::min(allowed, kUsualWorkspace);
    const uint64_t batch = within(usual);
    return static_cast<int64_t>(batch < total && usual < allowed ? within(backend.pool_.limit())
                                                                 : batch);
  }

  Admission admit(const KernelFamily &family, Workload &work) override {
    if (!static_cast<const CudaFamily &>(family).tiling(work).bounds)
      return {};
    constexpr double kWorth = 30; // Queries a row: from here on it takes less than it saves.
    const bool atOnce =
        params.waitForLinks || !params.family.empty() || ofAll(work).queriesPerRow() >= kWorth;
    Refusal why;
    bound = backend.bounds_.get(index, *copy, metric, captures, work.ownNodes != 0, atOnce, why);
    if (bound)
      return {};
    return {Admission::Verdict::Refused, std::move(why)};
  }

  Instead insteadOf(const KernelFamily &of, const Workload &work) override {
    const auto &family = static_cast<const CudaFamily &>(of);
    loaded = backend.scans_.loaded(family, metric, elements, work);
    if (loaded || !isInGroups() || !params.family.empty() || params.waitForLinks ||
        params.timeStages)
      return {};
    Workload all = ofAll(work);
    if (!bound) // Rows in half precision are not made for a search that would rather not wait.
      all.noBounds = Reason::NotHalved;
    return backend.scans_.insteadOf(
        family, metric, elements, all, machine,
        double(total) * double(copy->mostGroups(work.probes)) * kGroupRows, stats);
  }

  DeviceBackend &backend;
  const RowStore &index;
  const MetricView &metric;
  const BoundCaptures &captures;
  const MatrixView &queries;
  const Wanted &wanted;
  const SearchParams &params;
  const DevicePredicate *const predicate; ///< Null: none.
  const bool rowsAreSlots;                ///< As of annudf_scan_args.
  SearchStats &stats;
  const ScanElements elements;
  const Machine machine;
  const uint64_t total;
  std::optional<FamilyKernels> loaded; ///< The admitted family's.
  std::optional<Workload> gathered;    ///< The search of the rows that pass alone.
};

void checkFits(const DeviceIndex &index, const Context &context) {
  const uint64_t bytes = uint64_t(index.args().centerStride) * 4;
  const uint64_t most = static_cast<uint64_t>(context.mostSharedBytes());
  if (bytes > most)
    throw Error(ErrorKind::Usage, "vectors of " + std::to_string(index.args().dims) +
                                      " dims are too long for the CUDA backend on " +
                                      context.name() + ": a query takes " + std::to_string(bytes) +
                                      " bytes of shared memory, a block has " +
                                      std::to_string(most) + "; search on the CPU");
}

std::shared_ptr<PassingRows> DeviceBackend::passingOf(const RowStore &index) {
  bool made = false;
  const int64_t bytes = int64_t(index.words()) * 4 + int64_t(sizeof(int64_t));
  return index.attachments().get<PassingRows>(
      DeviceCopies::passingKeyOf(context_->device()),
      [&] { return std::make_shared<PassingRows>(int64_t(kUsualWorkspace) / bytes); }, made);
}

std::shared_ptr<const Buffer> DeviceBackend::uploadLists(const Candidates &candidates,
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

DeviceBackend::Ready DeviceBackend::prepare(const RowStore &index, const MetricView &metric,
                                            const StoreCaptures &ofStore, const MatrixView &queries,
                                            const Wanted &wanted, const SearchParams &params,
                                            SearchStats &stats) {
  if (wanted.columns > std::numeric_limits<uint32_t>::max())
    throw Error(ErrorKind::Usage,
                "every distance to " + std::to_string(wanted.columns) +
                    " rows: the CUDA backend takes fewer than 4294967296; split the rows");
  const Manifest &manifest = metric.artifact.manifest;
  auto copy = upload(index, params.progress, &stats);
  if (copy->args().layout == ANNUDF_ROWS_IN_GROUPS && index.nLists() > 1 && index.holdsCandidates())
    throw std::logic_error("lists of candidates on the host are searched there");
  const BoundCaptures &captures = ofStore.get();
  auto there = captures_.get(captures);
  auto predicate = predicateOf(params, index, {scans_, captures_, filters_}, stats);
  auto filter = predicate ? nullptr : filters_.get(params.filter.get());
  checkFits(*copy, *context_);
  DeviceResources found(*this, index, copy, metric, captures, queries, wanted, params,
                        predicate.get(), ofStore.bySlot(), stats);
  const auto start = std::chrono::steady_clock::now();
  const bool isGathered = found.gather(filter.get());
  const double gatherMs = isGathered ? msSince(start) : 0;
  if (isGathered)
    copy = found.copy, filter = nullptr;
  const ExecutionPlan plan = found.plan();
  FamilyKernels kernels = found.kernelsOf(plan);
  const bool isBound = familyOf(plan).tiling(plan.work).bounds;
  const uint32_t probes = isGathered ? 1 : probesOf(index, params.candidates);
  // A query that is ranked has the list of its number.
  const bool ranks = familyOf(plan).tiling(plan.work).ranks && !params.timeStages;
  auto given = ranks ? nullptr : uploadLists(params.candidates, queries.rows);
  std::optional<uint64_t> lists;
  if (given) // Queries have numbers from firstQuery on, the table begins with the first.
    lists = given->device() - static_cast<uint64_t>(params.firstQuery) * probes * sizeof(uint32_t);
  Ready ready{copy,
              there,
              filter,
              given,
              {plan, *context_, kernels_, *copy, there->slots, filter ? filter->device() : 0,
               queries.element, manifest.order, manifest.coarse, manifest.coarseOrder,
               static_cast<uint32_t>(wanted.columns), probes, areRanked(index, params.candidates),
               wanted.every(), manifest.packed && manifest.packed->negated,
               isBound ? std::move(found.bound) : nullptr, lists},
              std::move(kernels)};
  ready.pipeline.rowsAreSlots = ofStore.bySlot();
  ready.pipeline.predicate = std::move(predicate);
  ready.pipeline.firstOwn = params.firstQuery;
  if (wanted.radius)
    ready.pipeline.within.emplace().radius = *wanted.radius;
  ready.gatherMs = gatherMs;
  return ready;
}

} // namespace annudf::runtime::cuda
