//===- Embedded.cpp - Device code carried by this library -----------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// .incbin instead of generated arrays: megabytes of fatbin cost no compile time.
//
//===----------------------------------------------------------------------===//

#include "Embedded.h"

#include "annudf/runtime/support/FieldDigest.h"

#include <utility>
#include <vector>

namespace {

/// Every fragment that is embedded below, by itself: none can be left out of the digest.
std::vector<std::pair<const char *, const char *>> &fragments() {
  static std::vector<std::pair<const char *, const char *>> all;
  return all;
}

struct Fragment {
  Fragment(const char *begin, const char *end) { fragments().emplace_back(begin, end); }
};

} // namespace

#define ANNUDF_EMBED(NAME)                                                                         \
  asm(".pushsection .rodata\n"                                                                     \
      ".balign 16\n"                                                                               \
      ".globl annudf_fatbin_" #NAME "\n"                                                           \
      "annudf_fatbin_" #NAME ":\n"                                                                 \
      ".incbin \"" ANNUDF_FATBIN_DIR "/" #NAME ".fatbin\"\n"                                       \
      ".globl annudf_fatbin_" #NAME "_end\n"                                                       \
      "annudf_fatbin_" #NAME "_end:\n"                                                             \
      ".byte 0\n"                                                                                  \
      ".popsection\n");                                                                            \
  extern "C" __attribute__((visibility("hidden"))) const char annudf_fatbin_##NAME[];              \
  extern "C" __attribute__((visibility("hidden"))) const char annudf_fatbin_##NAME##_end[];        \
  static const Fragment fragment_##NAME(annudf_fatbin_##NAME, annudf_fatbin_##NAME##_end);

ANNUDF_EMBED(scan32)
ANNUDF_EMBED(scan64)
ANNUDF_EMBED(scan32compact)
ANNUDF_EMBED(scan64compact)
ANNUDF_EMBED(element0)
ANNUDF_EMBED(element1)
ANNUDF_EMBED(element2)
ANNUDF_EMBED(element3)
ANNUDF_EMBED(search)

namespace annudf::runtime::cuda {

#define ANNUDF_BYTES(NAME)                                                                         \
  std::string_view(annudf_fatbin_##NAME,                                                           \
                   static_cast<size_t>(annudf_fatbin_##NAME##_end - annudf_fatbin_##NAME))

std::string_view scanFragment(int width, bool compact) {
  if (compact)
    return width == 64 ? ANNUDF_BYTES(scan64compact) : ANNUDF_BYTES(scan32compact);
  return width == 64 ? ANNUDF_BYTES(scan64) : ANNUDF_BYTES(scan32);
}

std::string_view elementFragment(annudf_element element) {
  switch (element) {
  case ANNUDF_ELEMENT_F32:
    return ANNUDF_BYTES(element0);
  case ANNUDF_ELEMENT_F16:
    return ANNUDF_BYTES(element1);
  case ANNUDF_ELEMENT_I8:
    return ANNUDF_BYTES(element2);
  case ANNUDF_ELEMENT_U8:
    return ANNUDF_BYTES(element3);
  }
  return {};
}

const std::string &fragmentsDigest() {
  static const std::string digest = [] {
    FieldDigest all;
    for (const auto &[begin, end] : fragments())
      all.bytes(begin, static_cast<size_t>(end - begin));
    return all.finish();
  }();
  return digest;
}

std::string_view searchModule() { return ANNUDF_BYTES(search); }

} // namespace annudf::runtime::cuda
