//===- Captures.cpp - Binding captures in the C API -----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include "annudf/runtime/engine/Columns.h"

#include <cstddef>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

using namespace annudf;
using namespace annudf::capi;

std::shared_ptr<const void> capi::ownerOf(const annudf_capture_value &value) {
  if (!value.release)
    return nullptr;
  static const char kNothing = 0; // A null owner is released, too.
  return std::shared_ptr<const void>(
      &kNothing, [release = value.release, owner = value.owner](const void *) { release(owner); });
}

runtime::CaptureValue capi::toValue(const Call &call, const annudf_capture_value &value,
                                    std::shared_ptr<const void> owner, const char *what) {
  const std::string subject = std::string("value of ") + what + " '" + value.name + "'";
  const std::string who = subject + ": ";
  if (!value.dtype)
    call.refuse(who + "dtype is NULL");
  if (value.rank < 0 || value.rank > ANNUDF_MAX_ARRAY_RANK)
    call.refuse(who + "rank is " + std::to_string(value.rank) + "; it must be 0 to " +
                std::to_string(ANNUDF_MAX_ARRAY_RANK));
  if (value.rank != 0 && !value.shape)
    call.refuse(who + "shape is NULL");
  if (value.bytes != 0 && !value.data)
    call.refuse(who + "data is NULL");
  const bool onDevice = isOnDevice(call, value.place, subject + ".place");
  if (value.place.stream != 0)
    call.refuse(who + "place.stream is " + std::to_string(value.place.stream) +
                "; a search reads captures on the stream of its queries, so set it to 0");
  runtime::CaptureValue given;
  given.dtype = value.dtype;
  given.shape.assign(value.shape, value.shape + value.rank);
  if (value.strides)
    given.strides.assign(value.strides, value.strides + value.rank);
  bool empty = false;
  for (int64_t extent : given.shape)
    empty |= extent == 0;
  if (value.strides && !empty && !value.data)
    call.refuse(who + "data is NULL");
  given.data = value.data;
  given.bytes = value.bytes;
  given.origin = value.origin ? value.origin : "the caller";
  given.space = onDevice ? runtime::MemorySpace::Cuda : runtime::MemorySpace::Host;
  given.device = value.place.device;
  given.owner = std::move(owner);
  return given;
}

std::map<std::string, runtime::CaptureValue> capi::toValues(const Call &call,
                                                            const annudf_capture_value *values,
                                                            size_t count, const char *what) {
  if (count != 0)
    call.refuseNull(values, "values");
  // The array's elements are as large as the caller's header says, not this library's.
  const char *at = reinterpret_cast<const char *>(values);
  std::vector<annudf_capture_value> given;
  std::vector<std::shared_ptr<const void>> owners; // All of them first, whatever is refused then.
  for (size_t i = 0; i < count; ++i) {
    const auto *element = reinterpret_cast<const annudf_capture_value *>(at);
    given.push_back(copyOptions(element, offsetof(annudf_capture_value, owner) + sizeof(void *),
                                "annudf_capture_value"));
    owners.push_back(ownerOf(given.back()));
    at += element->size;
  }
  std::map<std::string, runtime::CaptureValue> named;
  for (size_t i = 0; i < count; ++i) {
    call.refuseNull(given[i].name, ("name of a " + std::string(what) + "'s value").c_str());
    if (!named.emplace(given[i].name, toValue(call, given[i], std::move(owners[i]), what)).second)
      call.refuse(std::string(what) + " '" + given[i].name + "' is given twice");
  }
  return named;
}

static int64_t queriesOf(const annudf_extents &given) {
  return checkRange("queries", given.queries, 0, std::numeric_limits<int64_t>::max());
}

static runtime::CaptureExtents toExtents(const annudf_extents &given) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  return {
      static_cast<int32_t>(checkRange("dims", given.dims, 1, std::numeric_limits<int32_t>::max())),
      checkRange("rows", given.rows, 0, kMost), queriesOf(given)};
}

annudf_status annudf_captures_bind(const annudf_artifact *artifact, const annudf_extents *extents,
                                   const annudf_capture_value *values, size_t count,
                                   const annudf_captures_options *options,
                                   annudf_captures **captures) {
  return guard(__func__, [&](Call call) {
    const auto bound = toValues(call, values, count, "capture");
    call.refuseNull(artifact, "artifact");
    call.refuseNull(captures, "captures");
    const annudf_captures_options chosen =
        copyOptions(options, offsetof(annudf_captures_options, allow_non_finite) + sizeof(int32_t),
                    "annudf_captures_options");
    if (!chosen.index)
      call.refuseNull(extents, "extents");
    const annudf_extents given =
        copyOptions(extents, offsetof(annudf_extents, queries) + sizeof(int64_t), "annudf_extents");
    std::optional<IndexUse> use;
    std::optional<runtime::ColumnTypes> columns;
    runtime::CaptureExtents bindFor;
    if (chosen.index) {
      const int64_t queries = queriesOf(given);
      use.emplace(call, *chosen.index, IndexUse::Kind::Shared);
      const runtime::Index &index = chosen.index->value;
      columns = runtime::columnTypes(index);
      bindFor = {index.dims(), index.rowExtent(), queries};
    } else {
      bindFor = toExtents(given);
    }
    *captures = new annudf_captures{runtime::BoundCaptures::bindViews(
        artifact->value.manifest, bindFor, bound, chosen.allow_non_finite != 0,
        columns ? &*columns : nullptr)};
  });
}

const char *annudf_captures_digest(const annudf_captures *captures) {
  return captures ? captures->value.digest().c_str() : "";
}

void annudf_captures_destroy(annudf_captures *captures) { delete captures; }
