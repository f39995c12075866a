//===- Cuda.h - Searching on a GPU, with streams and device memory --*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the CUDA backend offers beyond Backend: queries and results that already are
// on the device, work on the caller's stream, and linking ahead of the first search.
// No CUDA header is needed to include this one: a CUstream or cudaStream_t is passed
// as void *, a device address as a pointer.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_CUDA_H
#define ANNUDF_RUNTIME_CUDA_H

#include "annudf/runtime/Search.h"

namespace annudf::runtime {

/// Safe to call from many threads. Device copies of indexes are kept while their
/// generation is current, linked kernels by metric digest and element type.
class CudaBackend : public Backend {
public:
  /// As search(), with queries and results in device memory, enqueued on `stream`
  /// (nullptr: the default stream) without waiting for it. The first search of an
  /// index or a metric uploads or links before it enqueues.
  /// \param queries  `data` is a device address, aligned to the element's size.
  /// \param ids, distances  device addresses, queries.rows x k.
  /// \param stats  links, linkMs and uploadMs; searchMs stays 0, as nothing waits.
  virtual void searchDevice(const Index &index, const Metric &metric, const BoundCaptures &captures,
                            const MatrixView &queries, int k, const SearchParams &params,
                            int64_t *ids, float *distances, void *stream,
                            SearchStats *stats = nullptr) = 0;

  /// Links the metric for the element type and loads it, so that no search waits.
  virtual void precompile(const Metric &metric, annudf_element element,
                          SearchStats *stats = nullptr) = 0;
};

/// makeCudaBackend() with the wider interface; the same errors.
std::unique_ptr<CudaBackend> makeCudaDeviceBackend(int device = 0);

/// What this machine offers the CUDA backend, for `annudf doctor`. Never throws:
/// what is missing is said in words.
struct CudaEnvironment {
  bool built = false; ///< The library was built with CUDA.
  std::string driver; ///< "13.0", or why there is none.
  bool driverFound = false;
  std::vector<std::string> devices; ///< "0: NVIDIA H200, sm_90, 132 multiprocessors".
  std::string linker; ///< "13.0 (/usr/local/cuda/lib64/libnvJitLink.so.13)", or why not.
  bool linkerFound = false;
};
CudaEnvironment describeCuda();

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_CUDA_H
