//===- MergeParts.cpp - Joining partial results in the C API --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Handles.h"

#include "annudf/runtime/engine/Merge.h"

#include <cstddef>

using namespace annudf;
using namespace annudf::capi;

annudf_status annudf_merge_parts(annudf_backend *backend, const annudf_partial_results *parts,
                                 int64_t k, int64_t *ids, float *distances) {
  return guard(__func__, [&](Call call) {
    call.refuseNull(parts, "parts");
    call.refuseNull(ids, "ids");
    call.refuseNull(distances, "distances");
    const annudf_partial_results given =
        copyOptions(parts, offsetof(annudf_partial_results, place) + sizeof(annudf_place),
                    "annudf_partial_results");
    call.refuseNull(given.ids, "parts.ids");
    call.refuseNull(given.distances, "parts.distances");
    if (given.order != ANNUDF_ORDER_MIN && given.order != ANNUDF_ORDER_MAX)
      call.refuse("parts.order is " + std::to_string(given.order) +
                  "; use a value of enum annudf_order");
    runtime::PartialResults from = {given.ids,   given.distances,
                                    given.parts, given.queries,
                                    given.k,     static_cast<annudf_order>(given.order)};
    if (given.translations && given.parts > 0)
      from.translations = {given.translations, static_cast<size_t>(given.parts)};
    const Place at = toPlace(call, backend, given.place, "parts");
    if (at.onDevice)
      backend->cuda->mergeParts(from, k, ids, distances, at.stream);
    else
      runtime::mergeParts(from, k, ids, distances, given.threads);
  });
}
