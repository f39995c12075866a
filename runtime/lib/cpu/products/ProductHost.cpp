//===- ProductHost.cpp - Whether this machine has AMX ---------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductKernels.h"

#include "annudf/Support/Error.h"
#include "annudf/Support/Fork.h"
#include "annudf/runtime/support/Settings.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace annudf::runtime::cpu {

namespace {

struct Offer {
  std::string_view name;
  const ProductKernels *kernels; ///< Null where this machine does not have it.
};

} // namespace

#if defined(__x86_64__) && defined(__linux__)
extern const ProductKernels kTileKernels, kAvx512Kernels, kAvx2Kernels;

namespace {

bool hasAvx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/// The system gives a process the tiles' registers when it asks; threads begun later have them too.
bool hasTiles() {
  constexpr unsigned kBfloat = 1u << 22, kTiles = 1u << 24;
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & kBfloat) == 0 || (d & kTiles) == 0)
    return false;
  constexpr long kRequest = 0x1023, kTileData = 18; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return hasAvx512() && syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
}

std::vector<Offer> offers() {
  return {{"amx", hasTiles() ? &kTileKernels : nullptr},
          {"avx512", hasAvx512() ? &kAvx512Kernels : nullptr},
          {"avx2", __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kAvx2Kernels
                                                                                   : nullptr},
          {"plain", &plainKernels()}};
}

} // namespace
#else
static std::vector<Offer> offers() {
  return {{"amx", nullptr}, {"avx512", nullptr}, {"avx2", nullptr}, {"plain", &plainKernels()}};
}
#endif

static const std::vector<Offer> &allOffers() {
  const NoFork untilMade;
  static const std::vector<Offer> all = offers();
  return all;
}

std::span<const ProductKernels *const> availableKernels() {
  const NoFork untilMade;
  static const std::vector<const ProductKernels *> available = [] {
    std::vector<const ProductKernels *> some;
    for (const Offer &offer : allOffers())
      if (offer.kernels)
        some.push_back(offer.kernels);
    return some;
  }();
  return available;
}

static const std::vector<std::string_view> &namesOfOffers() {
  const NoFork untilMade;
  static const std::vector<std::string_view> names = [] {
    std::vector<std::string_view> all;
    for (const Offer &offer : allOffers())
      all.emplace_back(offer.name);
    return all;
  }();
  return names;
}

const ProductKernels &matrixKernels() {
  const std::string_view asked = settingOf("ANNUDF_PRODUCTS", namesOfOffers());
  if (asked.empty())
    return *availableKernels().front();
  const auto offer = std::ranges::find(allOffers(), asked, &Offer::name);
  if (!offer->kernels)
    throw Error(ErrorKind::Usage, "ANNUDF_PRODUCTS is '" + std::string(asked) +
                                      "', which this machine does not support");
  return *offer->kernels;
}

} // namespace annudf::runtime::cpu
