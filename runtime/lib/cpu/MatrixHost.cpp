//===- MatrixHost.cpp - Whether this machine has AMX ----------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatrixKernels.h"

#include <cstdlib>
#include <string_view>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace annudf::runtime::cpu {

#if defined(__x86_64__) && defined(__linux__)
extern const MatrixKernels kTileKernels;

/// The system gives a process the tiles' registers when it asks; threads begun later have them too.
static bool hasTiles() {
  constexpr unsigned kBfloat = 1u << 22, kTiles = 1u << 24;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & kBfloat) == 0 || (d & kTiles) == 0)
    return false;
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl"))
    return false;
  constexpr long kRequest = 0x1023, kTileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

const MatrixKernels *tileKernels() {
  static const bool has = hasTiles();
  const char *asked = std::getenv("ANNUDF_AMX");
  return has && !(asked && std::string_view(asked) == "0") ? &kTileKernels : nullptr;
}
#else
const MatrixKernels *tileKernels() { return nullptr; }
#endif

} // namespace annudf::runtime::cpu
