//===- IvfFlat.cpp - IVF-Flat indexes in the C API ------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

using namespace annudf;
using namespace annudf::capi;

/// Indexes in use by this thread, innermost last.
static thread_local std::vector<const annudf_ivf_flat_index *> inUse;

capi::IndexUse::IndexUse(const Call &call, const annudf_ivf_flat_index &index, Kind kind)
    : state_(index.lock.state()), kind_(kind) {
  if (std::find(inUse.begin(), inUse.end(), &index) != inUse.end())
    call.refuse("this thread is inside another call on the index; a progress callback may only "
                "read its properties");
  if (state_.isAbandoned)
    call.refuse("another thread was changing the index when this process was forked, so here it is "
                "half changed; fork when no extend or remove runs, start the process by spawn or "
                "forkserver, or load the index from a file");
  inUse.push_back(&index);
  state_.take(kind);
}

capi::IndexUse::~IndexUse() {
  state_.give(kind_);
  inUse.pop_back();
}

annudf_element capi::toElement(const Call &call, int32_t element) {
  if (!annudf_element_name(element))
    call.refuse("element is " + std::to_string(element) + "; use a value of enum annudf_element");
  return static_cast<annudf_element>(element);
}

runtime::CudaBackend *capi::cudaOf(const annudf_backend *backend) {
  return backend ? backend->cuda : nullptr;
}

bool capi::isOnDevice(const Call &call, const annudf_place &given, const std::string &what) {
  if (given.memory == ANNUDF_MEMORY_CUDA)
    return true;
  if (given.memory != ANNUDF_MEMORY_HOST)
    call.refuse(what + ".memory is " + std::to_string(given.memory) +
                "; use a value of enum annudf_memory");
  if (given.device != 0 || given.stream != 0)
    call.refuse(what + "." +
                (given.device != 0 ? "device is " + std::to_string(given.device)
                                   : "stream is " + std::to_string(given.stream)) +
                ", but memory is ANNUDF_MEMORY_HOST; set it to 0, or memory to ANNUDF_MEMORY_CUDA");
  return false;
}

Place capi::toPlace(const Call &call, const annudf_backend *backend, const annudf_place &given,
                    const char *what) {
  if (!isOnDevice(call, given, std::string(what) + ".place"))
    return {};
  const std::string where =
      std::string(what) + " is in memory of CUDA device " + std::to_string(given.device);
  if (!backend)
    call.refuse("backend is NULL, " + where + "; give the backend of that device");
  if (!backend->cuda)
    call.refuse(where + ", the backend is " + backend->description +
                "; give the backend of that device");
  if (given.device != backend->cuda->device())
    call.refuse(where + ", the backend is " + backend->description +
                "; give the backend of that device");
  return {true, reinterpret_cast<void *>(given.stream)};
}

static runtime::MatrixView viewOf(const Call &call, const annudf_vectors &given, const char *what) {
  runtime::MatrixView view;
  view.element = toElement(call, given.element);
  view.rows = checkRange((std::string(what) + ": rows").c_str(), given.rows, 0,
                         std::numeric_limits<int64_t>::max());
  view.dims = static_cast<int32_t>(checkRange((std::string(what) + ": dims").c_str(), given.dims, 0,
                                              std::numeric_limits<int32_t>::max()));
  view.data = given.data;
  return view;
}

static annudf_vectors copyVectors(const Call &call, const annudf_vectors *vectors,
                                  const char *what) {
  call.refuseNull(vectors, what);
  return copyOptions(vectors, offsetof(annudf_vectors, element) + sizeof(int32_t),
                     "annudf_vectors");
}

PlacedMatrix capi::toPlaced(const Call &call, const annudf_backend *backend,
                            const annudf_vectors *vectors, const char *what) {
  const annudf_vectors given = copyVectors(call, vectors, what);
  return {viewOf(call, given, what), toPlace(call, backend, given.place, what)};
}

runtime::MatrixView capi::toMatrix(const Call &call, const annudf_vectors *vectors,
                                   const char *what) {
  const annudf_vectors given = copyVectors(call, vectors, what);
  if (isOnDevice(call, given.place, std::string(what) + ".place"))
    call.refuse(std::string(what) + " is in memory of CUDA device " +
                std::to_string(given.place.device) + "; it must be in host memory");
  return viewOf(call, given, what);
}

capi::HostIds::HostIds(const Call &call, annudf_backend *backend, const annudf_ids *ids)
    : given_(ids != nullptr) {
  if (!ids)
    return;
  const annudf_ids given =
      copyOptions(ids, offsetof(annudf_ids, count) + sizeof(int64_t), "annudf_ids");
  const int64_t count = checkRange("ids: count", given.count, 0, INT64_MAX / 8);
  if (count != 0)
    call.refuseNull(given.data, "ids.data");
  const Place at = toPlace(call, backend, given.place, "ids");
  const auto size = static_cast<size_t>(count);
  ids_ = {given.data, size};
  if (!at.onDevice)
    return;
  copy_ =
      backend->cuda->read(given.data, size * sizeof(int64_t), sizeof(int64_t), at.stream, "ids");
  ids_ = {reinterpret_cast<const int64_t *>(copy_.data()), size};
}

const int64_t *capi::HostIds::forRows(const Call &call, int64_t rows) const {
  if (!given_)
    return nullptr;
  if (std::ssize(ids_) != rows)
    call.refuse("ids: count is " + std::to_string(ids_.size()) + ", there are " +
                std::to_string(rows) + " rows; give one id a row");
  return ids_.data();
}

runtime::Progress capi::toProgress(annudf_progress progress, void *user) {
  if (!progress)
    return {};
  return [=](const char *stage, double done) { return progress(user, stage, done) == 0; };
}

/// What a build is told, and how it tells how far it is.
struct BuildRequest {
  BuildRequest(const Call &call, const annudf_backend *backend, const annudf_vectors *base,
               int64_t nLists, const annudf_ivf_flat_build_options *options) {
    const annudf_ivf_flat_build_options given = copyOptions(
        options, offsetof(annudf_ivf_flat_build_options, progress_user) + sizeof(void *),
        "annudf_ivf_flat_build_options");
    if (!annudf_coarse_name(given.metric))
      call.refuse("metric is " + std::to_string(given.metric) +
                  "; use a value of enum annudf_coarse");
    params.nLists = static_cast<uint32_t>(checkRange("n_lists", nLists, 0, runtime::kMaxLists));
    params.metric = static_cast<annudf_coarse>(given.metric);
    if (given.kmeans_n_iters != 0)
      params.kmeansIterations = static_cast<uint32_t>(
          checkRange("kmeans_n_iters", given.kmeans_n_iters, 1, ANNUDF_MAX_KMEANS_N_ITERS));
    if (given.kmeans_trainset_fraction != 0)
      params.kmeansTrainsetFraction = given.kmeans_trainset_fraction;
    if (given.seed != 0)
      params.seed = given.seed;
    params.threads = given.threads;
    params.adaptiveCenters = given.adaptive_centers != 0;
    params.addData = given.train_only == 0;
    params.missingValues = given.missing_values != 0;
    params.deviceMemoryLimit = given.device_memory_limit;
    rows = toPlaced(call, backend, base, "base");
    progress = toProgress(given.progress, given.progress_user);
  }
  runtime::IndexParams params;
  PlacedMatrix rows;
  runtime::Progress progress;

  runtime::Index build(runtime::CudaBackend *cuda, runtime::BuildStats &cost) const {
    if (!cuda)
      return runtime::Index::build(params, rows.view, progress);
    if (rows.at.onDevice)
      return cuda->build(params, rows.view, rows.at.stream, progress, &cost);
    return cuda->buildFromHost(params, rows.view, progress, &cost);
  }
};

void capi::checkBuildStats(const Call &call, const annudf_ivf_flat_build_stats *stats) {
  constexpr size_t kSmallest = offsetof(annudf_ivf_flat_build_stats, copy_ms) + sizeof(double);
  if (stats && stats->size < kSmallest)
    call.refuse("annudf_ivf_flat_build_stats.size is " + std::to_string(stats->size) +
                ", at least " + std::to_string(kSmallest) +
                " are needed; set it to sizeof(annudf_ivf_flat_build_stats)");
}

void capi::give(annudf_ivf_flat_build_stats *to, const runtime::BuildStats &from) {
  if (!to)
    return;
  annudf_ivf_flat_build_stats filled = {};
  filled.size = to->size;
  filled.train_ms = from.trainMs, filled.add_ms = from.addMs, filled.copy_ms = from.copyMs;
  filled.pieces = from.pieces, filled.device_bytes = from.deviceBytes;
  filled.lists_on_device = from.listsOnDevice;
  std::memcpy(to, &filled, std::min(to->size, sizeof filled));
}

annudf_status annudf_ivf_flat_build(annudf_backend *backend, const annudf_vectors *base,
                                    int64_t n_lists, const annudf_ivf_flat_build_options *options,
                                    annudf_ivf_flat_index **index,
                                    annudf_ivf_flat_build_stats *stats) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    checkBuildStats(call, stats);
    const BuildRequest request(call, backend, base, n_lists, options);
    runtime::BuildStats cost;
    *index = new annudf_ivf_flat_index(request.build(cudaOf(backend), cost));
    give(stats, cost);
  });
}

static void extendBy(const Call &call, annudf_backend *backend, annudf_ivf_flat_index *index,
                     const annudf_vectors *rows, const annudf_ids *ids,
                     const annudf_ivf_flat_extend_options *options) {
  const annudf_ivf_flat_extend_options given = copyOptions(
      options, offsetof(annudf_ivf_flat_extend_options, allow_repeated_ids) + sizeof(int32_t),
      "annudf_ivf_flat_extend_options");
  // First, as a refusal releases the columns, too.
  const runtime::NewColumns columns = toColumns(call, backend, given.columns, given.n_columns);
  call.refuseNull(index, "index");
  const PlacedMatrix more = toPlaced(call, backend, rows, "rows");
  const HostIds ofRows(call, backend, ids);
  runtime::NewIds newIds = {ofRows.forRows(call, more.view.rows), given.allow_repeated_ids != 0};
  if (given.n_columns != 0)
    newIds.columns = &columns;
  const runtime::Progress progress = toProgress(given.progress, given.progress_user);
  runtime::CudaBackend *const cuda = cudaOf(backend);
  IndexUse use(call, *index, IndexUse::Kind::Exclusive);
  if (!cuda)
    index->value.extend(more.view, newIds, progress);
  else if (more.at.onDevice)
    cuda->extend(index->value, more.view, newIds, more.at.stream, progress);
  else
    cuda->extendFromHost(index->value, more.view, newIds, progress);
  index->tellChange();
}

annudf_status annudf_ivf_flat_extend(annudf_backend *backend, annudf_ivf_flat_index *index,
                                     const annudf_vectors *rows, const annudf_ids *ids,
                                     const annudf_ivf_flat_extend_options *options) {
  return guard(__func__, [&](Call call) { extendBy(call, backend, index, rows, ids, options); });
}

int32_t annudf_ivf_flat_device(const annudf_ivf_flat_index *index) {
  int32_t device = -1;
  (void)guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    IndexUse use(call, *index, IndexUse::Kind::Shared);
    device = index->value.device();
  });
  return device;
}

annudf_status annudf_ivf_flat_remove(annudf_backend *backend, annudf_ivf_flat_index *index,
                                     const annudf_ids *ids, annudf_progress progress,
                                     void *progress_user, int64_t *removed) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    call.refuseNull(ids, "ids");
    const HostIds given(call, backend, ids);
    const std::span<const int64_t> gone = given.all();
    const runtime::Progress told = toProgress(progress, progress_user);
    runtime::CudaBackend *const cuda = cudaOf(backend);
    IndexUse use(call, *index, IndexUse::Kind::Exclusive);
    const int64_t went =
        cuda ? cuda->remove(index->value, gone, told) : index->value.remove(gone, told);
    index->tellChange();
    if (removed)
      *removed = went;
  });
}

annudf_status annudf_ivf_flat_save(const annudf_ivf_flat_index *index, const char *path,
                                   annudf_progress progress, void *progress_user) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    call.refuseNull(path, "path");
    IndexUse use(call, *index, IndexUse::Kind::Shared);
    index->value.save(path, toProgress(progress, progress_user));
  });
}

annudf_status annudf_ivf_flat_load(const char *path, int32_t mmap, annudf_ivf_flat_index **index) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(path, "path");
    call.refuseNull(index, "index");
    *index = new annudf_ivf_flat_index(
        runtime::Index::load(path, mmap ? runtime::FileUse::Map : runtime::FileUse::Read));
  });
}

annudf_status annudf_check_k(int64_t k, int64_t rows) {
  return guard(__func__, [&](Call) { runtime::checkK(k, rows); });
}

annudf_status annudf_ivf_flat_get(const annudf_ivf_flat_index *index, annudf_ivf_flat_info *info) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    call.refuseNull(info, "info");
    const runtime::Index &value = index->value;
    annudf_ivf_flat_info filled = {};
    filled.rows = index->size, filled.dims = value.dims(), filled.n_lists = value.nLists();
    filled.element = value.element(), filled.metric = value.metric();
    filled.adaptive_centers = value.adaptiveCenters();
    filled.missing_values = value.missingValues();
    filled.generation = index->generation, filled.n_columns = index->columns;
    fill(call, info, filled, offsetof(annudf_ivf_flat_info, n_columns) + sizeof(size_t),
         "annudf_ivf_flat_info");
  });
}

annudf_status annudf_ivf_flat_extents(const annudf_ivf_flat_index *index, annudf_extents *extents) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    call.refuseNull(extents, "extents");
    IndexUse use(call, *index, IndexUse::Kind::Shared);
    fill(call, extents, annudf_extents{0, index->value.dims(), index->value.rowExtent(), 0},
         offsetof(annudf_extents, queries) + sizeof(int64_t), "annudf_extents");
  });
}

annudf_status annudf_ivf_flat_centers(const annudf_ivf_flat_index *index, float *centers,
                                      size_t count) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    call.refuseNull(centers, "centers");
    // Where an extend leaves them as they are no lock is needed.
    std::optional<IndexUse> use;
    if (index->value.adaptiveCenters())
      use.emplace(call, *index, IndexUse::Kind::Shared);
    const std::vector<float> &from = index->value.centers();
    if (count != from.size())
      call.refuse("count is " + std::to_string(count) + ", the index has " +
                  std::to_string(index->value.nLists()) + " centers of " +
                  std::to_string(index->value.dims()) + " dims; give " +
                  std::to_string(from.size()) + " floats");
    std::copy(from.begin(), from.end(), centers);
  });
}

annudf_status annudf_ivf_flat_ids(const annudf_ivf_flat_index *index, int64_t *ids, size_t count) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    const IndexUse use(call, *index, IndexUse::Kind::Shared);
    const auto rows = static_cast<size_t>(index->value.size());
    if (count != rows)
      call.refuse("count is " + std::to_string(count) + ", the index has " + std::to_string(rows) +
                  " rows");
    if (rows != 0)
      call.refuseNull(ids, "ids");
    for (uint32_t list = 0; list < index->value.nLists(); ++list) {
      const auto of = index->value.idsOf(list);
      ids = std::copy_n(of.begin(), index->value.listSize(list), ids);
    }
  });
}

void annudf_ivf_flat_destroy(annudf_ivf_flat_index *index) {
  if (index)
    IndexHold::release(*index);
}
