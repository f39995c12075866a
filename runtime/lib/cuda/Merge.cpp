//===- Merge.cpp - The k best of partial results on a device --------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceBackend.h"

#include "cuda/driver/Launcher.h"

namespace annudf::runtime::cuda {

void DeviceBackend::mergeParts(const PartialResults &from, int64_t k, int64_t *ids,
                               float *distances, void *stream) {
  checkMerge(from, k);
  if (from.queries == 0)
    return;
  const ContextScope scope(*context_);
  const uint64_t given = uint64_t(from.parts * from.queries) * uint64_t(from.k),
                 wanted = uint64_t(from.queries) * uint64_t(k);
  const auto checked = [&](const void *memory, uint64_t count, uint64_t bytes, const char *what) {
    const auto address = reinterpret_cast<uint64_t>(memory);
    checkDeviceMemory(*context_, address, count * bytes, bytes, what);
    return address;
  };
  const uint64_t inIds = checked(from.ids, given, sizeof(int64_t), "ids of parts"),
                 inDistances = checked(from.distances, given, sizeof(float), "distances of parts"),
                 outIds = checked(ids, wanted, sizeof(int64_t), "ids"),
                 outDistances = checked(distances, wanted, sizeof(float), "distances");
  const auto lease = pool_.acquire(false, checkStream(*context_, stream));
  uint64_t translations = 0;
  if (!from.translations.empty()) {
    translations = (*lease)->staging(from.translations.size_bytes()).device();
    // Pageable memory has been read when the call returns.
    ANNUDF_CUDA(cuMemcpyHtoDAsync, translations, from.translations.data(),
                from.translations.size_bytes(), lease->stream());
  }
  const auto parts = uint32_t(from.parts), found = uint32_t(from.k), kept = uint32_t(k);
  const int order = from.order;
  StreamLauncher launcher(*context_, lease->stream());
  if (uint64_t(parts) * found <= ANNUDF_MERGED_FEW) {
    const auto queries = uint32_t(from.queries);
    constexpr uint64_t kWarps = ANNUDF_MERGE_FEW_WARPS;
    launcher.first(kernels_.mergeFew, {(queries + kWarps - 1) / kWarps}, 32 * kWarps, 0,
                   inDistances, inIds, translations, parts, found, order, kept, outIds,
                   outDistances, queries);
    return lease->finish();
  }
  const unsigned threads = uint64_t(parts) * found > 8192 ? 1024 : 256;
  launcher.first(kernels_.merge, {uint64_t(from.queries)}, threads, 0, inDistances, inIds,
                 translations, parts, found, order, kept, outIds, outDistances);
  lease->finish();
}

} // namespace annudf::runtime::cuda
