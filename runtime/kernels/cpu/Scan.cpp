//===- Scan.cpp - The list-major scan, as bitcode -------------------------===//
//
// Part of the annudf project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiled to unoptimised bitcode at build time. At run time the metric's hooks
// are linked in and inlined, and only then is the loop over rows vectorised: rows
// are lanes, so whatever a hook does becomes straight vector code.
//
// A group of 32 rows is read and converted to coordinates once for kTile queries, whose
// accumulators stay in registers; all queries of the list see the group while it is in
// the L1 cache. The host converts a query once for all lists; only a query alone that is made
// of integers is converted here, where LLVM may fold the conversion into the metric's arithmetic.
//
//===----------------------------------------------------------------------===//

#define ANNUDF_NATIVE_HALF
#include "../Coordinates.h"
#include "ScanArgs.h"
#include "Survivors.h"

namespace {

constexpr int kTile = 4;
constexpr int kLineBytes = 64; ///< A cache line's.
/// A group is fetched one group before it is read, and where groups are small so many bytes.
constexpr int kFarBytes = 8192;

using namespace annudf_kernels;

#define ANNUDF_X(NAME, VALUE, SPELLING, PRESENCE, SINCE) +1
// All but combine: a second accumulator per row gains a lone query nothing, and would change
// results (docs/decisions/0007-gpus-alone-call-combine.md).
static_assert(0 ANNUDF_HOOKS(ANNUDF_X) == 4,
              "annudf_tables.h has a hook that this scan does not call; call it, then count it");
#undef ANNUDF_X

/// Hooks of either form, called with an accumulator's words.
template <class Word> struct ByValue {
  static constexpr int kWords = 1;
  template <class Hook, class... Rest>
  static ANNUDF_INLINE void init(Hook hook, Word *acc, Rest... rest) {
    *acc = hook(rest...);
  }
  template <class Hook, class... Rest>
  static ANNUDF_INLINE void update(Hook hook, Word *acc, Rest... rest) {
    *acc = hook(*acc, rest...);
  }
  template <class Hook, class... Rest>
  static ANNUDF_INLINE float finalize(Hook hook, const Word *acc, Rest... rest) {
    return hook(*acc, rest...);
  }
};

/// Words past the metric's fields are neither read nor written by a hook, and go.
template <class Word> struct ByPointer {
  static constexpr int kWords = ANNUDF_MAX_FIELDS;
  template <class Hook, class... Rest>
  static ANNUDF_INLINE void init(Hook hook, Word *acc, Rest... rest) {
    hook(acc, rest...);
  }
  template <class Hook, class... Rest>
  static ANNUDF_INLINE void update(Hook hook, Word *acc, Rest... rest) {
    hook(acc, rest...);
  }
  template <class Hook, class... Rest>
  static ANNUDF_INLINE float finalize(Hook hook, const Word *acc, Rest... rest) {
    return hook(acc, rest...);
  }
};

template <char form, class Word> struct FormOf;
template <class Word> struct FormOf<'a', Word> : ByValue<Word> {};
template <class Word> struct FormOf<'s', Word> : ByPointer<Word> {};

/// The hooks of accumulators of form F and A bits a word, and coordinates of X bits.
template <char form, int A, int X> struct Hooks;
#define ANNUDF_X(FORM, WIDTH_A, WIDTH_X)                                                           \
  template <> struct Hooks<(#FORM)[0], WIDTH_A, WIDTH_X> {                                         \
    using Word = uint##WIDTH_A##_t;                                                                \
    using Form = FormOf<(#FORM)[0], Word>;                                                         \
    using Coordinate = uint##WIDTH_X##_t;                                                          \
    static constexpr auto init = annudf1_scan_init_##FORM##WIDTH_A;                                \
    static constexpr auto update = annudf1_scan_update_##FORM##WIDTH_A##_x##WIDTH_X;               \
    static constexpr auto finalize = annudf1_scan_finalize_##FORM##WIDTH_A;                        \
  };
ANNUDF_HOOK_WIDTHS(ANNUDF_X)
#undef ANNUDF_X

/// What is fetched while a group is computed: `step` bytes for each word of its rows. Numbers, as
/// what is fetched may lie past the end of what there is.
struct Ahead {
  uintptr_t next;
  int32_t step;
};

ANNUDF_INLINE void fetch(uintptr_t address) {
  __builtin_prefetch(reinterpret_cast<const void *>(address), 0, 2);
}

/// Rows of one group, and how many dims they have.
struct Group {
  const uint32_t *words;
  const int64_t *ids, *numbers; ///< The latter are what hooks get.
  uint32_t valid;               ///< A bit for each row that exists and may be found.
  int32_t dims;
  const uint32_t *queryPass = nullptr; ///< What each query of the scan may find; null: as `valid`.
};

/// Accumulators of Tile queries and Rows rows; in registers once the loops are unrolled.
template <class Hooks, int Tile, int Rows> struct Block {
  using Coordinate = typename Hooks::Coordinate;
  using Form = typename Hooks::Form;
  using Word = typename Hooks::Word;
  const Coordinate *x[Tile];
  const uint32_t *integers[Tile];
  int32_t query[Tile];
  const int64_t *numbers;
  int32_t dims, list;
  const uint64_t *slots;
  Word acc[Tile][Form::kWords][Rows]; // Rows are lanes, so a word of all of them together.

  /// \param which  of the scan's queries those of this block.
  ANNUDF_INLINE Block(const annudf_cpu_scan &s, const Group &group, int row, const int32_t *which)
      : numbers(group.numbers + row), dims(group.dims), list(s.list), slots(s.slots) {
#pragma unroll
    for (int t = 0; t < Tile; ++t) {
      x[t] = static_cast<const Coordinate *>(s.x[which[t]]);
      integers[t] = s.integers[which[t]];
      query[t] = s.query[which[t]];
    }
  }

  /// For a single query the conversion costs a scalar instruction or two for all rows, and x - y of
  /// two integers that are converted becomes a subtraction of integers: more of a processor's
  /// pipes take it. More queries would convert again and again what the host converted once.
  ANNUDF_INLINE Coordinate coordinateOfQuery(int t, int32_t dim) const {
    if (Tile == 1 && isInteger(annudf1_query_element()))
      return coordinateOf<Coordinate>(annudf1_query_element(), annudf1_compute(), integers[t][dim],
                                      0);
    return x[t][dim];
  }

  /// The accumulator of one query and row, as the hooks take it.
  ANNUDF_INLINE void load(int t, int r, Word (&words)[Form::kWords]) const {
#pragma unroll
    for (int w = 0; w < Form::kWords; ++w)
      words[w] = acc[t][w][r];
  }
  ANNUDF_INLINE void store(int t, int r, const Word (&words)[Form::kWords]) {
#pragma unroll
    for (int w = 0; w < Form::kWords; ++w)
      acc[t][w][r] = words[w];
  }

  /// Coordinate `dim`, which is the i-th of the rows' words at y.
  ANNUDF_INLINE void update(int32_t dim, const uint32_t *y, int32_t i) {
#pragma clang loop vectorize(assume_safety) interleave(disable)
    for (int r = 0; r < Rows; ++r) {
      const auto coordinate =
          coordinateOf<Coordinate>(annudf1_row_element(), annudf1_compute(), y[r], i);
#pragma unroll
      for (int t = 0; t < Tile; ++t) {
        Word words[Form::kWords];
        load(t, r, words);
        Form::update(Hooks::update, words, coordinateOfQuery(t, dim), coordinate, dim, dims,
                     numbers[r], query[t], list, slots);
        store(t, r, words);
      }
    }
  }

  // Kept a loop until it is vectorised: a hundred scalar stores would end LLVM's proof
  // that no other pointer reaches the accumulators.
  ANNUDF_INLINE void init() {
#pragma clang loop vectorize(assume_safety) interleave(disable)
    for (int r = 0; r < Rows; ++r)
#pragma unroll
      for (int t = 0; t < Tile; ++t) {
        Word words[Form::kWords] = {};
        Form::init(Hooks::init, words, dims, query[t], list, slots);
        store(t, r, words);
      }
  }

  /// All dims, of which the first is at `y`. A constant once linked, a word's coordinates are
  /// copies of the hook where the word is full, so that the place in the word is a constant, or of
  /// packed ones in a part of the word; those of a last word share one.
  ANNUDF_INLINE void updateAll(const uint32_t *y, Ahead &ahead) {
#define ANNUDF_X(NAME, VALUE, SPELLING, BITS, KIND, SINCE)                                         \
  static_assert(32 / BITS < ANNUDF_CPU_MOST_COPIES || 32 / BITS % ANNUDF_CPU_MOST_COPIES == 0,     \
                SPELLING " leaves a rest of a word");
    ANNUDF_ELEMENTS(ANNUDF_X)
#undef ANNUDF_X
    const int32_t perWord = elementsPerWord(annudf1_row_element());
    uintptr_t next = ahead.next;
    const int64_t step = ahead.step;
    int32_t dim = 0;
    for (; dim + perWord <= dims; dim += perWord, y += ANNUDF_CPU_GROUP_ROWS, next += step) {
      // Here and not before the loop: so memory answers while there is something to compute.
      fetch(next);
      if (Rows * 4 > kLineBytes)
        fetch(next + step / 2);
#pragma clang loop unroll(disable)
      for (int32_t part = 0; part < perWord; part += ANNUDF_CPU_MOST_COPIES)
#pragma unroll
        for (int32_t i = 0; i < ANNUDF_CPU_MOST_COPIES; ++i)
          if (i < perWord)
            update(dim + part + i, y, part + i);
    }
    ahead.next = next;
    if (perWord > 1) // Else a copy of the hook that never runs would be optimised all the same.
#pragma clang loop unroll(disable)
      for (int32_t i = 0; dim < dims; ++dim, ++i)
        update(dim, y, i);
  }

  ANNUDF_INLINE void finalize(float (*distances)[ANNUDF_CPU_GROUP_ROWS], int row) const {
#pragma clang loop vectorize(assume_safety) interleave(disable)
    for (int r = 0; r < Rows; ++r)
#pragma unroll
      for (int t = 0; t < Tile; ++t) {
        Word words[Form::kWords];
        load(t, r, words);
        distances[t][row + r] =
            Form::finalize(Hooks::finalize, words, dims, numbers[r], query[t], list, slots);
      }
  }
};

/// Queries [first, first + Tile) against one group, or those of them in `chosen`.
template <class Hooks, int Tile, int Rows>
ANNUDF_INLINE void tile(const annudf_cpu_scan &s, int32_t first, const int32_t *chosen,
                        const Group &group, Ahead &ahead) {
  float distances[Tile][ANNUDF_CPU_GROUP_ROWS];
  int32_t which[Tile];
#pragma unroll
  for (int t = 0; t < Tile; ++t)
    which[t] = chosen ? chosen[first + t] : first + t;
#pragma clang loop unroll(disable)
  for (int row = 0; row < ANNUDF_CPU_GROUP_ROWS; row += Rows) {
    Block<Hooks, Tile, Rows> b(s, group, row, which);
    b.init();
    if (annudf_cpu_updates() != 0)
      b.updateAll(group.words + row, ahead);
    b.finalize(distances, row);
  }
#pragma clang loop unroll(disable)
  for (int t = 0; t < Tile; ++t)
    push(s, which[t], group.ids, distances[t],
         group.queryPass ? group.valid & group.queryPass[which[t]] : group.valid);
}

template <class Coordinate> struct Vectors;
template <> struct Vectors<uint32_t> {
  static constexpr auto distance = annudf2_distance_x32;
};
template <> struct Vectors<uint64_t> {
  static constexpr auto distance = annudf2_distance_x64;
};

/// One query against one group, of whole vectors: row after row, and none that cannot be found.
template <class Hooks>
ANNUDF_INLINE void whole(const annudf_cpu_scan &s, int32_t i, const Group &group) {
  float distances[ANNUDF_CPU_GROUP_ROWS] = {};
  const uint32_t rows = group.queryPass ? group.valid & group.queryPass[i] : group.valid;
#pragma clang loop vectorize(disable) unroll(disable)
  for (int r = 0; r < ANNUDF_CPU_GROUP_ROWS; ++r)
    if (rows >> r & 1)
      distances[r] = Vectors<typename Hooks::Coordinate>::distance(
          s.x[i], group.words + r, group.dims, group.numbers[r], s.query[i], s.list, s.slots,
          s.scratch);
  push(s, i, group.ids, distances, rows);
}

/// Where coordinate `dim` of a row lies, whose first word is at y.
template <class Coordinate> ANNUDF_INLINE Coordinate stored(const void *y, int32_t dim) {
  const auto perWord = uint32_t(elementsPerWord(annudf1_row_element()));
  const uint32_t word = uint32_t(dim) / perWord, place = uint32_t(dim) % perWord;
  return coordinateOf<Coordinate>(
      annudf1_row_element(), annudf1_compute(),
      static_cast<const uint32_t *>(y)[uint64_t(word) * ANNUDF_CPU_GROUP_ROWS], int32_t(place));
}

/// Writes the numbers of those queries that may find a row of a group. \return how many they are.
ANNUDF_INLINE int32_t choose(const annudf_cpu_scan &s, const uint32_t *queryPass) {
  int32_t count = 0;
#pragma clang loop unroll(disable)
  for (int32_t q = 0; q < s.queries; ++q) {
    s.chosen[count] = q;
    count += queryPass[q] != 0;
  }
  return count;
}

template <class Hooks, int Rows> ANNUDF_INLINE void scan(const annudf_cpu_scan &s) {
  // The manifest's: the runtime has checked the index against it.
  const int32_t known = annudf_cpu_dims();
  const int32_t dims = known != 0 ? known : s.dims;
  const int64_t groupWords = int64_t(s.words) * ANNUDF_CPU_GROUP_ROWS;
  int64_t tailIds[ANNUDF_CPU_GROUP_ROWS], tailNumbers[ANNUDF_CPU_GROUP_ROWS];
  // Constants by the time this is optimised: without tiles their copies of the hooks go.
  const bool tiles = annudf_cpu_tile() == kTile;
  // While the queries see a group each pass over it fetches its share of a later one, towards the
  // end of the list of the next list's.
  const int64_t groups = (s.size + ANNUDF_CPU_GROUP_ROWS - 1) / ANNUDF_CPU_GROUP_ROWS;
  const int64_t groupBytes = groupWords * 4;
  const int64_t far = (kFarBytes + groupBytes - 1) / groupBytes;
  const int32_t passes = tiles ? s.queries / kTile + s.queries % kTile : s.queries;
  Ahead ahead{0, (Rows * 4 + passes - 1) / passes};
  for (int64_t begin = 0; begin < s.size; begin += ANNUDF_CPU_GROUP_ROWS) {
    const uint32_t pass = s.pass ? s.pass[begin / ANNUDF_CPU_GROUP_ROWS] : ~uint32_t(0);
    if (pass == 0)
      continue;
    Group group{s.rows + begin / ANNUDF_CPU_GROUP_ROWS * groupWords, s.ids + begin,
                s.numbers + begin, pass, dims};
    int32_t queries = s.queries;
    const int32_t *chosen = nullptr;
    if (s.queryPass) {
      group.queryPass = s.queryPass + begin / ANNUDF_CPU_GROUP_ROWS * s.queries;
      queries = choose(s, group.queryPass);
      chosen = s.chosen;
    }
    if (s.size - begin < ANNUDF_CPU_GROUP_ROWS) {
      // Padding rows run through the hooks as well: as an existing row, so that no
      // capture is read outside its extent.
      const int existing = int(s.size - begin);
      group.valid &= (uint32_t(1) << existing) - 1;
      for (int r = 0; r < ANNUDF_CPU_GROUP_ROWS; ++r) {
        tailIds[r] = group.ids[r < existing ? r : 0];
        tailNumbers[r] = group.numbers[r < existing ? r : 0];
      }
      group.ids = tailIds, group.numbers = tailNumbers;
    }
    const int64_t later = begin / ANNUDF_CPU_GROUP_ROWS + far;
    ahead.next =
        later < groups
            ? reinterpret_cast<uintptr_t>(s.rows) + uintptr_t(later * groupBytes)
            : reinterpret_cast<uintptr_t>(s.ahead) + uintptr_t((later - groups) * groupBytes);
    int32_t q = 0;
    for (; tiles && q + kTile <= queries; q += kTile)
      tile<Hooks, kTile, Rows>(s, q, chosen, group, ahead);
    for (; q < queries; ++q)
      if (annudf_cpu_whole() != 0)
        whole<Hooks>(s, chosen ? chosen[q] : q, group);
      else
        tile<Hooks, 1, Rows>(s, q, chosen, group, ahead);
  }
}

/// For one accumulator.
template <class Hooks> ANNUDF_INLINE void finalizeOne(const annudf_cpu_scan &s) {
  typename Hooks::Word words[Hooks::Form::kWords];
  __builtin_memcpy(words, s.rows, sizeof(words));
  s.limit[0] =
      Hooks::Form::finalize(Hooks::finalize, words, s.dims, s.ids[0], s.query[0], s.list, s.slots);
}

/// Writes the accumulator of one query and one row, whose words fill a group, after init and after
/// each dimension. It works on vectors, as a scan does, so that each bit is a scan's.
template <class Hooks, int Rows> ANNUDF_INLINE void explain(const annudf_cpu_scan &s) {
  constexpr int kWords = Hooks::Form::kWords;
  const int32_t perWord = elementsPerWord(annudf1_row_element()), first = 0;
  const Group group{s.rows, s.ids, s.numbers, 1, s.dims};
  Block<Hooks, 1, Rows> b(s, group, 0, &first);
  auto *seen = static_cast<typename Hooks::Word *>(s.sink);
  const auto keep = [&] {
    for (int w = 0; w < kWords; ++w)
      *seen++ = b.acc[0][w][0];
  };
  b.init();
  keep();
#pragma clang loop unroll(disable)
  for (int32_t dim = 0; dim < s.dims; ++dim) {
    b.update(dim, s.rows + dim / perWord * ANNUDF_CPU_GROUP_ROWS, dim % perWord);
    keep();
  }
  float distances[1][ANNUDF_CPU_GROUP_ROWS];
  b.finalize(distances, 0);
  s.limit[0] = distances[0][0];
}

/// annudf_cpu_rows() is a constant by the time this is optimised: one case stays.
template <class Hooks> ANNUDF_INLINE void scanAnyRows(const annudf_cpu_scan &s) {
  if (annudf_cpu_finalizes() != 0 && s.size == 0)
    return finalizeOne<Hooks>(s);
  const bool explains = annudf_cpu_explains() != 0;
  switch (annudf_cpu_rows()) {
  case 32:
    return explains ? explain<Hooks, 32>(s) : scan<Hooks, 32>(s);
  case 16:
    return explains ? explain<Hooks, 16>(s) : scan<Hooks, 16>(s);
  case 8:
    return explains ? explain<Hooks, 8>(s) : scan<Hooks, 8>(s);
  }
  __builtin_trap(); // The host gives one of these.
}

} // namespace

#define ANNUDF_X(F, A, X)                                                                          \
  void annudf_cpu_scan_##F##A##_x##X(const annudf_cpu_scan *s) {                                   \
    scanAnyRows<Hooks<(#F)[0], A, X>>(*s);                                                         \
  }
ANNUDF_HOOK_WIDTHS(ANNUDF_X)
#undef ANNUDF_X

/// What distances of whole vectors read.
uint32_t annudf2_query_x32(const void *x, int32_t dim) {
  return static_cast<const uint32_t *>(x)[dim];
}
uint64_t annudf2_query_x64(const void *x, int32_t dim) {
  return static_cast<const uint64_t *>(x)[dim];
}
uint32_t annudf2_stored_x32(const void *y, int32_t dim) { return stored<uint32_t>(y, dim); }
uint64_t annudf2_stored_x64(const void *y, int32_t dim) { return stored<uint64_t>(y, dim); }

/// Keep the declarations, which the link checks a metric's own, or a filter's, against.
uint64_t annudf_cpu_contract() { return annudf1_scan_contract(); }
uint64_t annudf_cpu_pairwise_contract() { return annudf2_contract(); }
uint64_t annudf_cpu_filter_contract() { return annudf1_filter_contract(); }
int32_t annudf_cpu_filter_keep(const annudf_cpu_scan *s) {
  return annudf1_filter_keep(s->dims, s->ids[0], s->query[0], s->list, s->slots);
}
