//===- Goal.cpp - Searches with a goal, in the C API ----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Goal.h"

#include "annudf/runtime/engine/Columns.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace annudf::capi {
namespace {

/// A search with results on a device, which are then read.
class ThereAndBack {
public:
  ThereAndBack(runtime::CudaBackend &cuda, void *stream) : cuda_(cuda), stream_(stream) {}

  void search(const Goal::Search &search, const Arguments &arguments, int64_t *ids,
              float *distances, runtime::SearchStats *stats) const {
    const auto count = static_cast<uint64_t>(arguments.queries.rows) * uint64_t(arguments.k);
    const auto idsThere = cuda_.allocate(count * sizeof *ids, stream_),
               distancesThere = cuda_.allocate(count * sizeof *distances, stream_);
    search(arguments, reinterpret_cast<int64_t *>(idsThere->address()),
           reinterpret_cast<float *>(distancesThere->address()), stats);
    read(*idsThere, ids), read(*distancesThere, distances);
  }
  /// What there is room for. \throws as a search that writes it.
  void check(const void *address, uint64_t bytes, size_t alignment, const char *what) const {
    cuda_.checkMemory(address, bytes, alignment, what);
  }
  template <class T> void write(const std::vector<T> &from, T *to) const {
    cuda_.copy(reinterpret_cast<uint64_t>(to), reinterpret_cast<uint64_t>(from.data()),
               from.size() * sizeof(T), stream_);
  }
  void wait() const { cuda_.synchronize(stream_); }

private:
  template <class T> void read(const runtime::DeviceMemory &from, T *to) const {
    const std::vector<std::byte> bytes = cuda_.read(reinterpret_cast<const void *>(from.address()),
                                                    from.size(), sizeof(T), stream_, "results");
    std::memcpy(to, bytes.data(), bytes.size());
  }

  runtime::CudaBackend &cuda_;
  void *const stream_;
};

} // namespace

Goal::Goal(const Call &call, const annudf_ivf_flat_search_options *options) {
  const annudf_ivf_flat_search_options given = optionsOf(options);
  goal_.maxProbes = given.max_probes, goal_.minRows = given.min_rows;
  if (!given.group_by)
    return;
  groups_ = copyOptions(given.group_by, offsetof(annudf_groups, column) + sizeof(char *),
                        "annudf_groups");
  if ((groups_->of != nullptr) == (groups_->column != nullptr))
    call.refuse(std::string("options.group_by has ") +
                (groups_->of ? "both `of` and `column`" : "neither `of` nor `column`") +
                "; give one");
  goal_.groups = runtime::RowGroups{groups_->of, groups_->entries};
}

void Goal::chooseFrom(const Call &call, const runtime::RowStore &index, int64_t nProbes) {
  runtime::checkGoal(goal_, std::min<int64_t>(nProbes, index.nLists()));
  if (groups_ && groups_->column) {
    column_ = runtime::integersById(index, groups_->column, "group_by");
    goal_.groups = runtime::RowGroups{column_->data(), int64_t(column_->size())};
  }
  chooseFrom(call, index.rowExtent());
}

void Goal::chooseFrom(const Call &call, int64_t rows) {
  if (!groups_)
    return;
  if (groups_->column && !column_)
    call.refuse("options.group_by.column is '" + std::string(groups_->column) +
                "'; rows that come with the call have no columns, so give `of`");
  runtime::checkGroups(*goal_.groups, rows);
}

void Goal::search(annudf_backend &backend, const Arguments &arguments, const Searched &of,
                  const Search &search, int64_t *ids, float *distances,
                  runtime::SearchStats *stats) const {
  if (!goal_.isSet())
    return search(arguments, ids, distances, stats);
  const bool there = arguments.at.onDevice;
  const runtime::MatrixView &queries = arguments.queries;
  const auto results = static_cast<size_t>(queries.rows) * static_cast<size_t>(arguments.k);
  std::optional<ThereAndBack> device;
  std::vector<int64_t> foundIds;
  std::vector<float> foundDistances;
  if (there) {
    device.emplace(*backend.cuda, arguments.at.stream);
    device->check(ids, results * sizeof *ids, sizeof *ids, "ids");
    device->check(distances, results * sizeof *distances, sizeof *distances, "distances");
    foundIds.resize(results), foundDistances.resize(results);
  }
  const auto part = [&](const runtime::QueryPart &of, int k, const runtime::SearchParams &params,
                        int64_t *toIds, float *toDistances, runtime::SearchStats *cost) {
    Arguments some = arguments;
    some.k = k, some.params = params;
    some.queries = runtime::partOf(queries, of);
    if (device)
      device->search(search, some, toIds, toDistances, cost);
    else
      search(some, toIds, toDistances, cost);
  };
  runtime::searchToGoal(
      {queries.rows, of.rows, of.lists, of.order, runtime::queriesOfACall(*backend.value), of.full},
      arguments.k, arguments.params, goal_, part, there ? foundIds.data() : ids,
      there ? foundDistances.data() : distances, stats);
  if (!device)
    return;
  device->write(foundIds, ids), device->write(foundDistances, distances);
  device->wait(); // What is copied from is let go.
}

} // namespace annudf::capi
