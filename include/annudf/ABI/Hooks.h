//===- Hooks.h - The hooks of annudf_abi.h as data ----------------*- C++ -*-===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names and prototypes for those who emit, link or check hooks: made from the header's
// list, so that none is written down a second time.
//
//===----------------------------------------------------------------------===//

#ifndef ANNUDF_ABI_HOOKS_H
#define ANNUDF_ABI_HOOKS_H

#include "annudf/ABI/annudf_abi.h"

#include <span>
#include <type_traits>

namespace annudf {

#define ANNUDF_ROW_OF_HOOK(HOOK, SYMBOL, RESULT, PARAMETERS) HOOK,
/// The functions that a metric defines.
enum class ScanHook { ANNUDF_SCAN_HOOKS(ANNUDF_ROW_OF_HOOK, a, 32, 32) };
#undef ANNUDF_ROW_OF_HOOK

/// How an accumulator crosses the link, by the letter of the hooks' names.
enum class AccumulatorForm : char {
  Word = 'a',  ///< By value.
  Words = 's', ///< ANNUDF_MAX_FIELDS words of the caller's, by pointer.
};

/// What picks the hooks' names.
struct HookWidths {
  int accumulator = 32, coordinate = 32; ///< Bits of a word.
  AccumulatorForm form = AccumulatorForm::Word;
  bool operator==(const HookWidths &) const = default;
};

inline constexpr ScanHook kScanHooks[] = {
#define ANNUDF_ROW_OF_HOOK(HOOK, SYMBOL, RESULT, PARAMETERS) ScanHook::HOOK,
    ANNUDF_SCAN_HOOKS(ANNUDF_ROW_OF_HOOK, a, 32, 32)
#undef ANNUDF_ROW_OF_HOOK
};

/// Whether every metric defines the function; where it lacks one that is not, the runtime links a
/// stub. A row of ANNUDF_HOOKS needs a prototype in annudf_abi.h; of contract there is no row, as
/// it belongs to code and not to a metric: whoever makes code defines it.
constexpr bool isRequired(ScanHook hook) {
  enum Presence { REQUIRED, OPTIONAL };
  switch (hook) {
#define ANNUDF_X(NAME, VALUE, SPELLING, PRESENCE, SINCE)                                           \
  case ScanHook::NAME:                                                                             \
    return PRESENCE == REQUIRED;
    ANNUDF_HOOKS(ANNUDF_X)
#undef ANNUDF_X
  case ScanHook::CONTRACT:
    return true;
  }
  return true;
}

/// Whether code of a metric whose list of hooks is `hooks` defines the function.
constexpr bool isDefinedBy(ScanHook hook, std::span<const annudf_hook> hooks) {
  for (annudf_hook listed : hooks)
    switch (listed) {
#define ANNUDF_X(NAME, VALUE, SPELLING, PRESENCE, SINCE)                                           \
  case ANNUDF_HOOK_##NAME:                                                                         \
    if (hook == ScanHook::NAME)                                                                    \
      return true;                                                                                 \
    break;
      ANNUDF_HOOKS(ANNUDF_X)
#undef ANNUDF_X
    }
  return hook == ScanHook::CONTRACT;
}

/// Calls visit(hook, symbol, std::type_identity<prototype>) for every hook of `widths`.
/// \returns false, having called nothing, for widths that the ABI does not have.
template <typename Visit> constexpr bool forEachScanHook(HookWidths widths, Visit visit) {
#define ANNUDF_ROW_OF_HOOK(HOOK, SYMBOL, RESULT, PARAMETERS)                                       \
  visit(ScanHook::HOOK, #SYMBOL, std::type_identity<RESULT PARAMETERS>());
#define ANNUDF_ROWS_OF_WIDTHS(F, A, X)                                                             \
  if (widths == HookWidths{A, X, static_cast<AccumulatorForm>((#F)[0])}) {                         \
    ANNUDF_SCAN_HOOKS(ANNUDF_ROW_OF_HOOK, F, A, X)                                                 \
    return true;                                                                                   \
  }
  ANNUDF_HOOK_WIDTHS(ANNUDF_ROWS_OF_WIDTHS)
#undef ANNUDF_ROWS_OF_WIDTHS
#undef ANNUDF_ROW_OF_HOOK
  return false;
}

/// "annudf1_scan_update_a32_x32"; null for widths that the ABI does not have.
constexpr const char *symbolOf(ScanHook wanted, HookWidths widths) {
  const char *found = nullptr;
  forEachScanHook(widths, [&](ScanHook hook, const char *symbol, auto) {
    if (hook == wanted)
      found = symbol;
  });
  return found;
}

/// "uint32_t annudf1_scan_init_a32(int32_t dims, ...)", its parameters named as in the header.
constexpr const char *declarationOf(ScanHook wanted, HookWidths widths) {
#define ANNUDF_ROW_OF_HOOK(HOOK, SYMBOL, RESULT, PARAMETERS)                                       \
  if (wanted == ScanHook::HOOK)                                                                    \
    return #RESULT " " #SYMBOL #PARAMETERS;
#define ANNUDF_ROWS_OF_WIDTHS(F, A, X)                                                             \
  if (widths == HookWidths{A, X, static_cast<AccumulatorForm>((#F)[0])}) {                         \
    ANNUDF_SCAN_HOOKS(ANNUDF_ROW_OF_HOOK, F, A, X)                                                 \
  }
  ANNUDF_HOOK_WIDTHS(ANNUDF_ROWS_OF_WIDTHS)
#undef ANNUDF_ROWS_OF_WIDTHS
#undef ANNUDF_ROW_OF_HOOK
  return nullptr;
}

/// Every form and pair of widths has every hook: a new one has a prototype in each list.
constexpr bool hasEveryHook() {
  bool complete = true;
#define ANNUDF_ROWS_OF_WIDTHS(F, A, X)                                                             \
  for (ScanHook hook : kScanHooks)                                                                 \
    complete &= symbolOf(hook, {A, X, static_cast<AccumulatorForm>((#F)[0])}) != nullptr;
  ANNUDF_HOOK_WIDTHS(ANNUDF_ROWS_OF_WIDTHS)
#undef ANNUDF_ROWS_OF_WIDTHS
  return complete;
}
static_assert(hasEveryHook(), "a hook of annudf_abi.h has no prototype for accumulators of several "
                              "fields, or none for those of one");

#define ANNUDF_ROW_OF_HOOK(HOOK, SYMBOL, RESULT, PARAMETERS) HOOK,
/// The functions that a filter defines, all of them.
enum class FilterHook { ANNUDF_FILTER_HOOKS(ANNUDF_ROW_OF_HOOK) };
#undef ANNUDF_ROW_OF_HOOK

/// Calls visit(hook, symbol, std::type_identity<prototype>) for every hook of the role filter.
template <typename Visit> constexpr void forEachFilterHook(Visit visit) {
#define ANNUDF_ROW_OF_HOOK(HOOK, SYMBOL, RESULT, PARAMETERS)                                       \
  visit(FilterHook::HOOK, #SYMBOL, std::type_identity<RESULT PARAMETERS>());
  ANNUDF_FILTER_HOOKS(ANNUDF_ROW_OF_HOOK)
#undef ANNUDF_ROW_OF_HOOK
}

/// "annudf1_filter_keep"
constexpr const char *symbolOf(FilterHook wanted) {
  const char *found = nullptr;
  forEachFilterHook([&](FilterHook hook, const char *symbol, auto) {
    if (hook == wanted)
      found = symbol;
  });
  return found;
}

#define ANNUDF_ROW_OF_HOOK(HOOK, SYMBOL, RESULT, PARAMETERS) HOOK,
/// The functions that a distance of whole vectors defines, and those that it calls.
enum class PairwiseHook { ANNUDF_PAIRWISE_HOOKS(ANNUDF_ROW_OF_HOOK, 32) };
enum class PairwiseAccessor { ANNUDF_PAIRWISE_ACCESSORS(ANNUDF_ROW_OF_HOOK, 32) };
#undef ANNUDF_ROW_OF_HOOK

/// Calls visit(hook, symbol, std::type_identity<prototype>) for every hook of the role pairwise.
template <typename Visit> constexpr void forEachPairwiseHook(int coordinateWidth, Visit visit) {
#define ANNUDF_ROW_OF_HOOK(HOOK, SYMBOL, RESULT, PARAMETERS)                                       \
  visit(PairwiseHook::HOOK, #SYMBOL, std::type_identity<RESULT PARAMETERS>());
  if (coordinateWidth == 64) {
    ANNUDF_PAIRWISE_HOOKS(ANNUDF_ROW_OF_HOOK, 64)
  } else {
    ANNUDF_PAIRWISE_HOOKS(ANNUDF_ROW_OF_HOOK, 32)
  }
#undef ANNUDF_ROW_OF_HOOK
}

/// The same for the accessors.
template <typename Visit> constexpr void forEachPairwiseAccessor(int coordinateWidth, Visit visit) {
#define ANNUDF_ROW_OF_HOOK(HOOK, SYMBOL, RESULT, PARAMETERS)                                       \
  visit(PairwiseAccessor::HOOK, #SYMBOL, std::type_identity<RESULT PARAMETERS>());
  if (coordinateWidth == 64) {
    ANNUDF_PAIRWISE_ACCESSORS(ANNUDF_ROW_OF_HOOK, 64)
  } else {
    ANNUDF_PAIRWISE_ACCESSORS(ANNUDF_ROW_OF_HOOK, 32)
  }
#undef ANNUDF_ROW_OF_HOOK
}

/// "annudf2_distance_x32"
constexpr const char *symbolOf(PairwiseHook wanted, int coordinateWidth) {
  const char *found = nullptr;
  forEachPairwiseHook(coordinateWidth, [&](PairwiseHook hook, const char *symbol, auto) {
    if (hook == wanted)
      found = symbol;
  });
  return found;
}

/// "annudf2_stored_x32"
constexpr const char *symbolOf(PairwiseAccessor wanted, int coordinateWidth) {
  const char *found = nullptr;
  forEachPairwiseAccessor(coordinateWidth, [&](PairwiseAccessor one, const char *symbol, auto) {
    if (one == wanted)
      found = symbol;
  });
  return found;
}

/// Before the name of linked code in numba's convention: the wrapper that is called by value, as C
/// does. E8: nobody else has such a name.
inline constexpr char kByValuePrefix[] = "annudf_by_value_";

/// What the runtime defines for each link.
inline constexpr const char *kRuntimeConstants[] = {
#define ANNUDF_ROW_OF_CONSTANT(SYMBOL, ENUM) #SYMBOL,
    ANNUDF_RUNTIME_CONSTANTS(ANNUDF_ROW_OF_CONSTANT)
#undef ANNUDF_ROW_OF_CONSTANT
};

} // namespace annudf

#endif // ANNUDF_ABI_HOOKS_H
