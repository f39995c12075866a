//===- Captures.cpp - Binding captures in the C API -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include <limits>

using namespace annudf;
using namespace annudf::capi;

static runtime::NumericArray toArray(const Call &call, const annudf_capture_value &value) {
  const std::string who = "value of capture '" + std::string(value.name) + "': ";
  if (!value.dtype)
    call.refuse(who + "dtype is NULL");
  if (value.rank < 0 || value.rank > 32)
    call.refuse(who + "rank is " + std::to_string(value.rank));
  if (value.rank != 0 && !value.shape)
    call.refuse(who + "shape is NULL");
  if (value.bytes != 0 && !value.data)
    call.refuse(who + "data is NULL");
  runtime::NumericArray array;
  array.dtype = value.dtype;
  array.shape.assign(value.shape, value.shape + value.rank);
  const auto *data = static_cast<const std::byte *>(value.data);
  array.storage.assign(data, data + value.bytes);
  array.origin = value.origin ? value.origin : "the caller";
  return array;
}

annudf_status annudf_captures_bind(const annudf_artifact *artifact, int64_t dims,
                                   const annudf_capture_value *values, size_t count,
                                   bool allow_non_finite, annudf_captures **captures) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(artifact, "artifact");
    if (count != 0)
      call.refuseNull(values, "values");
    call.refuseNull(captures, "captures");
    inRange("dims", dims, 1, std::numeric_limits<int32_t>::max());
    std::map<std::string, runtime::NumericArray> bound;
    // The array's elements are as large as the caller's header says, not this library's.
    const char *at = reinterpret_cast<const char *>(values);
    for (size_t i = 0; i < count; ++i) {
      const auto *element = reinterpret_cast<const annudf_capture_value *>(at);
      const annudf_capture_value value =
          copyOptions(element, offsetof(annudf_capture_value, origin) + sizeof(const char *),
                      "annudf_capture_value");
      at += element->size;
      call.refuseNull(value.name, "name of a capture's value");
      if (!bound.emplace(value.name, toArray(call, value)).second)
        call.refuse("capture '" + std::string(value.name) + "' is given twice");
    }
    *captures = new annudf_captures{runtime::BoundCaptures::bind(
        artifact->value.manifest, static_cast<int32_t>(dims), bound, allow_non_finite)};
  });
}

void annudf_captures_destroy(annudf_captures *captures) { delete captures; }
