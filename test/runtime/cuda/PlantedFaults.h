//===- PlantedFaults.h - Kernels that do what none may ----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// So that a check which looks for such a fault, and says nothing, is known to have looked. PTX, so
// that no toolkit is needed; `volatile`, so that no assembler takes the fault out.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_TEST_RUNTIME_CUDA_PLANTEDFAULTS_H
#define ANNUDF_TEST_RUNTIME_CUDA_PLANTEDFAULTS_H

#include "cuda/driver/Driver.h"

namespace annudf::test {

struct PlantedFault {
  const char *ptx, *kernel;
  unsigned threads; ///< Threads of its one block; each has a word of the kernel's array.
};

/// The second warp reads what the first writes to shared memory, and nobody waits.
inline constexpr PlantedFault kRace = {R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry races(.param .u64 array) {
  .reg .u32 %t, %to, %from, %v;
  .reg .u64 %a, %at;
  .shared .align 4 .b8 shared_words[256];
  mov.u32 %t, %tid.x;
  mov.u32 %v, shared_words;
  mad.lo.u32 %to, %t, 4, %v;
  xor.b32 %from, %t, 32;
  mad.lo.u32 %from, %from, 4, %v;
  st.volatile.shared.u32 [%to], %t;
  ld.volatile.shared.u32 %v, [%from];
  ld.param.u64 %a, [array];
  mul.wide.u32 %at, %t, 4;
  add.u64 %a, %a, %at;
  st.volatile.global.u32 [%a], %v;
  ret;
})",
                                       "races", 64};

/// The word after an array of one.
inline constexpr PlantedFault kReadPastTheEnd = {R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry reads_past(.param .u64 array) {
  .reg .u64 %a;
  .reg .u32 %v;
  ld.param.u64 %a, [array];
  ld.volatile.global.u32 %v, [%a+4];
  st.volatile.global.u32 [%a], %v;
  ret;
})",
                                                 "reads_past", 1};

/// Ends the context of its process.
inline constexpr PlantedFault kTrap = {R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry traps(.param .u64 array) {
  trap;
  ret;
})",
                                       "traps", 1};

/// Waits for it; what the driver says then.
inline CUresult run(const PlantedFault &fault,
                    const std::shared_ptr<const runtime::cuda::Context> &context) {
  using namespace runtime::cuda;
  const ContextScope scope(*context);
  const Buffer array(context, fault.threads * sizeof(uint32_t));
  const Module module(context, fault.ptx);
  CUdeviceptr address = array.device();
  void *arguments[] = {&address};
  ANNUDF_CUDA(cuLaunchKernel, module.function(fault.kernel), 1, 1, 1, fault.threads, 1, 1, 0,
              nullptr, arguments, nullptr);
  return Driver::get().cuCtxSynchronize();
}

} // namespace annudf::test

#endif // ANNUDF_TEST_RUNTIME_CUDA_PLANTEDFAULTS_H
