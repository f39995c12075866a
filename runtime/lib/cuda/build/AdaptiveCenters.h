//===- AdaptiveCenters.h - Centers that follow their lists ------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_CUDA_BUILD_ADAPTIVECENTERS_H
#define ANNUDF_RUNTIME_LIB_CUDA_BUILD_ADAPTIVECENTERS_H

#include "BuildKernels.h"
#include "cuda/resident/DeviceIndex.h"

namespace annudf::runtime::cuda {

/// What lists do not say of an index with adaptive centers.
struct AdaptiveIndex {
  annudf_element element;
  annudf_coarse metric;
  int threads;
};

/// The means of the lists' rows, to the bit those that Index::extend and Index::remove move centers
/// to; `lists` has them then. Waits for the stream. Takes listMeanBytes() of the device.
/// \param centers  those of before, which lists without rows keep.
/// \param before   uint32_t *: sizes of before a remove; lists that have as many keep theirs, too.
/// 0: none does.
std::vector<float> moveCenters(const std::shared_ptr<const Context> &context,
                               const BuildKernels &kernels, const AdaptiveIndex &index,
                               DeviceIndex &lists, std::vector<float> centers, uint64_t before,
                               CUstream stream);

} // namespace annudf::runtime::cuda

#endif // ANNUDF_RUNTIME_LIB_CUDA_BUILD_ADAPTIVECENTERS_H
