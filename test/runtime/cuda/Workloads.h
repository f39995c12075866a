//===- Workloads.h - Searches to plan, without an index --------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_WORKLOADS_H
#define ANNUDF_TEST_RUNTIME_CUDA_WORKLOADS_H

#include "H200.h"

#include "cuda/plan/Families.h"

#include <string>

namespace annudf::test {

inline runtime::Workload workOf(int64_t queries, uint32_t probes, uint32_t lists,
                                uint32_t rowBytes = 512) {
  runtime::Workload work;
  work.hooks = {ANNUDF_HOOK_INIT, ANNUDF_HOOK_UPDATE};
  work.lists = lists, work.rows = int64_t(lists) * 1000, work.dims = int32_t(rowBytes / 4);
  work.rowBytes = rowBytes, work.queries = queries, work.probes = probes, work.k = 10;
  work.bodyBytes =
      runtime::cuda::kLargeBodyBytes + 1; // Else "staged" takes part, which has its own tests.
  return work;
}

inline runtime::ExecutionPlan planOf(const runtime::Workload &work,
                                     const runtime::Machine &machine = kH200) {
  return makePlan(runtime::cuda::kernelFamilies(), work, machine);
}

inline std::string chosen(const runtime::Workload &work, const runtime::Machine &machine = kH200) {
  return planOf(work, machine).family->name();
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CUDA_WORKLOADS_H
