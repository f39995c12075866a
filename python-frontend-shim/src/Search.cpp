//===- Search.cpp - Backends, their searches and device memory ------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Goal.h"
#include "Support.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace annudf::python {

namespace {

/// A wrapper of a result holds its backend, as Python may drop them in any order.
struct DeviceBuffer {
  std::shared_ptr<annudf_backend> backend;
  DeviceBufferPtr handle;
  uint64_t size;
};
struct Event {
  std::shared_ptr<annudf_backend> backend;
  EventPtr handle;
};
struct Prepared {
  /// Its end waits for a GPU's last run, and that perhaps for a function of the host, with the GIL.
  std::unique_ptr<annudf_ivf_flat_prepared, WaitingDestroyer<annudf_ivf_flat_prepared_destroy>>
      handle;
};

Backend makeBackend(Outcome status, annudf_backend *backend) {
  check(status);
  return {std::shared_ptr<annudf_backend>(BackendPtr(backend))};
}

Backend makeCpu(int32_t threads) {
  annudf_backend *backend = nullptr;
  const Outcome status =
      withoutGil([&] { return annudf_backend_create(nullptr, threads, &backend); });
  return makeBackend(status, backend);
}

Backend makeCuda(int32_t device) {
  annudf_backend *backend = nullptr;
  const annudf_place place = {ANNUDF_MEMORY_CUDA, device, 0};
  const Outcome status = withoutGil([&] { return annudf_backend_create(&place, 0, &backend); });
  return makeBackend(status, backend);
}

Backend makeMultiDevice(const std::vector<int32_t> &devices, bool sharded) {
  annudf_backend *backend = nullptr;
  const Outcome status = withoutGil([&] {
    return annudf_backend_create_multi_device(
        devices.data(), devices.size(),
        sharded ? ANNUDF_DEVICES_SHARDED : ANNUDF_DEVICES_REPLICATED, &backend);
  });
  return makeBackend(status, backend);
}

/// The options of a search that Python gives.
struct Asked {
  const Filter *filter = nullptr;
  const char *family = nullptr; ///< Null or "": the quickest.
  bool timeStages = false;
  bool countPairs = true;
  bool tellWhy = true;
  const Goal *goal = nullptr;
  const annudf_second_phase *refine = nullptr;
  uintptr_t lists = 0; ///< The address of the lists to probe; 0: the best.
  annudf_ivf_flat_search_options options() const {
    annudf_ivf_flat_search_options options = {};
    options.size = sizeof options;
    options.filter = filter ? filter->handle.get() : nullptr;
    options.family = family;
    options.time_stages = timeStages;
    options.skip_pairs = !countPairs;
    options.skip_why = !tellWhy;
    if (goal)
      goal->addTo(options);
    options.refine = refine;
    options.lists = reinterpret_cast<const uint32_t *>(lists);
    return options;
  }
};

/// A call with options that let Ctrl-C end it.
template <class Call> void interruptibly(const Asked &asked, Call call) {
  const std::optional<ProgressFunction> noFunction;
  Progress progress(noFunction); // Only for Ctrl-C.
  annudf_ivf_flat_search_options options = asked.options();
  options.progress = &Progress::report;
  options.progress_user = &progress;
  progress.check(withoutGil([&] { return call(options); }));
}

/// `call` searches with options, and says what it cost.
template <class Call> annudf_ivf_flat_search_stats runSearch(const Asked &asked, Call call) {
  annudf_ivf_flat_search_stats stats = emptyStats();
  interruptibly(
      asked, [&](const annudf_ivf_flat_search_options &options) { return call(options, stats); });
  return stats;
}

annudf_ivf_flat_search_stats
search(const Backend &self, const Index &index, const Artifact &artifact, const Captures &captures,
       uintptr_t queries, int64_t rows, int64_t dims, const std::string &element, int64_t k,
       int64_t nProbes, uintptr_t ids, uintptr_t distances, Stream stream, const Filter *filter,
       const std::string &family, bool timeStages, bool countPairs, bool tellWhy,
       const std::optional<GoalOfPython> &goal, SecondPhase *refine, uintptr_t lists) {
  std::optional<Goal> until;
  if (goal)
    until.emplace(*goal);
  if (refine)
    refine->phase.stats = &refine->stats;
  const annudf_vectors matrix = vectorsAt(queries, rows, dims, element, placeOf(&self, stream));
  return runSearch(
      {filter, family.c_str(), timeStages, countPairs, tellWhy, until ? &*until : nullptr,
       refine ? &refine->phase : nullptr, lists},
      [&](const annudf_ivf_flat_search_options &options, annudf_ivf_flat_search_stats &stats) {
        return annudf_ivf_flat_search(self.handle.get(), index.handle.get(), artifact.handle.get(),
                                      captures.handle.get(), &matrix, k, nProbes, &options,
                                      reinterpret_cast<int64_t *>(ids),
                                      reinterpret_cast<float *>(distances), &stats);
      });
}

/// Offsets (int64), ids (int64) and distances (float32) as their bytes, and what it cost.
nb::tuple radiusSearch(const Backend &self, const Index &index, const Artifact &artifact,
                       const Captures &captures, uintptr_t queries, int64_t rows, int64_t dims,
                       const std::string &element, float radius, int64_t nProbes,
                       int64_t maxResults, const Filter *filter, const std::string &family,
                       bool timeStages, uintptr_t lists) {
  std::unique_ptr<annudf_radius_result, Destroyer<annudf_radius_result_destroy>> result;
  const annudf_vectors matrix = vectorsAt(queries, rows, dims, element);
  const annudf_ivf_flat_search_stats cost = runSearch(
      {filter, family.c_str(), timeStages, true, true, nullptr, nullptr, lists},
      [&](const annudf_ivf_flat_search_options &options, annudf_ivf_flat_search_stats &stats) {
        annudf_radius_result *made = nullptr;
        const annudf_status status = annudf_ivf_flat_radius_search(
            self.handle.get(), index.handle.get(), artifact.handle.get(), captures.handle.get(),
            &matrix, radius, nProbes, maxResults, &options, &made, &stats);
        result.reset(made);
        return status;
      });
  const annudf_radius_result_info &found = *annudf_radius_result_get(result.get());
  const auto total = static_cast<size_t>(found.offsets[rows]);
  return nb::make_tuple(
      nb::bytearray(found.offsets, static_cast<size_t>(rows + 1) * sizeof(int64_t)),
      nb::bytearray(found.ids, total * sizeof(int64_t)),
      nb::bytearray(found.distances, total * sizeof(float)), cost);
}

void rankLists(const Backend &self, const Index &index, const Artifact &artifact, uintptr_t queries,
               int64_t rows, int64_t dims, const std::string &element, int64_t nProbes,
               uintptr_t lists) {
  const annudf_vectors matrix = vectorsAt(queries, rows, dims, element);
  check(withoutGil([&] {
    return annudf_ivf_flat_rank_lists(self.handle.get(), index.handle.get(), artifact.handle.get(),
                                      &matrix, nProbes, reinterpret_cast<uint32_t *>(lists));
  }));
}

Filter filterOf(const Backend &self, const Index &index, const Artifact &artifact,
                const Captures &captures, int64_t bits) {
  FilterPtr made;
  interruptibly({}, [&](const annudf_ivf_flat_search_options &options) {
    annudf_filter *filter = nullptr;
    const annudf_status status =
        annudf_ivf_flat_filter(self.handle.get(), index.handle.get(), artifact.handle.get(),
                               captures.handle.get(), bits, &options, &filter);
    made.reset(filter);
    return status;
  });
  return {std::move(made)};
}

std::pair<Prepared, annudf_ivf_flat_search_stats>
prepare(const Backend &self, const Index &index, const Artifact &artifact, const Captures &captures,
        int64_t rows, int64_t dims, const std::string &element, int64_t k, int64_t nProbes,
        Stream stream, const Filter *filter, const std::string &family, bool countPairs) {
  const annudf_vectors shape = vectorsAt(0, rows, dims, element, placeOf(&self, stream));
  const annudf_ivf_flat_search_options options =
      Asked{filter, family.c_str(), false, countPairs}.options();
  annudf_ivf_flat_search_stats stats = emptyStats();
  annudf_ivf_flat_prepared *made = nullptr;
  const Outcome status = withoutGil([&] {
    return annudf_ivf_flat_prepare(self.handle.get(), index.handle.get(), artifact.handle.get(),
                                   captures.handle.get(), &shape, k, nProbes, &options, &made,
                                   &stats);
  });
  check(status);
  return {Prepared{decltype(Prepared::handle)(made)}, stats};
}

std::optional<annudf_ivf_flat_search_stats> runPrepared(const Prepared &self, uintptr_t queries,
                                                        uintptr_t ids, uintptr_t distances,
                                                        bool told) {
  annudf_ivf_flat_search_stats stats = emptyStats();
  check(withoutGil([&] {
    return annudf_ivf_flat_prepared_run(self.handle.get(), reinterpret_cast<const void *>(queries),
                                        reinterpret_cast<int64_t *>(ids),
                                        reinterpret_cast<float *>(distances), &stats);
  }));
  if (stats.nan_distances == 0 && !told)
    return std::nullopt;
  return stats;
}

annudf_ivf_flat_search_stats statsOfRuns(const Prepared &self) {
  annudf_ivf_flat_search_stats stats = emptyStats();
  check(atOnce(annudf_ivf_flat_prepared_stats(self.handle.get(), &stats)));
  return stats;
}

annudf_ivf_flat_search_stats everyDistance(const Backend &self, const Index &index,
                                           const Artifact &artifact, const Captures &captures,
                                           uintptr_t queries, int64_t rows, int64_t dims,
                                           const std::string &element, uintptr_t distances,
                                           Stream stream) {
  const annudf_vectors matrix = vectorsAt(queries, rows, dims, element, placeOf(&self, stream));
  return runSearch(
      {}, [&](const annudf_ivf_flat_search_options &options, annudf_ivf_flat_search_stats &stats) {
        return annudf_ivf_flat_distances(self.handle.get(), index.handle.get(),
                                         artifact.handle.get(), captures.handle.get(), &matrix,
                                         &options, reinterpret_cast<float *>(distances), &stats);
      });
}

/// The distance of a vector at `x` to one at `y`, both in host memory.
float distanceOfPair(const Backend &self, const Artifact &artifact, const Captures &captures,
                     int64_t dims, uintptr_t x, const std::string &elementOfX, uintptr_t y,
                     const std::string &elementOfY) {
  const annudf_vectors first = vectorsAt(x, 1, dims, elementOfX);
  const annudf_vectors second = vectorsAt(y, 1, dims, elementOfY);
  float distance = 0;
  const Outcome status = withoutGil([&] {
    return annudf_pairwise_distance(self.handle.get(), artifact.handle.get(), captures.handle.get(),
                                    &first, &second, nullptr, &distance, nullptr);
  });
  check(status);
  return distance;
}

annudf_ivf_flat_search_stats precompile(const Backend &self, const Artifact &artifact,
                                        const std::string &element) {
  const int32_t number = parseElement(element);
  annudf_ivf_flat_search_stats stats = emptyStats();
  const Outcome status = withoutGil([&] {
    return annudf_ivf_flat_precompile(self.handle.get(), artifact.handle.get(), number, 0, &stats);
  });
  check(status);
  return stats;
}

annudf_ivf_flat_search_stats precompileFor(const Artifact &artifact, const std::string &element,
                                           int32_t arch) {
  const int32_t number = parseElement(element);
  annudf_ivf_flat_search_stats stats = emptyStats();
  const Outcome status = withoutGil([&] {
    return annudf_ivf_flat_precompile(nullptr, artifact.handle.get(), number, arch, &stats);
  });
  check(status);
  return stats;
}

/// \param backend  of the addresses' device, or null for those of the host.
void mergePartsAt(const Backend *backend, Stream stream, uintptr_t distances, uintptr_t ids,
                  uintptr_t outDistances, uintptr_t outIds, int64_t parts, int64_t queries,
                  int64_t found, const std::vector<int64_t> &translations, bool isLargestBest,
                  int64_t k, int32_t threads) {
  annudf_partial_results given = {};
  given.size = sizeof given;
  given.ids = reinterpret_cast<const int64_t *>(ids);
  given.distances = reinterpret_cast<const float *>(distances);
  given.parts = parts, given.queries = queries, given.k = found;
  given.translations = translations.empty() ? nullptr : translations.data();
  given.order = isLargestBest ? ANNUDF_ORDER_MAX : ANNUDF_ORDER_MIN;
  given.place = placeOf(backend, stream);
  given.threads = threads;
  check(withoutGil([&] {
    return annudf_merge_parts(backend ? backend->handle.get() : nullptr, &given, k,
                              reinterpret_cast<int64_t *>(outIds),
                              reinterpret_cast<float *>(outDistances));
  }));
}

void mergeParts(uintptr_t distances, uintptr_t ids, uintptr_t outDistances, uintptr_t outIds,
                int64_t parts, int64_t queries, int64_t found,
                const std::vector<int64_t> &translations, bool isLargestBest, int64_t k,
                int32_t threads) {
  mergePartsAt(nullptr, std::nullopt, distances, ids, outDistances, outIds, parts, queries, found,
               translations, isLargestBest, k, threads);
}

void mergePartsThere(const Backend &self, uintptr_t distances, uintptr_t ids,
                     uintptr_t outDistances, uintptr_t outIds, int64_t parts, int64_t queries,
                     int64_t found, const std::vector<int64_t> &translations, bool isLargestBest,
                     int64_t k, uint64_t stream) {
  mergePartsAt(&self, stream, distances, ids, outDistances, outIds, parts, queries, found,
               translations, isLargestBest, k, 0);
}

DeviceBuffer allocate(const Backend &self, uint64_t size, uint64_t stream) {
  annudf_device_buffer *buffer = nullptr;
  const Outcome status =
      withoutGil([&] { return annudf_device_allocate(self.handle.get(), size, stream, &buffer); });
  check(status);
  return {self.handle, DeviceBufferPtr(buffer), size};
}

void copy(const Backend &self, uint64_t destination, uint64_t source, uint64_t size,
          uint64_t stream) {
  const Outcome status = withoutGil(
      [&] { return annudf_device_copy(self.handle.get(), destination, source, size, stream); });
  check(status);
}

void synchronize(const Backend &self, uint64_t stream) {
  const Outcome status =
      withoutGil([&] { return annudf_device_synchronize(self.handle.get(), stream); });
  check(status);
}

Event record(const Backend &self, uint64_t stream) {
  annudf_event *event = nullptr;
  // A full queue of the device may wait for a function of the host, which wants the GIL.
  check(withoutGil([&] { return annudf_event_record(self.handle.get(), stream, &event); }));
  return {self.handle, EventPtr(event)};
}

bool isDone(const Event &self) {
  bool done = false;
  check(withoutGil([&] { return annudf_event_done(self.handle.get(), &done); }));
  return done;
}

void wait(const Event &self) {
  const Outcome status = withoutGil([&] { return annudf_event_wait(self.handle.get()); });
  check(status);
}

} // namespace

/// Classes of what a backend makes.
static void addHandles(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<DeviceBuffer>(module, "DeviceBuffer",
                           "Device memory, freed when the work enqueued before is done.")
      .def_prop_ro(
          "address",
          [](const DeviceBuffer &self) { return annudf_device_buffer_address(self.handle.get()); },
          "Device address.")
      .def_prop_ro("size", [](const DeviceBuffer &self) { return self.size; }, "Bytes.");

  nb::class_<Event>(module, "Event", "A point in a stream's work.")
      .def("done", &isDone, "Whether the work before it is done.")
      .def("wait", &wait, "Waits until it is done.");

  addSecondPhase(module);
  nb::class_<Prepared>(module, "Prepared", "A search that was checked once.")
      .def("run", &runPrepared, "queries"_a, "ids"_a, "distances"_a, "told"_a = false,
           "Searches with queries and results at addresses of the backend's memory; on a GPU it is "
           "enqueued, and the memory must live until the stream has got there. On a CPU what it "
           "cost, if `told` or where a distance is NaN.")
      .def("stats", &statsOfRuns, "Pairs of a GPU's runs that are done since it was last asked.");
}

static void addProperties(nb::class_<Backend> &backend) {
  using namespace nb::literals;
  backend
      .def_static("cpu", &makeCpu, "threads"_a = 0, "Searches on the host; 0 threads: all cores.")
      .def_static("cuda", &makeCuda, "device"_a = 0, "Searches on a GPU, in its primary context.")
      .def_static("multi_device", &makeMultiDevice, "devices"_a, "sharded"_a,
                  "Searches on several GPUs.")
      .def(
          "describe",
          [](const Backend &self) { return annudf_backend_get(self.handle.get())->description; },
          "Processor and threads, or device and architecture.")
      .def_prop_ro(
          "device",
          [](const Backend &self) { return annudf_backend_get(self.handle.get())->device; },
          "The CUDA device, the first of several, or -1 for the CPU.")
      .def_prop_ro(
          "arch", [](const Backend &self) { return annudf_backend_get(self.handle.get())->arch; },
          "Architecture of the CUDA device, 90 for sm_90; 0 for the CPU.");
}

static void addSearches(nb::class_<Backend> &backend) {
  using namespace nb::literals;
  backend
      .def("search", &search, "index"_a, "artifact"_a, "captures"_a, "queries"_a, "rows"_a,
           "dims"_a, "element"_a, "k"_a, "n_probes"_a, "ids"_a, "distances"_a,
           "stream"_a.none() = nb::none(), "filter"_a.none() = nb::none(), "family"_a = "",
           "time_stages"_a = false, "count_pairs"_a = true, "tell_why"_a = true,
           "goal"_a.none() = nb::none(), "refine"_a.none() = nb::none(), "lists"_a = 0,
           "Searches with queries and results at host addresses. With a stream they are at device "
           "addresses and the search is enqueued there: the memory must live until the stream has "
           "got there. With `time_stages` it waits. Without `tell_why` the statistics have no "
           "words for "
           "`family` and `why`. A goal is max_probes, min_rows, address and length of the groups "
           "of all ids, and the column that has them instead. `lists` is the host address of those "
           "to "
           "probe, of rank_lists().")
      .def("radius_search", &radiusSearch, "index"_a, "artifact"_a, "captures"_a, "queries"_a,
           "rows"_a, "dims"_a, "element"_a, "radius"_a, "n_probes"_a, "max_results"_a,
           "filter"_a.none() = nb::none(), "family"_a = "", "time_stages"_a = false, "lists"_a = 0,
           nb::sig("def radius_search(self, index: Index, artifact: Artifact, captures: "
                   "Captures, queries: int, rows: int, dims: int, element: str, radius: float, "
                   "n_probes: int, max_results: int, filter: Filter | None = None, family: str = "
                   "\"\", time_stages: bool = False, lists: int = 0) -> tuple[bytearray, "
                   "bytearray, bytearray, "
                   "SearchStats]"),
           "All within a radius of queries at a host address: where those of each query begin "
           "(int64, one more than there are queries), ids (int64) and distances (float32); and "
           "what it cost.")
      .def("rank_lists", &rankLists, "index"_a, "artifact"_a, "queries"_a, "rows"_a, "dims"_a,
           "element"_a, "n_probes"_a, "lists"_a,
           "Writes the lists that a search probes for each query, rows x n_probes of uint32, the "
           "best first; at host addresses.")
      .def("filter", &filterOf, "index"_a, "artifact"_a, "captures"_a, "bits"_a,
           "The rows that the filter, an artifact of annudf.filter, keeps.")
      .def("prepare", &prepare, "index"_a, "artifact"_a, "captures"_a, "rows"_a, "dims"_a,
           "element"_a, "k"_a, "n_probes"_a, "stream"_a.none() = nb::none(),
           "filter"_a.none() = nb::none(), "family"_a = "", "count_pairs"_a = true,
           "Checks and makes what searches with so many queries need, enqueued on `stream`; a CPU "
           "has none.")
      .def("distances", &everyDistance, "index"_a, "artifact"_a, "captures"_a, "queries"_a,
           "rows"_a, "dims"_a, "element"_a, "distances"_a, "stream"_a.none() = nb::none(),
           "Every distance, rows x index.size, at a host address; ids are those of a build. With a "
           "stream queries and distances are at device addresses, and it is enqueued there.")
      .def("distance", &distanceOfPair, "artifact"_a, "captures"_a, "dims"_a, "x"_a,
           "element_of_x"_a, "y"_a, "element_of_y"_a,
           "The distance of a vector at a host address to another.")
      .def("precompile", &precompile, "artifact"_a, "element"_a,
           "Makes the kernel of metric and element type, so that no search waits for it.");
}

static void addDeviceWork(nb::class_<Backend> &backend) {
  using namespace nb::literals;
  backend
      .def("allocate", &allocate, "size"_a, "stream"_a,
           "Device memory that may be used on `stream` from now on.")
      .def("copy", &copy, "dst"_a, "src"_a, "size"_a, "stream"_a,
           "Enqueues a copy between any two of host and device memory.")
      .def("merge_parts", &mergePartsThere, "distances"_a, "ids"_a, "out_distances"_a, "out_ids"_a,
           "parts"_a, "queries"_a, "found"_a, "translations"_a, "largest_is_best"_a, "k"_a,
           "stream"_a, "Enqueues annudf._core.merge_parts on `stream`, at device addresses.")
      .def("synchronize", &synchronize, "stream"_a, "Waits for all work enqueued on `stream`.")
      .def("record", &record, "stream"_a, "All work enqueued on `stream` until now.");
}

void addSearch(nb::module_ &module) {
  using namespace nb::literals;
  addHandles(module);
  nb::class_<Backend> backend(module, "Backend",
                              "Searches on the CPU or on GPUs; keeps compiled kernels.");
  addBuilds(backend);
  addRefine(backend);
  addProperties(backend);
  addSearches(backend);
  addDeviceWork(backend);

  module.def(
      "check_k", [](int64_t k, int64_t rows) { check(atOnce(annudf_check_k(k, rows))); }, "k"_a,
      "rows"_a, "ArgumentError unless a search of so many rows may ask for k of them.");
  module.def("precompile_for", &precompileFor, "artifact"_a, "element"_a, "arch"_a,
             "Leaves the kernels for GPUs of an architecture, 90 for sm_90, in the cache on disk.");
  addEnvironment(module);
  module.def("merge_parts", &mergeParts, "distances"_a, "ids"_a, "out_distances"_a, "out_ids"_a,
             "parts"_a, "queries"_a, "found"_a, "translations"_a, "largest_is_best"_a, "k"_a,
             "threads"_a = 0,
             "The k best of `parts` x `queries` x `found` results, at host addresses.");
}

} // namespace annudf::python
