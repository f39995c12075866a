//===- Refine.cpp - Candidates ranked again on a GPU ----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceBackend.h"

#include "annudf/Support/ArgumentError.h"
#include "vectors/Elements.h"

#include <functional>
#include <limits>
#include <utility>

namespace annudf::runtime::cuda {

void DeviceBackend::refine(const MatrixView &given, const RowsPlace &rowsAt,
                           const CandidateRows &candidates, const RowsPlace &candidatesAt,
                           const MetricView &metric, const BoundCaptures &captures,
                           const MatrixView &queries, const RowsPlace &queriesAt, int64_t k,
                           const SearchParams &params, int64_t *ids, float *distances,
                           SearchStats *stats) {
  checkRefine(given, queries, candidates.queries, candidates.columns, k);
  checkRowsOfCall(captures, params, given.rows);
  if (given.rows >= std::numeric_limits<uint32_t>::max())
    throw ArgumentError(ErrorKind::Usage, {"dataset"},
                        " has " + std::to_string(given.rows) +
                            " rows; the CUDA backend takes fewer than 4294967295");
  const ContextScope scope(*context_);
  const uint64_t bytes = uint64_t(given.rows) * uint64_t(rowBytes(given));
  CandidateCall call = {.rows = given,
                        .copy = {},
                        .of = {},
                        .candidates = candidates,
                        .onDevice = candidatesAt.onDevice,
                        .stream = checkStream(*context_, candidatesAt.stream),
                        .missingValues = metric.artifact.manifest.missingValues};
  if (rowsAt.onDevice) {
    checkDeviceMemory(*context_, reinterpret_cast<uint64_t>(given.data), bytes,
                      alignmentOf(given.element), "dataset");
    ANNUDF_CUDA(cuStreamSynchronize, checkStream(*context_, rowsAt.stream));
  } else {
    auto copy =
        std::make_shared<const Buffer>(context_, bytes, Buffer::Kind::Device,
                                       "the dataset's " + std::to_string(given.rows) + " rows");
    ANNUDF_CUDA(cuMemcpyHtoD, copy->device(), given.data, bytes);
    ANNUDF_CUDA(cuStreamSynchronize, nullptr); // Other streams do not wait for the default one.
    call.rows.data = reinterpret_cast<const void *>(copy->device());
    call.copy = std::move(copy);
  }
  rank(call, metric, captures, queries, queriesAt, k, params, ids, distances, stats);
}

void DeviceBackend::refineOwn(const RowStore &index, const CandidateRows &candidates,
                              const RowsPlace &candidatesAt, const MetricView &metric,
                              const BoundCaptures &captures, const MatrixView &queries,
                              const RowsPlace &queriesAt, int64_t k, const SearchParams &params,
                              int64_t *ids, float *distances, SearchStats *stats) {
  checkRefine(index, queries, candidates.queries, candidates.columns, k);
  const ContextScope scope(*context_);
  SearchStats made;
  CandidateCall call = {.rows = {nullptr, index.size(), index.dims(), index.element()},
                        .copy = {},
                        .of = {&index, upload(index, params.progress, &made), slotsOf(index)},
                        .candidates = candidates,
                        .onDevice = candidatesAt.onDevice,
                        .stream = checkStream(*context_, candidatesAt.stream),
                        .missingValues = index.missingValues()};
  rank(call, metric, captures, queries, queriesAt, k, params, ids, distances, stats);
  if (stats)
    stats->uploadMs += made.uploadMs;
}

std::shared_ptr<const SlotsThere> DeviceBackend::slotsOf(const RowStore &index) {
  bool made = false;
  return index.attachments().get<SlotsThere>(
      DeviceCopies::slotsKeyOf(context_->device()),
      [&] {
        const OwnStream stream(context_);
        return std::make_shared<SlotsThere>(SlotsOfIds::of(index), context_, stream.get());
      },
      made);
}

void DeviceBackend::rank(const CandidateCall &call, const MetricView &metric,
                         const BoundCaptures &captures, const MatrixView &queries,
                         const RowsPlace &queriesAt, int64_t k, const SearchParams &params,
                         int64_t *ids, float *distances, SearchStats *stats) {
  const CandidateRows &candidates = call.candidates;
  if (call.onDevice)
    checkDeviceMemory(*context_, reinterpret_cast<uint64_t>(candidates.ids),
                      uint64_t(candidates.queries * candidates.columns) * sizeof(int64_t),
                      sizeof(int64_t), "candidates");
  constexpr int64_t kBytesOfPiece = int64_t(256) << 20;
  const auto kernels = builder_.kernels();
  // On one stream the search follows the lists, and the host plans it while they are made.
  const bool follows =
      queriesAt.onDevice && checkStream(*context_, queriesAt.stream) == call.stream;
  CandidateCall some = call;
  std::function<void()> check;
  searchByQueries(
      queries, bytesOfCandidatesThere(call),
      [&](int64_t first, int64_t count, const Progress &progress) {
        report(progress, "search", 0);
        some.first = first, some.count = count;
        MadeCandidates made = makeCandidates(context_, *kernels, *candidates_, some);
        keep(*made.store, made.lists);
        check = std::move(made.check);
        if (!follows)
          std::exchange(check, {})();
        return std::move(made.store);
      },
      [&](const RowStore &store, const MatrixView &part, int64_t first, const SearchParams &of,
          SearchStats *cost) {
        int64_t *const toIds = ids + first * k;
        float *const toDistances = distances + first * k;
        if (!queriesAt.onDevice) {
          search(store, metric, captures, part, int(k), of, toIds, toDistances, cost);
          return;
        }
        try {
          searchDevice(store, metric, captures, part, int(k), of, toIds, toDistances,
                       queriesAt.stream, cost);
        } catch (...) { // Others take the memory of the lists.
          (void)Driver::get().cuStreamSynchronize(call.stream);
          throw;
        }
        if (check)
          std::exchange(check, {})();
      },
      params, stats, kBytesOfPiece);
}

} // namespace annudf::runtime::cuda
