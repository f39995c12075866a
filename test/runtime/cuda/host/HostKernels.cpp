//===- HostKernels.cpp - Device code that the host runs -------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../HostCuda.h"

#include "HostKernels.h"
#include "kernels/cuda/build/Build.cu"
#include "kernels/cuda/search/Merge.cuh"
#include "kernels/cuda/search/Regroup.cuh"

#include <map>
#include <utility>

namespace annudf::test {

namespace {

template <class... Args, size_t... I>
HostKernel called(void (*kernel)(Args...), std::index_sequence<I...>) {
  return
      [kernel](void **arguments) { kernel(*static_cast<std::decay_t<Args> *>(arguments[I])...); };
}
template <class... Args> HostKernel called(void (*kernel)(Args...)) {
  return called(kernel, std::index_sequence_for<Args...>());
}

} // namespace

const HostKernel *hostKernel(const std::string &name) {
#define ANNUDF_KERNEL(NAME)                                                                        \
  {                                                                                                \
    #NAME, called(&NAME)                                                                           \
  }
  static const std::map<std::string, HostKernel> kernels = {
      ANNUDF_KERNEL(annudf_build_finite),
      ANNUDF_KERNEL(annudf_build_convert),
      ANNUDF_KERNEL(annudf_build_normalise),
      ANNUDF_KERNEL(annudf_build_biases),
      ANNUDF_KERNEL(annudf_build_assign),
      ANNUDF_KERNEL(annudf_build_count),
      ANNUDF_KERNEL(annudf_build_prefix),
      ANNUDF_KERNEL(annudf_build_scatter),
      ANNUDF_KERNEL(annudf_build_bounds),
      ANNUDF_KERNEL(annudf_build_sums),
      ANNUDF_KERNEL(annudf_build_means),
      ANNUDF_KERNEL(annudf_build_pack),
      ANNUDF_KERNEL(annudf_build_places),
      ANNUDF_KERNEL(annudf_build_place),
      ANNUDF_KERNEL(annudf_build_append),
      ANNUDF_KERNEL(annudf_build_ungroup),
      ANNUDF_KERNEL(annudf_remove_flag),
      ANNUDF_KERNEL(annudf_remove_mark),
      ANNUDF_KERNEL(annudf_remove_sizes),
      ANNUDF_KERNEL(annudf_remove_move),
      ANNUDF_KERNEL(annudf_regroup),
      ANNUDF_KERNEL(annudf_build_present),
      ANNUDF_KERNEL(annudf_list_scales),
      ANNUDF_KERNEL(annudf_list_means),
      ANNUDF_KERNEL(annudf_build_candidates),
      ANNUDF_KERNEL(annudf_build_few_candidates),
      ANNUDF_KERNEL(annudf_build_gather),
      ANNUDF_KERNEL(annudf_passing_mark),
      ANNUDF_KERNEL(annudf_merge),
      ANNUDF_KERNEL(annudf_merge_few)};
#undef ANNUDF_KERNEL
  const auto found = kernels.find(name);
  return found == kernels.end() ? nullptr : &found->second;
}

void launchOnHost(const HostKernel &kernel, unsigned blocks, unsigned threads, void **arguments) {
  gridDim.x = blocks;
  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
    Block::run(threads, [&] { kernel(arguments); });
}

} // namespace annudf::test
