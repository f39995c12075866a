//===- Columns.cpp - Values that an index has for its rows ----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Support.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

namespace annudf::python {

/// What an array belongs to is needed no longer, says any thread.
static void releaseObject(void *owner) {
  if (!nb::is_alive())
    return; // The interpreter is gone, and the object with it.
  const nb::gil_scoped_acquire held;
  nb::steal(static_cast<PyObject *>(owner)).reset();
}

NamedValues::NamedValues(const Values &values, bool handsOver) {
  for (nb::handle item : values.items())
    kept_.push_back(nb::cast<std::pair<std::string, Value>>(item));
  for (const auto &[name, value] : kept_) {
    const auto &[dtype, shape, from, origin] = value;
    annudf_capture_value one = {};
    one.size = sizeof one;
    one.name = name.c_str();
    one.dtype = dtype.c_str();
    one.shape = shape.data();
    one.rank = static_cast<int32_t>(shape.size());
    one.origin = origin.c_str();
    if (const auto *bytes = std::get_if<nb::bytes>(&from)) {
      one.data = bytes->c_str();
      one.bytes = bytes->size();
      if (handsOver && one.rank != 0) // It is copied else, which needs no owner.
        one.owner = nb::object(*bytes).release().ptr(), one.release = &releaseObject;
    } else {
      const auto &[address, size, device, owner] = std::get<OnDevice>(from);
      one.data = reinterpret_cast<const void *>(address);
      one.bytes = size;
      one.place = {ANNUDF_MEMORY_CUDA, device, 0};
      one.owner = nb::object(owner).release().ptr();
      one.release = &releaseObject;
    }
    list_.push_back(one);
  }
}

Captures boundCaptures(const Outcome &status, annudf_captures *made) {
  if (status == ANNUDF_USAGE || status == ANNUDF_INPUT)
    raise("CaptureError", annudf_last_error());
  check(status);
  return {CapturesPtr(made)};
}

static void addColumnsTo(const Index &index, std::optional<uintptr_t> ids, const Values &values) {
  const NamedValues columns(values, /*handsOver=*/false);
  check(withoutGil([&] {
    annudf_ivf_flat_info info = {};
    info.size = sizeof info;
    if (const annudf_status status = annudf_ivf_flat_get(index.handle.get(), &info))
      return status;
    const annudf_ids numbers = idsAt(ids.value_or(0), info.rows);
    return annudf_ivf_flat_add_columns(nullptr, index.handle.get(), ids ? &numbers : nullptr,
                                       columns.data(), columns.size());
  }));
}

static std::vector<std::pair<std::string, std::string>> columnsOf(const Index &index) {
  std::vector<std::pair<std::string, std::string>> columns;
  check(withoutGil([&] {
    annudf_ivf_flat_info info = {};
    info.size = sizeof info;
    annudf_status status = annudf_ivf_flat_get(index.handle.get(), &info);
    for (size_t i = 0; status == ANNUDF_OK && i < info.n_columns; ++i) {
      annudf_column one = {};
      one.size = sizeof one;
      status = annudf_ivf_flat_column(index.handle.get(), i, &one);
      columns.emplace_back(one.name, one.dtype);
    }
    return status;
  }));
  return columns;
}

static Captures bindIndex(const Artifact &artifact, const Index &index, const Values &values,
                          bool allowNonFinite, int64_t queries) {
  const NamedValues list(values, /*handsOver=*/true);
  annudf_captures *captures = nullptr;
  const Outcome status = withoutGil([&] {
    const annudf_captures_options options = {sizeof options, allowNonFinite, index.handle.get()};
    const annudf_extents extents = {sizeof extents, 0, 0, queries};
    return annudf_captures_bind(artifact.handle.get(), &extents, list.data(), list.size(), &options,
                                &captures);
  });
  return boundCaptures(status, captures);
}

void addColumns(nb::module_ &module) {
  using namespace nb::literals;
  module.def(
      "add_columns", &addColumnsTo, "index"_a, "ids_address"_a.none(), "columns"_a,
      nb::sig("def add_columns(index: Index, ids_address: int | None, columns: "
              "collections.abc.Mapping[str, tuple[str, collections.abc.Sequence[int], bytes, "
              "str]]) -> None"),
      "Adds columns to an index, of as many values as it has rows; value i is for id i, or "
      "for the i-th of the ids.");
  module.def("columns_of", &columnsOf, "index"_a, "Names and dtypes of an index's columns.");
  module.def(
      "bind_index", &bindIndex, "artifact"_a, "index"_a, "values"_a, "allow_non_finite"_a = false,
      "queries"_a = 0,
      nb::sig("def bind_index(artifact: Artifact, index: Index, values: "
              "collections.abc.Mapping[str, tuple[str, collections.abc.Sequence[int], bytes | "
              "tuple[int, int, int, object], str]], allow_non_finite: bool = False, queries: int = "
              "0) -> Captures"),
      "As Captures.bind; captures of rows without a value read the index's columns, in the "
      "order of its rows where the metric's row is nothing but their index.");
}

} // namespace annudf::python
