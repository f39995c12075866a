//===- FloatModes.h - Rounding and denormals of a thread -----------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_RUNTIME_LIB_SUPPORT_FLOATMODES_H
#define ANNUDF_RUNTIME_LIB_SUPPORT_FLOATMODES_H

#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace annudf::runtime {

/// While it lives, its thread rounds to nearest, keeps denormals and traps nothing, whatever
/// the caller or another library has set: the same search gives the same distances in every
/// thread and process. Elsewhere than on x86-64 and AArch64 the thread's modes stay.
class FloatModes {
public:
#if defined(__x86_64__)
  FloatModes() : before_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~FloatModes() { _mm_setcsr(before_); }

private:
  static constexpr unsigned kDefault = 0x1F80; ///< All exceptions masked; no FTZ, no DAZ.
  const unsigned before_;
#elif defined(__aarch64__)
  FloatModes() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" : : "r"(uint64_t(0)));
  }
  ~FloatModes() { asm volatile("msr fpcr, %0" : : "r"(before_)); }

private:
  uint64_t before_;
#else
  FloatModes() {}
  ~FloatModes() {}

private:
#endif
  FloatModes(const FloatModes &) = delete;
  FloatModes &operator=(const FloatModes &) = delete;
};

} // namespace annudf::runtime

#endif // ANNUDF_RUNTIME_LIB_SUPPORT_FLOATMODES_H
