//===- Columns.cpp - Columns of an index in the C API ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include "annudf/runtime/engine/Columns.h"

#include <cstddef>
#include <cstdio>

using namespace annudf;
using namespace annudf::capi;

runtime::NewColumns capi::toColumns(const Call &call, annudf_backend *backend,
                                    const annudf_capture_value *values, size_t count) {
  auto named = toValues(call, values, count, "column");
  std::vector<std::vector<std::byte>> copies;
  for (auto &[name, value] : named) {
    if (value.space != runtime::MemorySpace::Cuda)
      continue;
    const std::string what = "column '" + name + "'";
    (void)toPlace(call, backend, {ANNUDF_MEMORY_CUDA, value.device, 0}, what.c_str());
    if (!value.strides.empty())
      call.refuse(what + " has strides and is in memory of CUDA device " +
                  std::to_string(value.device) + "; give it in C order, without");
    copies.push_back(backend->cuda->read(value.data, value.bytes, 1, nullptr, what.c_str()));
    value.data = copies.back().data();
    value.space = runtime::MemorySpace::Host;
  }
  return runtime::newColumns(named);
}

annudf_status annudf_ivf_flat_add_columns(annudf_backend *backend, annudf_ivf_flat_index *index,
                                          const annudf_ids *ids, const annudf_capture_value *values,
                                          size_t count) {
  return guard(__func__, [&](Call call) {
    const runtime::NewColumns columns = toColumns(call, backend, values, count);
    call.refuseNull(index, "index");
    const HostIds given(call, backend, ids);
    const IndexUse use(call, *index, IndexUse::Kind::Exclusive);
    index->value.addColumns(columns, given.forRows(call, index->value.size()));
    index->tellChange();
  });
}

annudf_status annudf_ivf_flat_column(const annudf_ivf_flat_index *index, size_t number,
                                     annudf_column *column) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(index, "index");
    call.refuseNull(column, "column");
    if (column->size < sizeof(annudf_column))
      call.refuse("annudf_column.size is " + std::to_string(column->size) +
                  "; set it to sizeof(annudf_column)");
    const IndexUse use(call, *index, IndexUse::Kind::Shared);
    const std::vector<runtime::Column> &columns = index->value.columns();
    if (number >= columns.size())
      call.refuse("number is " + std::to_string(number) + "; the index has " +
                  runtime::columnText(columns));
    const runtime::Column &one = columns[number];
    std::snprintf(column->name, sizeof column->name, "%s", one.name.c_str());
    std::snprintf(column->dtype, sizeof column->dtype, "%s",
                  one.element == ANNUDF_CAPTURE_I1 ? "b1" : toString(one.element));
  });
}
