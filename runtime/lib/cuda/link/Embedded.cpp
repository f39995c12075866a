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

#include <cstdint>

#define ANNUDF_EMBED(NAME) ANNUDF_EMBED_FILE(NAME, fatbin)
#define ANNUDF_EMBED_FILE(NAME, KIND)                                                              \
  asm(".pushsection .rodata\n"                                                                     \
      ".balign 16\n"                                                                               \
      ".globl annudf_fatbin_" #NAME "\n"                                                           \
      "annudf_fatbin_" #NAME ":\n"                                                                 \
      ".incbin \"" ANNUDF_FATBIN_DIR "/" #NAME "." #KIND "\"\n"                                    \
      ".globl annudf_fatbin_" #NAME "_end\n"                                                       \
      "annudf_fatbin_" #NAME "_end:\n"                                                             \
      ".byte 0\n"                                                                                  \
      ".popsection\n");                                                                            \
  extern "C" __attribute__((visibility("hidden"))) const char annudf_fatbin_##NAME[];              \
  extern "C" __attribute__((visibility("hidden"))) const char annudf_fatbin_##NAME##_end[];

#define ANNUDF_X(F, A, X)                                                                          \
  ANNUDF_EMBED(scan_##F##A##_x##X)                                                                 \
  ANNUDF_EMBED(scan_##F##A##_x##X##_compact)                                                       \
  ANNUDF_EMBED(scan_##F##A##_x##X##_parts) ANNUDF_EMBED(scan_##F##A##_x##X##_candidates)
ANNUDF_HOOK_WIDTHS(ANNUDF_X)
#undef ANNUDF_X
/// For coordinates of 32 bits; those of 64 have none.
#define ANNUDF_STAGED_32(F, A) ANNUDF_EMBED(staged_##F##A)
#define ANNUDF_STAGED_64(F, A)
#define ANNUDF_X(F, A, X) ANNUDF_STAGED_##X(F, A)
ANNUDF_HOOK_WIDTHS(ANNUDF_X)
#undef ANNUDF_X
ANNUDF_EMBED(packed_float)
ANNUDF_EMBED(packed_integer)
ANNUDF_EMBED(survivors)
ANNUDF_EMBED(survivors_fields)
ANNUDF_EMBED(bit_products_0)
ANNUDF_EMBED(bit_products_1)
#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE) ANNUDF_EMBED(packed_term_##NAME)
ANNUDF_PACKED_TERMS(ANNUDF_X)
#undef ANNUDF_X
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  ANNUDF_EMBED(row_element_##NAME) ANNUDF_EMBED(query_element_##NAME)
ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE) ANNUDF_EMBED(compute_##NAME)
ANNUDF_COMPUTE_TYPES(ANNUDF_X)
#undef ANNUDF_X
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE) ANNUDF_EMBED(finalize_##NAME)
ANNUDF_ACCUMULATORS(ANNUDF_X)
#undef ANNUDF_X
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  ANNUDF_EMBED_FILE(template_scan_##NAME, ptx)                                                     \
  ANNUDF_EMBED_FILE(template_staged_##NAME, ptx) ANNUDF_EMBED_FILE(template_survivors_##NAME, ptx)
ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE)                                                     \
  ANNUDF_EMBED_FILE(template_packed_##NAME##_I8, ptx)                                              \
  ANNUDF_EMBED_FILE(template_packed_##NAME##_U8, ptx)                                              \
  ANNUDF_EMBED_FILE(template_packed_##NAME##_BITS, ptx)
ANNUDF_PACKED_TERMS(ANNUDF_X)
#undef ANNUDF_X
ANNUDF_EMBED(hook_text)
ANNUDF_EMBED(filter)
ANNUDF_EMBED(predicate)
ANNUDF_EMBED(contract)
ANNUDF_EMBED(overlap_75)
ANNUDF_EMBED(overlap_80)
ANNUDF_EMBED(overlap_90)
ANNUDF_EMBED(search)
ANNUDF_EMBED(build)
ANNUDF_EMBED(matrix)

namespace annudf::runtime::cuda {

/// Two labels of one assembly, which are two arrays to the compiler: numbers, not pointers, are
/// subtracted.
static std::string_view between(const char *begin, const char *end) {
  return {begin, reinterpret_cast<uintptr_t>(end) - reinterpret_cast<uintptr_t>(begin)};
}

#define ANNUDF_BYTES(NAME) between(annudf_fatbin_##NAME, annudf_fatbin_##NAME##_end)

static std::string_view listsFragment(HookWidths widths, bool compact) {
#define ANNUDF_X(F, A, X)                                                                          \
  if (widths == HookWidths{A, X, static_cast<AccumulatorForm>((#F)[0])})                           \
    return compact ? ANNUDF_BYTES(scan_##F##A##_x##X##_compact) : ANNUDF_BYTES(scan_##F##A##_x##X);
  ANNUDF_HOOK_WIDTHS(ANNUDF_X)
#undef ANNUDF_X
  return {};
}

static std::string_view partsFragment(HookWidths widths) {
#define ANNUDF_X(F, A, X)                                                                          \
  if (widths == HookWidths{A, X, static_cast<AccumulatorForm>((#F)[0])})                           \
    return ANNUDF_BYTES(scan_##F##A##_x##X##_parts);
  ANNUDF_HOOK_WIDTHS(ANNUDF_X)
#undef ANNUDF_X
  return {};
}

static std::string_view candidatesFragment(HookWidths widths) {
#define ANNUDF_X(F, A, X)                                                                          \
  if (widths == HookWidths{A, X, static_cast<AccumulatorForm>((#F)[0])})                           \
    return ANNUDF_BYTES(scan_##F##A##_x##X##_candidates);
  ANNUDF_HOOK_WIDTHS(ANNUDF_X)
#undef ANNUDF_X
  return {};
}

#undef ANNUDF_STAGED_32
#define ANNUDF_STAGED_32(F, A)                                                                     \
  if (widths == HookWidths{A, 32, static_cast<AccumulatorForm>((#F)[0])})                          \
    return ANNUDF_BYTES(staged_##F##A);
static std::string_view stagedFragment(HookWidths widths) {
#define ANNUDF_X(F, A, X) ANNUDF_STAGED_##X(F, A)
  ANNUDF_HOOK_WIDTHS(ANNUDF_X)
#undef ANNUDF_X
  return {};
}

static std::string_view packedFragment(const MetricDescriptor &metric) {
  switch (metric.accumulator) {
  case ANNUDF_ACCUMULATOR_F32:
    return ANNUDF_BYTES(packed_float);
  case ANNUDF_ACCUMULATOR_I32:
  case ANNUDF_ACCUMULATOR_U32:
    return ANNUDF_BYTES(packed_integer);
  case ANNUDF_ACCUMULATOR_F64:
  case ANNUDF_ACCUMULATOR_I64:
  case ANNUDF_ACCUMULATOR_STRUCT:
    break; // Nothing is packed for these.
  }
  return {};
}

std::string_view scanFragment(ScanSource source, const MetricDescriptor &metric, bool compact) {
  const HookWidths widths = metric.hookWidths();
  switch (source) {
  case ScanSource::Lists:
    return listsFragment(widths, compact);
  case ScanSource::Parts:
    return partsFragment(widths);
  case ScanSource::Candidates:
    return candidatesFragment(widths);
  case ScanSource::Staged:
    return stagedFragment(widths);
  case ScanSource::Packed:
    return packedFragment(metric);
  case ScanSource::Survivors:
    return widths == HookWidths{32, 32, AccumulatorForm::Word}    ? ANNUDF_BYTES(survivors)
           : widths == HookWidths{32, 32, AccumulatorForm::Words} ? ANNUDF_BYTES(survivors_fields)
                                                                  : std::string_view();
  case ScanSource::Predicate:
    return ANNUDF_BYTES(predicate);
  }
  return {};
}

#define ANNUDF_ROW_CASE(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                  \
  case ANNUDF_ELEMENT_##NAME:                                                                      \
    return ANNUDF_BYTES(row_element_##NAME);
#define ANNUDF_QUERY_CASE(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                \
  case ANNUDF_ELEMENT_##NAME:                                                                      \
    return ANNUDF_BYTES(query_element_##NAME);
#define ANNUDF_COMPUTE_CASE(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                              \
  case ANNUDF_COMPUTE_##NAME:                                                                      \
    return ANNUDF_BYTES(compute_##NAME);
#define ANNUDF_FINALIZE_CASE(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                             \
  case ANNUDF_ACCUMULATOR_##NAME:                                                                  \
    return ANNUDF_BYTES(finalize_##NAME);

#define ANNUDF_TERM_CASE(NAME, VALUE, SPELLING, SINCE)                                             \
  case ANNUDF_PACKED_##NAME:                                                                       \
    return ANNUDF_BYTES(packed_term_##NAME);

std::string_view packedTermFragment(annudf_packed_term term) {
  switch (term) { ANNUDF_PACKED_TERMS(ANNUDF_TERM_CASE) }
  return {};
}

std::string_view bitProductsFragment(int sm) {
  return hasBitProducts(sm) ? ANNUDF_BYTES(bit_products_1) : ANNUDF_BYTES(bit_products_0);
}

std::string_view rowElementFragment(annudf_element element) {
  switch (element) { ANNUDF_ELEMENTS(ANNUDF_ROW_CASE) }
  return {};
}

std::string_view queryElementFragment(annudf_element element) {
  switch (element) { ANNUDF_ELEMENTS(ANNUDF_QUERY_CASE) }
  return {};
}

std::string_view computeFragment(annudf_compute compute) {
  switch (compute) { ANNUDF_COMPUTE_TYPES(ANNUDF_COMPUTE_CASE) }
  return {};
}

std::string_view finalizeFragment(annudf_accumulator accumulator) {
  switch (accumulator) {
    ANNUDF_ACCUMULATORS(ANNUDF_FINALIZE_CASE)
  case ANNUDF_ACCUMULATOR_STRUCT: // checkManifest: it has its own.
    break;
  }
  return {};
}

static std::string_view packedTemplate(const Manifest &metric, annudf_element element) {
  if (!metric.packed || metric.accumulator != ANNUDF_ACCUMULATOR_F32)
    return {};
#define ANNUDF_X(NAME, VALUE, SPELLING, SINCE)                                                     \
  if (metric.packed->term == ANNUDF_PACKED_##NAME)                                                 \
    return element == ANNUDF_ELEMENT_I8     ? ANNUDF_BYTES(template_packed_##NAME##_I8)            \
           : element == ANNUDF_ELEMENT_U8   ? ANNUDF_BYTES(template_packed_##NAME##_U8)            \
           : element == ANNUDF_ELEMENT_BITS ? ANNUDF_BYTES(template_packed_##NAME##_BITS)          \
                                            : std::string_view();
  ANNUDF_PACKED_TERMS(ANNUDF_X)
#undef ANNUDF_X
  return {};
}

std::string_view scanTemplate(const ScanEntry &entry, const Manifest &metric,
                              ScanElements elements) {
  const ScanSource source = entry.source;
  // With hooks open the kernel of tiles takes 100 registers in place of 64, and 17 % more time.
  if (entry.kernel == std::string_view("annudf_scan_tile"))
    return {};
  if (metric.hookWidths() != HookWidths{32, 32, static_cast<AccumulatorForm>('a')} ||
      elements.rows != elements.queries)
    return {};
  if (source == ScanSource::Packed) // Its coordinates are not converted.
    return packedTemplate(metric, elements.rows);
  if (metric.compute != ANNUDF_COMPUTE_F32)
    return {};
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  if (elements.rows == ANNUDF_ELEMENT_##NAME)                                                      \
    switch (source) {                                                                              \
    case ScanSource::Lists:                                                                        \
      return ANNUDF_BYTES(template_scan_##NAME);                                                   \
    case ScanSource::Staged:                                                                       \
      return ANNUDF_BYTES(template_staged_##NAME);                                                 \
    case ScanSource::Survivors:                                                                    \
      return ANNUDF_BYTES(template_survivors_##NAME);                                              \
    case ScanSource::Parts:                                                                        \
    case ScanSource::Candidates:                                                                   \
    case ScanSource::Packed:                                                                       \
    case ScanSource::Predicate:                                                                    \
      break;                                                                                       \
    }
  ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
  return {};
}

std::string_view hookTextFragment() { return ANNUDF_BYTES(hook_text); }

std::string_view filterFragment() { return ANNUDF_BYTES(filter); }

std::string_view contractFragment() { return ANNUDF_BYTES(contract); }

std::string_view overlapFragment(int sm) {
  return sm >= kOverlapSm  ? ANNUDF_BYTES(overlap_90)
         : sm >= kCopiesSm ? ANNUDF_BYTES(overlap_80)
                           : ANNUDF_BYTES(overlap_75);
}

std::string_view searchModule() { return ANNUDF_BYTES(search); }
std::string_view buildModule() { return ANNUDF_BYTES(build); }
std::string_view matrixModule() { return ANNUDF_BYTES(matrix); }

} // namespace annudf::runtime::cuda
