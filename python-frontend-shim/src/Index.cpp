//===- Index.cpp - Indexes and values of captures -------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <tuple>
#include <variant>
#include <vector>

namespace annudf::python {

using Centers = nb::ndarray<nb::numpy, float, nb::ndim<2>>;
using RowIds = nb::ndarray<nb::numpy, int64_t, nb::ndim<1>>;

/// All arguments of a build but its rows.
struct BuildOptions {
  int64_t nLists;
  int32_t metric, iterations;
  double fraction;
  uint64_t seed;
  int32_t threads;
  bool adaptiveCenters, trainOnly, missingValues;
  uint64_t deviceMemoryLimit;
};

/// Milliseconds of training, adding, copying; pieces of a base in host memory, and whether the
/// lists are on the device.
using BuildCost = std::tuple<double, double, double, int64_t, bool>;

static annudf_ivf_flat_build_stats noStats() {
  annudf_ivf_flat_build_stats stats = {};
  stats.size = sizeof stats;
  return stats;
}
static BuildCost costOf(const annudf_ivf_flat_build_stats &stats) {
  return {stats.train_ms, stats.add_ms, stats.copy_ms, stats.pieces, stats.lists_on_device != 0};
}

/// \param backend  of a device; null: on the host.
static std::pair<Index, BuildCost> buildOn(annudf_backend *backend, const annudf_vectors &base,
                                           const BuildOptions &of,
                                           const std::optional<ProgressFunction> &function) {
  Progress progress(function);
  annudf_ivf_flat_build_options options = {};
  options.size = sizeof options;
  options.metric = of.metric;
  options.kmeans_n_iters = of.iterations;
  options.kmeans_trainset_fraction = of.fraction;
  options.seed = of.seed;
  options.threads = of.threads;
  options.adaptive_centers = of.adaptiveCenters;
  options.train_only = of.trainOnly;
  options.missing_values = of.missingValues;
  options.device_memory_limit = of.deviceMemoryLimit;
  options.progress = &Progress::report;
  options.progress_user = &progress;
  annudf_ivf_flat_index *index = nullptr;
  annudf_ivf_flat_build_stats stats = noStats();
  const Outcome status = withoutGil(
      [&] { return annudf_ivf_flat_build(backend, &base, of.nLists, &options, &index, &stats); });
  Index result{IndexPtr(index)};
  progress.check(status);
  return {std::move(result), costOf(stats)};
}

static Index build(uintptr_t address, int64_t rows, int64_t dims, const std::string &element,
                   const BuildOptions &options, const std::optional<ProgressFunction> &function) {
  return buildOn(nullptr, vectorsAt(address, rows, dims, element), options, function).first;
}

static std::pair<Index, BuildCost> buildThere(const Backend &backend, Stream stream,
                                              uintptr_t address, int64_t rows, int64_t dims,
                                              const std::string &element,
                                              const BuildOptions &options,
                                              const std::optional<ProgressFunction> &function) {
  return buildOn(backend.handle.get(),
                 vectorsAt(address, rows, dims, element, placeOf(&backend, stream)), options,
                 function);
}

/// How rows of an exact search are stored.
struct Storing {
  std::optional<uintptr_t> ids;
  bool missingValues;
  int32_t threads;
  const std::optional<ProgressFunction> &function;
  bool inPlace = false;
};

/// \param backend  of a device; null: on the host.
static std::pair<Index, BuildCost> storeRowsOn(annudf_backend *backend,
                                               const annudf_vectors &dataset, const Storing &how) {
  Progress progress(how.function);
  annudf_brute_force_build_options options = {};
  options.size = sizeof options;
  options.threads = how.threads;
  options.missing_values = how.missingValues;
  options.in_place = how.inPlace;
  options.progress = &Progress::report;
  options.progress_user = &progress;
  annudf_ivf_flat_index *index = nullptr;
  annudf_ivf_flat_build_stats stats = noStats();
  const annudf_ids ids = idsAt(how.ids.value_or(0), dataset.rows);
  const Outcome status = withoutGil([&] {
    return annudf_brute_force_build(backend, &dataset, how.ids ? &ids : nullptr, &options, &index,
                                    &stats);
  });
  Index result{IndexPtr(index)};
  progress.check(status);
  return {std::move(result), costOf(stats)};
}

static Index ofRows(uintptr_t address, int64_t rows, int64_t dims, const std::string &element,
                    std::optional<uintptr_t> ids, bool missingValues, int32_t threads,
                    const std::optional<ProgressFunction> &function, const nb::object &owner) {
  return storeRowsOn(nullptr, vectorsAt(address, rows, dims, element),
                     {ids, missingValues, threads, function, !owner.is_none()})
      .first;
}

static std::pair<Index, BuildCost>
storeRows(const Backend &backend, Stream stream, uintptr_t address, int64_t rows, int64_t dims,
          const std::string &element, std::optional<uintptr_t> ids, bool missingValues,
          int32_t threads, const std::optional<ProgressFunction> &function) {
  return storeRowsOn(backend.handle.get(),
                     vectorsAt(address, rows, dims, element, placeOf(&backend, stream)),
                     {ids, missingValues, threads, function});
}

/// What is added to an index, and what the work gives then.
struct Addition {
  std::optional<uintptr_t> ids;
  std::optional<ProgressFunction> function;
  nb::object result;
  bool allowRepeatedIds;
  std::shared_ptr<const NamedValues> columns = nullptr;
};

/// \param on  where; null: on the host.
static Work extendingOn(std::shared_ptr<annudf_backend> on, nb::object self,
                        const annudf_vectors &more, Addition addition) {
  annudf_ivf_flat_index *index = nb::cast<Index &>(self).handle.get();
  nb::object result = std::move(addition.result);
  return {[=, owner = std::move(self), on = std::move(on), ids = addition.ids,
           function = std::move(addition.function), repeated = addition.allowRepeatedIds,
           columns = std::move(addition.columns)] {
            Progress progress(function);
            annudf_ivf_flat_extend_options options = {};
            options.size = sizeof options;
            options.progress = &Progress::report;
            options.progress_user = &progress;
            options.allow_repeated_ids = repeated;
            const annudf_ids numbers = idsAt(ids.value_or(0), more.rows);
            if (columns)
              options.columns = columns->data(), options.n_columns = columns->size();
            const Outcome status = withoutGil([&] {
              return annudf_ivf_flat_extend(on.get(), index, &more, ids ? &numbers : nullptr,
                                            &options);
            });
            progress.check(status);
          },
          std::move(result)};
}

static std::shared_ptr<const NamedValues> namedColumns(const std::optional<Values> &columns) {
  return columns ? std::make_shared<const NamedValues>(*columns, /*handsOver=*/false) : nullptr;
}

static Work extending(nb::object self, uintptr_t address, int64_t rows, int64_t dims,
                      const std::string &element, std::optional<uintptr_t> ids,
                      std::optional<ProgressFunction> function, nb::object result,
                      bool allowRepeatedIds, const std::optional<Values> &columns) {
  return extendingOn(
      nullptr, std::move(self), vectorsAt(address, rows, dims, element),
      {ids, std::move(function), std::move(result), allowRepeatedIds, namedColumns(columns)});
}

static Work extendingThere(const Backend &backend, nb::object index, Stream stream,
                           uintptr_t address, int64_t rows, int64_t dims,
                           const std::string &element, std::optional<uintptr_t> ids,
                           std::optional<ProgressFunction> function, nb::object result,
                           bool allowRepeatedIds, const std::optional<Values> &columns) {
  return extendingOn(
      backend.handle, std::move(index),
      vectorsAt(address, rows, dims, element, placeOf(&backend, stream)),
      {ids, std::move(function), std::move(result), allowRepeatedIds, namedColumns(columns)});
}

/// \param on  where; null: on the host.
static Work removingOn(std::shared_ptr<annudf_backend> on, nb::object self, uintptr_t address,
                       int64_t count, std::optional<ProgressFunction> function) {
  annudf_ivf_flat_index *index = nb::cast<Index &>(self).handle.get();
  return Work([=, owner = std::move(self), on = std::move(on),
               function = std::move(function)]() -> nb::object {
    Progress progress(function);
    const annudf_ids ids = idsAt(address, count);
    int64_t removed = 0;
    const Outcome status = withoutGil([&] {
      return annudf_ivf_flat_remove(on.get(), index, &ids, &Progress::report, &progress, &removed);
    });
    progress.check(status);
    return nb::int_(removed);
  });
}

static Work removing(nb::object self, uintptr_t ids, int64_t count,
                     std::optional<ProgressFunction> function) {
  return removingOn(nullptr, std::move(self), ids, count, std::move(function));
}

static Work removingThere(const Backend &backend, nb::object index, uintptr_t ids, int64_t count,
                          std::optional<ProgressFunction> function) {
  return removingOn(backend.handle, std::move(index), ids, count, std::move(function));
}

void addBuilds(nb::class_<Backend> &backend) {
  using namespace nb::literals;
  backend
      .def("build_index", &buildThere, "stream"_a.none(), "address"_a, "rows"_a, "dims"_a,
           "element"_a, "options"_a, "progress"_a.none() = nb::none(),
           "As Index.build, on the device, of a matrix at a device address that is written on "
           "`stream`, or, where it is None, at a host address. With it come milliseconds of "
           "training, adding, copying, the pieces in which a host's matrix went there, and whether "
           "the lists are there.")
      .def("store_rows", &storeRows, "stream"_a.none(), "address"_a, "rows"_a, "dims"_a,
           "element"_a, "ids_address"_a.none() = nb::none(), "missing_values"_a = false,
           "threads"_a = 0, "progress"_a.none() = nb::none(),
           "As Index.of_rows, on the device, of rows at a device address that are written on "
           "`stream`, or, where it is None, at a host address. With it comes what it cost, as of "
           "build_index.")
      .def("extending", &extendingThere, "index"_a, "stream"_a.none(), "address"_a, "rows"_a,
           "dims"_a, "element"_a, "ids_address"_a.none() = nb::none(),
           "progress"_a.none() = nb::none(), "result"_a.none() = nb::none(),
           "allow_repeated_ids"_a = false, "columns"_a.none() = nb::none(),
           nb::sig("def extending(self, index: Index, stream: int | None, address: int, rows: int, "
                   "dims: int, element: str, ids_address: int | None = None, progress: "
                   "collections.abc.Callable[[str, float], None] | None = None, result: object | "
                   "None = None, allow_repeated_ids: bool = False, columns: "
                   "collections.abc.Mapping[str, tuple[str, collections.abc.Sequence[int], bytes, "
                   "str]] | None = None) -> Work"),
           "As Index.extending, on the device, of rows at a device address that are written on "
           "`stream`, or, where it is None, at a host address.")
      .def("removing", &removingThere, "index"_a, "ids_address"_a, "count"_a,
           "progress"_a.none() = nb::none(),
           nb::sig("def removing(self, index: Index, ids_address: int, count: int, progress: "
                   "collections.abc.Callable[[str, float], None] | None = None) -> Work"),
           "As Index.removing, on the device.");
}

static Work saving(nb::object self, nb::handle given, std::optional<ProgressFunction> function) {
  const std::string path = toPath(given);
  const annudf_ivf_flat_index *index = nb::cast<Index &>(self).handle.get();
  return {[=, owner = std::move(self), function = std::move(function)] {
            Progress progress(function);
            const Outcome status = withoutGil([&] {
              return annudf_ivf_flat_save(index, path.c_str(), &Progress::report, &progress);
            });
            progress.check(status);
          },
          nb::none()};
}

static Index load(nb::handle given, bool mmap) {
  const std::string path = toPath(given);
  annudf_ivf_flat_index *index = nullptr;
  const Outcome status =
      withoutGil([&] { return annudf_ivf_flat_load(path.c_str(), mmap, &index); });
  check(status);
  return {IndexPtr(index)};
}

static annudf_ivf_flat_info infoOf(const Index &self) {
  annudf_ivf_flat_info info = {};
  info.size = sizeof info;
  check(atOnce(annudf_ivf_flat_get(self.handle.get(), &info)));
  return info;
}

/// An array that owns the values.
template <class Array, class T>
static Array handedOver(std::vector<T> values, std::initializer_list<size_t> shape) {
  auto kept = std::make_unique<std::vector<T>>(std::move(values));
  T *data = kept->data();
  const nb::capsule owner(
      kept.release(), [](void *vector) noexcept { delete static_cast<std::vector<T> *>(vector); });
  return Array(data, shape, owner);
}

static Centers centers(const Index &self) {
  const annudf_ivf_flat_info info = infoOf(self);
  const auto rows = static_cast<size_t>(info.n_lists), dims = static_cast<size_t>(info.dims);
  std::vector<float> values(rows * dims);
  check(withoutGil(
      [&] { return annudf_ivf_flat_centers(self.handle.get(), values.data(), values.size()); }));
  return handedOver<Centers>(std::move(values), {rows, dims});
}

static RowIds ids(const Index &self) {
  for (;;) {
    const auto rows = static_cast<size_t>(infoOf(self).rows);
    std::vector<int64_t> values(rows);
    const Outcome status = withoutGil(
        [&] { return annudf_ivf_flat_ids(self.handle.get(), values.data(), values.size()); });
    if (rows != static_cast<size_t>(infoOf(self).rows))
      continue; // It has waited for an extend, so there are others.
    check(status);
    return handedOver<RowIds>(std::move(values), {rows});
  }
}

static int64_t rowExtent(const Index &self) {
  annudf_extents extents = {};
  extents.size = sizeof extents;
  check(withoutGil([&] { return annudf_ivf_flat_extents(self.handle.get(), &extents); }));
  return extents.rows;
}

static Captures bind(const Artifact &artifact, int64_t dims, const Values &values,
                     bool allowNonFinite, int64_t rows, int64_t queries) {
  const NamedValues list(values, /*handsOver=*/true);
  annudf_captures *captures = nullptr;
  const Outcome status = withoutGil([&] {
    const annudf_extents extents = {sizeof extents, dims, rows, queries};
    const annudf_captures_options options = {sizeof options, allowNonFinite, nullptr};
    return annudf_captures_bind(artifact.handle.get(), &extents, list.data(), list.size(), &options,
                                &captures);
  });
  return boundCaptures(status, captures);
}

static void addProperties(nb::class_<Index> &index) {
  using namespace nb::literals;
  index
      .def_prop_ro(
          "element", [](const Index &self) { return annudf_element_name(infoOf(self).element); },
          "Element type of the rows: \"f32\", \"f16\", \"i8\", \"u8\", \"bf16\" or "
          "\"bits\".")
      .def_prop_ro(
          "dims", [](const Index &self) { return infoOf(self).dims; }, "Dimensions of a row.")
      .def_prop_ro(
          "size", [](const Index &self) { return infoOf(self).rows; }, "Number of rows.")
      .def_prop_ro("row_extent", &rowExtent, "One more than the largest id.")
      .def_prop_ro(
          "n_lists", [](const Index &self) { return infoOf(self).n_lists; }, "Number of lists.")
      .def_prop_ro(
          "metric", [](const Index &self) { return annudf_coarse_name(infoOf(self).metric); },
          "What k-means clustered by: \"l2\", \"inner_product\" or \"cosine\".")
      .def_prop_ro(
          "adaptive_centers", [](const Index &self) { return infoOf(self).adaptive_centers != 0; },
          "Whether every extend and remove moves the centers.")
      .def_prop_ro(
          "missing_values", [](const Index &self) { return infoOf(self).missing_values != 0; },
          "Whether coordinates may be NaN.")
      .def_prop_ro(
          "device",
          [](const Index &self) {
            return withoutGil([&] { return annudf_ivf_flat_device(self.handle.get()); });
          },
          "The CUDA device that built it and has its lists; -1: the host has them.")
      .def_prop_ro(
          "generation", [](const Index &self) { return infoOf(self).generation; },
          "Another number after every build, load and extend, and every remove of a row, in this "
          "process.");
}

void addIndex(nb::module_ &module) {
  using namespace nb::literals;
  nb::class_<Work>(module, "Work", "What cannot be undone, and has not been done yet.")
      .def_prop_ro("result", &Work::result, nb::sig("def result(self) -> typing.Any"),
                   "Reading it does the work. Between its end and the return of the function that "
                   "reads it, `return work.result`, Python looks for no signal: Ctrl-C either "
                   "raises and nothing is done, or waits until the function has returned.");
  nb::class_<BuildOptions>(module, "BuildOptions", "The options of a build, without its rows.")
      .def(
          "__init__",
          [](BuildOptions *self, int64_t nLists, const std::string &metric, int32_t iterations,
             double fraction, uint64_t seed, int32_t threads, bool adaptiveCenters, bool trainOnly,
             bool missingValues, uint64_t deviceMemoryLimit) {
            new (self) BuildOptions{
                nLists,  parseCoarse(metric), iterations, fraction,      seed,
                threads, adaptiveCenters,     trainOnly,  missingValues, deviceMemoryLimit};
          },
          nb::kw_only(), "n_lists"_a, "metric"_a, "kmeans_n_iters"_a, "kmeans_trainset_fraction"_a,
          "seed"_a, "threads"_a, "adaptive_centers"_a = false, "train_only"_a = false,
          "missing_values"_a = false, "device_memory_limit"_a = 0,
          "`device_memory_limit` is of Backend.build_index at a host address; 0: what is free "
          "there.");
  nb::class_<Index> index(module, "Index", "An IVF-Flat index.");
  index
      .def_static("build", &build, "address"_a, "rows"_a, "dims"_a, "element"_a, "options"_a,
                  "progress"_a.none() = nb::none(),
                  "Trains the centers on the C-contiguous matrix at `address` and adds its rows "
                  "unless `train_only`. An exception of `progress` stops the work.")
      .def_static("of_rows", &ofRows, "address"_a, "rows"_a, "dims"_a, "element"_a,
                  "ids_address"_a.none() = nb::none(), "missing_values"_a = false, "threads"_a = 0,
                  "progress"_a.none() = nb::none(), "owner"_a.none() = nb::none(),
                  nb::keep_alive<0, 9>(),
                  "All rows of the C-contiguous matrix at `address` in one list, without k-means. "
                  "With the `owner` of the matrix it is not copied: a search on the CPU stores a "
                  "piece of it at a time.")
      .def("extending", &extending, "address"_a, "rows"_a, "dims"_a, "element"_a,
           "ids_address"_a.none() = nb::none(), "progress"_a.none() = nb::none(),
           "result"_a.none() = nb::none(), "allow_repeated_ids"_a = false,
           "columns"_a.none() = nb::none(),
           nb::sig("def extending(self, address: int, rows: int, dims: int, element: str, "
                   "ids_address: int | None = None, progress: collections.abc.Callable[[str, "
                   "float], None] | None = None, result: object | None = None, "
                   "allow_repeated_ids: bool = False, columns: collections.abc.Mapping[str, "
                   "tuple[str, collections.abc.Sequence[int], bytes, str]] | None = None) -> Work"),
           "Adds rows, with a value of each column for each; without ids they go on from "
           "`row_extent`. `result` is what the work gives.")
      .def("removing", &removing, "ids_address"_a, "count"_a, "progress"_a.none() = nb::none(),
           nb::sig("def removing(self, ids_address: int, count: int, progress: "
                   "collections.abc.Callable[[str, float], None] | None = None) -> Work"),
           "Removes the rows with these ids; the work gives how many went.")
      .def("saving", &saving, "path"_a, "progress"_a.none() = nb::none(),
           nb::sig("def saving(self, path: str | bytes, progress: collections.abc.Callable[[str, "
                   "float], "
                   "None] | None = None) -> Work"),
           "Writes one file, whole or not at all.")
      .def_static("load", &load, "path"_a, "mmap"_a = false,
                  nb::sig("def load(path: str | bytes, mmap: bool = False) -> Index"),
                  "Reads a file.")
      .def("centers", &centers, "A copy of the centers, float32, n_lists x dims.")
      .def("ids", &ids, "The id of each row, int64, list by list.");
  addProperties(index);

  nb::class_<Captures>(module, "Captures", "Values of a metric's captures, checked.")
      .def_static(
          "bind", &bind, "artifact"_a, "dims"_a, "values"_a, "allow_non_finite"_a = false,
          "rows"_a = 0, "queries"_a = 0,
          nb::sig("def bind(artifact: Artifact, dims: int, values: collections.abc.Mapping[str, "
                  "tuple[str, collections.abc.Sequence[int], bytes | tuple[int, int, int, object], "
                  "str]], allow_non_finite: bool = False, rows: int = 0, queries: int = 0) -> "
                  "Captures"),
          "Binds a value (element type, shape, bytes in C order, origin for messages) to each "
          "capture. In place of bytes: address, size, device and owner of an array on a device, "
          "which is used where it is.");
}

} // namespace annudf::python
